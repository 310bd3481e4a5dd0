// SPDX-License-Identifier: GPL-2.0-only
/* Counts the contents of a trace. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "statistics.h"

#define SOURCES (1u << NTRACE_SRC_BITS_MAX)
#define STEP_BITS 5

static_assert(1 << STEP_BITS == HISTOGRAM_STEPS, "steps are a power of two");

static unsigned int bucket_of(uint64_t value)
{
	unsigned int exponent;

	if (value < HISTOGRAM_STEPS)
		return (unsigned int)value;
	exponent = 63 - (unsigned int)__builtin_clzll(value) - STEP_BITS;
	return HISTOGRAM_STEPS * (exponent + 1) +
	       (unsigned int)(value >> exponent & (HISTOGRAM_STEPS - 1));
}

/* The least value of a bucket. */
static uint64_t bucket_start(unsigned int bucket)
{
	unsigned int exponent = bucket / HISTOGRAM_STEPS;

	if (!exponent)
		return bucket;
	return (uint64_t)(HISTOGRAM_STEPS + bucket % HISTOGRAM_STEPS) << (exponent - 1);
}

void histogram_add(struct histogram *histogram, uint64_t value)
{
	if (!histogram->count || value < histogram->min)
		histogram->min = value;
	if (value > histogram->max)
		histogram->max = value;
	histogram->count++;
	histogram->bucket[bucket_of(value)]++;
}

uint64_t histogram_quantile(const struct histogram *histogram, unsigned int percent)
{
	uint64_t wanted = histogram->count - histogram->count * (100 - percent) / 100, seen = 0;
	unsigned int i;

	for (i = 0; i < HISTOGRAM_BUCKETS; i++) {
		seen += histogram->bucket[i];
		if (!seen || seen < wanted)
			continue;
		if (bucket_start(i) < histogram->min)
			return histogram->min;
		return bucket_start(i) < histogram->max ? bucket_start(i) : histogram->max;
	}
	return 0;
}

/* NULL when out of memory. */
static struct source_statistics *source_of(struct statistics *statistics, unsigned int src)
{
	struct source_statistics *source = statistics->source[src & (SOURCES - 1)];

	if (source)
		return source;
	source = calloc(1, sizeof(*source));
	if (!source)
		return NULL;
	/* Before the first sync nothing can be decoded. */
	source->lost = true;
	statistics->sources++;
	statistics->source[src & (SOURCES - 1)] = source;
	return source;
}

static unsigned int significant(uint64_t value)
{
	return value ? 64 - (unsigned int)__builtin_clzll(value) : 1;
}

/* Width of a fixed field, 0 for a variable field. */
static unsigned int fixed_width(const struct statistics *statistics, unsigned int field)
{
	switch (field) {
	case NTRACE_FIELD_SRC:
		return statistics->params.src_bits;
	case NTRACE_FIELD_SYNC:
	case NTRACE_FIELD_ETYPE:
	case NTRACE_FIELD_EVCODE:
	case NTRACE_FIELD_RCODE:
	case NTRACE_FIELD_CKSRC:
		return 4;
	case NTRACE_FIELD_BTYPE:
	case NTRACE_FIELD_CDF:
	case NTRACE_FIELD_CKDF:
		return 2;
	default:
		return 0;
	}
}

/* Accounts the 6 bits of MDO in each byte. */
static void count_bits(struct statistics *statistics, const struct ntrace_message *message)
{
	uint64_t used = 6, all = 6 * message->length;
	uint32_t present = message->present;
	unsigned int bits;

	statistics->tcode_bits += 6;
	for (; present; present &= present - 1) {
		unsigned int i = (unsigned int)__builtin_ctz(present);

		bits = fixed_width(statistics, i);
		if (!bits)
			bits = significant(message->field[i]);
		if (used + bits > all)
			bits = (unsigned int)(all - used);
		statistics->payload_bits[i] += bits;
		used += bits;
	}
	if (message->flags)
		statistics->other_bits += all - used;
	else
		statistics->padding_bits += all - used;
}

