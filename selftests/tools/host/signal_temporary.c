// SPDX-License-Identifier: GPL-2.0-only
/*
 * Preloaded: a signal, NTRACE_SIGNAL, comes when a temporary file has just got its name. No file system has files
 * without one.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

int open(const char *path, int flags, ...)
{
	int (*original)(const char *, int, ...) =
		(int (*)(const char *, int, ...))dlsym(RTLD_NEXT, "open");
	mode_t mode;
	va_list more;

	if ((flags & O_TMPFILE) == O_TMPFILE) {
		errno = EOPNOTSUPP;
		return -1;
	}
	va_start(more, flags);
	mode = flags & O_CREAT ? va_arg(more, mode_t) : 0;
	va_end(more);
	return original(path, flags, mode);
}

int mkostemp(char *path, int flags)
{
	int (*original)(char *, int) = (int (*)(char *, int))dlsym(RTLD_NEXT, "mkostemp");
	int fd = original(path, flags);

	/* To the process: any thread may get it. */
	if (fd >= 0)
		kill(getpid(), atoi(getenv("NTRACE_SIGNAL")));
	return fd;
}
