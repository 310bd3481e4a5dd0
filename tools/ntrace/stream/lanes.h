/* SPDX-License-Identifier: GPL-2.0-only */
/* The flows of a raw trace: one for each SRC that occurs. */
#ifndef NTRACE_TOOL_STREAM_LANES_H
#define NTRACE_TOOL_STREAM_LANES_H

#include <ntrace/flow.h>

#include "profile/place.h"

/* A trace with more of them is read with wrong parameters. */
#define LANES_MAX 256

/* lanes_message(): there is a second SRC, where only one is allowed. */
#define LANES_SEVERAL 1000

/**
 * struct lane - one SRC
 * @src: -1 = the trace has none
 * @transfers: for the user
 */
struct lane {
	int src;
	struct transfer_tracker transfers;
};

/**
 * struct lanes - all of them
 * @params: stream parameters
 * @space: what was traced
 * @only: the SRC that is wanted, -1: all
 * @single: a second SRC is an error
 * @event: called for every event; @lane is NULL for an error before the first message and for the
 *         warning of a SRC that there is no lane for. Not 0 stops
 * @blocks: gets the blocks of a lane in batches instead; may be NULL
 * @count: lanes so far
 * @first, @second: with LANES_SEVERAL: which
 * @ignored: SRC that there was no lane for
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

/** lanes_start - Return: 0 or NTRACE_ERR_... for parameters that make no sense */
int lanes_start(struct lanes *lanes);
void lanes_free(struct lanes *lanes);

/**
 * lanes_message - walk a message
 *
 * Return: 0, what the callback returned, LANES_SEVERAL, or NTRACE_ERR_...
 */
int lanes_message(struct lanes *lanes, const struct ntrace_message *message);

/** lanes_wire_error - bytes at @offset are no message; whose they were is not known */
int lanes_wire_error(struct lanes *lanes, uint64_t offset);

/** lanes_break - bytes are missing at @offset; whose they were is not known */
int lanes_break(struct lanes *lanes, uint64_t offset);

/** lanes_end - no more input; @pending as for ntrace_flow_end(), at @offset */
int lanes_end(struct lanes *lanes, uint64_t pending, uint64_t offset);

#endif /* NTRACE_TOOL_STREAM_LANES_H */
