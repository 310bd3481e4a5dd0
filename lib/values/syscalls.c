// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * The table of system calls: the numbers of include/uapi/asm-generic/unistd.h of Linux, and which arguments
 * are outputs. Sizes are those of the structs of the 64-bit ABI, rounded up where they differ between
 * versions: more is forgotten than is written, never less. A call without an entry may write anything.
 */
#include <stddef.h>

#include <ntrace/values.h>

#include "struct_size.h"
#include "syscalls.h"

#define RSEQ 293
#define FUTEX 98
#define IOCTL 29
#define FCNTL 25
#define PRCTL 167

#define MAP_TYPE 0x0fu
#define MAP_IS_PRIVATE 2u
#define MAP_IS_ANONYMOUS 0x20u
#define PAGE UINT64_C(4096)
#define MAX_ERRNO 4095

/* How much of an output is written. */
enum extent {
	NOTHING, /* no output */
	FIXED, /* @size bytes */
	COUNTED, /* argument @by times @size bytes */
	PAGES, /* argument @by bytes, up to the end of a page */
	RETURNED, /* as many items of @size bytes as the call returns; all of them after an error */
};

struct output {
	uint8_t argument;
	uint8_t extent;
	uint8_t by;
	uint16_t size;
};

struct row {
	uint16_t first, last; /* numbers */
	struct output output[4];
};

#define OUT(argument, size)                                                                        \
	{                                                                                          \
		argument, FIXED, 0, size                                                           \
	}
#define OUT_COUNTED(argument, by, size)                                                            \
	{                                                                                          \
		argument, COUNTED, by, size                                                        \
	}
#define OUT_RETURNED(argument, by, size)                                                           \
	{                                                                                          \
		argument, RETURNED, by, size                                                       \
	}

#define OUT_PAGES(argument, by)                                                                    \
	{                                                                                          \
		argument, PAGES, by, 1                                                             \
	}

