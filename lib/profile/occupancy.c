// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Amount of execution by thread, CPU and time. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ntrace/functions.h>

#include "occupancy.h"
#include "session/stamps.h"
#include "state.h"

/* Maximum number of thread changes between two timestamps; later ones share the last slot. */
#define PARTS_MAX 4096

/* Continuous execution of one thread, in user space or in the kernel. */
struct part {
	struct ntrace_occupancy_cpu *cpu;
	uint32_t task;
	bool kernel;
	uint64_t instructions;
};

/* At most half of them are in use. */
#define TASK_SLOTS (2 * NTRACE_OCCUPANCY_TASKS_MAX)

/*
 * What waits for the next timestamp of a stream.
 * @parts: execution that waits for the next timestamp of the stream
 * @waiting: instructions in @parts
 * @stamps: the timestamps
 * @seen: last timestamp of a message that was no loss, or else the first one, if @has_seen; @last: that of any
 *        message. In ticks: where the records are missing, no other time is known
 * @in_gap: no message without a loss has come since
 */
struct occupancy_stream {
	struct part *parts;
	size_t part_count;
	uint64_t waiting;
	struct stamps stamps;
	uint64_t seen;
	uint64_t last;
	bool has_seen;
	bool in_gap;
};

/*
 * @streams: by index; @at: that of the present event, with the index @number; UINT_MAX: none
 * @slots: hash table of the threads: their numbers; 0: free
 */
struct occupancy {
	struct ntrace_occupancy sums;
	uint32_t slots[TASK_SLOTS];
	const struct ntrace_session *session;
	bool begun;
	struct occupancy_stream *streams;
	unsigned int stream_count;
	unsigned int number;
	struct occupancy_stream *at;
};

struct occupancy *occupancy_new(const struct ntrace_session *session)
{
	struct occupancy *occupancy = calloc(1, sizeof(*occupancy));

	if (!occupancy)
		return NULL;
	occupancy->session = session;
	occupancy->number = UINT_MAX;
	occupancy->sums.task_count = 1;
	occupancy->sums.tasks = calloc(NTRACE_OCCUPANCY_TASKS_MAX, sizeof(*occupancy->sums.tasks));
	if (!occupancy->sums.tasks) {
		occupancy_free(occupancy);
		return NULL;
	}
	occupancy->sums.tasks[0] = (struct ntrace_occupancy_task){ -1, -1, "[others]" };
	return occupancy;
}

void occupancy_free(struct occupancy *occupancy)
{
	size_t i;

	if (!occupancy)
		return;
	for (i = 0; i < occupancy->sums.cpu_count; i++) {
		free(occupancy->sums.cpus[i]->tasks);
		free(occupancy->sums.cpus[i]);
	}
	free(occupancy->sums.cpus);
	free(occupancy->sums.tasks);
	for (i = 0; i < occupancy->stream_count; i++)
		free(occupancy->streams[i].parts);
	free(occupancy->streams);
	free(occupancy);
}

/* Cells measure time only if all streams have the same unit: nanoseconds of one clock, or ticks. */
static void choose_unit(struct occupancy *occupancy)
{
	struct ntrace_occupancy *sums = &occupancy->sums;
	const struct ntrace_stream *stream;
	unsigned int i;

	occupancy->begun = true;
	sums->timed = true;
	for (i = 0; i < ntrace_session_streams(occupancy->session); i++) {
		stream = ntrace_session_stream(occupancy->session, i);
		if (!i && stream->params->timestamp_hz)
			sums->hz = 1000000000;
		if (!stream->params->timestamp_bits || !stream->params->timestamp_hz != !sums->hz)
			sums->timed = false;
	}
}

static int change_stream(struct occupancy *occupancy, unsigned int number)
{
	if (!occupancy->begun)
		choose_unit(occupancy);
	if (number >= occupancy->stream_count) {
		struct occupancy_stream *streams =
			realloc(occupancy->streams, (number + (size_t)1) * sizeof(*streams));

		if (!streams)
			return NTRACE_ERR_NOMEM;
		occupancy->streams = streams;
		while (occupancy->stream_count <= number)
			streams[occupancy->stream_count++] =
				(struct occupancy_stream){ .stamps.offset = UINT64_MAX };
	}
	occupancy->at = &occupancy->streams[number];
	if (!occupancy->at->parts)
		occupancy->at->parts = calloc(PARTS_MAX, sizeof(*occupancy->at->parts));
	occupancy->number = occupancy->at->parts ? number : UINT_MAX;
	return occupancy->at->parts ? 0 : NTRACE_ERR_NOMEM;
}

