// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Backlogs: see backlog.h. */
#include <stdlib.h>
#include <string.h>

#include "backlog.h"

#define ROOM_FIRST (UINT32_C(1) << 16)
#define ALIGNMENT _Alignof(max_align_t)

static size_t payload_of(const struct ntrace_segment *segment)
{
	return segment->type == NTRACE_SEGMENT_RUN ?
		       segment->run->count * sizeof(*segment->run->steps) :
		       segment->batch->count * sizeof(*segment->batch->blocks);
}

static size_t size_with(size_t payload)
{
	return (sizeof(struct backlog_item) + payload + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

size_t backlog_segment_size(const struct ntrace_segment *segment)
{
	return size_with(payload_of(segment));
}

/* Makes room for @size more bytes: in place of what was delivered, or in more memory. */
static int make_room(struct backlog *backlog, size_t size)
{
	size_t waits = backlog_size(backlog), room = backlog->room;
	uint8_t *bytes = backlog->bytes;

	if (room - backlog->used >= size)
		return 0;
	/* No more bytes are moved than were delivered since the last time. */
	if (backlog->first < waits || room - waits < size) {
		do
			room = room ? 2 * room : ROOM_FIRST;
		while (room - waits < size);
		bytes = malloc(room);
	}
	if (!bytes)
		return NTRACE_ERR_NOMEM;
	if (waits)
		memmove(bytes, backlog->bytes + backlog->first, waits);
	if (bytes != backlog->bytes)
		free(backlog->bytes);
	*backlog = (struct backlog){ .bytes = bytes, .used = waits, .room = room };
	return 0;
}

/* Appends an item with @payload bytes that follow it. NULL: no memory. */
static struct backlog_item *append(struct backlog *backlog, enum backlog_type type, size_t payload)
{
	size_t size = size_with(payload);
	struct backlog_item *item;

	if (make_room(backlog, size))
		return NULL;
	item = (struct backlog_item *)(void *)(backlog->bytes + backlog->used);
	backlog->used += size;
	item->size = size;
	item->type = type;
	return item;
}

/* Names that the decoder makes itself are short. */
static void copy_name(struct backlog_item *item, const char *name)
{
	size_t length = strnlen(name, sizeof(item->comm));

	item->comm[0] = '\0';
	if (length < sizeof(item->comm))
		memcpy(item->comm, name, length + 1);
}

static const char *name_of(const struct backlog_item *item, const char *name)
{
	return item->comm[0] ? item->comm : name;
}

int backlog_add_event(struct backlog *backlog, const struct ntrace_session_event *event)
{
	struct backlog_item *item = append(backlog, BACKLOG_EVENT, 0);

	if (!item)
		return NTRACE_ERR_NOMEM;
	item->event = *event;
	item->flow = *event->flow;
	copy_name(item, event->comm);
	if (item->flow.isa)
		item->isa = *item->flow.isa;
	if (item->flow.context)
		item->context = *item->flow.context;
	if (item->flow.space)
		ntrace_space_get(item->flow.space);
	return 0;
}

int backlog_add_segment(struct backlog *backlog, const struct ntrace_segment *segment)
{
	size_t payload = payload_of(segment);
	struct backlog_item *item = append(backlog, BACKLOG_SEGMENT, payload);

	if (!item)
		return NTRACE_ERR_NOMEM;
	item->segment = *segment;
	copy_name(item, segment->at.comm);
	if (segment->type == NTRACE_SEGMENT_RUN) {
		item->run = *segment->run;
		item->last = *segment->run->last;
		item->isa = *segment->run->isa;
		memcpy(item + 1, segment->run->steps, payload);
	} else {
		item->batch = *segment->batch;
		item->isa = *segment->batch->isa;
		memcpy(item + 1, segment->batch->blocks, payload);
	}
	return 0;
}

int backlog_add_turn(struct backlog *backlog, const struct turn *turn, size_t index)
{
	struct backlog_item *item = append(backlog, BACKLOG_TURN, 0);

	if (!item)
		return NTRACE_ERR_NOMEM;
	item->turn = turn;
	item->index = index;
	return 0;
}

static struct backlog_item *first_of(const struct backlog *backlog)
{
	return (struct backlog_item *)(void *)(backlog->bytes + backlog->first);
}

const struct backlog_item *backlog_first(struct backlog *backlog)
{
	struct backlog_item *item;

	if (backlog_is_empty(backlog))
		return NULL;
	item = first_of(backlog);
	if (item->type == BACKLOG_EVENT) {
		item->event.flow = &item->flow;
		item->event.comm = name_of(item, item->event.comm);
		if (item->flow.isa)
			item->flow.isa = &item->isa;
		if (item->flow.context)
			item->flow.context = &item->context;
	} else if (item->type == BACKLOG_SEGMENT) {
		item->segment.at.comm = name_of(item, item->segment.at.comm);
		if (item->segment.type == NTRACE_SEGMENT_RUN) {
			item->segment.run = &item->run;
			item->run.last = &item->last;
			item->run.isa = &item->isa;
			item->run.steps = (const struct ntrace_flow_step *)(const void *)(item + 1);
		} else {
			item->segment.batch = &item->batch;
			item->batch.isa = &item->isa;
			item->batch.blocks = (const struct ntrace_block *)(const void *)(item + 1);
		}
	}
	return item;
}

void backlog_drop_first(struct backlog *backlog)
{
	const struct backlog_item *item = first_of(backlog);

	if (item->type == BACKLOG_EVENT)
		ntrace_space_put(item->flow.space);
	backlog->first += item->size;
	if (backlog_is_empty(backlog))
		backlog->first = backlog->used = 0;
}

void backlog_free(struct backlog *backlog)
{
	while (!backlog_is_empty(backlog))
		backlog_drop_first(backlog);
	free(backlog->bytes);
	*backlog = (struct backlog){ 0 };
}
