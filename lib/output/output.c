// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Output files: a temporary file beside the target, made with O_EXCL under a random name, is renamed to
 * it at the end. Nobody who can write to the directory can guess the name in advance. The file is claimed, so
 * that the next output to the same target removes it if this process is killed: claim.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ntrace/output.h>

#include "claim.h"
#include "unfinished.h"

#define LINKS_MAX 40

/*
 * @target: the file that is replaced at the end
 * @replaces: it is there
 * @made: the temporary file; NULL = @target is written in place
 */
struct ntrace_output {
	int fd;
	bool replace;
	bool replaces;
	char *target;
	char *made;
};

/* A descriptor of the process by its name; its file is open already, even if it is a regular one. */
static int descriptor_of(const char *path)
{
	static const char *const directories[] = { "/dev/fd/", "/proc/self/fd/" };
	int number, end;

	if (!strcmp(path, "/dev/stdout"))
		return STDOUT_FILENO;
	if (!strcmp(path, "/dev/stderr"))
		return STDERR_FILENO;
	for (size_t i = 0; i < sizeof(directories) / sizeof(directories[0]); i++) {
		size_t length = strlen(directories[i]);

		if (!strncmp(path, directories[i], length) &&
		    sscanf(path + length, "%d%n", &number, &end) == 1 &&
		    !path[length + (size_t)end])
			return number;
	}
	return -1;
}

static int open_in_place(struct ntrace_output *output, const char *path)
{
	int number = descriptor_of(path);

	output->target = strdup(path);
	output->fd = number < 0 ? open(path, O_WRONLY | O_CLOEXEC) :
				  fcntl(number, F_DUPFD_CLOEXEC, 0);
	return !output->target ? NTRACE_ERR_NOMEM : output->fd < 0 ? NTRACE_ERR_IO : 0;
}

/* The file that a link points to, which need not exist. Return: string to be freed, or NULL */
static char *follow(const char *path)
{
	char *at = strdup(path), *next, link[PATH_MAX];
	ssize_t length;

	for (int i = 0; at && (length = readlink(at, link, sizeof(link) - 1)) >= 0; i++) {
		char *slash = strrchr(at, '/');

		if (i == LINKS_MAX) {
			free(at);
			errno = ELOOP;
			return NULL;
		}
		link[length] = '\0';
		if (*link == '/' || !slash)
			next = strdup(link);
		else if (asprintf(&next, "%.*s/%s", (int)(slash - at), at, link) < 0)
			next = NULL;
		free(at);
		at = next;
	}
	if (!at)
		errno = ENOMEM;
	return at;
}

/* A file system without permissions of its own, as some of FUSE or on cards, gives every file the same. */
static bool has_no_modes(int error)
{
	return error == EPERM || error == ENOTSUP || error == ENOSYS;
}

/*
 * Permissions of a new file, and no others than those of the file that is replaced, which also has an
 * owner.
 */
static int set_mode(int fd, const struct stat *before)
{
	mode_t mask = umask(0), mode = 0666 & ~mask;

	umask(mask);
	if (before) {
		mode &= before->st_mode;
		/* The permissions of the file's group are not for the new file's group. */
		if (fchown(fd, before->st_uid, before->st_gid))
			mode &= ~(mode_t)0060;
	}
	return fchmod(fd, mode) && !has_no_modes(errno) ? -1 : 0;
}

static int make_temporary(char *path)
{
	char *random = path + strlen(path) - CLAIM_RANDOM;
	int fd;

	for (;;) {
		memset(random, 'X', CLAIM_RANDOM);
		fd = mkostemp(path, O_CLOEXEC);
		if (fd < 0 || claim(fd, path) != CLAIM_TAKEN)
			return fd;
		close(fd);
	}
}

/* The longest name in the directory of @name, a part of @target. Encrypted directories have shorter ones. */
static size_t longest_name(const char *target, const char *name)
{
	char *directory = name == target ? strdup(".") : strndup(target, (size_t)(name - target));
	long most = directory ? pathconf(directory, _PC_NAME_MAX) : -1;

	free(directory);
	/* In some file systems this is not the number of bytes. */
	return most > (long)strlen(CLAIM_SUFFIX) && most < NAME_MAX ? (size_t)most : NAME_MAX;
}

