// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * How well a width of SRC fits: the cost of encoding the stream with an adaptive model.
 *
 * TCODE and the ends of fields do not depend on the width; the fixed fields and the first variable
 * field do. Each of their bits costs as much as an adaptive model failed to predict: SRC has a
 * model of its own, fixed fields and bits of the variable field have one for each TCODE. With too
 * few bits of SRC the values of fixed fields are shifted; with too many, those of SRC vary with the
 * message. In addition, each thing that no encoder sends costs a fixed amount: reserved values,
 * messages of a SRC that has not synchronized, more history than I-CNT.
 */
#include <stdlib.h>
#include <string.h>

#include "detect.h"
#include "wire/params.h"
#include "wire/stamp.h"

/* Costs are in sixteenths of a bit. */
#define BIT 16
#define MDO_BITS 6
#define COST_WRONG (12 * BIT)
#define COST_RARE (3 * BIT)
#define COST_ORPHAN (4 * BIT)
/* A trace may begin long before the next sync: this many orphans of a SRC count. */
#define ORPHANS_MAX 8
/* Any width of SRC other than 0 is an assumption. */
#define COST_ASSUMPTION (6 * BIT)
/*
 * A bit that never changed is trusted quickly, else its cost would grow with the stream's length.
 */
#define SURE 8

/* Bits of the first variable field with their own model; the bits above share the last model. */
#define MODELED_BITS 24
#define FIXED_FIELDS 2
#define FIXED_VALUES 16

struct src_score {
	uint32_t count;
	uint32_t orphans;	/* messages before the first sync */
	uint32_t generation;	/* the stretch of the stream to which @sure applies */
	bool known;		/* the SRC has synchronized */
	bool sure;		/* no message is missing since the last sync */
	bool off;		/* Correlation or Error: a sync must follow */
	uint64_t parcels;	/* sum of ResourceFull, not yet in an I-CNT */
	uint64_t branches;	/* likewise, for history */
};

struct scorer {
	struct detect_score *score;
	uint32_t total;
	uint32_t generation;
	unsigned int src_bits;
	uint32_t fixed[64][FIXED_FIELDS][FIXED_VALUES];
	uint32_t fixed_total[64][FIXED_FIELDS];
	uint32_t bit[64][MODELED_BITS][2];
	struct src_score source[];	/* by SRC */
};

/* log2(@n) in sixteenths, @n not 0; accurate to a tenth of a bit. */
static uint32_t log2_of(uint32_t n)
{
	uint32_t whole = 31 - (uint32_t)__builtin_clz(n);

	return whole * BIT + ((n << (31 - whole) & 0x7fffffff) >> 27);
}

/* Cost of a value of @bits bits that was seen @count times among @total. */
static uint32_t symbol_cost(uint32_t count, uint32_t total, unsigned int bits)
{
	return log2_of(total + 1) + (count ? 0 : bits * BIT) - (count ? log2_of(count) : 0);
}

static uint32_t cost_src(struct scorer *scorer, struct src_score *source)
{
	uint32_t cost = symbol_cost(source->count, scorer->total, scorer->src_bits);

	if (!source->count)
		scorer->score->sources++;
	source->count++;
	scorer->total++;
	return cost;
}

static uint32_t cost_bits(struct scorer *scorer, unsigned int tcode, uint64_t value,
			  unsigned int bits)
{
	uint32_t cost = 0;

	for (unsigned int i = 0; i < bits; i++) {
		uint32_t *seen = scorer->bit[tcode][i < MODELED_BITS ? i : MODELED_BITS - 1];
		unsigned int bit = i < 64 ? value >> i & 1 : 0;

		cost += log2_of((seen[0] + seen[1]) * SURE + 2) - log2_of(seen[bit] * SURE + 1);
		seen[bit]++;
	}
	return cost;
}

/* Number of bits in the first part of a message, up to the end of its first variable field. */
static unsigned int first_part_bits(const uint8_t *bytes, uint64_t length)
{
	uint64_t n = 0;

	while (n + 1 < length && !(bytes[n] & 3))
		n++;
	return n < 32 ? 6 * (unsigned int)(n + 1) : 6 * 32;
}

