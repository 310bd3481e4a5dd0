// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Copies of the traced programs in the recording. The archive has another name until it is complete: a
 * part of it would be taken for the machine's files, and hide those that are there.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "image/object.h"
#include "image/referred.h"
#include "output/claim.h"
#include "output/unfinished.h"
#include "regular.h"
#include "session.h"
#include "sideband/kept_files.h"

/*
 * The names come from the recording, which is untrusted: no file is written outside the archive.
 * The archive contains no links, since it is created anew.
 */
static bool stays_inside(const char *name)
{
	const char *part = name;

	while ((part = strchr(part, '/'))) {
		size_t length = strcspn(++part, "/");

		if (length <= 2 && !strncmp(part, "..", length))
			return false;
	}
	return *name == '/';
}

/* After unfinished_make(). */
static int make_error(void)
{
	return errno == ENOMEM ? NTRACE_ERR_NOMEM : NTRACE_ERR_IO;
}

static int make_directory(char *path)
{
	return mkdir(path, 0777);
}

/* Return: a descriptor that claims the directory. */
static int make_claimed_directory(char *path)
{
	int fd;

	if (mkdir(path, 0777))
		return -1;
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd >= 0 && claim(fd, path) != CLAIM_TAKEN)
		return fd;
	/* Another process took it for one that was left. */
	if (fd >= 0)
		close(fd);
	errno = EBUSY;
	return -1;
}

static int make_file(char *path)
{
	return open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
}

/* Makes the directories of a file's path. @path is modified and restored. */
static int make_parents(const void *group, char *path, size_t base)
{
	char *slash = path + base;

	while ((slash = strchr(slash + 1, '/'))) {
		int failed;

		*slash = '\0';
		failed = unfinished_make(group, path, make_directory) && errno != EEXIST;
		*slash = '/';
		if (failed)
			return make_error();
	}
	return 0;
}

/* @culprit: set to the path that fails. Return: 0, 1 if the file exists, or enum ntrace_error. */
static int copy_file(const void *group, const char *from, char *to, uint64_t *bytes,
		     const char **culprit)
{
	struct stat status;
	int in, out, saved, failed, error = open_regular(from, &in, &status);

	*culprit = from;
	if (error)
		return error;
	*culprit = to;
	out = unfinished_make(group, to, make_file);
	if (out < 0) {
		saved = errno;
		close(in);
		errno = saved;
		return saved == EEXIST ? 1 : make_error();
	}
	error = copy_file_bytes(in, out, bytes, &failed);
	saved = errno;
	close(in);
	if (error && failed == in)
		*culprit = from;
	if (close(out) && !error) {
		saved = errno;
		error = NTRACE_ERR_IO;
	}
	errno = saved;
	return error;
}

struct archive {
	struct ntrace_session *session;
	struct ntrace_archive_counts *counts;
	uint64_t kept;			/* programs of which the recorder made a copy */
	size_t base;			/* length of the path of the archive itself */
	char path[SESSION_PATH_ROOM];	/* buffer of a copy */
};

/* Copies @from to archive->path, which must be complete. */
static int add(struct archive *archive, const char *from)
{
	const char *culprit = archive->path;
	int error = make_parents(archive, archive->path, archive->base);

	if (!error)
		error = copy_file(archive, from, archive->path, &archive->counts->bytes, &culprit);
	if (error < 0) {
		int saved = errno;

		/* Of a copy, the name that it would have had. */
		session_note(archive->session, "%.*s%s: %s",
			     culprit == archive->path ? (int)(archive->base - strlen(".new")) : 0,
			     archive->path,
			     culprit == archive->path ? culprit + archive->base : culprit,
			     error == NTRACE_ERR_IO ? strerror(saved) : ntrace_strerror(error));
		errno = saved;
		return error;
	}
	archive->counts->files += !error;
	return 0;
}

/* The place of a debug file by its build-id. Return: whether archive->path has room for it */
static bool name_by_build_id(struct archive *archive, const uint8_t *id, size_t size)
{
	size_t at = archive->base, room = sizeof(archive->path);
	int made = snprintf(archive->path + at, room - at, "/usr/lib/debug/.build-id/%02x/", id[0]);

	at += (size_t)made;
	for (size_t i = 1; i < size && at < room; i++)
		at += (size_t)snprintf(archive->path + at, room - at, "%02x", id[i]);
	if (at + sizeof(".debug") > room)
		return false;
	memcpy(archive->path + at, ".debug", sizeof(".debug"));
	return true;
}

