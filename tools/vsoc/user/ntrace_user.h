/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Addition to QEMU's plugin interface in user mode; tools/vsoc/user/apply has the implementation.
 * Other QEMUs do not have the function: it is NULL there.
 */
#ifndef NTRACE_USER_H
#define NTRACE_USER_H

#include <stdbool.h>
#include <stdint.h>

typedef void (*ntrace_user_fn)(uint64_t start, uint64_t end, const void *host, bool readable,
			       bool writable);

/*
 * Calls the function for each part of the program's memory, in the order of addresses. It is at
 * @host in this process; a page of a file that has become shorter cannot be read there.
 */
void ntrace_user_walk(ntrace_user_fn fn) __attribute__((weak));

#endif
