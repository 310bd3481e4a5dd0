// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Where memory changes, and where the value of a register comes from: answers of the log and of the window, which is
 * executed again from its snapshots, the last one first.
 */
#include <string.h>

#include "bisect.h"
#include "infer.h"
#include "log.h"
#include "struct_size.h"
#include "values.h"

#define A7 17

/* ---- changes of memory ---- */

/* Finds the block and the instruction with a number in the window. */
static int find_number(struct ntrace_values *values, uint64_t number,
		       struct ntrace_cursor_mark *mark, uint32_t *index)
{
	size_t after = 1;
	uint64_t first;
	int error;

	BISECT(after, values->snapshots, at, values->snapshot[at].number <= number);
	first = values->snapshot[after - 1].number;
	error = ntrace_cursor_restore(values->cursor, &values->snapshot[after - 1].mark);
	while (!error) {
		const struct ntrace_cursor_place *place = ntrace_cursor_place(values->cursor);

		if (values_is_user(place)) {
			if (number - first < place->instructions)
				break;
			first += place->instructions;
		}
		error = ntrace_cursor_next(values->cursor);
	}
	ntrace_cursor_save(values->cursor, mark);
	*index = (uint32_t)(number - first);
	return error;
}

/* The last change up to the place, in this window or in one that begins earlier. */
static int find_before(struct ntrace_values *values, uint64_t first, uint64_t last,
		       uint64_t *number)
{
	uint64_t when;
	int error;

	while (!log_changed(values->log, values_time(values), first, last, &when)) {
		error = values_reach_deeper(values);
		if (error)
			return error;
	}
	*number = when / 2;
	return 0;
}

/* The first change after the place, in this window, which grows up to the end of the thread. */
static int find_after(struct ntrace_values *values, uint64_t first, uint64_t last, bool here,
		      uint64_t *number)
{
	uint64_t from = values->number, until = here ? 2 * from + 3 : UINT64_MAX, when;
	int error = 0;

	while (!log_changes(values->log, 2 * from + 1, until, first, last, &when)) {
		if (error || (here && values->end > from))
			return error ? error : 1;
		/* Goes on where the window ends, for some blocks. */
		error = values_revisit(values, &values->end_mark, values->end_index);
		values->logs = true;
		values->limit = values->number + (here ? 1 : VALUES_GROW);
		if (!error)
			error = values_run(values, values->end_index, NULL, 0);
		values->limit = UINT64_MAX;
		values->logs = false;
		values->windowed = error >= 0;
		if (error < 0)
			return error;
		values->end = values->number;
		values->end_mark = values->last_mark;
		values->end_index = values->last_index;
	}
	*number = when / 2 - 1;
	return 0;
}

int ntrace_values_find_change(struct ntrace_values *values, bool back, bool here, uint64_t first,
			      uint64_t last, struct ntrace_cursor_mark *mark, uint32_t *index)
{
	const struct ntrace_cursor_mark place = values->mark;
	const uint32_t place_index = values->index;
	uint64_t number = 0, when;
	int error = 1;

	while (values->inferred && error > 0) {
		error = infer_find_change(values->infer, values->entry, back, here, first, last,
					  mark, index);
		if (error <= 0 || here || values_extend_core(values))
			break;
	}
	if (error <= 0 || !values->at_place || !values_trusts(values))
		return error;
	error = 1;
	if (!back) {
		error = find_after(values, first, last, here, &number);
	} else if (!here) {
		error = find_before(values, first, last, &number);
	} else if (log_changed(values->log, values_time(values), first, last, &when)) {
		number = when / 2;
		error = number != values->number;
	}
	if (!error)
		error = find_number(values, number, mark, index);
	if (error >= 0 && ntrace_values_seek(values, &place, place_index) < 0)
		values->at_place = false;
	return error;
}

/* ---- origins of registers ---- */

/* The stop with this number of instructions before it, in the window. */
static const struct stop *stop_at(const struct ntrace_values *values, uint64_t number)
{
	const struct stop *stop = values->survey.stop;
	size_t low = 0;

	if (!stop)
		return NULL;
	BISECT(low, values->survey.stops, at, stop[at].number <= number);
	return low ? &stop[low - 1] : NULL;
}

static uint64_t call_of(const struct ntrace_values *values, const struct stop *stop)
{
	const struct anchor *anchor;

	if (!stop || stop->anchor < 0)
		return NTRACE_VALUES_NO_CALL;
	anchor = &values->anchors.anchor[stop->anchor];
	return anchor->exec ? NTRACE_VALUES_EXEC : anchor_register(anchor, A7);
}

