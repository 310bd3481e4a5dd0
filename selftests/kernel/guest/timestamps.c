// SPDX-License-Identifier: GPL-2.0-only
/*
 * Timestamps.
 * Usage: timestamps modes MODES BITS   offered and refused modes; MODES: expected mask
 *        timestamps load               prints the time that it takes; the trace has two
 *                                      calls of mark()
 *        timestamps turns              two harts call mark() in turn
 *        timestamps spin               runs until killed
 *        timestamps perf TYPE          modes that the PMU accepts and refuses
 */
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "guest.h"

static const char *const names[] = { "off", "external", "system", "core", "shared" };

__attribute__((noinline)) static void mark(void)
{
	__asm__ volatile("" ::: "memory");
}

/* The two calls of mark() lie within the longer interval, and contain the shorter one. */
static void load(void)
{
	uint64_t before = now_ns(), after, inner;

	mark();
	inner = now_ns();
	work(30000);
	after = now_ns();
	mark();
	printf("%llu %llu\n", (unsigned long long)(after - inner),
	       (unsigned long long)(now_ns() - before));
}

#define TURNS	20

/* Each call comes after the call of the other hart has returned. */
static void take_turns(int from, int to)
{
	char token = 0;
	int i;

	for (i = 0; i < TURNS; i++) {
		if (read(from, &token, 1) != 1)
			bail("read");
		mark();
		if (write(to, &token, 1) != 1)
			bail("write");
	}
}

static void turns(void)
{
	int there[2], back[2];
	pid_t child;

	if (pipe(there) || pipe(back) || write(there[1], "", 1) != 1)
		bail("pipe");
	child = fork();
	if (child < 0)
		bail("fork");
	if (!child) {
		run_on(1);
		take_turns(back[0], there[1]);
		_exit(0);
	}
	take_turns(there[0], back[1]);
	waitpid(child, NULL, 0);
}

static void test_mode(int fd, const struct ntrace_info *info, uint32_t mode)
{
	struct ntrace_config config = { .size = sizeof(config), .timestamps = mode };
	int ret = ioctl(fd, NTRACE_IOC_CONFIGURE, &config);

	if (info->timestamp_modes >> mode & 1 || !mode)
		ok(!ret && config.timestamps == mode, "CONFIGURE: %s", names[mode]);
	else
		fails_with(ret, EOPNOTSUPP, names[mode]);
}

static void test_modes(uint32_t modes, uint32_t bits)
{
	struct ntrace_config config = { .size = sizeof(config), .timestamps = 5 };
	int fd = open_device("/dev/ntrace0", 0);
	struct ntrace_info info = info_of(fd);
	bool known = true;
	uint32_t mode;

	ksft_print_msg("modes %#x, %u bits, prescale up to %u, %llu and %llu Hz\n",
		       info.timestamp_modes, info.timestamp_bits, info.timestamp_prescale_max,
		       (unsigned long long)info.timestamp_hz[NTRACE_TIMESTAMPS_SYSTEM],
		       (unsigned long long)info.timestamp_hz[NTRACE_TIMESTAMPS_SHARED]);
	ok(info.timestamp_modes == modes && info.timestamp_bits == bits,
	   "INFO: the modes and the width");
	for (mode = NTRACE_TIMESTAMPS_EXTERNAL; mode <= NTRACE_TIMESTAMPS_SHARED; mode++)
		if (modes >> mode & 1 && mode != NTRACE_TIMESTAMPS_CORE)
			known = known && info.timestamp_hz[mode] == 1000000000;
	ok(known && !info.timestamp_hz[NTRACE_TIMESTAMPS_CORE],
	   "INFO: nanoseconds; of the hart's clock nothing is known");
	for (mode = NTRACE_TIMESTAMPS_OFF; mode <= NTRACE_TIMESTAMPS_SHARED; mode++)
		test_mode(fd, &info, mode);
	fails_with(ioctl(fd, NTRACE_IOC_CONFIGURE, &config), EINVAL, "no mode at all");
	config = (struct ntrace_config){ .size = sizeof(config),
					 .timestamps = NTRACE_TIMESTAMPS_SYSTEM,
					 .timestamp_prescale = NTRACE_PRESCALE_MAX + 1 };
	fails_with(ioctl(fd, NTRACE_IOC_CONFIGURE, &config), EINVAL, "no prescaler at all");
	config = (struct ntrace_config){ .size = sizeof(config), .timestamp_prescale = 1 };
	fails_with(ioctl(fd, NTRACE_IOC_CONFIGURE, &config), EINVAL, "a prescaler of nothing");
	close(fd);
}

static int open_event(unsigned int type, uint64_t mode)
{
	struct perf_event_attr attr = {
		.type = type,
		.size = sizeof(attr),
		.exclude_kernel = 1,
		.config = mode << 16,
	};

	return syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static void test_perf(unsigned int type)
{
	int fd = open_event(type, NTRACE_TIMESTAMPS_SYSTEM);

	ok(fd >= 0, "perf: timestamps=2");
	close(fd);
	fails_with(open_event(type, NTRACE_TIMESTAMPS_EXTERNAL), EOPNOTSUPP, "perf: timestamps=1");
	fails_with(open_event(type, 7), EINVAL, "perf: timestamps=7");
}

int main(int argc, char **argv)
{
	run_on(0);
	if (argc == 4 && !strcmp(argv[1], "modes")) {
		begin(10);
		test_modes(strtoul(argv[2], NULL, 0), strtoul(argv[3], NULL, 0));
		ksft_finished();
	}
	if (argc == 3 && !strcmp(argv[1], "perf")) {
		begin(3);
		test_perf(strtoul(argv[2], NULL, 0));
		ksft_finished();
	}
	if (argc == 2 && !strcmp(argv[1], "load"))
		load();
	else if (argc == 2 && !strcmp(argv[1], "turns"))
		turns();
	else if (argc == 2 && !strcmp(argv[1], "spin"))
		for (;;)
			work(1000);
	else
		usage("timestamps modes MODES BITS | perf TYPE | load | turns | spin");
	return 0;
}
