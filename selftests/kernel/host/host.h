/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Lets host programs include files of the kernel modules. linux/ next to this file replaces those
 * of the kernel's headers that the modules need: its types and macros do the same with one thread,
 * and tests define the functions that access hardware.
 *
 * A test includes the .c file under test, once, and defines the other functions that this file
 * calls.
 */
#ifndef HOST_HOST_H
#define HOST_HOST_H

#include <stddef.h>

/* The kernel is compiled without these warnings. */
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wsign-compare"
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
/* Not every test uses all of this file. */
#pragma GCC diagnostic ignored "-Wunused-function"

/* Only tests of component.c have these, and CPUs. */
#pragma weak ntrace_read_there
#pragma weak ntrace_write_there
#pragma weak host_online
#pragma weak host_cpu
#pragma weak host_can_read
#pragma weak ntrace_component_lacks

/* Points at which other harts and devices may act, and memory barriers. */
enum host_event {
	HOST_BARRIER,		/* mb() */
	HOST_READ_BARRIER,	/* rmb() */
	HOST_COPY,		/* after memcpy() from @address */
	HOST_SET,		/* after memset() of @address */
	HOST_LOOK,		/* before memchr_inv() of @address */
	HOST_EXCHANGE,		/* before an atomic compare and exchange */
};

/* Hook that is called at each of these points, unless NULL. */
__attribute__((weak)) void (*host_event)(enum host_event event, const void *address, size_t size);

static inline void host_tell(enum host_event event, const void *address, size_t size)
{
	if (host_event)
		host_event(event, address, size);
}

#endif /* HOST_HOST_H */
