// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Files of another machine below a directory. An absolute link there means a file of that machine, not of
 * this one: openat2() with RESOLVE_IN_ROOT follows it so, in every part of a path. No other call does, so that
 * without it, before Linux 5.6, no file below a directory is opened.
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

#define LINK_ROOM 64

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
	saved = errno;
	close(directory);
	errno = saved;
	return fd;
}

static void name_descriptor(int fd, char *name)
{
	snprintf(name, LINK_ROOM, "/proc/self/fd/%d", fd);
}

int ntrace_open_below(const char *root, const char *path)
{
	char name[LINK_ROOM];
	struct stat status;
	int fd = open_path(root, path), regular, error, saved;

	if (fd < 0)
		return NTRACE_ERR_IO;
	name_descriptor(fd, name);
	error = open_regular(name, &regular, &status);
	saved = errno;
	close(fd);
	errno = saved;
	return error ? error : regular;
}

/* Whether the path leads to the file from here, too. */
static bool leads_to(const char *path, int fd)
{
	struct stat there, here;

	return !fstat(fd, &there) && !stat(path, &here) && there.st_dev == here.st_dev &&
	       there.st_ino == here.st_ino;
}

int ntrace_path_below(const char *root, const char *path, char *found, size_t size)
{
	int fd = open_path(root, path), made, saved;
	char name[LINK_ROOM];
	ssize_t length;

	if (fd < 0)
		return NTRACE_ERR_IO;
	made = snprintf(found, size, "%s%s%s", root, *path == '/' ? "" : "/", path);
	if (made >= 0 && (size_t)made < size && leads_to(found, fd)) {
		close(fd);
		return 0;
	}
	name_descriptor(fd, name);
	length = readlink(name, found, size);
	saved = length < 0 ? errno : ENAMETOOLONG;
	close(fd);
	if (length < 0 || (size_t)length >= size) {
		errno = saved;
		return NTRACE_ERR_IO;
	}
	found[length] = '\0';
	return 0;
}
