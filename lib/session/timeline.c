// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Joins sideband records, which come sorted by time. */
#include <stdlib.h>
#include <string.h>

#include <linux/perf_event.h>

#include "timeline.h"

/* A chain of forks longer than this is copied into one program. */
#define FORK_DEPTH_MAX 16

#define MISC_FORK_EXEC (1u << 13)

static int grow(void **array, size_t *room, size_t count, size_t size)
{
	size_t wanted = *room ? 2 * *room : 8;
	void *more;

	if (count < *room)
		return 0;
	more = realloc(*array, wanted * size);
	if (!more)
		return NTRACE_ERR_NOMEM;
	*array = more;
	*room = wanted;
	return 0;
}

static struct task *find_task(const struct timeline *timeline, int32_t id)
{
	struct task *task = timeline->tasks[(uint32_t)id % TIMELINE_BUCKETS];

	while (task && task->id != id)
		task = task->next;
	return task;
}

static struct task *get_task(struct timeline *timeline, int32_t id)
{
	struct task *task = find_task(timeline, id);

	if (task)
		return task;
	task = calloc(1, sizeof(*task));
	if (!task)
		return NULL;
	task->id = id;
	task->next = timeline->tasks[(uint32_t)id % TIMELINE_BUCKETS];
	timeline->tasks[(uint32_t)id % TIMELINE_BUCKETS] = task;
	return task;
}

static struct program *add_program(struct timeline *timeline, int32_t pid, uint64_t start)
{
	struct task *task = get_task(timeline, pid);
	struct program *program = task ? calloc(1, sizeof(*program)) : NULL;

	if (!program)
		return NULL;
	program->pid = pid;
	program->start = start;
	if (task->last)
		task->last->next = program;
	else
		task->first = program;
	task->last = program;
	return program;
}

static int add_name(struct timeline *timeline, int32_t tid, uint64_t time, bool exec,
		    const char *name)
{
	struct task *task = get_task(timeline, tid);
	void *names;
	int error;

	if (!task)
		return NTRACE_ERR_NOMEM;
	names = task->names;
	error = grow(&names, &task->name_room, task->name_count, sizeof(*task->names));
	task->names = names;
	if (!error)
		task->names[task->name_count++] = (struct name_change){ time, exec, name };
	return error;
}

/* FNV-1a */
static uint32_t hash_file(const struct ntrace_sideband *record)
{
	uint32_t hash = 2166136261u;
	const char *at;
	unsigned int i;

	for (at = record->name; *at; at++)
		hash = (hash ^ (uint8_t)*at) * 16777619u;
	for (i = 0; i < record->build_id_size; i++)
		hash = (hash ^ record->build_id[i]) * 16777619u;
	return hash % TIMELINE_BUCKETS;
}

static struct mapped_file *get_file(struct timeline *timeline, const struct ntrace_sideband *record)
{
	struct mapped_file **bucket = &timeline->files[hash_file(record)], *file;

	for (file = *bucket; file; file = file->next) {
		if (!strcmp(file->path, record->name) &&
		    file->build_id_size == record->build_id_size &&
		    !memcmp(file->build_id, record->build_id, record->build_id_size))
			return file;
	}
	file = calloc(1, sizeof(*file));
	if (!file)
		return NULL;
	file->path = strdup(record->name);
	if (!file->path) {
		free(file);
		return NULL;
	}
	file->build_id_size = record->build_id_size;
	memcpy(file->build_id, record->build_id, record->build_id_size);
	file->next = *bucket;
	*bucket = file;
	return file;
}

/* A file system's file or the vDSO; else it has a name of the kernel's: //anon, [heap], ... */
static bool is_file_name(const char *name)
{
	return !strcmp(name, "[vdso]") ||
	       (name[0] == '/' && name[1] != '/' && strncmp(name, "/memfd:", 7) &&
		strncmp(name, "/dev/", 5) && strncmp(name, "/SYSV", 5));
}

static int add_change(struct program *program, const struct mapping_change *change)
{
	void *changes = program->changes;
	int error = grow(&changes, &program->room, program->count, sizeof(*change));

	program->changes = changes;
	if (!error)
		program->changes[program->count++] = *change;
	return error;
}

static int take_mapping(struct timeline *timeline, const struct ntrace_sideband *record)
{
	struct mapping_change change = {
		.time = record->time,
		.address = record->address,
		.length = record->length,
		.offset = record->offset,
	};
	struct program *program;
	struct task *task;

	if (record->pid < 0 || record->cpumode_kernel || !record->length ||
	    record->address + (record->length - 1) < record->address)
		return 0;
	if (record->executable && is_file_name(record->name)) {
		change.file = get_file(timeline, record);
		if (!change.file)
			return NTRACE_ERR_NOMEM;
	} else if (record->executable && strcmp(record->name, "[vsyscall]")) {
		timeline->anonymous_code = true;
	}
	task = find_task(timeline, record->pid);
	program = task ? task->last : NULL;
	if (!program) {
		/* It ran before the recording. */
		program = add_program(timeline, record->pid, 0);
		if (!program)
			return NTRACE_ERR_NOMEM;
	}
	return add_change(program, &change);
}

