// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * The pre-aggregated profile that every version of perf2bolt -pa reads: B (branches) and F or f
 * (runs of instructions).
 */
#include <inttypes.h>
#include <stdlib.h>

#include "bolt.h"

/* Runs after a transfer within the object. */
static bool inner_range_of(const struct counts_export *export,
			   const struct ntrace_profile_trace *trace, struct sum *sum)
{
	return range_of(export, trace, sum) && trace->from_object == export->object;
}

/* Other runs: perf2bolt may know no block that starts after a call of another object. */
static bool outer_range_of(const struct counts_export *export,
			   const struct ntrace_profile_trace *trace, struct sum *sum)
{
	return range_of(export, trace, sum) && trace->from_object != export->object;
}

/* Transfers into the object from another object. */
static bool entering_of(const struct counts_export *export,
			const struct ntrace_profile_trace *trace, struct sum *sum)
{
	*sum = (struct sum){ trace->start, 0, trace->count };
	return trace->object == export->object && trace->from_object &&
	       trace->from_object != export->object;
}

static int put_bolt_runs(const struct counts_export *export, sum_of_fn of, char letter)
{
	struct sums sums;
	int error = collect_sums(&sums, export, of);
	size_t i;

	if (error)
		return error;
	for (i = 0; i < sums.count; i++)
		fprintf(export->file, "%c %" PRIx64 " %" PRIx64 " %" PRIu64 "\n", letter,
			sums.items[i].from, sums.items[i].to, sums.items[i].count);
	free(sums.items);
	return 0;
}

int put_bolt_bf(const struct counts_export *export)
{
	struct sums sums;
	int error = collect_sums(&sums, export, branch_of);
	size_t i;

	if (error)
		return error;
	for (i = 0; i < sums.count; i++)
		fprintf(export->file, "B %" PRIx64 " %" PRIx64 " %" PRIu64 " 0\n",
			sums.items[i].from, sums.items[i].to, sums.items[i].count);
	free(sums.items);
	error = collect_sums(&sums, export, entering_of);
	if (error)
		return error;
	for (i = 0; i < sums.count; i++)
		fprintf(export->file, "B X:0 %" PRIx64 " %" PRIu64 " 0\n", sums.items[i].from,
			sums.items[i].count);
	free(sums.items);
	error = put_bolt_runs(export, inner_range_of, 'F');
	if (!error)
		error = put_bolt_runs(export, outer_range_of, 'f');
	return error ? error : put_bolt_border(export);
}
