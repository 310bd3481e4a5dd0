/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HOST_LINUX_SLAB_H
#define HOST_LINUX_SLAB_H

#include <linux/types.h>
#include <stdlib.h>
#include <string.h>

#define GFP_KERNEL 0
#define GFP_KERNEL_ACCOUNT 0
#define GFP_NOWAIT 0
#define GFP_ATOMIC 0
#define __GFP_NOWARN 0

/* Number of allocations that succeed before one fails; negative: none fails. */
extern int host_allocations;

static inline void *kzalloc(size_t size, gfp_t flags)
{
	return host_allocations-- ? calloc(1, size) : NULL;
}

static inline char *kstrndup(const char *text, size_t size, gfp_t flags)
{
	char *copy = kzalloc(size + 1, flags);

	return copy ? memcpy(copy, text, size) : NULL;
}

#define kmalloc kzalloc
#define kvzalloc kzalloc
#define struct_size(p, member, count) (sizeof(*(p)) + sizeof((p)->member[0]) * (count))
#define kvmalloc_array(count, size, flags) kzalloc((count) * (size), flags)
#define kfree(memory) free(memory)
#define kvfree(memory) free(memory)

static inline void host_free_kfree(void *memory)
{
	free(*(void **)memory);
}

#define host_free_kvfree host_free_kfree
#define return_ptr(pointer)			\
do {						\
	void *taken_ = (pointer);		\
						\
	(pointer) = NULL;			\
	return taken_;				\
} while (0)

#endif /* HOST_LINUX_SLAB_H */
