// SPDX-License-Identifier: GPL-2.0-only
/*
 * Queries any stream for a caller that walks any code: each answer follows its contract, and each
 * step makes progress. Input: that of fuzz_flow; the code decides what the caller asks.
 */
#include <stdlib.h>
#include <string.h>

#include <ntrace/query.h>

#include "flow_input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Limit the work: a few bytes can stand for very many parcels. */
#define STEPS_MAX 20000

static void take_event(struct ntrace_query *query, uint64_t *offset)
{
	struct ntrace_query_event event;

	if (ntrace_query_event(query, &event) || event.type > NTRACE_QUERY_END ||
	    event.offset < *offset)
		abort();
	*offset = event.offset;
}

static void ask(struct ntrace_query *query, uint8_t answer)
{
	uint64_t target;
	bool taken;
	int got;

	if (answer & 1) {
		got = ntrace_query_branch(query, &taken);
		if (got > 1 || (got < 0 && got != NTRACE_ERR_FORMAT) || (got && taken))
			abort();
	}
	if (answer & 2 && ntrace_query_target(query, &target) < 0)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint64_t parcels, offset = 0, step;
	struct ntrace_params params;
	struct ntrace_query *query;
	const uint8_t *stream;
	size_t code;
	int got = 0;

	if (size < SETTINGS + 4)
		return 0;
	stream = memmem(data + SETTINGS, size - SETTINGS, "\xff\xff", 2);
	if (!stream)
		return 0;
	code = (size_t)(stream - data) - SETTINGS;
	set_params(&params, data);
	if (ntrace_query_new(&query, &params, 0, stream, size - (size_t)(stream - data)))
		abort();
	for (step = 0; step < STEPS_MAX; step++) {
		uint8_t answer = code ? data[SETTINGS + step % code] : (uint8_t)step;

		got = ntrace_query_left(query, &parcels);
		if (got < 0)
			break;
		if ((got == 1) != !parcels)
			abort();
		if (got) {
			take_event(query, &offset);
			continue;
		}
		got = ntrace_query_retire(query, 1 + (answer >> 2 & 1));
		if (got < 0 && (got != NTRACE_ERR_FORMAT || parcels != 1))
			abort();
		if (got >= 0)
			ask(query, answer);
	}
	if (got < 0 && got != NTRACE_ERR_EOS)
		abort();
	ntrace_query_free(query);
	return 0;
}
