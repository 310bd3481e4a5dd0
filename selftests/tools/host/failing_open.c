// SPDX-License-Identifier: GPL-2.0-only
/*
 * Preloaded: of the files below the directory NTRACE_BELOW, the one that is opened as number NTRACE_OPEN cannot be
 * read. NTRACE_FAILED is a file that gets its name.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static atomic_int opened;
static const char *below, *name;
static int number;

#define NEXT(type, name) ((type)dlsym(RTLD_NEXT, name))

/* Processes that this one starts may read all files. */
__attribute__((constructor)) static void begin(void)
{
	const char *text = getenv("NTRACE_OPEN");

	below = getenv("NTRACE_BELOW");
	name = getenv("NTRACE_FAILED");
	number = text && below && name ? atoi(text) : 0;
	unsetenv("LD_PRELOAD");
}

/* Sets errno. Return: whether it is the one that fails. */
static int fails(const char *path)
{
	int file;

	if (!number || strncmp(path, below, strlen(below)) ||
	    atomic_fetch_add(&opened, 1) + 1 != number)
		return 0;
	file = NEXT(int (*)(const char *, int, ...),
		    "open")(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (write(file, path, strlen(path)) < 0)
		abort();
	close(file);
	errno = EACCES;
	return 1;
}

#define OPEN(name)                                                                            \
	int name(const char *path, int flags, ...)                                            \
	{                                                                                     \
		int mode;                                                                     \
		va_list values;                                                               \
                                                                                              \
		va_start(values, flags);                                                      \
		mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(values, int) : 0;               \
		va_end(values);                                                               \
		if (!(flags & (O_WRONLY | O_RDWR)) && fails(path))                            \
			return -1;                                                            \
		return NEXT(int (*)(const char *, int, ...), #name)(path, flags, mode);       \
	}

OPEN(open)
OPEN(open64)

#define FOPEN(name)                                                                           \
	FILE *name(const char *path, const char *mode)                                        \
	{                                                                                     \
		if (*mode == 'r' && fails(path))                                              \
			return NULL;                                                          \
		return NEXT(FILE *(*)(const char *, const char *), #name)(path, mode);        \
	}

FOPEN(fopen)
FOPEN(fopen64)

DIR *opendir(const char *path)
{
	return fails(path) ? NULL : NEXT(DIR * (*)(const char *), "opendir")(path);
}
