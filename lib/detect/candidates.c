// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Extends the widths of SRC that fit a stream to whole sets of parameters. */
#include <string.h>

#include "candidates.h"
#include "wire/params.h"

/* Amounts of evidence in bits. */
#define EVIDENCE_ADDRESS 2
/* A smaller difference between two candidates may be chance. */
#define EVIDENCE_EQUAL 10
/* With programs, candidates within this margin of the best one are followed too. */
#define EVIDENCE_FOLLOWED 100
/* Added to candidates that the code refutes. */
#define EVIDENCE_HOPELESS 4000
#define ADDRESS_EQUAL 4
/* More padded fields than this, with every setting, are an encoder's habit. */
#define PADDED_FEW 2
#define PADDED_RARE 64
/* With fewer bits, addresses of kernel and user space would overlap. */
#define ADDRBITS_MIN 38
/*
 * A wrong walk can end up in a loop: this many times the instructions of another walk indicate it.
 */
#define WILD 100
#define WILD_MESSAGE 4096
/* Evidence, for or against a walk, that losses in the stream alone can produce. */
#define EVIDENCE_BY_LOSS 100
#define LOSS_FACTOR 4
/*
 * Additional margin if even the best candidate contradicts the code: losses may explain that much.
 */
#define EVIDENCE_DAMAGED 40
/* A looping walk may have fewer errors than another one, up to this factor. */
#define ERRORS_WILD 10
/*
 * If more than one message of this many is lost, the width of SRC is wrong too; short streams have
 * a stricter limit.
 */
#define HOPELESS 8
#define HOPELESS_SMALL 50
#define SMALL_BYTES 65536
/* With programs, address settings that are less likely by up to this much are followed too. */
#define ADDRESS_FOLLOWED 200
/* From this number on, SiFive's messages are not attributed to damage. */
#define SIFIVE_MANY 6
/* Of this many numbers that software stores, more than one is no context. */
#define OWNERS_ODD 8
/*
 * A candidate with more errors of the checker than this many times those of another one, and than one in so many
 * messages, does not fit, whatever its cost.
 */
#define ERRORS_FACTOR 4
#define ERRORS_RARE 50
#define ERRORS_FEW 8
/* One message in this many may be attributed to damage. */
#define RARE 50

static bool is_damaged(const struct detect_score *score)
{
	return score->unknown || score->illegal || score->truncated || score->extra ||
	       score->wire_errors;
}

/* Whether numbers that software stored are in Ownership, which only SiFive's encoders send. */
static bool has_stored_owners(const struct detect_score *score)
{
	return score->odd_owners >= SIFIVE_MANY && score->odd_owners > score->owners / OWNERS_ODD;
}

