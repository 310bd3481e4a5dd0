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
#include <string.h>

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

#endif /* SELFTESTS_FAILING_MEMORY_H */
