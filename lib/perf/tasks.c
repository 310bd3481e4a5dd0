// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Records for tasks that already run: names, threads and executable mappings from /proc, in the
 * form that perf record synthesizes.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ntrace/perf.h>

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

/* "start-end perms offset major:minor inode  path" */
static int write_mapping(struct ntrace_perf_writer *writer, int32_t pid, char *line)
{
	struct ntrace_sideband sideband = {
		.type = NTRACE_SIDEBAND_MMAP2,
		.pid = pid,
		.tid = pid,
		.executable = true,
	};
	char permissions[8];
	uint64_t end;
	int path_at = 0;

	line[strcspn(line, "\n")] = 0;
	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %*s %*s %n", &sideband.address,
		   &end, permissions, &sideband.offset, &path_at) < 4 ||
	    strlen(permissions) < 3 || permissions[2] != 'x' || end <= sideband.address)
		return 0;
	sideband.length = end - sideband.address;
	sideband.name = path_at && line[path_at] ? line + path_at : "//anon";
	return ntrace_perf_writer_sideband(writer, &sideband);
}

static int write_mappings(struct ntrace_perf_writer *writer, const char *proc, int32_t pid)
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
		if (strlen(line) < LINE_ROOM)
			error = write_mapping(writer, pid, line);
	}
	free(line);
	fclose(file);
	return error;
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
	return error ? error : write_mappings(writer, proc, pid);
}

int ntrace_perf_write_task(struct ntrace_perf_writer *writer, const char *proc, int32_t pid)
{
	return write_process(writer, proc ? proc : "/proc", pid);
}

int ntrace_perf_write_tasks(struct ntrace_perf_writer *writer, const char *proc)
{
	struct dirent *entry;
	DIR *processes;
	int32_t pid;
	int error = 0;

	if (!proc)
		proc = "/proc";
	processes = opendir(proc);
	if (!processes)
		return NTRACE_ERR_IO;
	while (!error && (entry = readdir(processes))) {
		if (number(entry->d_name, &pid))
			error = write_process(writer, proc, pid);
	}
	closedir(processes);
	return error;
}