/* Sets the dialect and mode that the messages indicate. */
static void set_dialect(const struct detect_score *score, struct ntrace_detect_candidate *candidate)
{
	struct ntrace_params *params = &candidate->params;

	bool damaged = is_damaged(score);
	/* Stores are SiFive's, unless there is other data trace. */
	uint64_t sifive = score->sifive + (score->data < score->stores ? score->stores : 0);

	/* Damage produces reserved TCODEs fifteen times as often as those of SiFive. */
	if (damaged ? sifive >= SIFIVE_MANY && sifive > 2 * (score->unknown + score->illegal) :
		      sifive > 1 || (sifive && score->messages < RARE))
		params->dialect = NTRACE_DIALECT_SIFIVE_V0;
	else if (has_stored_owners(score))
		params->dialect = NTRACE_DIALECT_SIFIVE_V0;
	else if (score->markers && score->markers * RARE >= score->syncs)
		params->dialect = NTRACE_DIALECT_RC7;
	else if (sifive)
		candidate->open |= NTRACE_DETECT_OPEN_DIALECT;
	if (score->vendor && score->timestamps)
		candidate->open |= NTRACE_DETECT_OPEN_VENDOR;
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

/* Lists XLEN and extaddr, then addrbits without and with extaddr; the simplest first. */
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

/* Whether an earlier, simpler setting gives the same addresses with the same XLEN. */
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

/*
 * Only pre-ratification SiFive encoders send addresses of fewer bits. Their times are XORed, so other
 * times contradict that dialect.
 */
static void set_narrow_dialect(const struct detect_stream *stream,
			       struct ntrace_detect_candidate *candidate)
{
	struct ntrace_params *params = &candidate->params;

	if (!params->address_bits || params->extend_address ||
	    params->dialect != NTRACE_DIALECT_RATIFIED ||
	    (candidate->timestamps && params->timestamp_delta != NTRACE_TIME_DELTA_XOR))
		return;
	params->dialect = NTRACE_DIALECT_SIFIVE_V0;
	detect_owners(stream->data, stream->size, params);
}

/* @followed: the later walk judges addresses outside the code */
static void add_candidate(struct candidates *candidates, const struct detect_stream *stream,
			  const struct ntrace_detect_candidate *base,
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
	set_narrow_dialect(stream, candidate);
	candidates->count++;
}

static void level(uint64_t *bit, uint64_t *sign)
{
	if (*sign > *bit + 1)
		*sign = *bit + 1;
	else if (*bit > *sign)
		*bit = *sign;
}

/* Whether two settings differ only in the meaning of the top address bit. */
static bool differ_in_sign(const struct address_setting *one, const struct address_setting *other)
{
	return one->params.extend_address != other->params.extend_address &&
	       one->params.xlen == other->params.xlen &&
	       one->params.address_bits == other->params.address_bits;
}

/*
 * Only the location of addresses distinguishes a sign from an address bit, unless the form of a
 * field contradicts one of the two: otherwise both are equally likely.
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

static bool is_habit(uint64_t least, uint64_t addresses)
{
	return least > PADDED_FEW + addresses / PADDED_RARE;
}

/*
 * Most encoders send no more bytes than necessary, so padding contradicts a setting. Some encoders pad: then every
 * setting has fields with zeros at the top, or every setting with a sign has copies of the sign, and only the
 * location of addresses decides.
 */
static void count_padding(struct address_setting *settings, unsigned int count)
{
	uint64_t padded = UINT64_MAX, copies = UINT64_MAX, misplaced = UINT64_MAX;

	for (unsigned int i = 0; i < count; i++) {
		const struct detect_addresses *addresses = &settings[i].addresses;

		if (addresses->padded < padded)
			padded = addresses->padded;
		/* A field that is too wide for a setting counts as misplaced, whatever its top bits are. */
		if (!settings[i].params.extend_address || addresses->misplaced > misplaced ||
		    (addresses->misplaced == misplaced && addresses->copies >= copies))
			continue;
		misplaced = addresses->misplaced;
		copies = addresses->copies;
	}
	for (unsigned int i = 0; i < count; i++) {
		struct detect_addresses *addresses = &settings[i].addresses;

		if (!is_habit(padded, addresses->addresses))
			detect_misplace(addresses, addresses->padded);
		if (!is_habit(copies, addresses->addresses))
			detect_misplace(addresses, addresses->copies);
	}
}

/* Adds a candidate for each address setting that fits, for one width of SRC. */
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
	}
	if (error)
		return error;
	count_padding(settings, count);
	for (unsigned int i = 0; i < count; i++)
		if (settings[i].addresses.cost < least)
			least = settings[i].addresses.cost;
	level_signs(settings, count);
	limit = least + (config->space ? ADDRESS_FOLLOWED : ADDRESS_EQUAL);
	for (unsigned int i = 0; i < count; i++) {
		if (settings[i].addresses.cost <= limit && !is_taken(settings, i, limit))
			add_candidate(candidates, stream, base, &settings[i], config->space);
	}
	return NTRACE_OK;
}

/* A wrong walk may loop in code where nothing contradicts it. */
static bool is_wild(const struct ntrace_detect_candidate *walk,
		    const struct ntrace_detect_candidate *other)
{
	return walk->instructions / WILD > other->instructions &&
	       other->lost <= walk->lost + RARE &&
	       other->flow_errors <= ERRORS_WILD * walk->flow_errors;
}

/* A candidate with the result of its walk. */
struct code_walk {
	struct ntrace_detect_candidate candidate;
	struct detect_code code;
};

static bool is_better(const struct code_walk *walk, const struct code_walk *other)
{
	if (is_wild(&walk->candidate, &other->candidate) ||
	    is_wild(&other->candidate, &walk->candidate))
		return is_wild(&other->candidate, &walk->candidate);
	/* A walk without any contradiction explains the whole stream. */
	if (!walk->candidate.flow_errors != !other->candidate.flow_errors)
		return !walk->candidate.flow_errors;
	return walk->code.cost < other->code.cost;
}

/* Whether losses, or too few messages, can explain the difference between two walks. */
static bool are_alike(const struct code_walk *one, const struct code_walk *other)
{
	uint64_t cost = one->code.cost, others = other->code.cost;

	/* The same code, perhaps because most of it is lost. */
	if (one->code.path == other->code.path)
		return cost != others || one->candidate.lost || one->candidate.flow_errors;
	if (is_wild(&one->candidate, &other->candidate) ||
	    is_wild(&other->candidate, &one->candidate))
		return true;
	if (!one->candidate.flow_errors || !other->candidate.flow_errors)
		return one->candidate.flow_errors == other->candidate.flow_errors;
	return cost <= LOSS_FACTOR * others + EVIDENCE_BY_LOSS &&
	       others <= LOSS_FACTOR * cost + EVIDENCE_BY_LOSS;
}

