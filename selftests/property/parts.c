// SPDX-License-Identifier: GPL-2.0-only
/* Decodes a stream in parts that begin with a guessed state, and compares all events. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ntrace/context.h>
#include <ntrace/parts.h>

#include "parts.h"

#define PARTS 7

/* An event without what depends on the process: pointers, and room between fields. */
struct told {
	uint64_t address, last, next, value, offset, time;
	struct ntrace_context context;
	const struct ntrace_space *space;
	uint32_t instructions;
	uint8_t type, code, flags;
};

/* Events of a piece of the stream. */
struct told_list {
	struct told *told;
	size_t count;
	size_t room;
	bool excess;
	bool failed;
};

/* A part, as it was decoded first. */
struct piece {
	struct told_list list;
	struct ntrace_flow *flow;
	struct ntrace_flow_state guess;
	struct ntrace_flow_state end;
	uint64_t first;		/* offset of the first message */
	uint64_t after;		/* offset after the last one */
	bool small;		/* @end is known */
};

static int take_event(void *data, const struct ntrace_flow_event *event)
{
	struct told_list *list = data;
	struct told *told;

	if (list->count == list->room) {
		size_t room = list->room ? 2 * list->room : 1024;

		told = realloc(list->told, room * sizeof(*told));
		if (!told) {
			list->failed = true;
			return 1;
		}
		list->told = told;
		list->room = room;
	}
	told = &list->told[list->count++];
	memset(told, 0, sizeof(*told));
	told->type = event->type;
	told->code = event->code;
	told->flags = (uint8_t)(event->taken | event->interrupted << 1 | event->provisional << 2 |
				event->next_known << 3 | event->time_known << 4);
	told->instructions = event->instructions;
	told->address = event->address;
	told->last = event->last;
	told->next = event->next;
	told->value = event->value;
	told->offset = event->offset;
	told->time = event->time;
	told->space = event->space;
	told->context.prv_known = event->context->prv_known;
	told->context.scontext_known = event->context->scontext_known;
	told->context.hcontext_known = event->context->hcontext_known;
	if (event->context->prv_known) {
		told->context.prv = event->context->prv;
		told->context.v = event->context->v;
	}
	if (event->context->scontext_known)
		told->context.scontext = event->context->scontext;
	if (event->context->hcontext_known)
		told->context.hcontext = event->context->hcontext;
	list->excess |= event->type == NTRACE_FLOW_ERROR && event->code == NTRACE_FLOW_ERROR_EXCESS;
	return 0;
}

/* The space that the flow of @given is in at @state. */
static struct ntrace_space *space_at(const struct ntrace_flow_config *given,
				     const struct ntrace_flow_state *state)
{
	struct ntrace_space *space = NULL;

	if (given->contexts)
		space = ntrace_contexts_find(given->contexts, &state->context);
	return space ? space : given->space;
}

static bool begin(const struct ntrace_flow_config *given, struct piece *piece,
		  const struct ntrace_flow_state *state)
{
	struct ntrace_flow_config config = *given;

	ntrace_flow_free(piece->flow);
	piece->flow = NULL;
	piece->list.count = 0;
	piece->list.excess = false;
	config.event = take_event;
	config.blocks = NULL;
	config.effect = NULL;
	config.data = &piece->list;
	return !ntrace_flow_new(&piece->flow, &config) &&
	       (!state || !ntrace_flow_set_state(piece->flow, state, space_at(given, state)));
}

/* Decodes the messages of @piece with @flow. @like: the first state found, if its size is 0. */
static void run(struct piece *piece, struct ntrace_flow *flow, const struct ntrace_params *params,
		const uint8_t *stream, size_t size, struct ntrace_flow_state *like)
{
	struct ntrace_message message;
	struct ntrace_reader reader;
	int event;

	ntrace_reader_init(&reader, params, true);
	reader.offset = piece->first;
	ntrace_reader_feed(&reader, stream + piece->first, piece->after - piece->first);
	while ((event = ntrace_reader_next(&reader, &message)) >= 0) {
		if (event == NTRACE_WIRE_ERROR)
			ntrace_flow_wire_error(flow, message.offset);
		else
			ntrace_flow_message(flow, &message);
		if (like && !like->size) {
			like->size = sizeof(*like);
			if (ntrace_flow_get_state(flow, like))
				like->size = 0;
		}
	}
	if (piece->after == size)
		ntrace_flow_end(flow, ntrace_reader_pending(&reader));
	piece->end.size = sizeof(piece->end);
	piece->small = piece->after < size && !ntrace_flow_get_state(flow, &piece->end);
}

