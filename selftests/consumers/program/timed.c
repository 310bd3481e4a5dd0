// SPDX-License-Identifier: GPL-2.0-only
/*
 * timed: two threads that share a hart. Prints the processor time of each thread in its function:
 * "FUNCTION NANOSECONDS".
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

static uint64_t nanoseconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Has unpredictable branches, so that messages are frequent. */
static __attribute__((noinline)) uint32_t churn(uint32_t seed, unsigned int steps)
{
	uint32_t odd = 0;

	while (steps--) {
		seed = seed * 1664525 + 1013904223;
		if (seed >> 31)
			odd ^= seed;
		if (seed >> 30 & 1)
			odd += steps;
		__asm__ volatile("" : "+r"(odd));
	}
	return odd;
}

static __attribute__((noinline)) uint32_t short_work(uint32_t seed)
{
	return churn(seed, 100000) + 1;
}

static __attribute__((noinline)) uint32_t long_work(uint32_t seed)
{
	return churn(seed, 400000) + 2;
}

struct job {
	pthread_t thread;
	const char *name;
	uint32_t (*work)(uint32_t seed);
	uint64_t took;
	uint32_t result;
};

static void *run(void *data)
{
	struct job *job = data;
	uint64_t start;

	pthread_setname_np(pthread_self(), job->name);
	for (int i = 0; i < 4; i++) {
		start = nanoseconds();
		job->result += job->work(job->result);
		job->took += nanoseconds() - start;
	}
	return NULL;
}

int main(void)
{
	struct job jobs[] = {
		{ .name = "short_work", .work = short_work },
		{ .name = "long_work", .work = long_work },
	};

	for (int i = 0; i < 2; i++)
		if (pthread_create(&jobs[i].thread, NULL, run, &jobs[i]))
			return 1;
	for (int i = 0; i < 2; i++) {
		pthread_join(jobs[i].thread, NULL);
		printf("%s %llu\n", jobs[i].name, (unsigned long long)jobs[i].took);
	}
	return jobs[0].result == jobs[1].result;
}