size_t program_changes_before(const struct program *program, uint64_t time)
{
	size_t low = 0, high = program->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (program->changes[middle].time < time)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Copies what @from has, with what its bases gave it, up to @count changes of its own. */
static int copy_changes(struct program *to, const struct program *from, size_t count)
{
	const struct program *line[FORK_DEPTH_MAX + 1] = { NULL };
	size_t counts[FORK_DEPTH_MAX + 1] = { 0 }, depth = 0, i;
	int error = 0;

	while (from && depth <= FORK_DEPTH_MAX) {
		line[depth] = from;
		counts[depth++] = count;
		count = from->base_count;
		from = from->base;
	}
	while (depth-- && !error) {
		for (i = 0; i < counts[depth] && !error; i++) {
			struct mapping_change change = line[depth]->changes[i];

			change.time = to->start;
			error = add_change(to, &change);
		}
	}
	return error;
}

static int take_fork(struct timeline *timeline, const struct ntrace_sideband *record)
{
	const char *name = timeline_name(timeline, record->other_tid, record->time + 1);
	struct task *parent;
	struct program *child;
	int error = 0;

	if (record->pid < 0)
		return 0;
	if (name)
		error = add_name(timeline, record->tid, record->time, false, name);
	if (error || record->pid == record->other_pid) /* a thread */
		return error;
	child = add_program(timeline, record->pid, record->time);
	if (!child)
		return NTRACE_ERR_NOMEM;
	parent = find_task(timeline, record->other_pid);
	/* Synthesized records (no time, or told so) are followed by all mappings of the child. */
	if (!parent || !parent->last || !record->time || record->misc & MISC_FORK_EXEC)
		return 0;
	if (parent->last->depth >= FORK_DEPTH_MAX)
		return copy_changes(child, parent->last, parent->last->count);
	child->base = parent->last;
	child->base_count = parent->last->count;
	child->depth = parent->last->depth + 1;
	return 0;
}

static int take_name(struct timeline *timeline, const struct ntrace_sideband *record)
{
	if (record->tid < 0)
		return 0;
	if (record->exec && !add_program(timeline, record->pid, record->time))
		return NTRACE_ERR_NOMEM;
	return add_name(timeline, record->tid, record->time, record->exec, record->name);
}

static struct cpu_timeline *get_cpu(struct timeline *timeline, uint32_t cpu, int *error)
{
	struct cpu_timeline *cpus;

	if (cpu >= TIMELINE_CPUS_MAX)
		return NULL;
	if (cpu >= timeline->cpu_count) {
		cpus = realloc(timeline->cpus, (cpu + 1) * sizeof(*cpus));
		if (!cpus) {
			*error = NTRACE_ERR_NOMEM;
			return NULL;
		}
		memset(cpus + timeline->cpu_count, 0,
		       (cpu + 1 - timeline->cpu_count) * sizeof(*cpus));
		timeline->cpus = cpus;
		timeline->cpu_count = cpu + 1;
	}
	return &timeline->cpus[cpu];
}

/*
 * A switch is told twice: by the task that goes (OUT) and by the one that
 * comes (IN). Either alone is enough, where the other is lost.
 */
static int take_switch(struct timeline *timeline, const struct ntrace_sideband *record)
{
	bool wide = record->type == NTRACE_SIDEBAND_SWITCH_CPU_WIDE;
	struct task_switch made = { .time = record->time };
	struct cpu_timeline *cpu;
	struct task_switch *last;
	void *switches;
	int error = 0;

	timeline->no_cpu = timeline->no_cpu || record->cpu == NTRACE_SIDEBAND_NO_CPU;
	cpu = get_cpu(timeline, record->cpu, &error);
	if (!cpu)
		return error;
	last = cpu->count ? &cpu->switches[cpu->count - 1] : NULL;
	if (!record->out)
		cpu->came = record->time;
	if (record->out) {
		if (!wide)
			return 0; /* does not say who comes; its IN does */
		made.previous_pid = record->pid;
		made.previous_tid = record->tid;
		made.next_pid = record->other_pid;
		made.next_tid = record->other_tid;
	} else {
		/* A loss between the two counts as behind them. */
		if (last && !last->confirmed && last->next_tid == record->tid) {
			last->confirmed = true;
			return 0;
		}
		made.previous_pid = wide ? record->other_pid : -1;
		made.previous_tid = wide ? record->other_tid : -1;
		made.next_pid = record->pid;
		made.next_tid = record->tid;
		made.confirmed = true;
	}
	made.lost = cpu->lost;
	/* Who goes must be who came; if not, something is missing that no record tells. */
	if (!made.lost && last && made.previous_pid >= 0 && last->next_pid >= 0 &&
	    made.previous_pid != last->next_pid)
		made.lost = 1;
	cpu->lost = 0;
	switches = cpu->switches;
	error = grow(&switches, &cpu->room, cpu->count, sizeof(made));
	cpu->switches = switches;
	if (!error)
		cpu->switches[cpu->count++] = made;
	return error;
}

static int take_aux(struct timeline *timeline, const struct ntrace_sideband *record)
{
	struct piece made = {
		.event = record->id,
		.offset = record->offset,
		.size = record->length,
		.end = record->time,
		.pid = record->pid,
		.tid = record->tid,
		.cpu = record->cpu,
		.flags = record->code,
	};
	struct cpu_timeline *cpu;
	void *pieces = timeline->pieces;
	int error = 0;

	if (record->code & PERF_AUX_FLAG_OVERWRITE)
		made.offset -= made.size;
	if (made.offset + made.size < made.offset)
		return 0;
	cpu = get_cpu(timeline, record->cpu, &error);
	if (cpu) {
		made.start = cpu->came > cpu->traced ? cpu->came : cpu->traced;
		cpu->traced = record->time;
	}
	if (!error)
		error = grow(&pieces, &timeline->piece_room, timeline->piece_count, sizeof(made));
	timeline->pieces = pieces;
	if (!error)
		timeline->pieces[timeline->piece_count++] = made;
	return error;
}

static int take_lost(struct timeline *timeline, const struct ntrace_sideband *record)
{
	struct cpu_timeline *cpu;
	int error = 0;

	timeline->lost += record->count;
	cpu = get_cpu(timeline, record->cpu, &error);
	if (cpu)
		cpu->lost += record->count;
	return error;
}

static int take_ksymbol(struct timeline *timeline, const struct ntrace_sideband *record)
{
	void *symbols = timeline->symbols;
	int error;

	if (record->unregister || !record->name[0])
		return 0;
	error = grow(&symbols, &timeline->symbol_room, timeline->symbol_count,
		     sizeof(*timeline->symbols));
	timeline->symbols = symbols;
	if (!error)
		timeline->symbols[timeline->symbol_count++] =
			(struct kernel_symbol){ record->address, record->length, record->name };
	return error;
}

static int take_record(void *data, const struct ntrace_sideband *record)
{
	struct timeline *timeline = data;

	switch (record->type) {
	case NTRACE_SIDEBAND_MMAP:
	case NTRACE_SIDEBAND_MMAP2:
		return take_mapping(timeline, record);
	case NTRACE_SIDEBAND_COMM:
		return take_name(timeline, record);
	case NTRACE_SIDEBAND_FORK:
		return take_fork(timeline, record);
	case NTRACE_SIDEBAND_SWITCH:
	case NTRACE_SIDEBAND_SWITCH_CPU_WIDE:
		return take_switch(timeline, record);
	case NTRACE_SIDEBAND_AUX:
		return take_aux(timeline, record);
	case NTRACE_SIDEBAND_LOST:
		return take_lost(timeline, record);
	case NTRACE_SIDEBAND_KSYMBOL:
		return take_ksymbol(timeline, record);
	case NTRACE_SIDEBAND_TEXT_POKE:
		timeline->text_pokes++;
		return 0;
	default: /* EXIT: a number that is used again comes with a FORK */
		return 0;
	}
}

int timeline_open(struct timeline *timeline, const char *path)
{
	int error;

	memset(timeline, 0, sizeof(*timeline));
	error = ntrace_perf_file_open(&timeline->sideband, path);
	if (!error)
		error = ntrace_perf_file_sideband(timeline->sideband, take_record, timeline,
						  &timeline->counts);
	if (error)
		timeline_close(timeline);
	return error;
}

static void free_task(struct task *task)
{
	while (task->first) {
		struct program *next = task->first->next;

		ntrace_space_put(task->first->space);
		free(task->first->changes);
		free(task->first);
		task->first = next;
	}
	free(task->names);
	free(task);
}

void timeline_close(struct timeline *timeline)
{
	size_t i;

	for (i = 0; i < TIMELINE_BUCKETS; i++) {
		while (timeline->tasks[i]) {
			struct task *next = timeline->tasks[i]->next;

			free_task(timeline->tasks[i]);
			timeline->tasks[i] = next;
		}
		while (timeline->files[i]) {
			struct mapped_file *next = timeline->files[i]->next;

			ntrace_object_put(timeline->files[i]->object);
			free(timeline->files[i]->path);
			free(timeline->files[i]);
			timeline->files[i] = next;
		}
	}
	for (i = 0; i < timeline->cpu_count; i++)
		free(timeline->cpus[i].switches);
	free(timeline->cpus);
	free(timeline->symbols);
	free(timeline->pieces);
	ntrace_perf_file_close(timeline->sideband);
	memset(timeline, 0, sizeof(*timeline));
}

struct program *timeline_program(const struct timeline *timeline, int32_t pid, uint64_t time)
{
	const struct task *task = pid > 0 ? find_task(timeline, pid) : NULL;
	struct program *program, *found = NULL;

	for (program = task ? task->first : NULL; program && program->start <= time;
	     program = program->next)
		found = program;
	return found;
}

const char *timeline_name(const struct timeline *timeline, int32_t tid, uint64_t time)
{
	const struct task *task = find_task(timeline, tid);
	size_t low = 0, high = task ? task->name_count : 0;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (task->names[middle].time < time)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? task->names[low - 1].name : NULL;
}
