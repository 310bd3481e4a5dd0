/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For the test programs of the driver that run in the guest: results in the format of kselftest.h,
 * and helpers for /dev/ntraceN.
 */
#ifndef SELFTESTS_KERNEL_GUEST_H
#define SELFTESTS_KERNEL_GUEST_H

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <linux/ntrace.h>

#include "kselftest.h"

/* First byte of a ProgTraceSync without SRC: TCODE 9, MSEO 00. */
#define PROG_TRACE_SYNC 0x24
#define RESERVED_BYTE 0x02

#define NSEC_PER_SEC UINT64_C(1000000000)

/* Prints a result; its text needs no newline. */
__attribute__((format(printf, 2, 3))) static inline bool ok(bool good, const char *format, ...)
{
	int error = errno;
	char text[512];
	va_list list;

	va_start(list, format);
	vsnprintf(text, sizeof(text), format, list);
	va_end(list);
	ksft_test_result(good, "%s\n", text);
	if (!good)
		ksft_print_msg("errno %d (%s)\n", error, strerror(error));
	return good;
}

/* Prints the first lines of the output, for @tests results. */
static inline void begin(unsigned int tests)
{
	ksft_print_header();
	ksft_set_plan(tests);
}

/* ioctl() structures with unknown fields and values. */
__attribute__((noreturn)) static inline void usage(const char *text)
{
	fprintf(stderr, "usage: %s\n", text);
	exit(2);
}

/* Tells whether @ret is a failure with errno @expected. */
static inline bool fails_with(long ret, int expected, const char *what)
{
	int error = errno;

	if (ok(ret == -1 && error == expected, "%s: %s", what, strerror(expected)))
		return true;
	ksft_print_msg("returned %ld, errno %d (%s)\n", ret, error, strerror(error));
	return false;
}

__attribute__((noreturn)) static inline void bail(const char *what)
{
	ksft_exit_fail_msg("%s: %s\n", what, strerror(errno));
}

static inline uint64_t now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * NSEC_PER_SEC + time.tv_nsec;
}

struct area {
	volatile struct ntrace_control *control;
	volatile const uint8_t *data;
	size_t size;
};

static inline int open_device(const char *name, int flags)
{
	int fd = open(name, O_RDWR | O_CLOEXEC | flags);

	if (fd < 0)
		bail(name);
	return fd;
}

#define EVERYTHING (NTRACE_PRIVILEGE_U | NTRACE_PRIVILEGE_S | NTRACE_PRIVILEGE_M | \
		    NTRACE_PRIVILEGE_VU | NTRACE_PRIVILEGE_VS)

static inline struct ntrace_info info_of(int fd)
{
	struct ntrace_info info = { .size = sizeof(info) };

	if (ioctl(fd, NTRACE_IOC_INFO, &info))
		bail("NTRACE_IOC_INFO");
	return info;
}

/* Encoders of version 0 trace all privileges or nothing. */
static inline void configure(int fd, struct ntrace_config *config)
{
	config->size = sizeof(*config);
	if (!info_of(fd).privilege)
		config->privilege = EVERYTHING;
	if (ioctl(fd, NTRACE_IOC_CONFIGURE, config))
		bail("NTRACE_IOC_CONFIGURE");
}

static inline struct area map(int fd, const struct ntrace_config *config)
{
	size_t size = getpagesize() + config->data_size;
	void *address = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
	struct area area = { address, NULL, size };

	if (address == MAP_FAILED)
		bail("mmap");
	area.data = (const uint8_t *)address + area.control->data_offset;
	return area;
}

static inline void unmap(struct area *area)
{
	munmap((void *)area->control, area->size);
}

static inline uint64_t head_of(const struct area *area)
{
	return __atomic_load_n(&area->control->head, __ATOMIC_ACQUIRE);
}

static inline uint8_t byte_at(const struct area *area, uint64_t position)
{
	return area->data[position & (area->control->data_size - 1)];
}

static inline int consume(int fd, uint64_t tail)
{
	struct ntrace_consume consume = { .size = sizeof(consume), .tail = tail };

	return ioctl(fd, NTRACE_IOC_CONSUME, &consume);
}

/*
 * Calls CONFIGURE for up to ten seconds: a device that was just closed becomes free a moment later.
 * Return: as of ioctl().
 */
static inline int configure_when_free(int fd, struct ntrace_config *config)
{
	uint64_t end = now_ns() + 10 * NSEC_PER_SEC;
	int ret;

	while ((ret = ioctl(fd, NTRACE_IOC_CONFIGURE, config)) && errno == EBUSY && now_ns() < end)
		usleep(1000);
	return ret;
}

static inline void run_on(unsigned int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		bail("sched_setaffinity");
}

/* Branches that neither a predictor nor history compresses well. */
__attribute__((noinline, unused)) static uint64_t work(uint64_t rounds)
{
	volatile uint64_t sum = 0;
	uint64_t random = 88172645463325252u;

	while (rounds--) {
		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		if (random & 1)
			sum = sum + 1;
		if (random & 2)
			sum = sum + 3;
		if (random & 4)
			sum = sum ^ random;
	}
	return sum;
}

/*
 * The debug kernel executes so many instructions per interrupt and system call that its own trace
 * would fill every buffer.
 */
static inline bool on_debug_kernel(void)
{
	return !access("/proc/lockdep", F_OK);
}

/* Privileges to trace if the whole trace must fit into a buffer. */
static inline uint32_t fitting_privilege(void)
{
	return on_debug_kernel() ? NTRACE_PRIVILEGE_U : 0;
}

/*
 * Is there more trace than the drain can take? So it is on the debug kernel with encoders that cannot
 * leave out the kernel. Tests demand there that each loss is reported.
 */
static inline bool is_flooded(const struct ntrace_info *info)
{
	return on_debug_kernel() && !info->privilege;
}

/* Traces a fixed amount of work. */
static inline void run(int fd, uint64_t rounds)
{
	if (ioctl(fd, NTRACE_IOC_START))
		bail("START");
	work(rounds);
	if (ioctl(fd, NTRACE_IOC_STOP))
		bail("STOP");
}

#endif /* SELFTESTS_KERNEL_GUEST_H */
