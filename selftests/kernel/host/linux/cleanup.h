/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HOST_LINUX_CLEANUP_H
#define HOST_LINUX_CLEANUP_H

#include <stddef.h>

#define HOST_PASTE_(a, b) a##b
#define HOST_PASTE(a, b) HOST_PASTE_(a, b)

#define __free(name) __attribute__((cleanup(host_free_##name)))

#define DEFINE_FREE(name, type, ...)							\
static inline void host_free_##name(type *variable)					\
{											\
	type _T = *variable;								\
											\
	__VA_ARGS__;									\
}

#define no_free_ptr(pointer)								\
({											\
	__typeof__(pointer) taken_ = (pointer);						\
											\
	(pointer) = NULL;								\
	taken_;										\
})

#define DEFINE_HOST_GUARD(name, type, lock, unlock)					\
static inline type *host_lock_##name(type *what)					\
{											\
	lock(what);									\
	return what;									\
}											\
static inline void host_unlock_##name(type **what)					\
{											\
	if (*what)									\
		unlock(*what);								\
}											\
typedef type host_guard_##name;

#define guard(name)									\
	__attribute__((cleanup(host_unlock_##name))) host_guard_##name *HOST_PASTE(	\
		guard_, __COUNTER__) = host_lock_##name

#define scoped_guard(name, ...)								\
	for (__attribute__((cleanup(host_unlock_##name)))				\
	     host_guard_##name *guarded_ = host_lock_##name(__VA_ARGS__), *once_ = (void *)1;	\
	     once_; once_ = NULL)

#endif /* HOST_LINUX_CLEANUP_H */
