// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Trace of user space alone: no switch is visible, and any number of switches may precede each
 * return of the hart. The hart may then be in the next scheduling interval of any thread or in a
 * later one. The next interval of a thread represents all later ones: if it lacks an exec or a
 * mapping, the place moves to the first interval that has it. So the cost of a return depends on
 * the number of threads, not on the number of remaining switches.
 */
#include <stdlib.h>
#include <string.h>

#include "bisect.h"
#include "execs.h"
#include "follow_parts.h"

struct interval_of {
	int32_t pid, tid;
	size_t interval;
};

static int compare_intervals(const void *left, const void *right)
{
	const struct interval_of *a = left, *b = right;

	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	if (a->tid != b->tid)
		return a->tid < b->tid ? -1 : 1;
	return a->interval < b->interval ? -1 : a->interval > b->interval;
}

/*
 * Builds the list of threads with their scheduling intervals from all intervals, sorted by thread.
 */
static void list_threads(struct follower *follower, const struct interval_of *all, size_t count)
{
	struct thread_intervals *thread = NULL;
	size_t i;

	for (i = 0; i < count; i++) {
		if (!thread || all[i].pid != thread->pid || all[i].tid != thread->tid) {
			struct thread_intervals *before = thread;

			thread = &follower->threads[follower->thread_count++];
			thread->leader = before && before->pid == all[i].pid ? before->leader :
									       thread;
			thread->pid = all[i].pid;
			thread->tid = all[i].tid;
			thread->intervals = &follower->intervals[i];
		}
		follower->intervals[i] = all[i].interval;
		thread->count++;
	}
	follower->losses = follower->intervals + count;
	for (i = follower->first; i <= follower->last; i++)
		if (lost_before(follower, i))
			follower->losses[follower->loss_count++] = i;
}

int follow_threads_init(struct follower *follower)
{
	size_t count = follower->last - follower->first + 1, i;
	struct interval_of *all = calloc(count, sizeof(*all));

	follower->by_thread = true;
	follower->threads = calloc(count, sizeof(*follower->threads));
	follower->intervals = calloc(count, 2 * sizeof(*follower->intervals));
	if (!all || !follower->threads || !follower->intervals) {
		free(all);
		return NTRACE_ERR_NOMEM;
	}
	for (i = 0; i < count; i++) {
		const struct switch_place place = { .interval = follower->first + i };

		all[i].interval = place.interval;
		interval_task(follower, &place, &all[i].pid, &all[i].tid);
	}
	qsort(all, count, sizeof(*all), compare_intervals);
	list_threads(follower, all, count);
	free(all);
	return 0;
}

void follow_threads_free(struct follower *follower)
{
	for (size_t i = 0; i < follower->thread_count; i++)
		execs_free(follower->threads[i].execs);
	free(follower->threads);
	free(follower->intervals);
	follower->threads = NULL;
	follower->intervals = NULL;
}

/* The place of @thread in its next scheduling interval, including an exec already noticed there. */
static struct switch_place next_place(struct thread_intervals *thread)
{
	size_t interval = thread->intervals[thread->next];

	return (struct switch_place){
		.interval = interval,
		.thread = thread,
		.program = thread->entered && thread->entered_interval == interval ?
				   thread->entered :
				   NULL,
	};
}

int follow_threads_gap(struct follower *follower)
{
	size_t base = follower->last, i;
	int error = 0;

	/* Intervals before the first place are no longer possible. */
	for (i = 0; i < follower->count; i++)
		if (follower->places[i].interval < base)
			base = follower->places[i].interval;
	follower->count = 0;
	for (i = 0; i < follower->thread_count && !error; i++) {
		struct thread_intervals *thread = &follower->threads[i];

		while (thread->next < thread->count && thread->intervals[thread->next] < base)
			thread->next++;
		if (thread->next < thread->count)
			error = follower_add_place(follower, next_place(thread));
	}
	while (follower->next_loss < follower->loss_count &&
	       follower->losses[follower->next_loss] < base)
		follower->next_loss++;
	/* One unknown place represents all unknown ones. */
	if (!error && follower->next_loss < follower->loss_count) {
		size_t interval = follower->losses[follower->next_loss];

		error = follower_add_place(
			follower,
			(struct switch_place){ .interval = interval,
					       .missing = lost_before(follower, interval) });
	}
	follower->work += follower->thread_count;
	return error;
}

