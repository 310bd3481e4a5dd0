// SPDX-License-Identifier: GPL-2.0-only
/*
 * stack_load ROUNDS: all changes of a stack. Recursion, tail calls, calls through pointers and from
 * the C library; longjmp out of recursion; signals at any time, which interrupt each other, on the
 * normal and on the alternate stack, whose handlers return or leave by siglongjmp(); faults; system
 * calls and the vDSO; unwinding with clean-up code, and exceptions of C++ (stack_throw.cc); threads
 * that wait for each other.
 *
 * Stacks below the functions truth_* are compared. Addresses alone do not determine the stacks
 * below functions odd_*.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))
#define DEPTH 300

typedef uint64_t operation(uint64_t value);

unsigned long exceptions(unsigned int round); /* stack_throw.cc */

static volatile uint64_t sink;
static jmp_buf out, levels[4];
static sigjmp_buf handled;
static int pipes[2];
static char alternate[65536] __attribute__((aligned(16)));
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turned = PTHREAD_COND_INITIALIZER;
static unsigned int turn;

static NOINLINE uint64_t fibonacci(unsigned int n)
{
	return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

static NOINLINE int is_odd(unsigned int n);

/* The functions call each other by tail calls. */
static NOINLINE int is_even(unsigned int n)
{
	return n ? is_odd(n - 1) : 1;
}

static NOINLINE int is_odd(unsigned int n)
{
	return n ? is_even(n - 1) : 0;
}

/* What it executes is shown as its function's, as that of the kernel's hrtimer_try_to_cancel.part.0. */
static NOINLINE uint64_t part_of_twice(uint64_t value) __asm__("twice.part.0");
static NOINLINE uint64_t part_of_twice(uint64_t value)
{
	return 2 * value;
}

static NOINLINE uint64_t twice(uint64_t value)
{
	return part_of_twice(value + 1) - 2;
}

static NOINLINE uint64_t of_fibonacci(uint64_t value)
{
	return fibonacci(value % 6);
}

static operation *volatile operations[] = { twice, of_fibonacci };

/* A tail call through a pointer, too. */
static NOINLINE uint64_t operate(uint64_t value)
{
	value += operations[value % 2](value);
	return operations[value % 3 % 2](value);
}

static int compare(const void *a, const void *b)
{
	const uint32_t *left = a, *right = b;

	return *left < *right ? -1 : *left > *right;
}

static NOINLINE void sort(uint32_t seed)
{
	uint32_t numbers[64];

	for (unsigned int i = 0; i < 64; i++)
		numbers[i] = seed = seed * 1103515245 + 12345;
	qsort(numbers, 64, sizeof(*numbers), compare);
	sink += numbers[32];
}

static NOINLINE void deep(unsigned int n, bool leave)
{
	volatile char frame[64];

	frame[n % 64] = (char)n;
	if (n)
		deep(n - 1, leave);
	else if (leave)
		longjmp(out, 1);
	sink += (uint64_t)frame[n % 64];
}

static NOINLINE void jump(unsigned int round)
{
	if (!setjmp(out))
		deep(round * 37 % DEPTH, round % 2);
	sink++;
}

static NOINLINE void on_alarm(int number)
{
	sink += fibonacci(4) + (uint64_t)number;
}

/* SIGALRM interrupts it, and so does a signal that it raises. */
static NOINLINE void on_user(int number)
{
	(void)number;
	sink += fibonacci(5);
	raise(SIGUSR2);
	if (sink % 2)
		siglongjmp(handled, 1);
	sink++;
}

static NOINLINE void on_alternate(int number)
{
	(void)number;
	sink += fibonacci(6);
	if (sink % 3 == 1)
		siglongjmp(handled, 1);
	sink++;
}

static NOINLINE void on_fault(int number)
{
	(void)number;
	siglongjmp(handled, 1);
}

static NOINLINE void signals(void)
{
	if (!sigsetjmp(handled, 1))
		raise(SIGUSR1);
	sink++;
	if (!sigsetjmp(handled, 1))
		raise(SIGUSR2);
	sink++;
}

static NOINLINE void fault(uintptr_t address)
{
	if (!sigsetjmp(handled, 1))
		*(volatile char *)address = 1;
	sink++;
}

static NOINLINE void system_calls(unsigned int round)
{
	const size_t size = 2 * (size_t)getpagesize();
	char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct timespec now;
	char byte = (char)round;

	if (memory != MAP_FAILED) {
		memset(memory, byte, size);
		munmap(memory, size);
	}
	clock_gettime(CLOCK_MONOTONIC, &now);
	if (write(pipes[1], &byte, 1) == 1 && read(pipes[0], &byte, 1) == 1)
		sink += (uint64_t)getppid() + (uint64_t)now.tv_nsec;
	if (round % 16 == 0)
		nanosleep(&(struct timespec){ .tv_nsec = 1000 }, NULL);
}

/* The other thread and this one alternate: each has to wait for the other. */
static NOINLINE void take_turn(unsigned int mine)
{
	pthread_mutex_lock(&mutex);
	while (turn % 2 != mine)
		pthread_cond_wait(&turned, &mutex);
	turn++;
	pthread_cond_broadcast(&turned);
	pthread_mutex_unlock(&mutex);
}

static NOINLINE void work(unsigned int round)
{
	sink += fibonacci(10);
	sink += (uint64_t)is_even(round % 32) + operate(round);
	sort(round);
}

static NOINLINE void clean_up(const unsigned int *depth)
{
	sink += fibonacci(*depth % 5);
}

/* Unwinds from the innermost frame, and stops for each clean-up. */
static NOINLINE void unwind(unsigned int n)
{
	__attribute__((cleanup(clean_up))) unsigned int depth = n;

	if (depth)
		unwind(n - 1);
	else if (sink)
		pthread_exit(NULL);
	sink += depth;
}

/* Each frame belongs to another function, so that the target of the unwinding is unambiguous. */
static NOINLINE void inner(void)
{
	__attribute__((cleanup(clean_up))) unsigned int depth = 4;

	sink += depth;
	pthread_exit(NULL);
}

static NOINLINE void outer(void)
{
	__attribute__((cleanup(clean_up))) unsigned int depth = 3;

	inner();
	sink += depth;
}

static NOINLINE void *truth_exit(void *unused)
{
	outer();
	return unused;
}

static NOINLINE void *odd_exit(void *unused)
{
	unwind(10);
	return unused;
}

static NOINLINE void *truth_thread(void *rounds)
{
	for (unsigned int round = 0; round < *(unsigned int *)rounds; round++) {
		work(round);
		take_turn(1);
	}
	return NULL;
}

/* Leaves several recursion levels at once: setjmp() returned to the same address in each. */
static NOINLINE unsigned int odd_levels(unsigned int level)
{
	if (setjmp(levels[level]))
		return level + (unsigned int)fibonacci(3);
	if (level == 3)
		longjmp(levels[1], 1);
	return odd_levels(level + 1) + 1;
}

static void *start(void *(*function)(void *), void *argument)
{
	pthread_t thread;
	void *result = argument;

	if (pthread_create(&thread, NULL, function, argument))
		abort();
	if (function != truth_thread)
		pthread_join(thread, &result);
	else
		memcpy(&result, &thread, sizeof(thread));
	return result;
}

static void handle(int number, void (*handler)(int), int flags)
{
	struct sigaction action = { .sa_handler = handler, .sa_flags = flags };

	if (sigaction(number, &action, NULL))
		abort();
}

static void set_up(void)
{
	const struct itimerval timer = { { 0, 100 }, { 0, 100 } };

	if (pipe(pipes) ||
	    sigaltstack(&(stack_t){ .ss_sp = alternate, .ss_size = sizeof(alternate) }, NULL))
		abort();
	handle(SIGALRM, on_alarm, SA_RESTART);
	handle(SIGUSR1, on_user, 0);
	handle(SIGUSR2, on_alternate, SA_ONSTACK);
	handle(SIGSEGV, on_fault, SA_ONSTACK);
	setitimer(ITIMER_REAL, &timer, NULL);
}

static NOINLINE void truth_main(unsigned int rounds)
{
	for (unsigned int round = 0; round < rounds; round++) {
		work(round);
		jump(round);
		signals();
		fault(round % 4096);
		sink += exceptions(round);
		system_calls(round);
		take_turn(0);
		if (round % 32 == 0)
			start(truth_exit, NULL);
	}
}

int main(int argc, char **argv)
{
	unsigned int rounds = argc > 1 ? (unsigned int)atoi(argv[1]) : 20;
	sigset_t alarm;
	pthread_t thread;
	void *started;

	set_up();
	/* Only the main thread receives SIGALRM: the other one has no alternate stack. */
	sigemptyset(&alarm);
	sigaddset(&alarm, SIGALRM);
	pthread_sigmask(SIG_BLOCK, &alarm, NULL);
	started = start(truth_thread, &rounds);
	memcpy(&thread, &started, sizeof(thread));
	pthread_sigmask(SIG_UNBLOCK, &alarm, NULL);
	truth_main(rounds);
	setitimer(ITIMER_REAL, &(struct itimerval){ 0 }, NULL);
	pthread_join(thread, NULL);
	for (unsigned int round = 0; round < 3; round++) {
		sink += odd_levels(0);
		start(odd_exit, NULL);
	}
	printf("done\n");
	return 0;
}
