// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* From the widths of SRC that fit a stream to whole sets of parameters. */
#include <string.h>

#include "candidates.h"
#include "wire/params.h"

/* Bits of evidence. */
#define EVIDENCE_ADDRESS 2
/* Candidates that differ by less are told apart by nothing but chance. */
#define EVIDENCE_EQUAL 10
/* With programs others than the best are followed, too. */
#define EVIDENCE_FOLLOWED 100
/* The code contradicts each of them. */
#define EVIDENCE_HOPELESS 4000
#define ADDRESS_EQUAL 4
/* An encoder of fewer bits could not tell kernel from user space. */
#define ADDRBITS_MIN 38
/* So many times the instructions are a walk that went wild. */
#define WILD 100
#define WILD_MESSAGE 4096
/* Evidence that losses in the stream may make, for or against a walk. */
#define EVIDENCE_BY_LOSS 100
#define LOSS_FACTOR 4
/* Settings of addresses that the code contradicts: losses may have made so much of it. */
#define EVIDENCE_DAMAGED 40
/* A walk that went wild has so much fewer errors at most. */
#define ERRORS_WILD 10
/* More messages than one of so many are lost: the width of SRC is wrong, too; of few bytes even fewer. */
#define HOPELESS 8
#define HOPELESS_SMALL 50
#define SMALL_BYTES 65536
/* With programs, settings of addresses are followed that by themselves are so much less likely. */
#define ADDRESS_FOLLOWED 200
/* Of SiFive's messages so many are no damage. */
#define SIFIVE_MANY 6
/* Of messages of both modes, so few come from damage. */
#define RARE 50

static bool is_damaged(const struct detect_score *score)
{
	return score->unknown || score->illegal || score->truncated || score->extra ||
	       score->wire_errors;
}

/* Which dialect and mode the messages speak for. */
static void set_dialect(const struct detect_score *score, struct ntrace_detect_candidate *candidate)
{
	struct ntrace_params *params = &candidate->params;

	bool damaged = is_damaged(score);

	/* Damage makes reserved TCODEs fifteen times as often as those of SiFive. */
	if (damaged ? score->sifive >= SIFIVE_MANY &&
			      score->sifive > 2 * (score->unknown + score->illegal) :
		      score->sifive > 1 || (score->sifive && score->messages < RARE))
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
	if (config->xlen_known && config->params->xlen == 32)
		return count;
	for (unsigned int i = 0; i < 2 * WIDTHS_MAX; i++) {
		unsigned int bits = probe->widths[i % WIDTHS_MAX];

		if (bits < ADDRBITS_MIN)
			continue;
		settings[count].params = *base;
		settings[count].params.xlen = 64;
		settings[count].params.extend_address = i >= WIDTHS_MAX;
		settings[count++].params.address_bits = bits;
	}
	return count;
}

/* Equal addresses of the same XLEN: nothing tells them apart, and the simpler one has been taken. */
static bool is_taken(const struct address_setting *settings, unsigned int index, uint64_t limit)
{
	for (unsigned int i = 0; i < index; i++) {
		if (settings[i].addresses.cost <= limit &&
		    settings[i].params.xlen == settings[index].params.xlen &&
		    settings[i].addresses.misplaced <= settings[index].addresses.misplaced &&
		    settings[i].addresses.hash == settings[index].addresses.hash)
			return true;
	}
	return false;
}

/* @followed: the code will say whether addresses are outside of it */
static void add_candidate(struct candidates *candidates, const struct ntrace_detect_candidate *base,
			  const struct address_setting *setting, bool followed)
{
	const struct detect_addresses *addresses = &setting->addresses;
	struct ntrace_detect_candidate *candidate = &candidates->candidate[candidates->count];

	if (candidates->count == CANDIDATES_MAX)
		return;
	*candidate = *base;
	candidate->params = setting->params;
	candidate->addresses = addresses->addresses;
	candidate->misplaced = addresses->misplaced;
	candidate->outside = addresses->outside;
	candidate->cost += (followed ? addresses->form : addresses->cost) * EVIDENCE_ADDRESS;
	candidates->count++;
}

static void level(uint64_t *bit, uint64_t *sign)
{
	if (*sign > *bit + 1)
		*sign = *bit + 1;
	else if (*bit > *sign)
		*bit = *sign;
}

/* Settings that differ only in what the top bit of an address is. */
static bool differ_in_sign(const struct address_setting *one, const struct address_setting *other)
{
	return one->params.extend_address != other->params.extend_address &&
	       one->params.xlen == other->params.xlen &&
	       one->params.address_bits == other->params.address_bits;
}

