// SPDX-License-Identifier: GPL-2.0-only
/*
 * truth_tasks ROUNDS: threads, a child, its child and the program that it execs, all migrating
 * between the harts and handing work to each other. Each thread has a function that only it
 * executes: prints "TID worker_N" lines.
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREADS 3

static unsigned int rounds;
static int pipes[2];

static void say(const char *name)
{
	char line[64];
	int length = snprintf(line, sizeof(line), "%ld %s\n", (long)syscall(SYS_gettid), name);

	if (write(STDOUT_FILENO, line, (size_t)length) != length)
		exit(1);
}

/* Move to the next hart through the scheduler, take a page fault, use a pipe, and move back. */
static void wander(unsigned int round)
{
	const size_t size = 4 * (size_t)getpagesize();
	cpu_set_t set;
	char byte = 0;
	char *memory;

	CPU_ZERO(&set);
	CPU_SET(round % (unsigned int)sysconf(_SC_NPROCESSORS_ONLN), &set);
	sched_setaffinity(0, sizeof(set), &set);
	sched_yield();
	memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory != MAP_FAILED) {
		memset(memory, (int)round, size);
		munmap(memory, size);
	}
	if (write(pipes[1], &byte, 1) == 1 && read(pipes[0], &byte, 1) == 1 && round % 8 == 0)
		usleep(500);
}

#define WORKER(n)                                                                                  \
	static __attribute__((noinline, noclone)) void worker_##n(unsigned int seed)               \
	{                                                                                          \
		for (unsigned int i = 0; i < 300 + 100 * (n); i++)                                 \
			seed = seed & 1 ? seed * 3 + (n) : seed / 2 + i;                           \
		__asm__ volatile("" : : "r"(seed));                                                \
	}                                                                                          \
	static void *thread_##n(void *unused)                                                      \
	{                                                                                          \
		(void)unused;                                                                      \
		say("worker_" #n);                                                                 \
		for (unsigned int round = 0; round < rounds; round++) {                            \
			worker_##n(round);                                                         \
			wander(round + (n));                                                       \
		}                                                                                  \
		return NULL;                                                                       \
	}

WORKER(0)
WORKER(1)
WORKER(2)
WORKER(3)
WORKER(4)
WORKER(5)
WORKER(6)

/* Forks; the child forks too, and execs this program once more. */
static void family(char **argv)
{
	pid_t child = fork(), grandchild;

	if (!child) {
		grandchild = fork();
		if (!grandchild) {
			thread_6(NULL);
			_exit(0);
		}
		thread_4(NULL);
		waitpid(grandchild, NULL, 0);
		execl("/proc/self/exe", argv[0], argv[1], "again", (char *)NULL);
		_exit(1);
	}
	waitpid(child, NULL, 0);
}

int main(int argc, char **argv)
{
	void *(*const starts[THREADS])(void *) = { thread_1, thread_2, thread_3 };
	pthread_t threads[THREADS];

	rounds = argc > 1 ? (unsigned int)atoi(argv[1]) : 20;
	if (pipe(pipes))
		return 1;
	if (argc > 2) {
		thread_5(NULL);
		return 0;
	}
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, starts[i], NULL))
			return 1;
	thread_0(NULL);
	family(argv);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