static void count_sync(struct statistics *statistics, struct source_statistics *source,
		       const struct ntrace_message *message)
{
	uint64_t time = message->field[NTRACE_FIELD_TSTAMP];

	statistics->syncs[message->field[NTRACE_FIELD_SYNC] & 15]++;
	source->syncs++;
	if (source->synced) {
		histogram_add(&statistics->sync_messages, source->messages - source->message_mark);
		histogram_add(&statistics->sync_bytes, source->bytes - source->byte_mark);
	}
	source->synced = true;
	source->lost = false;
	source->message_mark = source->messages;
	source->byte_mark = source->bytes;
	if (!ntrace_message_has(message, NTRACE_FIELD_TSTAMP))
		return;
	if (!statistics->timed || time < statistics->first_time)
		statistics->first_time = time;
	if (!statistics->timed || time > statistics->last_time)
		statistics->last_time = time;
	statistics->timed = true;
}

bool statistics_message(struct statistics *statistics, const struct ntrace_message *message)
{
	struct source_statistics *source;

	source = source_of(statistics, (unsigned int)message->field[NTRACE_FIELD_SRC]);
	if (!source)
		return false;
	statistics->messages++;
	statistics->message_bytes += message->length;
	statistics->type_messages[message->tcode & 63]++;
	statistics->type_bytes[message->tcode & 63] += message->length;
	statistics->timed_messages += ntrace_message_has(message, NTRACE_FIELD_TSTAMP);
	count_bits(statistics, message);
	if (ntrace_message_has(message, NTRACE_FIELD_CKSRC))
		statistics->circuits[message->field[NTRACE_FIELD_CKSRC] & 15]++;
	if (ntrace_message_has(message, NTRACE_FIELD_EVCODE))
		statistics->ends[message->field[NTRACE_FIELD_EVCODE] & 15]++;
	if (ntrace_message_has(message, NTRACE_FIELD_SYNC))
		count_sync(statistics, source, message);
	source->messages++;
	source->bytes += message->length;
	if (message->tcode == NTRACE_TCODE_ERROR) {
		statistics->error_messages++;
		source->error_messages++;
		source->lost = true;
		source->synced = false;
	} else if (source->lost && !ntrace_message_is_beside(message)) {
		/* Stores and events beside the program flow need no sync. */
		statistics->undecodable += message->length;
	}
	return true;
}

void statistics_lost(struct statistics *statistics)
{
	unsigned int i;

	for (i = 0; i < SOURCES; i++) {
		if (!statistics->source[i])
			continue;
		statistics->source[i]->lost = true;
		statistics->source[i]->synced = false;
	}
}

void statistics_blocks(struct statistics *statistics, unsigned int src,
		       const struct ntrace_block_batch *batch)
{
	struct source_statistics *source = source_of(statistics, src);
	uint64_t instructions = 0;
	size_t i;

	if (!source)
		return;
	for (i = 0; i < batch->count; i++)
		instructions += batch->blocks[i].instructions;
	statistics->instructions += instructions;
	source->instructions += instructions;
}

void statistics_effect(struct statistics *statistics, unsigned int src,
		       const struct ntrace_flow_effect *effect)
{
	struct source_statistics *source = source_of(statistics, src);
	uint64_t instructions = 0;

	if (!source)
		return;
	for (size_t i = effect->lead; i < effect->batch->count; i++)
		instructions += effect->batch->blocks[i].instructions;
	statistics->instructions += effect->times * instructions;
	source->instructions += effect->times * instructions;
}

void statistics_event(struct statistics *statistics, unsigned int src,
		      const struct ntrace_flow_event *event)
{
	struct source_statistics *source = source_of(statistics, src);

	if (!source)
		return;
	switch (event->type) {
	case NTRACE_FLOW_SYNC:
		if (source->flow_synced)
			histogram_add(&statistics->sync_instructions,
				      source->instructions - source->instruction_mark);
		source->flow_synced = true;
		source->instruction_mark = source->instructions;
		break;
	case NTRACE_FLOW_GAP:
		statistics->gaps++;
		source->gaps++;
		source->flow_synced = false;
		break;
	case NTRACE_FLOW_ERROR:
		if (event->code == NTRACE_FLOW_ERROR_NOMAP ||
		    event->code == NTRACE_FLOW_ERROR_TABLE)
			statistics->unreadable++;
		else
			statistics->flow_errors++;
		break;
	default:
		break;
	}
}

