// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Files of another machine below a directory. An absolute link there means a file of that machine, not of
 * this one: openat2() with RESOLVE_IN_ROOT follows it so.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <ntrace/image.h>

#include "regular.h"

static int open_path(const char *root, const char *path)
{
	struct open_how how = { .flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_IN_ROOT };
	int directory, fd, saved;

	if (!*root)
		return open(path, O_PATH | O_CLOEXEC);
	directory = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (directory < 0)
		return -1;
	fd = (int)syscall(SYS_openat2, directory, path, &how, sizeof(how));
	/* Before Linux 5.6, and in some sandboxes: links lead where they lead. */
	if (fd < 0 && errno == ENOSYS)
		fd = openat(directory, path + strspn(path, "/"), O_PATH | O_CLOEXEC);
	saved = errno;
	close(directory);
	errno = saved;
	return fd;
}

int ntrace_open_below(const char *root, const char *path)
{
	char name[64];
	struct stat status;
	int fd = open_path(root, path), regular, error, saved;

	if (fd < 0)
		return NTRACE_ERR_IO;
	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	error = open_regular(name, &regular, &status);
	saved = errno;
	close(fd);
	errno = saved;
	return error ? error : regular;
}
