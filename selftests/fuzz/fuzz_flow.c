// SPDX-License-Identifier: GPL-2.0-only
/*
 * Any code and any stream through the flow decoder. Input: 4 bytes of settings,
 * code, 0xFF 0xFF, stream. Besides not crashing: blocks join up where no event
 * says otherwise, and the totals are those of the events.
 */
#include <stdlib.h>
#include <string.h>

#include <ntrace/flow.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A few bytes can stand for very many blocks. */
#define EVENTS_MAX 20000

struct state {
	unsigned int events;
	uint64_t instructions;
	uint64_t next;
	bool next_known;
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

static int take_event(void *data, const struct ntrace_flow_event *event)
{
	struct state *state = data;
	uint64_t count = 0;

	if (event->type != NTRACE_FLOW_BLOCK) {
		if (event->type != NTRACE_FLOW_WARNING && event->type != NTRACE_FLOW_OWNERSHIP)
			state->next_known = false;
		return ++state->events > EVENTS_MAX;
	}
	if (!event->instructions || (state->next_known && event->address != state->next))
		abort();
	if (state->events % 16 == 0) {
		if (ntrace_flow_instructions(event, count_instruction, &count) ||
		    count != event->instructions)
			abort();
	}
	state->instructions += event->instructions;
	state->next = event->next;
	state->next_known = event->next_known;
	return ++state->events > EVENTS_MAX;
}

static struct ntrace_space *choose(void *data, unsigned int reason, uint64_t address)
{
	struct state *state = data;

	(void)reason;
	return address & 0x100 ? state->space : address & 0x200 ? NULL : state->space;
}

static void feed(struct ntrace_flow *flow, const struct ntrace_params *params, const uint8_t *data,
		 size_t size)
{
	struct ntrace_message message;
	struct ntrace_reader reader;
	int event, ret = 0;

	ntrace_reader_init(&reader, params, true);
	ntrace_reader_feed(&reader, data, size);
	while (!ret && (event = ntrace_reader_next(&reader, &message)) >= 0) {
		if (event == NTRACE_WIRE_ERROR)
			ret = ntrace_flow_wire_error(flow, message.offset);
		else
			ret = ntrace_flow_message(flow, &message);
	}
	if (!ret)
		ntrace_flow_end(flow, ntrace_reader_pending(&reader));
}

static void set_params(struct ntrace_params *params, const uint8_t *data)
{
	static const enum ntrace_mode modes[] = {
		NTRACE_MODE_ANY,
		NTRACE_MODE_BRANCH,
		NTRACE_MODE_HISTORY,
		NTRACE_MODE_ANY,
	};

	ntrace_params_init(params);
	params->src_bits = data[0] & 1;
	params->xlen = data[0] & 2 ? 32 : 64;
	params->extend_address = data[0] & 4;
	params->all_jumps = data[0] & 8;
	params->mode = modes[data[0] >> 4 & 3];
	params->dialect = (enum ntrace_dialect)((data[0] >> 6) % 3);
	if (data[1] & 1)
		strcpy(params->isa, data[1] & 2 ? "rv64g" : "rv32imac");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ntrace_flow_config config = { .size = sizeof(config), .event = take_event };
	struct state state = { 0 };
	struct ntrace_flow_stats stats;
	struct ntrace_object *object;
	struct ntrace_flow *flow;
	const uint8_t *stream;
	size_t code;

	if (size < 8)
		return 0;
	stream = memmem(data + 4, size - 4, "\xff\xff", 2);
	if (!stream)
		return 0;
	code = (size_t)(stream - data) - 4;
	set_params(&config.params, data);
	if (ntrace_space_new(&state.space, "fuzz", NULL))
		return 0;
	if (code && !ntrace_object_from_bytes(&object, "code", data + 4, code, 0x100)) {
		ntrace_space_map_linked(state.space, object, 0);
		ntrace_space_map_linked(state.space, object, 0x800);
		ntrace_object_mark_uncertain(object, 0x100 + data[3] % code, 3);
		ntrace_object_put(object);
	}
	config.space = state.space;
	config.data = &state;
	if (data[2] & 1)
		config.select = choose;
	if (!ntrace_flow_new(&flow, &config)) {
		feed(flow, &config.params, stream, size - (size_t)(stream - data));
		ntrace_flow_get_stats(flow, &stats);
		if (stats.instructions != state.instructions)
			abort();
		ntrace_flow_free(flow);
	}
	ntrace_space_put(state.space);
	return 0;
}
