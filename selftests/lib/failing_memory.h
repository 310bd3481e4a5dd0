/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Allocations of the library that fail when a test wants it. The linker redirects them to the test
 * (--wrap), so the name of a test that includes this begins with test_nomem.
 */
#ifndef SELFTESTS_FAILING_MEMORY_H
#define SELFTESTS_FAILING_MEMORY_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ntrace/error.h>

#include "tap.h"

static uint64_t allocations;	/* number of allocations so far */
static uint64_t failing;	/* the failing one, counted from 1; 0 = none */
static bool for_good;		/* and all later ones */
static bool armed;

static bool fails(void)
{
	if (!armed)
		return false;
	allocations++;
	return failing && (for_good ? allocations >= failing : allocations == failing);
}

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *memory, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
char *__real_strdup(const char *text);
char *__real_strndup(const char *text, size_t size);

void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *memory, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
char *__wrap_strdup(const char *text);
char *__wrap_strndup(const char *text, size_t size);
int __wrap_asprintf(char **text, const char *format, ...);

void *__wrap_malloc(size_t size)
{
	return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
	return fails() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *memory, size_t size)
{
	return fails() ? NULL : __real_realloc(memory, size);
}

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
	return fails() ? NULL : __real_aligned_alloc(alignment, size);
}

char *__wrap_strdup(const char *text)
{
	return fails() ? NULL : __real_strdup(text);
}

char *__wrap_strndup(const char *text, size_t size)
{
	return fails() ? NULL : __real_strndup(text, size);
}

int __wrap_asprintf(char **text, const char *format, ...)
{
	va_list args;
	int size = -1;

	/* glibc leaves the value undefined. */
	*text = (char *)1;
	if (fails())
		return -1;
	va_start(args, format);
	size = vasprintf(text, format, args);
	va_end(args);
	return size;
}

/* ---- what runs give ---- */

/**
 * struct result - result of a run
 * @error: the first error
 * @sum: checksum of all results
 */
struct result {
	int error;
	uint64_t sum;
};

static void add(struct result *result, const void *data, size_t size)
{
	const uint8_t *bytes = data;

	while (size--)
		result->sum = (result->sum ^ *bytes++) * UINT64_C(0x100000001b3);
}

static void add_number(struct result *result, uint64_t number)
{
	add(result, &number, sizeof(number));
}

__attribute__((unused)) static void add_text(struct result *result, const char *text)
{
	if (text)
		add(result, text, strlen(text) + 1);
}

__attribute__((unused)) static void sum_note(void *data, const char *text)
{
	add_text(data, text);
}

/**
 * check_allocations - lets one allocation of a run after the other fail
 * @name: name of the run
 * @run: sets @allocations to 0 and arms the failures; its result is NTRACE_ERR_NOMEM, or the same as
 *       with all memory
 * @data: passed to @run
 * @least: least number of allocations, so that a run that is not redirected is noticed
 *
 * Every second allocation, by SEED, fails alone; the others fail with all later ones.
 */
static void check_allocations(const char *name, struct result (*run)(void *data), void *data,
			      uint64_t least)
{
	const char *text = getenv("SEED");
	uint64_t seed = text && *text ? strtoull(text, NULL, 0) : 1;
	struct result good = run(data);
	uint64_t total = allocations, without = 0;

	is_u64((uint64_t)good.error, 0, "%s: with all memory", name);
	for (uint64_t n = 1; n <= total; n++) {
		struct result got;

		failing = n;
		for_good = (n + seed) % 2;
		got = run(data);
		failing = 0;
		if (!got.error && got.sum == good.sum)
			without++;
		else if (got.error != NTRACE_ERR_NOMEM)
			ok(false, "%s: allocation %" PRIu64 " of %" PRIu64 " fails%s: %s", name, n,
			   total, for_good ? ", and all later ones" : "",
			   got.error ? ntrace_strerror(got.error) : "another result");
	}
	ok(total >= least,
	   "%s: each of %" PRIu64 " allocations failed, %" PRIu64 " runs did without", name, total,
	   without);
}

#endif /* SELFTESTS_FAILING_MEMORY_H */
