// SPDX-License-Identifier: GPL-2.0-only
/* Text of places of a trace. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "code.h"
#include "common/disassembly.h"
#include "common/place_name.h"
#include "stream/decode/event_text.h"

/* Code without a symbol is disassembled in pieces of this size. */
#define PIECE 4096
/* A symbol may claim to be larger than its code. */
#define FUNCTION_MAX (1u << 20)

/**
 * struct code_object - an object
 * @units: NULL = it has no lines
 * @plain: objdump does not know it
 */
struct code_object {
	struct ntrace_object *object;
	struct ntrace_units *units;
	bool plain;
};

/** struct code_function - disassembly of @start to @end of an object, borrowed; NULL = free */
struct code_function {
	const struct ntrace_object *object;
	uint64_t start;
	uint64_t end;
	struct disassembly disassembly;
};

void code_free(struct code *code)
{
	for (size_t i = 0; code->functions && i < CODE_FUNCTIONS; i++)
		disassembly_free(&code->functions[i].disassembly);
	for (size_t i = 0; i < code->object_count; i++) {
		ntrace_units_close(code->objects[i].units);
		ntrace_object_put(code->objects[i].object);
	}
	free(code->functions);
	free(code->objects);
	source_lines_free(&code->source);
	free(code->source_name);
	debug_directories_free(code->directories);
	*code = (struct code){ 0 };
}

/* Return: NULL when out of memory. */
static struct code_object *find_object(struct code *code, struct ntrace_object *object)
{
	struct code_object *more, *made;

	for (size_t i = 0; i < code->object_count; i++)
		if (code->objects[i].object == object)
			return &code->objects[i];
	more = reallocarray(code->objects, code->object_count + 1, sizeof(*more));
	if (!more)
		return NULL;
	code->objects = more;
	made = &more[code->object_count++];
	*made = (struct code_object){ .object = ntrace_object_get(object) };
	if (!code->directories)
		code->directories = debug_directories(code->roots);
	if (!code->directories ||
	    ntrace_units_open(&made->units, object, (const char *const *)code->directories))
		made->units = NULL;
	return made;
}

static void locate(const struct ntrace_cursor_place *place, struct ntrace_location *location)
{
	*location = (struct ntrace_location){ 0 };
	if (place->flow->space)
		ntrace_space_locate(place->flow->space, place->address, location);
}

/* ---- source ---- */

const struct ntrace_line *code_line(struct code *code, const struct ntrace_cursor_place *place)
{
	const struct code_object *object;
	const struct ntrace_lines *lines;
	struct ntrace_location location;

	if (place->type != NTRACE_FLOW_BLOCK)
		return NULL;
	locate(place, &location);
	object = location.object ? find_object(code, location.object) : NULL;
	if (!object || !object->units)
		return NULL;
	lines = ntrace_units_lines(object->units, location.link_address);
	return lines ? ntrace_lines_find(lines, location.link_address) : NULL;
}

const struct source_lines *code_source(struct code *code, const char *name)
{
	if (code->source_name && !strcmp(code->source_name, name))
		return &code->source;
	source_lines_free(&code->source);
	free(code->source_name);
	code->source_name = strdup(name);
	source_lines_read(&code->source, name, code->roots);
	return &code->source;
}

bool code_source_is_newer(const struct code *code, const struct ntrace_cursor_place *place)
{
	struct ntrace_location location;

	locate(place, &location);
	return code->source.count && location.object &&
	       source_is_newer(location.object, code->source.changed);
}

/* ---- instructions ---- */

/* The function around an instruction, or a piece of code without a name. */
static void function_range(const struct ntrace_location *location, uint64_t *start, uint64_t *end)
{
	*start = location->link_address & ~(uint64_t)(PIECE - 1);
	*end = *start + PIECE;
	if (!location->symbol)
		return;
	*start = location->symbol_start;
	*end = location->symbol_start + location->symbol_size;
	if (location->link_address >= *end || *end - *start > FUNCTION_MAX) {
		*start = location->link_address;
		*end = *start + PIECE;
	}
}

static const char *disassembled(struct code *code, const struct ntrace_location *location)
{
	struct code_object *object = find_object(code, location->object);
	struct code_function *function;

	if (!object || object->plain)
		return NULL;
	if (!code->functions)
		code->functions = calloc(CODE_FUNCTIONS, sizeof(*code->functions));
	if (!code->functions)
		return NULL;
	for (size_t i = 0; i < CODE_FUNCTIONS; i++) {
		function = &code->functions[i];
		if (function->object == location->object &&
		    location->link_address >= function->start &&
		    location->link_address < function->end)
			return disassembly_find(&function->disassembly, location->link_address);
	}
	function = &code->functions[code->next_function++ % CODE_FUNCTIONS];
	disassembly_free(&function->disassembly);
	function->object = location->object;
	function_range(location, &function->start, &function->end);
	disassemble(&function->disassembly, ntrace_object_path(location->object), function->start,
		    function->end, code->objdump);
	object->plain = !function->disassembly.count;
	return disassembly_find(&function->disassembly, location->link_address);
}

/* "function+0x1c [object]" */
static void place_text(const struct ntrace_location *location, char *text, size_t size)
{
	const char *object;

	if (!location->object) {
		snprintf(text, size, "[unknown]");
		return;
	}
	object = ntrace_object_short_name(location->object);
	if (!location->symbol)
		snprintf(text, size, "[%s]", object);
	else if (location->link_address == location->symbol_start)
		snprintf(text, size, "%s [%s]", location->symbol, object);
	else
		snprintf(text, size, "%s+0x%" PRIx64 " [%s]", location->symbol,
			 location->link_address - location->symbol_start, object);
}

static void instruction_text(struct code *code, const struct ntrace_cursor_place *place, char *text,
			     size_t size)
{
	char bytes[2 * sizeof(place->bytes) + 1] = "", name[512];
	const char *instruction = NULL;
	struct ntrace_location location;

	locate(place, &location);
	for (unsigned int i = place->size, at = 0; i-- > 0; at += 2)
		snprintf(bytes + at, sizeof(bytes) - at, "%02x", place->bytes[i]);
	if (location.object)
		instruction = disassembled(code, &location);
	if (!instruction)
		instruction = place->insn_class == NTRACE_INSN_PLAIN ?
				      "" :
				      ntrace_insn_class_name(place->insn_class);
	place_text(&location, name, sizeof(name));
	snprintf(text, size, "0x%0*" PRIx64 "  %-8s  %-32s %s", (int)code->digits, place->address,
		 bytes, instruction, name);
}

static void event_text(const struct code *code, const struct ntrace_cursor_place *place, char *text,
		       size_t size)
{
	const struct ntrace_flow_event *flow = place->flow;
	const char *detail = event_detail(flow);
	char at[40] = "";

	if (event_has_address(flow))
		snprintf(at, sizeof(at), " at 0x%0*" PRIx64, (int)code->digits, flow->address);
	snprintf(text, size, "-- %s%s%s%s (offset 0x%" PRIx64 ")",
		 ntrace_flow_type_name(flow->type), *detail ? ": " : "", detail, at, place->offset);
}

char *code_text(struct code *code, const struct ntrace_cursor_place *place, char *text, size_t size)
{
	if (place->type == NTRACE_FLOW_BLOCK)
		instruction_text(code, place, text, size);
	else
		event_text(code, place, text, size);
	return text;
}

char *code_name(const struct ntrace_cursor_place *place, char *text, size_t size)
{
	struct ntrace_location location;

	locate(place, &location);
	return place_name(text, size, location.object,
			  location.object ? location.link_address : place->address);
}
