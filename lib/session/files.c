// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Files of programs: the one that was mapped, or none. A copy of the recorder is that one. Else it is what the path
 * leads to below the sysroot, in the archive, or on this machine, if nothing says that it is another one:
 *
 *	build-id	the file must have it
 *	inode		on the machine that recorded, with device and generation, and not changed since
 *	neither		the file of the path, unless several files of this path were traced
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <linux/fs.h>
#include <linux/magic.h>

#include "build_id.h"
#include "fnv.h"
#include "image/object.h"
#include "regular.h"
#include "session.h"
#include "sideband/kept_files.h"
#include "struct_size.h"
bool session_kept_path(const struct ntrace_session *session, const struct mapped_file *file,
		       char *path)
{
	struct ntrace_sideband mapping = {
		.name = file->path,
		.build_id_size = file->build_id_size,
		.inode = file->inode,
		.inode_generation = file->inode_generation,
		.device_major = file->device_major,
		.device_minor = file->device_minor,
		.pid = file->pid,
		.address = file->address,
		.time = file->time,
	};

	memcpy(mapping.build_id, file->build_id, sizeof(mapping.build_id));
	return !session->single &&
	       kept_file_path(session->directory, &mapping, path, SESSION_PATH_ROOM) &&
	       !access(path, F_OK);
}

/* Replaces a path below a sysroot by that of the file that it leads to on that machine. */
static void follow_links(const struct ntrace_session *session, char *path)
{
	char found[SESSION_PATH_ROOM];

	if (*session->sysroot &&
	    !ntrace_path_below(session->sysroot, path + strlen(session->sysroot), found,
			       sizeof(found)))
		memcpy(path, found, sizeof(found));
}

/* Kernel and perf may pad a short build-id with zeros to 20 bytes. */
static bool is_build_id_of(const struct mapped_file *file, const uint8_t *build_id, size_t size)
{
	return size && size <= file->build_id_size && !memcmp(build_id, file->build_id, size) &&
	       struct_is_zero(file->build_id + size, file->build_id_size - size);
}

/* Whether the file of this machine at @path has the recorded inode. A sysroot, or an archive, has others. */
static bool is_found_by_inode(const struct ntrace_session *session, const struct mapped_file *file,
			      const char *path)
{
	struct stat status;

	return !*session->sysroot && !stat(path, &status) && status.st_ino == file->inode;
}

/* Whether what identifies the file in the recording is found at @path. */
static bool is_identified(const struct ntrace_session *session, const struct mapped_file *file,
			  const char *path)
{
	uint8_t build_id[BUILD_ID_ROOM];
	struct stat status;
	bool same;
	int fd;

	if (!file->build_id_size)
		return file->inode && is_found_by_inode(session, file, path);
	if (open_regular(path, &fd, &status))
		return false;
	same = is_build_id_of(file, build_id, build_id_of_file(fd, build_id));
	close(fd);
	return same;
}

/* A file may have a name that ends as the kernel marks removed ones. It is where its whole path leads to then. */
size_t session_path_length(const struct ntrace_session *session, const struct mapped_file *file)
{
	size_t length = kept_path_length(file->path), whole = strlen(file->path);
	char path[SESSION_PATH_ROOM];

	if (length == whole || file->is_memory ||
	    snprintf(path, sizeof(path), "%s%s", session->sysroot, file->path) >=
		    (int)sizeof(path) ||
	    !is_identified(session, file, path))
		return length;
	return whole;
}

bool session_local_path(const struct ntrace_session *session, const struct mapped_file *file,
			char *path)
{
	int made;

	if (session_kept_path(session, file, path))
		return true;
	if (!strcmp(file->path, "[vdso]"))
		made = snprintf(path, SESSION_PATH_ROOM, "%s/images/vdso", session->directory);
	else
		made = snprintf(path, SESSION_PATH_ROOM, "%s%.*s", session->sysroot,
				(int)session_path_length(session, file), file->path);
	if (made >= SESSION_PATH_ROOM)
		return false;
	if (*file->path == '/')
		follow_links(session, path);
	return true;
}

/* Without a build-id in the recording, any file of that path is accepted. */
static bool same_build_id(const struct mapped_file *file, const struct ntrace_object *object)
{
	const uint8_t *build_id;
	size_t size;

	build_id = ntrace_object_build_id(object, &size);
	return !file->build_id_size || is_build_id_of(file, build_id, size);
}