/*
 * Puts the debug file where every reader looks for it by the same key: one that was found by the name in
 * .gnu_debuglink into .debug beside the program, any other below the name of its build-id.
 */
static int add_debug_file(struct archive *archive, struct ntrace_object *object)
{
	char *slash = strrchr(archive->path, '/');
	size_t room = sizeof(archive->path) - (size_t)(slash - archive->path);

	if (!object->debug)
		return 0;
	if (object->debug_linked ?
		    snprintf(slash, room, "/.debug/%s", object->debug_link) >= (int)room :
		    !name_by_build_id(archive, object->whole_id, object->whole_id_size))
		return 0;
	return add(archive, ntrace_object_debug_name(object));
}

/* @holder: length of archive->path of the file that has the DWARF */
struct referring {
	struct archive *archive;
	size_t holder;
};

static bool has_same_bytes(const char *path, const char *other)
{
	char bytes[2][1 << 12];
	struct stat status[2];
	ssize_t got = 0;
	int fd[2];
	bool same;

	if (open_regular(path, &fd[0], &status[0]))
		return false;
	if (open_regular(other, &fd[1], &status[1])) {
		close(fd[0]);
		return false;
	}
	same = status[0].st_size == status[1].st_size;
	while (same && (got = read(fd[0], bytes[0], sizeof(bytes[0]))) > 0)
		same = read(fd[1], bytes[1], (size_t)got) == got &&
		       !memcmp(bytes[0], bytes[1], (size_t)got);
	close(fd[0]);
	close(fd[1]);
	return same && !got;
}

/* Where libdw looks for the .dwo file: beside the file that has the DWARF. */
static int add_split(const struct referring *referring, const struct referred *referred)
{
	struct archive *archive = referring->archive;
	char *slash = strrchr(archive->path, '/');
	size_t room = sizeof(archive->path) - (size_t)(slash - archive->path);
	uint64_t before;
	int error;

	if (*referred->name == '/' || snprintf(slash, room, "/%s", referred->name) >= (int)room ||
	    !stays_inside(archive->path + archive->base)) {
		session_note(archive->session,
			     "%s: cannot be archived: its program names it by an absolute path or "
			     "with '..'",
			     referred->path);
		return 0;
	}
	before = archive->counts->files;
	error = add(archive, referred->path);
	if (!error && archive->counts->files == before &&
	    !has_same_bytes(archive->path, referred->path))
		session_note(archive->session,
			     "%s: cannot be archived: another program of that directory has a file "
			     "of the same name",
			     referred->path);
	return error;
}

static int add_referred(void *data, const struct referred *referred)
{
	const struct referring *referring = data;
	struct archive *archive = referring->archive;
	char holder[SESSION_PATH_ROOM];
	int error = 0;

	memcpy(holder, archive->path, referring->holder + 1);
	if (referred->name)
		error = add_split(referring, referred);
	else if (referred->build_id) {
		if (name_by_build_id(archive, referred->build_id, referred->build_id_size))
			error = add(archive, referred->path);
	} else if (referring->holder + sizeof(".dwp") <= sizeof(archive->path)) {
		memcpy(archive->path + referring->holder, ".dwp", sizeof(".dwp"));
		error = add(archive, referred->path);
	}
	memcpy(archive->path, holder, referring->holder + 1);
	return error;
}

