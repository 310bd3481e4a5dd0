/* SPDX-License-Identifier: GPL-2.0-only */
/* Counts the contents of a trace in bounded memory. */
#ifndef NTRACE_TOOL_STREAM_STATISTICS_H
#define NTRACE_TOOL_STREAM_STATISTICS_H

#include <ntrace/flow.h>

#include "common/output.h"

/* Values below this have their own buckets; above it each power of two has this many buckets. */
#define HISTOGRAM_STEPS 32
#define HISTOGRAM_BUCKETS (HISTOGRAM_STEPS * 60)

/** struct histogram - counts of values; quantiles are exact within 1/32 */
struct histogram {
	uint64_t count;
	uint64_t min;
	uint64_t max;
	uint64_t bucket[HISTOGRAM_BUCKETS];
};

void histogram_add(struct histogram *histogram, uint64_t value);

/** histogram_quantile - the value that @percent of all values do not exceed; 0 without values */
uint64_t histogram_quantile(const struct histogram *histogram, unsigned int percent);

/**
 * struct source_statistics - one SRC
 * @message_mark, @byte_mark, @instruction_mark: totals at the last sync, if @synced
 * @lost: nothing can be decoded before the next sync
 */
struct source_statistics {
	uint64_t messages;
	uint64_t bytes;
	uint64_t syncs;
	uint64_t error_messages;
	uint64_t instructions;
	uint64_t gaps;
	uint64_t message_mark;
	uint64_t byte_mark;
	uint64_t instruction_mark;
	bool synced;
	bool flow_synced;
	bool lost;
};

/**
 * struct statistics - a trace, or a stream of a recording
 * @bytes: size of the whole stream
 * @decodable: instructions, gaps, flow_errors and unreadable are known
 * @unreadable: number of times that the flow reached code that no program contains
 * @missing: places where bytes of the trace are missing
 * @payload_bits: information bits of each field; of variable fields the significant bits
 * @other_bits: bits of unknown messages
 * @padding_bits: bits that fill the last byte of fields
 * @undecodable: bytes of messages between a loss and the next sync
 * @source: by SRC, 0 without SRC; NULL = no messages
 * @first_time, @last_time: time of sync messages, if @timed
 */
struct statistics {
	struct ntrace_params params;
	uint64_t bytes;
	uint64_t messages;
	uint64_t message_bytes;
	uint64_t idles;
	uint64_t wire_errors;
	uint64_t skipped;
	uint64_t cut;
	uint64_t missing;
	uint64_t undecodable;
	uint64_t error_messages;
	uint64_t type_messages[64];
	uint64_t type_bytes[64];
	uint64_t tcode_bits;
	uint64_t payload_bits[NTRACE_FIELD_COUNT];
	uint64_t padding_bits;
	uint64_t other_bits;
	uint64_t syncs[16];
	uint64_t ends[16];		/* ProgTraceCorrelation by EVCODE */
	uint64_t circuits[16];		/* InCircuitTrace by CKSRC */
	uint64_t timed_messages;
	uint64_t first_time;
	uint64_t last_time;
	bool timed;
	bool decodable;
	uint64_t instructions;
	uint64_t gaps;
	uint64_t flow_errors;
	uint64_t unreadable;
	struct histogram sync_messages;
	struct histogram sync_bytes;
	struct histogram sync_instructions;
	unsigned int sources;
	struct source_statistics *source[1u << NTRACE_SRC_BITS_MAX];
};

/** statistics_message - count a message. Return: false when out of memory */
bool statistics_message(struct statistics *statistics, const struct ntrace_message *message);

/** statistics_lost - bytes were not a message: nothing can be decoded before the next sync */
void statistics_lost(struct statistics *statistics);

/** statistics_blocks - count a batch of blocks of the flow of @src (0 without SRC) */
void statistics_blocks(struct statistics *statistics, unsigned int src,
		       const struct ntrace_block_batch *batch);

/** statistics_effect - count the blocks of an effect of the flow of @src (0 without SRC) */
void statistics_effect(struct statistics *statistics, unsigned int src,
		       const struct ntrace_flow_effect *effect);

/** statistics_event - count an event of the flow of @src (0 without SRC), other than a block */
void statistics_event(struct statistics *statistics, unsigned int src,
		      const struct ntrace_flow_event *event);

/** statistics_end - @reader has read the whole stream */
void statistics_end(struct statistics *statistics, const struct ntrace_reader *reader);

/**
 * statistics_continue - begin after a message with SYNC of a stream without SRC
 * @flow: statistics of the flow, still zero
 * @messages: those of the messages, still zero; NULL: not needed
 * @length: bytes of the message with SYNC
 *
 * Return: false when out of memory.
 */
bool statistics_continue(struct statistics *flow, struct statistics *messages, uint64_t length);

/**
 * statistics_add - add the statistics of a later part, which began with statistics_continue()
 *
 * Distances between messages with SYNC end where the part begins, so all is a sum. Parameters and
 * @decodable stay. Return: false when out of memory.
 */
bool statistics_add(struct statistics *sum, const struct statistics *more);

/** statistics_take - replace @statistics by @from, which is then empty */
void statistics_take(struct statistics *statistics, struct statistics *from);

void statistics_free(struct statistics *statistics);

/** statistics_text - tables. statistics_json - one object; @stream: of a recording, else -1 */
void statistics_text(const struct statistics *statistics, struct output *output);
void statistics_json(const struct statistics *statistics, struct output *output, int stream);

#endif /* NTRACE_TOOL_STREAM_STATISTICS_H */