/* In the order of the numbers. */
static const struct row rows[] = {
	{ 5, 7, { { 0 } } }, /* setxattr, lsetxattr, fsetxattr */
	{ 8, 10, { OUT_RETURNED(2, 3, 1) } }, /* getxattr, lgetxattr, fgetxattr */
	{ 11, 13, { OUT_RETURNED(1, 2, 1) } }, /* listxattr, llistxattr, flistxattr */
	{ 14, 16, { { 0 } } }, /* removexattr and its kind */
	{ 17, 17, { OUT_COUNTED(0, 1, 1) } }, /* getcwd */
	{ 19, 21, { { 0 } } }, /* eventfd2, epoll_create1, epoll_ctl */
	{ 22, 22, { OUT_RETURNED(1, 2, 16) } }, /* epoll_pwait */
	{ 23, 24, { { 0 } } }, /* dup, dup3 */
	{ 26, 28, { { 0 } } }, /* inotify_ */
	{ 30, 38, { { 0 } } }, /* ioprio_, flock, mknodat to renameat */
	{ 43, 44, { OUT(1, 120) } }, /* statfs, fstatfs */
	{ 45, 57, { { 0 } } }, /* truncate to close */
	{ 59, 59, { OUT(0, 8) } }, /* pipe2 */
	{ 61, 61, { OUT_RETURNED(1, 2, 1) } }, /* getdents64 */
	{ 62, 62, { { 0 } } }, /* lseek */
	{ 63, 63, { OUT_RETURNED(1, 2, 1) } }, /* read */
	{ 64, 64, { { 0 } } }, /* write */
	{ 66, 66, { { 0 } } }, /* writev */
	{ 67, 67, { OUT_RETURNED(1, 2, 1) } }, /* pread64 */
	{ 68, 68, { { 0 } } }, /* pwrite64 */
	{ 70, 70, { { 0 } } }, /* pwritev */
	{ 71, 71, { OUT(2, 8) } }, /* sendfile */
	{ 72,
	  72,
	  { OUT_COUNTED(1, 0, 8), OUT_COUNTED(2, 0, 8), OUT_COUNTED(3, 0, 8),
	    OUT(4, 16) } }, /* pselect6 */
	{ 73, 73, { OUT_COUNTED(0, 1, 8), OUT(2, 16) } }, /* ppoll */
	{ 76, 76, { OUT(1, 8), OUT(3, 8) } }, /* splice */
	{ 77, 77, { { 0 } } }, /* tee */
	{ 78, 78, { OUT_RETURNED(2, 3, 1) } }, /* readlinkat */
	{ 79, 79, { OUT(2, 144) } }, /* newfstatat */
	{ 80, 80, { OUT(1, 144) } }, /* fstat */
	{ 81, 85, { { 0 } } }, /* sync to timerfd_create */
	{ 86, 86, { OUT(3, 32) } }, /* timerfd_settime */
	{ 87, 87, { OUT(1, 32) } }, /* timerfd_gettime */
	{ 88, 89, { { 0 } } }, /* utimensat, acct */
	{ 90, 90, { OUT(0, 8), OUT(1, 24) } }, /* capget */
	{ 91, 94, { { 0 } } }, /* capset to exit_group */
	{ 96, 96, { { 0 } } }, /* set_tid_address */
	{ 98, 98, { OUT(0, 4), OUT(4, 4) } }, /* futex, but for FUTEX_READS */
	{ 99, 99, { { 0 } } }, /* set_robust_list */
	{ 100, 100, { OUT(1, 8), OUT(2, 8) } }, /* get_robust_list */
	{ 101, 101, { OUT(1, 16) } }, /* nanosleep */
	{ 102, 102, { OUT(1, 32) } }, /* getitimer */
	{ 103, 103, { OUT(2, 32) } }, /* setitimer */
	{ 107, 107, { OUT(2, 4) } }, /* timer_create */
	{ 108, 108, { OUT(1, 32) } }, /* timer_gettime */
	{ 109, 109, { { 0 } } }, /* timer_getoverrun */
	{ 110, 110, { OUT(3, 32) } }, /* timer_settime */
	{ 111, 112, { { 0 } } }, /* timer_delete, clock_settime */
	{ 113, 114, { OUT(1, 16) } }, /* clock_gettime, clock_getres */
	{ 115, 115, { OUT(3, 16) } }, /* clock_nanosleep */
	{ 118, 120, { { 0 } } }, /* sched_setparam to sched_getscheduler */
	{ 121, 121, { OUT(1, 4) } }, /* sched_getparam */
	{ 122, 122, { { 0 } } }, /* sched_setaffinity */
	{ 123, 123, { OUT_COUNTED(2, 1, 1) } }, /* sched_getaffinity */
	{ 124, 126, { { 0 } } }, /* sched_yield and its kind */
	{ 127, 127, { OUT(1, 16) } }, /* sched_rr_get_interval */
	{ 129, 131, { { 0 } } }, /* kill, tkill, tgkill */
	{ 132, 132, { OUT(1, 24) } }, /* sigaltstack */
	{ 133, 133, { { 0 } } }, /* rt_sigsuspend */
	{ 134, 134, { OUT(2, 32) } }, /* rt_sigaction */
	{ 135, 135, { OUT_COUNTED(2, 3, 1) } }, /* rt_sigprocmask */
	{ 136, 136, { OUT(0, 128) } }, /* rt_sigpending */
	{ 137, 137, { OUT(1, 128) } }, /* rt_sigtimedwait */
	{ 138, 147, { { 0 } } }, /* rt_sigqueueinfo to setresuid */
	{ 148, 148, { OUT(0, 4), OUT(1, 4), OUT(2, 4) } }, /* getresuid */
	{ 149, 149, { { 0 } } }, /* setresgid */
	{ 150, 150, { OUT(0, 4), OUT(1, 4), OUT(2, 4) } }, /* getresgid */
	{ 151, 152, { { 0 } } }, /* setfsuid, setfsgid */
	{ 153, 153, { OUT(0, 32) } }, /* times */
	{ 154, 157, { { 0 } } }, /* setpgid to setsid */
	{ 158, 158, { OUT_COUNTED(1, 0, 4) } }, /* getgroups */
	{ 159, 159, { { 0 } } }, /* setgroups */
	{ 160, 160, { OUT(0, 390) } }, /* uname */
	{ 161, 162, { { 0 } } }, /* sethostname, setdomainname */
	{ 163, 163, { OUT(1, 16) } }, /* getrlimit */
	{ 164, 164, { { 0 } } }, /* setrlimit */
	{ 165, 165, { OUT(1, 144) } }, /* getrusage */
	{ 166, 166, { { 0 } } }, /* umask */
	{ 168, 168, { OUT(0, 4), OUT(1, 4) } }, /* getcpu */
	{ 169, 169, { OUT(0, 16), OUT(1, 8) } }, /* gettimeofday */
	{ 170, 170, { { 0 } } }, /* settimeofday */
	{ 172, 178, { { 0 } } }, /* getpid to gettid */
	{ 179, 179, { OUT(0, 112) } }, /* sysinfo */
	{ 198, 198, { { 0 } } }, /* socket */
	{ 199, 199, { OUT(3, 8) } }, /* socketpair */
	{ 200, 201, { { 0 } } }, /* bind, listen */
	{ 202, 202, { OUT(1, 128), OUT(2, 4) } }, /* accept */
	{ 203, 203, { { 0 } } }, /* connect */
	{ 204, 205, { OUT(1, 128), OUT(2, 4) } }, /* getsockname, getpeername */
	{ 206, 206, { { 0 } } }, /* sendto */
	{ 207, 207, { OUT_COUNTED(1, 2, 1), OUT(4, 128), OUT(5, 4) } }, /* recvfrom */
	{ 208, 208, { { 0 } } }, /* setsockopt */
	{ 210, 211, { { 0 } } }, /* shutdown, sendmsg */
	{ 213, 214, { { 0 } } }, /* readahead, brk */
	{ 215, 215, { OUT_PAGES(0, 1) } }, /* munmap */
	{ 221, 221, { { 0 } } }, /* execve that failed */
	{ 223, 223, { { 0 } } }, /* fadvise64 */
	{ 226, 228, { { 0 } } }, /* mprotect, msync, mlock */
	{ 229, 231, { { 0 } } }, /* munlock, mlockall, munlockall */
	{ 232, 232, { OUT_COUNTED(2, 1, 1) } }, /* mincore: at most a byte for each */
	{ 233, 233, { OUT_PAGES(0, 1) } }, /* madvise */
	{ 242, 242, { OUT(1, 128), OUT(2, 4) } }, /* accept4 */
	{ 258, 258, { OUT_COUNTED(0, 1, 16), OUT_COUNTED(3, 2, 1) } }, /* riscv_hwprobe */
	{ 259, 259, { { 0 } } }, /* riscv_flush_icache */
	{ 260, 260, { OUT(1, 4), OUT(3, 144) } }, /* wait4 */
	{ 261, 261, { OUT(3, 16) } }, /* prlimit64 */
	{ 267, 267, { { 0 } } }, /* syncfs */
	{ 276, 276, { { 0 } } }, /* renameat2 */
	{ 277, 277, { OUT(2, 8) } }, /* seccomp */
	{ 278, 278, { OUT_RETURNED(0, 1, 1) } }, /* getrandom */
	{ 279, 279, { { 0 } } }, /* memfd_create */
	{ 281, 281, { { 0 } } }, /* execveat that failed */
	{ 283, 284, { { 0 } } }, /* membarrier, mlock2 */
	{ 285, 285, { OUT(1, 8), OUT(3, 8) } }, /* copy_file_range */
	{ 291, 291, { OUT(4, 256) } }, /* statx */
	{ 424, 424, { { 0 } } }, /* pidfd_send_signal */
	{ 434, 434, { { 0 } } }, /* pidfd_open */
	{ 436, 437, { { 0 } } }, /* close_range, openat2 */
	{ 439, 439, { { 0 } } }, /* faccessat2 */
	{ 441, 441, { OUT_RETURNED(1, 2, 16) } }, /* epoll_pwait2 */
};

