// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Joins sideband records, which arrive sorted by time. */
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <linux/perf_event.h>

#include "bisect.h"
#include "kept_files.h"
#include "machine.h"

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

struct task *machine_task(const struct machine *machine, int32_t id)
{
	struct task *task = machine->tasks[(uint32_t)id % MACHINE_BUCKETS];

	while (task && task->id != id)
		task = task->next;
	return task;
}

static struct task *get_task(struct machine *machine, int32_t id)
{
	struct task *task = machine_task(machine, id);

	if (task)
		return task;
	task = calloc(1, sizeof(*task));
	if (!task)
		return NULL;
	task->id = id;
	task->next = machine->tasks[(uint32_t)id % MACHINE_BUCKETS];
	machine->tasks[(uint32_t)id % MACHINE_BUCKETS] = task;
	return task;
}

static struct program *add_program(struct machine *machine, int32_t pid, uint64_t start)
{
	struct task *task = get_task(machine, pid);
	struct program *program = NULL;
	void *programs = task ? task->programs : NULL;

	if (task &&
	    !grow(&programs, &task->program_room, task->program_count, sizeof(struct program *)))
		program = calloc(1, sizeof(*program));
	if (task)
		task->programs = programs;
	if (!program)
		return NULL;
	task->programs[task->program_count++] = program;
	program->number = ++machine->programs;
	program->pid = pid;
	program->cpu = NTRACE_SIDEBAND_NO_CPU;
	program->start = start;
	if (task->last)
		task->last->next = program;
	else
		task->first = program;
	task->last = program;
	return program;
}

/* A thread may take an empty name. */
static int add_name(struct machine *machine, int32_t tid, uint64_t time, bool first,
		    const char *name)
{
	struct task *task = get_task(machine, tid);
	void *names;
	int error;

	if (!task)
		return NTRACE_ERR_NOMEM;
	names = task->names;
	error = grow(&names, &task->name_room, task->name_count, sizeof(*task->names));
	task->names = names;
	if (!error)
		task->names[task->name_count++] =
			(struct name_change){ time, first, *name ? name : "[unnamed]" };
	return error;
}

/*
 * FNV-1a of the path: all files that a path had are in one bucket, also those that were removed or replaced, whose
 * names end with "(deleted)".
 */
static uint32_t hash_path(const char *path)
{
	uint32_t hash = 2166136261u;

	for (size_t left = kept_path_length(path); left; left--)
		hash = (hash ^ (uint8_t)*path++) * 16777619u;
	return hash % MACHINE_BUCKETS;
}

struct mapped_file *machine_same_path(const struct machine *machine, const struct mapped_file *file,
				      const struct mapped_file *after)
{
	struct mapped_file *at = after ? after->next : machine->files[hash_path(file->path)];

	size_t length = kept_path_length(file->path);

	while (at && (at == file || kept_path_length(at->path) != length ||
		      memcmp(at->path, file->path, length)))
		at = at->next;
	return at;
}

/* Memory without a file has one name: its address tells the pieces apart. */
static uint32_t bucket_of(const struct ntrace_sideband *record)
{
	uint32_t hash = hash_path(record->name);

	if (kept_is_memory(record->name))
		hash ^= (uint32_t)(record->address >> 12);
	return hash % MACHINE_BUCKETS;
}

static bool is_same_file(const struct mapped_file *file, const struct ntrace_sideband *record)
{
	if (file->is_memory)
		return file->pid == record->pid && file->address == record->address &&
		       file->time == record->time;
	if (file->build_id_size != record->build_id_size ||
	    memcmp(file->build_id, record->build_id, record->build_id_size))
		return false;
	return file->inode == record->inode && file->inode_generation == record->inode_generation &&
	       file->device_major == record->device_major &&
	       file->device_minor == record->device_minor;
}

static struct mapped_file *get_file(struct machine *machine, const struct ntrace_sideband *record)
{
	struct mapped_file **bucket = &machine->files[bucket_of(record)], *file;

