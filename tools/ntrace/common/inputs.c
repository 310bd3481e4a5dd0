// SPDX-License-Identifier: GPL-2.0-only
/*
 * The inputs of the command, and which outputs are among them. An output file that is an input is refused before it is
 * opened. Standard output and standard error output are open already, and an input may become known late, as a
 * source or a line of a list does: the command ends then, before the input changes.
 *
 * New outputs have no permissions that an input lacks.
 */
#include <dirent.h>
#include <fcntl.h>
#include <fts.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ntrace/output.h>
#include <ntrace/text.h>

#include "command.h"
#include "inputs.h"

/* @whole: a directory of which each file is an input, also one that is made now */
struct input {
	char *path;
	bool whole;
};

static struct input *named;
static size_t named_count;

/* ---- inputs ---- */

static bool is_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

static bool has_params(const char *directory)
{
	char *params;
	bool found = false;

	if (asprintf(&params, "%s/params", directory) >= 0) {
		found = !access(params, F_OK);
		free(params);
	}
	return found;
}

/* The directory that has or gets the file @path. Return: its name, to be freed, or NULL */
static char *directory_of(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *directory;

	return asprintf(&directory, "%.*s.", slash ? (int)(slash + 1 - path) : 0, path) < 0 ?
		       NULL :
		       directory;
}

bool output_is_standard(const char *path)
{
	static const char *const names[] = { "-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(path, names[i]))
			return true;
	return false;
}

/* Of the entries of a recording's directory, those that are read. */
static bool is_recording_file(const char *name)
{
	static const char *const files[] = { "params", "data", "index" };
	static const char *const starts[] = { "data.", "aux." };

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		if (!strcmp(name, files[i]))
			return true;
	for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++)
		if (!strncmp(name, starts[i], strlen(starts[i])))
			return true;
	return false;
}

static bool is_recording_directory(const char *name)
{
	return !strcmp(name, "images") || !strcmp(name, "archive");
}

/* @found: set to the path by which the recording @directory reads @file, whatever other names that has */
static bool is_in_recording(const struct stat *file, const char *directory, char *found)
{
	char *const paths[] = { (char *)(uintptr_t)directory, NULL };
	FTS *tree = fts_open(paths, FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR, NULL);
	struct stat status;
	bool same = false;
	FTSENT *entry;

	while (tree && !same && (entry = fts_read(tree))) {
		bool top = entry->fts_level == 1;

		if (entry->fts_info == FTS_D && top && !is_recording_directory(entry->fts_name))
			fts_set(tree, entry, FTS_SKIP);
		else if ((entry->fts_info == FTS_F || entry->fts_info == FTS_SL) &&
			 (!top || is_recording_file(entry->fts_name)))
			same = !stat(entry->fts_path, &status) && is_same(file, &status);
		if (same)
			snprintf(found, PATH_MAX, "%s", entry->fts_path);
	}
	if (tree)
		fts_close(tree);
	return same;
}

/* Whether @path is the file @input, or a file of the recording or directory @input. */
static bool is_input(const char *path, const struct input *named_input)
{
	const char *input = named_input->path;
	struct stat status, at;
	char *target, *end, *directory, name[PATH_MAX];
	bool found = false;

	if (stat(input, &status) ||
	    (S_ISDIR(status.st_mode) && !named_input->whole && !has_params(input)))
		return false;
	if (S_ISREG(status.st_mode))
		return !stat(path, &at) && is_same(&status, &at);
	/* The shell has made the file, wherever that is. */
	if (output_is_standard(path))
		return false;
	/* A descriptor, or a hard link, has the file by a name that is elsewhere. */
	if (S_ISDIR(status.st_mode) && has_params(input) && !stat(path, &at) &&
	    S_ISREG(at.st_mode) && is_in_recording(&at, input, name))
		return true;
	/* A file that does not exist yet may be one that the command makes or looks for. */
	directory = directory_of(path);
	target = S_ISDIR(status.st_mode) ? realpath(path, NULL) : NULL;
	if (!target && S_ISDIR(status.st_mode) && directory)
		target = realpath(directory, NULL);
	free(directory);
	while (target && !found && *target) {
		found = !stat(target, &at) && is_same(&status, &at);
		end = strrchr(target, '/');
		if (!end)
			break;
		*end = '\0';
	}
	free(target);
	return found;
}

/* Standard input needs no word of the command line. */
static bool is_standard_input(const char *path)
{
	struct stat input, output;

	return !fstat(STDIN_FILENO, &input) && S_ISREG(input.st_mode) && !stat(path, &output) &&
	       is_same(&input, &output);
}