/* ioctl: requests that are often made, and the bytes that they write. */
struct request {
	uint32_t value;
	uint16_t size;
};

static const struct request requests[] = {
	{ 0x5401, 64 }, /* TCGETS */
	{ 0x5402, 0 },	{ 0x5403, 0 }, { 0x5404, 0 }, /* TCSETS, TCSETSW, TCSETSF */
	{ 0x540f, 4 }, /* TIOCGPGRP */
	{ 0x5410, 0 }, /* TIOCSPGRP */
	{ 0x5413, 8 }, /* TIOCGWINSZ */
	{ 0x541b, 4 }, /* FIONREAD */
};

/* prctl: the same; the options that are not here may write. */
static const struct request options[] = {
	{ 1, 0 }, /* PR_SET_PDEATHSIG */
	{ 2, 4 }, /* PR_GET_PDEATHSIG */
	{ 3, 0 }, /* PR_GET_DUMPABLE */
	{ 4, 0 }, /* PR_SET_DUMPABLE */
	{ 8, 0 }, /* PR_SET_KEEPCAPS */
	{ 15, 0 }, /* PR_SET_NAME */
	{ 16, 16 }, /* PR_GET_NAME */
	{ 22, 0 }, /* PR_SET_SECCOMP */
	{ 23, 0 }, /* PR_CAPBSET_READ */
	{ 24, 0 }, /* PR_CAPBSET_DROP */
	{ 29, 0 }, /* PR_SET_TIMERSLACK */
	{ 36, 0 }, /* PR_SET_CHILD_SUBREAPER */
	{ 38, 0 }, /* PR_SET_NO_NEW_PRIVS */
	{ 39, 0 }, /* PR_GET_NO_NEW_PRIVS */
	{ 47, 0 }, /* PR_CAP_AMBIENT */
	{ 0x53564d41, 0 }, /* PR_SET_VMA */
};

