/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* What system calls of Linux on RISC-V write to the memory of the process that calls. */
#ifndef NTRACE_VALUES_SYSCALLS_H
#define NTRACE_VALUES_SYSCALLS_H

#include <stdbool.h>
#include <stdint.h>

#define SYSCALL_OPENAT 56
#define SYSCALL_READ 63
#define SYSCALL_PREAD 67
#define SYSCALL_BRK 214
#define SYSCALL_MUNMAP 215
#define SYSCALL_MREMAP 216
#define SYSCALL_CLONE 220
#define SYSCALL_MMAP 222
#define SYSCALL_MPROTECT 226
#define SYSCALL_CLONE3 435
#define SYSCALL_SIGRETURN 139
#define SYSCALL_RESTART 128

/**
 * struct syscall - a system call that has returned
 * @number: a7
 * @argument: a0 to a5
 * @known: bit n: @argument[n] is known
 * @result: a0 after it
 */
struct syscall {
	uint64_t number;
	uint64_t argument[6];
	unsigned int known;
	int64_t result;
};

enum syscall_content {
	SYSCALL_UNKNOWN, /* may have any value */
	SYSCALL_ZERO, /* is 0 */
	SYSCALL_FILE, /* is that of a file, which is mapped privately */
	SYSCALL_VOLATILE, /* may have any value from now on, at any time */
};

/**
 * syscall_writes - find the memory that a call has written
 * @call: the call
 * @range: called for each range, in the order of the changes. Return: 0, or an error to stop
 *
 * Return: 0; 1: it may have written anything; what @range returned.
 */
int syscall_writes(const struct syscall *call,
		   int (*range)(void *user, uint64_t first, uint64_t last,
				enum syscall_content content),
		   void *user);

/** syscall_is_uncertain - whether memory may change at any time after a call with this number */
bool syscall_is_uncertain(uint64_t number);

/** syscall_changes_others - whether a call of another process, with @second in a1, may write to this one */
bool syscall_changes_others(uint64_t number, uint64_t second, int32_t pid, int32_t tid);

/** syscall_restarts - whether a call that has this result is repeated, if no signal handler runs */
bool syscall_restarts(int64_t result);

#endif
