// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* From the widths of SRC that fit a stream to whole sets of parameters. */
#include <string.h>

#include "candidates.h"
#include "wire/params.h"

/* Bits of evidence. */
#define EVIDENCE_FLOW_ERROR 12
#define EVIDENCE_ADDRESS 2
/* Candidates that differ by less are told apart by nothing but chance. */
#define EVIDENCE_EQUAL 10
/* With programs others than the best are followed, too. */
#define EVIDENCE_FOLLOWED 100
/* The code contradicts each of them. */
#define EVIDENCE_HOPELESS 4000
#define ADDRESS_EQUAL 3
/* So many times the instructions are a walk that went wild. */
#define WILD 100
/* Numbers of errors that losses may cause, up to such a factor. */
#define ERRORS_ALIKE 2
/* A walk that went wild has so much fewer errors at most. */
#define ERRORS_WILD 10
/* More errors than one in so many messages: the width of SRC is wrong, too. */
#define HOPELESS 8
/* Of messages of both modes, so few come from damage. */
#define RARE 50

/* Which dialect and mode the messages speak for. */
static void set_dialect(const struct detect_score *score, struct ntrace_detect_candidate *candidate)
{
	struct ntrace_params *params = &candidate->params;

	/* Damage makes reserved TCODEs fifteen times as often as those of SiFive. */
	if (score->sifive > 2 * (score->unknown + score->illegal) &&
	    (score->sifive > 1 || score->messages < RARE))
		params->dialect = NTRACE_DIALECT_SIFIVE_V0;
	else if (score->markers && score->markers * RARE >= score->syncs)
		params->dialect = NTRACE_DIALECT_RC7;
	else if (score->sifive)
		candidate->open |= NTRACE_DETECT_OPEN_DIALECT;
	if (score->branch > RARE * score->history)
		params->mode = NTRACE_MODE_BRANCH;
	else if (score->history > RARE * score->branch)
		params->mode = NTRACE_MODE_HISTORY;
	else if (!score->branch && !score->history)
		candidate->open |= NTRACE_DETECT_OPEN_MODE;
}

static void set_figures(const struct detect_score *score, struct ntrace_detect_candidate *candidate)
{
	candidate->idle = score->idle;
	candidate->sound = score->sound;
	candidate->messages = score->messages;
	candidate->wire_errors = score->wire_errors;
	candidate->unknown = score->unknown;
	candidate->truncated = score->truncated;
	candidate->extra = score->extra;
	candidate->illegal = score->illegal;
	candidate->orphans = score->orphans;
	candidate->syncs = score->syncs;
	candidate->sources = score->sources;
	candidate->timestamps = score->timestamps;
	candidate->cost = score->cost / 16;
}

struct address_setting {
	struct ntrace_params params;
	struct detect_addresses addresses;
};

/* XLEN and extaddr, then addrbits without and with extaddr; the simplest first. */
#define SETTINGS_MAX 8

static unsigned int list_settings(const struct ntrace_detect_config *config,
				  const struct ntrace_params *base,
				  const struct detect_addresses *probe,
				  struct address_setting *settings)
{
	unsigned int count = 0;

	for (unsigned int extend = 0; extend < 2; extend++) {
		for (unsigned int xlen = 64; xlen >= 32; xlen -= 32) {
			if (config->xlen_known && config->params->xlen != xlen)
				continue;
			settings[count].params = *base;
			settings[count].params.xlen = xlen;
			settings[count++].params.extend_address = extend;
		}
	}
	for (unsigned int i = 0; i < 4; i++) {
		unsigned int bits = i % 2 ? probe->widest : probe->usual;

		if ((config->xlen_known && config->params->xlen == 32) || !bits ||
		    (i % 2 && bits == probe->usual))
			continue;
		settings[count].params = *base;
		settings[count].params.xlen = 64;
		settings[count].params.extend_address = i / 2;
		settings[count++].params.address_bits = bits;
	}
	return count;
}

/* Equal addresses of the same XLEN: nobody can tell, and the simpler one has been taken. */
static bool is_taken(const struct address_setting *settings, unsigned int index, uint64_t limit)
{
	for (unsigned int i = 0; i < index; i++) {
		if (settings[i].addresses.cost <= limit &&
		    settings[i].params.xlen == settings[index].params.xlen &&
		    settings[i].addresses.hash == settings[index].addresses.hash)
			return true;
	}
	return false;
}

