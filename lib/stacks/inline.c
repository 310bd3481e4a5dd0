// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Inlined functions of executed instructions. DWARF gives the inlined functions at an address,
 * which are looked up once for each block of code. A known block is a few pieces, each with its
 * chain of inlined functions.
 */
#include <ntrace/lines.h>

#include "grow.h"
#include "thread.h"

#define CHAIN_MAX 256	/* maximum depth of inlining; dwarf.c reads no deeper */
#define BLOCKS (1u << 16)
#define PIECES_MAX (1u << 22)

/* The chain + 1 of each scope of a unit, 0 = not looked up yet. */
struct inline_unit {
	const struct ntrace_lines *lines;
	uint32_t *numbers;
};

/* @units: NULL if the object has no DWARF; @parts: the units with executed code. */
struct inline_object {
	struct ntrace_object *object;
	struct ntrace_units *units;
	struct inline_unit *parts;
	size_t part_count;
	size_t part_room;
};

/* A linear search is enough for the few objects. */
static int find_object(struct ntrace_stacks *stacks, struct ntrace_object *object,
		       struct inline_object **found)
{
	struct stack_inline *inlined = &stacks->inlined;
	struct inline_object made = { .object = object };
	size_t i;
	int error;

	for (i = 0; i < inlined->object_count; i++) {
		*found = &inlined->objects[i];
		if (inlined->objects[i].object == object)
			return 0;
	}
	error = grow((void **)&inlined->objects, inlined->object_count, &inlined->object_room,
		     sizeof(made));
	if (!error)
		error = ntrace_units_open(&made.units, object, stacks->options.directories);
	if (error == NTRACE_ERR_NOMEM)
		return error;
	if (error)
		made.units = NULL;
	ntrace_object_get(object);
	*found = &inlined->objects[inlined->object_count];
	inlined->objects[inlined->object_count++] = made;
	return 0;
}

/* Moves the unit to the front: code tends to stay in one unit. */
static int find_part(struct inline_object *object, const struct ntrace_lines *lines,
		     struct inline_unit **found)
{
	struct inline_unit part = { .lines = lines };
	size_t count, i;
	int error;

	for (i = 0; i < object->part_count && object->parts[i].lines != lines; i++)
		;
	if (i == object->part_count) {
		error = grow((void **)&object->parts, object->part_count, &object->part_room,
			     sizeof(part));
		if (error)
			return error;
		ntrace_lines_scopes(lines, &count);
		part.numbers = calloc(count + 1, sizeof(*part.numbers));
		if (!part.numbers)
			return NTRACE_ERR_NOMEM;
		object->parts[object->part_count++] = part;
	}
	part = object->parts[i];
	object->parts[i] = object->parts[0];
	object->parts[0] = part;
	*found = &object->parts[0];
	return 0;
}

/* The chain of @parent extended by @function. */
static int find_chain(struct stack_inline *inlined, uint32_t parent, uint32_t function,
		      uint32_t *chain)
{
	bool is_new;
	int error = grow((void **)&inlined->chains, inlined->numbers.count + 1,
			 &inlined->chain_room, sizeof(*inlined->chains));

	*chain = error ? 0 : (uint32_t)pairs_number(&inlined->numbers, parent, function, &is_new);
	if (!*chain)
		return NTRACE_ERR_NOMEM;
	inlined->chains[*chain] = (struct inline_chain){ .parent = parent, .function = function };
	return 0;
}

/* The chain of a scope, built from the outermost inlined function inwards. */
static int chain_of_scope(struct ntrace_stacks *stacks, const struct inline_object *object,
			  struct inline_unit *part, uint32_t scope, uint32_t *chain)
{
	const struct ntrace_scope *scopes;
	uint32_t path[CHAIN_MAX], function;
	size_t count, depth = 0;
	int error = 0;

	scopes = ntrace_lines_scopes(part->lines, &count);
	*chain = 0;
	while (scope < count && scopes[scope].inlined && !*chain && depth < CHAIN_MAX) {
		if (part->numbers[scope])
			*chain = part->numbers[scope] - 1;
		else
			path[depth++] = scope;
		scope = scopes[scope].parent;
	}
	while (depth && !error) {
		uint32_t inner = path[--depth];
		const struct tree_function like = { .name = (char *)(uintptr_t)scopes[inner].name,
						    .object = object->object,
						    .kind = NTRACE_STACK_FUNCTION,
						    .inlined = true };

		error = tree_function(&stacks->tree, &like, &function);
		if (!error)
			error = find_chain(&stacks->inlined, *chain, function, chain);
		if (!error)
			part->numbers[inner] = *chain + 1;
	}
	return error;
}