	for (file = *bucket; file; file = file->next) {
		if (!strcmp(file->path, record->name) && is_same_file(file, record))
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
	file->is_memory = kept_is_memory(record->name);
	if (file->is_memory) {
		file->pid = record->pid;
		file->address = record->address;
		file->time = record->time;
	} else {
		file->device_major = record->device_major;
		file->device_minor = record->device_minor;
		file->inode = record->inode;
		file->inode_generation = record->inode_generation;
	}
	file->next = *bucket;
	*bucket = file;
	return file;
}

static int add_change(struct program *program, const struct mapping_change *change)
{
	void *changes = program->changes;
	int error = grow(&changes, &program->room, program->count, sizeof(*change));
	size_t before;

	program->changes = changes;
	if (error)
		return error;
	before = program->count ? program->changes[program->count - 1].replacing : 0;
	program->changes[program->count] = *change;
	program->changes[program->count].replacing =
		before + (change->inherited || mapping_replaces(program, program->count, change));
	program->count++;
	return 0;
}

/*
 * A process that was made by vfork() or clone(CLONE_VM) changes the memory of its parent, too, and the record of a fork
 * does not tell which kind it is. What @change replaces of the code that a parent passed on is not certain there.
 */
static int share_change(struct machine *machine, const struct program *program,
			const struct mapping_change *change)
{
	int error = 0;

	for (; !error && program->base; program = program->base) {
		struct program *parent = program->base;
		struct mapping_change shared = *change;

		shared.inherited = program->base_count;
		if (parent != machine_task(machine, parent->pid)->last ||
		    !mapping_replaces(parent, program->base_count, change))
			continue;
		error = add_change(parent, &shared);
		parent->shared = true;
	}
	return error;
}

/* Whether the recorder copied memory without a file. */
static bool is_kept(const struct machine *machine, const struct ntrace_sideband *record)
{
	char path[PATH_MAX];

	return machine->directory &&
	       kept_file_path(machine->directory, record, path, sizeof(path)) &&
	       !access(path, F_OK);
}

static int take_mapping(struct machine *machine, const struct ntrace_sideband *record)
{
	struct mapping_change change = {
		.time = record->time,
		.address = record->address,
		.length = record->length,
		.offset = record->offset,
	};
	struct program *program;
	struct task *task;
	int error;

	if (record->pid < 0 || record->cpumode_kernel || !record->length ||
	    record->address + (record->length - 1) < record->address)
		return 0;
	if (record->executable && kept_is_memory(record->name) && !is_kept(machine, record)) {
		if (kept_is_too_long(record->name))
			machine->long_paths = true;
		else
			machine->anonymous_code = true;
	} else if (record->executable && strcmp(record->name, "[vsyscall]")) {
		change.file = get_file(machine, record);
		if (!change.file)
			return NTRACE_ERR_NOMEM;
		/* The kernel gives such a mapping the page number of its address. */
		if (change.file->is_memory)
			change.offset = 0;
	}
	task = machine_task(machine, record->pid);
	program = task ? task->last : NULL;
	if (!program) {
		/* The program ran before the recording. */
		program = add_program(machine, record->pid, 0);
		if (!program)
			return NTRACE_ERR_NOMEM;
	}
	mapping_note_writer(program, &change, record);
	error = add_change(program, &change);
	return error ? error : share_change(machine, program, &change);
}

size_t program_changes_before(const struct program *program, uint64_t time)
{
	size_t low = 0;

	BISECT(low, program->count, middle, program->changes[middle].time < time);
	return low;
}

/* Copies the changes of @from and its bases, up to @count of its own changes. */
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

static int add_birth(struct machine *machine, const struct ntrace_sideband *record)
{
	void *births = machine->births;
	int error;

	/* A synthesized record is of a task that ran before. */
	if (machine->growing || !record->time || record->misc & MISC_FORK_EXEC)
		return 0;
	error = grow(&births, &machine->birth_room, machine->birth_count, sizeof(struct birth));
	machine->births = births;
	if (!error)
		machine->births[machine->birth_count++] =
			(struct birth){ .time = record->time,
					.pid = record->pid,
					.tid = record->tid,
					.parent_pid = record->other_pid,
					.parent_tid = record->other_tid };
	return error;
}

static int take_fork(struct machine *machine, const struct ntrace_sideband *record)
{
	const char *name = machine_thread_name(machine, record->other_tid, record->time + 1);
	struct task *parent;
	struct program *child;
	int error;

	if (record->pid < 0)
		return 0;
	error = add_birth(machine, record);
	if (name && !error)
		error = add_name(machine, record->tid, record->time, true, name);
	if (!error && record->pid == record->other_pid) { /* a thread, not a process */
		parent = get_task(machine, record->pid);
		if (!parent)
			return NTRACE_ERR_NOMEM;
		parent->threads++;
		return 0;
	}
	if (error)
		return error;
	child = add_program(machine, record->pid, record->time);
	if (!child)
		return NTRACE_ERR_NOMEM;
	parent = machine_task(machine, record->other_pid);
	/* After a synthesized record (without a time, or marked) come all mappings of the child. */
	if (!parent || !parent->last || !record->time || record->misc & MISC_FORK_EXEC)
		return 0;
	if (parent->last->depth >= FORK_DEPTH_MAX)
		return copy_changes(child, parent->last, parent->last->count);
	child->base = parent->last;
	parent->last->children++;
	child->base_count = parent->last->count;
	child->depth = parent->last->depth + 1;
	return 0;
}

static int take_name(struct machine *machine, const struct ntrace_sideband *record)
{
	struct program *program;

	if (record->tid < 0)
		return 0;
	if (record->exec) {
		program = add_program(machine, record->pid, record->time);
		if (!program)
			return NTRACE_ERR_NOMEM;
		program->cpu = record->cpu;
	}
	return add_name(machine, record->tid, record->time, record->exec, record->name);
}

static struct cpu_switches *get_cpu(struct machine *machine, uint32_t cpu, int *error)
{
	struct cpu_switches *cpus;

