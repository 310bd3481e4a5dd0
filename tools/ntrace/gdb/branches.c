// SPDX-License-Identifier: GPL-2.0-only
/*
 * Branch trace in GDB's own format, for `record btrace` ("GDB Remote Serial Protocol", Branch Trace
 * Format): linear pieces of code, the newest first. The newest one ends at the current instruction.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "remote_parts.h"

struct piece {
	uint64_t begin;
	uint64_t end;
};

struct pieces {
	struct piece *piece;
	size_t count;
	size_t room;
	uint64_t next;	/* address after the last piece */
};

static bool add_piece(struct pieces *pieces, uint64_t begin, uint64_t end)
{
	if (!history_grow(&pieces->piece, pieces->count, &pieces->room, sizeof(*pieces->piece)))
		return false;
	pieces->piece[pieces->count++] = (struct piece){ begin, end };
	return true;
}

/* Instructions @from to @to of the block of @place. */
static bool add_part(struct pieces *pieces, const struct history *history,
		     const struct history_place *place, uint32_t from, uint32_t to)
{
	const struct ntrace_cursor_place *block = history_at(history, place);
	struct history_place end = *place;
	uint64_t begin, last;
	bool joined;

	end.instruction = from;
	begin = history_pc(history, &end);
	end.instruction = to;
	last = history_pc(history, &end);
	joined = pieces->count && pieces->next == begin && begin;
	end.instruction = to + 1;
	pieces->next = end.instruction < block->instructions ?
			       history_pc(history, &end) :
			       block->flow->last + block->flow->last_size;
	if (!joined)
		return add_piece(pieces, begin, last);
	pieces->piece[pieces->count - 1].end = last;
	return true;
}

/* GDB shows a piece that ends before it begins as a gap. */
static bool add_gap(struct pieces *pieces)
{
	uint64_t end = pieces->piece[pieces->count - 1].end;

	pieces->next = 0;
	return add_piece(pieces, end + 2, end + 1);
}

/* From instruction @from of the thread up to its current one. */
static bool collect(struct pieces *pieces, struct history *history, const struct history_place *to,
		    uint64_t from)
{
	struct history_place at = history_seek(history, to->thread, from);

	for (;;) {
		bool last = at.first == to->first;
		uint32_t end = last ? to->instruction : history_at(history, &at)->instructions - 1;
		const char *gap;

		if (!add_part(pieces, history, &at, at.instruction, end))
			return false;
		if (last || !history_step_block(history, &at, false, &gap))
			return true;
		if (gap && !add_gap(pieces))
			return false;
	}
}

bool remote_branches_document(struct remote *remote, size_t thread, const char *annex,
			      struct packet_output *document)
{
	struct remote_thread *of = &remote->thread[thread];
	const struct history_place *place = remote_place(remote, thread);
	uint64_t to = history_number(place), from;
	bool delta = !strcmp(annex, "delta"), good;
	struct pieces pieces = { 0 };

	if (!of->branches || (!delta && strcmp(annex, "all") && strcmp(annex, "new")))
		return false;
	/* After a jump, GDB asks for all. */
	if (delta && (!of->sent || to < of->sent_to || to - of->sent_to > remote->history))
		return false;
	from = delta ? of->sent_to : to - (to < remote->history ? to : remote->history);
	if (!delta && from < of->low)
		from = of->low < to ? of->low : to;
	good = collect(&pieces, remote->target->history, place, from);
	/* The first piece of more trace continues the last one: GDB knows where that began. */
	if (good && delta)
		pieces.piece[0].begin = 0;
	if (good) {
		packet_append_format(document, "<btrace version=\"1.0\">");
		for (size_t i = pieces.count; i-- > 0;)
			packet_append_format(document,
					     "<block begin=\"0x%" PRIx64 "\" end=\"0x%" PRIx64
					     "\"/>",
					     pieces.piece[i].begin, pieces.piece[i].end);
		packet_append_format(document, "</btrace>");
		of->sent = true;
		of->sent_to = to;
	}
	free(pieces.piece);
	return good;
}