/* The next events are those of stream @number. Return: 0 or NTRACE_ERR_NOMEM. */
static inline int enter_stream(struct occupancy *occupancy, unsigned int number)
{
	return occupancy->number == number ? 0 : change_stream(occupancy, number);
}

static struct ntrace_occupancy_cpu *new_cpu(uint32_t number)
{
	struct ntrace_occupancy_cpu *cpu = calloc(1, sizeof(*cpu));

	if (!cpu)
		return NULL;
	cpu->tasks = calloc(NTRACE_OCCUPANCY_TASKS_MAX, sizeof(*cpu->tasks));
	if (!cpu->tasks) {
		free(cpu);
		return NULL;
	}
	cpu->number = number;
	cpu->width = 1;
	return cpu;
}

static struct ntrace_occupancy_cpu *cpu_of(struct ntrace_occupancy *sums, uint32_t number)
{
	struct ntrace_occupancy_cpu **cpus, *cpu;
	size_t i;

	for (i = 0; i < sums->cpu_count && sums->cpus[i]->number <= number; i++) {
		if (sums->cpus[i]->number == number)
			return sums->cpus[i];
	}
	cpus = realloc(sums->cpus, (sums->cpu_count + 1) * sizeof(*cpus));
	if (!cpus)
		return NULL;
	sums->cpus = cpus;
	cpu = new_cpu(number);
	if (!cpu)
		return NULL;
	memmove(&cpus[i + 1], &cpus[i], (sums->cpu_count - i) * sizeof(*cpus));
	cpus[i] = cpu;
	sums->cpu_count++;
	return cpu;
}

static bool is_task(const struct ntrace_occupancy_task *task,
		    const struct ntrace_session_event *event)
{
	return task->tid == event->tid && task->pid == event->pid &&
	       !strncmp(task->comm, event->comm, sizeof(task->comm) - 1);
}

/* The first slot to look at for a thread. Its name is no part of the hash: few threads change it. */
static size_t slot_of(int32_t pid, int32_t tid)
{
	return ((uint64_t)(uint32_t)tid << 32 | (uint32_t)pid) * UINT64_C(0x9e3779b97f4a7c15) >>
		       32 &
	       (TASK_SLOTS - 1);
}

/* Number of the thread; usually the previous thread of the CPU. */
static uint32_t task_of(struct occupancy *occupancy, const struct ntrace_occupancy_cpu *cpu,
			const struct ntrace_session_event *event)
{
	struct ntrace_occupancy *sums = &occupancy->sums;
	size_t slot = slot_of(event->pid, event->tid);
	struct ntrace_occupancy_task *task;

	if (is_task(&sums->tasks[cpu->task], event))
		return cpu->task;
	for (; occupancy->slots[slot]; slot = (slot + 1) & (TASK_SLOTS - 1)) {
		if (is_task(&sums->tasks[occupancy->slots[slot]], event))
			return occupancy->slots[slot];
	}
	if (sums->task_count == NTRACE_OCCUPANCY_TASKS_MAX)
		return 0;
	task = &sums->tasks[sums->task_count];
	task->pid = event->pid;
	task->tid = event->tid;
	snprintf(task->comm, sizeof(task->comm), "%s", event->comm);
	occupancy->slots[slot] = sums->task_count;
	return sums->task_count++;
}

static void add_sum(struct ntrace_occupancy_sum *sum, const struct ntrace_occupancy_sum *more)
{
	sum->instructions += more->instructions;
	sum->kernel += more->kernel;
	sum->ticks += more->ticks;
}

static bool is_used(const struct ntrace_occupancy_slot *slot)
{
	return slot->sum.instructions || slot->sum.ticks;
}

