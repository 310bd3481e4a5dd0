// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events of the PMU "ctr" that perf_event_open() accepts and refuses.
 * Usage: abi [TYPE]        prints KTAP
 *        abi TYPE hold     opens an event of this process, prints "holding", waits to be killed
 *        abi TYPE churn N  opens, enables and closes N times
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kselftest.h"
#include "type.h"

/* Values that the test_*() functions report. */
#define REFUSED	     22
#define GROUPS	     5
#define SHARED	     12
#define UNPRIVILEGED 8

static unsigned int type;

static struct perf_event_attr attributes(void)
{
	return (struct perf_event_attr){
		.type = type,
		.size = sizeof(struct perf_event_attr),
		.sample_period = 1000000,
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_BRANCH_STACK,
		.branch_sample_type = PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_ANY,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
}

static int event_open(struct perf_event_attr *attr, pid_t pid, int cpu, int group)
{
	return syscall(SYS_perf_event_open, attr, pid, cpu, group, 0);
}

static void result(bool good, const char *what, int error)
{
	if (!good)
		ksft_print_msg("errno %d (%s)\n", error, strerror(error));
	ksft_test_result(good, "%s\n", what);
}

/* Opens an event of this task, with the group leader @group or -1. */
static void expect_in(struct perf_event_attr attr, int group, int expected, const char *what)
{
	int fd = event_open(&attr, 0, -1, group);
	int error = fd < 0 ? errno : 0;

	result(error == expected, what, error);
	if (fd >= 0)
		close(fd);
}

static void expect(struct perf_event_attr attr, int expected, const char *what)
{
	expect_in(attr, -1, expected, what);
}

#define EXPECT(change, expected, what)                                                             \
	do {                                                                                       \
		struct perf_event_attr attr = attributes();                                        \
		change;                                                                            \
		expect(attr, expected, what);                                                      \
	} while (0)

static void test_refused(void)
{
	EXPECT(attr.sample_period = 0, 0, "counting: accepted");
	EXPECT(attr.sample_type = PERF_SAMPLE_IP, 0, "no branch stack: accepted");
	EXPECT(attr.branch_sample_type |= PERF_SAMPLE_BRANCH_ABORT_TX, EOPNOTSUPP,
	       "transactions: EOPNOTSUPP");
	EXPECT(attr.branch_sample_type |= 1 << 19, EOPNOTSUPP, "branch counters: EOPNOTSUPP");
	EXPECT(attr.branch_sample_type |= PERF_SAMPLE_BRANCH_CALL_STACK, EOPNOTSUPP,
	       "call stack and a filter: EOPNOTSUPP");
	EXPECT(attr.branch_sample_type = PERF_SAMPLE_BRANCH_CALL_STACK | PERF_SAMPLE_BRANCH_KERNEL,
	       EOPNOTSUPP, "call stack of the kernel: EOPNOTSUPP");
	EXPECT(attr.config = 1 << 9, EINVAL, "unknown bits of config: EINVAL");
	EXPECT(attr.config1 = 1, EINVAL, "raw without israw: EINVAL");
	EXPECT(attr.config2 = 511, 0, "deeper than the ring: the whole ring");
	EXPECT(attr.config2 = 1 << 20, EINVAL, "unknown bits of config2: EINVAL");
	EXPECT(attr.config3 = 1, EINVAL, "config3: EINVAL");
	EXPECT(attr.sample_type |= PERF_SAMPLE_RAW, EOPNOTSUPP, "raw data: EOPNOTSUPP");
	EXPECT(attr.exclude_host = 1, EOPNOTSUPP, "guests alone: EOPNOTSUPP");
	EXPECT(attr.precise_ip = 1, EOPNOTSUPP, "precise: EOPNOTSUPP");
	EXPECT((attr.sigtrap = 1, attr.remove_on_exec = 1), EOPNOTSUPP, "sigtrap: EOPNOTSUPP");
	EXPECT(attr.config = 0xff, EINVAL, "no such hardware event: EINVAL");
	EXPECT(attr.branch_sample_type |= PERF_SAMPLE_BRANCH_HW_INDEX |
					  PERF_SAMPLE_BRANCH_NO_CYCLES |
					  PERF_SAMPLE_BRANCH_NO_FLAGS,
	       0, "what perf adds: accepted");
	EXPECT(attr.config2 = 16, 0, "depth 16: accepted");
	EXPECT((attr.freq = 1, attr.sample_freq = 1000), 0, "frequency: accepted");
	EXPECT(attr.inherit = 1, 0, "inherited: accepted");
	EXPECT(attr.pinned = 1, 0, "pinned: accepted");
	EXPECT(attr.exclude_guest = 1, 0, "exclude_guest: accepted");
}

static void test_groups(void)
{
	struct perf_event_attr software = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(software),
		.config = PERF_COUNT_SW_CPU_CLOCK,
	};
	struct perf_event_attr attr = attributes();
	int leader = event_open(&software, 0, -1, -1);

	expect_in(attr, leader, 0, "member of a group: accepted");
	close(leader);
	leader = event_open(&attr, 0, -1, -1);
	attr.branch_sample_type = PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_CALL;
	expect_in(attr, leader, 0, "member with another filter: accepted");
	expect_in(software, leader, 0, "leader of a software event: accepted");
	software.type = PERF_TYPE_HARDWARE;
	software.config = PERF_COUNT_HW_INSTRUCTIONS;
	expect_in(software, leader, 0, "leader of a hardware event: accepted");
	attr.branch_sample_type = PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_CALL_STACK;
	expect_in(attr, leader, EBUSY, "member with a call stack: EBUSY");
	close(leader);
}

