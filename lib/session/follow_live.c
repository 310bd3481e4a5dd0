// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * A follower of a recording that still grows: records come while the trace is followed, and go when the
 * hart has passed them.
 */
#include <stdlib.h>
#include <string.h>

#include "follow_parts.h"
#include "grow.h"

/* Moving the rest of a list pays when as many of its items are over. */
#define OVER_MIN 1024

/* By position, like those of a finished recording. */
static int add_piece(struct follower *follower, const struct piece *piece)
{
	size_t at = follower->piece_count, present = 0;

	if (follower->piece)
		present = (size_t)(follower->piece - follower->pieces);
	if (grow((void **)&follower->pieces, follower->piece_count, &follower->piece_room,
		 sizeof(*piece)))
		return NTRACE_ERR_NOMEM;
	if (follower->piece)
		follower->piece = follower->pieces + present;
	while (at > follower->next_piece + (follower->piece != NULL) &&
	       compare_pieces(&follower->pieces[at - 1], piece) > 0) {
		follower->pieces[at] = follower->pieces[at - 1];
		at--;
	}
	follower->pieces[at] = *piece;
	follower->piece_count++;
	return 0;
}

static int add_pieces(struct follower *follower)
{
	struct machine *machine = &follower->session->machine;
	const struct ntrace_stream *info = &follower->session->streams[follower->stream];
	int error = 0;
	size_t i;

	follower->start_ns = info->start_ns;
	for (i = 0; i < machine->piece_count && !error; i++)
		if (follower_has_piece(&machine->pieces[i], info))
			error = add_piece(follower, &machine->pieces[i]);
	machine->piece_count = 0;
	return error;
}

int follower_grow(struct follower *follower)
{
	const struct machine *machine = &follower->session->machine;
	unsigned int cpu = follower->session->streams[follower->stream].cpu;

	/* Mappings may have moved. */
	follower->known_count = 0;
	if (follower->by_piece)
		return add_pieces(follower);
	if (cpu < machine->cpu_count) {
		follower->cpu = &machine->cpus[cpu];
		follower->last = follower->cpu->count;
	}
	/* The interval was open: it may have an end now, an exec, or more names and mappings. */
	if (!follower->given_up && follower->limit == UINT64_MAX &&
	    !follower_misses_records(follower))
		follower_update_task(follower);
	return 0;
}

bool follower_is_open(const struct follower *follower)
{
	size_t i;

	for (i = 0; i < follower->count; i++)
		if (follower->places[i].interval >= follower->cpu->count)
			return true;
	return false;
}

static bool is_between(const struct follower *follower, const struct switch_place *place,
		       const void *data)
{
	const uint64_t *times = data;

	return place->missing || (interval_start(follower, place) <= times[1] &&
				  interval_end(follower, place) >= times[0]);
}

void follower_between(struct follower *follower, uint64_t since, uint64_t until)
{
	const uint64_t times[] = { since, until };

	if (follower->count > 1 && !follower->by_piece)
		follower_keep(follower, is_between, times);
}

/* ---- forgetting ---- */

static size_t less(size_t number, size_t by)
{
	return number >= by ? number - by : SIZE_MAX;
}

/* The switch before an interval names its task. */
static void forget_switches(struct follower *follower)
{
	unsigned int cpu = follower->session->streams[follower->stream].cpu;
	struct cpu_switches *list = &follower->session->machine.cpus[cpu];
	size_t over = list->count, i;

	for (i = 0; i < follower->count; i++)
		if (follower->places[i].interval < over)
			over = follower->places[i].interval;
	if (over <= OVER_MIN)
		return;
	over--;
	list->count -= over;
	memmove(list->switches, list->switches + over, list->count * sizeof(*list->switches));
	for (i = 0; i < follower->count; i++)
		follower->places[i].interval -= over;
	follower->first_place.interval =
		follower->first_place.interval >= over ? follower->first_place.interval - over : 0;
	follower->entered_interval = less(follower->entered_interval, over);
	follower->first = less(follower->first, over);
	follower->last = list->count;
}

static void forget_pieces(struct follower *follower)
{
	size_t over = follower->next_piece;

	if (over < OVER_MIN)
		return;
	follower->piece_count -= over;
	memmove(follower->pieces, follower->pieces + over,
		follower->piece_count * sizeof(*follower->pieces));
	/* The current piece is the next one, as long as the hart is in it. */
	if (follower->piece)
		follower->piece -= over;
	follower->next_piece = 0;
}

static bool uses_program(void *data, const struct program *program)
{
	const struct follower *follower = data;
	unsigned int k;
	size_t i;

	if (program == follower->program || program == follower->next_program ||
	    program == follower->entered || program == follower->first_place.program)
		return true;
	for (k = 0; k < follower->known_count; k++)
		if (program == follower->known[k].program)
			return true;
	for (i = 0; i < follower->count; i++)
		if (program == follower->places[i].program)
			return true;
	return false;
}

static void drop_program(void *data, struct program *program)
{
	const struct follower *follower = data;

	spaces_drop(follower->spaces, program);
}

/* No task that ended before this time runs from now on. */
static uint64_t present_time(const struct follower *follower, uint64_t complete)
{
	uint64_t time = complete;
	size_t i;

	if (follower->by_piece)
		return follower->next_piece < follower->piece_count ?
			       follower->pieces[follower->next_piece].end :
			       complete;
	for (i = 0; i < follower->count; i++) {
		uint64_t start = interval_start(follower, &follower->places[i]);

		if (start < time)
			time = start;
	}
	return time;
}

void follower_forget(struct follower *follower, uint64_t complete)
{
	if (follower->by_piece)
		forget_pieces(follower);
	else
		forget_switches(follower);
	machine_forget(&follower->session->machine, present_time(follower, complete), uses_program,
		       drop_program, follower);
}
