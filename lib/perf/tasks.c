// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Records for tasks that already run: names, threads and executable mappings from /proc, in the
 * form that perf record synthesizes. A mapping gets the build-id of the very file that is mapped: its
 * path may lead to another file by now, or be one in another mount namespace.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "build_id.h"
#include "regular.h"
#include "tasks.h"

#define PATH_ROOM 512

/* Length of the longest line of a mapping; the kernel truncates longer paths. */
#define LINE_ROOM 8192

static bool number(const char *text, int32_t *value)
{
	char *end;
	long got;

	if (!isdigit((unsigned char)text[0]))
		return false;
	got = strtol(text, &end, 10);
	*value = (int32_t)got;
	return !*end && got <= INT32_MAX;
}

static int write_name(struct ntrace_perf_writer *writer, const char *proc, int32_t pid, int32_t tid)
{
	struct ntrace_sideband fork = {
		.type = NTRACE_SIDEBAND_FORK,
		.pid = pid,
		.tid = tid,
		.other_pid = pid,
		.other_tid = pid,
		.name = "",
	};
	struct ntrace_sideband comm = { .type = NTRACE_SIDEBAND_COMM, .pid = pid, .tid = tid };
	char path[PATH_ROOM], name[64] = "";
	FILE *file;
	int error;

	snprintf(path, sizeof(path), "%s/%d/task/%d/comm", proc, pid, tid);
	file = fopen(path, "re");
	if (!file)
		return 0; /* the thread ended */
	if (!fgets(name, sizeof(name), file))
		name[0] = 0;
	fclose(file);
	name[strcspn(name, "\n")] = 0;
	comm.name = name;
	if (tid != pid) {
		error = ntrace_perf_writer_sideband(writer, &fork);
		if (error)
			return error;
	}
	return ntrace_perf_writer_sideband(writer, &comm);
}

/* The kernel writes a line feed in a path as "\\012", and no other byte so. */
static void unescape(char *path)
{
	char *to = path;

	for (; *path; path++) {
		bool escape = !strncmp(path, "\\012", 4);

		*to++ = escape ? '\n' : *path;
		path += escape ? 3 : 0;
	}
	*to = '\0';
}

static bool is_mapped_file(int fd, uint64_t inode, const struct ntrace_sideband *mapping)
{
	uint8_t build_id[BUILD_ID_ROOM];

	if (mapping->build_id_size)
		return build_id_of_file(fd, build_id) == mapping->build_id_size &&
		       !memcmp(build_id, mapping->build_id, mapping->build_id_size);
	/* Devices differ where a file system has several, as btrfs. */
	return mapping->inode && mapping->inode == inode;
}

int task_open_mapped(const char *proc, const struct ntrace_sideband *mapping)
{
	char path[PATH_MAX + PATH_ROOM];

	/* The first may need CAP_SYS_ADMIN, the others only a process of the same user. */
	for (unsigned int way = 0; way < 3; way++) {
		struct stat status;
		int fd;

		if (way == 0)
			snprintf(path, sizeof(path), "%s/%d/map_files/%" PRIx64 "-%" PRIx64, proc,
				 mapping->pid, mapping->address,
				 mapping->address + mapping->length);
		else if (way == 1)
			snprintf(path, sizeof(path), "%s/%d/root%s", proc, mapping->pid,
				 mapping->name);
		else
			snprintf(path, sizeof(path), "%s/%d/exe", proc, mapping->pid);
		if (open_regular(path, &fd, &status))
			continue;
		if (is_mapped_file(fd, status.st_ino, mapping))
			return fd;
		close(fd);
	}
	return -1;
}

static void identify(const char *proc, struct ntrace_sideband *mapping)
{
	int fd = mapping->inode ? task_open_mapped(proc, mapping) : -1;
	size_t size;

	if (fd < 0)
		return;
	size = build_id_of_file(fd, mapping->build_id);
	mapping->build_id_size = (uint8_t)size;
	close(fd);
}