static void add_slot(struct ntrace_occupancy_cell *cell, uint32_t task,
		     const struct ntrace_occupancy_sum *sum)
{
	struct ntrace_occupancy_slot *slot = cell->slots, *end = slot + NTRACE_OCCUPANCY_SLOTS;

	while (slot < end && is_used(slot) && slot->task != task)
		slot++;
	/* The last slot collects all other threads. */
	if (slot >= end - 1 && !(slot < end && slot->task == task)) {
		slot = end - 1;
		slot->task = 0;
	} else {
		slot->task = task;
	}
	add_sum(&slot->sum, sum);
}

/* Doubles the cell width: merges pairs of cells. */
static void widen(struct ntrace_occupancy_cpu *cpu)
{
	struct ntrace_occupancy_cell cell;
	size_t i, k;

	for (i = 0; i < NTRACE_OCCUPANCY_CELLS; i += 2) {
		cell = cpu->cells[i];
		for (k = 0; k < NTRACE_OCCUPANCY_SLOTS; k++) {
			const struct ntrace_occupancy_slot *slot = &cpu->cells[i + 1].slots[k];

			if (is_used(slot))
				add_slot(&cell, slot->task, &slot->sum);
		}
		cpu->cells[i / 2] = cell;
	}
	memset(&cpu->cells[NTRACE_OCCUPANCY_CELLS / 2], 0, sizeof(cpu->cells) / 2);
	cpu->width *= 2;
	cpu->used = (cpu->used + 1) / 2;
}

/* The share @part of @of of @whole. */
static uint64_t share(uint64_t whole, uint64_t part, uint64_t of)
{
	return of ? (uint64_t)((unsigned __int128)whole * part / of) : 0;
}

/* If a CPU has several streams, a later stream may cover an earlier time. */
static void reach_back(struct ntrace_occupancy_cpu *cpu, uint64_t from)
{
	uint64_t distance = cpu->begin - from, cells;

	while ((cells = (distance - 1) / cpu->width + 1) + cpu->used > NTRACE_OCCUPANCY_CELLS)
		widen(cpu);
	memmove(&cpu->cells[cells], cpu->cells, cpu->used * sizeof(cpu->cells[0]));
	memset(cpu->cells, 0, cells * sizeof(cpu->cells[0]));
	/* Before time 0 there are no cells: then those that exist move by less than their width. */
	cpu->begin = cells > cpu->begin / cpu->width ? 0 : cpu->begin - cells * cpu->width;
	cpu->used += cells;
}

/*
 * Distributes @sum over the cells from @from to @to, in ticks or instructions. Timestamps have any
 * value of 64 bits, and the end of a cell may be beyond: only distances are compared.
 */
static void distribute(struct ntrace_occupancy_cpu *cpu, uint64_t from, uint64_t to, uint32_t task,
		       const struct ntrace_occupancy_sum *sum)
{
	struct ntrace_occupancy_sum done = { 0 }, part;
	uint64_t length = to - from, passed = 0, first, left;
	size_t index;

	if (from < cpu->begin)
		reach_back(cpu, from);
	while ((to - cpu->begin) / cpu->width >= NTRACE_OCCUPANCY_CELLS)
		widen(cpu);
	first = from - cpu->begin;
	do {
		index = (size_t)((first + passed) / cpu->width);
		left = cpu->width - (first + passed) % cpu->width;
		passed += left < length - passed ? left : length - passed;
		part = *sum;
		if (length) {
			part.instructions = share(sum->instructions, passed, length);
			part.kernel = share(sum->kernel, passed, length);
			part.ticks = share(sum->ticks, passed, length);
		}
		add_slot(&cpu->cells[index], task,
			 &(struct ntrace_occupancy_sum){ part.instructions - done.instructions,
							 part.kernel - done.kernel,
							 part.ticks - done.ticks });
		done = part;
		if (cpu->used < index + 1)
			cpu->used = index + 1;
	} while (passed < length);
}

/* What waits has no time. */
static void give_up_parts(struct occupancy_stream *stream)
{
	for (size_t i = 0; i < stream->part_count; i++)
		stream->parts[i].cpu->untimed += stream->parts[i].instructions;
	stream->part_count = 0;
	stream->waiting = 0;
}