/* The length of the target's path in a temporary name: as much as leaves room for the suffix in its last part. */
static int kept_length(const char *target)
{
	const char *slash = strrchr(target, '/'), *name = slash ? slash + 1 : target;
	size_t length = strlen(name), most = longest_name(target, name) - strlen(CLAIM_SUFFIX);

	/* Not a part of a character of UTF-8. */
	if (length > most)
		for (length = most; length && (name[length] & 0xc0) == 0x80; length--)
			;
	return (int)((size_t)(name - target) + length);
}

static int open_beside(struct ntrace_output *output, const struct stat *before)
{
	int kept = kept_length(output->target);

	claim_remove_files(output->target, kept);
	if (asprintf(&output->made, "%.*s" CLAIM_SUFFIX, kept, output->target) < 0) {
		output->made = NULL;
		return NTRACE_ERR_NOMEM;
	}
	output->fd = unfinished_make(output, output->made, make_temporary);
	if (output->fd < 0)
		return errno == ENOMEM ? NTRACE_ERR_NOMEM : NTRACE_ERR_IO;
	return set_mode(output->fd, before) ? NTRACE_ERR_IO : 0;
}

static int open_target(struct ntrace_output *output, const char *path)
{
	struct stat before;
	bool there = !stat(path, &before);
	int fd;

	if (!there && errno != ENOENT)
		return NTRACE_ERR_IO;
	if (there && (!S_ISREG(before.st_mode) || descriptor_of(path) >= 0))
		return open_in_place(output, path);
	if (there && !output->replace) {
		errno = EEXIST;
		return NTRACE_ERR_IO;
	}
	/* open() checks the permissions, and whether a link may be followed. */
	fd = there ? open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY) : 0;
	if (fd < 0)
		return NTRACE_ERR_IO;
	if (there)
		close(fd);
	output->target = follow(path);
	if (!output->target)
		return errno == ENOMEM ? NTRACE_ERR_NOMEM : NTRACE_ERR_IO;
	output->replaces = there;
	return open_beside(output, there ? &before : NULL);
}

int ntrace_output_open(struct ntrace_output **output, const char *path, bool replace)
{
	struct ntrace_output *made = calloc(1, sizeof(*made));
	int error;

	if (!made)
		return NTRACE_ERR_NOMEM;
	made->fd = -1;
	made->replace = replace;
	error = open_target(made, path);
	if (error)
		ntrace_output_close(made, false);
	else
		*output = made;
	return error;
}

int ntrace_output_fd(const struct ntrace_output *output)
{
	return output->fd;
}

const char *ntrace_output_name(const struct ntrace_output *output)
{
	return output->made ? output->made : output->target;
}

static int rename_made(const struct ntrace_output *output)
{
	if (!output->replace) {
		if (!renameat2(AT_FDCWD, output->made, AT_FDCWD, output->target, RENAME_NOREPLACE))
			return 0;
		/* Not every file system can refuse to replace a file; it was checked before. */
		if (errno != EINVAL && errno != ENOSYS)
			return NTRACE_ERR_IO;
	}
	return rename(output->made, output->target) ? NTRACE_ERR_IO : 0;
}

/* Whoever loses the machine after the rename must not lose both files: the name may reach the disk before the data. */
static bool is_on_disk(const struct ntrace_output *output)
{
	return !output->replaces || !fsync(output->fd) || errno == EINVAL || errno == EROFS;
}

/* close() may report an error of writing. Return: 0 or an error number */
static int finish(struct ntrace_output *output)
{
	int error = is_on_disk(output) ? 0 : errno;

	if (close(output->fd) && !error)
		error = errno;
	if (!error && output->made && rename_made(output))
		error = errno;
	return error;
}

int ntrace_output_close(struct ntrace_output *output, bool keep)
{
	int error = 0, saved = errno, claimed;

	if (!output)
		return 0;
	/* The claim lasts until the file has its name. */
	claimed = output->fd < 0 ? -1 : fcntl(output->fd, F_DUPFD_CLOEXEC, 0);
	if (output->fd >= 0 && keep)
		error = finish(output);
	else if (output->fd >= 0)
		close(output->fd);
	unfinished_end(output, !keep || error);
	if (claimed >= 0)
		close(claimed);
	free(output->target);
	free(output->made);
	free(output);
	errno = error ? error : saved;
	return error ? NTRACE_ERR_IO : 0;
}