/*
 * Only where the addresses are tells a sign from a bit, unless the form of a field contradicts one
 * of them: either is as likely.
 */
static void level_signs(struct address_setting *settings, unsigned int count)
{
	for (unsigned int i = 0; i < count; i++) {
		struct detect_addresses *bit = &settings[i].addresses;

		for (unsigned int j = i + 1; j < count; j++) {
			struct detect_addresses *sign = &settings[j].addresses;

			if (!differ_in_sign(&settings[i], &settings[j]) ||
			    bit->misplaced != sign->misplaced || bit->outside != sign->outside)
				continue;
			level(&bit->cost, &sign->cost);
			level(&bit->form, &sign->form);
		}
	}
}

/* The settings of addresses that fit, for one width of SRC. */
static int expand_addresses(const struct ntrace_detect_config *config,
			    const struct detect_stream *stream,
			    const struct ntrace_detect_candidate *base,
			    struct candidates *candidates)
{
	struct address_setting settings[SETTINGS_MAX];
	struct detect_addresses probe;
	uint64_t least = UINT64_MAX, limit;
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
	level_signs(settings, count);
	limit = least + (config->space ? ADDRESS_FOLLOWED : ADDRESS_EQUAL);
	for (unsigned int i = 0; i < count; i++) {
		if (settings[i].addresses.cost <= limit && !is_taken(settings, i, limit))
			add_candidate(candidates, base, &settings[i], config->space);
	}
	return NTRACE_OK;
}

/* A walk that is wrong may run round in loops, in which it meets nothing that contradicts it. */
static bool is_wild(const struct ntrace_detect_candidate *walk,
		    const struct ntrace_detect_candidate *other)
{
	return walk->instructions / WILD > other->instructions &&
	       other->lost <= walk->lost + RARE &&
	       other->flow_errors <= ERRORS_WILD * walk->flow_errors;
}

/* A candidate, and what the code says of it. */
struct code_walk {
	struct ntrace_detect_candidate candidate;
	struct detect_code code;
};

static bool is_better(const struct code_walk *walk, const struct code_walk *other)
{
	if (is_wild(&walk->candidate, &other->candidate) ||
	    is_wild(&other->candidate, &walk->candidate))
		return is_wild(&other->candidate, &walk->candidate);
	/* Without any contradiction all is explained. */
	if (!walk->candidate.flow_errors != !other->candidate.flow_errors)
		return !walk->candidate.flow_errors;
	return walk->code.cost < other->code.cost;
}

/* Losses alone, or few messages, may be all that makes a difference. */
static bool are_alike(const struct code_walk *one, const struct code_walk *other)
{
	uint64_t cost = one->code.cost, others = other->code.cost;

	if (one->code.path == other->code.path)
		return false;
	if (is_wild(&one->candidate, &other->candidate) ||
	    is_wild(&other->candidate, &one->candidate))
		return true;
	if (!one->candidate.flow_errors || !other->candidate.flow_errors)
		return one->candidate.flow_errors == other->candidate.flow_errors;
	return cost <= LOSS_FACTOR * others + EVIDENCE_BY_LOSS &&
	       others <= LOSS_FACTOR * cost + EVIDENCE_BY_LOSS;
}

/* With all_jumps, if that contradicts the code less. */
static int follow(const struct ntrace_detect_config *config, const struct detect_stream *stream,
		  struct ntrace_detect_candidate *candidate)
{
	struct code_walk walk = { .candidate = *candidate }, other;
	struct ntrace_params *params = &walk.candidate.params;
	bool bare = params->xlen == 32 && !config->xlen_known && !params_isa(config->params);
	int error;