/* What waits happened from the last timestamp to @until, unless the clock was set back. */
static int release_parts(void *data, uint64_t until)
{
	struct occupancy *occupancy = data;
	struct occupancy_stream *at = occupancy->at;
	const uint64_t from = at->stamps.anchor, length = until - from;
	uint64_t position = 0, begin, end;
	struct ntrace_occupancy_sum sum;

	if (!at->stamps.anchored || until < from) {
		give_up_parts(at);
		return 0;
	}
	for (size_t i = 0; i < at->part_count; i++) {
		const struct part *part = &at->parts[i];
		struct ntrace_occupancy_cpu *cpu = part->cpu;

		begin = from + share(length, position, at->waiting);
		position += part->instructions;
		end = from + share(length, position, at->waiting);
		sum = (struct ntrace_occupancy_sum){ part->instructions,
						     part->kernel ? part->instructions : 0,
						     end - begin };
		if (!cpu->used)
			cpu->begin = begin;
		cpu->sum.ticks += sum.ticks;
		cpu->tasks[part->task].ticks += sum.ticks;
		distribute(cpu, begin, end, part->task, &sum);
	}
	at->part_count = 0;
	at->waiting = 0;
	return 0;
}

static void end_gap(struct occupancy *occupancy, unsigned int number)
{
	struct occupancy_stream *stream = &occupancy->streams[number];
	uint64_t hz = ntrace_session_stream(occupancy->session, number)->params->timestamp_hz;
	unsigned __int128 time = stream->last > stream->seen ? stream->last - stream->seen : 0;
	struct ntrace_occupancy *sums = &occupancy->sums;

	if (!stream->in_gap)
		return;
	stream->in_gap = false;
	if (sums->hz)
		time = (time * sums->hz + hz - 1) / hz;
	time = time < UINT64_MAX - sums->gap_time ? time : UINT64_MAX - sums->gap_time;
	sums->gap_time += (uint64_t)time;
	if (time > sums->gap_longest)
		sums->gap_longest = (uint64_t)time;
}

/*
 * The time of a loss is that of its begin or of its end (N-Trace 1.0, "timestamps"): it tells neither. A message
 * without a timestamp of its own does not tell either when the loss was over.
 */
static void note_gap(struct occupancy *occupancy, const struct ntrace_flow_event *flow)
{
	struct occupancy_stream *at = occupancy->at;
	bool loss = flow->type == NTRACE_FLOW_GAP || flow->type == NTRACE_FLOW_ERROR;
	bool over = !loss && !(at->in_gap && flow->time == at->last);

	at->in_gap |= flow->type == NTRACE_FLOW_GAP;
	if (!flow->time_known)
		return;
	at->last = flow->time;
	if (over)
		end_gap(occupancy, occupancy->number);
	if (over || !at->has_seen)
		at->seen = flow->time;
	at->has_seen = true;
}

static void add_part(struct occupancy *occupancy, struct ntrace_occupancy_cpu *cpu, bool kernel,
		     uint64_t instructions)
{
	struct part *last =
		&occupancy->at->parts[occupancy->at->part_count ? occupancy->at->part_count - 1 : 0];

	occupancy->at->waiting += instructions;
	if (occupancy->at->part_count &&
	    ((last->cpu == cpu && last->task == cpu->task && last->kernel == kernel) ||
	     occupancy->at->part_count == PARTS_MAX)) {
		last->instructions += instructions;
		return;
	}
	occupancy->at->parts[occupancy->at->part_count++] = (struct part){
		.cpu = cpu, .task = cpu->task, .kernel = kernel, .instructions = instructions
	};
}

