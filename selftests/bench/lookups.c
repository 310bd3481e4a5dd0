// SPDX-License-Identifier: GPL-2.0-only
/* lookups N: a fixed number of look-ups in small tables, divided among N threads that share nothing. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define TABLE (1u << 14)
#define LOOKUPS 400000000u
#define THREADS_MAX 64

static unsigned int threads;

static void *work(void *data)
{
	uint32_t *table = malloc(TABLE * sizeof(*table)), at = 1;

	(void)data;
	if (!table)
		exit(1);
	for (uint32_t i = 0; i < TABLE; i++)
		table[i] = i * 0x9e3779b1u;
	for (uint32_t i = 0; i < LOOKUPS / threads; i++)
		at = table[(at ^ i) % TABLE] >> 3;
	free(table);
	/* The result is used. */
	return at == 12345 ? &threads : NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread[THREADS_MAX];

	threads = argc == 2 ? (unsigned int)atoi(argv[1]) : 0;
	if (!threads || threads > THREADS_MAX)
		return 2;
	for (unsigned int i = 0; i < threads; i++) {
		if (pthread_create(&thread[i], NULL, work, NULL))
			return 1;
	}
	for (unsigned int i = 0; i < threads; i++)
		pthread_join(thread[i], NULL);
	return 0;
}