/* Walks the code once more with other parameters, and keeps the walk that contradicts it less. */
static int follow_otherwise(const struct ntrace_detect_config *config,
			    const struct detect_stream *stream, struct code_walk *other,
			    struct code_walk *walk, uint32_t open)
{
	int error = detect_flow(stream->data, stream->size, config->space, &other->candidate,
				&other->code);

	if (error)
		return error;
	if (are_alike(walk, other)) {
		walk->candidate.open |= open;
		other->candidate.open |= open;
	}
	if (walk->code.path != other->code.path && is_better(other, walk))
		*walk = *other;
	return NTRACE_OK;
}

/* Also tries all_jumps and repeat_message. */
static int follow(const struct ntrace_detect_config *config, const struct detect_stream *stream,
		  struct ntrace_detect_candidate *candidate)
{
	struct code_walk walk = { .candidate = *candidate }, other;
	struct ntrace_params *params = &walk.candidate.params;
	bool bare = params->xlen == 32 && !config->xlen_known && !params_isa(config->params);
	int error;

	/* Raw bytes do not define their instruction set. */
	if (bare)
		params->isa = "rv32gc";
	other.candidate = walk.candidate;
	other.candidate.params.all_jumps = true;
	error = detect_flow(stream->data, stream->size, config->space, &walk.candidate, &walk.code);
	if (!error)
		error = follow_otherwise(config, stream, &other, &walk, NTRACE_DETECT_OPEN_JUMPS);
	if (!error && walk.code.repeats) {
		other.candidate = walk.candidate;
		other.candidate.params.repeat_message = true;
		error = follow_otherwise(config, stream, &other, &walk, NTRACE_DETECT_OPEN_REPEAT);
	}
	if (error)
		return error;
	*candidate = walk.candidate;
	if (bare)
		candidate->params.isa = NULL;
	candidate->cost += walk.code.cost;
	return NTRACE_OK;
}

/* Sorts by evidence; candidates with equal evidence keep their order, the simplest first. */
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

/* Whether chance can explain the difference between a candidate and the best one. */
static bool is_equal(const struct ntrace_detect_candidate *candidate,
		     const struct ntrace_detect_candidate *best)
{
	uint64_t margin = EVIDENCE_EQUAL;

	if (best->programs && best->flow_errors)
		margin += EVIDENCE_DAMAGED;
	return candidate->cost <= best->cost + margin;
}

/* Drops candidates that fit worse, and marks the open questions of the others. */
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

/* Copies the parameters that a stream never reveals. */
static void set_known(struct ntrace_params *params, const struct ntrace_params *known)
{
	ntrace_params_init(params);
	params->timestamp_hz = known->timestamp_hz;
	params->implicit_return = known->implicit_return;
	params->keep_stack = known->keep_stack;
	params->jvt = known->jvt;
	params->jvt_known = known->jvt_known;
	params->isa = known->isa;
	params->owner = known->owner;
}

/* Adds the candidates for one width of SRC. */
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
	detect_owners(stream->data, stream->size, &base.params);
	if (!error)
		error = expand_addresses(config, stream, &base, candidates);
	return error;
}

/* Whether a walk runs in a loop while another candidate follows most messages in a few steps. */
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

static uint64_t errors_max(const struct ntrace_detect_candidate *candidate, uint64_t least)
{
	return ERRORS_FACTOR * least + candidate->messages / ERRORS_RARE + ERRORS_FEW;
}

/* Candidates that break many more rules than another one. */
static void punish_errors(struct candidates *candidates)
{
	uint64_t least = UINT64_MAX;

	for (unsigned int i = 0; i < candidates->count; i++)
		if (candidates->candidate[i].check_errors < least)
			least = candidates->candidate[i].check_errors;
	for (unsigned int i = 0; i < candidates->count; i++) {
		struct ntrace_detect_candidate *candidate = &candidates->candidate[i];

		if (candidate->check_errors > errors_max(candidate, least))
			candidate->cost += EVIDENCE_HOPELESS;
	}
}

static int check(const struct detect_stream *stream, struct candidates *candidates)
{
	size_t size = stream->size < SCORED_BYTES ? stream->size : SCORED_BYTES;
	int error = NTRACE_OK;

	for (unsigned int i = 0; i < candidates->count && !error; i++)
		error = detect_check(stream->data, size, &candidates->candidate[i]);
	return error;
}

/*
 * Expands all widths of SRC with at most @limit more bits of evidence against them than the best.
 */
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
	/* Without a program no candidate has walked, so none is wild. */
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
	int error = expand_all(config, judged, EVIDENCE_FOLLOWED, candidates);

	if (!error && config->space && !fits_code(candidates, judged->stream.size))
		error = expand_all(config, judged, EVIDENCE_HOPELESS, candidates);
	if (!error)
		error = check(&judged->stream, candidates);
	if (error)
		return error;
	punish_errors(candidates);
	settle(candidates);
	return NTRACE_OK;
}
