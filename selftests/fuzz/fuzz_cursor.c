// SPDX-License-Identifier: GPL-2.0-only
/*
 * Moves a cursor at random over any code and any stream; all places must be those of the plain
 * decode. Input: that of fuzz_flow; the last byte of the settings chooses steps and windows.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../lib/cursor_walk.h"
#include "flow_input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Limit the work: a few bytes can stand for very many blocks. */
#define PLACES_MAX 3000
#define MOVES 30

/* Return: false: too much work. */
static bool decode(struct expected_list *list, const struct ntrace_params *params,
		   const uint8_t *stream, size_t size, struct ntrace_space *space)
{
	struct ntrace_flow_config config = {
		.size = sizeof(config), .params = params, .event = expect_event, .data = list
	};
	struct ntrace_message message;
	struct ntrace_reader reader;
	struct ntrace_flow *flow;
	int event, ret = 0;

	if (ntrace_space_clone(&config.space, "decode", space))
		abort();
	/* The instruction set may contradict the other settings. */
	if (ntrace_flow_new(&flow, &config)) {
		ntrace_space_put(config.space);
		return false;
	}
	ntrace_reader_init(&reader, params, true);
	ntrace_reader_feed(&reader, stream, size);
	while (!ret && (event = ntrace_reader_next(&reader, &message)) >= 0)
		ret = event == NTRACE_WIRE_ERROR ? ntrace_flow_wire_error(flow, message.offset) :
						   ntrace_flow_message(flow, &message);
	if (!ret)
		ret = ntrace_flow_end(flow, ntrace_reader_pending(&reader));
	ntrace_flow_free(flow);
	ntrace_space_put(config.space);
	return !ret;
}

static void move(const struct expected_list *list, const struct ntrace_cursor_config *config,
		 uint64_t seed)
{
	struct ntrace_cursor *cursor;
	char text[200];

	if (ntrace_cursor_new(&cursor, config))
		abort();
	for (unsigned int walk = 0; walk < 2; walk++) {
		if (!cursor_walk(cursor, list, seed + walk, MOVES, text)) {
			fprintf(stderr, "%s\n", text);
			abort();
		}
	}
	ntrace_cursor_free(cursor);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct expected_list list = { .limit = PLACES_MAX };
	struct ntrace_cursor_config config;
	struct ntrace_params params;
	const uint8_t *stream;
	size_t code;

	if (size < SETTINGS + 4)
		return 0;
	stream = memmem(data + SETTINGS, size - SETTINGS, "\xff\xff", 2);
	if (!stream)
		return 0;
	code = (size_t)(stream - data) - SETTINGS;
	set_params(&params, data);
	ntrace_cursor_config_init(&config);
	config.step = data[7] & 1;
	config.window = 16 + (data[7] >> 1);
	config.params = &params;
	config.data = stream;
	config.data_size = size - (size_t)(stream - data);
	config.space = make_space("any", data, code, 0);
	list.by_instruction = config.step == NTRACE_CURSOR_INSTRUCTIONS;
	if (decode(&list, &params, stream, (size_t)config.data_size, config.space) && list.count)
		move(&list, &config, data[6]);
	free(list.places);
	ntrace_space_put(config.space);
	return 0;
}
