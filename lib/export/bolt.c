// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * The pre-aggregated profile that perf2bolt -pa of LLVM 21 and later reads: a line for each trace,
 * T (a transfer and the run after it), R (the same after a return), B (a transfer without a run) or
 * F (a run without a transfer).
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "bolt.h"

/* Transfers out of the object. */
static bool leaving_of(const struct counts_export *export, const struct ntrace_profile_trace *trace,
		       struct sum *sum)
{
	*sum = (struct sum){ trace->from, 0, trace->count };
	return trace->object != export->object && trace->from_object == export->object;
}

int put_bolt_border(const struct counts_export *export)
{
	struct sums sums;
	int error = collect_sums(&sums, export, leaving_of);
	size_t i;

	if (error)
		return error;
	for (i = 0; i < sums.count; i++)
		fprintf(export->file, "B %" PRIx64 " X:0 %" PRIu64 " 0\n", sums.items[i].from,
			sums.items[i].count);
	free(sums.items);
	return 0;
}

/* One line for each trace of the object. */
int put_bolt(const struct counts_export *export)
{
	const struct ntrace_profile_trace *trace;
	char from[24];
	size_t i;

	for (i = 0; i < export->count; i++) {
		trace = &export->traces[i];
		if (trace->object != export->object)
			continue;
		snprintf(from, sizeof(from), "%" PRIx64, trace->from);
		if (trace->from_object != export->object)
			strcpy(from, "X:0");
		if (!trace->instructions)
			fprintf(export->file, "B %s %" PRIx64 " %" PRIu64 " 0\n", from,
				trace->start, trace->count);
		else if (!trace->from_object)
			fprintf(export->file, "F %" PRIx64 " %" PRIx64 " %" PRIu64 "\n",
				trace->start, trace->end, trace->count);
		else
			fprintf(export->file, "%c %s %" PRIx64 " %" PRIx64 " %" PRIu64 "\n",
				trace->from_class == NTRACE_INSN_RETURN ? 'R' : 'T', from,
				trace->start, trace->end, trace->count);
	}
	return put_bolt_border(export);
}
