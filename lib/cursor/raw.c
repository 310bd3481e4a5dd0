// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* A raw stream as a source. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "flow/flow.h"
#include "image/object.h"
#include "source.h"

#define CHUNK 16384

/**
 * struct raw - a raw stream
 * @space: a clone of the caller's; NULL: no code
 */
struct raw {
	struct source source;
	struct ntrace_decode_options output;
	struct ntrace_flow *flow;
	struct ntrace_space *space;
	struct ntrace_reader reader;
	const uint8_t *data;
	uint64_t data_size;
	int fd;
	bool ended;
	uint8_t chunk[CHUNK];
};

struct raw_state {
	struct flow_state *flow;
	struct ntrace_reader reader;
};

static struct raw *raw_of(const struct source *source)
{
	return (struct raw *)(uintptr_t)source;
}

static int take_event(void *data, const struct ntrace_flow_event *flow)
{
	struct raw *raw = data;

	return raw->output.event(raw->output.data, &(struct ntrace_session_event){
							   .flow = flow,
							   .pid = -1,
							   .tid = -1,
							   .comm = "",
						   });
}

static int take_blocks(void *data, const struct ntrace_block_batch *batch)
{
	struct raw *raw = data;

	return raw->output.segment(raw->output.data, &(struct ntrace_segment){
							     .batch = batch,
							     .at.pid = -1,
							     .at.tid = -1,
							     .at.comm = "",
						     });
}

/* Gives the reader its next bytes. Return: their number, 0 at the end, or NTRACE_ERR_IO. */
static ssize_t feed(struct raw *raw)
{
	uint64_t offset = raw->reader.offset;
	ssize_t got = 0;

	if (raw->data) {
		uint64_t left = offset < raw->data_size ? raw->data_size - offset : 0;

		got = (ssize_t)(left < CHUNK ? left : CHUNK);
		ntrace_reader_feed(&raw->reader, raw->data + offset, (size_t)got);
		return got;
	}
	do {
		got = pread(raw->fd, raw->chunk, sizeof(raw->chunk), (off_t)offset);
	} while (got < 0 && errno == EINTR);
	if (got < 0)
		return NTRACE_ERR_IO;
	ntrace_reader_feed(&raw->reader, raw->chunk, (size_t)got);
	return got;
}

static int end(struct raw *raw)
{
	int result;

	raw->ended = true;
	result = ntrace_flow_end(raw->flow, ntrace_reader_pending(&raw->reader));
	return result ? result : 1;
}

static int next(struct source *source, bool again, bool *stamped)
{
	struct raw *raw = raw_of(source);
	struct ntrace_message message;
	int got, result;

	(void)again;
	*stamped = false;
	if (raw->ended)
		return 1;
	while ((got = ntrace_reader_next(&raw->reader, &message)) == NTRACE_ERR_AGAIN) {
		ssize_t size = feed(raw);

		if (size <= 0)
			return size ? (int)size : end(raw);
	}
	*stamped = got == NTRACE_WIRE_MESSAGE && ntrace_message_has(&message, NTRACE_FIELD_TSTAMP);
	if (got == NTRACE_WIRE_MESSAGE)
		result = ntrace_flow_message(raw->flow, &message);
	else
		result = ntrace_flow_wire_error(raw->flow, message.offset);
	return result ? result : ntrace_flow_flush(raw->flow);
}

static uint64_t position(const struct source *source)
{
	return raw_of(source)->reader.offset;
}

static const struct ntrace_context *context(const struct source *source)
{
	return ntrace_flow_context(raw_of(source)->flow);
}

static void *save(struct source *source, size_t *bytes)
{
	struct raw *raw = raw_of(source);
	struct raw_state *state = calloc(1, sizeof(*state));

	if (!state)
		return NULL;
	state->flow = flow_save(raw->flow);
	if (!state->flow) {
		free(state);
		return NULL;
	}
	state->reader = raw->reader;
	*bytes = sizeof(*state) + sizeof(*state->flow);
	return state;
}

static int load(struct source *source, const void *saved)
{
	const struct raw_state *state = saved;
	struct raw *raw = raw_of(source);

	flow_load(raw->flow, state->flow, raw->space);
	raw->reader = state->reader;
	/* The chunk may hold other bytes now. */
	raw->reader.next = raw->chunk;
	raw->reader.end = raw->chunk;
	raw->ended = false;
	return 0;
}

static void drop(void *saved)
{
	struct raw_state *state = saved;

	if (state)
		free(state->flow);
	free(state);
}

static void free_source(struct source *source)
{
	struct raw *raw = raw_of(source);

	ntrace_flow_free(raw->flow);
	ntrace_space_put(raw->space);
	free(raw);
}

static const struct source_ops raw_ops = {
	.next = next,
	.position = position,
	.context = context,
	.save = save,
	.load = load,
	.drop = drop,
	.free = free_source,
};

static int make(struct raw *raw, const struct ntrace_cursor_config *config)
{
	struct ntrace_flow_config flow = {
		.size = sizeof(flow),
		.params = config->params,
		.src = config->src,
		.event = take_event,
		.blocks = take_blocks,
		.data = raw,
	};
	struct ntrace_params params;
	int error = 0;

	ntrace_params_init(&params);
	if (config->space)
		error = ntrace_space_clone(&raw->space, ntrace_space_name(config->space),
					   config->space);
	if (error)
		return error;
	flow.space = raw->space;
	error = ntrace_flow_new(&raw->flow, &flow);
	if (error)
		return error;
	raw->source.dialect = flow_dialect(raw->flow);
	return ntrace_reader_init(&raw->reader, config->params ? config->params : &params,
				  !config->cut);
}

int source_of_bytes(struct source **source, const struct ntrace_cursor_config *config,
		    const struct ntrace_decode_options *output)
{
	struct raw *raw = calloc(1, sizeof(*raw));
	int error;

	if (!raw)
		return NTRACE_ERR_NOMEM;
	raw->source.ops = &raw_ops;
	raw->source.raw = true;
	raw->output = *output;
	raw->data = config->data;
	raw->data_size = config->data_size;
	raw->fd = config->fd;
	error = make(raw, config);
	if (error) {
		free_source(&raw->source);
		return error;
	}
	*source = &raw->source;
	return 0;
}
