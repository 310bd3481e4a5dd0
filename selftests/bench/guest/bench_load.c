// SPDX-License-Identifier: GPL-2.0-only
/*
 * Loads for the benchmarks of the virtual SoC. Each prints one number: the
 * nanoseconds that it took.
 *
 *   bench_load branchy N             user code full of branches and indirect calls
 *   bench_load branchy N DEVICE SIZE the same on hart 0, traced by a file that nobody reads,
 *                                    with a data area of SIZE bytes or, if SIZE is 0, none; the
 *                                    second number is that of the bytes in the data area
 *   bench_load kernel N              system calls, page faults, fork
 *   bench_load switch N              N round trips between two processes on hart 0
 *   bench_load switch N DEVICE K     the same, and starts and stops the encoder K times,
 *                                    evenly spread, as at switches of a traced task
 *   bench_load switch N DEVICE K far the same, but another program on the last hart starts
 *                                    and stops the encoder; the time is that of the round trips
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/ntrace.h>
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
#include <time.h>
#include <unistd.h>

#include "interpreter.h"

#define NUMBERS 1024

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void pin(long hart)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET((size_t)hart, &cpus);
	if (sched_setaffinity(0, sizeof(cpus), &cpus))
		die("sched_setaffinity");
}

static int by_value(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

static void branchy(unsigned int rounds)
{
	uint32_t numbers[NUMBERS], seed = 1;

	while (rounds--) {
		for (int i = 0; i < NUMBERS; i++)
			numbers[i] = seed = interpret(seed, 10);
		qsort(numbers, NUMBERS, sizeof(numbers[0]), by_value);
		seed ^= numbers[NUMBERS / 3];
	}
	/* Keeps the compiler from removing the work. */
	if (seed == 42)
		fputs("", stderr);
}

/* Return: the nanoseconds that the load took. @bytes gets the size of the trace. */
static uint64_t drained(unsigned int rounds, const char *device, uint64_t size, uint64_t *bytes)
{
	struct ntrace_config config = {
		.size = sizeof(config),
		.mode = NTRACE_MODE_HTM,
		.privilege = NTRACE_PRIVILEGE_U,
		.data_size = size,
		.flags = size ? 0 : NTRACE_CONFIG_NO_DATA,
	};
	const struct ntrace_control *control;
	uint64_t start, end;
	int file;

	pin(0);
	file = open(device, O_RDWR);
	if (file < 0 || ioctl(file, NTRACE_IOC_CONFIGURE, &config))
		die(device);
	control = mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_READ, MAP_SHARED, file, 0);
	if (control == MAP_FAILED)
		die("mmap");
	if (ioctl(file, NTRACE_IOC_START))
		die("start");
	start = now();
	branchy(rounds);
	end = now();
	if (ioctl(file, NTRACE_IOC_STOP))
		die("stop");
	*bytes = control->head;
	if (control->lost || control->gaps) {
		fprintf(stderr, "bench_load: lost trace\n");
		exit(1);
	}
	return end - start;
}

static void kernel(unsigned int rounds)
{
	char *memory;
	pid_t child;

	while (rounds--) {
		for (int i = 0; i < 200; i++)
			syscall(SYS_getppid);
		memory = mmap(NULL, 64 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			      -1, 0);
		if (memory == MAP_FAILED)
			die("mmap");
		for (int i = 0; i < 64; i++)
			memory[i * 4096] = 1;
		munmap(memory, 64 * 4096);
		child = fork();
		if (child < 0)
			die("fork");
		if (!child)
			_exit(0);
		waitpid(child, NULL, 0);
	}
}

struct toggler {
	int file;
	unsigned int count;
};

static void toggler_open(struct toggler *toggler, const char *device)
{
	struct ntrace_info info = { .size = sizeof(info) };
	struct ntrace_config config = { .size = sizeof(config), .mode = NTRACE_MODE_HTM };

	toggler->file = open(device, O_RDWR | O_NONBLOCK);
	if (toggler->file < 0 || ioctl(toggler->file, NTRACE_IOC_INFO, &info) ||
	    ioctl(toggler->file, NTRACE_IOC_CONFIGURE, &config))
		die(device);
}

/* Starts and stops the encoder, and discards the trace. */
static void toggle(struct toggler *toggler)
{
	char waste[65536];

	if (ioctl(toggler->file, NTRACE_IOC_START) || ioctl(toggler->file, NTRACE_IOC_STOP))
		die("start and stop");
	if (++toggler->count % 256 == 0)
		while (read(toggler->file, waste, sizeof(waste)) > 0)
			;
}

static void far_toggles(const char *device, unsigned int times)
{
	struct toggler toggler = { .count = 0 };

	pin(sysconf(_SC_NPROCESSORS_ONLN) - 1);
	toggler_open(&toggler, device);
	while (toggler.count < times)
		toggle(&toggler);
	_exit(0);
}

/* The partner returns each byte. */
static void echo(int in, int out, unsigned int rounds)
{
	char byte = 0;

	while (rounds--)
		if (read(in, &byte, 1) != 1 || write(out, &byte, 1) != 1)
			die("pipe");
	_exit(0);
}

/* Return: the time at which the round trips were done, in now()'s nanoseconds. */
static uint64_t switching(unsigned int rounds, const char *device, unsigned int times, int far)
{
	unsigned int every = times ? rounds / times : 0;
	struct toggler toggler = { .count = 0 };
	int there[2], back[2], status = 0;
	uint64_t done;
	pid_t other = -1;
	char byte = 0;

	if (pipe(there) || pipe(back))
		die("pipe");
	if (device && far) {
		other = fork();
		if (!other)
			far_toggles(device, times);
		every = 0;
	} else if (device) {
		toggler_open(&toggler, device);
	}
	pin(0);
	if (!fork())
		echo(there[0], back[1], rounds);
	for (unsigned int i = 0; i < rounds; i++) {
		if (write(there[1], &byte, 1) != 1 || read(back[0], &byte, 1) != 1)
			die("pipe");
		if (every && i % every == 0 && toggler.count < times)
			toggle(&toggler);
	}
	done = now();
	if (other > 0) {
		if (waitpid(other, &status, WNOHANG) != other)
			fprintf(stderr, "bench_load: the load ended before the starts and stops\n");
		kill(other, SIGKILL);
	}
	return done;
}

int main(int argc, char **argv)
{
	unsigned int count = argc > 2 ? (unsigned int)strtoul(argv[2], NULL, 0) : 0;
	const char *device = argc > 4 ? argv[3] : NULL;
	unsigned int times = argc > 4 ? (unsigned int)strtoul(argv[4], NULL, 0) : 0;
	uint64_t start = now(), end = 0, bytes, size;

	if (!count) {
		fprintf(stderr, "usage: bench_load branchy|kernel|switch N [DEVICE K [far]]\n");
		return 2;
	}
	if (!strcmp(argv[1], "branchy") && device) {
		size = strtoull(argv[4], NULL, 0);
		end = drained(count, device, size, &bytes);
		printf("%llu %llu\n", (unsigned long long)end, (unsigned long long)bytes);
		return 0;
	}
	if (!strcmp(argv[1], "branchy"))
		branchy(count);
	else if (!strcmp(argv[1], "kernel"))
		kernel(count);
	else
		end = switching(count, device, times, argc > 5);
	if (!end)
		end = now();
	printf("%llu\n", (unsigned long long)(end - start));
	return 0;
}