	if (cpu >= MACHINE_CPUS_MAX)
		return NULL;
	if (cpu >= machine->cpu_count) {
		cpus = realloc(machine->cpus, (cpu + 1) * sizeof(*cpus));
		if (!cpus) {
			*error = NTRACE_ERR_NOMEM;
			return NULL;
		}
		memset(cpus + machine->cpu_count, 0,
		       (cpu + 1 - machine->cpu_count) * sizeof(*cpus));
		machine->cpus = cpus;
		machine->cpu_count = cpu + 1;
	}
	return &machine->cpus[cpu];
}

static void note_incoming(struct cpu_switches *cpu, const struct ntrace_sideband *record)
{
	cpu->came = record->time;
	cpu->came_pid = record->pid;
	cpu->came_tid = record->tid;
}

/*
 * A switch has two records: OUT by the outgoing task and IN by the incoming one. If one of them is
 * lost, the other is enough.
 */
static int take_switch(struct machine *machine, const struct ntrace_sideband *record)
{
	bool wide = record->type == NTRACE_SIDEBAND_SWITCH_CPU_WIDE;
	struct task_switch made = { .time = record->time };
	struct cpu_switches *cpu;
	struct task_switch *last;
	void *switches;
	int error = 0;
	bool kept = !machine->growing || record->cpu == machine->switches_of;

	machine->no_cpu = machine->no_cpu || record->cpu == NTRACE_SIDEBAND_NO_CPU;
	cpu = get_cpu(machine, record->cpu, &error);
	if (!cpu)
		return error;
	last = cpu->count ? &cpu->switches[cpu->count - 1] : NULL;
	if (record->out)
		cpu->left = record->time;
	else
		note_incoming(cpu, record);
	if (!kept)
		return 0;
	if (record->out) {
		if (!wide)
			return 0; /* an OUT record without the incoming task, which the IN record
				   * names */
		made.previous_pid = record->pid;
		made.previous_tid = record->tid;
		made.next_pid = record->other_pid;
		made.next_tid = record->other_tid;
		made.left = record->time;
	} else {
		/* A loss between the two records counts as after them. */
		if (last && !last->came && last->next_tid == record->tid) {
			last->came = record->time ? record->time : 1;
			return 0;
		}
		made.previous_pid = wide ? record->other_pid : -1;
		made.previous_tid = wide ? record->other_tid : -1;
		made.next_pid = record->pid;
		made.next_tid = record->tid;
		made.came = record->time ? record->time : 1;
	}
	made.lost = cpu->lost;
	/*
	 * If the outgoing task is not the last incoming one, a switch without any record is
	 * missing.
	 */
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

/* If no record tells when the trace of a piece began, it may be so long before its task came. */
#define PIECE_NS 50000

static int take_start(struct machine *machine, const struct ntrace_sideband *record)
{
	int error = 0;
	struct cpu_switches *cpu = get_cpu(machine, record->cpu, &error);

	if (cpu)
		cpu->began = record->time;
	return error;
}

static int take_aux(struct machine *machine, const struct ntrace_sideband *record)
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
	struct cpu_switches *cpu;
	void *pieces = machine->pieces;
	int error = 0;

	if (record->code & PERF_AUX_FLAG_OVERWRITE)
		made.offset -= made.size;
	if (made.offset + made.size < made.offset)
		return 0;
	cpu = get_cpu(machine, record->cpu, &error);
	if (cpu) {
		if (cpu->left >= cpu->came && cpu->left > cpu->traced)
			made.left = cpu->left;
		made.start = cpu->came > cpu->traced ? cpu->came : cpu->traced;
		if (cpu->came > cpu->traced && cpu->came_pid == made.pid)
			made.came_tid = cpu->came_tid;
		if (cpu->began > cpu->traced) {
			made.earliest = cpu->began;
			made.came = cpu->came > cpu->began ? cpu->came : 0;
		} else {
			made.earliest = made.start > PIECE_NS ? made.start - PIECE_NS : 0;
		}
		cpu->traced = record->time;
	}
	if (!error)
		error = grow(&pieces, &machine->piece_room, machine->piece_count, sizeof(made));
	machine->pieces = pieces;
	if (!error)
		machine->pieces[machine->piece_count++] = made;
	return error;
}

static int take_lost(struct machine *machine, const struct ntrace_sideband *record)
{
	struct cpu_switches *cpu;
	int error = 0;

	machine->lost += record->count;
	cpu = get_cpu(machine, record->cpu, &error);
	if (cpu)
		cpu->lost += record->count;
	return error;
}

static int take_ksymbol(struct machine *machine, const struct ntrace_sideband *record)
{
	void *symbols = machine->symbols;
	int error;

	if (record->unregister || !record->name[0])
		return 0;
	error = grow(&symbols, &machine->symbol_room, machine->symbol_count,
		     sizeof(*machine->symbols));
	machine->symbols = symbols;
	if (!error)
		machine->symbols[machine->symbol_count++] =
			(struct kernel_symbol){ record->address, record->length, record->name };
	return error;
}

int machine_record(struct machine *machine, const struct ntrace_sideband *record)
{
	switch (record->type) {
	case NTRACE_SIDEBAND_MMAP:
	case NTRACE_SIDEBAND_MMAP2:
		return take_mapping(machine, record);
	case NTRACE_SIDEBAND_COMM:
		return take_name(machine, record);
	case NTRACE_SIDEBAND_FORK:
		return take_fork(machine, record);
	case NTRACE_SIDEBAND_SWITCH:
	case NTRACE_SIDEBAND_SWITCH_CPU_WIDE:
		return take_switch(machine, record);
	case NTRACE_SIDEBAND_ITRACE_START:
		return take_start(machine, record);
	case NTRACE_SIDEBAND_AUX:
		return take_aux(machine, record);
	case NTRACE_SIDEBAND_LOST:
		return take_lost(machine, record);
	case NTRACE_SIDEBAND_KSYMBOL:
		return take_ksymbol(machine, record);
	case NTRACE_SIDEBAND_TEXT_POKE:
		machine->text_pokes++;
		return 0;
	default: /* EXIT: a reused number begins with a FORK */
		return 0;
	}
}

static int take_record(void *data, const struct ntrace_sideband *record)
{
	return machine_record(data, record);
}

int machine_open(struct machine *machine, const char *path)
{
	int error;

	memset(machine, 0, sizeof(*machine));
	machine->directory = strdup(path);
	error = machine->directory ? ntrace_perf_file_open(&machine->file, path) : NTRACE_ERR_NOMEM;
	if (!error)
		error = ntrace_perf_file_sideband(machine->file, take_record, machine,
						  &machine->counts);
	if (error)
		machine_close(machine);
	return error;
}

void machine_free_task(struct task *task)
{
	while (task->first) {
		struct program *next = task->first->next;

		free(task->first->changes);
		free(task->first);
		task->first = next;
	}
	free(task->programs);
	free(task->names);
	free(task);
}

void machine_close(struct machine *machine)
{
	size_t i;

	for (i = 0; i < MACHINE_BUCKETS; i++) {
		while (machine->tasks[i]) {
			struct task *next = machine->tasks[i]->next;

			machine_free_task(machine->tasks[i]);
			machine->tasks[i] = next;
		}
		while (machine->files[i]) {
			struct mapped_file *next = machine->files[i]->next;

			ntrace_object_put(machine->files[i]->object);
			ntrace_object_put(machine->files[i]->outside);
			free(machine->files[i]->path);
			free(machine->files[i]);
			machine->files[i] = next;
		}
	}
	for (i = 0; i < MACHINE_BUCKETS; i++) {
		while (machine->kept[i]) {
			struct kept_name *next = machine->kept[i]->next;

			free(machine->kept[i]);
			machine->kept[i] = next;
		}
	}
	for (i = 0; i < machine->cpu_count; i++)
		free(machine->cpus[i].switches);
	free(machine->cpus);
	free(machine->symbols);
	free(machine->pieces);
	free(machine->births);
	ntrace_perf_file_close(machine->file);
	free(machine->directory);
	memset(machine, 0, sizeof(*machine));
}

struct program *machine_program(const struct machine *machine, int32_t pid, uint64_t time)
{
	const struct task *task = pid > 0 ? machine_task(machine, pid) : NULL;
	size_t low = 0;

