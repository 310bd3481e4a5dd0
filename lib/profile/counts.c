// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Converts straight runs to counts of single instructions. */
#include <stdlib.h>
#include <string.h>

#include <ntrace/counts.h>

#include "bisect.h"
#include "image/object.h"
#include "parts.h"
#include "saturate.h"

/* The instructions from @address to the next step were executed @count times. */
struct step {
	uint64_t address;
	uint64_t count;
};

/*
 * @steps: sorted by address; the count before the first step is 0
 * @taken: transfers, sorted by source address
 * @trapped: transfers whose target did not retire, sorted by target address
 * @space: the object at its link addresses
 */
struct ntrace_counts {
	struct ntrace_object *object;
	struct ntrace_space *space;
	struct step *steps;
	size_t step_count;
	struct step *taken;
	size_t taken_count;
	struct step *trapped;
	size_t trapped_count;
};

/* From @address on, instructions were executed @change times more. */
struct change {
	uint64_t address;
	__int128 change;
};

static int compare_changes(const void *left, const void *right)
{
	const struct change *a = left, *b = right;

	return a->address < b->address ? -1 : a->address > b->address;
}

static int compare_steps(const void *left, const void *right)
{
	const struct step *a = left, *b = right;

	return a->address < b->address ? -1 : a->address > b->address;
}

/* Sorts transfers and merges those at the same address. */
static void add_up(struct step *steps, size_t *count)
{
	size_t i, kept = 0;

	if (!*count)
		return;
	qsort(steps, *count, sizeof(*steps), compare_steps);
	for (i = 1; i < *count; i++) {
		if (steps[kept].address == steps[i].address)
			steps[kept].count = add_counts(steps[kept].count, steps[i].count);
		else
			steps[++kept] = steps[i];
	}
	*count = kept + 1;
}

/* Sums up the changes. */
static void make_steps(struct ntrace_counts *counts, struct change *changes, size_t count)
{
	__int128 sum = 0;

	if (count)
		qsort(changes, count, sizeof(*changes), compare_changes);
	for (size_t i = 0; i < count; i++) {
		sum += changes[i].change;
		if (i + 1 == count || changes[i].address != changes[i + 1].address)
			counts->steps[counts->step_count++] =
				(struct step){ changes[i].address,
					       sum > UINT64_MAX ? UINT64_MAX : (uint64_t)sum };
	}
}

/* @changes: room for two changes of each trace */
static void collect(struct ntrace_counts *counts, const struct ntrace_profile_trace *traces,
		    size_t count, struct change *changes)
{
	size_t change_count = 0, i;

	for (i = 0; i < count; i++) {
		const struct ntrace_profile_trace *trace = &traces[i];

		if (trace->object != counts->object)
			continue;
		if (!trace->instructions) {
			counts->trapped[counts->trapped_count++] =
				(struct step){ trace->start, trace->count };
			continue;
		}
		changes[change_count++] = (struct change){ trace->start, trace->count };
		/* No instruction begins inside the last one, so +1 is enough. */
		if (trace->end < UINT64_MAX)
			changes[change_count++] =
				(struct change){ trace->end + 1, -(__int128)trace->count };
		if (trace->taken)
			counts->taken[counts->taken_count++] =
				(struct step){ trace->end, trace->count };
	}
	add_up(counts->taken, &counts->taken_count);
	add_up(counts->trapped, &counts->trapped_count);
	make_steps(counts, changes, change_count);
}