void statistics_end(struct statistics *statistics, const struct ntrace_reader *reader)
{
	statistics->bytes = reader->offset;
	statistics->idles = reader->idles;
	statistics->wire_errors = reader->errors;
	statistics->cut = ntrace_reader_pending(reader);
	statistics->skipped =
		statistics->bytes - statistics->message_bytes - statistics->idles - statistics->cut;
}

bool statistics_continue(struct statistics *flow, struct statistics *messages, uint64_t length)
{
	struct source_statistics *source = source_of(flow, 0);

	if (!source)
		return false;
	source->flow_synced = true;
	if (!messages)
		return true;
	source = source_of(messages, 0);
	if (!source)
		return false;
	source->synced = true;
	source->lost = false;
	/* The message with SYNC is before the first one here. */
	source->message_mark = (uint64_t)0 - 1;
	source->byte_mark = (uint64_t)0 - length;
	return true;
}

static void add_all(uint64_t *sums, const uint64_t *more, unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++)
		sums[i] += more[i];
}

static void add_histogram(struct histogram *sum, const struct histogram *more)
{
	if (!more->count)
		return;
	if (!sum->count || more->min < sum->min)
		sum->min = more->min;
	if (more->max > sum->max)
		sum->max = more->max;
	sum->count += more->count;
	add_all(sum->bucket, more->bucket, HISTOGRAM_BUCKETS);
}

static void add_source(struct source_statistics *sum, const struct source_statistics *more)
{
	sum->messages += more->messages;
	sum->bytes += more->bytes;
	sum->syncs += more->syncs;
	sum->error_messages += more->error_messages;
	sum->instructions += more->instructions;
	sum->gaps += more->gaps;
}

static void add_times(struct statistics *sum, const struct statistics *more)
{
	sum->timed_messages += more->timed_messages;
	if (!more->timed)
		return;
	if (!sum->timed || more->first_time < sum->first_time)
		sum->first_time = more->first_time;
	if (!sum->timed || more->last_time > sum->last_time)
		sum->last_time = more->last_time;
	sum->timed = true;
}

bool statistics_add(struct statistics *sum, const struct statistics *more)
{
	unsigned int i;

	for (i = 0; i < SOURCES; i++) {
		struct source_statistics *source = more->source[i] ? source_of(sum, i) : NULL;

		if (source)
			add_source(source, more->source[i]);
		else if (more->source[i])
			return false;
	}
	/* Positions are those of the whole stream. */
	if (more->bytes > sum->bytes)
		sum->bytes = more->bytes;
	sum->messages += more->messages;
	sum->message_bytes += more->message_bytes;
	sum->idles += more->idles;
	sum->wire_errors += more->wire_errors;
	sum->cut += more->cut;
	sum->missing += more->missing;
	sum->undecodable += more->undecodable;
	sum->error_messages += more->error_messages;
	add_all(sum->type_messages, more->type_messages, 64);
	add_all(sum->type_bytes, more->type_bytes, 64);
	sum->tcode_bits += more->tcode_bits;
	add_all(sum->payload_bits, more->payload_bits, NTRACE_FIELD_COUNT);
	sum->padding_bits += more->padding_bits;
	sum->other_bits += more->other_bits;
	add_all(sum->syncs, more->syncs, 16);
	add_all(sum->ends, more->ends, 16);
	add_all(sum->circuits, more->circuits, 16);
	add_times(sum, more);
	sum->instructions += more->instructions;
	sum->gaps += more->gaps;
	sum->flow_errors += more->flow_errors;
	sum->unreadable += more->unreadable;
	add_histogram(&sum->sync_messages, &more->sync_messages);
	add_histogram(&sum->sync_bytes, &more->sync_bytes);
	add_histogram(&sum->sync_instructions, &more->sync_instructions);
	sum->skipped = sum->bytes - sum->message_bytes - sum->idles - sum->cut;
	return true;
}

void statistics_take(struct statistics *statistics, struct statistics *from)
{
	statistics_free(statistics);
	*statistics = *from;
	memset(from->source, 0, sizeof(from->source));
}

void statistics_free(struct statistics *statistics)
{
	unsigned int i;

	for (i = 0; i < SOURCES; i++)
		free(statistics->source[i]);
	memset(statistics, 0, sizeof(*statistics));
}
