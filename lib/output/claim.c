// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Claims are locks of flock(2). Between making a file and claiming it, another process may take it for one that
 * was left, and remove it: who claims looks whether the name still is the file's, and else makes another.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "claim.h"

/* Descriptors that the removal of a directory may use. */
#define DEPTH 16

static enum claim claim_at(int fd, int directory, const char *path)
{
	struct stat mine, named;

	if (flock(fd, LOCK_EX | LOCK_NB))
		return errno == EWOULDBLOCK ? CLAIM_TAKEN : CLAIM_UNKNOWN;
	if (fstat(fd, &mine) || fstatat(directory, path, &named, AT_SYMLINK_NOFOLLOW) ||
	    mine.st_dev != named.st_dev || mine.st_ino != named.st_ino)
		return CLAIM_TAKEN;
	return CLAIM_HELD;
}

enum claim claim(int fd, const char *path)
{
	return claim_at(fd, AT_FDCWD, path);
}

pid_t claim_holder(int fd)
{
	FILE *file = fopen("/proc/locks", "re");
	struct stat status;
	char line[256];
	int pid, found = 0;
	uintmax_t inode;

	if (!file)
		return 0;
	/* "1: FLOCK  ADVISORY  WRITE PID MAJOR:MINOR:INODE 0 EOF"; some file systems show other devices. */
	while (!found && !fstat(fd, &status) && fgets(line, sizeof(line), file))
		if (sscanf(line, "%*d: FLOCK %*s WRITE %d %*x:%*x:%ju", &pid, &inode) == 2 &&
		    inode == status.st_ino && pid > 0)
			found = pid;
	fclose(file);
	return found;
}

static void remove_unclaimed(int directory, const char *name)
{
	int fd = openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat status;

	if (fd < 0)
		return;
	if (!fstat(fd, &status) && S_ISREG(status.st_mode) && status.st_uid == geteuid() &&
	    claim_at(fd, directory, name) == CLAIM_HELD)
		unlinkat(directory, name, 0);
	close(fd);
}

void claim_remove_files(const char *target, int kept)
{
	const char *slash = memrchr(target, '/', (size_t)kept);
	const char *name = slash ? slash + 1 : target;
	size_t length = (size_t)(target + kept - name),
	       fixed = sizeof(CLAIM_SUFFIX) - 1 - CLAIM_RANDOM;
	char *path = slash ? strndup(target, (size_t)(name - target)) : strdup(".");
	DIR *directory = path ? opendir(path) : NULL;
	struct dirent *entry;

	free(path);
	if (!directory)
		return;
	while ((entry = readdir(directory)))
		if (strlen(entry->d_name) == length + fixed + CLAIM_RANDOM &&
		    !memcmp(entry->d_name, name, length) &&
		    !memcmp(entry->d_name + length, CLAIM_SUFFIX, fixed))
			remove_unclaimed(dirfd(directory), entry->d_name);
	closedir(directory);
}

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *at)
{
	(void)status, (void)type, (void)at;
	return remove(path);
}

int claim_remove_directory(const char *path, pid_t *holder)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), result = -1, saved;

	*holder = 0;
	if (fd < 0)
		return errno == ENOENT ? 0 : -1;
	switch (claim(fd, path)) {
	case CLAIM_HELD:
		result = nftw(path, remove_entry, DEPTH, FTW_DEPTH | FTW_PHYS);
		break;
	case CLAIM_TAKEN:
		*holder = claim_holder(fd);
		errno = EBUSY;
		break;
	case CLAIM_UNKNOWN:
		errno = EEXIST;
		break;
	}
	saved = errno;
	close(fd);
	errno = saved;
	return result;
}
