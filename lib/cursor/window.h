/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Windows: decoded stretches of a stream. A window holds copies of all that its places show, so that
 * mappings may change after it was decoded.
 */
#ifndef NTRACE_CURSOR_WINDOW_H
#define NTRACE_CURSOR_WINDOW_H

#include <ntrace/cursor.h>

#include "slots.h"

/* Flags of an item besides enum ntrace_block_flag. */
#define ITEM_EVENT 0x80		/* not a block: @what is the number of an event */
#define ITEM_STAMPED 0x40	/* its message has a timestamp */

/**
 * struct item - a block or another event
 * @next: of a block
 * @what: number of the block's code, or of the event
 * @group: number of its message
 */
struct item {
	uint64_t next;
	uint32_t what;
	uint32_t group;
	uint8_t flags;
};

/**
 * struct code - a block of code, once for all its executions
 * @id: of struct ntrace_block, 0 = none
 * @text: offset of its bytes in the text of the window; CODE_UNKNOWN: they could not be read
 * @first_size: bytes of its first instruction, 0 = unknown
 */
struct code {
	uint64_t address;
	const struct ntrace_isa *isa;
	uint32_t instructions;
	uint32_t bytes;
	uint32_t id;
	uint32_t text;
	uint8_t insn_class;
	uint8_t last_size;
	uint8_t first_size;
};

#define CODE_UNKNOWN UINT32_MAX

/**
 * struct group - a message
 * @state: number of the state in which it was decoded
 */
struct group {
	uint64_t offset;
	uint64_t time;
	uint32_t state;
	uint16_t src;
	bool time_known;
};

/**
 * struct state - what changes less often than the message
 * @comm: offset of the name in the names of the window
 */
struct state {
	struct ntrace_context context;
	struct ntrace_space *space;	/* a clone that never changes; borrowed from the window */
	uint64_t sideband_ns;
	int32_t pid;
	int32_t tid;
	uint32_t cpu;
	uint32_t privilege;
	uint32_t comm;
};

/* The clone @space of @original at one version; @original is only compared. */
struct snapshot {
	const struct ntrace_space *original;
	uint64_t version;
	struct ntrace_space *space;
};

struct array {
	void *items;
	size_t count;
	size_t room;
};

/**
 * struct window - a stretch of a stream
 * @references: of the list of windows and of cursors
 * @number: no other window of the store has it; not 0
 * @lane: the stream
 * @first: number of the first item in the stream
 * @items: struct item
 * @used: for the order of uses
 * @snapshots: struct snapshot, referenced
 * @slots: of the codes with an id
 */
struct window {
	unsigned int references;
	uint64_t number;
	const void *lane;
	uint64_t first;
	uint64_t used;
	struct array items;
	struct array codes;
	struct array groups;
	struct array states;
	struct array events;
	struct array text;
	struct array names;
	struct array snapshots;
	struct slots slots;
};

/* NULL: out of memory. */
struct window *window_new(const void *lane, uint64_t first, uint64_t number);
struct window *window_get(struct window *window);
void window_put(struct window *window);

static inline uint64_t window_end(const struct window *window)
{
	return window->first + window->items.count;
}

static inline const struct item *window_item(const struct window *window, uint64_t number)
{
	return (const struct item *)window->items.items + (number - window->first);
}

static inline const struct code *window_code(const struct window *window, const struct item *item)
{
	return (const struct code *)window->codes.items + item->what;
}

static inline const struct group *window_group(const struct window *window, const struct item *item)
{
	return (const struct group *)window->groups.items + item->group;
}

static inline const struct state *window_state(const struct window *window,
					       const struct group *group)
{
	return (const struct state *)window->states.items + group->state;
}

static inline const struct ntrace_flow_event *window_event(const struct window *window,
							   const struct item *item)
{
	return (const struct ntrace_flow_event *)window->events.items + item->what;
}

/* Bytes of a block; NULL: unknown. */
static inline const uint8_t *window_text(const struct window *window, const struct code *code)
{
	return code->text == CODE_UNKNOWN ? NULL : (const uint8_t *)window->text.items + code->text;
}

/* Instructions of a block, 0 for other events. */
static inline uint32_t window_instructions(const struct window *window, const struct item *item)
{
	return item->flags & ITEM_EVENT ? 0 : window_code(window, item)->instructions;
}

/**
 * struct snapshots - clones of spaces, shared by windows
 * @kept: the clones used last, referenced
 */
struct snapshots {
	struct snapshot kept[32];
	unsigned int next;
};

void snapshots_free(struct snapshots *snapshots);

/**
 * struct append - what is common to the items appended at once
 * @snapshots: for clones
 * @context: state by Ownership
 * @stamped: the message has a timestamp
 */
struct append {
	struct snapshots *snapshots;
	const struct ntrace_context *context;
	bool stamped;
};

/* Return: 0 or NTRACE_ERR_NOMEM: the window is to be freed. */
int window_add_blocks(struct window *window, const struct append *append,
		      const struct ntrace_segment *blocks, size_t skip);
int window_add_event(struct window *window, const struct append *append,
		     const struct ntrace_session_event *event);

#endif