static uint32_t cost_fields(struct scorer *scorer, const struct ntrace_message *message,
			    const uint8_t *bytes, const struct ntrace_params *params)
{
	struct ntrace_layout_field layout[NTRACE_LAYOUT_MAX];
	unsigned int left = first_part_bits(bytes, message->length) - 6, fixed = 0;
	int count = ntrace_message_layout(message->tcode, message->field, params, layout);
	uint32_t cost = 0;

	for (int i = 0; i < count; i++) {
		uint64_t value = message->field[layout[i].field];

		if (!layout[i].bits)
			return cost + cost_bits(scorer, message->tcode, value, left);
		left -= layout[i].bits;
		if (layout[i].field == NTRACE_FIELD_SRC || fixed == FIXED_FIELDS)
			continue;
		cost += symbol_cost(scorer->fixed[message->tcode][fixed][value]++,
				    scorer->fixed_total[message->tcode][fixed]++, layout[i].bits);
		fixed++;
	}
	return cost;
}

static bool is_sync(const struct ntrace_message *message)
{
	return ntrace_message_has(message, NTRACE_FIELD_SYNC);
}

/* Whether a message reports code and depends on an earlier sync. */
static bool needs_sync(const struct ntrace_message *message)
{
	if (message->tcode == NTRACE_TCODE_OWNERSHIP || message->tcode == NTRACE_TCODE_ERROR ||
	    ntrace_message_is_beside(message))
		return false;
	if (message->tcode == NTRACE_TCODE_PROG_TRACE_CORRELATION)
		return message->field[NTRACE_FIELD_ICNT] != 0;
	return !is_sync(message);
}

static uint64_t history_bits(const struct ntrace_message *message)
{
	uint64_t hist = message->field[NTRACE_FIELD_HIST], repeat = 1;

	if (hist < 2)
		return 0;
	if (ntrace_message_has(message, NTRACE_FIELD_HREPEAT))
		repeat = message->field[NTRACE_FIELD_HREPEAT] & 0xfffff;
	return (63 - (uint64_t)__builtin_clzll(hist)) * repeat;
}

/* I-CNT counts every branch of the history and the instruction that transferred control. */
static bool counts_contradict(struct src_score *source, const struct ntrace_message *message)
{
	bool transfer = message->tcode == NTRACE_TCODE_DIRECT_BRANCH ||
			(ntrace_message_has(message, NTRACE_FIELD_UADDR) &&
			 message->field[NTRACE_FIELD_BTYPE] == NTRACE_BTYPE_JUMP);
	bool wrong;

	source->branches += history_bits(message);
	source->parcels += message->field[NTRACE_FIELD_ICNT] & UINT32_MAX;
	if (message->tcode == NTRACE_TCODE_RESOURCE_FULL ||
	    !ntrace_message_has(message, NTRACE_FIELD_ICNT))
		return false;
	wrong = source->sure &&
		(source->branches > source->parcels || (transfer && !source->parcels));
	source->branches = 0;
	source->parcels = 0;
	return wrong;
}

/* Compares the message with earlier ones of its SRC. Return: true if it contradicts them. */
static bool contradicts(struct scorer *scorer, struct src_score *source,
			const struct ntrace_message *message)
{
	bool needs = needs_sync(message), wrong;

	if (source->generation != scorer->generation) {
		source->generation = scorer->generation;
		source->sure = false;
		source->off = false;
	}
	if (needs && !source->known) {
		scorer->score->orphans++;
		if (source->orphans++ < ORPHANS_MAX)
			scorer->score->cost += COST_ORPHAN;
	}
	wrong = counts_contradict(source, message);
	if (is_sync(message)) {
		source->known = true;
		source->sure = true;
		source->off = false;
		return wrong;
	}
	wrong |= needs && source->off;
	if (message->tcode == NTRACE_TCODE_ERROR ||
	    message->tcode == NTRACE_TCODE_PROG_TRACE_CORRELATION) {
		source->off = source->known;
		source->sure = false;
	} else if (needs) {
		source->off = false;
	}
	return wrong;
}

static void count_kind(struct detect_score *score, const struct ntrace_message *message)
{
	bool history = ntrace_message_has(message, NTRACE_FIELD_HIST);
	bool sync = is_sync(message);

	score->syncs += sync;
	score->timestamps += ntrace_message_has(message, NTRACE_FIELD_TSTAMP);
	score->history += history;
	score->branch += message->tcode == NTRACE_TCODE_DIRECT_BRANCH ||
			 message->tcode == NTRACE_TCODE_DIRECT_BRANCH_SYNC;
	score->stores += message->tcode == NTRACE_TCODE_DATA_ACQUISITION;
	score->data += ntrace_message_has(message, NTRACE_FIELD_DSZ);
	score->owners += message->tcode == NTRACE_TCODE_OWNERSHIP;
	score->odd_owners += message->tcode == NTRACE_TCODE_OWNERSHIP &&
			     params_owner_is_odd(message->field[NTRACE_FIELD_PROCESS]);
	score->markers += sync && history &&
			  message->field[NTRACE_FIELD_SYNC] == NTRACE_SYNC_ICNT_FULL;
}

