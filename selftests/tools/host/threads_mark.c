// SPDX-License-Identifier: GPL-2.0-only
/*
 * mark CLOCK PROGRAM...: runs the programs in turn, between two marks, which begin and end a
 * section of the witness's log (mark_of() in selftests/oracle/exec_code.h). The file CLOCK gets
 * lines "TIME NANOSECONDS TIME": CLOCK_MONOTONIC between two values of the CSR time, before and
 * after the programs.
 *
 * mark runs itself again after the first mark, so that the log has all callers of what a child
 * executes.
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static uint64_t read_time(void)
{
	uint64_t time;

	__asm__ volatile("rdtime %0" : "=r"(time) : : "memory");
	return time;
}

static int print_clock(const char *path, const char *mode)
{
	FILE *file = fopen(path, mode);
	struct timespec now;
	uint64_t before, after;

	if (!file)
		return -1;
	for (int i = 0; i < 5; i++) {
		before = read_time();
		clock_gettime(CLOCK_MONOTONIC, &now);
		after = read_time();
		fprintf(file, "%" PRIu64 " %" PRIu64 " %" PRIu64 "\n", before,
			(uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec, after);
	}
	return fclose(file);
}

static int run(char *program)
{
	char *arguments[] = { program, NULL };
	int status;
	pid_t pid = fork();

	if (!pid) {
		execv(program, arguments);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status) {
		fprintf(stderr, "mark: %s failed\n", program);
		return 1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	int failed = 0;

	if (argc < 3)
		return 2;
	if (strcmp(argv[0], "marked")) {
		if (print_clock(argv[1], "w"))
			return 2;
		argv[0] = "marked";
		__asm__ volatile(".insn i 0x13, 2, x0, x0, 1");
		execv("/proc/self/exe", argv);
		return 126;
	}
	for (int i = 2; i < argc; i++)
		failed |= run(argv[i]);
	__asm__ volatile(".insn i 0x13, 2, x0, x0, 2");
	return print_clock(argv[1], "a") ? 2 : failed;
}
