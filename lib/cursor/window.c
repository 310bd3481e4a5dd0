// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Windows; see window.h. */
#include <stdlib.h>
#include <string.h>

#include "grow.h"
#include "window.h"

#define SNAPSHOTS (sizeof(((struct snapshots *)0)->kept) / sizeof(struct snapshot))

struct window *window_new(const void *lane, uint64_t first, uint64_t number)
{
	struct window *window = calloc(1, sizeof(*window));

	if (!window)
		return NULL;
	window->references = 1;
	window->number = number;
	window->lane = lane;
	window->first = first;
	return window;
}

struct window *window_get(struct window *window)
{
	window->references++;
	return window;
}

void window_put(struct window *window)
{
	const struct snapshot *snapshots;
	size_t i;

	if (!window || --window->references)
		return;
	snapshots = window->snapshots.items;
	for (i = 0; i < window->snapshots.count; i++)
		ntrace_space_put(snapshots[i].space);
	free(window->items.items);
	free(window->codes.items);
	free(window->groups.items);
	free(window->states.items);
	free(window->events.items);
	free(window->text.items);
	free(window->names.items);
	free(window->snapshots.items);
	free(window->slots.numbers);
	free(window);
}

void snapshots_free(struct snapshots *snapshots)
{
	for (size_t i = 0; i < SNAPSHOTS; i++)
		ntrace_space_put(snapshots->kept[i].space);
}

/* Room for one more item of @size; NULL: out of memory. */
static void *add(struct array *array, size_t size)
{
	if (grow(&array->items, array->count, &array->room, size))
		return NULL;
	return memset((char *)array->items + size * array->count++, 0, size);
}

/* Appends bytes. Return: their offset, or UINT32_MAX: out of memory. */
static uint32_t add_bytes(struct array *array, const void *bytes, size_t size)
{
	size_t offset = array->count;

	if (array->room - offset < size) {
		size_t room = 2 * array->room + size + 256;
		void *grown = realloc(array->items, room);

		if (!grown)
			return UINT32_MAX;
		array->items = grown;
		array->room = room;
	}
	memcpy((char *)array->items + offset, bytes, size);
	array->count += size;
	return (uint32_t)offset;
}

/* The clone of @space at its version, referenced by @snapshots. NULL: out of memory. */
static struct ntrace_space *shared_clone(struct snapshots *snapshots, struct ntrace_space *space,
					 uint64_t version)
{
	struct snapshot *snapshot;
	struct ntrace_space *clone;

	for (size_t i = 0; i < SNAPSHOTS; i++) {
		if (snapshots->kept[i].original == space && snapshots->kept[i].version == version)
			return snapshots->kept[i].space;
	}
	if (ntrace_space_clone(&clone, ntrace_space_name(space), space))
		return NULL;
	snapshot = &snapshots->kept[snapshots->next++ % SNAPSHOTS];
	ntrace_space_put(snapshot->space);
	*snapshot = (struct snapshot){ space, version, clone };
	return clone;
}

/* A clone of the space as it is now. Return: 0 or NTRACE_ERR_NOMEM. */
static int take_space(struct window *window, struct snapshots *shared, struct ntrace_space *space,
		      struct ntrace_space **clone)
{
	const struct snapshot *known = window->snapshots.items;
	struct snapshot *snapshot;
	uint64_t version;

	*clone = NULL;
	if (!space)
		return 0;
	version = ntrace_space_version(space);
	for (size_t i = window->snapshots.count; i--;) {
		if (known[i].original == space && known[i].version == version) {
			*clone = known[i].space;
			return 0;
		}
	}
	*clone = shared_clone(shared, space, version);
	snapshot = *clone ? add(&window->snapshots, sizeof(*snapshot)) : NULL;
	if (!snapshot)
		return NTRACE_ERR_NOMEM;
	*snapshot = (struct snapshot){ space, version, ntrace_space_get(*clone) };
	return 0;
}

static bool same_context(const struct ntrace_context *a, const struct ntrace_context *b)
{
	return a->scontext == b->scontext && a->hcontext == b->hcontext && a->prv == b->prv &&
	       a->v == b->v && a->scontext_known == b->scontext_known &&
	       a->hcontext_known == b->hcontext_known && a->prv_known == b->prv_known;
}

/* The number of a state equal to @state, mostly that of the last one. UINT32_MAX: out of memory. */
static uint32_t add_state(struct window *window, const struct state *state, const char *comm)
{
	const struct state *last = window->states.items;
	const char *names = window->names.items;
	struct state *made;
	uint32_t name;

	if (window->states.count) {
		last += window->states.count - 1;
		if (same_context(&last->context, &state->context) && last->space == state->space &&
		    last->sideband_ns == state->sideband_ns && last->pid == state->pid &&
		    last->tid == state->tid && last->cpu == state->cpu &&
		    last->privilege == state->privilege && !strcmp(names + last->comm, comm))
			return (uint32_t)(window->states.count - 1);
	}
	/* Names repeat with their threads; one copy for each change is small enough. */
	name = add_bytes(&window->names, comm, strlen(comm) + 1);
	made = name == UINT32_MAX ? NULL : add(&window->states, sizeof(*made));
	if (!made)
		return UINT32_MAX;
	*made = *state;
	made->comm = name;
	return (uint32_t)(window->states.count - 1);
}

static int add_group(struct window *window, const struct group *group)
{
	const struct group *last = window->groups.items;
	struct group *made;

	if (window->groups.count) {
		last += window->groups.count - 1;
		if (last->offset == group->offset && last->time == group->time &&
		    last->state == group->state && last->src == group->src &&
		    last->time_known == group->time_known)
			return 0;
	}
	made = add(&window->groups, sizeof(*made));
	if (!made)
		return NTRACE_ERR_NOMEM;
	*made = *group;
	return 0;
}