/* Cuts the stream after messages with SYNC. Return: number of parts. */
static unsigned int cut(struct piece *pieces, unsigned int wanted,
			const struct ntrace_flow_config *given, const uint8_t *stream, size_t size,
			const struct ntrace_flow_state *like)
{
	unsigned int count = 1;

	pieces[0].first = 0;
	for (unsigned int i = 1; i < wanted; i++) {
		struct ntrace_wire_sync sync;
		struct piece *piece = &pieces[count];

		if (ntrace_wire_sync_next(stream, size, i * size / wanted, true, given->params,
					  given->src, &sync) ||
		    sync.offset + sync.length >= size ||
		    sync.offset + sync.length <= pieces[count - 1].first)
			continue;
		piece->guess.size = sizeof(piece->guess);
		if (ntrace_part_guess(&piece->guess, &sync, 0, given->params,
				      like->size ? like : NULL))
			continue;
		piece->first = sync.offset + sync.length;
		pieces[count - 1].after = piece->first;
		count++;
	}
	pieces[count - 1].after = size;
	return count;
}

/* All parts are decoded before any is joined, the last one first. */
static bool decode_parts(struct piece *pieces, unsigned int count,
			 const struct ntrace_flow_config *given, const uint8_t *stream, size_t size)
{
	for (unsigned int i = count; i--;) {
		struct piece *piece = &pieces[i];

		if (!begin(given, piece, i ? &piece->guess : NULL))
			return false;
		run(piece, piece->flow, given->params, stream, size, NULL);
	}
	return true;
}

static bool join_parts(struct piece *pieces, unsigned int count,
		       const struct ntrace_flow_config *given, const uint8_t *stream, size_t size,
		       struct parts_tally *tally)
{
	for (unsigned int i = 1; i < count; i++) {
		struct piece *piece = &pieces[i], *before = &pieces[i - 1];
		const unsigned int matters = NTRACE_PART_TIME | NTRACE_PART_CONTEXT |
					     (piece->list.excess ? NTRACE_PART_EXCESS : 0);

		if (before->small &&
		    !ntrace_part_join(&piece->guess, &before->end,
				      piece->small ? &piece->end : NULL, matters)) {
			tally->joined++;
			continue;
		}
		tally->again++;
		if (before->small) {
			if (!begin(given, piece, &before->end))
				return false;
		} else {
			/* The flow has more state than can be carried over: it goes on itself. */
			ntrace_flow_free(piece->flow);
			piece->flow = before->flow;
			before->flow = NULL;
			piece->list.count = 0;
			/* The events of all its parts are in the list of the first one. */
		}
		run(piece, piece->flow, given->params, stream, size, NULL);
	}
	return true;
}

static const char *compare(const struct told_list *whole, const struct piece *pieces,
			   unsigned int count)
{
	static char text[200];
	size_t at = 0;

	for (unsigned int i = 0; i < count; i++) {
		const struct told_list *list = &pieces[i].list;

		for (size_t k = 0; k < list->count; k++, at++) {
			if (at < whole->count &&
			    !memcmp(&whole->told[at], &list->told[k], sizeof(list->told[k])))
				continue;
			snprintf(text, sizeof(text),
				 "event %zu, in part %u of %u: type %u at %#llx, offset %llu, not "
				 "type %u at %#llx, offset %llu",
				 at, i + 1, count, list->told[k].type,
				 (unsigned long long)list->told[k].address,
				 (unsigned long long)list->told[k].offset,
				 at < whole->count ? whole->told[at].type : 0,
				 (unsigned long long)(at < whole->count ? whole->told[at].address :
									  0),
				 (unsigned long long)(at < whole->count ? whole->told[at].offset :
									  0));
			return text;
		}
	}
	if (at == whole->count)
		return NULL;
	snprintf(text, sizeof(text), "%zu events in %u parts, not %zu", at, count, whole->count);
	return text;
}

static const char *try_parts(const struct told_list *whole, unsigned int wanted,
			     const struct ntrace_flow_config *given, const uint8_t *stream,
			     size_t size, const struct ntrace_flow_state *like,
			     struct parts_tally *tally)
{
	struct piece *pieces = calloc(PARTS, sizeof(*pieces));
	const char *difference = "no memory";
	unsigned int count;

	if (!pieces)
		return difference;
	count = cut(pieces, wanted, given, stream, size, like);
	if (decode_parts(pieces, count, given, stream, size) &&
	    join_parts(pieces, count, given, stream, size, tally))
		difference = compare(whole, pieces, count);
	for (unsigned int i = 0; i < count; i++) {
		ntrace_flow_free(pieces[i].flow);
		free(pieces[i].list.told);
	}
	free(pieces);
	return difference;
}

const char *parts_mismatch(const struct ntrace_flow_config *given, const uint8_t *stream,
			   size_t size, struct parts_tally *tally)
{
	static const unsigned int numbers[] = { 1, 2, PARTS };
	const char *difference = NULL;
	struct piece whole = { .first = 0, .after = size };
	struct ntrace_flow_state like = { 0 };

	if (!begin(given, &whole, NULL))
		return "no memory";
	run(&whole, whole.flow, given->params, stream, size, &like);
	for (unsigned int i = 0; i < 3 && !difference; i++)
		difference = try_parts(&whole.list, numbers[i], given, stream, size, &like, tally);
	ntrace_flow_free(whole.flow);
	free(whole.list.told);
	return difference;
}