int inline_chain_at(struct ntrace_stacks *stacks, struct ntrace_object *object, uint64_t address,
		    uint32_t *chain)
{
	const struct ntrace_lines *lines;
	struct inline_object *found;
	struct inline_unit *part;
	int error;

	*chain = 0;
	error = find_object(stacks, object, &found);
	lines = error || !found->units ? NULL : ntrace_units_lines(found->units, address);
	if (!lines)
		return error;
	error = find_part(found, lines, &part);
	return error ? error :
		       chain_of_scope(stacks, found, part, ntrace_lines_scope(lines, address),
				      chain);
}

/* State of splitting a block into pieces. */
struct cutting {
	struct ntrace_stacks *stacks;
	struct ntrace_object *object;
	uint64_t bias;		/* address minus link address */
	size_t first;
	int error;
};

static int cut_one(void *data, uint64_t address, const uint8_t *bytes,
		   const struct ntrace_insn *insn)
{
	struct cutting *cutting = data;
	struct stack_inline *inlined = &cutting->stacks->inlined;
	struct inline_piece piece = { .instructions = 1 };

	(void)bytes;
	(void)insn;
	cutting->error = inline_chain_at(cutting->stacks, cutting->object, address - cutting->bias,
					 &piece.chain);
	if (cutting->error)
		return cutting->error;
	if (inlined->piece_count > cutting->first &&
	    inlined->pieces[inlined->piece_count - 1].chain == piece.chain) {
		inlined->pieces[inlined->piece_count - 1].instructions++;
		return 0;
	}
	cutting->error = grow((void **)&inlined->pieces, inlined->piece_count, &inlined->piece_room,
			      sizeof(piece));
	if (!cutting->error)
		inlined->pieces[inlined->piece_count++] = piece;
	return cutting->error;
}

static int cut_block(struct ntrace_stacks *stacks, const struct ntrace_flow_event *flow)
{
	struct stack_inline *inlined = &stacks->inlined;
	struct cutting cutting = { .stacks = stacks, .first = inlined->piece_count };
	struct ntrace_location at;

	if (!ntrace_space_locate(flow->space, flow->address, &at)) {
		cutting.object = at.object;
		cutting.bias = flow->address - at.link_address;
		ntrace_flow_instructions(flow, cut_one, &cutting);
	}
	return cutting.error;
}

int inline_pieces(struct ntrace_stacks *stacks, const struct ntrace_flow_event *flow,
		  const struct inline_piece **pieces, size_t *count)
{
	struct stack_inline *inlined = &stacks->inlined;
	uint64_t version = ntrace_space_version(flow->space);
	struct inline_block *block;
	int error = 0;

	if (!inlined->blocks || inlined->piece_count > PIECES_MAX) {
		free(inlined->blocks);
		inlined->blocks = calloc(BLOCKS, sizeof(*inlined->blocks));
		inlined->piece_count = 0;
	}
	if (!inlined->blocks)
		return NTRACE_ERR_NOMEM;
	block = &inlined->blocks[(flow->address >> 1 ^ flow->address >> 17) % BLOCKS];
	if (block->version != version || block->address != flow->address ||
	    block->last != flow->last) {
		*block = (struct inline_block){ .version = 0,
						.address = flow->address,
						.last = flow->last,
						.first = (uint32_t)inlined->piece_count };
		error = cut_block(stacks, flow);
		block->count = (uint32_t)inlined->piece_count - block->first;
		block->version = error ? 0 : version;
	}
	*pieces = inlined->pieces + block->first;
	*count = block->count;
	return error;
}

int inline_enter(struct ntrace_stacks *stacks, struct stack_tree *tree, struct frame *frame,
		 uint32_t chain)
{
	const struct inline_chain *chains = stacks->inlined.chains;
	uint32_t path[CHAIN_MAX], node = frame->node, next = chain;
	unsigned int depth = 0;
	int error = 0;

	if (frame->chain == chain || !frame->shown)
		return 0;
	for (; next && depth < CHAIN_MAX; next = chains[next].parent)
		path[depth++] = chains[next].function;
	while (depth-- && !error)
		error = tree_child(tree, node, path[depth], &node);
	if (error)
		return error;
	frame->chain = chain;
	frame->inner = node;
	frame->state = 0;
	return 0;
}

static void free_object(struct inline_object *object)
{
	size_t i;

	for (i = 0; i < object->part_count; i++)
		free(object->parts[i].numbers);
	free(object->parts);
	ntrace_units_close(object->units);
	ntrace_object_put(object->object);
}

void inline_free(struct ntrace_stacks *stacks)
{
	struct stack_inline *inlined = &stacks->inlined;
	size_t i;

	for (i = 0; i < inlined->object_count; i++)
		free_object(&inlined->objects[i]);
	free(inlined->objects);
	free(inlined->chains);
	pairs_free(&inlined->numbers);
	free(inlined->blocks);
	free(inlined->pieces);
}
