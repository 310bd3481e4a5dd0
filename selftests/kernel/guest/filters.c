// SPDX-License-Identifier: GPL-2.0-only
/*
 * Filters of the trace.
 * Usage: filters refused RANGES   refused filters; RANGES: address ranges that the encoder has
 *        filters calls NUMBER     calls sched_get_priority_max() NUMBER times
 *        filters perf TYPE FILE   filters of the PMU; FILE: a program to filter by
 */
#include <linux/perf_event.h>
#include <sys/syscall.h>

#include "guest.h"

static int ask(int fd, struct ntrace_config config)
{
	config.size = sizeof(config);
	return ioctl(fd, NTRACE_IOC_CONFIGURE, &config);
}

static void test_refused(uint32_t ranges)
{
	struct ntrace_config config = { .ranges = { { 0, 0 } } };
	int fd = open_device("/dev/ntrace0", 0);
	struct ntrace_info info = info_of(fd);
	uint32_t i;

	ok(info.range_max == ranges && info.traps == 6 && info.causes == 1,
	   "INFO: %u address ranges, traps %#x", info.range_max, info.traps);
	ok(info.comparators == ranges && info.comparisons == (ranges ? 7 : 0),
	   "INFO: %u comparators, comparisons %#x", info.comparators, info.comparisons);
	for (i = 0; i < NTRACE_RANGES_MAX; i++)
		config.ranges[i] = (struct ntrace_range){ 4096 * i, 4096 * i + 4095 };
	for (i = 0; i <= NTRACE_RANGES_MAX; i++) {
		config.range_count = i;
		if (i <= ranges)
			ok(!ask(fd, config), "%u ranges", i);
		else
			fails_with(ask(fd, config), EOPNOTSUPP, "more ranges than there can be");
	}
	config.range_count = NTRACE_RANGES_MAX + 1;
	fails_with(ask(fd, config), EINVAL, "more ranges than there are");
	config.range_count = 1;
	config.ranges[0] = (struct ntrace_range){ 4096, 4095 };
	fails_with(ask(fd, config), EINVAL, "a range that ends before it begins");
	config = (struct ntrace_config){ .traps = 3 };
	fails_with(ask(fd, config), EINVAL, "traps of no kind");
	config = (struct ntrace_config){ .causes = 1 };
	fails_with(ask(fd, config), EINVAL, "causes without traps");
	config = (struct ntrace_config){ .traps = NTRACE_TRAPS_INTERRUPTS, .causes = 1 << 5 };
	ok(!ask(fd, config), "timer interrupts");
	config = (struct ntrace_config){ .mark_count = NTRACE_MARKS_MAX + 1 };
	fails_with(ask(fd, config), EINVAL, "more marks than there are");
	config = (struct ntrace_config){ .task = 1 };
	fails_with(ask(fd, config), EINVAL, "a thread that the encoder does not know");
	for (i = 0; i <= NTRACE_MARKS_MAX; i++) {
		config = (struct ntrace_config){ .mark_count = i, .flags = NTRACE_CONFIG_FROM };
		if ((i + 1) / 2 + 1 <= ranges)
			ok(!ask(fd, config), "%u marks and a function to begin at", i);
		else
			fails_with(ask(fd, config), EOPNOTSUPP, "more marks than comparators");
	}
	close(fd);
}

static void test_calls(unsigned long number)
{
	while (number--)
		syscall(SYS_sched_get_priority_max, 1);
}

static void filter(int fd, const char *text, int expected, const char *what)
{
	int ret = ioctl(fd, PERF_EVENT_IOC_SET_FILTER, text);

	if (expected)
		fails_with(ret, expected, what);
	else
		ok(!ret, "perf: %s", what);
}

static void test_perf(unsigned int type, const char *path)
{
	struct perf_event_attr attr = {
		.type = type,
		.size = sizeof(attr),
		.exclude_kernel = 1,
		.disabled = 1,
	};
	int fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	char one[512], start[512], many[8192] = "";
	int i;

	if (fd < 0)
		bail("perf_event_open");
	snprintf(one, sizeof(one), "filter 0/0x1000@%s", path);
	snprintf(start, sizeof(start), "start 0@%s", path);
	filter(fd, one, 0, "a filter by a file");
	filter(fd, "filter 0x10000/0x1000", EINVAL, "perf: of user space without a file");
	filter(fd, start, EOPNOTSUPP, "perf: where to start");
	for (i = 0; i < 5; i++) {
		strcat(many, i ? "," : "");
		strcat(many, one);
	}
	filter(fd, many, EOPNOTSUPP, "perf: five filters");
	many[strrchr(many, ',') - many] = '\0';
	filter(fd, many, 0, "four filters");
	close(fd);
}

int main(int argc, char **argv)
{
	run_on(0);
	if (argc == 3 && !strcmp(argv[1], "calls")) {
		test_calls(strtoul(argv[2], NULL, 0));
		return 0;
	}
	if (argc == 3 && !strcmp(argv[1], "refused")) {
		begin(27);
		test_refused(strtoul(argv[2], NULL, 0));
	} else if (argc == 4 && !strcmp(argv[1], "perf")) {
		begin(5);
		test_perf(strtoul(argv[2], NULL, 0), argv[3]);
	} else {
		usage("filters refused RANGES | calls NUMBER | perf TYPE FILE");
	}
	ksft_finished();
}