static int add_program(struct archive *archive, struct mapped_file *file)
{
	struct ntrace_object *object;
	char from[SESSION_PATH_ROOM];
	const char *missing;
	size_t room = sizeof(archive->path) - archive->base;
	int error = 0, length = (int)session_path_length(archive->session, file);
	bool kept;

	/* The vDSO is already in images/, and so is memory. */
	if (file->path[0] != '/' || file->is_memory)
		return 0;
	/* An unusable file already caused a note. */
	object = session_object(archive->session, file, &error);
	if (error)
		return error;
	kept = session_kept_path(archive->session, file, from);
	if (!object || (!kept && !session_local_path(archive->session, file, from))) {
		archive->counts->missing++;
		return 0;
	}
	/* An archive is no choice of its reader, who may have the file that replaced this one. */
	if (!kept && session_is_removed(archive->session, file)) {
		session_note(archive->session,
			     "%s: not archived: the file that was traced had been removed or "
			     "replaced, and "
			     "nothing tells that %s is the same: --sysroot shows its code",
			     file->path, from);
		archive->counts->missing++;
		return 0;
	}
	snprintf(archive->path + archive->base, room, "%.*s", length, file->path);
	if (!stays_inside(archive->path + archive->base) || (size_t)length >= room) {
		session_note(archive->session, "%.200s: not a path that can be archived",
			     file->path);
		archive->counts->missing++;
		return 0;
	}
	/* The recorder made a copy, which is found wherever the recording is. */
	if (kept)
		archive->kept++;
	else
		error = add(archive, from);
	if (!error)
		error = add_debug_file(archive, object);
	if (!error && (!kept || object->debug)) {
		struct referring referring = { archive, strlen(archive->path) };

		error = referred_each(object, add_referred, &referring);
		missing = ntrace_object_missing_debug(object);
		if (!error && missing)
			session_note(archive->session,
				     "%s: its debug information in the archive is not complete: %s",
				     from, missing);
	}
	return error;
}

static int name_archive(struct archive *archive)
{
	char path[SESSION_PATH_ROOM];

	archive->path[archive->base] = '\0';
	snprintf(path, sizeof(path), "%s/" RECORDING_ARCHIVE, archive->session->directory);
	/* rename() replaces no directory that has files. */
	return rename(archive->path, path) ? NTRACE_ERR_IO : 0;
}

/* Makes the directory, instead of one that a killed process left. Return: a descriptor, -1 with errno */
static int begin_archive(struct archive *archive)
{
	pid_t holder = 0;
	int fd = -1;

	if (!claim_remove_directory(archive->path, &holder))
		fd = unfinished_make(archive, archive->path, make_claimed_directory);
	if (fd < 0 && errno == EEXIST)
		errno = EBUSY;
	if (fd < 0 && errno == EBUSY && holder)
		session_note(archive->session, "%s: process %d is making the archive",
			     archive->path, (int)holder);
	else if (fd < 0)
		session_note(archive->session, "%s: %s", archive->path, strerror(errno));
	return fd;
}

int ntrace_session_archive(struct ntrace_session *session, struct ntrace_archive_counts *counts)
{
	struct archive *archive = calloc(1, sizeof(*archive));
	struct mapped_file *file;
	int error = 0, claimed = -1, saved;

	memset(counts, 0, sizeof(*counts));
	if (!archive)
		return NTRACE_ERR_NOMEM;
	archive->session = session;
	archive->counts = counts;
	archive->base = (size_t)snprintf(archive->path, sizeof(archive->path),
					 "%s/" RECORDING_ARCHIVE, session->directory);
	if (!access(archive->path, F_OK)) {
		errno = EEXIST;
		error = NTRACE_ERR_IO;
	}
	if (archive->base + sizeof(".new") > sizeof(archive->path)) {
		errno = ENAMETOOLONG;
		error = NTRACE_ERR_IO;
	} else {
		memcpy(archive->path + archive->base, ".new", sizeof(".new"));
		archive->base += strlen(".new");
	}
	if (!error) {
		claimed = begin_archive(archive);
		error = claimed < 0 ? make_error() : 0;
	}
	for (size_t i = 0; i < MACHINE_BUCKETS && !error; i++)
		for (file = session->machine.files[i]; file && !error; file = file->next)
			error = add_program(archive, file);
	/* An empty archive would hide the files of this machine, and have none of them. */
	if (!error && counts->missing && !counts->files && !archive->kept) {
		errno = ENOENT;
		error = NTRACE_ERR_IO;
	}
	if (!error)
		error = name_archive(archive);
	unfinished_end(archive, error);
	saved = errno;
	if (claimed >= 0)
		close(claimed);
	free(archive);
	errno = saved;
	return error;
}
