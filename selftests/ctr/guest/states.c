// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events of the PMU "ctr" that are disabled, enabled, throttled and refreshed: what they count, their
 * samples, and the interrupts of the counters. No other program may use perf meanwhile.
 * Usage: states [TYPE]      prints KTAP
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kselftest.h"
#include "type.h"

#define TESTS  22
#define PERIOD 100000
/* Branches of a load that has many periods. */
#define LOAD   2000000
#define PAGES  64

static unsigned int type;
static struct perf_event_mmap_page *page;
static int fd;

/* Records in the buffer since the last look. */
static struct {
	unsigned int samples, throttles, unthrottles, lost;
	unsigned int resumed;	/* samples after an unthrottle */
	uint64_t period;	/* of the last sample */
} seen;

static void __attribute__((noinline)) load(unsigned long branches)
{
	while (branches--)
		__asm__ volatile("");
}

static uint64_t interrupts(void)
{
	FILE *file = fopen("/proc/interrupts", "r");
	char line[1024];
	uint64_t sum = 0;

	while (file && fgets(line, sizeof(line), file)) {
		char *at = strchr(line, ':');

		if (!at || !strstr(line, "pmu"))
			continue;
		for (char *end = at + 1;; at = end) {
			unsigned long count = strtoul(end, &end, 10);

			if (end == at || (end == at + 1 && *at == ':'))
				break;
			sum += count;
		}
	}
	if (file)
		fclose(file);
	return sum;
}

static void look(void)
{
	static uint64_t tail;
	const char *data = (const char *)page + page->data_offset;
	uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);

	memset(&seen, 0, sizeof(seen));
	if (head < tail)
		tail = 0;
	while (tail < head) {
		/* Few instructions, because they count: only the first fields, see event_open(). */
		struct {
			struct perf_event_header header;
			uint64_t ip, period;
		} record;
		struct perf_event_header header;

		for (size_t i = 0; i < sizeof(record); i += 8)
			memcpy((char *)&record + i, data + (tail + i) % page->data_size, 8);
		header = record.header;
		seen.samples += header.type == PERF_RECORD_SAMPLE;
		seen.throttles += header.type == PERF_RECORD_THROTTLE;
		seen.unthrottles += header.type == PERF_RECORD_UNTHROTTLE;
		seen.lost += header.type == PERF_RECORD_LOST;
		seen.resumed += header.type == PERF_RECORD_SAMPLE && seen.unthrottles;
		if (header.type == PERF_RECORD_SAMPLE)
			seen.period = record.period;
		tail += header.size;
	}
	__atomic_store_n(&page->data_tail, tail, __ATOMIC_RELEASE);
}

/* Throttled events have no PERF_SAMPLE_PERIOD, see "Limits" in Documentation/trace/riscv-ctr.rst. */
static void event_open(uint64_t period, int inherit, uint64_t sample_type)
{
	struct perf_event_attr attr = {
		.type = type,
		.size = sizeof(attr),
		.config = PERF_COUNT_HW_INSTRUCTIONS,
		.sample_period = period,
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_BRANCH_STACK | sample_type,
		.branch_sample_type = PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_ANY,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.disabled = 1,
		.inherit = inherit,
		.wakeup_events = 1,
	};

	/* perf has no buffer for an inherited event of a task on all CPUs. */
	fd = syscall(SYS_perf_event_open, &attr, 0, inherit ? 0 : -1, -1, 0);
	page = mmap(NULL, (PAGES + 1) * sysconf(_SC_PAGESIZE), PROT_READ | PROT_WRITE, MAP_SHARED,
		    fd, 0);
	if (fd < 0 || page == MAP_FAILED)
		ksft_exit_fail_msg("perf_event_open: %s\n", strerror(errno));
	look();
}

static void event_close(void)
{
	munmap(page, (PAGES + 1) * sysconf(_SC_PAGESIZE));
	close(fd);
}

static uint64_t count(void)
{
	uint64_t value = 0;

	if (read(fd, &value, sizeof(value)) != sizeof(value))
		ksft_print_msg("read: %s\n", strerror(errno));
	return value;
}

/* Runs the load. Return: interrupts meanwhile. */
static uint64_t run(void)
{
	uint64_t before = interrupts();

	load(LOAD);
	look();
	return interrupts() - before;
}

static void quiet(const char *what)
{
	uint64_t taken = run();

	if (taken || seen.samples)
		ksft_print_msg("%llu interrupts, %u samples\n", (unsigned long long)taken,
			       seen.samples);
	ksft_test_result(!taken && !seen.samples, "%s: no interrupt and no sample\n", what);
}

static void test_disabled(void)
{
	uint64_t before, counted;
	unsigned int samples;

	event_open(PERIOD, 0, 0);
	quiet("opened, disabled");
	ksft_test_result(count() == 0, "and nothing is counted\n");
	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	run();
	samples = seen.samples;
	counted = count();
	ksft_print_msg("%u samples, %llu counted\n", samples, (unsigned long long)counted);
	ksft_test_result(samples >= LOAD / PERIOD, "enabled: samples\n");
	ksft_test_result(counted / PERIOD >= samples && counted / PERIOD <= samples + 3,
			 "as many as it counts periods\n");
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	before = count();
	quiet("disabled again");
	ksft_test_result(count() == before, "and it counts no more\n");
	ioctl(fd, PERF_EVENT_IOC_RESET, 0);
	ksft_test_result(count() == 0, "IOC_RESET: it begins from 0\n");
	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	run();
	ksft_test_result(seen.samples >= LOAD / PERIOD && count() >= LOAD, "enabled: it goes on\n");
	event_close();
	before = interrupts();
	load(LOAD);
	ksft_test_result(interrupts() == before, "closed: no interrupt\n");
}

