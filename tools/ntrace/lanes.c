// SPDX-License-Identifier: GPL-2.0-only
/* One flow for each SRC. */
#include <stdlib.h>
#include <string.h>

#include "lanes.h"

#define SOURCES (1u << NTRACE_SRC_BITS_MAX)

static int take_event(void *data, const struct ntrace_flow_event *event)
{
	struct lane *lane = data;

	if (event->type == NTRACE_FLOW_BLOCK)
		lane->instructions += event->instructions;
	return lane->lanes->event(lane->lanes->data, lane, event);
}

static int add_lane(struct lanes *lanes, unsigned int src)
{
	struct ntrace_flow_config config = {
		.size = sizeof(config),
		.params = lanes->params,
		.src = src,
		.event = take_event,
		.space = lanes->space,
	};
	struct lane *lane = calloc(1, sizeof(*lane));
	int error;

	if (!lane)
		return NTRACE_ERR_NOMEM;
	config.data = lane;
	error = ntrace_flow_new(&lane->flow, &config);
	if (error) {
		free(lane);
		return error;
	}
	lane->lanes = lanes;
	lane->src = lanes->params.src_bits ? (int)src : -1;
	lanes->lane[src] = lane;
	if (!lanes->count++)
		lanes->first = src;
	return 0;
}

int lanes_start(struct lanes *lanes)
{
	if (lanes->only >= 0)
		return add_lane(lanes, (unsigned int)lanes->only);
	return lanes->params.src_bits ? 0 : add_lane(lanes, 0);
}

void lanes_free(struct lanes *lanes)
{
	unsigned int i;

	for (i = 0; i < SOURCES; i++) {
		if (lanes->lane[i])
			ntrace_flow_free(lanes->lane[i]->flow);
		free(lanes->lane[i]);
		lanes->lane[i] = NULL;
	}
	lanes->count = 0;
}

/* A message that is too short for its SRC may be anyone's. */
static int message_of_all(struct lanes *lanes, const struct ntrace_message *message)
{
	unsigned int i;
	int error = 0;

	for (i = 0; i < SOURCES && !error; i++)
		if (lanes->lane[i])
			error = ntrace_flow_message(lanes->lane[i]->flow, message);
	return error;
}

int lanes_message(struct lanes *lanes, const struct ntrace_message *message)
{
	unsigned int src = message->field[NTRACE_FIELD_SRC] & (SOURCES - 1);
	int error;

	if (lanes->params.src_bits && !ntrace_message_has(message, NTRACE_FIELD_SRC))
		return message_of_all(lanes, message);
	if (!lanes->lane[src]) {
		if (lanes->only >= 0)
			return 0;
		if (lanes->single && lanes->count) {
			lanes->second = src;
			return LANES_SEVERAL;
		}
		if (lanes->count == LANES_MAX) {
			lanes->ignored++;
			return 0;
		}
		error = add_lane(lanes, src);
		if (error)
			return error;
	}
	return ntrace_flow_message(lanes->lane[src]->flow, message);
}

/* Something wrong before there is a flow that could tell it. */
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
	unsigned int i;
	int error = 0;

	if (!lanes->count)
		return early_error(lanes, NTRACE_FLOW_ERROR_WIRE, offset);
	for (i = 0; i < SOURCES && !error; i++)
		if (lanes->lane[i])
			error = ntrace_flow_wire_error(lanes->lane[i]->flow, offset);
	return error;
}

int lanes_end(struct lanes *lanes, uint64_t pending, uint64_t offset)
{
	unsigned int i;
	int error = 0;

	if (!lanes->count && pending)
		return early_error(lanes, NTRACE_FLOW_ERROR_CUT, offset);
	for (i = 0; i < SOURCES && !error; i++)
		if (lanes->lane[i])
			error = ntrace_flow_end(lanes->lane[i]->flow, pending);
	return error;
}
