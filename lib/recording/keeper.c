// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Keeps code that cannot be found after the recording, by copies that are made while its process runs. A
 * file with a build-id that its path leads to is not copied: another file in its place would be noticed.
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

/* Memory that was copied, to be compared at the end. */
struct kept_memory {
	struct kept_memory *next;
	int32_t pid;
	uint64_t address;
	uint64_t length;
	char path[];
};

/* @seen: paths of copies that were made, or need not be */
struct ntrace_keeper {
	char *directory;
	char *proc;
	struct ntrace_keeper_options options;
	struct ntrace_keeper_counts counts;
	void *seen;
	struct kept_memory *memory;
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

static void keep_descriptor(struct ntrace_keeper *keeper, int from, char *path)
{
	struct stat status;
	uint64_t bytes = 0;
	char magic[SELFMAG];
	int fd, failed;

	/* Other files have no code that a decoder can find: a JIT's memfd changes. */
	if (fstat(from, &status) || pread(from, magic, sizeof(magic), 0) != sizeof(magic) ||
	    memcmp(magic, ELFMAG, SELFMAG) || !has_room(keeper, (uint64_t)status.st_size))
		return;
	fd = create(keeper, path);
	if (fd >= 0)
		end_copy(keeper, path, fd, (uint64_t)status.st_size,
			 copy_file_bytes(from, fd, &bytes, &failed));
}

/* Whether the path of a mapping leads to a file that the decoder will recognize. */
static bool can_be_found(const struct ntrace_sideband *mapping)
{
	uint8_t build_id[BUILD_ID_ROOM];
	struct stat status;
	bool same;
	int fd;

	if (!mapping->build_id_size || open_regular(mapping->name, &fd, &status))
		return false;
	same = build_id_of_file(fd, build_id) == mapping->build_id_size &&
	       !memcmp(build_id, mapping->build_id, mapping->build_id_size);
	close(fd);
	return same;
}

static int memory_of(const struct ntrace_keeper *keeper, int32_t pid)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%d/mem", keeper->proc, pid);
	return open(path, O_RDONLY | O_CLOEXEC);
}

/* Calls write(), or compares with the file: @to is open accordingly. Return: 0, or -1: not all, or it differs */
static int pass_memory(int from, uint64_t address, uint64_t length, int to, bool compare)
{
	uint8_t bytes[1 << 13], before[1 << 13];
	uint64_t done = 0;

	while (done < length) {
		size_t size = length - done < sizeof(bytes) ? (size_t)(length - done) :
							      sizeof(bytes);

		if (pread(from, bytes, size, (off_t)(address + done)) != (ssize_t)size)
			return -1;
		if (!compare && write(to, bytes, size) != (ssize_t)size)
			return -1;
		if (compare && (pread(to, before, size, (off_t)done) != (ssize_t)size ||
				memcmp(before, bytes, size)))
			return -1;
		done += size;
	}
	return 0;
}

static int keep_memory(struct ntrace_keeper *keeper, const struct ntrace_sideband *mapping,
		       char *path)
{
	struct kept_memory *kept;
	size_t length;
	int from, fd;

	/* What the process can write changes while it runs, unnoticed. */
	if (mapping->writable || !has_room(keeper, mapping->length))
		return 0;
	from = memory_of(keeper, mapping->pid);
	if (from < 0)
		return 0;
	length = strlen(path) + 1;
	kept = malloc(sizeof(*kept) + length);
	fd = kept ? create(keeper, path) : -1;
	if (fd >= 0) {
		end_copy(keeper, path, fd, mapping->length,
			 pass_memory(from, mapping->address, mapping->length, fd, false));
		*kept = (struct kept_memory){ keeper->memory, mapping->pid, mapping->address,
					      mapping->length };
		memcpy(kept->path, path, length);
		keeper->memory = kept;
	} else {
		free(kept);
	}
	close(from);
	return kept ? 0 : NTRACE_ERR_NOMEM;
}

/* Return: whether the file needs no second look, at a mapping of another process. */
static bool keep_file(struct ntrace_keeper *keeper, const struct ntrace_sideband *mapping,
		      char *path)
{
	int fd;

	if (can_be_found(mapping))
		return true;
	fd = task_open_mapped(keeper->proc, mapping);
	if (fd < 0)
		return false;
	keep_descriptor(keeper, fd, path);
	close(fd);
	return true;
}

static int keep_mapping(void *data, const struct ntrace_sideband *mapping)
{
	struct ntrace_keeper *keeper = data;
	char path[PATH_MAX];
	char *key, **node = NULL;

	if (!kept_file_path(keeper->directory, mapping, path, sizeof(path)))
		return 0;
	if (kept_is_memory(mapping->name))
		return keep_memory(keeper, mapping, path);
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
	    !mapping.executable || mapping.pid <= 0)
		return 0;
	return keep_mapping(keeper, &mapping);
}

/* Memory that changed has several contents; if the process has ended, the copy is the last one. */
static void check_memory(struct ntrace_keeper *keeper, const struct kept_memory *kept)
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
	while (keeper->memory) {
		struct kept_memory *kept = keeper->memory;

		keeper->memory = kept->next;
		check_memory(keeper, kept);
		free(kept);
	}
	keeper->counts.size = sizeof(keeper->counts);
	if (counts && !error)
		STRUCT_GIVE(counts, &keeper->counts);
	tdestroy(keeper->seen, free);
	free(keeper->directory);
	free(keeper->proc);
	free(keeper);
	return error;
}