static void add_candidate(struct candidates *candidates, const struct ntrace_detect_candidate *base,
			  const struct address_setting *setting, uint64_t least)
{
	struct ntrace_detect_candidate *candidate = &candidates->candidate[candidates->count];

	if (candidates->count == CANDIDATES_MAX)
		return;
	*candidate = *base;
	candidate->params = setting->params;
	candidate->addresses = setting->addresses.addresses;
	candidate->misplaced = setting->addresses.misplaced;
	candidate->outside = setting->addresses.outside;
	candidate->cost += (setting->addresses.cost - least) * EVIDENCE_ADDRESS;
	candidates->count++;
}

/* The settings of addresses that fit, for one width of SRC. */
static int expand_addresses(const struct ntrace_detect_config *config,
			    const struct detect_stream *stream,
			    const struct ntrace_detect_candidate *base,
			    struct candidates *candidates, uint64_t *floor)
{
	struct address_setting settings[SETTINGS_MAX];
	struct detect_addresses probe;
	uint64_t least = UINT64_MAX;
	unsigned int count;
	int error;

	error = detect_addresses(stream->data, stream->size, &base->params, NULL, &probe);
	count = list_settings(config, &base->params, &probe, settings);
	for (unsigned int i = 0; i < count && !error; i++) {
		error = detect_addresses(stream->data, stream->size, &settings[i].params,
					 config->space, &settings[i].addresses);
		if (settings[i].addresses.cost < least)
			least = settings[i].addresses.cost;
	}
	if (error)
		return error;
	if (least < *floor)
		*floor = least;
	for (unsigned int i = 0; i < count; i++) {
		if (settings[i].addresses.cost <= least + ADDRESS_EQUAL &&
		    !is_taken(settings, i, least + ADDRESS_EQUAL))
			add_candidate(candidates, base, &settings[i], 0);
	}
	return NTRACE_OK;
}

/* A walk that is wrong may run round in loops, in which it meets nothing that contradicts it. */
static bool is_wild(const struct ntrace_detect_candidate *walk,
		    const struct ntrace_detect_candidate *other)
{
	return walk->instructions / WILD > other->instructions &&
	       other->flow_errors <= ERRORS_WILD * walk->flow_errors;
}

/*
 * Errors by the instructions between them: losses are errors in either case, and a walk that is wrong
 * may have few because it waits for the next sync most of the time.
 */
static bool is_better(const struct ntrace_detect_candidate *walk,
		      const struct ntrace_detect_candidate *other)
{
	if (is_wild(walk, other) || is_wild(other, walk))
		return is_wild(other, walk);
	return walk->flow_errors * (other->instructions + 1) <
	       other->flow_errors * (walk->instructions + 1);
}

/* Losses alone, or few messages, may be all that makes a difference. */
static bool are_alike(const struct ntrace_detect_candidate *one,
		      const struct ntrace_detect_candidate *other)
{
	if (is_wild(one, other) || is_wild(other, one))
		return true;
	if (!one->flow_errors && !other->flow_errors)
		return one->instructions != other->instructions;
	return one->flow_errors <= ERRORS_ALIKE * other->flow_errors &&
	       other->flow_errors <= ERRORS_ALIKE * one->flow_errors;
}

/* With all_jumps, if that contradicts the code less. */
static int follow(const struct ntrace_detect_config *config, const struct detect_stream *stream,
		  struct ntrace_detect_candidate *candidate)
{
	struct ntrace_detect_candidate other;
	bool bare = candidate->params.xlen == 32 && !config->xlen_known &&
		    !params_isa(config->params);
	int error;

	/* Memory without a header does not say its instruction set. */
	if (bare)
		candidate->params.isa = "rv32gc";
	error = detect_flow(stream->data, stream->size, config->space, candidate);
	if (!error && (candidate->flow_errors || candidate->messages < RARE)) {
		other = *candidate;
		other.params.all_jumps = true;
		error = detect_flow(stream->data, stream->size, config->space, &other);
		if (!error && are_alike(candidate, &other)) {
			candidate->open |= NTRACE_DETECT_OPEN_JUMPS;
			other.open |= NTRACE_DETECT_OPEN_JUMPS;
		}
		if (!error && is_better(&other, candidate))
			*candidate = other;
	}
	if (bare)
		candidate->params.isa = NULL;
	candidate->cost += candidate->flow_errors * EVIDENCE_FLOW_ERROR;
	return error;
}

/* By evidence; equal ones stay in their order, the simplest first. */
static void sort(struct candidates *candidates)
{
	for (unsigned int i = 1; i < candidates->count; i++) {
		struct ntrace_detect_candidate moved = candidates->candidate[i];
		unsigned int at = i;

		for (; at && candidates->candidate[at - 1].cost > moved.cost; at--)
			candidates->candidate[at] = candidates->candidate[at - 1];
		candidates->candidate[at] = moved;
	}
}