static struct item *add_item(struct window *window)
{
	struct item *item = add(&window->items, sizeof(*item));

	if (item)
		item->group = (uint32_t)(window->groups.count - 1);
	return item;
}

static uint32_t hash_of(uint32_t id)
{
	return id * UINT32_C(0x9e3779b1);
}

static int grow_slots(struct window *window)
{
	const struct code *codes = window->codes.items;
	bool cleared;
	int error = slots_grow(&window->slots, window->codes.count, &cleared);

	for (size_t i = 0; !error && cleared && i < window->codes.count; i++) {
		if (codes[i].id)
			slots_add(&window->slots, hash_of(codes[i].id), i);
	}
	return error;
}

/* Copies the bytes of a block; they may be in several mappings. */
static int copy_text(struct window *window, const struct ntrace_space *space, struct code *code)
{
	size_t before = window->text.count;
	uint32_t got = 0;

	code->text = (uint32_t)before;
	while (got < code->bytes) {
		const uint8_t *data;
		size_t available;

		if (!space || ntrace_space_read(space, code->address + got, &data, &available) ||
		    !available) {
			window->text.count = before;
			code->text = CODE_UNKNOWN;
			return 0;
		}
		if (available > code->bytes - got)
			available = code->bytes - got;
		if (add_bytes(&window->text, data, available) == UINT32_MAX)
			return NTRACE_ERR_NOMEM;
		got += (uint32_t)available;
	}
	return 0;
}

/* The number of the code of @block; UINT32_MAX: out of memory. */
static uint32_t add_code(struct window *window, const struct ntrace_block_batch *batch,
			 const struct ntrace_block *block)
{
	const struct code *codes = window->codes.items;
	struct ntrace_insn insn;
	struct code *code;
	size_t slot = 0;

	if (grow_slots(window))
		return UINT32_MAX;
	if (block->id) {
		slot = slots_at(&window->slots, hash_of(block->id));
		for (; window->slots.numbers[slot]; slot = slots_at(&window->slots, slot + 1)) {
			if (codes[window->slots.numbers[slot] - 1].id == block->id)
				return window->slots.numbers[slot] - 1;
		}
	}
	code = add(&window->codes, sizeof(*code));
	if (!code)
		return UINT32_MAX;
	*code = (struct code){
		.address = block->address,
		.isa = batch->isa,
		.instructions = block->instructions,
		.bytes = block->bytes,
		.id = block->id,
		.insn_class = block->insn_class,
		.last_size = block->last_size,
	};
	if (block->id)
		window->slots.numbers[slot] = (uint32_t)window->codes.count;
	if (copy_text(window, batch->space, code))
		return UINT32_MAX;
	if (code->text != CODE_UNKNOWN && !ntrace_insn_decode(code->isa, window_text(window, code),
							      code->bytes, code->address, &insn))
		code->first_size = insn.size;
	return (uint32_t)(window->codes.count - 1);
}

/* Adds the message and the state of what is appended next. Return: 0 or NTRACE_ERR_NOMEM */
static int begin_append(struct window *window, const struct append *append, struct group group,
			const struct ntrace_session_event *at, struct ntrace_space *space)
{
	struct state state = { .context = *append->context,
			       .sideband_ns = at->sideband_ns,
			       .pid = at->pid,
			       .tid = at->tid,
			       .cpu = at->cpu,
			       .privilege = at->privilege };

	if (take_space(window, append->snapshots, space, &state.space))
		return NTRACE_ERR_NOMEM;
	group.state = add_state(window, &state, at->comm);
	return group.state == UINT32_MAX || add_group(window, &group) ? NTRACE_ERR_NOMEM : 0;
}

int window_add_blocks(struct window *window, const struct append *append,
		      const struct ntrace_segment *blocks, size_t skip)
{
	const struct ntrace_block_batch *batch = blocks->batch;
	const struct group group = { .offset = batch->offset,
				     .time = batch->time,
				     .src = batch->src,
				     .time_known = batch->time_known };

	if (begin_append(window, append, group, &blocks->at, batch->space))
		return NTRACE_ERR_NOMEM;
	for (size_t i = skip; i < batch->count; i++) {
		struct item *item = add_item(window);
		uint32_t code = item ? add_code(window, batch, &batch->blocks[i]) : UINT32_MAX;

		if (code == UINT32_MAX)
			return NTRACE_ERR_NOMEM;
		item->next = batch->blocks[i].next;
		item->what = code;
		item->flags = batch->blocks[i].flags | (append->stamped ? ITEM_STAMPED : 0);
	}
	return 0;
}

int window_add_event(struct window *window, const struct append *append,
		     const struct ntrace_session_event *event)
{
	const struct ntrace_flow_event *flow = event->flow;
	const struct group group = { .offset = flow->offset,
				     .time = flow->time,
				     .src = flow->src,
				     .time_known = flow->time_known };
	struct ntrace_flow_event *copy;
	struct item *item;

	if (begin_append(window, append, group, event, flow->space))
		return NTRACE_ERR_NOMEM;
	copy = add(&window->events, sizeof(*copy));
	item = copy ? add_item(window) : NULL;
	if (!item)
		return NTRACE_ERR_NOMEM;
	*copy = *flow;
	/* The place supplies both, from copies. */
	copy->context = NULL;
	copy->space = NULL;
	item->what = (uint32_t)(window->events.count - 1);
	item->flags = ITEM_EVENT | (append->stamped ? ITEM_STAMPED : 0);
	return 0;
}
