// SPDX-License-Identifier: GPL-2.0-only
/*
 * For LD_PRELOAD: the file whose path ends with $NTRACE_SHRINK becomes empty as soon as it is mapped, as if
 * another process wrote it anew.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void shrink(int fd)
{
	const char *end = getenv("NTRACE_SHRINK");
	char link[64], path[PATH_MAX];
	ssize_t length;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	length = fd < 0 || !end ? -1 : readlink(link, path, sizeof(path) - 1);
	if (length < (ssize_t)(end ? strlen(end) : 0))
		return;
	path[length] = '\0';
	if (!strcmp(path + length - strlen(end), end) && truncate(path, 0))
		abort();
}

void *mmap(void *address, size_t size, int protection, int flags, int fd, off_t offset)
{
	void *(*real)(void *, size_t, int, int, int, off_t) = dlsym(RTLD_NEXT, "mmap");
	void *map = real(address, size, protection, flags, fd, offset);

	shrink(fd);
	return map;
}

void *mmap64(void *address, size_t size, int protection, int flags, int fd, off_t offset)
{
	return mmap(address, size, protection, flags, fd, offset);
}