/* futex: bits of the operations that write nothing, FUTEX_WAIT, _WAKE, _REQUEUE, _CMP_REQUEUE, _WAIT_BITSET, _WAKE_BITSET */
#define FUTEX_READS 0x61bu
#define FUTEX_OPERATION 0x7fu /* without FUTEX_PRIVATE_FLAG and FUTEX_CLOCK_REALTIME */

static bool futex_reads(const struct syscall *call)
{
	uint64_t operation = call->argument[1] & FUTEX_OPERATION;

	return call->known >> 1 & 1 && operation < 32 && FUTEX_READS >> operation & 1;
}

static bool failed(const struct syscall *call)
{
	return call->result < 0 && call->result >= -MAX_ERRNO;
}

/* Bytes of an output. Return: false: they are not known */
static bool length_of(const struct syscall *call, const struct output *output, uint64_t *length)
{
	uint64_t most;

	*length = output->size;
	if (output->extent == FIXED)
		return true;
	if (output->extent == RETURNED && !failed(call)) {
		*length = (uint64_t)call->result * output->size;
		return true;
	}
	if (!(call->known >> output->by & 1))
		return false;
	most = call->argument[output->by];
	/* Counts are ints in many calls: more is an error of the caller, which writes nothing. */
	if (most > UINT64_MAX / 2 / output->size)
		most = 0;
	*length = most * output->size;
	if (output->extent == PAGES)
		*length = (most + PAGE - 1) & ~(PAGE - 1);
	return true;
}

static int write_outputs(const struct syscall *call, const struct output *output, size_t count,
			 int (*range)(void *user, uint64_t first, uint64_t last,
				      enum syscall_content content),
			 void *user)
{
	for (size_t i = 0; i < count && output[i].extent != NOTHING; i++) {
		uint64_t first, last, length;
		int error;

		if (!(call->known >> output[i].argument & 1) ||
		    !length_of(call, &output[i], &length))
			return 1;
		first = call->argument[output[i].argument];
		if (!first || !length)
			continue;
		last = first + length - 1;
		if (last < first)
			last = UINT64_MAX;
		error = range(user, first, last, SYSCALL_UNKNOWN);
		if (error)
			return error;
	}
	return 0;
}

#define COUNT(table) (sizeof(table) / sizeof(*(table)))

/* The output in @argument of a call whose request, in the argument before it, is one of @table. */
static int write_request(const struct syscall *call, const struct request *table, size_t count,
			 uint8_t argument,
			 int (*range)(void *user, uint64_t first, uint64_t last,
				      enum syscall_content content),
			 void *user)
{
	if (!(call->known >> (argument - 1) & 1))
		return 1;
	for (size_t i = 0; i < count; i++) {
		const struct output output = OUT(argument, table[i].size);

		if (call->argument[argument - 1] == table[i].value)
			return output.size ? write_outputs(call, &output, 1, range, user) : 0;
	}
	return 1;
}