int occupancy_event(struct occupancy *occupancy, const struct ntrace_session_event *event)
{
	const struct ntrace_flow_event *flow = event->flow;
	bool kernel = ntrace_domain_of(event->privilege) == NTRACE_DOMAIN_KERNEL;
	struct ntrace_occupancy_cpu *cpu;
	struct ntrace_occupancy_sum sum = { flow->instructions, kernel ? flow->instructions : 0,
					    0 };

	if (enter_stream(occupancy, event->stream))
		return NTRACE_ERR_NOMEM;
	if (occupancy->sums.timed) {
		stamps_next(&occupancy->at->stamps, flow->offset, event, release_parts, occupancy);
		note_gap(occupancy, flow);
	}
	occupancy->at->stamps.off |= flow->type == NTRACE_FLOW_TRACE_OFF;
	if (event->time_unit == NTRACE_TIME_NANOSECONDS &&
	    event->time_error > occupancy->sums.time_error)
		occupancy->sums.time_error = event->time_error;
	if (flow->type != NTRACE_FLOW_BLOCK)
		return 0;
	cpu = cpu_of(&occupancy->sums, event->cpu);
	if (!cpu)
		return NTRACE_ERR_NOMEM;
	cpu->task = task_of(occupancy, cpu, event);
	if (occupancy->sums.timed)
		add_part(occupancy, cpu, kernel, flow->instructions);
	else if (flow->instructions)
		distribute(cpu, cpu->sum.instructions, cpu->sum.instructions + flow->instructions,
			   cpu->task, &sum);
	add_sum(&cpu->sum, &sum);
	add_sum(&cpu->tasks[cpu->task], &sum);
	return 0;
}

/* @of: offset and time of the instructions */
static int add_instructions(struct occupancy *occupancy, const struct ntrace_session_event *at,
			    struct ntrace_flow_event of, uint64_t instructions)
{
	struct ntrace_session_event event = *at;

	of.type = NTRACE_FLOW_BLOCK;
	of.instructions = (uint32_t)instructions;
	event.flow = &of;
	return occupancy_event(occupancy, &event);
}

/* Adds the sum of several parts, unless it needs wider cells: then their order matters. *@added: it was added */
static int add_sum_at(struct occupancy *occupancy, const struct ntrace_session_event *at,
		      struct ntrace_flow_event of, uint64_t instructions, bool *added)
{
	const struct ntrace_occupancy_cpu *cpu;

	if (enter_stream(occupancy, at->stream))
		return NTRACE_ERR_NOMEM;
	cpu = cpu_of(&occupancy->sums, at->cpu);
	if (!cpu)
		return NTRACE_ERR_NOMEM;
	*added = instructions <= UINT32_MAX &&
		 (occupancy->sums.timed ||
		  (cpu->sum.instructions + instructions - cpu->begin) / cpu->width <
			  NTRACE_OCCUPANCY_CELLS);
	return *added ? add_instructions(occupancy, at, of, instructions) : 0;
}

static int add_blocks(struct occupancy *occupancy, const struct ntrace_segment *blocks)
{
	const struct ntrace_block_batch *batch = blocks->batch;
	const struct ntrace_flow_event of = { .offset = batch->offset,
					      .time = batch->time,
					      .time_known = batch->time_known };
	uint64_t instructions = 0;
	bool added;
	int error;

	for (size_t i = 0; i < batch->count; i++)
		instructions += batch->blocks[i].instructions;
	error = add_sum_at(occupancy, &blocks->at, of, instructions, &added);
	for (size_t i = 0; i < batch->count && !error && !added; i++)
		error = add_instructions(occupancy, &blocks->at, of, batch->blocks[i].instructions);
	return error;
}

int occupancy_segment(struct occupancy *occupancy, const struct ntrace_segment *segment)
{
	const struct ntrace_flow_run *run = segment->run;
	struct ntrace_segment blocks;
	struct ntrace_block_batch batch;
	bool added;
	int error;

	if (segment->type == NTRACE_SEGMENT_BLOCKS)
		return add_blocks(occupancy, segment);
	error = add_sum_at(occupancy, &segment->at,
			   (struct ntrace_flow_event){ .offset = run->offset,
						       .time = run->time,
						       .time_known = run->time_known },
			   run->instructions, &added);
	for (size_t i = 0; i < run->count && !error && !added; i++) {
		ntrace_segment_step(segment, i, &batch, &blocks);
		if (batch.count)
			error = add_blocks(occupancy, &blocks);
	}
	return error;
}

