// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Keeps code that cannot be found after the recording, by copies that are made while its process runs. A
 * file with a build-id is copied at the end if its path does not lead to it any more: another file in its place would
 * be noticed. A file may be written again and keep its inode, and its build-id, too: an empty copy says that it is
 * unknown which contents a mapping had.
 * Data files have no build-id, and are copied if they stay as they are during the whole recording.
 * sideband/kept_files.c names the copies.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include <linux/perf_event.h>

#include <ntrace/recording.h>

#include "build_id.h"
#include "perf/record.h"
#include "perf/tasks.h"
#include "regular.h"
#include "sideband/kept_files.h"
#include "struct_size.h"

#define FILE_BYTES (UINT64_C(64) << 20)
#define ALL_BYTES (UINT64_C(512) << 20)
/* Of data files, so that there is room for code. */
#define DATA_FILE_BYTES (UINT64_C(16) << 20)
#define DATA_BYTES (UINT64_C(128) << 20)
/* They stay open. */
#define DATA_FILES 128
/* So do these programs. */
#define FOUND_FILES 128

#define MEMORY_GONE 1

/* A copy to be examined at the end: of the data file @fd as of @changed; of memory if @fd is -1 */
struct kept_copy {
	struct kept_copy *next;
	int fd;
	struct timespec changed;
	int32_t pid;
	uint64_t address;
	uint64_t length;
	char path[];
};

/*
 * A file that its path led to when it was mapped; @fd: -1: too many are open. @status: at that time; @written: it was
 * written after it was mapped, but before that time
 */
struct found_file {
	struct found_file *next;
	int fd;
	struct stat status;
	bool written;
	uint8_t build_id[BUILD_ID_ROOM];
	uint8_t build_id_size;
	char *path;
	char name[];
};

/* A program without build-id, as of @changed; @first: time of its first mapping, 0: unknown; @missed: not found yet */
struct plain_file {
	struct timespec changed;
	uint64_t first;
	bool known;
	bool missed;
	bool uncertain;
	char path[];
};

/* @seen: paths of copies that were made, or need not be; @since: data files are older */
struct ntrace_keeper {
	char *directory;
	char *proc;
	struct ntrace_keeper_options options;
	struct ntrace_keeper_counts counts;
	void *seen;
	void *plain;
	struct found_file *found;
	unsigned int found_files;
	uint64_t missed;
	struct kept_copy *copies;
	time_t since;
	uint64_t data_bytes;
	unsigned int data_files;
};

int ntrace_keeper_open(struct ntrace_keeper **keeper, const char *directory,
		       const struct ntrace_keeper_options *options)
{
	struct ntrace_keeper *made = calloc(1, sizeof(*made));

	if (!made)
		return NTRACE_ERR_NOMEM;
	if (options && STRUCT_TAKE(&made->options, options)) {
		free(made);
		return NTRACE_ERR_INVALID;
	}
	if (!made->options.file_bytes)
		made->options.file_bytes = FILE_BYTES;
	if (!made->options.all_bytes)
		made->options.all_bytes = ALL_BYTES;
	/* The kernel's times of files are some milliseconds behind. */
	made->since = time(NULL) - 1;
	made->directory = strdup(directory);
	made->proc = strdup(made->options.proc ? made->options.proc : "/proc");
	if (!made->directory || !made->proc) {
		ntrace_keeper_close(made, NULL);
		return NTRACE_ERR_NOMEM;
	}
	*keeper = made;
	return 0;
}

static int compare_texts(const void *left, const void *right)
{
	return strcmp(left, right);
}

static void count_failure(struct ntrace_keeper *keeper)
{
	if (!keeper->counts.failed++)
		keeper->counts.error = errno;
}

static bool has_room(struct ntrace_keeper *keeper, uint64_t size)
{
	if (size <= keeper->options.file_bytes &&
	    keeper->counts.bytes + size <= keeper->options.all_bytes)
		return true;
	keeper->counts.too_large++;
	return false;
}

/* Creates the file and its directories; -1 with errno. */
static int create(struct ntrace_keeper *keeper, char *path)
{
	char *end = strrchr(path, '/'), *middle;
	int fd;

	*end = '\0';
	middle = strrchr(path, '/');
	*middle = '\0';
	(void)mkdir(path, 0777);
	*middle = '/';
	(void)mkdir(path, 0777);
	*end = '/';
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (fd < 0 && errno != EEXIST)
		count_failure(keeper);
	return fd;
}