/* Return: false if the message has no fields to judge. */
static bool judge_layout(struct detect_score *score, const struct ntrace_message *message,
			 bool sifive)
{
	if (message->flags & NTRACE_MESSAGE_UNKNOWN) {
		if (sifive) {
			score->sifive++;
			score->sound += message->length;
		} else if (!stamp_of_vendor(message->tcode)) {
			score->unknown++;
			score->cost += COST_WRONG;
		} else {
			score->vendor += stamp_may_miss(message);
			score->sound += message->length;
		}
		return false;
	}
	/* No model predicts a message that cannot be read: else it would cost less than a sound one. */
	if (message->flags & NTRACE_MESSAGE_TRUNCATED) {
		score->truncated++;
		score->cost += message->length * MDO_BITS * BIT;
	}
	if (message->flags & NTRACE_MESSAGE_EXTRA)
		score->extra++;
	if (message->flags & (NTRACE_MESSAGE_TRUNCATED | NTRACE_MESSAGE_EXTRA))
		score->cost += COST_WRONG;
	return !(message->flags & NTRACE_MESSAGE_TRUNCATED);
}

static void take_message(struct scorer *scorer, const struct ntrace_params *params,
			 const struct ntrace_message *message, const uint8_t *bytes)
{
	struct src_score *source = &scorer->source[message->field[NTRACE_FIELD_SRC]];
	struct detect_score *score = scorer->score;
	struct detect_verdict verdict;
	bool wrong;

	score->messages++;
	detect_judge(message, &verdict);
	if (ntrace_message_has(message, NTRACE_FIELD_SRC) || !scorer->src_bits)
		score->cost += cost_src(scorer, source);
	if (!judge_layout(score, message, verdict.sifive))
		return;
	score->cost += cost_fields(scorer, message, bytes, params) + verdict.rare * COST_RARE;
	score->sifive += verdict.sifive;
	wrong = contradicts(scorer, source, message) | verdict.illegal;
	count_kind(score, message);
	if (wrong) {
		score->illegal++;
		score->cost += COST_WRONG;
	} else if (!(message->flags & NTRACE_MESSAGE_EXTRA)) {
		score->sound += message->length;
	}
}

/* Idle bytes as a port sends them; other bytes with that MSEO are not idle. */
static uint64_t idle_bytes(const uint8_t *data, uint64_t from, uint64_t to)
{
	uint64_t count = 0;

	for (; from < to; from++)
		count += data[from] == 0xff;
	return count;
}

/* The first message may be partial: it counts only if it is valid. */
static bool is_rest(const struct ntrace_message *message)
{
	struct detect_verdict verdict;

	detect_judge(message, &verdict);
	return verdict.illegal || verdict.sifive || message->flags;
}

int detect_score(const uint8_t *data, size_t size, unsigned int src_bits,
		 struct detect_score *score)
{
	struct scorer *scorer =
		calloc(1, sizeof(*scorer) + ((size_t)1 << src_bits) * sizeof(scorer->source[0]));
	struct ntrace_message message;
	struct ntrace_reader reader;
	struct ntrace_params params;
	uint64_t at = 0;
	bool first = true;
	int event;

	if (!scorer)
		return NTRACE_ERR_NOMEM;
	memset(score, 0, sizeof(*score));
	score->cost = src_bits ? COST_ASSUMPTION : 0;
	scorer->score = score;
	scorer->src_bits = src_bits;
	ntrace_params_init(&params);
	params.src_bits = src_bits;
	ntrace_reader_init(&reader, &params, true);
	ntrace_reader_feed(&reader, data, size);
	while ((event = ntrace_reader_next(&reader, &message)) >= 0) {
		score->idle += idle_bytes(data, at, message.offset);
		at = message.offset + message.length;
		if (event == NTRACE_WIRE_ERROR) {
			score->wire_errors += !first;
			scorer->generation++;
		} else if (first && is_rest(&message)) {
			score->cost += COST_WRONG;
		} else {
			take_message(scorer, &params, &message, data + message.offset);
		}
		first = false;
	}
	if (ntrace_reader_pending(&reader) == 0)
		score->idle += idle_bytes(data, at, size);
	free(scorer);
	return NTRACE_OK;
}