int ntrace_counts_new(struct ntrace_counts **counts, struct ntrace_profile *profile,
		      const struct ntrace_object *object)
{
	const struct ntrace_profile_trace *traces;
	struct ntrace_counts *made;
	struct change *changes;
	int error = NTRACE_ERR_NOMEM;
	size_t count;

	made = calloc(1, sizeof(*made));
	if (!made)
		return NTRACE_ERR_NOMEM;
	traces = ntrace_profile_traces(profile, &count);
	/* Only the reference count of the const object changes. */
	made->object = ntrace_object_get((struct ntrace_object *)(uintptr_t)object);
	made->steps = malloc((2 * count + 1) * sizeof(*made->steps));
	made->taken = malloc((count + 1) * sizeof(*made->taken));
	made->trapped = malloc((count + 1) * sizeof(*made->trapped));
	changes = malloc((2 * count + 1) * sizeof(*changes));
	if (made->steps && made->taken && made->trapped && changes)
		error = ntrace_space_new(&made->space, ntrace_object_name(object), NULL);
	if (!error)
		error = ntrace_space_map_linked(made->space, made->object, 0);
	if (error) {
		ntrace_counts_free(made);
	} else {
		collect(made, traces, count, changes);
		*counts = made;
	}
	free(changes);
	return error;
}

void ntrace_counts_free(struct ntrace_counts *counts)
{
	if (!counts)
		return;
	ntrace_space_put(counts->space);
	ntrace_object_put(counts->object);
	free(counts->steps);
	free(counts->taken);
	free(counts->trapped);
	free(counts);
}

/* The last step at or before @address; NULL if there is none. */
static const struct step *find_step(const struct step *steps, size_t count, uint64_t address)
{
	size_t low = 0;

	BISECT(low, count, middle, steps[middle].address <= address);
	return low ? &steps[low - 1] : NULL;
}

uint64_t ntrace_counts_executed(const struct ntrace_counts *counts, uint64_t address)
{
	const struct step *step = find_step(counts->steps, counts->step_count, address);

	return step ? step->count : 0;
}

/* The count of exactly this address. */
static uint64_t count_at(const struct step *steps, size_t count, uint64_t address)
{
	const struct step *step = find_step(steps, count, address);

	return step && step->address == address ? step->count : 0;
}

uint64_t ntrace_counts_taken(const struct ntrace_counts *counts, uint64_t address)
{
	return count_at(counts->taken, counts->taken_count, address);
}

uint64_t counts_trapped(const struct ntrace_counts *counts, uint64_t address)
{
	return count_at(counts->trapped, counts->trapped_count, address);
}

/* Calls @visit up to @end. @at: the address after the last instruction that was read */
static int walk(const struct ntrace_counts *counts, uint64_t *at, uint64_t end,
		ntrace_counts_visit_fn visit, void *data)
{
	const struct ntrace_isa *isa = ntrace_object_isa(counts->object);
	const uint64_t start = *at;
	struct ntrace_insn insn;
	const uint8_t *bytes;
	size_t size;
	int error;

	for (; *at < end && *at - start < end - start; *at += insn.size) {
		insn.size = 2;
		if (object_is_data(counts->object, *at))
			continue;
		error = ntrace_space_read(counts->space, *at, &bytes, &size);
		if (error)
			return error;
		if (ntrace_insn_decode(isa, bytes, size, *at, &insn))
			return 0;
		error = visit(data, *at, bytes, &insn, ntrace_counts_executed(counts, *at));
		if (error)
			return error;
	}
	return 0;
}

int ntrace_counts_walk(const struct ntrace_counts *counts, uint64_t start, uint64_t end,
		       ntrace_counts_visit_fn visit, void *data)
{
	return walk(counts, &start, end, visit, data);
}

int ntrace_counts_walk_executed(const struct ntrace_counts *counts, ntrace_counts_visit_fn visit,
				void *data)
{
	const struct step *steps = counts->steps;
	size_t count = counts->step_count, i = 0, end;
	int error = 0;

	while (i < count && !error) {
		uint64_t at = steps[i].address;

		if (!steps[i].count) {
			i++;
			continue;
		}
		/* Runs that touch are walked at once: one may begin within an instruction of another. */
		for (end = i; end < count && steps[end].count; end++)
			;
		error = walk(counts, &at, end < count ? steps[end].address : UINT64_MAX, visit,
			     data);
		if (error == NTRACE_ERR_NOMAP)
			error = 0;
		/* Bytes that are no instruction end a walk: the next run begins at an even address. */
		do {
			i++;
		} while (i < end && (steps[i].address <= at || steps[i].address & 1));
	}
	return error;
}