static void test_shared(void)
{
	struct perf_event_attr attr = attributes(), stack = attributes();
	uint64_t period = 2000000;
	int fd, other, third, error;
	pid_t child;

	stack.branch_sample_type = PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_CALL_STACK;
	fd = event_open(&attr, 0, -1, -1);
	expect(attr, 0, "a second event of the task: accepted");
	expect(stack, EBUSY, "a call stack beside it: EBUSY");
	other = event_open(&attr, -1, 0, -1);
	result(other >= 0, "an event of a hart beside one of a task: accepted", errno);
	third = event_open(&attr, -1, 0, -1);
	result(third >= 0, "a second event of the hart: accepted", errno);
	close(third);
	close(other);
	child = fork();
	if (!child) {
		pause();
		_exit(0);
	}
	other = event_open(&stack, child, -1, -1);
	result(other >= 0, "a call stack of another task: accepted", errno);
	close(other);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	error = ioctl(fd, PERF_EVENT_IOC_PERIOD, &period) ? errno : 0;
	result(!error, "IOC_PERIOD: accepted", error);
	close(fd);

	fd = event_open(&stack, 0, -1, -1);
	result(fd >= 0, "a call stack of the task: accepted", errno);
	expect(attr, EBUSY, "other branches beside it: EBUSY");
	other = event_open(&attr, -1, 0, -1);
	result(other >= 0, "an event of a hart, which comes before those of tasks: accepted",
	       errno);
	close(fd);
	expect(stack, EBUSY, "a call stack beside an event of a hart: EBUSY");
	expect(attr, 0, "other branches beside it: accepted");
	close(other);
	expect(stack, 0, "closed: the call stack is accepted");
}

/* Calls perf_event_open() as an ordinary user. Return: an error, or 0. */
static int ordinary(struct perf_event_attr attr, pid_t pid, int cpu)
{
	pid_t child = fork();
	int status;

	if (!child) {
		if (setuid(1000))
			_exit(255);
		_exit(event_open(&attr, pid, cpu, -1) < 0 ? errno : 0);
	}
	if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status))
		ksft_exit_fail_msg("an ordinary user: %s\n", strerror(errno));
	return WEXITSTATUS(status);
}

static void test_unprivileged(void)
{
	struct perf_event_attr attr = attributes();
	int error = ordinary(attr, 0, -1);

	result(!error, "an ordinary user, own task, user mode: accepted", error);
	error = ordinary(attr, -1, 0);
	result(error == EACCES, "a hart: EACCES", error);
	error = ordinary(attr, 1, -1);
	result(error == EACCES, "another user's task: EACCES", error);
	/* Any other error would show that the kernel tried a counter. */
	attr.config = 0xff;
	error = ordinary(attr, -1, 0);
	result(error == EACCES, "a hart, no such hardware event: EACCES", error);
	error = ordinary(attr, 1, -1);
	result(error == EACCES, "another user's task, no such hardware event: EACCES", error);
	error = ordinary(attr, 0, -1);
	result(error == EINVAL, "own task, no such hardware event: EINVAL", error);
	attr.config = 0;
	attr.exclude_kernel = 0;
	error = ordinary(attr, 0, -1);
	result(error == EACCES, "with the kernel: EACCES", error);
	attr.exclude_kernel = 1;
	attr.branch_sample_type |= PERF_SAMPLE_BRANCH_KERNEL;
	error = ordinary(attr, 0, -1);
	result(error == EACCES, "branches of the kernel: EACCES", error);
}

static int churn(unsigned long times)
{
	while (times--) {
		struct perf_event_attr attr = attributes();
		int fd;

		attr.branch_sample_type |= times & 1 ? PERF_SAMPLE_BRANCH_KERNEL : 0;
		attr.inherit = times >> 1 & 1;
		fd = event_open(&attr, 0, -1, -1);
		if (fd < 0) {
			perror("perf_event_open");
			return 1;
		}
		close(fd);
	}
	return 0;
}

static int hold(void)
{
	struct perf_event_attr attr = attributes();

	if (event_open(&attr, 0, -1, -1) < 0) {
		perror("perf_event_open");
		return 1;
	}
	puts("holding");
	fflush(stdout);
	pause();
	return 0;
}

/* Sets perf_event_paranoid, which differs between machines; returns the value before. */
static int set_paranoid(int level)
{
	FILE *file = fopen("/proc/sys/kernel/perf_event_paranoid", "r+");
	int before;

	if (!file || fscanf(file, "%d", &before) != 1)
		ksft_exit_fail_perror("perf_event_paranoid");
	rewind(file);
	if (fprintf(file, "%d\n", level) < 0 || fclose(file))
		ksft_exit_fail_perror("perf_event_paranoid");
	return before;
}

int main(int argc, char **argv)
{
	int paranoid;

	if (argc > 1)
		type = strtoul(argv[1], NULL, 0);
	if (argc == 4 && !strcmp(argv[2], "churn"))
		return churn(strtoul(argv[3], NULL, 0));
	if (argc == 3 && !strcmp(argv[2], "hold"))
		return hold();
	if (argc > 2) {
		fprintf(stderr, "usage: abi [TYPE [hold | churn N]]\n");
		return 2;
	}
	if (argc < 2)
		type = ctr_type();
	ksft_print_header();
	ksft_set_plan(REFUSED + GROUPS + SHARED + UNPRIVILEGED);
	paranoid = set_paranoid(2);
	test_refused();
	test_groups();
	test_shared();
	test_unprivileged();
	set_paranoid(paranoid);
	ksft_finished();
}