/* The last write of the register before the place. */
static int find_write(struct ntrace_values *values, struct values_origin *found)
{
	const struct ntrace_cursor_mark place = values->mark;
	size_t snapshot = values_snapshot_before(values, &place);
	struct ntrace_cursor_mark end = place;
	uint32_t index = values->index;
	int error = 0;

	found->number = UINT64_MAX;
	values->origin = found;
	for (;; snapshot--) {
		error = values_replay(values, snapshot, &end, index);
		if (error || found->stop || found->number != UINT64_MAX || !snapshot)
			break;
		end = values->snapshot[snapshot].mark;
		index = 0;
	}
	values->origin = NULL;
	/* It has its value from before the window, which begins after a stop. */
	if (!error && !found->stop && found->number == UINT64_MAX)
		found->stop = &values->survey.stop[values->window_stop];
	return error;
}

/* What wrote the memory that the instruction has loaded. */
static void explain_load(const struct ntrace_values *values, const struct values_origin *found,
			 struct ntrace_values_origin *origin)
{
	const struct ntrace_exec_effects *effects = &found->effects;
	const struct stop *stop;
	uint64_t when;

	if (!(effects->flags & NTRACE_EXEC_LOADS) || !effects->address_known || !effects->bytes)
		return;
	origin->memory = effects->address;
	origin->bytes = effects->bytes;
	origin->source = NTRACE_VALUES_MAPPED;
	if (!log_changed(values->log, 2 * found->number + 1, effects->address,
			 effects->address + effects->bytes - 1, &when))
		return;
	/* A store has the even time after its instruction, but so has what the kernel maps there. */
	stop = stop_at(values, when / 2);
	if (!(when & 1) && stop && stop->number == when / 2) {
		origin->source = NTRACE_VALUES_NONE;
		return;
	}
	origin->source = when & 1 ? NTRACE_VALUES_RECORDED : NTRACE_VALUES_STORED;
	origin->source_number = when & 1 ? when / 2 : when / 2 - 1;
	if (when & 1)
		origin->source_call = call_of(values, stop);
}

/* What has written a register whose value follows from the core. */
static void explain_core(const struct ntrace_values *values, unsigned int reg,
			 struct ntrace_values_origin *origin)
{
	origin->anchor = values->survey.instructions;
	origin->call = NTRACE_VALUES_CORE;
	origin->kind = NTRACE_VALUES_RECORDED;
	origin->number = origin->anchor;
	if (infer_writer(values->infer, values->entry, reg, &origin->number, &origin->address))
		origin->kind = NTRACE_VALUES_EXECUTED;
}

int ntrace_values_origin(struct ntrace_values *values, unsigned int id,
			 struct ntrace_values_origin *result)
{
	struct ntrace_values_origin origin = { .size = sizeof(origin),
					       .call = NTRACE_VALUES_NO_CALL,
					       .source_call = NTRACE_VALUES_NO_CALL };
	const struct ntrace_cursor_mark place = values->mark;
	const uint32_t index = values->index;
	struct values_origin found = { .register_bit = id - NTRACE_EXEC_X };
	struct ntrace_exec_value value = { 0, 0 };
	int error;

	if (id <= NTRACE_EXEC_X || id >= NTRACE_EXEC_F + 32)
		return NTRACE_ERR_INVALID;
	error = ntrace_values_register(values, id, &value);
	if (error || value.known != UINT64_MAX)
		return error ? error : 1;
	if (values->inferred &&
	    infer_register(values->infer, values->entry, id - NTRACE_EXEC_X, false).known ==
		    UINT64_MAX) {
		explain_core(values, id - NTRACE_EXEC_X, &origin);
		STRUCT_GIVE(result, &origin);
		return 0;
	}
	if (!values->at_place)
		return 1;
	origin.anchor = values->survey.stop[values->window_stop].number;
	origin.call = call_of(values, &values->survey.stop[values->window_stop]);
	error = find_write(values, &found);
	if (!error && found.stop) {
		origin.kind = NTRACE_VALUES_RECORDED;
		origin.anchor = origin.number = found.stop->number;
		origin.call = call_of(values, found.stop);
	} else if (!error) {
		origin.kind = NTRACE_VALUES_EXECUTED;
		origin.number = found.number;
		origin.address = found.address;
		explain_load(values, &found, &origin);
	}
	if (ntrace_values_seek(values, &place, index) < 0)
		values->at_place = false;
	STRUCT_GIVE(result, &origin);
	return error;
}
