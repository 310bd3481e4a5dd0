// SPDX-License-Identifier: GPL-2.0-only
/* Directories of the recorder: a recording is created, renamed, removed; a temporary directory. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ntrace/recording.h>

#include "common/command.h"
#include "common/ui.h"
#include "directory.h"

/* Reserved space for files that decoding needs and that are written last: parameters, sideband. */
#define ROOM "room"
#define ROOM_SIZE (256u << 10)

static bool is_our_directory(const char *name)
{
	return !strcmp(name, "images") || !strcmp(name, "archive") || !strcmp(name, "archive.new");
}

/*
 * Only files of the recorder, and those that other commands add to a recording, are ever removed; other files
 * and their directory stay.
 */
static bool is_ours(const char *name)
{
	static const char *const names[] = { "data", "params", "params.new", "index", ROOM };
	static const char *const begins[] = { "aux.", "params.unfinished-", "index.unfinished-" };
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(name, names[i]))
			return true;
	for (i = 0; i < sizeof(begins) / sizeof(begins[0]); i++)
		if (!strncmp(name, begins[i], strlen(begins[i])))
			return true;
	return is_our_directory(name);
}

/* True if the directory has files of a recording, possibly incomplete, and no others. */
static bool is_recording(const char *path)
{
	DIR *directory = opendir(path);
	struct dirent *entry;
	bool any = false, foreign = false;

	if (!directory)
		return false;
	while ((entry = readdir(directory))) {
		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		any = true;
		foreign |= !is_ours(entry->d_name);
	}
	closedir(directory);
	return any && !foreign;
}

/* Removes the files of @path, and @path itself if it is empty then. */
static void remove_files(const char *path, bool all)
{
	DIR *directory = opendir(path);
	struct dirent *entry;
	char *file;

	if (!directory)
		return;
	while ((entry = readdir(directory))) {
		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..") ||
		    !(all || is_ours(entry->d_name)))
			continue;
		if (asprintf(&file, "%s/%s", path, entry->d_name) < 0)
			continue;
		if (unlink(file) && errno == EISDIR && (all || is_our_directory(entry->d_name)))
			remove_files(file, true);
		free(file);
	}
	closedir(directory);
	rmdir(path);
}

/* The name of an older recording, to be freed; NULL after an error message. */
static char *old_name(const char *directory)
{
	size_t length = strlen(directory);
	char *old;

	/* A shell completes the name of a directory with one. */
	while (length > 1 && directory[length - 1] == '/')
		length--;
	if (asprintf(&old, "%.*s.old", (int)length, directory) >= 0)
		return old;
	fail("out of memory");
	return NULL;
}

/* Renames an older recording of that name, like perf record. */
static int keep_old(const char *directory, bool *kept)
{
	struct stat status;
	int error = EXIT_OK;
	char *old;

	*kept = false;
	if (lstat(directory, &status))
		return EXIT_OK;
	if (!S_ISDIR(status.st_mode) || !is_recording(directory))
		return fail("%s: exists and is not a recording", directory);
	old = old_name(directory);
	if (!old)
		return EXIT_FAILED;
	if (is_recording(old))
		remove_files(old, false);
	if (rename(directory, old))
		error = fail("%s: cannot become %s: %s", directory, old, strerror(errno));
	*kept = !error;
	free(old);
	return error;
}

int recording_make(const char *directory, bool *kept)
{
	int error = keep_old(directory, kept);

	if (error)
		return error;
	return ntrace_recording_create(directory) ? fail("%s: %s", directory, strerror(errno)) :
						    EXIT_OK;
}

void recording_discard(const char *directory, bool kept)
{
	char *old = kept ? old_name(directory) : NULL;

	remove_files(directory, false);
	/* If a foreign file has kept the directory, the older recording keeps its other name. */
	if (old && access(directory, F_OK) && rename(old, directory))
		warn("%s: cannot become %s again: %s", old, directory, strerror(errno));
	free(old);
}

static char *room_of(const char *directory)
{
	char *path;

	return asprintf(&path, "%s/" ROOM, directory) < 0 ? NULL : path;
}

int recording_reserve(const char *directory)
{
	char *path = room_of(directory);
	int fd, error;

	if (!path)
		return fail("out of memory");
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	error = fd < 0 ? errno : posix_fallocate(fd, 0, ROOM_SIZE);
	if (fd >= 0)
		close(fd);
	if (error) {
		unlink(path);
		error = error == ENOSPC ? fail("%s: disk full", directory) :
					  fail("%s: %s", path, strerror(error));
	}
	free(path);
	return error;
}

int recording_release(const char *directory)
{
	char *path = room_of(directory);
	int error = EXIT_OK;

	if (!path)
		return fail("out of memory");
	if (unlink(path) && errno == ENOENT)
		error = fail("%s: was removed or renamed while it was recorded", directory);
	free(path);
	return error;
}

int temporary_make(char *path, size_t size, const char *name)
{
	const char *parent = getenv("TMPDIR");
	int error;

	if (!parent || !*parent)
		parent = "/tmp";
	if ((size_t)snprintf(path, size, "%s/%s.XXXXXX", parent, name) >= size)
		errno = ENAMETOOLONG;
	else if (mkdtemp(path))
		return EXIT_OK;
	error = fail("%s: %s (TMPDIR chooses another place)", parent, strerror(errno));
	path[0] = '\0';
	return error;
}
