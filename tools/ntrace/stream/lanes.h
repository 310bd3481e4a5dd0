/* SPDX-License-Identifier: GPL-2.0-only */
/* The flows of a raw trace: one for each SRC. */
#ifndef NTRACE_TOOL_STREAM_LANES_H
#define NTRACE_TOOL_STREAM_LANES_H

#include <ntrace/transfer.h>

#include "trace.h"

/* More SRC values indicate wrong parameters. */
#define LANES_MAX 256

/* lanes_message(): a second SRC occurred, but only one is allowed. */
#define LANES_SEVERAL 1000

/* lanes_walk(): the trace cannot be read, a message was printed. */
#define LANES_FAILED 1001

/**
 * struct lane - one SRC
 * @src: -1 = the trace has no SRC
 * @transfers: tracker for the user of the lanes
 */
struct lane {
	int src;
	struct ntrace_transfer_tracker transfers;
};

/**
 * struct lanes - the flows of all SRC
 * @params: stream parameters
 * @space: address space of the traced code
 * @only: requested SRC, -1 = all
 * @single: a second SRC is an error
 * @event: called for every event; @lane is NULL for an error before the first message and for the
 *         warning about a SRC without a lane. A result other than 0 stops
 * @blocks: called for batches of blocks of a lane instead; may be NULL
 * @count: number of lanes
 * @first, @second: with LANES_SEVERAL: the SRC values
 * @ignored: number of SRC without a lane
 */
struct lanes {
	struct ntrace_params params;
	struct ntrace_space *space;
	int64_t only;
	bool single;
	int (*event)(void *data, struct lane *lane, const struct ntrace_flow_event *event);
	int (*blocks)(void *data, struct lane *lane, const struct ntrace_block_batch *batch);
	void *data;
	unsigned int count;
	unsigned int first;
	unsigned int second;
	uint64_t ignored;
	struct ntrace_demux *demux;
	struct lane *lane[1u << NTRACE_SRC_BITS_MAX];
};

/** lanes_start - Return: 0, or NTRACE_ERR_... for contradictory parameters */
int lanes_start(struct lanes *lanes);
void lanes_free(struct lanes *lanes);

/**
 * lanes_message - walk a message
 *
 * Return: 0, what the callback returned, LANES_SEVERAL, or NTRACE_ERR_...
 */
int lanes_message(struct lanes *lanes, const struct ntrace_message *message);

/** lanes_wire_error - bytes at @offset are not a message; their SRC is unknown */
int lanes_wire_error(struct lanes *lanes, uint64_t offset);

/** lanes_break - bytes are missing at @offset; their SRC is unknown */
int lanes_break(struct lanes *lanes, uint64_t offset);

/** lanes_end - no more input; @pending as for ntrace_flow_end(), at @offset */
int lanes_end(struct lanes *lanes, uint64_t pending, uint64_t offset);

/**
 * lanes_walk - walk all messages of a trace after trace_start(), up to its end
 *
 * Return: as lanes_message(), or LANES_FAILED.
 */
int lanes_walk(struct lanes *lanes, struct trace *trace);

#endif /* NTRACE_TOOL_STREAM_LANES_H */
