// SPDX-License-Identifier: GPL-2.0-only
/*
 * The tracepoints of `ntrace record --values`. Their samples contain registers and stack of user space only, and no
 * fields of the tracepoint: what it reports about the call is in the registers.
 */
#include <errno.h>
#include <limits.h>
#include <mntent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/command.h"
#include "common/ui.h"
#include "values.h"

/* pc and x1 to x31: enum perf_event_riscv_regs of asm/perf_regs.h */
#define REGISTERS UINT32_MAX
/* What a new program finds on its stack: its arguments, its environment and the auxiliary vector. */
#define STACK_BYTES (32u << 10)
/* Of a path below tracefs. */
#define PATH_ROOM (PATH_MAX + 64)

static const struct {
	const char *group;
	const char *name;
	const char *full;
} tracepoints[VALUES_EVENTS] = {
	[VALUES_SYSCALL] = { "raw_syscalls", "sys_exit", "raw_syscalls:sys_exit" },
	[VALUES_EXEC] = { "sched", "sched_process_exec", "sched:sched_process_exec" },
};

const char *values_name(enum values_event event)
{
	return tracepoints[event].full;
}

static int find_failed(const char *path)
{
	if (errno == EACCES || errno == EPERM)
		return fail("%s: no permission: --values reads the kernel's tracepoints there: "
			    "needs root, or leave --values out",
			    path);
	return fail("%s: %s: --values reads the kernel's tracepoints there", path, strerror(errno));
}

/* Whether @mount is where tracefs is; else errno. */
static bool has_events(const char *mount)
{
	char path[PATH_ROOM];

	snprintf(path, sizeof(path), "%s/events/header_page", mount);
	return !access(path, R_OK);
}

/* Where tracefs is mounted: in one of its usual places, or elsewhere. */
static int find_tracefs(char *directory, size_t room)
{
	static const char *const usual[] = { "/sys/kernel/tracing", "/sys/kernel/debug/tracing" };
	const char *forbidden = NULL;
	struct mntent *mount;
	bool found = false;
	FILE *mounts;

	for (size_t i = 0; !found && i < sizeof(usual) / sizeof(usual[0]); i++) {
		snprintf(directory, room, "%s", usual[i]);
		found = has_events(directory);
		if (!found && !forbidden && errno == EACCES)
			forbidden = usual[i];
	}
	mounts = found ? NULL : setmntent("/proc/mounts", "re");
	while (mounts && !found && (mount = getmntent(mounts))) {
		snprintf(directory, room, "%s", mount->mnt_dir);
		found = !strcmp(mount->mnt_type, "tracefs") && has_events(directory);
	}
	if (mounts)
		endmntent(mounts);
	if (found)
		return EXIT_OK;
	if (forbidden) {
		errno = EACCES;
		return find_failed(forbidden);
	}
	return fail("--values needs the kernel's tracepoints, and tracefs is not mounted: mount -t "
		    "tracefs tracefs /sys/kernel/tracing, or leave --values out");
}

/* The whole file, to be freed; NULL and errno. */
static char *read_whole(const char *path, size_t *size)
{
	FILE *file = fopen(path, "re");
	char *text = NULL;
	size_t room = 0;
	ssize_t got;

	if (!file)
		return NULL;
	errno = 0;
	got = getdelim(&text, &room, '\0', file);
	*size = got > 0 ? (size_t)got : 0;
	if (got < 0 && !errno)
		errno = EIO;
	fclose(file);
	if (got >= 0)
		return text;
	free(text);
	return NULL;
}

/* A file of tracefs with its size before it, as perf stores it. */
static int put_file(FILE *formats, const char *path)
{
	size_t size = 0;
	char *text = read_whole(path, &size);
	uint64_t length = size;

	if (!text)
		return find_failed(path);
	fwrite(&length, sizeof(length), 1, formats);
	fwrite(text, 1, size, formats);
	free(text);
	return EXIT_OK;
}

static void put_count(FILE *formats, uint32_t count)
{
	fwrite(&count, sizeof(count), 1, formats);
}

