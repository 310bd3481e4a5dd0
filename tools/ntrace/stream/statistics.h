/* SPDX-License-Identifier: GPL-2.0-only */
/* What a trace consists of, counted in bounded memory. */
#ifndef NTRACE_TOOL_STREAM_STATISTICS_H
#define NTRACE_TOOL_STREAM_STATISTICS_H

#include <ntrace/flow.h>

#include "common/output.h"

/* Values below this are counted one by one, others in as many steps for each power of two. */
#define HISTOGRAM_STEPS 32
#define HISTOGRAM_BUCKETS (HISTOGRAM_STEPS * 60)

/** struct histogram - numbers and how often they came; quantiles are right within 1/32 */
struct histogram {
	uint64_t count;
	uint64_t min;
	uint64_t max;
	uint64_t bucket[HISTOGRAM_BUCKETS];
};

void histogram_add(struct histogram *histogram, uint64_t value);

/** histogram_quantile - the value that @percent of all do not exceed; 0 if there are none */
uint64_t histogram_quantile(const struct histogram *histogram, unsigned int percent);

/**
 * struct source_statistics - one SRC
 * @message_mark, @byte_mark, @instruction_mark: totals at the last sync, if @synced
 * @lost: what comes up to the next sync cannot be decoded
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
 * @bytes: of the whole stream
 * @decodable: instructions, gaps, flow_errors and unreadable are known
 * @unreadable: times that the flow came to code that is in no program
 * @missing: places where bytes of the trace are missing
 * @payload_bits: bits of each field that say something; of variable fields the significant ones
 * @other_bits: of messages that are not understood
 * @padding_bits: that fill up the last byte of fields
 * @undecodable: bytes of messages between a loss and the next sync
 * @source: by SRC, 0 where there is none; NULL where nothing came
 * @first_time, @last_time: of sync messages, if @timed
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

/** statistics_lost - bytes were no message: up to the next sync nothing can be decoded */
void statistics_lost(struct statistics *statistics);

/** statistics_event - count what the flow of @src (0 where there is none) says */
void statistics_event(struct statistics *statistics, unsigned int src,
		      const struct ntrace_flow_event *event);

/** statistics_end - @reader has read the whole stream */
void statistics_end(struct statistics *statistics, const struct ntrace_reader *reader);

void statistics_free(struct statistics *statistics);

/** statistics_text - tables. statistics_json - one object; @stream: of a recording, else -1 */
void statistics_text(const struct statistics *statistics, struct output *output);
void statistics_json(const struct statistics *statistics, struct output *output, int stream);

#endif /* NTRACE_TOOL_STREAM_STATISTICS_H */