/* A part of a copy would be taken for the whole. */
static void end_copy(struct ntrace_keeper *keeper, const char *path, int fd, uint64_t bytes,
		     int error)
{
	int saved = errno;

	if (close(fd) && !error) {
		saved = errno;
		error = NTRACE_ERR_IO;
	}
	if (error) {
		unlink(path);
		errno = saved;
		count_failure(keeper);
		return;
	}
	keeper->counts.files++;
	keeper->counts.bytes += bytes;
}

static bool is_elf(int fd)
{
	char magic[SELFMAG];

	return pread(fd, magic, sizeof(magic), 0) == sizeof(magic) &&
	       !memcmp(magic, ELFMAG, SELFMAG);
}

static void keep_descriptor(struct ntrace_keeper *keeper, int from, char *path)
{
	struct stat status;
	uint64_t bytes = 0;
	int fd, failed;

	/* Other files have no code that a decoder can find: a JIT's memfd changes. */
	if (fstat(from, &status) || !is_elf(from) || !has_room(keeper, (uint64_t)status.st_size))
		return;
	fd = create(keeper, path);
	if (fd >= 0)
		end_copy(keeper, path, fd, (uint64_t)status.st_size,
			 copy_file_bytes(from, fd, &bytes, &failed));
}

static bool has_build_id(int fd, const uint8_t *build_id, size_t size)
{
	uint8_t found[BUILD_ID_ROOM];

	return build_id_of_file(fd, found) == size && !memcmp(found, build_id, size);
}

/* Return: a descriptor of the file at the path, if a decoder will recognize it; else -1 */
static int find_by_path(const char *name, const uint8_t *build_id, size_t size)
{
	struct stat status;
	int fd;

	if (!size || open_regular(name, &fd, &status))
		return -1;
	if (has_build_id(fd, build_id, size))
		return fd;
	close(fd);
	return -1;
}

/*
 * Whether a file was changed after @time of the monotonic clock, 0: unknown. The times of files are of the other clock, or of
 * that of a server; a time that is still to come says nothing.
 */
static bool is_later(const struct timespec *changed, uint64_t time)
{
	struct timespec real, now;
	int64_t age, since;

	clock_gettime(CLOCK_REALTIME, &real);
	clock_gettime(CLOCK_MONOTONIC, &now);
	age = (int64_t)(now.tv_sec * INT64_C(1000000000) + now.tv_nsec) - (int64_t)time;
	since = (real.tv_sec - changed->tv_sec) * INT64_C(1000000000) + real.tv_nsec -
		changed->tv_nsec;
	return time && since >= 0 && since < age;
}

/* Takes over @fd, of a file that will be copied at the end if its path does not lead to it any more. */
static void add_found(struct ntrace_keeper *keeper, const struct ntrace_sideband *mapping,
		      const char *path, int fd)
{
	size_t length = strlen(mapping->name) + 1;
	struct found_file *found = calloc(1, sizeof(*found) + length);

	if (found && !fstat(fd, &found->status))
		found->written = is_later(&found->status.st_mtim, mapping->time);
	if (!found || keeper->found_files == FOUND_FILES) {
		close(fd);
		fd = -1;
	}
	if (!found)
		return;
	keeper->found_files += fd >= 0;
	found->fd = fd;
	found->build_id_size = mapping->build_id_size;
	memcpy(found->build_id, mapping->build_id, mapping->build_id_size);
	memcpy(found->name, mapping->name, length);
	found->path = strdup(path);
	found->next = keeper->found;
	keeper->found = found;
}

/* A build-id does not tell that a file has not been written, and written back. Other times change with its names, too. */
static bool was_written(const struct found_file *found, int fd)
{
	struct stat status;

	return found->written || (!fstat(fd, &status) && status.st_dev == found->status.st_dev &&
				  status.st_ino == found->status.st_ino &&
				  (status.st_mtim.tv_sec != found->status.st_mtim.tv_sec ||
				   status.st_mtim.tv_nsec != found->status.st_mtim.tv_nsec));
}

/* An empty copy says that the contents of a mapping are unknown. */
static void create_empty(struct ntrace_keeper *keeper, char *path)
{
	int fd = create(keeper, path);

	if (fd >= 0)
		close(fd);
}

