/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KTAP for C programs that run in the guest, with the names of the kernel's
 * tools/testing/selftests/kselftest.h. A program includes "kselftest.h": in a kernel tree
 * that is the kernel's own file, here it is this one. It has no more than the kernel's.
 *
 *	int main(void)
 *	{
 *		ksft_print_header();
 *		ksft_set_plan(2);
 *		ksft_test_result(x == 3, "x of %s\n", name);
 *		ksft_test_result_skip("y: there is no y\n");
 *		ksft_finished();
 *	}
 *
 * As there, a text ends with a newline, and errno is the same after a result.
 */
#ifndef SELFTESTS_KSELFTEST_H
#define SELFTESTS_KSELFTEST_H

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Exit statuses. */
#define KSFT_PASS 0
#define KSFT_FAIL 1
#define KSFT_XFAIL 2
#define KSFT_XPASS 3
#define KSFT_SKIP 4

#define KSFT_FORMAT(text, values) __attribute__((format(printf, text, values), unused))
#define KSFT_NORETURN __attribute__((noreturn, unused))

static struct {
	unsigned int pass;
	unsigned int fail;
	unsigned int skip;
} ksft_count;
static unsigned int ksft_plan;

static inline unsigned int ksft_test_num(void)
{
	return ksft_count.pass + ksft_count.fail + ksft_count.skip;
}
static inline unsigned int ksft_get_fail_cnt(void)
{
	return ksft_count.fail;
}

static inline void ksft_print_header(void)
{
	/* Flush the output: a child would otherwise print its parent's buffer again. */
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (!getenv("KSFT_TAP_LEVEL"))
		printf("TAP version 13\n");
}

static inline void ksft_set_plan(unsigned int plan)
{
	ksft_plan = plan;
	printf("1..%u\n", plan);
}

static inline void ksft_print_cnts(void)
{
	if (ksft_plan != ksft_test_num())
		printf("# Planned tests != run tests (%u != %u)\n", ksft_plan, ksft_test_num());
	printf("# Totals: pass:%u fail:%u xfail:0 xpass:0 skip:%u error:0\n", ksft_count.pass,
	       ksft_count.fail, ksft_count.skip);
}

#define KSFT_PRINT(before, format)                                                                 \
	do {                                                                                       \
		int ksft_errno = errno;                                                            \
		va_list ksft_values;                                                               \
                                                                                                   \
		printf before;                                                                     \
		va_start(ksft_values, format);                                                     \
		vprintf(format, ksft_values);                                                      \
		va_end(ksft_values);                                                               \
		errno = ksft_errno;                                                                \
	} while (0)

KSFT_FORMAT(1, 2) static inline void ksft_print_msg(const char *format, ...)
{
	KSFT_PRINT(("# "), format);
}

static inline void ksft_perror(const char *what)
{
	ksft_print_msg("%s: %s (%d)\n", what, strerror(errno), errno);
}

KSFT_FORMAT(1, 2) static inline void ksft_test_result_pass(const char *format, ...)
{
	ksft_count.pass++;
	KSFT_PRINT(("ok %u ", ksft_test_num()), format);
}

KSFT_FORMAT(1, 2) static inline void ksft_test_result_fail(const char *format, ...)
{
	ksft_count.fail++;
	KSFT_PRINT(("not ok %u ", ksft_test_num()), format);
}

KSFT_FORMAT(1, 2) static inline void ksft_test_result_skip(const char *format, ...)
{
	ksft_count.skip++;
	KSFT_PRINT(("ok %u # SKIP ", ksft_test_num()), format);
}

#define ksft_test_result(condition, ...)                                                           \
	do {                                                                                       \
		if (condition)                                                                     \
			ksft_test_result_pass(__VA_ARGS__);                                        \
		else                                                                               \
			ksft_test_result_fail(__VA_ARGS__);                                        \
	} while (0)

KSFT_NORETURN static inline void ksft_exit_pass(void)
{
	ksft_print_cnts();
	exit(KSFT_PASS);
}

KSFT_NORETURN static inline void ksft_exit_fail(void)
{
	ksft_print_cnts();
	exit(KSFT_FAIL);
}

/* Ends the program with an unfulfilled plan, which counts as a failure. */
KSFT_FORMAT(1, 2) KSFT_NORETURN static inline void ksft_exit_fail_msg(const char *format, ...)
{
	KSFT_PRINT(("Bail out! "), format);
	ksft_exit_fail();
}

KSFT_NORETURN static inline void ksft_exit_fail_perror(const char *what)
{
	ksft_exit_fail_msg("%s: %s (%d)\n", what, strerror(errno), errno);
}

/* Skips the remaining tests; all of them if there is no plan yet. */
KSFT_FORMAT(1, 2) KSFT_NORETURN static inline void ksft_exit_skip(const char *format, ...)
{
	if (ksft_plan || ksft_test_num()) {
		ksft_count.skip++;
		KSFT_PRINT(("ok %u # SKIP ", ksft_test_num()), format);
		ksft_print_cnts();
	} else {
		KSFT_PRINT(("1..0 # SKIP "), format);
	}
	exit(KSFT_SKIP);
}

/* Ends the program, successfully if each test of the plan has passed or was skipped. */
KSFT_NORETURN static inline void ksft_finished(void)
{
	if (ksft_count.pass + ksft_count.skip == ksft_plan)
		ksft_exit_pass();
	else
		ksft_exit_fail();
}

#endif /* SELFTESTS_KSELFTEST_H */
