// SPDX-License-Identifier: GPL-2.0-only
/* Several harts in one stream: each is decoded as if it were alone. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

#define HARTS 3

/**
 * struct hart - one of the harts
 * @hash: hash of its events
 * @at: its next message
 */
struct hart {
	unsigned int src;
	uint64_t hash;
	uint64_t events;
	uint32_t at;
};

struct harts {
	struct hart hart[HARTS];
	unsigned int count;
	bool strange;		/* an event that belongs to none of them */
};

/* The messages of the stream, and room for the messages of all harts. */
static struct {
	size_t start[HARTS_STREAM_MAX / 2];
	uint32_t count;
	uint8_t mixed[HARTS * HARTS_STREAM_MAX];
	size_t size;
} messages;

static void mix(struct hart *hart, uint64_t value)
{
	hart->hash = (hart->hash ^ value) * UINT64_C(0x100000001b3);
	hart->hash ^= hart->hash >> 29;
}

/* All fields of an event except its position. */
static int take_event(void *data, const struct ntrace_flow_event *event)
{
	bool complaint = event->type == NTRACE_FLOW_ERROR || event->type == NTRACE_FLOW_WARNING;
	const struct ntrace_context *context = event->context;
	struct harts *harts = data;
	struct hart *hart = NULL;

	for (unsigned int i = 0; i < harts->count; i++) {
		if (harts->hart[i].src == event->src)
			hart = &harts->hart[i];
	}
	if (!hart) {
		harts->strange = true;
		return 0;
	}
	hart->events++;
	mix(hart, event->type | event->code << 8 | event->insn_class << 16);
	mix(hart, event->taken | event->interrupted << 1 | event->provisional << 2 |
			  event->next_known << 3 | event->time_known << 4 | context->v << 5 |
			  context->prv_known << 6 | context->scontext_known << 7 |
			  context->hcontext_known << 8 | context->prv << 9);
	mix(hart, event->instructions);
	mix(hart, event->address);
	mix(hart, event->last);
	mix(hart, event->next_known ? event->next : 0);
	mix(hart, event->time_known ? event->time : 0);
	mix(hart, context->scontext);
	mix(hart, context->hcontext);
	mix(hart, (uintptr_t)event->space);
	/* The value of an error may be an offset. */
	mix(hart, complaint ? 0 : event->value);
	return 0;
}

/* SRC follows the 6 bits of TCODE; a byte holds 6 bits. */
static void put_message(const uint8_t *bytes, size_t size, unsigned int src, unsigned int bits)
{
	uint8_t *to = messages.mixed + messages.size;

	memcpy(to, bytes, size);
	for (unsigned int i = 0; i < bits; i++) {
		uint8_t bit = (uint8_t)(1u << (2 + i % 6));

		to[1 + i / 6] &= (uint8_t)~bit;
		if (src >> i & 1)
			to[1 + i / 6] |= bit;
	}
	messages.size += size;
}

static void find_messages(const struct ntrace_params *params, const uint8_t *stream, size_t size)
{
	struct ntrace_message message;
	struct ntrace_reader reader;

	messages.count = 0;
	ntrace_reader_init(&reader, params, true);
	ntrace_reader_feed(&reader, stream, size);
	while (ntrace_reader_next(&reader, &message) >= 0)
		messages.start[messages.count++] = message.offset;
	messages.start[messages.count] = size;
}

/* Takes the messages of the harts in random order. */
static void interleave(struct harts *harts, const struct ntrace_params *params,
		       const uint8_t *stream, struct random *random)
{
	uint32_t left = messages.count * harts->count;

	messages.size = 0;
	while (left) {
		struct hart *hart = &harts->hart[random_below(random, harts->count)];
		size_t start;

		if (hart->at == messages.count)
			continue;
		start = messages.start[hart->at++];
		put_message(stream + start, messages.start[hart->at] - start, hart->src,
			    params->src_bits);
		left--;
	}
}

/* Return: 0, or an error of the library. */
static int decode_all(const struct ntrace_flow_config *config, const uint8_t *stream, size_t size)
{
	struct ntrace_message message;
	struct ntrace_reader reader;
	struct ntrace_demux *demux;
	int event, error = ntrace_demux_new(&demux, config, HARTS);

	if (error)
		return error;
	ntrace_reader_init(&reader, config->params, true);
	ntrace_reader_feed(&reader, stream, size);
	while (!error && (event = ntrace_reader_next(&reader, &message)) >= 0)
		error = event == NTRACE_WIRE_ERROR ?
				ntrace_demux_wire_error(demux, message.offset) :
				ntrace_demux_message(demux, &message);
	if (!error)
		error = ntrace_demux_end(demux, ntrace_reader_pending(&reader));
	ntrace_demux_free(demux);
	return error;
}

static int decode_alone(const struct ntrace_flow_config *config, const uint8_t *stream, size_t size)
{
	struct ntrace_message message;
	struct ntrace_reader reader;
	struct ntrace_flow *flow;
	int error = ntrace_flow_new(&flow, config);

	if (error)
		return error;
	ntrace_reader_init(&reader, config->params, true);
	ntrace_reader_feed(&reader, stream, size);
	while (!error && ntrace_reader_next(&reader, &message) == NTRACE_WIRE_MESSAGE)
		error = ntrace_flow_message(flow, &message);
	if (!error)
		error = ntrace_flow_end(flow, ntrace_reader_pending(&reader));
	ntrace_flow_free(flow);
	return error;
}

const char *check_harts(const struct ntrace_flow_config *wanted, const uint8_t *stream, size_t size,
			struct random *random)
{
	static char text[128];
	struct harts alone = { .count = 1, .hart[0].src = wanted->src }, all = { .count = HARTS };
	struct ntrace_flow_config config = *wanted;

	if (config.params->src_bits < 2)
		all.count = 2;
	for (unsigned int i = 0; i < all.count; i++)
		all.hart[i].src = wanted->src ^ i;
	config.event = take_event;
	config.data = &alone;
	find_messages(config.params, stream, size);
	if (decode_alone(&config, stream, size))
		return "the stream cannot be decoded alone";
	interleave(&all, config.params, stream, random);
	config.data = &all;
	if (decode_all(&config, messages.mixed, messages.size) || all.strange)
		return "streams of several harts cannot be decoded";
	for (unsigned int i = 0; i < all.count; i++) {
		if (all.hart[i].hash == alone.hart[0].hash &&
		    all.hart[i].events == alone.hart[0].events)
			continue;
		snprintf(text, sizeof(text),
			 "SRC %u among %u: %" PRIu64 " events, alone: %" PRIu64 "; ",
			 all.hart[i].src, all.count, all.hart[i].events, alone.hart[0].events);
		return text;
	}
	return NULL;
}