static void end_found(struct ntrace_keeper *keeper, struct found_file *found)
{
	int by_path = find_by_path(found->name, found->build_id, found->build_id_size);
	bool whole = found->fd >= 0 &&
		     has_build_id(found->fd, found->build_id, found->build_id_size);

	if (!found->path || (by_path < 0 && !whole)) {
		errno = ENOENT;
		count_failure(keeper);
	} else if (was_written(found, whole ? found->fd : by_path)) {
		create_empty(keeper, found->path);
	} else if (by_path < 0) {
		keep_descriptor(keeper, found->fd, found->path);
	}
	if (by_path >= 0)
		close(by_path);
	if (found->fd >= 0)
		close(found->fd);
	free(found->path);
	free(found);
}

static int memory_of(const struct ntrace_keeper *keeper, int32_t pid)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%d/mem", keeper->proc, pid);
	return open(path, O_RDONLY | O_CLOEXEC);
}

/*
 * Calls write(), or compares with the file: @to is open accordingly. Return: 0, or -1: not all, or it differs;
 * MEMORY_GONE: it cannot be read, as the process has ended, or has unmapped it
 */
static int pass_memory(int from, uint64_t address, uint64_t length, int to, bool compare)
{
	uint8_t bytes[1 << 13], before[1 << 13];
	uint64_t done = 0;

	while (done < length) {
		size_t size = length - done < sizeof(bytes) ? (size_t)(length - done) :
							      sizeof(bytes);

		if (pread(from, bytes, size, (off_t)(address + done)) != (ssize_t)size)
			return MEMORY_GONE;
		if (!compare && write(to, bytes, size) != (ssize_t)size)
			return -1;
		if (compare && (pread(to, before, size, (off_t)done) != (ssize_t)size ||
				memcmp(before, bytes, size)))
			return -1;
		done += size;
	}
	return 0;
}

/* The copy at @path will be examined at the end. NULL: out of memory */
static struct kept_copy *add_copy(struct ntrace_keeper *keeper, const char *path, int fd)
{
	size_t length = strlen(path) + 1;
	struct kept_copy *kept = calloc(1, sizeof(*kept) + length);

	if (!kept)
		return NULL;
	kept->next = keeper->copies;
	kept->fd = fd;
	memcpy(kept->path, path, length);
	keeper->copies = kept;
	return kept;
}

static int keep_memory(struct ntrace_keeper *keeper, const struct ntrace_sideband *mapping,
		       char *path)
{
	struct kept_copy *kept;
	int from, fd, error;

	/* What the process can write changes while it runs, unnoticed. */
	if (mapping->writable || !has_room(keeper, mapping->length))
		return 0;
	from = memory_of(keeper, mapping->pid);
	if (from < 0)
		return 0;
	fd = create(keeper, path);
	kept = fd < 0 ? NULL : add_copy(keeper, path, -1);
	if (kept) {
		kept->pid = mapping->pid;
		kept->address = mapping->address;
		kept->length = mapping->length;
	}
	error = !kept ? NTRACE_ERR_NOMEM :
			pass_memory(from, mapping->address, mapping->length, fd, false);
	close(from);
	if (error == MEMORY_GONE) {
		close(fd);
		unlink(path);
		if (!keeper->counts.gone_memory++)
			keeper->counts.gone_pid = mapping->pid;
	} else if (fd >= 0) {
		end_copy(keeper, path, fd, mapping->length, error);
	}
	return kept || fd < 0 ? 0 : NTRACE_ERR_NOMEM;
}

static bool is_device_of(const struct ntrace_sideband *mapping, const struct stat *status)
{
	return mapping->inode == status->st_ino && mapping->device_major == major(status->st_dev) &&
	       mapping->device_minor == minor(status->st_dev);
}

/* The file of a mapping, also of a process that has ended; -1: it is not found */
static int open_data(const struct ntrace_keeper *keeper, const struct ntrace_sideband *mapping)
{
	int fd = task_open_mapped(keeper->proc, mapping);
	struct stat status;

	if (fd >= 0 || open_regular(mapping->name, &fd, &status))
		return fd;
	if (is_device_of(mapping, &status))
		return fd;
	close(fd);
	return -1;
}