	/* Memory without a header does not say its instruction set. */
	if (bare)
		params->isa = "rv32gc";
	other.candidate = walk.candidate;
	other.candidate.params.all_jumps = true;
	error = detect_flow(stream->data, stream->size, config->space, &walk.candidate, &walk.code);
	if (!error)
		error = detect_flow(stream->data, stream->size, config->space, &other.candidate,
				    &other.code);
	if (error)
		return error;
	if (are_alike(&walk, &other)) {
		walk.candidate.open |= NTRACE_DETECT_OPEN_JUMPS;
		other.candidate.open |= NTRACE_DETECT_OPEN_JUMPS;
	}
	if (is_better(&other, &walk))
		walk = other;
	*candidate = walk.candidate;
	if (bare)
		candidate->params.isa = NULL;
	candidate->cost += walk.code.cost;
	return NTRACE_OK;
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

/* Is there no more against a candidate than against the best one but what chance may make? */
static bool is_equal(const struct ntrace_detect_candidate *candidate,
		     const struct ntrace_detect_candidate *best)
{
	uint64_t margin = EVIDENCE_EQUAL;

	if (best->programs && best->flow_errors)
		margin += EVIDENCE_DAMAGED;
	return candidate->cost <= best->cost + margin;
}

/* Drops those that fit worse, and says of the others what remains open. */
static void settle(struct candidates *candidates)
{
	struct ntrace_detect_candidate *best = candidates->candidate;
	uint32_t open = 0;
	unsigned int count = 0;

	sort(candidates);
	for (unsigned int i = 0; i < candidates->count; i++) {
		if (!is_equal(&best[i], best))
			continue;
		best[count] = best[i];
		if (best[count].params.xlen != best->params.xlen)
			open |= NTRACE_DETECT_OPEN_XLEN;
		if (best[count].params.src_bits != best->params.src_bits)
			open |= NTRACE_DETECT_OPEN_SRC;
		if (best[count].params.extend_address != best->params.extend_address)
			open |= NTRACE_DETECT_OPEN_EXTADDR;
		if (best[count].params.address_bits != best->params.address_bits)
			open |= NTRACE_DETECT_OPEN_ADDRBITS;
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
		  unsigned int src_bits, struct candidates *candidates)
{
	const struct detect_stream *stream = &judged->stream;
	struct ntrace_detect_candidate base = {
		.packing = stream->packing,
		.source = stream->packing == NTRACE_DETECT_FRAMES ? stream->source : 0,
		.bytes = stream->size,
	};
	struct detect_score score;
	uint32_t open = 0;
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
		error = detect_times(stream->data, stream->size, &base.params,
				     is_damaged(&judged->score[src_bits]), &open);
	base.open |= open;
	if (!error)
		error = expand_addresses(config, stream, &base, candidates);
	return error;
}

/* Code as of a loop that runs on and on, while another candidate follows most messages in a few steps. */
static bool runs_wild(const struct ntrace_detect_candidate *walk,
		      const struct ntrace_detect_candidate *other)
{
	return walk->instructions / WILD_MESSAGE > walk->messages &&
	       walk->instructions / WILD > other->instructions &&
	       other->instructions >= other->messages && other->lost <= other->messages / 2;
}

static void punish_wild(struct candidates *candidates)
{
	for (unsigned int i = 0; i < candidates->count; i++) {
		struct ntrace_detect_candidate *walk = &candidates->candidate[i];
		bool wild = false;

		for (unsigned int j = 0; j < candidates->count; j++)
			wild |= runs_wild(walk, &candidates->candidate[j]);
		if (wild)
			walk->cost += EVIDENCE_HOPELESS;
	}
}

/* Of the widths of SRC with evidence of at most @limit bits more against them than the best. */
static int expand_all(const struct ntrace_detect_config *config, const struct judged *judged,
		      uint64_t limit, struct candidates *candidates)
{
	uint64_t least = judged->score[judged->best].cost / 16;
	int error = NTRACE_OK;

	candidates->count = 0;
	for (unsigned int bits = 0; bits <= NTRACE_SRC_BITS_MAX && !error; bits++) {
		if (judged->score[bits].cost / 16 - least <= limit)
			error = expand(config, judged, bits, candidates);
	}
	for (unsigned int i = 0; i < candidates->count && config->space && !error; i++)
		error = follow(config, &judged->stream, &candidates->candidate[i]);
	if (config->space && !error)
		punish_wild(candidates);
	return error;
}

static bool fits_code(const struct candidates *candidates, size_t bytes)
{
	unsigned int hopeless = bytes <= SMALL_BYTES ? HOPELESS_SMALL : HOPELESS;

	for (unsigned int i = 0; i < candidates->count; i++) {
		const struct ntrace_detect_candidate *candidate = &candidates->candidate[i];

		if (candidate->lost + candidate->flow_errors <= candidate->messages / hopeless)
			return true;
	}
	return !candidates->count;
}

int candidates_make(const struct ntrace_detect_config *config, const struct judged *judged,
		    struct candidates *candidates)
{
	int error = expand_all(config, judged, config->space ? EVIDENCE_FOLLOWED : EVIDENCE_EQUAL,
			       candidates);

	if (!error && config->space && !fits_code(candidates, judged->stream.size))
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