void follow_threads_owner(struct follower *follower, int32_t tid)
{
	size_t others = follower->count, i;
	int error = 0;

	for (i = 0; i < follower->thread_count && !error; i++) {
		struct thread_intervals *thread = &follower->threads[i];

		if (thread->tid == tid && thread->next < thread->count)
			error = follower_add_place(follower, next_place(thread));
	}
	follower->work += follower->thread_count;
	if (error)
		follower->spaces->error = error;
	if (follower->count == others)
		return;
	follower->count -= others;
	memmove(follower->places, follower->places + others,
		follower->count * sizeof(*follower->places));
	follower_update_task(follower);
}

/* The first scheduling interval of the place's thread, from the place on, that ends after @time. */
static bool interval_after(const struct follower *follower, const struct switch_place *place,
			   uint64_t time, struct switch_place *at)
{
	const struct thread_intervals *thread = place->thread;
	size_t low = thread->next;

	*at = *place;
	BISECT(low, thread->count, middle,
	       thread->intervals[middle] < place->interval ||
		       interval_end(follower,
				    &(struct switch_place){
					    .interval = thread->intervals[middle] }) <= time);
	if (low == thread->count)
		return false;
	at->interval = thread->intervals[low];
	return true;
}

/* Like interval_after(), for an interval in which @program runs or is started by exec. */
static bool program_runs_after(const struct follower *follower, const struct switch_place *place,
			       struct program *program, uint64_t time, struct switch_place *at)
{
	if (!interval_after(follower, place, time, at))
		return false;
	at->program = NULL;
	if (interval_program(follower, at, place->thread->pid) == program)
		return true;
	at->program = program;
	return program->start >= interval_start(follower, at);
}

/* What the programs of the place's process have as code. NULL: out of memory */
static const struct execs *get_execs(struct follower *follower, const struct switch_place *place,
				     const struct task *task)
{
	struct thread_intervals *leader = place->thread->leader;

	if (leader->execs && !execs_has_all(leader->execs, task)) {
		execs_free(leader->execs);
		leader->execs = NULL;
	}
	if (!leader->execs)
		leader->execs = execs_new(task);
	if (!leader->execs)
		follower->spaces->error = NTRACE_ERR_NOMEM;
	return leader->execs;
}

/* The next later program of the place's process that may have code at @address; NULL: none. */
static struct program *next_program(struct follower *follower, const struct switch_place *place,
				    const struct program *program, uint64_t address)
{
	const struct machine *machine = &follower->session->machine;
	const struct task *task = machine_task(machine, program->pid);
	const struct execs *execs;
	size_t number;

	follower->work++;
	if (!program->next || !task)
		return NULL;
	execs = get_execs(follower, place, task);
	if (!execs)
		return NULL;
	number = execs_find(execs, machine_program_number(machine, program) + 1, address);
	return number < task->program_count ? task->programs[number] : NULL;
}

/* Whether a later program of the place's process than @program may begin at @address. */
static bool may_start(struct follower *follower, const struct switch_place *place,
		      const struct program *program, uint64_t address)
{
	const struct task *task = machine_task(&follower->session->machine, program->pid);
	const struct execs *execs = program->next && task ? get_execs(follower, place, task) : NULL;
	const struct exec_file *files;
	size_t count;

	if (!execs)
		return false;
	files = execs_files(execs, &count);
	if (!files)
		return true;
	/* To examine a place takes longer. */
	follower->work += 1 + count / 16;
	for (size_t i = 0; i < count; i++)
		if (address >= files[i].first && address <= files[i].last &&
		    is_entry(follower, files[i].file, address - files[i].base))
			return true;
	return false;
}

static bool covers(const struct mapping_change *change, uint64_t address)
{
	return change->file && !change->inherited && address - change->address < change->length;
}

