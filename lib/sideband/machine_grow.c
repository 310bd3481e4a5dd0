// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * A machine whose records come while its trace is decoded: it keeps what the decoding may still need,
 * so that its size does not depend on the length of the recording.
 */
#include <stdlib.h>
#include <string.h>

#include "machine.h"

/* As many tasks must have ended before it pays to look through all of them. */
#define ENDED_MIN 64

int machine_grow(struct machine *machine, uint32_t cpu)
{
	size_t i;

	machine->growing = true;
	machine->switches_of = cpu;
	for (i = 0; i < machine->cpu_count; i++)
		if (i != cpu)
			machine->cpus[i].count = 0;
	/* The list must not move while the trace of this CPU is followed. */
	if (cpu < MACHINE_CPUS_MAX && cpu >= machine->cpu_count) {
		struct cpu_switches *cpus = realloc(machine->cpus, (cpu + 1) * sizeof(*cpus));

		if (!cpus)
			return NTRACE_ERR_NOMEM;
		memset(cpus + machine->cpu_count, 0,
		       (cpu + 1 - machine->cpu_count) * sizeof(*cpus));
		machine->cpus = cpus;
		machine->cpu_count = cpu + 1;
	}
	return 0;
}

/* Names are few: those of programs and of threads, again and again. NULL: out of memory. */
static const char *keep_name(struct machine *machine, const char *name)
{
	struct kept_name **bucket, *kept;
	uint32_t hash = 2166136261u; /* FNV-1a */
	size_t size = strlen(name) + 1, i;

	for (i = 0; i + 1 < size; i++)
		hash = (hash ^ (uint8_t)name[i]) * 16777619u;
	bucket = &machine->kept[hash % MACHINE_BUCKETS];
	for (kept = *bucket; kept; kept = kept->next)
		if (!strcmp(kept->text, name))
			return kept->text;
	kept = malloc(sizeof(*kept) + size);
	if (!kept)
		return NULL;
	memcpy(kept->text, name, size);
	kept->next = *bucket;
	*bucket = kept;
	return kept->text;
}

/* A number that is used again must not inherit. */
static void begin_task(struct machine *machine, const struct ntrace_sideband *record)
{
	struct task *task = machine_task(machine, record->tid);

	if (!task || !task->ended)
		return;
	task->ended = 0;
	task->threads = 0;
	machine->ended--;
}

/* A leader can end before other threads of its process. */
static void end_task(struct machine *machine, const struct ntrace_sideband *record)
{
	struct task *task = machine_task(machine, record->pid);

	if (task && !task->ended && --task->threads < 0) {
		task->ended = record->time;
		machine->ended++;
	}
	task = record->pid == record->tid ? NULL : machine_task(machine, record->tid);
	if (task && !task->ended) {
		task->ended = record->time;
		machine->ended++;
	}
}

int machine_take(struct machine *machine, const struct ntrace_sideband *record)
{
	struct ntrace_sideband kept = *record;

	switch (record->type) {
	case NTRACE_SIDEBAND_COMM:
		kept.name = keep_name(machine, record->name);
		if (!kept.name)
			return NTRACE_ERR_NOMEM;
		break;
	case NTRACE_SIDEBAND_FORK:
		begin_task(machine, record);
		break;
	case NTRACE_SIDEBAND_EXIT:
		end_task(machine, record);
		return 0;
	case NTRACE_SIDEBAND_KSYMBOL:
		/* The code of the kernel was read before. */
		return 0;
	default:
		break;
	}
	return machine_record(machine, &kept);
}

static bool is_needed(const struct task *task,
		      bool (*uses)(void *data, const struct program *program), void *data)
{
	const struct program *program;

	for (program = task->first; program; program = program->next)
		if (program->children || uses(data, program))
			return true;
	return false;
}

static void forget_task(struct task *task, void (*dropped)(void *data, struct program *program),
			void *data)
{
	struct program *program;

	for (program = task->first; program; program = program->next) {
		if (program->base)
			program->base->children--;
		dropped(data, program);
	}
	machine_free_task(task);
}

void machine_forget(struct machine *machine, uint64_t time,
		    bool (*uses)(void *data, const struct program *program),
		    void (*dropped)(void *data, struct program *program), void *data)
{
	size_t bucket;

	/* With lost records it is not known which tasks have ended. */
	if (machine->ended < ENDED_MIN || machine->lost)
		return;
	for (bucket = 0; bucket < MACHINE_BUCKETS; bucket++) {
		struct task **link = &machine->tasks[bucket];

		while (*link) {
			struct task *task = *link;

			if (!task->ended || task->ended >= time || is_needed(task, uses, data)) {
				link = &task->next;
				continue;
			}
			*link = task->next;
			machine->ended--;
			forget_task(task, dropped, data);
		}
	}
}
