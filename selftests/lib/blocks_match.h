/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Decodes a stream three times: with a callback for each block, which uses only the general walk; with
 * blocks in batches, which uses the fast walk wherever possible; and with messages that are remembered.
 * All reported events must be equal.
 */
#ifndef SELFTESTS_BLOCKS_MATCH_H
#define SELFTESTS_BLOCKS_MATCH_H

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ntrace/flow.h>

/* Maximum number of compared events: damage can produce very many blocks. */
#define TOLD_MAX (1u << 17)

/* The report of one block or event; only the first block of a batch has its offset. */
struct told {
	uint64_t address, next, offset, time;
	uint32_t instructions, bytes;
	uint8_t type, class, last_size, flags, code, time_known, src, first;
	const struct ntrace_space *space;
	struct ntrace_isa isa;
	uint64_t scontext;	/* the state of the hart that the callback sees */
	uint8_t prv, v;
};

struct told_list {
	const struct ntrace_flow *flow;
	struct told *told;
	uint32_t count;
	uint32_t ids;		/* blocks with an id */
	uint64_t first_with[1 << 12];	/* address + instructions of the block with each id */
	bool ids_differ;
	struct ntrace_flow_stats stats;
	int result;
};

static inline int tell(struct told_list *list, const struct told *told)
{
	const struct ntrace_context *context = ntrace_flow_context(list->flow);

	if (list->count < TOLD_MAX) {
		list->told[list->count] = *told;
		list->told[list->count].scontext = context->scontext;
		list->told[list->count].prv = context->prv;
		list->told[list->count].v = context->v;
		list->count++;
	}
	return list->count == TOLD_MAX;
}

static inline int tell_event(void *data, const struct ntrace_flow_event *event)
{
	bool block = event->type == NTRACE_FLOW_BLOCK;
	struct told told = {
		.address = event->address,
		.next = block ? (event->next_known ? event->next : 0) : event->value,
		.offset = event->offset,
		.time = event->time,
		.instructions = event->instructions,
		.bytes = block ? (uint32_t)(event->last - event->address + event->last_size) : 0,
		.type = event->type,
		.class = event->insn_class,
		.last_size = event->last_size,
		.code = event->code,
		.time_known = event->time_known,
		.src = (uint8_t)event->src,
		.first = true,
		.space = event->space,
		.isa = event->isa ? *event->isa : (struct ntrace_isa){ 0 },
	};

	told.flags = (uint8_t)((event->taken ? NTRACE_BLOCK_TAKEN : 0) |
			       (event->interrupted ? NTRACE_BLOCK_INTERRUPTED : 0) |
			       (event->provisional ? NTRACE_BLOCK_PROVISIONAL : 0) |
			       (event->next_known ? NTRACE_BLOCK_NEXT_KNOWN : 0));
	return tell(data, &told);
}

/* An id must always mean the same block. */
static inline void check_id(struct told_list *list, const struct ntrace_block *block)
{
	uint64_t what = block->address + ((uint64_t)block->instructions << 48);

	if (!block->id || block->id >= sizeof(list->first_with) / sizeof(list->first_with[0]))
		return;
	list->ids++;
	if (list->first_with[block->id] && list->first_with[block->id] != what)
		list->ids_differ = true;
	list->first_with[block->id] = what;
}

static inline int tell_blocks(void *data, const struct ntrace_block_batch *batch)
{
	int stop = 0;

	for (size_t i = 0; i < batch->count && !stop; i++) {
		const struct ntrace_block *block = &batch->blocks[i];
		struct told told = {
			.address = block->address,
			.next = block->flags & NTRACE_BLOCK_NEXT_KNOWN ? block->next : 0,
			.offset = batch->offset,
			.time = batch->time,
			.instructions = block->instructions,
			.bytes = block->bytes,
			.type = NTRACE_FLOW_BLOCK,
			.class = block->insn_class,
			.last_size = block->last_size,
			.flags = block->flags,
			.time_known = batch->time_known,
			.src = (uint8_t)batch->src,
			.first = !i,
			.space = batch->space,
			.isa = *batch->isa,
		};

		check_id(data, block);
		stop = tell(data, &told);
	}
	return stop;
}

enum told_way {
	TOLD_BLOCKS,
	TOLD_BATCHES,
	TOLD_REMEMBERED,
};