/* Totals of all CPUs so far. */
static void add_cpus(struct ntrace_occupancy *sums)
{
	size_t i;

	sums->sum = (struct ntrace_occupancy_sum){ 0 };
	sums->untimed = 0;
	for (i = 0; i < sums->cpu_count; i++) {
		add_sum(&sums->sum, &sums->cpus[i]->sum);
		sums->untimed += sums->cpus[i]->untimed;
	}
}

static int compare_tasks(const void *left, const void *right)
{
	const struct ntrace_occupancy_task *a = left, *b = right;

	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	if (a->tid != b->tid)
		return a->tid < b->tid ? -1 : 1;
	return strcmp(a->comm, b->comm);
}

/* The number of a thread that exists, or 0; the threads are sorted. */
static uint32_t number_of(const struct ntrace_occupancy *sums,
			  const struct ntrace_occupancy_task *task)
{
	const struct ntrace_occupancy_task *found =
		bsearch(task, sums->tasks + 1, sums->task_count - 1, sizeof(*task), compare_tasks);

	return found ? (uint32_t)(found - sums->tasks) : 0;
}

static void fill_slots(struct occupancy *occupancy)
{
	memset(occupancy->slots, 0, sizeof(occupancy->slots));
	for (uint32_t i = 1; i < occupancy->sums.task_count; i++) {
		const struct ntrace_occupancy_task *task = &occupancy->sums.tasks[i];
		size_t slot = slot_of(task->pid, task->tid);

		while (occupancy->slots[slot])
			slot = (slot + 1) & (TASK_SLOTS - 1);
		occupancy->slots[slot] = i;
	}
}

/* Gives thread @i the number @numbers[i] on @cpu. */
static void renumber(struct ntrace_occupancy_cpu *cpu, const uint32_t *numbers, uint32_t count,
		     struct ntrace_occupancy_sum *room)
{
	for (uint32_t i = 0; i < count; i++)
		room[numbers[i]] = cpu->tasks[i];
	memcpy(cpu->tasks, room, count * sizeof(*room));
	cpu->task = numbers[cpu->task];
	for (size_t i = 0; i < cpu->used; i++)
		for (unsigned int k = 0; k < NTRACE_OCCUPANCY_SLOTS; k++)
			cpu->cells[i].slots[k].task = numbers[cpu->cells[i].slots[k].task];
}

/* Threads in an order that does not depend on when they came. Return: 0 or NTRACE_ERR_NOMEM. */
static int sort_tasks(struct occupancy *occupancy)
{
	struct ntrace_occupancy *sums = &occupancy->sums;
	const uint32_t count = sums->task_count;
	struct ntrace_occupancy_task *old = malloc(count * sizeof(*old));
	struct ntrace_occupancy_sum *room = malloc(count * sizeof(*room));
	uint32_t *numbers = calloc(count, sizeof(*numbers));
	int error = old && room && numbers ? 0 : NTRACE_ERR_NOMEM;

	if (!error) {
		memcpy(old, sums->tasks, count * sizeof(*old));
		qsort(sums->tasks + 1, count - 1, sizeof(*old), compare_tasks);
		for (uint32_t i = 1; i < count; i++)
			numbers[i] = number_of(sums, &old[i]);
		for (size_t i = 0; i < sums->cpu_count; i++)
			renumber(sums->cpus[i], numbers, count, room);
		fill_slots(occupancy);
	}
	free(old);
	free(room);
	free(numbers);
	return error;
}

int occupancy_end(struct occupancy *occupancy)
{
	for (unsigned int i = 0; i < occupancy->stream_count; i++) {
		struct occupancy_stream *stream = &occupancy->streams[i];
		occupancy->at = stream;
		if (!stream->parts)
			continue;
		end_gap(occupancy, i);
		stamps_end(&stream->stamps, release_parts, occupancy);
		occupancy->sums.stamps += stream->stamps.count;
		give_up_parts(stream);
		free(stream->parts);
		*stream = (struct occupancy_stream){ .stamps.offset = UINT64_MAX };
	}
	occupancy->number = UINT_MAX;
	add_cpus(&occupancy->sums);
	return sort_tasks(occupancy);
}

const struct ntrace_occupancy *ntrace_profile_occupancy(const struct ntrace_profile *profile)
{
	return profile->occupancy ? &profile->occupancy->sums : NULL;
}