static void test_period(void)
{
	uint64_t period = 10 * PERIOD;
	unsigned int before;

	event_open(PERIOD, 0, PERF_SAMPLE_PERIOD);
	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	run();
	before = seen.samples;
	ksft_test_result(!ioctl(fd, PERF_EVENT_IOC_PERIOD, &period), "IOC_PERIOD is accepted\n");
	run();
	ksft_print_msg("%u samples, then %u\n", before, seen.samples);
	ksft_test_result(seen.samples && seen.samples <= before / 5, "a longer period: fewer\n");
	ksft_test_result(seen.period == period, "and they have that period\n");
	event_close();
}

static volatile int hangups;

static void on_signal(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)context;
	hangups += info->si_code == POLL_HUP;
}

static void test_refresh(void)
{
	struct sigaction action = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO };

	event_open(PERIOD, 0, 0);
	sigaction(SIGIO, &action, NULL);
	fcntl(fd, F_SETFL, O_ASYNC);
	fcntl(fd, F_SETSIG, SIGIO);
	fcntl(fd, F_SETOWN, getpid());
	ksft_test_result(!ioctl(fd, PERF_EVENT_IOC_REFRESH, 3), "IOC_REFRESH is accepted\n");
	run();
	ksft_print_msg("%u samples, %d hangups\n", seen.samples, hangups);
	ksft_test_result(seen.samples == 3, "IOC_REFRESH 3: three samples\n");
	ksft_test_result(hangups == 1, "and the signal that it stopped\n");
	quiet("stopped");
	ioctl(fd, PERF_EVENT_IOC_REFRESH, 2);
	run();
	ksft_test_result(seen.samples == 2, "IOC_REFRESH 2: two more\n");
	signal(SIGIO, SIG_IGN);
	event_close();
}

static void write_file(const char *name, const char *text)
{
	FILE *file = fopen(name, "w");

	if (!file || fputs(text, file) < 0 || fclose(file))
		ksft_exit_fail_msg("%s: %s\n", name, strerror(errno));
}

/* A tick has few samples, and then none until the next one. */
static void test_throttled(void)
{
	write_file("/proc/sys/kernel/perf_cpu_time_max_percent", "25");
	write_file("/proc/sys/kernel/perf_event_max_sample_rate", "1000");
	write_file("/proc/sys/kernel/perf_cpu_time_max_percent", "0");
	event_open(20000, 0, 0);
	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	load(10 * LOAD);
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	look();
	ksft_print_msg("%u samples, %u after the first of %u unthrottles; %u throttles\n",
		       seen.samples, seen.resumed, seen.unthrottles, seen.throttles);
	ksft_test_result(seen.throttles && seen.unthrottles + 1 >= seen.throttles,
			 "too many samples: THROTTLE and UNTHROTTLE\n");
	ksft_test_result(seen.samples && seen.samples < 10 * LOAD / 20000, "and none in between\n");
	ksft_test_result(seen.resumed, "it resumes\n");
	event_close();
	write_file("/proc/sys/kernel/perf_cpu_time_max_percent", "25");
	write_file("/proc/sys/kernel/perf_event_max_sample_rate", "200000");
	write_file("/proc/sys/kernel/perf_cpu_time_max_percent", "0");
}

/* Children come before and after the event is enabled. */
static void test_inherited(void)
{
	int go[2];
	pid_t child;

	event_open(PERIOD, 1, 0);
	if (pipe(go))
		ksft_exit_fail_msg("pipe: %s\n", strerror(errno));
	child = fork();
	if (!child) {
		char byte;

		load(LOAD);
		_exit(read(go[0], &byte, 1) != 1 || (load(LOAD), 0));
	}
	quiet("a child, disabled");
	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	look();
	if (write(go[1], "x", 1) != 1)
		ksft_exit_fail_msg("pipe: %s\n", strerror(errno));
	waitpid(child, NULL, 0);
	look();
	ksft_print_msg("%u samples\n", seen.samples);
	ksft_test_result(seen.samples >= LOAD / PERIOD, "enabled: samples of the child\n");
	event_close();
}

int main(int argc, char **argv)
{
	cpu_set_t cpus;

	if (argc > 2) {
		fprintf(stderr, "usage: states [TYPE]\n");
		return 2;
	}
	type = argc > 1 ? strtoul(argv[1], NULL, 0) : ctr_type();
	ksft_print_header();
	ksft_set_plan(TESTS);
	/* On one CPU: a migration schedules the events anew. */
	CPU_ZERO(&cpus);
	CPU_SET(0, &cpus);
	if (sched_setaffinity(0, sizeof(cpus), &cpus))
		ksft_exit_fail_perror("sched_setaffinity");
	test_disabled();
	test_period();
	test_refresh();
	test_throttled();
	test_inherited();
	ksft_finished();
}
