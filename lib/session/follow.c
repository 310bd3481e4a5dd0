// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Follows the tasks of one hart; see follow.h. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bisect.h"
#include "grow.h"
#include "follow_parts.h"

/*
 * Maximum number of places examined in one stream, which takes seconds, not hours. If each return
 * to user space examines all threads, each byte adds this many more.
 */
#define WORK_MAX 100000000
#define WORK_BYTE 64

static size_t switches_until(const struct cpu_switches *cpu, uint64_t time)
{
	size_t low = 0;

	BISECT(low, cpu->count, middle, cpu->switches[middle].time <= time);
	return low;
}

int follower_add_place(struct follower *follower, struct switch_place place)
{
	if (grow((void **)&follower->places, follower->count, &follower->room,
		 sizeof(*follower->places)))
		return NTRACE_ERR_NOMEM;
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
static void merge_places(struct follower *follower)
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
	const struct machine *machine = &follower->session->machine;
	/* For an unknown thread, use the name of its process. */
	int32_t id = follower->tid >= 0 ? follower->tid : follower->pid;
	/* Without the switches it is unknown whether it already has its later names. */
	const char *name = follower->unseen ? machine_last_name(machine, id, follower->limit) :
					      machine_thread_name(machine, id, follower->limit);

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

/* The thread at a place in an interval of thread @tid: exec gives it the number of its process. */
static int32_t thread_at_place(const struct follower *follower, const struct switch_place *place,
			       int32_t pid, int32_t tid)
{
	const struct program *program;

	if (tid <= 0 || tid == pid || !place->interval)
		return tid;
	program = interval_program(follower, place, pid);
	return program && program->start > follower->cpu->switches[place->interval - 1].time ? pid :
											       tid;
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

static bool remove_pending(struct follower *follower, int32_t tid)
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

void follower_enter_next(struct follower *follower)
{
	follower->program = follower->next_program;
	if (!follower->by_piece) {
		follower->entered = follower->program;
		follower->entered_interval = follower->first_place.interval;
	}
	/* A thread that calls exec becomes the leader of its process. */
	if (follower->tid > 0)
		follower->tid = follower->pid;
	set_limit(follower, follower->piece ? follower->piece->end :
					      interval_end(follower, &follower->first_place));
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

void follower_update_task(struct follower *follower)
{
	const struct switch_place *first_place = first_known(follower);
	int32_t pid, tid;
	size_t i;

	follower->known_count = 0;
	follower->pid = -1;
	follower->tid = -1;
	follower->program = NULL;
	follower->next_program = NULL;
	follower->limit = 0;
	/* The work that is limited is that of one loss: a recording that grows may have any number. */
	if (follower->growing && follower->count == 1)
		follower->work = 0;
	if (!first_place) {
		follower_name(follower);
		return;
	}
	follower->first_place = *first_place;
	interval_task(follower, &follower->first_place, &follower->pid, &follower->tid);
	follower->program = interval_program(follower, &follower->first_place, follower->pid);
	follower->tid =
		thread_at_place(follower, &follower->first_place, follower->pid, follower->tid);
	for (i = 0; i < follower->count && follower->pid >= 0; i++) {
		interval_task(follower, &follower->places[i], &pid, &tid);
		if (pid != follower->pid)
			follower->pid = -1;
		tid = thread_at_place(follower, &follower->places[i], pid, tid);
		if (tid != follower->tid)
			follower->tid = -1;
	}
	follower->work += i;
	if (follower->pid < 0)
		follower->tid = -1;
	set_limit(follower, interval_end(follower, &follower->first_place));
	if (follower->next_program && follower->count == 1 &&
	    remove_pending(follower, follower->tid))
		follower_enter_next(follower);
	/* The exec is certain now. */
	if (follower->count == 1 && follower->first_place.program && follower->first_place.thread) {
		follower->first_place.thread->entered = follower->first_place.program;
		follower->first_place.thread->entered_interval = follower->first_place.interval;
	} else if (follower->count == 1 && follower->first_place.program) {
		follower->entered = follower->first_place.program;
		follower->entered_interval = follower->first_place.interval;
	}
}

void follower_give_up(struct follower *follower, const char *why)
{
	follower->given_up = true;
	follower->count = 0;
	/* A raw trace never has tasks. */
	if (!follower->session->raw)
		session_note(follower->session, "CPU %u: %s; tasks are unknown after that",
			     follower->session->streams[follower->stream].cpu, why);
	follower_update_task(follower);
}

int compare_pieces(const void *left, const void *right)
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
bool follower_has_piece(const struct piece *piece, const struct ntrace_stream *info)
{
	if (info->cpu == NTRACE_STREAM_NO_CPU ? piece->event != info->event :
						piece->cpu != info->cpu)
		return false;
	return piece->offset + piece->size > info->position;
}

/* Lists the pieces of the stream's AUX area that overlap its file. */
static int init_pieces(struct follower *follower, const struct ntrace_stream *info)
{
	struct ntrace_session *session = follower->session;
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
	for (i = 0; i < machine->piece_count && !session->import.pieces && !follower->growing;
	     i++) {
		if (follower_has_piece(&machine->pieces[i], info))
			follower->pieces[follower->piece_count++] = machine->pieces[i];
	}
	if (session->import.pieces) {
		follower->piece_count = session->import.pieces[follower->stream].count;
		memcpy(follower->pieces, session->import.pieces[follower->stream].items,
		       follower->piece_count * sizeof(*follower->pieces));
	}
	qsort(follower->pieces, follower->piece_count, sizeof(*follower->pieces), compare_pieces);
	follower->piece_room = machine->piece_count + 1;
	if (!follower->piece_count && info->bytes && !follower->growing)
		session_note(session, "%s: no record names the traced task",
			     session->single ? session->directory : info->file);
	return 0;
}

int32_t piece_thread(const struct piece *piece)
{
	return piece->came_tid && piece->tid == piece->pid ? piece->came_tid : piece->tid;
}

/* Sets the task of the current piece; no piece means no task. */
static void set_piece_task(struct follower *follower)
{
	const struct piece *piece = follower->piece;
	uint64_t start;

	follower->known_count = 0;
	follower->piece_unsure = false;
	follower->pid = piece ? piece->pid : -1;
	follower->tid = piece ? piece_thread(piece) : -1;
	follower->program = NULL;
	if (piece) {
		start = piece->start > follower->start_ns ? piece->start : follower->start_ns;
		follower->program = machine_program(&follower->session->machine, piece->pid, start);
	}
	set_limit(follower, piece ? piece->end : 0);
	if (follower->next_program && remove_pending(follower, follower->tid))
		follower_enter_next(follower);
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
	set_piece_task(follower);
}

int follower_init(struct follower *follower, struct spaces *spaces, unsigned int stream, bool user)
{
	static const struct cpu_switches nothing;
	struct ntrace_session *session = spaces->session;
	const struct ntrace_stream *info = &session->streams[stream];
	int error;

	memset(follower, 0, sizeof(*follower));
	follower->session = session;
	follower->spaces = spaces;
	follower->stream = stream;
	follower->growing = session->machine.growing;
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
	if (!follower->cpu->count && !follower->growing) {
		follower_give_up(follower, "no task switches were recorded");
		return 0;
	}
	follower->unseen = user || !session->switch_address;
	error = add_interval(follower, follower->first);
	if (!error && user)
		error = follow_threads_init(follower);
	if (error)
		follower_free(follower);
	else
		follower_update_task(follower);
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
	merge_places(follower);
	free(old);
	follower->work += count;
	if (error)
		return error;
	if (!follower->count)
		follower_give_up(follower, "more task switches in the trace than in the records");
	else if (follower->work > follower->work_max)
		follower_give_up(follower,
				 "too much trace is lost or filtered out to follow tasks");
	else
		follower_update_task(follower);
	return 0;
}

/* The place of the hart, if it is certain; else NULL. */
static const struct switch_place *certain_place(const struct follower *follower)
{
	const struct switch_place *place = follower->places;

	return follower->count == 1 && !place->missing && (!place->thread || place->certain) ?
		       place :
		       NULL;
}

void follower_window(const struct follower *follower, uint64_t *first, uint64_t *end)
{
	const struct switch_place *place = certain_place(follower);
	const struct cpu_switches *cpu = follower->cpu;

	*first = 0;
	*end = UINT64_MAX;
	if (follower->piece) {
		*first = follower->piece->earliest;
		*end = follower->piece->end;
	} else if (place) {
		if (place->interval)
			*first = cpu->switches[place->interval - 1].left;
		if (place->interval < cpu->count && cpu->switches[place->interval].came)
			*end = cpu->switches[place->interval].came;
	}
}

uint64_t follower_turn_end(const struct follower *follower)
{
	uint64_t first, end;

	if (follower->piece && follower->piece->left)
		return follower->piece->left;
	follower_window(follower, &first, &end);
	return end == UINT64_MAX ? 0 : end;
}

bool follower_has_times(const struct follower *follower)
{
	for (size_t i = 0; i < follower->cpu->count; i++)
		if (follower->cpu->switches[i].left && follower->cpu->switches[i].came)
			return true;
	return follower->growing || follower->by_piece;
}

bool follower_switched(const struct follower *follower, uint64_t *left, uint64_t *came)
{
	const struct switch_place *place = certain_place(follower);
	const struct task_switch *last;

	if (!place || !place->interval)
		return false;
	last = &follower->cpu->switches[place->interval - 1];
	*left = last->left;
	*came = last->came;
	return *left && *came;
}

bool follower_turn(const struct follower *follower, size_t *index)
{
	const struct switch_place *place = follower->places;
	int32_t pid, tid;

	if (follower->by_piece) {
		*index = 2 * follower->next_piece;
		*index += follower->piece && follower->tid != piece_thread(follower->piece);
		return follower->piece;
	}
	*index = SIZE_MAX;
	for (size_t i = 0; i < follower->count; i++)
		if (2 * (place[i].interval - follower->first) < *index)
			*index = 2 * (place[i].interval - follower->first);
	place = certain_place(follower);
	if (!place)
		return false;
	interval_task(follower, place, &pid, &tid);
	*index += follower->tid != tid;
	return true;
}

void follower_exec(struct follower *follower)
{
	size_t i;

	/* Of several places, it may be in any. */
	for (i = 0; follower->count > 1 && i < follower->count; i++)
		follower->places[i].unsure = true;
	follower->known_count = 0;
	if (follower->next_program) {
		follower_enter_next(follower);
	} else if ((follower->count == 1 || follower->by_piece) && follower->tid > 0) {
		/* The task sleeps during exec: the record comes in a later scheduling interval. */
		follower->pending[follower->pending_next++ % PENDING_EXECS] = follower->tid;
	}
}

/* Adds places for all scheduling intervals up to @switches after a current place. */
static int add_missed_places(struct follower *follower, uint64_t switches)
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
	merge_places(follower);
	for (i = 0; i < follower->count; i++)
		follower->places[i].unsure = true;
	follower->work += follower->count;
	return error;
}

int follower_gap(struct follower *follower, uint64_t switches)
{
	int error;

	if (switches && follower->by_piece)
		follower->piece_unsure = true;
	if (follower->given_up || !switches)
		return 0;
	error = follower->by_thread ? follow_threads_gap(follower) :
				      add_missed_places(follower, switches);
	if (error)
		return error;
	if (follower->work > follower->work_max)
		follower_give_up(follower,
				 "too much trace is lost or filtered out to follow tasks");
	else
		follower_update_task(follower);
	return 0;
}

void follower_keep(struct follower *follower,
		   bool (*is_possible)(const struct follower *follower,
				       const struct switch_place *place, const void *data),
		   const void *data)
{
	size_t kept = 0, i;

	for (i = 0; i < follower->count; i++)
		kept += is_possible(follower, &follower->places[i], data);
	if (!kept || kept == follower->count)
		return;
	for (kept = 0, i = 0; i < follower->count; i++) {
		const struct switch_place place = follower->places[i];

		if (is_possible(follower, &place, data))
			follower->places[kept++] = place;
	}
	follower->count = kept;
	follower_update_task(follower);
}

static bool is_of_thread(const struct follower *follower, const struct switch_place *place,
			 const void *data)
{
	const int32_t *wanted = data;
	int32_t pid, tid;

	interval_task(follower, place, &pid, &tid);
	return tid == *wanted;
}

void follower_owner(struct follower *follower, int32_t tid)
{
	size_t i;

	if (!follower->count || follower->work > follower->work_max)
		return;
	follower->work += follower->count;
	for (i = 0; i < follower->count && !is_of_thread(follower, &follower->places[i], &tid); i++)
		;
	/* If Ownership contradicts the code at the address, Ownership is right, unless no record names its thread. */
	if (i == follower->count && follower->by_thread)
		follow_threads_owner(follower, tid);
	else
		follower_keep(follower, is_of_thread, &tid);
}
