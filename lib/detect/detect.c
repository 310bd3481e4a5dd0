// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Which bytes are a trace, their packing and their parameters: see ntrace/detect.h. */
#include <stdlib.h>
#include <string.h>

#include "candidates.h"
#include "struct_size.h"

/* Plain bytes, words, and the sources of frames. */
#define JUDGED_MAX (2 + STREAMS_MAX)
/* Minimum share of sound bytes, in thousandths, of a trace that may be damaged. */
#define SHARE_TRACE 500
/* Minimum share of sound bytes with which data of unknown kind is partly a trace. */
#define SHARE_PARTLY 250
/* The same limit for a candidate with another packing. */
#define SHARE_ALIKE 900
#define COST_ALIKE 10
/*
 * A width of SRC with more wrong messages than this many times those of another one, and than one in
 * so many, does not fit, whatever its cost: the cost of a long history is a matter of chance.
 */
#define WRONG_FACTOR 4
#define WRONG_RARE 512
#define WRONG_FEW 2
/* It costs this much more than the best, in sixteenths of a bit: only a program may decide for it. */
#define COST_UNFIT (1000 * 16)
/* Minimum number of messages in a stream without any sync. */
#define MESSAGES_MIN 32

struct detection {
	const struct ntrace_detect_config *config;
	struct ntrace_detect_result *result;
	struct judged judged[JUDGED_MAX];
	unsigned int count;
	unsigned int done;
	unsigned int total;
	struct candidates candidates;
};

void ntrace_detect_config_init(struct ntrace_detect_config *config)
{
	*config = (struct ntrace_detect_config){ .size = sizeof(*config) };
}

static int step(struct detection *detection)
{
	const struct ntrace_detect_config *config = detection->config;

	detection->done++;
	return config->progress ?
		       config->progress(config->user, detection->done, detection->total) :
		       NTRACE_OK;
}

/* Too few bytes belong to messages: another width of SRC does not change that. */
static bool is_hopeless(const struct detect_score *score)
{
	return !score->messages || score->wire_errors + score->unknown > score->messages;
}

static size_t scored_bytes(const struct detect_stream *stream)
{
	return stream->size < SCORED_BYTES ? stream->size : SCORED_BYTES;
}

static uint64_t wrong_messages(const struct detect_score *score)
{
	return score->unknown + score->truncated + score->extra + score->illegal;
}

/* In a stream that is whole, a message that lacks fields or has too many says that the width is wrong. */
static bool is_fit(const struct detect_score *score, uint64_t least)
{
	if (!least && !score->wire_errors && score->truncated + score->extra)
		return false;
	return wrong_messages(score) <=
	       WRONG_FACTOR * least + score->messages / WRONG_RARE + WRONG_FEW;
}

/* Chooses the cheapest width among those with few wrong messages, before all others. */
static void choose_width(struct judged *judged)
{
	struct detect_score *score = judged->score;
	uint64_t least = UINT64_MAX, cost = UINT64_MAX;

	for (unsigned int bits = 0; bits <= NTRACE_SRC_BITS_MAX; bits++)
		least = wrong_messages(&score[bits]) < least ? wrong_messages(&score[bits]) : least;
	for (unsigned int bits = 0; bits <= NTRACE_SRC_BITS_MAX; bits++) {
		if (is_fit(&score[bits], least) && score[bits].cost < cost) {
			judged->best = bits;
			cost = score[bits].cost;
		}
	}
	for (unsigned int bits = 0; bits <= NTRACE_SRC_BITS_MAX; bits++) {
		if (!is_fit(&score[bits], least) && score[bits].cost < cost + COST_UNFIT)
			score[bits].cost = cost + COST_UNFIT;
	}
}

static void conclude(struct judged *judged)
{
	const struct detect_score *score = &judged->score[judged->best];
	size_t size = scored_bytes(&judged->stream);

	judged->share = size ? (unsigned int)((score->sound + score->idle) * 1000 / size) : 0;
	judged->trace = judged->share >= SHARE_TRACE && score->sound &&
			(score->syncs || score->messages >= MESSAGES_MIN);
}

static int judge(struct detection *detection, struct judged *judged)
{
	const struct detect_stream *stream = &judged->stream;
	int error = detect_score(stream->data, scored_bytes(stream), 0, &judged->score[0]);

	if (error || is_hopeless(&judged->score[0])) {
		detection->total -= NTRACE_SRC_BITS_MAX;
		conclude(judged);
		judged->trace = false;
		return error ? error : step(detection);
	}
	error = step(detection);
	for (unsigned int bits = 1; bits <= NTRACE_SRC_BITS_MAX && !error; bits++) {
		error = detect_score(stream->data, scored_bytes(stream), bits,
				     &judged->score[bits]);
		if (!error)
			error = step(detection);
	}
	if (error)
		return error;
	choose_width(judged);
	conclude(judged);
	return NTRACE_OK;
}

static int unpack(struct detection *detection, const uint8_t *data, size_t bytes, size_t all)
{
	struct detect_stream frames[STREAMS_MAX];
	unsigned int count;
	int error;

	detection->judged[0].stream = (struct detect_stream){
		.packing = NTRACE_DETECT_BYTES,
		.data = (uint8_t *)(uintptr_t)data,
		.size = bytes,
	};
	detection->count = 1;
	/* The last byte that is not 0 may be in either half of the last word. */
	error = detect_unword(data, bytes + bytes % 2 <= all ? bytes + bytes % 2 : bytes,
			      &detection->judged[detection->count].stream);
	detection->count += !error;
	if (!error) {
		size_t whole = (bytes + 15) & ~(size_t)15;

		error = detect_unframe(data, whole <= all ? whole : bytes, frames, &count);
		for (unsigned int i = 0; i < count; i++)
			detection->judged[detection->count++].stream = frames[i];
	}
	detection->total = detection->count * (NTRACE_SRC_BITS_MAX + 2);
	return error;
}

