/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A scratch directory for a test program, and commands in it. Call scratch_make() first and
 * scratch_remove() last.
 */
#ifndef SELFTESTS_SCRATCH_H
#define SELFTESTS_SCRATCH_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

static char directory[] = "/tmp/ntrace-test-XXXXXX";

/* Runs a shell command. Return: its status as from system(). */
__attribute__((format(printf, 1, 2))) static inline int run(const char *format, ...)
{
	char command[2048];
	va_list args;

	va_start(args, format);
	vsnprintf(command, sizeof(command), format, args);
	va_end(args);
	return system(command);
}

/* The path of a file in the directory; the last 64 results are valid. */
static inline const char *in(const char *name)
{
	static char paths[64][512];
	static unsigned int next;
	char *path = paths[next++ % 64];

	snprintf(path, sizeof(paths[0]), "%s/%s", directory, name);
	return path;
}

static inline bool scratch_make(void)
{
	return mkdtemp(directory);
}

static inline void scratch_remove(void)
{
	run("rm -rf %s", directory);
}

#endif /* SELFTESTS_SCRATCH_H */