static inline void tell_all(struct told_list *list, const struct ntrace_flow_config *given,
			    enum told_way way, const uint8_t *data, size_t size)
{
	struct ntrace_flow_config config = *given;
	struct ntrace_message message;
	struct ntrace_reader reader;
	struct ntrace_flow *flow;
	int event;

	if (!list->told)
		list->told = malloc(TOLD_MAX * sizeof(*list->told));
	list->count = list->ids = 0;
	list->ids_differ = false;
	memset(list->first_with, 0, sizeof(list->first_with));
	config.event = tell_event;
	config.blocks = way == TOLD_BLOCKS ? NULL : tell_blocks;
	config.remember = way == TOLD_REMEMBERED;
	config.data = list;
	list->result = ntrace_flow_new(&flow, &config);
	if (list->result)
		return;
	list->flow = flow;
	ntrace_reader_init(&reader, config.params, true);
	ntrace_reader_feed(&reader, data, size);
	while (!list->result) {
		if (way == TOLD_REMEMBERED)
			list->result = ntrace_flow_count(flow, &reader);
		if (list->result || (event = ntrace_reader_next(&reader, &message)) < 0)
			break;
		list->result = event == NTRACE_WIRE_ERROR ?
				       ntrace_flow_wire_error(flow, message.offset) :
				       ntrace_flow_message(flow, &message);
	}
	if (!list->result)
		list->result = ntrace_flow_end(flow, ntrace_reader_pending(&reader));
	ntrace_flow_get_stats(flow, &list->stats);
	ntrace_flow_free(flow);
}

static inline bool same_told(const struct told *a, const struct told *b)
{
	/* Only the first block of a batch has its position in the stream. */
	return a->address == b->address && a->next == b->next &&
	       (a->offset == b->offset || !a->first || !b->first) && a->time == b->time &&
	       a->instructions == b->instructions && a->bytes == b->bytes && a->type == b->type &&
	       a->class == b->class && a->last_size == b->last_size && a->flags == b->flags &&
	       a->code == b->code && a->time_known == b->time_known && a->src == b->src &&
	       a->space == b->space && !memcmp(&a->isa, &b->isa, sizeof(a->isa));
}

/* Batches are passed on before the state of the hart changes. */
static inline bool same_hart(const struct told *a, const struct told *b)
{
	return a->scontext == b->scontext && a->prv == b->prv && a->v == b->v;
}

/* Compares lists; @text has room for the description of the difference. @batches: both are of batches. */
static inline bool told_differs(const struct told_list *one, const struct told_list *many,
				bool batches, char text[200])
{
	uint32_t at = 0;

	while (at < one->count && at < many->count && same_told(&one->told[at], &many->told[at]) &&
	       same_hart(&one->told[at], &many->told[at]))
		at++;
	if (at < one->count && at < many->count)
		snprintf(text, 200,
			 "%sevent %u of %u and %u differs: type %u and %u at 0x%" PRIx64
			 " and 0x%" PRIx64,
			 batches ? "remembered: " : "", at, one->count, many->count,
			 one->told[at].type, many->told[at].type, one->told[at].address,
			 many->told[at].address);
	else if (one->count != many->count)
		snprintf(text, 200, "%u and %u events", one->count, many->count);
	else if (one->result != many->result)
		snprintf(text, 200, "result %d and %d", one->result, many->result);
	else if (!one->result && memcmp(&one->stats, &many->stats, sizeof(one->stats)) != 0)
		snprintf(text, 200, "totals differ");
	else if (many->ids_differ)
		snprintf(text, 200, "one id means two blocks");
	else
		return false;
	return true;
}

/*
 * Return: NULL if all are the same, else a description of the difference, valid until the next
 * call. @config needs no callbacks; @events: number of events, may be NULL.
 */
static inline const char *blocks_mismatch(const struct ntrace_flow_config *config,
					  const uint8_t *data, size_t size, uint32_t *events)
{
	static struct told_list lists[3];
	static char text[200];
	bool wrong;

	for (unsigned int way = TOLD_BLOCKS; way <= TOLD_REMEMBERED; way++)
		tell_all(&lists[way], config, way, data, size);
	wrong = told_differs(&lists[TOLD_BLOCKS], &lists[TOLD_BATCHES], false, text) ||
		told_differs(&lists[TOLD_BATCHES], &lists[TOLD_REMEMBERED], true, text);
	if (events)
		*events = lists[TOLD_BLOCKS].count;
	return wrong ? text : NULL;
}

#endif /* SELFTESTS_BLOCKS_MATCH_H */
