// SPDX-License-Identifier: GPL-2.0-only
/*
 * truth_load ROUNDS [PROCESSES]: the load that the truth tests trace. One
 * process per hart, pinned to it (further processes run anywhere), in a ring of
 * pipes. In each round, each process computes with many branches and indirect
 * calls, passes a token on, forks and execs, touches fresh memory, and reads
 * and writes a file, while timer signals interrupt it.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "interpreter.h"

#define NUMBERS 1024
#define PAGES 32
#define HARTS_MAX 16

static volatile sig_atomic_t signals;
static int descending;

static void on_alarm(int number)
{
	(void)number;
	signals++;
}

static int by_value(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	int order = x < y ? -1 : x > y;

	return descending ? -order : order;
}

static uint32_t compute(uint32_t seed)
{
	uint32_t numbers[NUMBERS], sum = 0;

	for (int i = 0; i < NUMBERS; i++)
		numbers[i] = seed = interpret(seed, 5);
	descending = seed & 1;
	qsort(numbers, NUMBERS, sizeof(numbers[0]), by_value);
	for (int i = 0; i < NUMBERS; i++)
		sum = sum * 31 + numbers[i];
	return sum;
}

static void touch_memory(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *memory = mmap(NULL, PAGES * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			    -1, 0);

	if (memory == MAP_FAILED) {
		perror("mmap");
		exit(1);
	}
	for (int i = 0; i < PAGES; i++)
		memory[(size_t)i * page] = (char)i;
	munmap(memory, PAGES * page);
}

static void use_file(unsigned int hart)
{
	char name[64], text[512];
	int file;

	snprintf(name, sizeof(name), "/tmp/truth_load.%u", hart);
	file = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);
	if (file < 0) {
		perror(name);
		exit(1);
	}
	memset(text, 'x', sizeof(text));
	for (int i = 0; i < 8; i++)
		if (write(file, text, sizeof(text)) != sizeof(text))
			exit(1);
	lseek(file, 0, SEEK_SET);
	while (read(file, text, sizeof(text)) > 0)
		;
	close(file);
	unlink(name);
}

static void fork_and_exec(void)
{
	int status;
	pid_t child = fork();

	if (!child) {
		execl("/proc/self/exe", "truth_load", "0", (char *)NULL);
		_exit(127);
	}
	if (child < 0 || (waitpid(child, &status, 0) != child && errno != EINTR)) {
		perror("fork");
		exit(1);
	}
}

static void work(unsigned int hart, unsigned int rounds, int in, int out)
{
	struct itimerval every = { { 0, 3000 }, { 0, 3000 } };
	struct sigaction action = { .sa_handler = on_alarm, .sa_flags = SA_RESTART };
	uint32_t token = hart;
	struct timespec now;
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(hart, &cpus);
	sched_setaffinity(0, sizeof(cpus), &cpus);
	sigaction(SIGVTALRM, &action, NULL);
	setitimer(ITIMER_VIRTUAL, &every, NULL);
	for (unsigned int i = 0; i < rounds; i++) {
		token += compute(token);
		for (int k = 0; k < 4; k++) {
			if (write(out, &token, sizeof(token)) != sizeof(token) ||
			    read(in, &token, sizeof(token)) != sizeof(token)) {
				perror("pipe");
				exit(1);
			}
		}
		touch_memory();
		use_file(hart);
		clock_gettime(CLOCK_MONOTONIC, &now);
		if (i % 4 == 0)
			fork_and_exec();
	}
	printf("truth_load: hart %u: %u rounds, %08x, %d signals\n", hart, rounds, token,
	       (int)signals);
}

int main(int argc, char **argv)
{
	unsigned int rounds = argc > 1 ? (unsigned int)atoi(argv[1]) : 100;
	unsigned int harts = argc > 2 ? (unsigned int)atoi(argv[2]) :
					(unsigned int)sysconf(_SC_NPROCESSORS_ONLN);
	int pipes[HARTS_MAX][2], status, failed = 0;

	if (!rounds)
		return 0;
	if (harts > HARTS_MAX)
		harts = HARTS_MAX;
	for (unsigned int i = 0; i < harts; i++) {
		if (pipe(pipes[i])) {
			perror("pipe");
			return 1;
		}
	}
	for (unsigned int i = 0; i < harts; i++) {
		if (fork() == 0) {
			work(i, rounds, pipes[i][0], pipes[(i + 1) % harts][1]);
			fflush(stdout);
			_exit(0);
		}
	}
	while (wait(&status) > 0)
		failed |= status;
	return failed ? 1 : 0;
}