const struct mapping_change *follow_threads_mapping(struct follower *follower,
						    const struct switch_place *place,
						    uint64_t address, struct switch_place *at)
{
	struct program *first = interval_program(follower, place, place->thread->pid), *program;
	uint64_t end = interval_end(follower, place);

	for (program = first; program; program = next_program(follower, place, program, address)) {
		uint64_t known = program->start < end ? end : program->start;
		const struct mapping_change *mapping = program_mapping(program, address, known);
		size_t i;

		*at = *place;
		if (program != first)
			at->program = program;
		if (mapping && (program->start < end ||
				program_runs_after(follower, place, program, program->start, at)))
			return mapping;
		for (i = program_changes_before(program, known); i < program->count; i++) {
			mapping = &program->changes[i];
			follower->work++;
			if (covers(mapping, address) &&
			    program_runs_after(follower, place, program, mapping->time, at))
				return mapping;
		}
	}
	return NULL;
}

/*
 * Restricts @all to what a change leaves of it, which may come at any time. Return: false: it may be
 * other code at @address.
 */
static bool join_change(struct follower *follower, const struct switch_place *place,
			struct program *program, const struct mapping_change *change,
			uint64_t address, struct code_part *all)
{
	struct code_part one = { .mapping = change,
				 .first = change->address,
				 .last = change->address + (change->length - 1) };
	struct switch_place at;

	if (change->inherited)
		return true; /* see part_share() */
	if (address - change->address >= change->length) {
		part_cut(all, change, address);
		return true;
	}
	if (!change->file)
		return true;
	if (same_code(all->mapping, change))
		return join_part(all, &one);
	return change->time < interval_end(follower, place) ||
	       !program_runs_after(follower, place, program, change->time, &at);
}

bool follow_threads_part(struct follower *follower, const struct switch_place *place,
			 uint64_t address, struct code_part *all)
{
	struct program *program = interval_program(follower, place, place->thread->pid);
	const struct mapping_change *mapping;
	const struct program *base;
	struct code_part one;
	struct switch_place at;
	size_t i;

	if (program &&
	    program_part(program, address, interval_start(follower, place),
			 interval_end(follower, place), &one) &&
	    !follower_is_same(follower, &one))
		return false;
	mapping = follow_threads_mapping(follower, place, address, &at);
	if (!mapping)
		return true;
	one = (struct code_part){ .mapping = mapping,
				  .first = mapping->address,
				  .last = mapping->address + (mapping->length - 1) };
	part_share(at.program ? at.program : program, address, UINT64_MAX, &one);
	if (!follower_is_same(follower, &one) || !join_part(all, &one))
		return false;
	for (base = program ? program->base : NULL; base; base = base->base) {
		for (i = 0; i < base->count; i++)
			part_cut(all, &base->changes[i], address);
		follower->work += i;
	}
	for (; program; program = program->next) {
		for (i = 0; i < program->count; i++) {
			follower->work++;
			if (!join_change(follower, place, program, &program->changes[i], address,
					 all))
				return false;
		}
	}
	return true;
}

bool follow_threads_before_entry(const struct follower *follower, const struct switch_place *place,
				 const struct program *program)
{
	const struct thread_intervals *thread = place->thread;
	struct switch_place before = { .thread = place->thread };
	size_t number = 0;

	if (!thread || place->program || thread->entered == program)
		return false;
	BISECT(number, thread->count, middle, thread->intervals[middle] < place->interval);
	if (!number)
		return false;
	before.interval = thread->intervals[number - 1];
	return program->start >= interval_start(follower, &before);
}

bool follow_threads_start(struct follower *follower, const struct switch_place *place,
			  uint64_t address, struct switch_place *at)
{
	struct program *program = interval_program(follower, place, place->thread->pid);

	if (!program || !may_start(follower, place, program, address))
		return false;
	while ((program = next_program(follower, place, program, address))) {
		if (!starts_at(follower, program, address) ||
		    !program_runs_after(follower, place, program, program->start, at))
			continue;
		/* A program begins only once. */
		at->certain = true;
		return true;
	}
	return false;
}
