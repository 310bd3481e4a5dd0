/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * TAP output for C tests. One file per test program:
 *
 *	int main(void)
 *	{
 *		ok(x == 3, "x of %s", name);
 *		is_u64(got, 7, "packets");
 *		return done_testing();
 *	}
 *
 * The plan is printed last, so a program that dies has none and has failed.
 */
#ifndef SELFTESTS_TAP_H
#define SELFTESTS_TAP_H

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static int tap_count, tap_failures;

__attribute__((format(printf, 4, 5), unused)) static bool
tap_result(bool good, const char *file, int line, const char *format, ...)
{
	va_list args;

	if (!tap_count)
		setvbuf(stdout, NULL, _IOLBF, 0);
	printf("%sok %d - ", good ? "" : "not ", ++tap_count);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
	if (!good) {
		tap_failures++;
		printf("#   at %s:%d\n", file, line);
	}
	return good;
}

/* A line for the reader; shown when the test program fails. */
__attribute__((format(printf, 1, 2), unused)) static void diag(const char *format, ...)
{
	va_list args;

	fputs("# ", stdout);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
}

#define ok(condition, ...) tap_result(!!(condition), __FILE__, __LINE__, __VA_ARGS__)

#define is_u64(got, expected, ...)						\
	tap_compare((uint64_t)(got), (uint64_t)(expected), "%" PRIu64,		\
		    ok((uint64_t)(got) == (uint64_t)(expected), __VA_ARGS__))

#define is_hex(got, expected, ...)						\
	tap_compare((uint64_t)(got), (uint64_t)(expected), "0x%" PRIx64,	\
		    ok((uint64_t)(got) == (uint64_t)(expected), __VA_ARGS__))

#define tap_compare(got, expected, format, good)				\
	do {									\
		if (!(good))							\
			printf("#        got " format "\n#   expected " format	\
			       "\n", (got), (expected));			\
	} while (0)

#define is_str(got, expected, ...)						\
	do {									\
		const char *got_ = (got), *expected_ = (expected);		\
										\
		if (!ok(got_ && expected_ && !strcmp(got_, expected_), __VA_ARGS__)) \
			printf("#        got %s\n#   expected %s\n",		\
			       got_ ? got_ : "(null)", expected_ ? expected_ : "(null)"); \
	} while (0)

/* Skips one test that cannot run here, with the reason. */
__attribute__((unused)) static void skip(const char *what, const char *why)
{
	printf("ok %d - %s # SKIP %s\n", ++tap_count, what, why);
}

/* The value to return from main(). */
__attribute__((unused)) static int done_testing(void)
{
	printf("1..%d\n", tap_count);
	return tap_failures ? 1 : 0;
}

#endif
