// SPDX-License-Identifier: GPL-2.0-only
/*
 * Preloaded: a file system with faults that no file system here has. NTRACE_FAULT is a call and the number of its
 * error, as "fsync 28". Two more: "tmpfile" is open() with O_TMPFILE, "names" has names of at most 143 bytes, as
 * encrypted directories have.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define LONGEST 143

/* Sets errno. Return: whether @call fails. */
static int fails(const char *call)
{
	const char *fault = getenv("NTRACE_FAULT");
	size_t length = strlen(call);

	if (!fault || strncmp(fault, call, length) || fault[length] != ' ')
		return 0;
	errno = atoi(fault + length);
	return 1;
}

#define NEXT(type, name) ((type)dlsym(RTLD_NEXT, name))

int fchmod(int fd, mode_t mode)
{
	return fails("fchmod") ? -1 : NEXT(int (*)(int, mode_t), "fchmod")(fd, mode);
}

int fchown(int fd, uid_t user, gid_t group)
{
	return fails("fchown") ? -1 : NEXT(int (*)(int, uid_t, gid_t), "fchown")(fd, user, group);
}

int fsync(int fd)
{
	return fails("fsync") ? -1 : NEXT(int (*)(int), "fsync")(fd);
}

int flock(int fd, int operation)
{
	return fails("flock") ? -1 : NEXT(int (*)(int, int), "flock")(fd, operation);
}

int rename(const char *from, const char *to)
{
	if (fails("rename"))
		return -1;
	return NEXT(int (*)(const char *, const char *), "rename")(from, to);
}

int renameat2(int from_at, const char *from, int to_at, const char *to, unsigned int flags)
{
	if (fails("renameat2") || fails("rename"))
		return -1;
	return NEXT(int (*)(int, const char *, int, const char *, unsigned int),
		    "renameat2")(from_at, from, to_at, to, flags);
}

int open(const char *path, int flags, ...)
{
	va_list more;
	mode_t mode;

	va_start(more, flags);
	mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(more, mode_t) : 0;
	va_end(more);
	if ((flags & __O_TMPFILE) && fails("tmpfile"))
		return -1;
	return NEXT(int (*)(const char *, int, ...), "open")(path, flags, mode);
}

long pathconf(const char *path, int name)
{
	if (name == _PC_NAME_MAX && fails("names"))
		return LONGEST;
	return NEXT(long (*)(const char *, int), "pathconf")(path, name);
}

int mkostemp(char *template, int flags)
{
	const char *slash = strrchr(template, '/');

	if (strlen(slash ? slash + 1 : template) > LONGEST && fails("names"))
		return -1;
	return NEXT(int (*)(char *, int), "mkostemp")(template, flags);
}