/* "start-end perms offset major:minor inode  path"; false: not an executable mapping. */
static bool read_mapping(struct ntrace_sideband *mapping, char *line)
{
	char permissions[8];
	uint64_t end;
	int path_at = 0;

	line[strcspn(line, "\n")] = 0;
	if (sscanf(line,
		   "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %" SCNx32 ":%" SCNx32 " %" SCNu64 " %n",
		   &mapping->address, &end, permissions, &mapping->offset, &mapping->device_major,
		   &mapping->device_minor, &mapping->inode, &path_at) < 7 ||
	    strlen(permissions) < 3 || permissions[2] != 'x' || end <= mapping->address)
		return false;
	mapping->writable = permissions[1] == 'w';
	mapping->length = end - mapping->address;
	unescape(line + path_at);
	mapping->name = path_at && line[path_at] ? line + path_at : "//anon";
	return true;
}

int task_mappings(const char *proc, int32_t pid,
		  int (*callback)(void *data, const struct ntrace_sideband *mapping), void *data)
{
	char path[PATH_ROOM];
	char *line = NULL;
	size_t room = 0;
	FILE *file;
	int error = 0;

	snprintf(path, sizeof(path), "%s/%d/maps", proc, pid);
	file = fopen(path, "re");
	if (!file)
		return 0;
	while (!error && getline(&line, &room, file) > 0) {
		struct ntrace_sideband mapping = {
			.type = NTRACE_SIDEBAND_MMAP2,
			.pid = pid,
			.tid = pid,
			.executable = true,
		};

		if (strlen(line) >= LINE_ROOM || !read_mapping(&mapping, line))
			continue;
		identify(proc, &mapping);
		error = callback(data, &mapping);
	}
	free(line);
	fclose(file);
	return error;
}

static int write_mapping(void *data, const struct ntrace_sideband *mapping)
{
	return ntrace_perf_writer_sideband(data, mapping);
}

static int write_process(struct ntrace_perf_writer *writer, const char *proc, int32_t pid)
{
	char path[PATH_ROOM];
	struct dirent *entry;
	DIR *tasks;
	int32_t tid;
	int error;

	error = write_name(writer, proc, pid, pid);
	if (error)
		return error;
	snprintf(path, sizeof(path), "%s/%d/task", proc, pid);
	tasks = opendir(path);
	if (!tasks)
		return 0;
	while (!error && (entry = readdir(tasks))) {
		if (number(entry->d_name, &tid) && tid != pid)
			error = write_name(writer, proc, pid, tid);
	}
	closedir(tasks);
	return error ? error : task_mappings(proc, pid, write_mapping, writer);
}

/* The process of a thread; @tid if it has ended. */
static int32_t process_of(const char *proc, int32_t tid)
{
	char path[PATH_ROOM], line[256];
	int32_t pid = tid;
	FILE *file;

	snprintf(path, sizeof(path), "%s/%d/status", proc, tid);
	file = fopen(path, "re");
	if (!file)
		return tid;
	while (fgets(line, sizeof(line), file) && sscanf(line, "Tgid: %" SCNd32, &pid) != 1)
		;
	fclose(file);
	return pid;
}

int ntrace_perf_write_task(struct ntrace_perf_writer *writer, const char *proc, int32_t pid)
{
	proc = proc ? proc : "/proc";
	return write_process(writer, proc, process_of(proc, pid));
}

/* What is done for each process. */
struct each {
	struct ntrace_perf_writer *writer;
	int (*callback)(void *data, const struct ntrace_sideband *mapping);
	void *data;
};

static int do_each(const struct each *each, const char *proc)
{
	struct dirent *entry;
	DIR *processes;
	int32_t pid;
	int error = 0;

	processes = opendir(proc);
	if (!processes)
		return NTRACE_ERR_IO;
	while (!error && (entry = readdir(processes))) {
		if (!number(entry->d_name, &pid))
			continue;
		error = each->writer ? write_process(each->writer, proc, pid) :
				       task_mappings(proc, pid, each->callback, each->data);
	}
	closedir(processes);
	return error;
}

int ntrace_perf_write_tasks(struct ntrace_perf_writer *writer, const char *proc)
{
	const struct each each = { .writer = writer };

	return do_each(&each, proc ? proc : "/proc");
}

int tasks_mappings(const char *proc, int32_t pid,
		   int (*callback)(void *data, const struct ntrace_sideband *mapping), void *data)
{
	const struct each each = { .callback = callback, .data = data };

	return pid ? task_mappings(proc, process_of(proc, pid), callback, data) :
		     do_each(&each, proc);
}
