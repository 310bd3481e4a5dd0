// SPDX-License-Identifier: GPL-2.0-only
/* Sums of a profile whose counts, of a counts file, add up past the largest number: they stay there. */
#include <ntrace/counts.h>
#include <ntrace/functions.h>

#include "profile/parts.h"
#include "tap.h"

#define CODE 0x1000
#define SIZE 0x100
#define NOP 0x00000013

static struct ntrace_object *object;
static struct ntrace_profile *profile;

static void add(struct ntrace_profile_trace trace)
{
	profile_find_object(profile, object, &trace.object);
	profile_find_object(profile, object, &trace.from_object);
	profile_add(profile, NTRACE_PRIV_U, &trace);
}

int main(void)
{
	struct ntrace_profile_trace trace = { .from = CODE + 0x40,
					      .start = CODE,
					      .end = CODE + 0x40,
					      .instructions = 17,
					      .taken = true,
					      .count = UINT64_MAX - 5 };
	const struct ntrace_profile_object *sums;
	const struct ntrace_profile_edge *edges;
	struct ntrace_counts *counts;
	uint32_t code[SIZE / 4];
	size_t count;

	for (count = 0; count < SIZE / 4; count++)
		code[count] = NOP;
	ntrace_object_from_bytes(&object, "program", code, sizeof(code), CODE);
	ntrace_profile_new(&profile, NULL);
	add(trace);
	trace.start = CODE + 0x10;
	trace.instructions = 13;
	trace.count = 10;
	add(trace);
	trace.taken = false;
	trace.end = CODE + 0x20;
	trace.instructions = 5;
	trace.count = UINT64_MAX;
	add(trace);
	ntrace_profile_end(profile);
	is_u64(ntrace_counts_new(&counts, profile, object), 0, "counts past the largest number");
	is_u64(ntrace_counts_executed(counts, CODE), UINT64_MAX - 5, "before");
	is_u64(ntrace_counts_executed(counts, CODE + 0x10), UINT64_MAX, "stay there");
	is_u64(ntrace_counts_executed(counts, CODE + 0x24), UINT64_MAX, "with few runs more");
	is_u64(ntrace_counts_executed(counts, CODE + 0x44), 0, "and end with the runs");
	is_u64(ntrace_counts_taken(counts, CODE + 0x40), UINT64_MAX, "transfers, too");
	ntrace_counts_free(counts);
	sums = ntrace_profile_objects(profile, &count);
	is_u64(count ? sums[0].instructions : 0, UINT64_MAX, "instructions, too");
	is_u64(ntrace_profile_edges(profile, &edges, &count), 0, "edges, too");
	is_u64(count ? edges[0].executed : 0, UINT64_MAX, "executions of a source");
	ntrace_profile_free(profile);
	ntrace_object_put(object);
	return done_testing();
}