/* Keeps what private mappings of a file show, and takes over its descriptor. */
static void keep_data(struct ntrace_keeper *keeper, int from, char *path)
{
	struct kept_copy *kept = NULL;
	struct stat status;
	uint64_t size, bytes = 0;
	int fd = -1, error, failed;

	if (is_elf(from) || fstat(from, &status)) {
		close(from);
		return;
	}
	size = (uint64_t)status.st_size;
	if (status.st_ctim.tv_sec >= keeper->since || size > DATA_FILE_BYTES ||
	    size > DATA_BYTES - keeper->data_bytes || keeper->data_files == DATA_FILES)
		keeper->counts.unknown_data++;
	else
		fd = create(keeper, path);
	if (fd >= 0)
		kept = add_copy(keeper, path, from);
	if (!kept)
		close(from);
	if (fd < 0)
		return;
	error = kept ? copy_file_bytes(from, fd, &bytes, &failed) : NTRACE_ERR_NOMEM;
	if (!error) {
		kept->changed = status.st_ctim;
		keeper->data_files++;
		keeper->data_bytes += bytes;
	}
	end_copy(keeper, path, fd, bytes, error);
}

/* Return: whether the file needs no second look, at a mapping of another process. */
static bool keep_file(struct ntrace_keeper *keeper, const struct ntrace_sideband *mapping,
		      char *path)
{
	int fd;

	if (!mapping->executable) {
		fd = open_data(keeper, mapping);
		if (fd >= 0)
			keep_data(keeper, fd, path);
		return fd >= 0;
	}
	fd = find_by_path(mapping->name, mapping->build_id, mapping->build_id_size);
	if (fd >= 0) {
		add_found(keeper, mapping, path, fd);
		return true;
	}
	fd = task_open_mapped(keeper->proc, mapping);
	if (fd < 0)
		return false;
	keep_descriptor(keeper, fd, path);
	close(fd);
	return true;
}

static int compare_plain(const void *left, const void *right)
{
	const struct plain_file *a = left, *b = right;

	return strcmp(a->path, b->path);
}

/* Return: NULL when out of memory */
static struct plain_file *get_plain(struct ntrace_keeper *keeper, const char *path, uint64_t time)
{
	size_t length = strlen(path) + 1;
	struct plain_file *made = calloc(1, sizeof(*made) + length), **node;

	if (!made)
		return NULL;
	memcpy(made->path, path, length);
	made->first = time;
	node = tsearch(made, &keeper->plain, compare_plain);
	if (!node || *node != made)
		free(made);
	return node ? *node : NULL;
}

static bool has_same_bytes(int fd, const char *path)
{
	uint8_t bytes[2][1 << 13];
	off_t at = 0;
	ssize_t got = 0, other;
	int copy = open(path, O_RDONLY | O_CLOEXEC);
	bool same = copy >= 0;

	while (same) {
		got = pread(fd, bytes[0], sizeof(bytes[0]), at);
		other = pread(copy, bytes[1], sizeof(bytes[1]), at);
		same = got >= 0 && got == other && !memcmp(bytes[0], bytes[1], (size_t)got);
		if (!got)
			break;
		at += got;
	}
	if (copy >= 0)
		close(copy);
	return same;
}

static void make_uncertain(struct ntrace_keeper *keeper, struct plain_file *file, char *path)
{
	struct stat copy;

	file->uncertain = true;
	if (!stat(path, &copy) && !unlink(path)) {
		keeper->counts.files--;
		keeper->counts.bytes -= (uint64_t)copy.st_size;
	}
	create_empty(keeper, path);
}

/*
 * Keeps a program without build-id. While a process executes it, it cannot be written: then only the time of writing
 * tells whether it was written after it was mapped, since the other one is that of a removal, too.
 */
static int keep_plain(struct ntrace_keeper *keeper, const struct ntrace_sideband *mapping,
		      char *path)
{
	struct plain_file *file = get_plain(keeper, path, mapping->time);
	int fd = task_open_mapped(keeper->proc, mapping);
	bool runs = fd >= 0;
	struct stat status;

	if (!runs && file && !file->uncertain)
		fd = open_data(keeper, mapping);
	if (!file || file->uncertain || fd < 0 || fstat(fd, &status)) {
		if (fd >= 0)
			close(fd);
		else if (file && !file->known && !file->missed)
			keeper->missed += file->missed = true;
		return file ? 0 : NTRACE_ERR_NOMEM;
	}
	keeper->missed -= file->missed;
	file->missed = false;
	if (!file->known && is_later(runs ? &status.st_mtim : &status.st_ctim, file->first))
		make_uncertain(keeper, file, path);
	else if (!file->known)
		keep_descriptor(keeper, fd, path);
	else if ((status.st_ctim.tv_sec != file->changed.tv_sec ||
		  status.st_ctim.tv_nsec != file->changed.tv_nsec) &&
		 !access(path, F_OK) && !has_same_bytes(fd, path))
		make_uncertain(keeper, file, path);
	file->known = true;
	file->changed = status.st_ctim;
	close(fd);
	return 0;
}

