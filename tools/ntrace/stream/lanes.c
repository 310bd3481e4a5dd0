// SPDX-License-Identifier: GPL-2.0-only
/* Extends ntrace_demux: selects one SRC, and keeps data for each SRC. */
#include <stdlib.h>

#include "lanes.h"

#define SOURCES (1u << NTRACE_SRC_BITS_MAX)

static int take_event(void *data, const struct ntrace_flow_event *event)
{
	struct lanes *lanes = data;

	if (event->type == NTRACE_FLOW_WARNING && event->code == NTRACE_FLOW_ERROR_SOURCE)
		lanes->ignored++;
	return lanes->event(lanes->data, lanes->lane[event->src], event);
}

static int take_blocks(void *data, const struct ntrace_block_batch *batch)
{
	struct lanes *lanes = data;

	return lanes->blocks(lanes->data, lanes->lane[batch->src], batch);
}

static int add_lane(struct lanes *lanes, unsigned int src)
{
	struct lane *lane = calloc(1, sizeof(*lane));
	int error;

	if (!lane)
		return NTRACE_ERR_NOMEM;
	error = ntrace_demux_add(lanes->demux, src, NULL);
	if (error) {
		free(lane);
		return error;
	}
	lane->src = lanes->params.src_bits ? (int)src : -1;
	lanes->lane[src] = lane;
	if (!lanes->count++)
		lanes->first = src;
	return 0;
}

int lanes_start(struct lanes *lanes)
{
	const struct ntrace_flow_config config = {
		.size = sizeof(config),
		.params = &lanes->params,
		.event = take_event,
		.space = lanes->space,
		.data = lanes,
		.blocks = lanes->blocks ? take_blocks : NULL,
	};
	int error = ntrace_demux_new(&lanes->demux, &config, LANES_MAX);

	if (error)
		return error;
	if (lanes->only >= 0)
		return add_lane(lanes, (unsigned int)lanes->only);
	return lanes->params.src_bits ? 0 : add_lane(lanes, 0);
}

void lanes_free(struct lanes *lanes)
{
	unsigned int i;

	ntrace_demux_free(lanes->demux);
	lanes->demux = NULL;
	for (i = 0; i < SOURCES; i++) {
		free(lanes->lane[i]);
		lanes->lane[i] = NULL;
	}
	lanes->count = 0;
}

int lanes_message(struct lanes *lanes, const struct ntrace_message *message)
{
	unsigned int src = message->field[NTRACE_FIELD_SRC] & (SOURCES - 1);
	/* A message that is too short for its SRC has no known source. */
	bool known = !lanes->params.src_bits || ntrace_message_has(message, NTRACE_FIELD_SRC);
	int error;

	if (known && !lanes->lane[src]) {
		if (lanes->only >= 0)
			return 0;
		if (lanes->single && lanes->count) {
			lanes->second = src;
			return LANES_SEVERAL;
		}
		error = add_lane(lanes, src);
		/* The demux warns about an excess SRC. */
		if (error && error != NTRACE_ERR_NOSPACE)
			return error;
	}
	return ntrace_demux_message(lanes->demux, message);
}

/* An error before there is a flow to report it. */
static int early_error(struct lanes *lanes, uint8_t code, uint64_t offset)
{
	const struct ntrace_flow_event event = {
		.type = NTRACE_FLOW_ERROR,
		.code = code,
		.offset = offset,
	};

	return lanes->event(lanes->data, NULL, &event);
}

int lanes_wire_error(struct lanes *lanes, uint64_t offset)
{
	if (!lanes->count)
		return early_error(lanes, NTRACE_FLOW_ERROR_WIRE, offset);
	return ntrace_demux_wire_error(lanes->demux, offset);
}

int lanes_break(struct lanes *lanes, uint64_t offset)
{
	if (!lanes->count)
		return early_error(lanes, NTRACE_FLOW_ERROR_MISSING, offset);
	return ntrace_demux_break(lanes->demux, offset);
}

int lanes_end(struct lanes *lanes, uint64_t pending, uint64_t offset)
{
	if (!lanes->count && pending)
		return early_error(lanes, NTRACE_FLOW_ERROR_CUT, offset);
	return ntrace_demux_end(lanes->demux, pending);
}

int lanes_walk(struct lanes *lanes, struct trace *trace)
{
	struct ntrace_message message;
	int event_type, stopped = 0;
	uint64_t pending;

	while (!stopped && (event_type = trace_next(trace, &message)) >= 0)
		stopped = event_type == TRACE_LOST	   ? lanes_break(lanes, message.offset) :
			  event_type == NTRACE_WIRE_ERROR ?
						     lanes_wire_error(lanes, message.offset) :
						     lanes_message(lanes, &message);
	if (stopped)
		return stopped;
	if (event_type == TRACE_FAILED)
		return LANES_FAILED;
	pending = trace_pending(trace);
	return lanes_end(lanes, pending, trace->reader.offset - pending);
}
