// SPDX-License-Identifier: GPL-2.0-only
/* Output files that appear under their name only when complete. */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command.h"
#include "output_file.h"
#include "ui.h"

static int failed(const struct output_file *file, int error)
{
	return fail("%s: %s", file->path, strerror(error));
}

/* An unnamed file in the target's directory: it vanishes if the process is killed. */
static int open_nameless(const char *target)
{
	char *copy = strdup(target);
	int fd = -1;

	if (copy)
		fd = open(dirname(copy), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
	free(copy);
	return fd;
}

mode_t output_file_mode(void)
{
	mode_t mask = umask(0);

	umask(mask);
	return 0666 & ~mask;
}

/* File systems without O_TMPFILE. */
static int open_named(struct output_file *file)
{
	int fd;

	if (asprintf(&file->made, "%s.XXXXXX", file->target) < 0) {
		file->made = NULL;
		errno = ENOMEM;
		return -1;
	}
	fd = mkostemp(file->made, O_CLOEXEC);
	if (fd >= 0)
		fchmod(fd, output_file_mode());
	return fd;
}

static int open_new(struct output_file *file)
{
	int fd;

	/* Through a symbolic link, replace the file, not the link. */
	file->target = realpath(file->path, NULL);
	if (!file->target)
		file->target = strdup(file->path);
	if (!file->target) {
		errno = ENOMEM;
		return -1;
	}
	fd = open_nameless(file->target);
	return fd < 0 ? open_named(file) : fd;
}

/* Permissions of the replaced file, without those that a new file would not get. */
static void copy_mode(const struct output_file *file, const struct stat *before)
{
	if (fchmod(file->output->fd, before->st_mode & output_file_mode()))
		warn("%s: cannot keep the permissions of the old file: %s", file->path,
		     strerror(errno));
}

static void forget(struct output_file *file)
{
	free(file->target);
	free(file->made);
	free(file->output);
	memset(file, 0, sizeof(*file));
}

int output_file_open(struct output_file *file, const char *path)
{
	struct stat status;
	bool there;
	int fd, error;

	memset(file, 0, sizeof(*file));
	file->path = path;
	there = strcmp(path, "-") && !stat(path, &status);
	if (!strcmp(path, "-"))
		fd = STDOUT_FILENO;
	else if (there && !S_ISREG(status.st_mode))
		fd = open(path, O_WRONLY | O_CLOEXEC);
	else if (there && access(path, W_OK))
		fd = -1;
	else
		fd = open_new(file);
	if (fd >= 0)
		file->output = malloc(sizeof(*file->output));
	if (!file->output) {
		error = fd < 0 ? failed(file, errno) : fail("out of memory");
		if (fd > STDOUT_FILENO)
			close(fd);
		forget(file);
		return error;
	}
	output_init(file->output, fd);
	if (there && file->target)
		copy_mode(file, &status);
	return EXIT_OK;
}

/* Names the unnamed file; linkat() cannot replace a file, rename() can. */
static int name_it(struct output_file *file)
{
	char open_file[32];

	snprintf(open_file, sizeof(open_file), "/proc/self/fd/%d", file->output->fd);
	if (asprintf(&file->made, "%s.%ld", file->target, (long)getpid()) < 0) {
		file->made = NULL;
		return ENOMEM;
	}
	if (!linkat(AT_FDCWD, open_file, AT_FDCWD, file->made, AT_SYMLINK_FOLLOW))
		return 0;
	free(file->made);
	file->made = NULL;
	return errno;
}

int output_file_close(struct output_file *file, int status)
{
	bool whole = status == EXIT_OK || status == EXIT_GAPS;
	int error;

	if (!file->output)
		return status;
	error = output_flush(file->output);
	if (!error && whole && file->target && !file->made)
		error = name_it(file);
	if (file->output->fd != STDOUT_FILENO && close(file->output->fd) && !error)
		error = errno;
	if (!error && whole && file->made && rename(file->made, file->target))
		error = errno;
	if (file->made && (error || !whole))
		unlink(file->made);
	/* A reader that closed the pipe is not an error. */
	if (error && whole)
		status = error == EPIPE ? EXIT_FAILED : failed(file, error);
	forget(file);
	return status;
}