static int keep_mapping(void *data, const struct ntrace_sideband *mapping)
{
	struct ntrace_keeper *keeper = data;
	char path[PATH_MAX];
	char *key, **node = NULL;

	if (!kept_file_path(keeper->directory, mapping, path, sizeof(path)))
		return 0;
	if (kept_is_memory(mapping->name))
		return mapping->executable ? keep_memory(keeper, mapping, path) : 0;
	if (mapping->executable && !mapping->build_id_size)
		return keep_plain(keeper, mapping, path);
	/* Of files with the same identity and name, one path may lead to it, and another not. */
	if (asprintf(&key, "%s:%s", path, mapping->name) < 0)
		return NTRACE_ERR_NOMEM;
	if (!tfind(key, &keeper->seen, compare_texts) && keep_file(keeper, mapping, path)) {
		node = tsearch(key, &keeper->seen, compare_texts);
		if (!node) {
			free(key);
			return NTRACE_ERR_NOMEM;
		}
	}
	if (!node)
		free(key);
	return 0;
}

int ntrace_keeper_tasks(struct ntrace_keeper *keeper, int32_t pid)
{
	return tasks_mappings(keeper->proc, pid, keep_mapping, keeper);
}

int ntrace_keeper_record(struct ntrace_keeper *keeper, const void *record, size_t size)
{
	struct ntrace_perf_record parts = { .data = record, .size = size };
	struct ntrace_sideband mapping;
	struct perf_event_header header;

	if (size < sizeof(header))
		return 0;
	memcpy(&header, record, sizeof(header));
	parts.type = header.type;
	parts.misc = header.misc;
	if (header.type != PERF_RECORD_MMAP2 || header.size > size ||
	    record_parse(&parts, keeper->options.sample_type, &mapping) || mapping.cpumode_kernel ||
	    mapping.pid <= 0)
		return 0;
	if (!mapping.executable && (!keeper->options.data || mapping.shared))
		return 0;
	return keep_mapping(keeper, &mapping);
}

static bool has_changed(const struct kept_copy *kept)
{
	struct stat status;

	return fstat(kept->fd, &status) || status.st_ctim.tv_sec != kept->changed.tv_sec ||
	       status.st_ctim.tv_nsec != kept->changed.tv_nsec;
}

static void check_data(struct ntrace_keeper *keeper, const struct kept_copy *kept)
{
	struct stat copy;

	if (has_changed(kept) && !stat(kept->path, &copy) && !unlink(kept->path)) {
		keeper->counts.files--;
		keeper->counts.bytes -= (uint64_t)copy.st_size;
		keeper->counts.unknown_data++;
	}
	close(kept->fd);
}

/* Memory that changed has several contents; if the process has ended, the copy is the last one. */
static void check_memory(struct ntrace_keeper *keeper, const struct kept_copy *kept)
{
	int from = memory_of(keeper, kept->pid), fd = open(kept->path, O_RDONLY | O_CLOEXEC);

	if (from >= 0 && fd >= 0 && pass_memory(from, kept->address, kept->length, fd, true) &&
	    !unlink(kept->path)) {
		keeper->counts.files--;
		keeper->counts.bytes -= kept->length;
	}
	if (from >= 0)
		close(from);
	if (fd >= 0)
		close(fd);
}

int ntrace_keeper_close(struct ntrace_keeper *keeper, struct ntrace_keeper_counts *counts)
{
	struct ntrace_keeper_counts known = { 0 };
	int error = counts ? STRUCT_TAKE(&known, counts) : 0;

	if (!keeper)
		return error;
	while (keeper->copies) {
		struct kept_copy *kept = keeper->copies;

		keeper->copies = kept->next;
		if (kept->fd >= 0)
			check_data(keeper, kept);
		else
			check_memory(keeper, kept);
		free(kept);
	}
	while (keeper->found) {
		struct found_file *found = keeper->found;

		keeper->found = found->next;
		end_found(keeper, found);
	}
	if (keeper->missed && !keeper->counts.failed)
		keeper->counts.error = ENOENT;
	keeper->counts.failed += keeper->missed;
	keeper->counts.size = sizeof(keeper->counts);
	if (counts && !error)
		STRUCT_GIVE(counts, &keeper->counts);
	tdestroy(keeper->seen, free);
	tdestroy(keeper->plain, free);
	free(keeper->directory);
	free(keeper->proc);
	free(keeper);
	return error;
}
