/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Files of the kernel modules in a program of the host. linux/ next to this file has
 * the kernel's headers as far as these files need them: types and macros that do the
 * same with one thread, and functions that the test defines where hardware is meant.
 *
 * A test includes the .c file that it tests, once, and defines what else it calls.
 */
#ifndef HOST_HOST_H
#define HOST_HOST_H

#include <stddef.h>

/* The kernel is built without these warnings. */
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wsign-compare"
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
/* Not every test uses all of this file. */
#pragma GCC diagnostic ignored "-Wunused-function"

/* Points at which other harts and devices may act, and memory barriers. */
enum host_event {
	HOST_BARRIER,		/* mb() */
	HOST_READ_BARRIER,	/* rmb() */
	HOST_COPY,		/* memcpy() from @address is done */
	HOST_SET,		/* memset() of @address is done */
	HOST_LOOK,		/* memchr_inv() of @address is about to begin */
	HOST_EXCHANGE,		/* an atomic compare and exchange is about to begin */
};

/* Called at each of them, unless NULL. */
__attribute__((weak)) void (*host_event)(enum host_event event, const void *address, size_t size);

static inline void host_tell(enum host_event event, const void *address, size_t size)
{
	if (host_event)
		host_event(event, address, size);
}

#endif /* HOST_HOST_H */
