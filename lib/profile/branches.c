// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Traces of a profile from branch stacks, as sampled by hardware with branch records. */
#include <ntrace/isa.h>

#include "parts.h"
#include "state.h"

/* A place in an object of the profile; @object NULL: unknown code. */
struct branch_end {
	struct ntrace_object *object;
	uint64_t address;
	uint64_t link_address;
};

static int find_place(struct ntrace_profile *profile, struct ntrace_space *space, uint64_t address,
		      struct branch_end *place)
{
	const struct ntrace_location *found = ntrace_locator_find(profile->locator, space, address);

	place->address = address;
	place->link_address = found->object ? found->link_address : address;
	return profile_find_object(profile, found->object, &place->object);
}

/* Decodes the instruction at a place; unknown code counts as class PLAIN. */
static bool decode(struct ntrace_space *space, const struct branch_end *place,
		   struct ntrace_insn *insn)
{
	const uint8_t *bytes;
	size_t size;

	insn->insn_class = NTRACE_INSN_PLAIN;
	return place->object && !ntrace_space_read(space, place->address, &bytes, &size) &&
	       !ntrace_insn_decode(ntrace_object_isa(place->object), bytes, size, place->address,
				   insn);
}

/* Whether control can continue after the instruction. */
static bool falls_through(const struct ntrace_insn *insn)
{
	return insn->insn_class == NTRACE_INSN_PLAIN || insn->insn_class == NTRACE_INSN_BRANCH ||
	       insn->insn_class == NTRACE_INSN_TRAP;
}

/* The straight run from @start to the transfer at @end; false if there is none. */
static bool find_straight_run(struct ntrace_space *space, const struct branch_end *start,
			      const struct branch_end *end, struct ntrace_profile_trace *trace)
{
	struct branch_end at = *start;
	struct ntrace_insn insn;
	uint32_t count = 1;

	if (start->object != end->object || end->address < start->address)
		return false;
	for (; at.address < end->address; at.address += insn.size, count++)
		if (!decode(space, &at, &insn) || !falls_through(&insn))
			return false;
	if (at.address != end->address || !decode(space, &at, &insn))
		return false;
	trace->end = end->link_address;
	trace->end_class = insn.insn_class;
	trace->instructions = count;
	trace->taken = true;
	return true;
}

static int find_ends(struct ntrace_profile *profile, const struct ntrace_session_sample *sample,
		     size_t index, struct branch_end *from, struct branch_end *to)
{
	uint64_t source, target;
	int error;

	ntrace_perf_sample_branch(sample->sample, index, &source, &target);
	error = find_place(profile, sample->space, source, from);
	return error ? error : find_place(profile, sample->space, target, to);
}

/* Code of RV32 is known to be that only by its file. */
static unsigned int privilege_of(const struct branch_end *place)
{
	unsigned int xlen = place->object ? ntrace_object_isa(place->object)->xlen : 64;

	return place->address >= ntrace_kernel_begin(xlen) ? NTRACE_PRIV_S : NTRACE_PRIV_U;
}

int ntrace_profile_sample(struct ntrace_profile *profile,
			  const struct ntrace_session_sample *sample,
			  struct ntrace_profile_sample_counts *counts)
{
	const struct ntrace_session_event at = { .pid = sample->sample->pid,
						 .tid = sample->sample->tid,
						 .comm = sample->comm };
	struct ntrace_profile_sample_counts sums = { 0 };
	struct branch_end from, to, newer = { 0 };
	int error = 0;
	size_t i;

	profile->sampled = true;
	profile->by_source = true;
	for (i = 0; i < sample->sample->branch_count && !error; i++) {
		struct ntrace_profile_trace trace = { .count = 1 };
		struct ntrace_insn insn;

		error = find_ends(profile, sample, i, &from, &to);
		if (error)
			break;
		decode(sample->space, &from, &insn);
		trace.from_class = insn.insn_class;
		trace.from_object = from.object;
		trace.from = from.link_address;
		trace.object = to.object;
		trace.start = trace.end = to.link_address;
		sums.transfers++;
		if (i && to.object && !find_straight_run(sample->space, &to, &newer, &trace))
			sums.broken++;
		if (!from.object && !to.object)
			sums.outside++;
		else if (profile_counts(profile, &at, privilege_of(&to)))
			error = profile_add(profile, privilege_of(&to), &trace);
		newer = from;
	}
	if (counts) {
		counts->transfers += sums.transfers;
		counts->outside += sums.outside;
		counts->broken += sums.broken;
	}
	return error;
}
