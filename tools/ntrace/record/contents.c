// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory that system calls write: programs at tracepoints of the kernel, see contents_program.c.
 *
 *	raw_syscalls:sys_exit ---> program ---> event bpf-output of the CPU ---> ring of the sideband
 *	                             |  |
 *	     which arguments are outputs  whether the thread is recorded <--- programs at sched_process_fork and _exit
 *
 * The kernel removes all of it when the last file descriptor is closed.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <linux/bpf.h>
#include <linux/perf_event.h>

#include <ntrace/values.h>

#include "contents.h"
#include "contents_program.h"
#include "values.h"

/* Threads that are recorded at the same time; contents of more are not recorded. */
#define TASKS 16384

/* Of a task: at fork() and at its end. */
enum { FORK, END, TASK_PROGRAMS };

/* @program: the last one is that of system calls, and @link its tracepoint; -1: not open */
struct contents {
	struct perf_event_attr attr;
	struct contents_maps maps;
	int *events;
	uint64_t *ids;
	size_t count;
	int program[TASK_PROGRAMS + 1];
	int link[TASK_PROGRAMS + 1];
};

static int bpf(int command, union bpf_attr *attr)
{
	return (int)syscall(SYS_bpf, command, attr, sizeof(*attr));
}

static int make_map(enum bpf_map_type type, size_t key, size_t value, size_t entries)
{
	union bpf_attr attr = {
		.map_type = type,
		.key_size = (uint32_t)key,
		.value_size = (uint32_t)value,
		.max_entries = (uint32_t)entries,
	};

	return bpf(BPF_MAP_CREATE, &attr);
}

static int set_element(int map, uint32_t key, const void *value)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.map_fd = (uint32_t)map;
	attr.key = (uint64_t)(uintptr_t)&key;
	attr.value = (uint64_t)(uintptr_t)value;
	return bpf(BPF_MAP_UPDATE_ELEM, &attr);
}

static int load(const struct contents_program *program, enum bpf_prog_type type)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.prog_type = type;
	attr.insns = (uint64_t)(uintptr_t)program->insn;
	attr.insn_cnt = (uint32_t)program->count;
	/* Helpers that read memory ask for it. */
	attr.license = (uint64_t)(uintptr_t) "GPL";
	return bpf(BPF_PROG_LOAD, &attr);
}

static void add_output(struct contents_row *row, const struct ntrace_values_output *output)
{
	for (unsigned int i = 0; i < CONTENTS_OUTPUTS; i++) {
		if (row->output[i].size)
			continue;
		row->output[i].argument = output->argument;
		row->output[i].by = output->by;
		row->output[i].size = output->bytes;
		return;
	}
}

/* The library's table of system calls, as the program needs it. */
static int fill_rows(int map)
{
	struct contents_row *rows = calloc(CONTENTS_CALLS, sizeof(*rows));
	struct ntrace_values_output output = { .size = sizeof(output) };
	int error = 0;

	if (!rows)
		return -1;
	for (unsigned int i = 0; !ntrace_values_output(i, &output); i++)
		for (unsigned int call = output.first; call <= output.last && call < CONTENTS_CALLS;
		     call++)
			add_output(&rows[call], &output);
	for (uint32_t i = 0; !error && i < CONTENTS_CALLS; i++)
		if (rows[i].output[0].size)
			error = set_element(map, i, &rows[i]);
	free(rows);
	return error;
}

static int make_maps(struct contents *contents, const int *cpus, bool all)
{
	size_t limit = 0;

	for (size_t i = 0; i < contents->count; i++)
		if ((size_t)cpus[i] >= limit)
			limit = (size_t)cpus[i] + 1;
	contents->maps.self = getpid();
	contents->maps.rows =
		make_map(BPF_MAP_TYPE_ARRAY, 4, sizeof(struct contents_row), CONTENTS_CALLS);
	if (contents->maps.rows < 0)
		return -1;
	contents->maps.scratch = make_map(BPF_MAP_TYPE_PERCPU_ARRAY, 4, CONTENTS_SCRATCH, 1);
	if (contents->maps.scratch < 0)
		return -1;
	contents->maps.rings = make_map(BPF_MAP_TYPE_PERF_EVENT_ARRAY, 4, 4, limit);
	if (contents->maps.rings < 0)
		return -1;
	if (all)
		return fill_rows(contents->maps.rows);
	contents->maps.tasks = make_map(BPF_MAP_TYPE_HASH, 4, 4, TASKS);
	return contents->maps.tasks < 0 ? -1 : fill_rows(contents->maps.rows);
}

static int open_events(struct contents *contents, const int *rings, const int *cpus, bool all)
{
	contents->attr = (struct perf_event_attr){
		.type = PERF_TYPE_SOFTWARE,
		.size = PERF_ATTR_SIZE_VER5,
		.config = PERF_COUNT_SW_BPF_OUTPUT,
		.sample_period = 1,
		/* As the dummy event, see sideband_attr(); with an address, which perf script wants. */
		.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
			       PERF_SAMPLE_CPU | PERF_SAMPLE_IP | PERF_SAMPLE_RAW,
		.sample_id_all = 1,
		.disabled = all,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
	};
	for (size_t i = 0; i < contents->count; i++) {
		int fd = (int)syscall(SYS_perf_event_open, &contents->attr, -1, cpus[i], -1,
				      PERF_FLAG_FD_CLOEXEC);

		contents->events[i] = fd;
		if (fd < 0 || ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, rings[i]) ||
		    ioctl(fd, PERF_EVENT_IOC_ID, &contents->ids[i]) ||
		    set_element(contents->maps.rings, (uint32_t)cpus[i], &fd))
			return -1;
	}
	return 0;
}