/* The files that two entries with the same path stand for are known to differ. */
static bool differ(const struct mapped_file *a, const struct mapped_file *b)
{
	return a->inode && b->inode &&
	       (a->inode != b->inode || a->device_major != b->device_major ||
		a->device_minor != b->device_minor ||
		(a->inode_generation && b->inode_generation &&
		 a->inode_generation != b->inode_generation));
}

/*
 * The same, or it is unknown: a mapping without a build-id is of a file that has none, or the kernel could not
 * read it there.
 */
static bool may_differ(const struct ntrace_session *session, const struct mapped_file *file,
		       const struct mapped_file *other)
{
	char path[SESSION_PATH_ROOM];

	if (file->build_id_size || !other->build_id_size || *file->path != '/')
		return differ(other, file);
	return !session_local_path(session, file, path) || !is_found_by_inode(session, file, path);
}

/*
 * An object already open for another entry is shared, so that its functions count once: a file may be
 * known with its build-id and, from tasks started earlier, without.
 */
static struct ntrace_object *shared_object(const struct ntrace_session *session,
					   const struct mapped_file *file, bool *told)
{
	struct mapped_file *other = NULL;

	*told = false;
	while ((other = machine_same_path(&session->machine, file, other))) {
		if (!other->opened || may_differ(session, file, other))
			continue;
		if (other->object && same_build_id(file, other->object))
			return ntrace_object_get(other->object);
		*told = *told || !other->object;
	}
	return NULL;
}

/* Names of a stripped program. Most programs have no debug file, so its absence is no error. */
static void add_debug_file(struct ntrace_session *session, struct ntrace_object *object,
			   int *failed)
{
	char below[2][SESSION_PATH_ROOM];
	const char *directories[3] = { NULL };
	int error;

	for (unsigned int i = 0; session->roots[i]; i++) {
		int made =
			snprintf(below[i], sizeof(below[i]), "%s/usr/lib/debug", session->roots[i]);

		directories[i] = made < (int)sizeof(below[i]) ? below[i] : "";
	}
	error = ntrace_object_add_debug_file(object, directories);
	if (error == NTRACE_ERR_NOMEM)
		*failed = error;
	else if (error == NTRACE_ERR_BUILDID)
		session_note(session,
			     "%s: the debug file belongs to another build; its names are not used",
			     ntrace_object_name(object));
	else if (error == NTRACE_ERR_IO && errno == EXDEV)
		session_note(session,
			     "%s: a debug file is not read: a link leads to it, out of the "
			     "archive of the recording",
			     ntrace_object_name(object));
	else if (error && ntrace_object_missing_debug(object))
		session_note(session, "%s: a debug file is not used: %s",
			     ntrace_object_name(object), ntrace_object_missing_debug(object));
}

/* The recorder copies at most half of it from all processes together, unless it is told otherwise. */
#define MEMORY_MAX (1 << 30)

/*
 * Memory of a process, as the recorder copied it. Counts files know an object without build-id by its name: the
 * contents are part of it.
 */