/* Share of sound bytes of a packing over all its streams. */
static unsigned int packing_share(const struct detection *detection, unsigned int packing)
{
	uint64_t good = 0, all = 0;

	for (unsigned int i = 0; i < detection->count; i++) {
		const struct judged *judged = &detection->judged[i];

		if (judged->stream.packing != packing)
			continue;
		all += judged->stream.size;
		good += judged->trace ? (uint64_t)judged->stream.size * judged->share : 0;
	}
	return all ? (unsigned int)(good / all) : 0;
}

/* Evidence against a packing in bits: the sum over its streams, each with its best width. */
static uint64_t packing_cost(const struct detection *detection, unsigned int packing)
{
	uint64_t cost = 0;

	for (unsigned int i = 0; i < detection->count; i++) {
		const struct judged *judged = &detection->judged[i];

		if (judged->stream.packing == packing && judged->trace)
			cost += judged->score[judged->best].cost / 16;
	}
	return cost;
}

static int add_candidates(struct detection *detection, unsigned int packing, bool equal)
{
	struct ntrace_detect_result *result = detection->result;
	int error = NTRACE_OK;

	for (unsigned int i = 0; i < detection->count && !error; i++) {
		struct candidates *candidates = &detection->candidates;

		if (detection->judged[i].stream.packing != packing || !detection->judged[i].trace)
			continue;
		error = candidates_make(detection->config, &detection->judged[i], candidates);
		for (unsigned int j = 0; !error && j < candidates->count; j++) {
			if (result->count == NTRACE_DETECT_CANDIDATES)
				break;
			candidates->candidate[j].equal &= equal;
			result->candidate[result->count++] = candidates->candidate[j];
		}
		if (!error)
			error = step(detection);
	}
	return error;
}

/*
 * The best packing comes first; another one is kept only if it fits nearly as well, as in short
 * streams.
 */
static int rank(struct detection *detection)
{
	unsigned int order[3] = { NTRACE_DETECT_BYTES, NTRACE_DETECT_WORDS16,
				  NTRACE_DETECT_FRAMES };
	unsigned int share[3], best;
	int error = NTRACE_OK;

	for (unsigned int i = 0; i < 3; i++)
		share[i] = packing_share(detection, order[i]);
	for (unsigned int i = 0; i < 3 && !error; i++) {
		best = i;
		for (unsigned int j = i + 1; j < 3; j++) {
			if (share[order[j]] > share[order[best]])
				best = j;
		}
		unsigned int chosen = order[best];

		for (; best > i; best--)
			order[best] = order[best - 1];
		order[i] = chosen;
		if (share[chosen] &&
		    (!i || (share[chosen] >= SHARE_ALIKE &&
			    packing_cost(detection, chosen) <=
				    packing_cost(detection, order[0]) + COST_ALIKE)))
			error = add_candidates(detection, chosen, share[chosen] == share[order[0]]);
	}
	return error;
}

static bool is_partly_trace(const struct detection *detection)
{
	for (unsigned int i = 0; i < detection->count; i++) {
		const struct judged *judged = &detection->judged[i];

		if (judged->share >= SHARE_PARTLY && judged->score[judged->best].syncs)
			return true;
	}
	return false;
}

static int run(struct detection *detection, const uint8_t *data, size_t bytes, size_t all)
{
	int error = unpack(detection, data, bytes, all);

	for (unsigned int i = 0; i < detection->count && !error; i++)
		error = judge(detection, &detection->judged[i]);
	if (!error)
		error = rank(detection);
	for (unsigned int i = 1; i < detection->count; i++)
		free(detection->judged[i].stream.data);
	return error;
}

int ntrace_detect(const struct ntrace_detect_config *config, struct ntrace_detect_result *result)
{
	struct ntrace_detect_config full;
	struct ntrace_params params;
	struct detection *detection;
	size_t all, bytes;
	int error;

	ntrace_detect_config_init(&full);
	ntrace_params_init(&params);
	if (!config || !result || STRUCT_TAKE(&full, config) ||
	    (full.params && STRUCT_TAKE(&params, full.params)))
		return NTRACE_ERR_INVALID;
	full.params = &params;
	config = &full;
	if ((config->bytes && !config->data) || (params.xlen != 32 && params.xlen != 64))
		return NTRACE_ERR_INVALID;
	memset(result, 0, sizeof(*result));
	all = config->bytes < NTRACE_DETECT_BYTES_MAX ? config->bytes : NTRACE_DETECT_BYTES_MAX;
	/* A message never ends with 0: zeros at the end are the unused part of a buffer. */
	for (bytes = all; bytes && !config->data[bytes - 1];)
		bytes--;
	result->bytes = bytes;
	result->kind = detect_magic(config->data, all);
	if (result->kind != NTRACE_DETECT_TRACE)
		return NTRACE_OK;
	detection = calloc(1, sizeof(*detection));
	if (!detection)
		return NTRACE_ERR_NOMEM;
	detection->config = config;
	detection->result = result;
	error = run(detection, config->data, bytes, all);
	if (!error && !result->count)
		result->kind = detect_looks(config->data, bytes ? bytes : all);
	if (result->kind == NTRACE_DETECT_BINARY && is_partly_trace(detection))
		result->kind = NTRACE_DETECT_PARTLY;
	free(detection);
	return error;
}