/* The form is that of trace-cmd, version 0.6, without the symbols and texts of other tracepoints. */
static int put_formats(FILE *formats, const char *tracefs)
{
	static const char magic[] = "\x17\x08\x44tracing0.6";
	static const char *const heads[] = { "header_page", "header_event" };
	const uint64_t no_names = 0;
	char path[PATH_ROOM];
	int error = EXIT_OK;

	fwrite(magic, sizeof(magic), 1, formats);
	fputc(0, formats); /* little-endian */
	fputc(sizeof(long), formats);
	put_count(formats, (uint32_t)sysconf(_SC_PAGESIZE));
	for (size_t i = 0; !error && i < sizeof(heads) / sizeof(heads[0]); i++) {
		fwrite(heads[i], strlen(heads[i]) + 1, 1, formats);
		snprintf(path, sizeof(path), "%s/events/%s", tracefs, heads[i]);
		error = put_file(formats, path);
	}
	put_count(formats, 0); /* events of ftrace itself */
	put_count(formats, VALUES_EVENTS);
	for (size_t i = 0; !error && i < VALUES_EVENTS; i++) {
		fwrite(tracepoints[i].group, strlen(tracepoints[i].group) + 1, 1, formats);
		put_count(formats, 1);
		snprintf(path, sizeof(path), "%s/events/%s/%s/format", tracefs,
			 tracepoints[i].group, tracepoints[i].name);
		error = put_file(formats, path);
	}
	put_count(formats, 0); /* kallsyms */
	put_count(formats, 0); /* formats of printk */
	fwrite(&no_names, sizeof(no_names), 1, formats);
	return error;
}

char *values_file(const char *tracefs, const char *group, const char *name, const char *file)
{
	char path[PATH_ROOM];
	size_t size = 0;

	snprintf(path, sizeof(path), "%s/events/%s/%s/%s", tracefs, group, name, file);
	return read_whole(path, &size);
}

static int read_id(const char *tracefs, enum values_event event, uint64_t *id)
{
	char *text = values_file(tracefs, tracepoints[event].group, tracepoints[event].name, "id");

	if (!text && errno == ENOENT)
		return fail("the kernel has no tracepoint %s, which --values needs: it was built "
			    "without CONFIG_FTRACE, or CONFIG_PERF_EVENTS; leave --values out",
			    values_name(event));
	if (!text)
		return find_failed(tracefs);
	*id = strtoull(text, NULL, 10);
	free(text);
	return EXIT_OK;
}

static void describe(struct perf_event_attr *attr, enum values_event event, uint64_t id)
{
	attr->type = PERF_TYPE_TRACEPOINT;
	attr->size = PERF_ATTR_SIZE_VER5;
	attr->config = id;
	attr->sample_period = 1;
	/* All but registers and stack must be as in the dummy event: see sideband_attr(). */
	attr->sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
			    PERF_SAMPLE_CPU | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
	attr->sample_id_all = 1;
	attr->sample_regs_user = REGISTERS;
	attr->sample_stack_user = event == VALUES_EXEC ? STACK_BYTES : VALUES_STACK_BYTES;
	attr->disabled = 1;
	attr->use_clockid = 1;
	attr->clockid = CLOCK_MONOTONIC;
}

int values_open(struct values *values)
{
	FILE *formats;
	uint64_t id = 0;
	int error;

	memset(values, 0, sizeof(*values));
	error = find_tracefs(values->tracefs, sizeof(values->tracefs));
	for (enum values_event event = 0; !error && event < VALUES_EVENTS; event++) {
		error = read_id(values->tracefs, event, &id);
		if (!error)
			describe(&values->attrs[event], event, id);
	}
	if (error)
		return error;
	formats = open_memstream(&values->formats, &values->formats_size);
	if (!formats)
		return fail("out of memory");
	error = put_formats(formats, values->tracefs);
	if (fclose(formats) && !error)
		error = fail("out of memory");
	return error;
}

void values_close(struct values *values)
{
	free(values->formats);
	values->formats = NULL;
}
