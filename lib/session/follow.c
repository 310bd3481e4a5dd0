// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Follows the tasks of one hart; see follow.h. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "follow_parts.h"

/*
 * Maximum number of places examined in one stream, which takes seconds, not hours. If each return
 * to user space examines all threads, each byte adds this many more.
 */
#define WORK_MAX 100000000
#define WORK_BYTE 64

static size_t switches_until(const struct cpu_switches *cpu, uint64_t time)
{
	size_t low = 0, high = cpu->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (cpu->switches[middle].time <= time)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

int follower_add_place(struct follower *follower, struct switch_place place)
{
	if (follower->count == follower->room) {
		size_t room = follower->room ? 2 * follower->room : 16;
		struct switch_place *places = realloc(follower->places, room * sizeof(*places));

		if (!places)
			return NTRACE_ERR_NOMEM;
		follower->places = places;
		follower->room = room;
	}
	follower->places[follower->count++] = place;
	return 0;
}

static int add_place(struct follower *follower, size_t interval, uint64_t missing)
{
	return follower_add_place(follower, (struct switch_place){ .interval = interval,
								   .missing = missing });
}

uint64_t lost_before(const struct follower *follower, size_t interval)
{
	return interval < follower->cpu->count ? follower->cpu->switches[interval].lost : 0;
}

/* Adds a scheduling interval, and those that are missing before its end. */
static int add_interval(struct follower *follower, size_t interval)
{
	uint64_t lost = lost_before(follower, interval);
	int error = lost ? add_place(follower, interval, lost) : 0;

	return error ? error : add_place(follower, interval, 0);
}

/* By scheduling interval; missing ones first, among these the greatest number first. */
static int compare_places(const void *left, const void *right)
{
	const struct switch_place *a = left, *b = right;

	if (a->interval != b->interval)
		return a->interval < b->interval ? -1 : 1;
	return a->missing > b->missing ? -1 : a->missing < b->missing;
}

/* Keeps at most one certain and one missing place for each scheduling interval. */
static void tidy(struct follower *follower)
{
	size_t kept = 0, i;

	if (follower->count < 2 || !follower->places)
		return;
	qsort(follower->places, follower->count, sizeof(*follower->places), compare_places);
	for (i = 0; i < follower->count; i++) {
		const struct switch_place *place = &follower->places[i];
		const struct switch_place *last = kept ? &follower->places[kept - 1] : NULL;

		if (last && last->interval == place->interval && !last->missing == !place->missing)
			continue;
		follower->places[kept++] = *place;
	}
	follower->count = kept;
}

void interval_task(const struct follower *follower, const struct switch_place *place, int32_t *pid,
		   int32_t *tid)
{
	const struct cpu_switches *cpu = follower->cpu;
	const struct task_switch *ends =
		place->interval < cpu->count ? &cpu->switches[place->interval] : NULL;

	*pid = -1;
	*tid = -1;
	if (place->missing || !cpu->switches)
		return;
	/* The lost switches may lie before the start or after it. */
	if (place->interval && !(place->interval == follower->first && ends && ends->lost)) {
		*pid = cpu->switches[place->interval - 1].next_pid;
		*tid = cpu->switches[place->interval - 1].next_tid;
	} else if (ends) {
		*pid = ends->previous_pid;
		*tid = ends->previous_tid;
	}
}

uint64_t interval_start(const struct follower *follower, const struct switch_place *place)
{
	if (place->interval == follower->first)
		return follower->start_ns;
	return follower->cpu->switches[place->interval - 1].time;
}

uint64_t interval_end(const struct follower *follower, const struct switch_place *place)
{
	return place->interval < follower->cpu->count ?
		       follower->cpu->switches[place->interval].time :
		       UINT64_MAX;
}

/* The CPU of the current task. */
static unsigned int present_cpu(const struct follower *follower)
{
	return follower->piece ? follower->piece->cpu :
				 follower->session->streams[follower->stream].cpu;
}

void follower_name(struct follower *follower)
{
	/* For an unknown thread, use the name of its process. */
	int32_t id = follower->tid >= 0 ? follower->tid : follower->pid;
	const char *name = machine_thread_name(&follower->session->machine, id, follower->limit);

	if (follower->pid == 0)
		snprintf(follower->text, sizeof(follower->text), "swapper/%u",
			 present_cpu(follower));
	else if (follower->pid < 0)
		snprintf(follower->text, sizeof(follower->text), "unknown");
	else
		snprintf(follower->text, sizeof(follower->text), ":%" PRId32, id);
	follower->comm = follower->pid > 0 && name ? name : follower->text;
}

struct program *interval_program(const struct follower *follower, const struct switch_place *place,
				 int32_t pid)
{
	if (place->program)
		return place->program;
	if (follower->entered && follower->entered_interval == place->interval &&
	    follower->entered->pid == pid)
		return follower->entered;
	return machine_program(&follower->session->machine, pid, interval_start(follower, place));
}

/* Applies mappings and names up to the end of the scheduling interval, or up to an exec in it. */
static void set_limit(struct follower *follower, uint64_t end)
{
	const struct program *program = follower->program;

	follower->next_program = program ? program->next : NULL;
	if (follower->next_program && follower->next_program->start >= end)
		follower->next_program = NULL;
	/* The change of name by exec has the time of the program's start. */
	follower->limit = follower->next_program ? follower->next_program->start : end;
	follower_name(follower);
}

static bool take_pending(struct follower *follower, int32_t tid)
{
	unsigned int i;

	for (i = 0; i < PENDING_EXECS; i++) {
		if (tid > 0 && follower->pending[i] == tid) {
			follower->pending[i] = 0;
			return true;
		}
	}
	return false;
}

static void enter_next_program(struct follower *follower)
{
	follower->program = follower->next_program;
	if (!follower->by_piece) {
		follower->entered = follower->program;
		follower->entered_interval = follower->lead.interval;
	}
	/* A thread that calls exec becomes the leader of its process. */
	if (follower->tid > 0)
		follower->tid = follower->pid;
	set_limit(follower,
		  follower->piece ? follower->piece->end : interval_end(follower, &follower->lead));
}

/* The earliest place with a known task. */
static const struct switch_place *first_known(const struct follower *follower)
{
	const struct switch_place *first = NULL;
	size_t i;

	for (i = 0; i < follower->count; i++)
		if (!follower->places[i].missing &&
		    (!first || follower->places[i].interval < first->interval))
			first = &follower->places[i];
	return first;
}

/*
 * Sets the current task from the places, as far as they agree. If they disagree, the first known
 * place provides the address space, so that the flow can continue.
 */
static void settle(struct follower *follower)
{
	const struct switch_place *lead = first_known(follower);
	int32_t pid, tid;
	size_t i;

	follower->pid = -1;
	follower->tid = -1;
	follower->program = NULL;
	follower->next_program = NULL;
	follower->limit = 0;
	if (!lead) {
		follower_name(follower);
		return;
	}
	follower->lead = *lead;
	interval_task(follower, &follower->lead, &follower->pid, &follower->tid);
	follower->program = interval_program(follower, &follower->lead, follower->pid);
	for (i = 0; i < follower->count && follower->pid >= 0; i++) {
		interval_task(follower, &follower->places[i], &pid, &tid);
		if (pid != follower->pid)
			follower->pid = -1;
		if (tid != follower->tid)
			follower->tid = -1;
	}
	follower->work += i;
	if (follower->pid < 0)
		follower->tid = -1;
	set_limit(follower, interval_end(follower, &follower->lead));
	if (follower->next_program && follower->count == 1 && take_pending(follower, follower->tid))
		enter_next_program(follower);
	/* The exec is certain now. */
	if (follower->count == 1 && follower->lead.program) {
		follower->lead.thread->entered = follower->lead.program;
		follower->lead.thread->entered_interval = follower->lead.interval;
	}
}

static void give_up(struct follower *follower, const char *why)
{
	follower->given_up = true;
	follower->count = 0;
	session_note(follower->session, "CPU %u: %s; tasks are unknown after that",
		     follower->session->streams[follower->stream].cpu, why);
	settle(follower);
}

static int compare_pieces(const void *left, const void *right)
{
	const struct piece *a = left, *b = right;

	if (a->offset != b->offset)
		return a->offset < b->offset ? -1 : 1;
	return a->end < b->end ? -1 : a->end > b->end;
}

/*
 * A recorder has one AUX area per CPU, shared by the events of several tasks, or one per task,
 * which follows that task from CPU to CPU.
 */
static bool is_of(const struct piece *piece, const struct ntrace_stream *info)
{
	if (info->cpu == NTRACE_STREAM_NO_CPU ? piece->event != info->event :
						piece->cpu != info->cpu)
		return false;
	return piece->offset + piece->size > info->position;
}

/* Lists the pieces of the stream's AUX area that overlap its file. */
static int init_pieces(struct follower *follower, const struct ntrace_stream *info)
{
	const struct ntrace_session *session = follower->session;
	const struct machine *machine = &session->machine;
	size_t i;

	follower->by_piece = true;
	follower->given_up = true; /* switches are not counted */
	follower->pid = -1;
	follower->tid = -1;
	follower_name(follower);
	follower->pieces = calloc(machine->piece_count + 1, sizeof(*follower->pieces));
	if (!follower->pieces)
		return NTRACE_ERR_NOMEM;
	for (i = 0; i < machine->piece_count && !session->import.pieces; i++) {
		if (is_of(&machine->pieces[i], info))
			follower->pieces[follower->piece_count++] = machine->pieces[i];
	}
	if (session->import.pieces) {
		follower->piece_count = session->import.pieces[follower->stream].count;
		memcpy(follower->pieces, session->import.pieces[follower->stream].items,
		       follower->piece_count * sizeof(*follower->pieces));
	}
	qsort(follower->pieces, follower->piece_count, sizeof(*follower->pieces), compare_pieces);
	if (!follower->piece_count && info->bytes)
		session_note(session, "%s: no record names the traced task",
			     session->single ? session->directory : info->file);
	return 0;
}

/* Sets the task of the current piece; no piece means no task. */
static void settle_piece(struct follower *follower)
{
	const struct piece *piece = follower->piece;
	uint64_t start;

	follower->pid = piece ? piece->pid : -1;
	follower->tid = piece ? piece->tid : -1;
	follower->program = NULL;
	if (piece) {
		start = piece->start > follower->start_ns ? piece->start : follower->start_ns;
		follower->program = machine_program(&follower->session->machine, piece->pid, start);
	}
	set_limit(follower, piece ? piece->end : 0);
	if (follower->next_program && take_pending(follower, follower->tid))
		enter_next_program(follower);
}

bool follower_stays(const struct follower *follower, uint64_t offset)
{
	const struct piece *piece = follower->piece;
	uint64_t at = follower->session->streams[follower->stream].position + offset;

	return piece && at - piece->offset < piece->size;
}

void follower_offset(struct follower *follower, uint64_t offset)
{
	const struct piece *piece = NULL, *next;
	uint64_t at = follower->session->streams[follower->stream].position + offset;

	if (follower_stays(follower, offset))
		return;
	while (follower->next_piece < follower->piece_count) {
		next = &follower->pieces[follower->next_piece];
		if (at < next->offset)
			break;
		if (at - next->offset < next->size)
			piece = next;
		if (piece)
			break;
		follower->next_piece++;
	}
	if (piece == follower->piece && !piece)
		return;
	follower->piece = piece;
	settle_piece(follower);
}

int follower_init(struct follower *follower, struct ntrace_session *session, unsigned int stream,
		  bool user)
{
	static const struct cpu_switches nothing;
	const struct ntrace_stream *info = &session->streams[stream];
	int error;

	memset(follower, 0, sizeof(*follower));
	follower->session = session;
	follower->stream = stream;
	follower->start_ns = info->start_ns;
	follower->work_max = WORK_MAX + (user ? WORK_BYTE * info->bytes : 0);
	follower->cpu = info->cpu < session->machine.cpu_count ? &session->machine.cpus[info->cpu] :
								 &nothing;
	follower->first = switches_until(follower->cpu, info->start_ns);
	follower->last = info->stop_ns ? switches_until(follower->cpu, info->stop_ns) :
					 follower->cpu->count;
	if (follower->last < follower->first)
		follower->last = follower->first;
	if (info->event)
		return init_pieces(follower, info);
	if (!follower->cpu->count) {
		give_up(follower, "no task switches were recorded");
		return 0;
	}
	error = add_interval(follower, follower->first);
	if (!error && user)
		error = follow_threads_init(follower);
	if (error)
		follower_free(follower);
	else
		settle(follower);
	return error;
}

void follower_free(struct follower *follower)
{
	free(follower->places);
	free(follower->pieces);
	follow_threads_free(follower);
	follower->places = NULL;
	follower->pieces = NULL;
}

int follower_switch(struct follower *follower)
{
	struct switch_place *old = follower->places;
	size_t count = follower->count, i;
	int error = 0;

	if (follower->given_up)
		return 0;
	follower->places = NULL;
	follower->count = 0;
	follower->room = 0;
	for (i = 0; i < count && !error; i++) {
		const struct switch_place *place = &old[i];
		uint64_t lost = place->missing ? place->missing - 1 :
						 lost_before(follower, place->interval);

		/* The switch leads to a missing scheduling interval or to the next known one. */
		if (lost)
			error = add_place(follower, place->interval, lost);
		if (!error && place->interval < follower->last)
			error = add_place(follower, place->interval + 1, 0);
	}
	tidy(follower);
	free(old);
	follower->work += count;
	if (error)
		return error;
	if (!follower->count)
		give_up(follower, "more task switches in the trace than in the records");
	else if (follower->work > follower->work_max)
		give_up(follower, "too much trace is lost or filtered out to follow tasks");
	else
		settle(follower);
	return 0;
}

void follower_exec(struct follower *follower)
{
	if (follower->next_program) {
		enter_next_program(follower);
	} else if ((follower->count == 1 || follower->by_piece) && follower->tid > 0) {
		/* The task sleeps during exec: the record comes in a later scheduling interval. */
		follower->pending[follower->pending_next++ % PENDING_EXECS] = follower->tid;
	}
}

/* Adds places for all scheduling intervals up to @switches after a current place. */
static int spread(struct follower *follower, uint64_t switches)
{
	struct switch_place *old = follower->places;
	size_t count = follower->count, interval = 0, i;
	int error = 0;

	follower->places = NULL;
	follower->count = 0;
	follower->room = 0;
	/* Places are sorted; each one covers the next @switches intervals. */
	for (i = 0; i < count && !error; i++) {
		uint64_t last = old[i].interval + switches;

		if (last < switches || last > follower->last)
			last = follower->last;
		if (interval < old[i].interval)
			interval = old[i].interval;
		if (old[i].missing)
			error = add_place(follower, old[i].interval, old[i].missing);
		for (; interval <= last && !error; interval++)
			error = add_interval(follower, interval);
	}
	free(old);
	tidy(follower);
	follower->work += follower->count;
	return error;
}

int follower_gap(struct follower *follower, uint64_t switches)
{
	int error;

	if (follower->given_up || !switches)
		return 0;
	error = follower->by_thread ? follow_threads_gap(follower) : spread(follower, switches);
	if (error)
		return error;
	if (follower->work > follower->work_max)
		give_up(follower, "too much trace is lost or filtered out to follow tasks");
	else
		settle(follower);
	return 0;
}

void follower_owner(struct follower *follower, int32_t tid)
{
	size_t kept = 0, i;
	int32_t pid, own;

	if (follower->count < 2 || follower->work > follower->work_max)
		return;
	follower->work += follower->count;
	for (i = 0; i < follower->count; i++) {
		interval_task(follower, &follower->places[i], &pid, &own);
		kept += own == tid;
	}
	/* No record names that thread: keep the other information. */
	if (!kept || kept == follower->count)
		return;
	for (kept = 0, i = 0; i < follower->count; i++) {
		const struct switch_place place = follower->places[i];

		interval_task(follower, &place, &pid, &own);
		if (own == tid)
			follower->places[kept++] = place;
	}
	follower->count = kept;
	settle(follower);
}

bool same_code(const struct mapping_change *a, const struct mapping_change *b)
{
	return a->file == b->file && a->address - a->offset == b->address - b->offset;
}

/* Whether even the scheduling interval of a place is uncertain. */
static bool stands_for_more(const struct switch_place *place)
{
	return place->thread && !place->certain;
}

/* The mapping at @address of the task at @place. @at: @place, or a later place that it includes. */
static const struct mapping_change *place_mapping(struct follower *follower,
						  const struct switch_place *place,
						  uint64_t address, struct switch_place *at)
{
	const struct mapping_change *mapping = NULL;
	uint64_t end = interval_end(follower, place);
	const struct program *program;
	int32_t pid, tid;

	*at = *place;
	if (stands_for_more(place))
		return follow_threads_mapping(follower, place, address, at);
	interval_task(follower, place, &pid, &tid);
	program = interval_program(follower, place, pid);
	/* With an exec in the scheduling interval, either program is possible. */
	for (; program && program->start < end && !mapping; program = program->next)
		mapping = program_mapping(program, address, end);
	return mapping;
}

/*
 * Finds the programs with code at @address. *program: one of them if all have the same code there,
 * else NULL. *pid: the process if there is only one, else -1.
 */
static void find_owner(struct follower *follower, uint64_t address, struct program **program,
		       int32_t *pid)
{
	const struct machine *machine = &follower->session->machine;
	const struct mapping_change *first = NULL, *mapping;
	struct program *candidate;
	const struct task *task;
	size_t bucket;

	*program = NULL;
	*pid = -1;
	for (bucket = 0; bucket < MACHINE_BUCKETS; bucket++) {
		for (task = machine->tasks[bucket]; task; task = task->next) {
			for (candidate = task->first; candidate; candidate = candidate->next) {
				follower->work++;
				mapping = program_mapping(candidate, address, UINT64_MAX);
				if (!mapping)
					continue;
				*pid = !first || *pid == task->id ? task->id : -1;
				*program = !first || (*program && same_code(first, mapping)) ?
						   candidate :
						   NULL;
				if (!first)
					first = mapping;
			}
		}
	}
}

/* Keeps the places whose task has code at @address; keeps all if there are none. */
static void narrow(struct follower *follower, uint64_t address)
{
	size_t kept = 0, real = 0, missing = 0, i;
	struct program *owner;
	struct switch_place at;
	int32_t pid = -1;

	for (i = 0; i < follower->count; i++) {
		missing += follower->places[i].missing != 0;
		real += !follower->places[i].missing &&
			place_mapping(follower, &follower->places[i], address, &at);
	}
	follower->work += follower->count;
	if (!real || (real == follower->count && !follower->by_thread))
		return;
	if (missing)
		find_owner(follower, address, &owner, &pid);
	for (i = 0; i < follower->count; i++) {
		const struct switch_place place = follower->places[i];

		at = place;
		/* A missing scheduling interval may belong to another process with code there. */
		if (place.missing ? pid < 0 : place_mapping(follower, &place, address, &at) != NULL)
			follower->places[kept++] = at;
	}
	follower->count = kept;
	settle(follower);
}

/* Whether all remaining places have the same code at @address. */
static bool places_agree(struct follower *follower, uint64_t address)
{
	const struct mapping_change *first = NULL;
	struct switch_place at;
	size_t i;

	for (i = 0; i < follower->count; i++) {
		const struct mapping_change *mapping =
			place_mapping(follower, &follower->places[i], address, &at);

		if (mapping && first && !same_code(first, mapping))
			return false;
		if (mapping && stands_for_more(&at) &&
		    !follow_threads_agree(follower, &at, mapping, address))
			return false;
		if (mapping && !first)
			first = mapping;
	}
	return first;
}

/*
 * Several places are possible. Code that differs between them is not decoded: a wrong function is
 * worse than none.
 */
static void guess(struct follower *follower, uint64_t address)
{
	struct program *owner;
	int32_t pid;
	bool missing = false;
	size_t i;

	narrow(follower, address);
	for (i = 0; i < follower->count; i++)
		missing = missing || follower->places[i].missing;
	if (!missing && places_agree(follower, address))
		return;
	/* An interval without any record: use the owner of the code, if it is unique. */
	if (missing || !follower->program) {
		find_owner(follower, address, &owner, &pid);
		follower->program = owner;
		follower->next_program = NULL;
		follower->limit = UINT64_MAX;
		follower->pid = pid;
		follower->tid = -1;
		follower_name(follower);
	} else {
		follower->program = NULL;
	}
}

bool starts_at(struct follower *follower, const struct program *program, uint64_t address)
{
	const struct mapping_change *mapping = program_mapping(program, address, UINT64_MAX);
	struct ntrace_object *object = mapping ? session_object(follower->session, mapping->file) :
						 NULL;
	uint64_t entry, offset;

	return object && !ntrace_object_entry(object, &entry, &offset) &&
	       address - mapping->address + mapping->offset == offset;
}

/* The program started by exec in a scheduling interval, if its entry is @address. */
static struct program *exec_at(struct follower *follower, const struct switch_place *place,
			       uint64_t address)
{
	struct program *program;
	int32_t pid, tid;

	interval_task(follower, place, &pid, &tid);
	program = interval_program(follower, place, pid);
	program = program ? program->next : NULL;
	return program && program->start < interval_end(follower, place) &&
			       starts_at(follower, program, address) ?
		       program :
		       NULL;
}

/* Keeps the places where a program begins at @address; keeps all if there are none. */
static void keep_starts(struct follower *follower, uint64_t address)
{
	struct switch_place at;
	size_t kept = 0, i;

	for (i = 0; i < follower->count; i++) {
		const struct switch_place place = follower->places[i];

		if (place.thread && follow_threads_start(follower, &place, address, &at))
			follower->places[kept++] = at;
	}
	if (!kept)
		return;
	follower->count = kept;
	settle(follower);
}

/* Keeps the places where @program runs. */
static void keep_program(struct follower *follower, const struct program *program)
{
	size_t kept = 0, i;
	int32_t pid, tid;

	for (i = 0; i < follower->count; i++) {
		const struct switch_place place = follower->places[i];

		interval_task(follower, &place, &pid, &tid);
		if (interval_program(follower, &place, pid) == program)
			follower->places[kept++] = place;
	}
	follower->count = kept;
	settle(follower);
}

/*
 * The kernel may not be traced, and the old program may have code at the entry of the new one:
 * programs linked for the same address, or no randomization. But control reaches the entry of a
 * program only once. The same address as before is a return from a page fault.
 */
static void notice_start(struct follower *follower, uint64_t address)
{
	struct program *program = NULL;
	size_t i;

	if (address == follower->last_user)
		return;
	follower->last_user = address;
	if (follower->by_piece) {
		if (follower->next_program && starts_at(follower, follower->next_program, address))
			enter_next_program(follower);
		return;
	}
	if (follower->work > follower->work_max)
		return;
	if (follower->by_thread) {
		keep_starts(follower, address);
		return;
	}
	for (i = 0; i < follower->count && !program; i++)
		program = exec_at(follower, &follower->places[i], address);
	follower->work += i;
	if (!program)
		return;
	follower->entered = program;
	follower->entered_interval = follower->places[i - 1].interval;
	keep_program(follower, program);
}

struct ntrace_space *follower_user(struct follower *follower, uint64_t address)
{
	notice_start(follower, address);
	if ((follower->count > 1 || (follower->count && (follower->places[0].missing ||
							 stands_for_more(follower->places)))) &&
	    follower->work <= follower->work_max)
		guess(follower, address);
	if (!follower->program)
		return NULL;
	/* begin_new_exec was not seen, but only the new program has code here. */
	if (follower->next_program &&
	    !program_mapping(follower->program, address, follower->limit) &&
	    program_mapping(follower->next_program, address, UINT64_MAX))
		enter_next_program(follower);
	return session_space(follower->session, follower->program, follower->limit);
}
