// SPDX-License-Identifier: GPL-2.0-only
/*
 * Passes any code and any stream to the flow decoder, for one hart or several, with contexts that
 * choose address spaces, and code that changes with time. Input: 8 bytes of settings, code, 0xFF
 * 0xFF, stream. Checks that blocks are contiguous unless an event says otherwise, that the totals
 * are those of the events, and that each event has a line of text.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "flow_input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Limit the work: a few bytes can stand for very many blocks. */
#define EVENTS_MAX 20000
#define SOURCES 8
/* Fewer than the stream may have: the decoder refuses some. */
#define FLOWS 4

/* End of the last block of each hart. */
struct place {
	uint64_t next;
	bool known;
};

struct state {
	unsigned int events;
	uint64_t instructions;
	struct place place[SOURCES];
	struct ntrace_space *space;
};

static int count_instruction(void *data, uint64_t address, const uint8_t *bytes,
			     const struct ntrace_insn *insn)
{
	uint64_t *count = data;

	(void)address;
	(void)bytes;
	if (insn->size < 2)
		abort();
	++*count;
	return 0;
}

static void describe(const struct ntrace_flow_event *event)
{
	char text[200];
	int length = ntrace_flow_describe(event, text, sizeof(text));
	size_t expected = (size_t)length < sizeof(text) ? (size_t)length : sizeof(text) - 1;

	if (length <= 0 || strlen(text) != expected)
		abort();
}

static int take_event(void *data, const struct ntrace_flow_event *event)
{
	struct state *state = data;
	struct place *place;
	uint64_t count = 0;

	if (!event->context || event->src >= SOURCES)
		abort();
	place = &state->place[event->src];
	if (event->type != NTRACE_FLOW_BLOCK || state->events % 16 == 0)
		describe(event);
	if (event->type != NTRACE_FLOW_BLOCK) {
		if (event->type != NTRACE_FLOW_WARNING && event->type != NTRACE_FLOW_OWNERSHIP &&
		    event->type != NTRACE_FLOW_CIRCUIT && event->type != NTRACE_FLOW_DATA)
			place->known = false;
		return ++state->events > EVENTS_MAX;
	}
	if (!event->instructions || (place->known && event->address != place->next))
		abort();
	if (state->events % 16 == 0) {
		if (ntrace_flow_instructions(event, count_instruction, &count) ||
		    count != event->instructions)
			abort();
	}
	state->instructions += event->instructions;
	place->next = event->next;
	place->known = event->next_known;
	return ++state->events > EVENTS_MAX;
}

static int choose(void *data, unsigned int reason, uint64_t address, struct ntrace_space **space)
{
	struct state *state = data;

	(void)reason;
	*space = address & 0x100 ? state->space : address & 0x200 ? NULL : state->space;
	return 0;
}

/* Passes the stream to one flow or, if @flow is NULL, to a demux. */
static void feed(struct ntrace_flow *flow, struct ntrace_demux *demux,
		 const struct ntrace_params *params, const uint8_t *data, size_t size)
{
	struct ntrace_message message;
	struct ntrace_reader reader;
	int event, ret = 0;

	ntrace_reader_init(&reader, params, true);
	ntrace_reader_feed(&reader, data, size);
	while (!ret && (event = ntrace_reader_next(&reader, &message)) >= 0) {
		if (event == NTRACE_WIRE_ERROR)
			ret = flow ? ntrace_flow_wire_error(flow, message.offset) :
				     ntrace_demux_wire_error(demux, message.offset);
		else
			ret = flow ? ntrace_flow_message(flow, &message) :
				     ntrace_demux_message(demux, &message);
	}
	if (!ret && flow)
		ntrace_flow_end(flow, ntrace_reader_pending(&reader));
	else if (!ret)
		ntrace_demux_end(demux, ntrace_reader_pending(&reader));
}

/* Applies the settings to @space. */
static struct ntrace_contexts *make_contexts(const uint8_t *data, struct ntrace_space *space)
{
	struct ntrace_context_match match = {
		.size = sizeof(match),
		.scontext_mask = data[6] & 3,
		.scontext = data[6] >> 2 & data[6] & 3,
		.hcontext_mask = data[6] >> 4 & 1,
		.prv_mask = data[6] >> 5 & 3,
		.v = data[6] >> 7,
	};
	struct ntrace_contexts *contexts;

	if (ntrace_contexts_new(&contexts))
		return NULL;
	if (ntrace_contexts_add(contexts, space, &match))
		abort();
	return contexts;
}

static void decode_one(const struct ntrace_flow_config *config, const struct state *state,
		       const uint8_t *stream, size_t size)
{
	struct ntrace_flow_stats stats;
	struct ntrace_flow *flow;

	if (ntrace_flow_new(&flow, config))
		return;
	feed(flow, NULL, config->params, stream, size);
	ntrace_flow_get_stats(flow, &stats);
	if (stats.instructions != state->instructions)
		abort();
	ntrace_flow_free(flow);
}

static void decode_all(const struct ntrace_flow_config *config, const struct state *state,
		       const uint8_t *stream, size_t size)
{
	struct ntrace_demux *demux;
	uint64_t instructions = 0;
	unsigned int count = 0;

	if (ntrace_demux_new(&demux, config, FLOWS))
		return;
	feed(NULL, demux, config->params, stream, size);
	for (unsigned int src = 0; src < SOURCES; src++) {
		struct ntrace_flow *flow = ntrace_demux_flow(demux, src);
		struct ntrace_flow_stats stats;

		if (!flow)
			continue;
		ntrace_flow_get_stats(flow, &stats);
		instructions += stats.instructions;
		count++;
	}
	if (count > FLOWS || instructions != state->instructions)
		abort();
	ntrace_demux_free(demux);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ntrace_flow_config config = { .size = sizeof(config), .event = take_event };
	struct state state = { 0 };
	struct ntrace_params params;
	struct ntrace_contexts *contexts = NULL;
	struct ntrace_space *other;
	const uint8_t *stream;
	size_t code;

	if (size < SETTINGS + 4)
		return 0;
	stream = memmem(data + SETTINGS, size - SETTINGS, "\xff\xff", 2);
	if (!stream)
		return 0;
	code = (size_t)(stream - data) - SETTINGS;
	size -= (size_t)(stream - data);
	set_params(&params, data);
	config.params = &params;
	state.space = make_space("any", data, code, 0);
	other = make_space("other", data, code, 2);
	config.space = state.space;
	config.data = &state;
	if (data[2] & 1)
		config.select = choose;
	if (data[4] & 1)
		contexts = make_contexts(data, other);
	config.contexts = contexts;
	if (data[4] & 4)
		decode_all(&config, &state, stream, size);
	else
		decode_one(&config, &state, stream, size);
	ntrace_contexts_free(contexts);
	ntrace_space_put(other);
	ntrace_space_put(state.space);
	return 0;
}