	BISECT(low, task ? task->program_count : 0, middle, task->programs[middle]->start <= time);
	return low ? task->programs[low - 1] : NULL;
}

struct program *machine_program_at(const struct machine *machine, int32_t pid, uint64_t number)
{
	const struct task *task = pid > 0 ? machine_task(machine, pid) : NULL;

	return task && number < task->program_count ? task->programs[number] : NULL;
}

uint64_t machine_program_number(const struct machine *machine, const struct program *program)
{
	const struct task *task = machine_task(machine, program->pid);
	size_t low = 0;

	BISECT(low, task ? task->program_count : 0, middle,
	       task->programs[middle]->number < program->number);
	return low;
}

const char *machine_thread_name(const struct machine *machine, int32_t tid, uint64_t time)
{
	const struct task *task = machine_task(machine, tid);
	size_t low = 0;

	BISECT(low, task ? task->name_count : 0, middle, task->names[middle].time < time);
	return low ? task->names[low - 1].name : NULL;
}

const char *machine_last_name(const struct machine *machine, int32_t tid, uint64_t time)
{
	const struct task *task = machine_task(machine, tid);
	size_t low = 0, count = task ? task->name_count : 0;

	BISECT(low, count, middle, task->names[middle].time < time);
	while (low && low < count && !task->names[low].first)
		low++;
	return low ? task->names[low - 1].name : NULL;
}

void machine_tell(const struct machine *machine, const struct notes *notes, const char *name)
{
	if (machine->counts.truncated)
		notes_add(notes, "%s is truncated: later records are missing", name);
	if (machine->counts.damaged)
		notes_add(notes, "%s: skipped %" PRIu64 " damaged records", name,
			  machine->counts.damaged);
	if (machine->counts.compressed)
		notes_add(notes,
			  "%s: %" PRIu64 " compressed records are damaged or too large: their "
			  "contents are missing",
			  name, machine->counts.compressed);
	if (machine->lost)
		notes_add(notes,
			  "%" PRIu64 " sideband records were lost while recording: "
			  "tasks are unknown in places",
			  machine->lost);
	if (machine->no_cpu)
		notes_add(notes, "task switches have no CPU and are not used");
	if (machine->anonymous_code)
		notes_add(notes,
			  "some programs have executable memory without a file: code in it is not "
			  "decoded");
	if (machine->long_paths)
		notes_add(notes,
			  "some programs have a path that is too long for a record, of more than "
			  "4,096 bytes: their code is not decoded");
	if (machine->text_pokes)
		notes_add(notes,
			  "%" PRIu64 " changes of kernel text were recorded; the text "
			  "at the start is used",
			  machine->text_pokes);
}
