// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* What the code and the checker say of a candidate. */
#include <stdio.h>

#include <ntrace/check.h>
#include <ntrace/flow.h>

#include "detect.h"

/* Bounds of what is followed. */
#define LANES_MAX 64
#define INSTRUCTIONS_MAX 20000000
#define EVENTS_MAX 4000000
#define ENOUGH 1

struct follow {
	struct ntrace_detect_candidate *candidate;
	uint64_t events;
};

static int take_event(void *data, const struct ntrace_flow_event *event)
{
	struct follow *follow = data;
	struct ntrace_detect_candidate *candidate = follow->candidate;

	if (event->type == NTRACE_FLOW_BLOCK)
		candidate->instructions += event->instructions;
	else if (event->type == NTRACE_FLOW_ERROR)
		candidate->flow_errors += event->code != NTRACE_FLOW_ERROR_LOST &&
					  event->code != NTRACE_FLOW_ERROR_WIRE;
	else if (event->type == NTRACE_FLOW_GAP)
		candidate->gaps++;
	return ++follow->events > EVENTS_MAX || candidate->instructions > INSTRUCTIONS_MAX ?
		       ENOUGH :
		       0;
}

int detect_flow(const uint8_t *data, size_t size, struct ntrace_space *space,
		struct ntrace_detect_candidate *candidate)
{
	struct follow follow = { .candidate = candidate };
	struct ntrace_flow_config config = {
		.size = sizeof(config),
		.params = &candidate->params,
		.event = take_event,
		.space = space,
		.data = &follow,
	};
	struct ntrace_message message;
	struct ntrace_reader reader;
	struct ntrace_demux *demux;
	int event, error;

	candidate->programs = true;
	candidate->instructions = 0;
	candidate->flow_errors = 0;
	candidate->gaps = 0;
	error = ntrace_demux_new(&demux, &config, LANES_MAX);
	if (error)
		return error;
	ntrace_reader_init(&reader, &candidate->params, true);
	ntrace_reader_feed(&reader, data, size < SCORED_BYTES ? size : SCORED_BYTES);
	while (!error && (event = ntrace_reader_next(&reader, &message)) >= 0)
		error = event == NTRACE_WIRE_ERROR ?
				ntrace_demux_wire_error(demux, message.offset) :
				ntrace_demux_message(demux, &message);
	if (!error)
		error = ntrace_demux_flush(demux);
	ntrace_demux_free(demux);
	return error == ENOUGH ? NTRACE_OK : error;
}

static int take_finding(void *data, const struct ntrace_check_finding *finding)
{
	struct ntrace_detect_candidate *candidate = data;

	candidate->check_errors += finding->rule->severity == NTRACE_CHECK_ERROR;
	candidate->check_warnings += finding->rule->severity == NTRACE_CHECK_WARNING;
	return 0;
}

int detect_check(const uint8_t *data, size_t size, struct ntrace_detect_candidate *candidate)
{
	struct ntrace_check_config config;
	struct ntrace_check *check;
	int error;

	ntrace_check_config_init(&config);
	config.params = &candidate->params;
	config.wrapped = true;
	config.finding = take_finding;
	config.data = candidate;
	candidate->checked = true;
	candidate->check_errors = 0;
	candidate->check_warnings = 0;
	error = ntrace_check_new(&check, &config);
	if (error)
		return error;
	/* What comes after the bytes that were given is not known: no end. */
	error = ntrace_check_feed(check, data, size);
	ntrace_check_free(check);
	return error;
}