static int open_memory(struct ntrace_session *session, struct mapped_file *file, const char *path)
{
	const char *comm = machine_thread_name(&session->machine, file->pid, file->time + 1);
	struct ntrace_object *copy;
	struct stat status;
	char name[96];
	void *bytes;
	int fd, error = open_regular(path, &fd, &status);

	if (error)
		return error;
	if (status.st_size > MEMORY_MAX) {
		close(fd);
		errno = EFBIG;
		return NTRACE_ERR_IO;
	}
	bytes = mmap(NULL, (size_t)status.st_size + !status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (bytes == MAP_FAILED)
		return NTRACE_ERR_NOMEM;
	snprintf(name, sizeof(name), "[memory of %s, %" PRId32 ": %016" PRIx64 "]",
		 comm ? comm : "process", file->pid,
		 fnv_add(FNV_START, bytes, (size_t)status.st_size));
	error = ntrace_object_from_bytes(&copy, name, bytes, (size_t)status.st_size, file->address);
	munmap(bytes, (size_t)status.st_size + !status.st_size);
	if (!error) {
		file->object = copy;
		session_note(session,
			     "process %" PRId32 " (%s) executed %s: its code is what the recorder "
			     "copied from 0x%" PRIx64,
			     file->pid, comm ? comm : "?",
			     kept_is_too_long(file->path) ?
				     "a file whose path is too long for a record" :
				     "memory without a file",
			     file->address);
	}
	return error;
}

static const char *leads_out(const struct ntrace_session *session)
{
	return session->chosen ?
		       "a link leads out of the sysroot, and the recording has no build-id for it" :
		       "a link leads out of the archive of the recording";
}

static bool is_missing(int reason)
{
	return reason == ENOENT || reason == ENOTDIR;
}

/*
 * A link in the path may lead out of the sysroot: there is no such file then. A given sysroot may be made of
 * links to other places of this machine: the build-id tells whether the file there is the right one.
 */
static int open_program(const struct ntrace_session *session, struct mapped_file *file,
			const char *path, bool kept)
{
	char name[SESSION_PATH_ROOM], found[SESSION_PATH_ROOM];
	int error;

	/* The path that the file had on the recorded machine. */
	snprintf(name, sizeof(name), "%.*s", (int)session_path_length(session, file), file->path);
	if (*session->sysroot && !kept && *file->path == '/' &&
	    ntrace_path_below(session->sysroot, name, found, sizeof(found)) &&
	    !(session->chosen && file->build_id_size)) {
		error = errno;
		errno = is_missing(error) && !access(path, F_OK) ? EXDEV : error;
		return NTRACE_ERR_IO;
	}
	error = ntrace_object_open_elf(&file->object, path);
	if (error)
		return error;
	/* The file may not say so, but it was executed: a 16-bit instruction is one. */
	file->object->isa.compressed = true;
	error = object_set_name(file->object, name);
	if (error)
		ntrace_object_put(file->object);
	return error;
}

bool session_is_removed(const struct ntrace_session *session, const struct mapped_file *file)
{
	return !strncmp(file->path, "/memfd:", 7) ||
	       (!file->build_id_size && session_path_length(session, file) != strlen(file->path));
}

/* A given sysroot is taken at its word, but has no memfd. */
static bool is_unknown(const struct ntrace_session *session, const struct mapped_file *file)
{
	return session_is_removed(session, file) &&
	       (!session->chosen || !strncmp(file->path, "/memfd:", 7));
}

/* Whether this machine made the recording: its inodes are those of this machine. */
static bool is_recorded_here(const struct ntrace_session *session)
{
	const char *recorded =
		session->machine.file ?
			ntrace_perf_file_feature(session->machine.file, NTRACE_PERF_HOSTNAME) :
			NULL;
	char here[256] = "";

	return recorded && !gethostname(here, sizeof(here) - 1) && !strcmp(recorded, here);
}

/* Whether files of that file system are mapped as files of another device than stat() names. */
static bool hides_devices(const char *path)
{
	struct statfs system;

	return statfs(path, &system) || system.f_type == BTRFS_SUPER_MAGIC ||
	       system.f_type == OVERLAYFS_SUPER_MAGIC;
}

/* An inode number is used again after its file was removed, often at once. 0: unknown */
static uint64_t inode_generation(const char *path)
{
	struct stat status;
	long generation = 0;
	int fd;

	if (open_regular(path, &fd, &status))
		return 0;
	if (ioctl(fd, FS_IOC_GETVERSION, &generation))
		generation = 0;
	close(fd);
	return (uint32_t)generation;
}

static bool is_later(const struct timespec *time, const struct timespec *than)
{
	return time->tv_sec != than->tv_sec ? time->tv_sec > than->tv_sec :
					      time->tv_nsec > than->tv_nsec;
}

/* When the recording ended. The directory of one is written to later: an index, an archive. */
static bool recorded_until(const struct ntrace_session *session, struct timespec *time)
{
	char path[SESSION_PATH_ROOM];
	struct stat status;

	snprintf(path, sizeof(path), "%s/data", session->directory);
	if (session->live || stat(session->directory, &status) ||
	    (S_ISDIR(status.st_mode) && stat(path, &status)) || !S_ISREG(status.st_mode))
		return false;
	*time = status.st_mtim;
	return true;
}

/* Writes what tells that the file at @path is not the one that was mapped. Return: whether anything does */
static bool find_difference(const struct ntrace_session *session, const struct mapped_file *file,
			    const char *path, char *text, size_t room)
{
	struct timespec end;
	struct stat now;
	uint64_t generation;

	if (!file->inode || stat(path, &now))
		return false;
	if (file->inode != now.st_ino) {
		snprintf(text, room, "inode %" PRIu64 ", now %" PRIu64, file->inode,
			 (uint64_t)now.st_ino);
		return true;
	}
	if ((file->device_major != major(now.st_dev) || file->device_minor != minor(now.st_dev)) &&
	    !hides_devices(path)) {
		snprintf(text, room, "device %" PRIu32 ":%" PRIu32 ", now %u:%u",
			 file->device_major, file->device_minor, major(now.st_dev),
			 minor(now.st_dev));
		return true;
	}
	generation = file->inode_generation ? inode_generation(path) : 0;
	if (generation && generation != file->inode_generation) {
		snprintf(text, room, "inode %" PRIu64 " has been used again", file->inode);
		return true;
	}
	snprintf(text, room, "changed after the recording");
	/* The time of modification can be set, as cp -p does, and the time of change cannot. */
	return !file->build_id_size && recorded_until(session, &end) &&
	       is_later(&now.st_ctim, &end);
}

/*
 * Without a build-id in the mapping: whether the file at @path is known not to be the one that was mapped. The
 * programs of this machine may be others than those of the recorded one, or be built again. An inode identifies
 * a file on the machine that recorded alone; a given sysroot is the caller's choice. A table of build-ids by path
 * (perf record) has that of the file that was at the path at the end.
 */
static bool is_other_file(struct ntrace_session *session, const struct mapped_file *file,
			  const char *path)
{
	char difference[96];

	if (session->chosen || *session->sysroot || *file->path != '/' || file->is_memory ||
	    (file->build_id_size && !is_recorded_here(session)) ||
	    !find_difference(session, file, path, difference, sizeof(difference)))
		return false;
	session_note(session,
		     "%s: the recording has no build-id for %s, and it is not the file that was "
		     "traced (%s): code in it is not decoded; --sysroot / takes it all the same",
		     path, file->build_id_size ? "this mapping of it" : "it", difference);
	return true;
}

static void describe_file(const struct mapped_file *file, char *text, size_t room)
{
	if (file->inode)
		snprintf(text, room, "inode %" PRIu64, file->inode);
	else
		snprintf(text, room, file->build_id_size ? "one with a build-id" : "one unknown");
}

/*
 * Without a build-id in the mapping, files of one path that differ, as in containers: a sysroot has one of
 * them, and a table of build-ids by path (perf record) the build-id of one. On this machine the inode tells.
 */
static bool is_one_of_several(struct ntrace_session *session, const struct mapped_file *file,
			      const char *path)
{
	struct mapped_file *other = NULL;
	char which[2][32];

	if (file->is_memory || is_found_by_inode(session, file, path))
		return false;
	while ((other = machine_same_path(&session->machine, file, other)) &&
	       !may_differ(session, file, other))
		;
	if (!other)
		return false;
	describe_file(file, which[0], sizeof(which[0]));
	describe_file(other, which[1], sizeof(which[1]));
	session_note(session,
		     "%s: several files of this path were traced (%s, %s), and it is unknown which "
		     "one this is: code in it is not decoded; perf record --buildid-mmap tells "
		     "them apart",
		     path, which[0], which[1]);
	return true;
}

/* Nothing identifies the file. A program that was stripped since has the same code. */
static void note_doubts(struct ntrace_session *session, const struct mapped_file *file,
			const char *path)
{
	struct timespec end;
	struct stat status;
	size_t size;

	ntrace_object_build_id(file->object, &size);
	if (session->chosen && session_is_removed(session, file))
		session_note(session,
			     "%s: the file that was traced had been removed or replaced, and "
			     "the recording has no build-id for it: the code may be another "
			     "one's",
			     path);
	if (file->build_id_size || size || session->chosen || *session->sysroot)
		return;
	/* Loop devices that are mounted in turn, and copies of overlayfs, have the same numbers. */
	if (file->inode && !file->inode_generation)
		session_note(session,
			     "%s has no build-id, and only its inode number tells that it is the "
			     "file that was traced: its code may be another one's",
			     path);
	if (file->inode || stat(path, &status) || !recorded_until(session, &end))
		return;
	if (is_later(&status.st_mtim, &end))
		session_note(
			session,
			"%s has no build-id and was changed after the recording: its code may be "
			"wrong",
			path);
}

/* What to do about a program that is not there, once: a wrong sysroot has none of them. */
static const char *where_from(struct ntrace_session *session, const struct mapped_file *file)
{
	if (session->hinted || *file->path != '/')
		return "";
	session->hinted = true;
	return session->single ? ": --sysroot names the directory with the files of the recorded "
				 "machine" :
				 ": --sysroot names the directory with the files of the recorded "
				 "machine, where 'ntrace archive' adds them to the recording";
}

/* A directory, a FIFO or a device; keeps errno. */
static bool is_other_kind(const char *path)
{
	struct stat status;
	int saved = errno;
	bool other = !stat(path, &status) && !S_ISREG(status.st_mode);

	errno = saved;
	return other;
}

static struct ntrace_object *open_failed(struct mapped_file *file)
{
	file->object = NULL;
	return NULL;
}

static struct ntrace_object *open_object(struct ntrace_session *session, struct mapped_file *file,
					 int *failed)
{
	char path[SESSION_PATH_ROOM];
	bool told = false, kept;
	struct stat status;
	int error;

	if (file->opened)
		return file->object;
	file->opened = true;
	kept = session_kept_path(session, file, path);
	if (!kept)
		file->object = shared_object(session, file, &told);
	if (file->object)
		return file->object;
	/* Only recordings of this tool contain the vDSO. */
	if (session->single && *file->path == '[') {
		if (!session->samples)
			session_note(session,
				     "%s is not in a perf.data file; code in it is not "
				     "decoded",
				     file->path);
		return NULL;
	}
	if (kept && !file->is_memory && !stat(path, &status) && !status.st_size) {
		session_note(session,
			     "%s: the file was written while it was recorded, and it is unknown "
			     "which of its contents were executed; code in it is not decoded",
			     file->path);
		return NULL;
	}
	if (!kept && is_unknown(session, file)) {
		session_note(session,
			     "%s: the file was removed or replaced before it could be copied; code "
			     "in it "
			     "is not decoded",
			     file->path);
		return NULL;
	}
	if (!session_local_path(session, file, path)) {
		session_note(session, "%.200s...: path too long", file->path);
		return NULL;
	}
	if (!kept && (is_other_file(session, file, path) || is_one_of_several(session, file, path)))
		return NULL;
	error = file->is_memory ? open_memory(session, file, path) :
				  open_program(session, file, path, kept);
	if (error == NTRACE_ERR_NOMEM) {
		file->opened = false;
		*failed = error;
		return open_failed(file);
	}
	if (error) {
		if (!told)
			session_note(session, "%s: %s; code in it is not decoded%s", path,
				     is_other_kind(path)    ? "not a regular file" :
				     error != NTRACE_ERR_IO ? ntrace_strerror(error) :
				     errno == EXDEV	    ? leads_out(session) :
							      strerror(errno),
				     error == NTRACE_ERR_IO && !is_missing(errno) &&
						     errno != EXDEV ?
					     "" :
					     where_from(session, file));
		return open_failed(file);
	}
	if (!file->is_memory && !same_build_id(file, file->object)) {
		ntrace_object_put(file->object);
		session_note(session,
			     "%s is not the file that was traced (other build-id); "
			     "code in it is not decoded%s",
			     path, where_from(session, file));
		return open_failed(file);
	}
	if (!kept)
		note_doubts(session, file, path);
	if (!file->is_memory)
		add_debug_file(session, file->object, failed);
	return file->object;
}

struct ntrace_object *session_object(struct ntrace_session *session, struct mapped_file *file,
				     int *failed)
{
	struct ntrace_object *object;

	pthread_mutex_lock(&session->opening);
	object = open_object(session, file, failed);
	/* Programs patch themselves: hooks, relocations in text, JIT compilers. */
	if (object && file->writer) {
		session_note(session,
			     "%s: process %d could write to its code: what it changed there is "
			     "decoded as the file has it",
			     file->path, (int)file->writer);
		file->writer = 0;
	}
	pthread_mutex_unlock(&session->opening);
	return object;
}

/*
 * A program that is packed into the file of another one: what the file says of addresses is about the other one. The
 * name has the contents: see open_memory().
 */
static struct ntrace_object *outside_of(struct mapped_file *file,
					const struct ntrace_object *object, int *failed)
{
	char name[NAME_MAX + 64];
	int error;

	if (file->outside)
		return file->outside;
	snprintf(name, sizeof(name), "[outside the segments of %.255s: %016" PRIx64 "]",
		 ntrace_object_short_name(object), fnv_add(FNV_START, object->bytes, object->size));
	error = ntrace_object_from_bytes(&file->outside, name, object->bytes, object->size, 0);
	if (error) {
		*failed = error;
		return NULL;
	}
	file->outside->isa = object->isa;
	return file->outside;
}

struct ntrace_object *session_code(struct ntrace_session *session, struct mapped_file *file,
				   uint64_t offset, uint64_t size, int *failed)
{
	struct ntrace_object *object = session_object(session, file, failed);

	if (!object || !object->bytes || !object->segment_count ||
	    object_has_segment(object, offset, size))
		return object;
	pthread_mutex_lock(&session->opening);
	object = outside_of(file, object, failed);
	pthread_mutex_unlock(&session->opening);
	return object;
}
