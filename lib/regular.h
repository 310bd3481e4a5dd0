/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Opening and copying input files, for the whole library. */
#ifndef NTRACE_REGULAR_H
#define NTRACE_REGULAR_H

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ntrace/error.h>

/*
 * Opens a regular file to read, and sets @status. A FIFO may block, a device may never end, and opening
 * either may have side effects.
 * Return: 0, NTRACE_ERR_IO with errno, or NTRACE_ERR_FORMAT: not a regular file
 */
static inline int open_regular(const char *path, int *fd, struct stat *status)
{
	int saved;

	if (stat(path, status))
		return NTRACE_ERR_IO;
	if (!S_ISREG(status->st_mode))
		return NTRACE_ERR_FORMAT;
	*fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (*fd < 0)
		return NTRACE_ERR_IO;
	/* The name may be another file's since. */
	if (!fstat(*fd, status) && S_ISREG(status->st_mode))
		return 0;
	saved = errno;
	close(*fd);
	errno = saved;
	return NTRACE_ERR_FORMAT;
}

/*
 * Whether a file has @least bytes in a row that were never written. A copy may leave out zeros, so short holes are
 * contents; long ones only claim a size, and take hours to read. Where the file system has no holes, there are none.
 */
static inline bool has_hole(const char *path, off_t least)
{
	struct stat status;
	off_t hole, data = 0;
	bool found = false;
	int fd;

	if (open_regular(path, &fd, &status))
		return false;
	while (!found && data < status.st_size) {
		hole = lseek(fd, data, SEEK_HOLE);
		data = hole < 0 ? -1 : lseek(fd, hole, SEEK_DATA);
		if (data < 0)
			data = status.st_size;
		found = hole >= 0 && data - hole >= least;
	}
	close(fd);
	return found;
}

/* A link in a recording may lead anywhere, and nobody has named what it leads to. */
static inline bool is_link(const char *path)
{
	struct stat status;

	return !lstat(path, &status) && S_ISLNK(status.st_mode);
}

/*
 * Copies the rest of @from to @to, and adds the number of bytes to *@bytes. @failed: set to the one of both that fails
 * Return: 0 or NTRACE_ERR_IO
 */
static inline int copy_file_bytes(int from, int to, uint64_t *bytes, int *failed)
{
	char buffer[1 << 14];
	ssize_t got, put, done;

	for (*failed = from; (got = read(from, buffer, sizeof(buffer))); *failed = from) {
		if (got < 0)
			return NTRACE_ERR_IO;
		*failed = to;
		for (done = 0; done < got; done += put) {
			put = write(to, buffer + done, (size_t)(got - done));
			if (put < 0)
				return NTRACE_ERR_IO;
		}
		*bytes += (uint64_t)got;
	}
	return 0;
}

#endif