/* Drops those that fit worse, and says of the others what remains open. */
static void settle(struct candidates *candidates)
{
	struct ntrace_detect_candidate *best = candidates->candidate;
	uint32_t open = 0;
	unsigned int count = 0;

	sort(candidates);
	while (count < candidates->count && best[count].cost <= best->cost + EVIDENCE_EQUAL) {
		if (best[count].params.xlen != best->params.xlen)
			open |= NTRACE_DETECT_OPEN_XLEN;
		if (best[count].params.src_bits != best->params.src_bits)
			open |= NTRACE_DETECT_OPEN_SRC;
		count++;
	}
	candidates->count = count;
	for (unsigned int i = 0; i < count; i++) {
		best[i].equal = true;
		best[i].open |= open;
	}
}

/* What nobody can see in a stream. */
static void set_known(struct ntrace_params *params, const struct ntrace_params *known)
{
	ntrace_params_init(params);
	params->timestamp_hz = known->timestamp_hz;
	params->implicit_return = known->implicit_return;
	params->keep_stack = known->keep_stack;
	params->jvt = known->jvt;
	params->jvt_known = known->jvt_known;
	params->isa = known->isa;
}

/* One width of SRC. */
static int expand(const struct ntrace_detect_config *config, const struct judged *judged,
		  unsigned int src_bits, struct candidates *candidates, uint64_t *floor)
{
	const struct detect_stream *stream = &judged->stream;
	struct ntrace_detect_candidate base = {
		.packing = stream->packing,
		.source = stream->packing == NTRACE_DETECT_FRAMES ? stream->source : 0,
		.bytes = stream->size,
	};
	struct detect_score score;
	bool open = false;
	int error;

	set_known(&base.params, config->params);
	base.params.src_bits = src_bits;
	set_dialect(&judged->score[src_bits], &base);
	error = stream->size > SCORED_BYTES ?
			detect_score(stream->data, stream->size, src_bits, &score) :
			NTRACE_OK;
	set_figures(stream->size > SCORED_BYTES ? &score : &judged->score[src_bits], &base);
	base.cost = judged->score[src_bits].cost / 16;
	if (!error && base.timestamps)
		error = detect_times(stream->data, stream->size, &base.params, &open);
	if (open)
		base.open |= NTRACE_DETECT_OPEN_DELTA;
	if (!error)
		error = expand_addresses(config, stream, &base, candidates, floor);
	return error;
}

/* Of the widths of SRC with evidence of at most @limit bits more against them than the best. */
static int expand_all(const struct ntrace_detect_config *config, const struct judged *judged,
		      uint64_t limit, struct candidates *candidates)
{
	uint64_t least = judged->score[judged->best].cost / 16, floor = UINT64_MAX;
	int error = NTRACE_OK;

	candidates->count = 0;
	for (unsigned int bits = 0; bits <= NTRACE_SRC_BITS_MAX && !error; bits++) {
		if (judged->score[bits].cost / 16 - least <= limit)
			error = expand(config, judged, bits, candidates, &floor);
	}
	for (unsigned int i = 0; i < candidates->count; i++)
		candidates->candidate[i].cost -= floor * EVIDENCE_ADDRESS;
	for (unsigned int i = 0; i < candidates->count && config->space && !error; i++)
		error = follow(config, &judged->stream, &candidates->candidate[i]);
	return error;
}

static bool fits_code(const struct candidates *candidates)
{
	for (unsigned int i = 0; i < candidates->count; i++) {
		const struct ntrace_detect_candidate *candidate = &candidates->candidate[i];

		if (candidate->flow_errors <= candidate->messages / HOPELESS)
			return true;
	}
	return !candidates->count;
}

int candidates_make(const struct ntrace_detect_config *config, const struct judged *judged,
		    struct candidates *candidates)
{
	int error = expand_all(config, judged, config->space ? EVIDENCE_FOLLOWED : EVIDENCE_EQUAL,
			       candidates);

	if (!error && config->space && !fits_code(candidates))
		error = expand_all(config, judged, EVIDENCE_HOPELESS, candidates);
	if (error)
		return error;
	settle(candidates);
	for (unsigned int i = 0; i < candidates->count && !error; i++)
		error = detect_check(judged->stream.data,
				     judged->stream.size < SCORED_BYTES ? judged->stream.size :
									  SCORED_BYTES,
				     &candidates->candidate[i]);
	return error;
}