static int map(const struct syscall *call,
	       int (*range)(void *user, uint64_t first, uint64_t last,
			    enum syscall_content content),
	       void *user)
{
	uint64_t first = (uint64_t)call->result, length, flags;
	enum syscall_content content = SYSCALL_FILE;

	if (failed(call))
		return 0;
	if (~call->known & (1u << 1 | 1u << 3))
		return 1;
	length = (call->argument[1] + PAGE - 1) & ~(PAGE - 1);
	flags = call->argument[3];
	if (!length || first + length - 1 < first)
		return 1;
	if ((flags & MAP_TYPE) != MAP_IS_PRIVATE)
		content = SYSCALL_VOLATILE;
	else if (flags & MAP_IS_ANONYMOUS)
		content = SYSCALL_ZERO;
	return range(user, first, first + length - 1, content);
}

int syscall_writes(const struct syscall *call,
		   int (*range)(void *user, uint64_t first, uint64_t last,
				enum syscall_content content),
		   void *user)
{
	size_t low = 0, high = COUNT(rows);
	const struct output rseq = OUT(0, 32), lock = OUT(2, 64);

	switch (call->number) {
	case FUTEX:
		if (futex_reads(call))
			return 0;
		break;
	case IOCTL:
		return write_request(call, requests, COUNT(requests), 2, range, user);
	case PRCTL:
		return write_request(call, options, COUNT(options), 1, range, user);
	case FCNTL:
		/* F_GETLK and its kind; other commands have a number there. */
		return write_outputs(call, &lock, 1, range, user);
	case SYSCALL_MMAP:
		return map(call, range, user);
	case RSEQ:
		if (!(call->known & 1))
			return 1;
		return range(user, call->argument[0], call->argument[0] + rseq.size - 1,
			     SYSCALL_VOLATILE);
	default:
		break;
	}
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (call->number > rows[middle].last)
			low = middle + 1;
		else if (call->number < rows[middle].first)
			high = middle;
		else
			return write_outputs(call, rows[middle].output,
					     sizeof(rows->output) / sizeof(*rows->output), range,
					     user);
	}
	return 1;
}

/* Of the rows, in their order. ioctl and prctl: what the largest of their requests writes. */
static bool find_output(unsigned int index, struct ntrace_values_output *found)
{
	const struct row others[] = {
		{ IOCTL, IOCTL, { OUT(2, 64) } },
		{ PRCTL, PRCTL, { OUT(1, 16) } },
	};

	for (size_t i = 0; i < COUNT(rows) + COUNT(others); i++) {
		const struct row *row = i < COUNT(rows) ? &rows[i] : &others[i - COUNT(rows)];

		for (unsigned int k = 0; k < COUNT(row->output); k++) {
			const struct output *output = &row->output[k];

			if (output->extent == NOTHING || output->extent == PAGES || index--)
				continue;
			found->first = row->first;
			found->last = row->last;
			found->argument = output->argument;
			found->by = output->extent == COUNTED  ? output->by :
				    output->extent == RETURNED ? NTRACE_VALUES_BY_RESULT :
								 NTRACE_VALUES_ONCE;
			found->bytes = output->size;
			return true;
		}
	}
	return false;
}

int ntrace_values_output(unsigned int index, struct ntrace_values_output *output)
{
	struct ntrace_values_output found = { .size = sizeof(found) };

	if (!find_output(index, &found))
		return 1;
	STRUCT_GIVE(output, &found);
	return 0;
}

bool syscall_is_uncertain(uint64_t number)
{
	switch (number) {
	case 0: /* io_setup: requests are done later */
	case 117: /* ptrace: this process may trace another, or be traced */
	case 196: /* shmat */
	case 270: /* process_vm_readv writes memory that iovecs name */
	case 282: /* userfaultfd */
	case 425: /* io_uring_setup */
		return true;
	default:
		return false;
	}
}

bool syscall_changes_others(uint64_t number, uint64_t second, int32_t pid, int32_t tid)
{
	/* ptrace, and process_vm_writev, whose process is not in the anchor. */
	return (number == 117 && ((int32_t)second == pid || (int32_t)second == tid)) ||
	       number == 271;
}

bool syscall_restarts(int64_t result)
{
	/* ERESTARTSYS, ERESTARTNOINTR, ERESTARTNOHAND, ERESTART_RESTARTBLOCK of the kernel */
	return result == -512 || result == -513 || result == -514 || result == -516;
}
