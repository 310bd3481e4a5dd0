// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Judges a candidate by the code and by the checker. */
#include <stdio.h>

#include <ntrace/check.h>
#include <ntrace/flow.h>

#include "detect.h"

/* Limits for following code. */
#define LANES_MAX 64
#define INSTRUCTIONS_MAX 20000000
#define EVENTS_MAX 4000000
#define ENOUGH 1

/*
 * Evidence of one message, in bits: it contradicts the code, cannot be followed, or executes no
 * code.
 */
#define EVIDENCE_ERROR 8
/* Evidence of the first contradiction, which is worth more: parameters without any explain the whole stream. */
#define EVIDENCE_FIRST 60
#define EVIDENCE_LOST 3
#define EVIDENCE_STILL 2

/* State of the flow of one SRC. */
enum lane {
	LANE_LOST,
	LANE_RUNS,
	LANE_OFF,
};

struct follow {
	struct ntrace_detect_candidate *candidate;
	struct detect_code *code;
	uint64_t events;
	uint8_t lane[SRC_COUNT];	/* enum lane */
};

static int take_event(void *data, const struct ntrace_flow_event *event)
{
	struct follow *follow = data;
	struct ntrace_detect_candidate *candidate = follow->candidate;

	switch (event->type) {
	case NTRACE_FLOW_BLOCK:
		candidate->instructions += event->instructions;
		follow->code->path =
			(follow->code->path ^ event->address) * UINT64_C(0x100000001b3) +
			event->instructions;
		follow->lane[event->src] = LANE_RUNS;
		break;
	case NTRACE_FLOW_SYNC:
		follow->lane[event->src] = LANE_RUNS;
		break;
	case NTRACE_FLOW_TRACE_OFF:
		follow->lane[event->src] = LANE_OFF;
		break;
	case NTRACE_FLOW_ERROR:
		candidate->flow_errors += event->code != NTRACE_FLOW_ERROR_LOST &&
					  event->code != NTRACE_FLOW_ERROR_WIRE;
		break;
	case NTRACE_FLOW_GAP:
		candidate->gaps++;
		follow->lane[event->src] = LANE_LOST;
		break;
	}
	return ++follow->events > EVENTS_MAX || candidate->instructions > INSTRUCTIONS_MAX ?
		       ENOUGH :
		       0;
}

static bool is_of_code(const struct ntrace_message *message)
{
	return !message->flags && (ntrace_message_has(message, NTRACE_FIELD_ICNT) ||
				   ntrace_message_has(message, NTRACE_FIELD_HIST) ||
				   ntrace_message_has(message, NTRACE_FIELD_BCNT));
}

/* A contradiction may be caused by a loss: damage of the stream affects all candidates alike. */
static void weigh(struct follow *follow, const struct ntrace_message *message, bool wrong,
		  bool moved)
{
	bool lost = is_of_code(message) &&
		    follow->lane[message->field[NTRACE_FIELD_SRC]] == LANE_LOST;

	follow->candidate->lost += lost;
	if (wrong)
		follow->code->cost += EVIDENCE_ERROR;
	else if (lost)
		follow->code->cost += EVIDENCE_LOST;
	else if (is_of_code(message) && !moved && message->tcode != NTRACE_TCODE_RESOURCE_FULL)
		follow->code->cost += EVIDENCE_STILL;
}

static int take_message(struct ntrace_demux *demux, struct follow *follow,
			const struct ntrace_message *message)
{
	const struct ntrace_detect_candidate *candidate = follow->candidate;
	uint64_t instructions = candidate->instructions, errors = candidate->flow_errors;
	int error = ntrace_demux_message(demux, message);

	follow->code->repeats |= message->tcode == NTRACE_TCODE_REPEAT_BRANCH;
	weigh(follow, message, candidate->flow_errors != errors,
	      candidate->instructions != instructions);
	return error;
}

int detect_flow(const uint8_t *data, size_t size, struct ntrace_space *space,
		struct ntrace_detect_candidate *candidate, struct detect_code *code)
{
	struct follow follow = { .candidate = candidate, .code = code };
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
	candidate->lost = 0;
	candidate->gaps = 0;
	*code = (struct detect_code){ 0 };
	error = ntrace_demux_new(&demux, &config, LANES_MAX);
	if (error)
		return error;
	ntrace_reader_init(&reader, &candidate->params, true);
	ntrace_reader_feed(&reader, data, size < SCORED_BYTES ? size : SCORED_BYTES);
	while (!error && (event = ntrace_reader_next(&reader, &message)) >= 0)
		error = event == NTRACE_WIRE_ERROR ?
				ntrace_demux_wire_error(demux, message.offset) :
				take_message(demux, &follow, &message);
	if (!error)
		error = ntrace_demux_flush(demux);
	ntrace_demux_free(demux);
	if (candidate->flow_errors)
		code->cost += EVIDENCE_FIRST;
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
	/* The bytes after the given ones are unknown, so the stream has no end. */
	error = ntrace_check_feed(check, data, size);
	ntrace_check_free(check);
	return error;
}
