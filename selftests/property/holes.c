// SPDX-License-Identifier: GPL-2.0-only
/* Unmapped and illegal code in the memory of random programs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../lib/blocks_match.h"
#include "holes.h"

/* Maximum number of PCs to compare. */
#define HOLES_PCS_MAX (1u << 18)
#define HOLES_MAX 6
/* The limit documented for ntrace_flow_message(). */
#define PARCELS_PER_BYTE (UINT64_C(1) << 20)

struct pcs {
	uint64_t *pc;
	size_t count;
	uint64_t instructions;
	bool full;
};

static struct pcs whole, rest;
static char text[256];

static int take_pc(void *data, uint64_t address, const uint8_t *bytes,
		   const struct ntrace_insn *insn)
{
	struct pcs *pcs = data;

	(void)bytes;
	(void)insn;
	if (pcs->count == HOLES_PCS_MAX) {
		pcs->full = true;
		return 1;
	}
	pcs->pc[pcs->count++] = address;
	return 0;
}

static int take_block(void *data, const struct ntrace_flow_event *event)
{
	struct pcs *pcs = data;

	if (event->type != NTRACE_FLOW_BLOCK)
		return 0;
	pcs->instructions += event->instructions;
	return ntrace_flow_instructions(event, take_pc, pcs);
}

/* Return: the result of the flow; 1: out of room. */
static int walk(const struct ntrace_flow_config *given, const uint8_t *stream, size_t size,
		struct pcs *pcs)
{
	struct ntrace_flow_config config = *given;
	struct ntrace_message message;
	struct ntrace_reader reader;
	struct ntrace_flow *flow;
	int event, result;

	if (!pcs->pc)
		pcs->pc = malloc(HOLES_PCS_MAX * sizeof(*pcs->pc));
	pcs->count = 0;
	pcs->instructions = 0;
	pcs->full = false;
	config.event = take_block;
	config.data = pcs;
	result = ntrace_flow_new(&flow, &config);
	if (result)
		return result;
	ntrace_reader_init(&reader, config.params, true);
	ntrace_reader_feed(&reader, stream, size);
	while (!result && (event = ntrace_reader_next(&reader, &message)) >= 0)
		result = event == NTRACE_WIRE_ERROR ? ntrace_flow_wire_error(flow, message.offset) :
						      ntrace_flow_message(flow, &message);
	if (!result)
		result = ntrace_flow_end(flow, ntrace_reader_pending(&reader));
	ntrace_flow_free(flow);
	return result;
}

/* Holes at or near executed addresses; zeros are no instruction of any length. */
static void make_hole(struct ntrace_space *space, struct random *random)
{
	static const uint8_t illegal[2];
	uint64_t address = whole.pc[random_below(random, (uint32_t)whole.count)];
	struct ntrace_object *object;

	if (one_in(random, 2)) {
		ntrace_space_unmap(space, address + random_below(random, 8),
				   1 + random_below(random, one_in(random, 4) ? 4096 : 32));
		return;
	}
	if (ntrace_object_from_bytes(&object, "illegal", illegal, sizeof(illegal), address))
		return;
	ntrace_space_map_linked(space, object, 0);
	ntrace_object_put(object);
}

/* The reported instructions were executed, in this order. */
static const char *compare(void)
{
	size_t at = 0;

	for (size_t i = 0; i < rest.count; i++, at++) {
		while (at < whole.count && whole.pc[at] != rest.pc[i])
			at++;
		if (at >= whole.count) {
			if (whole.full)
				return NULL;
			snprintf(text, sizeof(text),
				 "instruction %zu of %zu, at 0x%" PRIx64 ", was never executed "
				 "behind those before it",
				 i, rest.count, rest.pc[i]);
			return text;
		}
	}
	return NULL;
}

static const char *check_damaged(const struct ntrace_flow_config *config, const uint8_t *stream,
				 size_t size, struct random *random)
{
	uint8_t *bytes = malloc(size);
	const char *mismatch;

	memcpy(bytes, stream, size);
	for (unsigned int i = 1 + random_below(random, 4); i; i--)
		bytes[random_below(random, (uint32_t)size)] ^=
			(uint8_t)(1u << random_below(random, 8));
	mismatch = blocks_mismatch(config, bytes, size, NULL);
	if (mismatch) {
		snprintf(text, sizeof(text), "damaged, in batches: %s", mismatch);
		mismatch = text;
	} else if (walk(config, bytes, size, &rest) >= 0 &&
		   rest.instructions > size * PARCELS_PER_BYTE) {
		snprintf(text, sizeof(text), "damaged: %" PRIu64 " instructions of %zu bytes",
			 rest.instructions, size);
		mismatch = text;
	}
	free(bytes);
	return mismatch;
}

const char *check_holes(const struct ntrace_flow_config *given, struct ntrace_space *space,
			const uint8_t *stream, size_t size, struct random *random)
{
	struct ntrace_flow_config config = *given;
	const char *mismatch;

	config.contexts = NULL;
	config.space = space;
	if (walk(&config, stream, size, &whole) < 0)
		return "there is no walk of the whole program";
	if (!whole.count)
		return NULL;
	for (unsigned int i = 1 + random_below(random, HOLES_MAX); i; i--)
		make_hole(space, random);
	mismatch = blocks_mismatch(&config, stream, size, NULL);
	if (mismatch) {
		snprintf(text, sizeof(text), "in batches: %s", mismatch);
		return text;
	}
	if (walk(&config, stream, size, &rest) < 0)
		return "the walk ends in an error";
	mismatch = compare();
	return mismatch ? mismatch : check_damaged(&config, stream, size, random);
}
