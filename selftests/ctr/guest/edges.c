// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program with known control transfers: every direct branch and jump of the functions hot_* is
 * taken, and each class of transfer that CTR distinguishes occurs. Prints its load address. Yields
 * the CPU now and then. With the FIFOs of perf record --control, it turns the recording off in a
 * function, and on again in another one.
 * Usage: edges ROUNDS [PROCESSES [THREADS [CONTROL ACKNOWLEDGED]]]
 */
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern const char __executable_start[];

static volatile uint64_t sink;

__attribute__((noipa)) static void hot_leaf(uint64_t x)
{
	sink += x;
}

__attribute__((noipa)) static void hot_branches(uint64_t x)
{
	if (x & 1)
		sink += 3;
	if (x & 2)
		sink ^= x;
	for (uint64_t i = 0; i < (x & 3) + 2; i++)
		sink += i;
}

__attribute__((noipa)) static void hot_recursion(uint64_t depth)
{
	if (depth)
		hot_recursion(depth - 1);
	sink += depth;
}

__attribute__((noipa)) static void hot_even(uint64_t x)
{
	sink += x;
	hot_leaf(x);
	sink += 1;
}

__attribute__((noipa)) static void hot_odd(uint64_t x)
{
	sink -= x;
	hot_branches(x);
	sink -= 1;
}

static void (*volatile const table[2])(uint64_t) = { hot_even, hot_odd };

/* Jumps and a swap in assembly, because a compiler would not put them at the intended places. */
__attribute__((noipa)) static void hot_jumps(uint64_t x)
{
	uint64_t target, link;

	__asm__ volatile("	la	%0, 2f\n"
			 "	andi	t1, %2, 1\n"
			 "	beqz	t1, 1f\n"
			 "	jr	%0\n" /* indirect jump */
			 "1:	j	3f\n" /* direct jump */
			 "2:	nop\n"
			 "3:	jal	t3, 4f\n" /* other direct jump, with linkage */
			 "4:	la	%0, 5f\n"
			 "	jalr	t3, 0(%0)\n" /* other indirect jump */
			 "5:	la	t0, 6f\n"
			 "	mv	%1, ra\n"
			 "	jalr	ra, 0(t0)\n" /* co-routine swap */
			 "6:	mv	ra, %1\n"
			 : "=&r"(target), "=&r"(link)
			 : "r"(x)
			 : "t0", "t1", "t3", "ra", "memory");
}

__attribute__((noipa)) static void hot_round(uint64_t x)
{
	hot_branches(x);
	table[x & 1](x);
	hot_recursion(x & 7);
	hot_jumps(x);
	sink += 1; /* makes it a call and not a tail jump */
}

static int control = -1, acknowledged;

static void control_perf(const char *command)
{
	char answer[8];

	if (write(control, command, strlen(command)) < 0 ||
	    read(acknowledged, answer, sizeof(answer)) <= 0)
		exit(1);
}

__attribute__((noipa)) static void turn_off(uint64_t depth)
{
	if (depth)
		turn_off(depth - 1);
	else
		control_perf("disable\n");
	sink += depth;
}

__attribute__((noipa)) static void turn_on(uint64_t x)
{
	control_perf("enable\n");
	hot_round(x);
	sink += 1;
}

static uint64_t rounds;

/* Each process and each thread executes the same. */
__attribute__((noipa)) static void *execute(void *argument)
{
	uint64_t random = 88172645463325252u;

	for (uint64_t left = rounds; left; left--) {
		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		hot_round(random);
		if (control >= 0 && left % 256 == 0) {
			turn_off(left / 256 % 8);
			turn_on(random);
		}
		if (!(random & 0x3ff))
			sched_yield();
	}
	return argument;
}

int main(int argc, char **argv)
{
	unsigned int processes = argc > 2 ? strtoul(argv[2], NULL, 0) : 1;
	unsigned int threads = argc > 3 ? strtoul(argv[3], NULL, 0) : 1;
	pthread_t thread[8];

	if (argc < 2 || argc == 5 || argc > 6 || threads > 8) {
		fprintf(stderr, "usage: edges ROUNDS [PROCESSES [THREADS [CONTROL ACKNOWLEDGED]]], "
				"at most 8 threads\n");
		return 2;
	}
	if (argc == 6) {
		control = open(argv[4], O_WRONLY | O_CLOEXEC);
		acknowledged = open(argv[5], O_RDONLY | O_CLOEXEC);
		if (control < 0 || acknowledged < 0)
			return 1;
	}
	rounds = strtoull(argv[1], NULL, 0);
	printf("base 0x%" PRIxPTR "\n", (uintptr_t)__executable_start);
	fflush(stdout);
	while (processes > 1 && fork())
		processes--;
	for (unsigned int i = 1; i < threads; i++) {
		if (pthread_create(&thread[i], NULL, execute, NULL))
			return 1;
	}
	execute(NULL);
	for (unsigned int i = 1; i < threads; i++)
		pthread_join(thread[i], NULL);
	while (wait(NULL) > 0)
		;
	return 0;
}