/* The offset of a field in a tracepoint's format. Return: false: there is none */
static bool find_field(const char *format, const char *name, unsigned int *offset)
{
	size_t length = strlen(name);
	const char *at = format, *number;

	while ((at = strchr(at, ' '))) {
		if (strncmp(++at, name, length) || at[length] != ';')
			continue;
		number = strstr(at, "offset:");
		if (!number)
			return false;
		*offset = (unsigned int)strtoul(number + strlen("offset:"), NULL, 10);
		return true;
	}
	return false;
}

/* Runs a program at a tracepoint of the scheduler. */
static int attach_task_program(struct contents *contents, const char *tracefs, unsigned int which,
			       struct contents_program *program)
{
	static const char *const names[TASK_PROGRAMS] = { "sched_process_fork",
							  "sched_process_exit" };
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT,
		.size = PERF_ATTR_SIZE_VER5,
		.sample_period = 1,
		.disabled = 1,
	};
	unsigned int first = 0, second = 0;
	char *format = values_file(tracefs, "sched", names[which], "format");
	char *id = format ? values_file(tracefs, "sched", names[which], "id") : NULL;
	bool found = id && find_field(format, which == FORK ? "parent_pid" : "pid", &first) &&
		     (which != FORK || find_field(format, "child_pid", &second));

	attr.config = id ? strtoull(id, NULL, 10) : 0;
	free(id);
	free(format);
	if (!found) {
		errno = ENOENT;
		return -1;
	}
	if (which == FORK)
		contents_program_fork(program, &contents->maps, first, second);
	else
		contents_program_end(program, &contents->maps, first);
	contents->program[which] = load(program, BPF_PROG_TYPE_TRACEPOINT);
	if (contents->program[which] < 0)
		return -1;
	contents->link[which] =
		(int)syscall(SYS_perf_event_open, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);
	if (contents->link[which] < 0)
		return -1;
	return ioctl(contents->link[which], PERF_EVENT_IOC_SET_BPF, contents->program[which]);
}

static int attach(struct contents *contents, const char *tracefs, const struct tid_list *tids)
{
	struct contents_program *program = malloc(sizeof(*program));
	union bpf_attr attr;
	int error = program ? 0 : -1;

	/* First, so that no thread is missed that begins now. */
	for (unsigned int which = 0; !error && tids && which < TASK_PROGRAMS; which++)
		error = attach_task_program(contents, tracefs, which, program);
	for (size_t i = 0; !error && tids && i < tids->count; i++)
		if (tids->tid[i] > 0)
			error = set_element(contents->maps.tasks, (uint32_t)tids->tid[i],
					    &tids->tid[i]);
	if (!error) {
		contents_program_exit(program, &contents->maps, VALUES_STACK_BYTES);
		contents->program[TASK_PROGRAMS] = load(program, BPF_PROG_TYPE_RAW_TRACEPOINT);
		error = contents->program[TASK_PROGRAMS] < 0;
	}
	free(program);
	if (error)
		return -1;
	memset(&attr, 0, sizeof(attr));
	attr.raw_tracepoint.name = (uint64_t)(uintptr_t) "sys_exit";
	attr.raw_tracepoint.prog_fd = (uint32_t)contents->program[TASK_PROGRAMS];
	contents->link[TASK_PROGRAMS] = bpf(BPF_RAW_TRACEPOINT_OPEN, &attr);
	return contents->link[TASK_PROGRAMS] < 0 ? -1 : 0;
}

struct contents *contents_open(const char *tracefs, const int *rings, const int *cpus, size_t count,
			       const struct tid_list *tids)
{
	struct contents *contents = calloc(1, sizeof(*contents));
	int error;

	if (!contents)
		return NULL;
	contents->maps = (struct contents_maps){ -1, -1, -1, -1, 0 };
	for (unsigned int i = 0; i <= TASK_PROGRAMS; i++)
		contents->program[i] = contents->link[i] = -1;
	contents->events = calloc(count, sizeof(*contents->events));
	contents->ids = calloc(count, sizeof(*contents->ids));
	contents->count = count;
	for (size_t i = 0; contents->events && i < count; i++)
		contents->events[i] = -1;
	if (contents->events && contents->ids && !make_maps(contents, cpus, !tids) &&
	    !open_events(contents, rings, cpus, !tids) && !attach(contents, tracefs, tids))
		return contents;
	error = errno;
	contents_close(contents);
	errno = error;
	return NULL;
}

static void close_file(int fd)
{
	if (fd >= 0)
		close(fd);
}

void contents_close(struct contents *contents)
{
	if (!contents)
		return;
	for (unsigned int i = TASK_PROGRAMS + 1; i--;) {
		close_file(contents->link[i]);
		close_file(contents->program[i]);
	}
	for (size_t i = 0; contents->events && i < contents->count; i++)
		close_file(contents->events[i]);
	close_file(contents->maps.rows);
	close_file(contents->maps.scratch);
	close_file(contents->maps.tasks);
	close_file(contents->maps.rings);
	free(contents->events);
	free(contents->ids);
	free(contents);
}

int contents_enable(const struct contents *contents, bool on)
{
	unsigned long request = on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE;

	for (size_t i = 0; i < contents->count; i++)
		if (ioctl(contents->events[i], request, 0))
			return errno;
	return 0;
}

const uint64_t *contents_event(const struct contents *contents, struct perf_event_attr *attr)
{
	*attr = contents->attr;
	return contents->ids;
}