bool output_is_same(const char *path, const char *other)
{
	struct stat first, second;
	const char *name = strrchr(path, '/'), *other_name = strrchr(other, '/');
	char *directory, *other_directory;
	bool same;

	if (output_is_standard(path) && output_is_standard(other))
		return true;
	if (!stat(path, &first))
		return S_ISREG(first.st_mode) && !stat(other, &second) && is_same(&first, &second);
	directory = directory_of(path);
	other_directory = directory_of(other);
	same = directory && other_directory && !stat(directory, &first) &&
	       !stat(other_directory, &second) && is_same(&first, &second) &&
	       !strcmp(name ? name + 1 : path, other_name ? other_name + 1 : other);
	free(directory);
	free(other_directory);
	return same;
}

bool output_is_input(const char *path)
{
	bool found = is_standard_input(path);

	for (size_t i = 0; i < named_count && !found; i++)
		found = is_input(path, &named[i]);
	return found;
}

/* ---- inputs that standard output or standard error output would write to ---- */

bool output_stream_is(int fd, const struct stat *file)
{
	struct stat output;

	return S_ISREG(file->st_mode) && !fstat(fd, &output) && is_same(file, &output) &&
	       (fcntl(fd, F_GETFL) & O_ACCMODE) != O_RDONLY;
}

static bool stream_writes(int fd, const char *input, char *found)
{
	struct stat status, output;

	/* Most are no files. */
	if (fstat(fd, &output) || !output_stream_is(fd, &output))
		return false;
	snprintf(found, PATH_MAX, "%s", input);
	if (!strcmp(input, "-") ? fstat(STDIN_FILENO, &status) : stat(input, &status))
		return false;
	if (S_ISDIR(status.st_mode) && has_params(input))
		return is_in_recording(&output, input, found);
	return S_ISREG(status.st_mode) && is_same(&status, &output);
}

/* Ends the command without writing what it has for the stream. The message goes to the other one, if that is another file. */
void output_end_before_writing(int fd, const char *found, const char *why)
{
	static const char *const names[] = {
		[STDOUT_FILENO] = "standard output", [STDERR_FILENO] = "standard error output"
	};
	int other = fd == STDOUT_FILENO ? STDERR_FILENO : STDOUT_FILENO;
	struct stat status;
	char *room;

	if (!fstat(fd, &status) && !output_stream_is(other, &status))
		dprintf(other, "ntrace: error: %s: %s: %s\n", names[fd], why,
			ntrace_text_clean(found, &room));
	ntrace_output_abandon();
	_exit(EXIT_FAILED);
}

static void add_input(const char *path, bool whole)
{
	struct input *more = reallocarray(named, named_count + 1, sizeof(*more));

	if (!more)
		return;
	named = more;
	named[named_count] = (struct input){ strdup(path), whole };
	named_count += !!named[named_count].path;
}

/* ---- permissions ---- */

/* Takes from new files what @mode does not give to read: group or others. @needed: bits of each that reading takes */
static void narrow_umask(mode_t mode, mode_t needed)
{
	mode_t mask = umask(077);

	umask(mask | ((mode >> 3 & needed) == needed ? 0 : 070) |
	      ((mode & needed) == needed ? 0 : 07));
}

/* An output tells what its inputs do: it is for nobody who may not read them. */
static void follow_permissions(const char *path)
{
	struct stat status;
	struct dirent *entry;
	DIR *directory;
	int fd;

	if (stat(path, &status))
		return;
	if (S_ISREG(status.st_mode))
		narrow_umask(status.st_mode, 04);
	if (!S_ISDIR(status.st_mode) || !has_params(path))
		return;
	narrow_umask(status.st_mode, 05);
	directory = opendir(path);
	if (!directory)
		return;
	fd = dirfd(directory);
	while (fd >= 0 && (entry = readdir(directory)))
		if (is_recording_file(entry->d_name) && !fstatat(fd, entry->d_name, &status, 0) &&
		    S_ISREG(status.st_mode))
			narrow_umask(status.st_mode, 04);
	closedir(directory);
}

/* An output removes what was left under a temporary name of it, unless somebody has a lock (lib/output/claim.h). */
static void keep_unfinished(const char *path)
{
	int fd = strstr(path, ".unfinished-") ? open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC) : -1;

	/* The lock lasts as long as the command. */
	if (fd >= 0 && flock(fd, LOCK_SH | LOCK_NB))
		close(fd);
}

void output_input(const char *path)
{
	char found[PATH_MAX];

	for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++)
		if (stream_writes(fd, path, found))
			output_end_before_writing(fd, found, "the output is also an input");
	keep_unfinished(path);
	add_input(path, false);
	follow_permissions(path);
}

void output_input_directory(const char *path)
{
	add_input(path, true);
}

void output_input_word(const char *word)
{
	char *copy = strdup(word), *at = copy ? strrchr(copy, '@') : NULL;

	output_input(word);
	if (at) {
		*at = '\0';
		output_input(copy);
	}
	free(copy);
}
