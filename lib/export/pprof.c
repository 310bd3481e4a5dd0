// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * profile.proto, gzipped, which go tool pprof, Pyroscope and Parca read. A location is a function
 * at its link address; threads are labels. Functions, locations and mappings are numbered from 1.
 * Inlined functions are lines of the location of the function that contains them: one location for
 * each chain of inlined functions, numbered after those of functions.
 */
#include <stdlib.h>

#include "pairs.h"
#include "pprof.h"
#include "stacks.h"

/*
 * Strings are numbered before they are written: these first, then two for each function and object.
 */
static const char *const texts[] = { "",       "instructions", "count", "time", "nanoseconds",
				     "thread", "ntrace" };
enum {
	TEXT_NONE,
	TEXT_INSTRUCTIONS,
	TEXT_COUNT,
	TEXT_TIME,
	TEXT_NANOSECONDS,
	TEXT_THREAD,
	TEXT_NTRACE,
	TEXTS
};

/*
 * @objects: object of each mapping, from number 1 on
 * @mapping: mapping of each function, 0 = none
 * @location: location of each node
 * @chains: chains of inlined functions: a number for each pair of outer location and function
 */
struct pprof {
	const struct stacks_export *export;
	struct pprof_file file;
	const struct ntrace_object **objects;
	uint32_t *mapping;
	uint32_t mappings;
	uint64_t *location;
	struct pairs chains;
};

static void put(struct pprof *pprof, unsigned int field)
{
	pprof_put(&pprof->file, field);
}

static uint64_t text_of_function(size_t function)
{
	return TEXTS + 2 * function;
}

static uint64_t text_of_object(const struct pprof *pprof, uint32_t mapping)
{
	return text_of_function(pprof->export->function_count) + 2 * (uint64_t)(mapping - 1);
}

/* A linear search is enough for the few objects. */
static uint32_t find_mapping(struct pprof *pprof, const struct ntrace_object *object)
{
	uint32_t i;

	if (!object)
		return 0;
	for (i = 0; i < pprof->mappings; i++)
		if (pprof->objects[i] == object)
			return i + 1;
	pprof->objects[pprof->mappings++] = object;
	return pprof->mappings;
}

static void put_type(struct pprof *pprof, unsigned int type, unsigned int unit)
{
	protobuf_number(&pprof->file.part, TYPE_TYPE, type);
	protobuf_number(&pprof->file.part, TYPE_UNIT, unit);
	put(pprof, PROFILE_SAMPLE_TYPE);
}

static uint64_t nanoseconds(const struct pprof *pprof, uint64_t ticks)
{
	return (uint64_t)((unsigned __int128)ticks * 1000000000 / pprof->export->timestamp_hz);
}

/* Whether the node's function is inlined into the function of its parent. */
static bool is_within(const struct stacks_export *export, const struct ntrace_stack_node *node)
{
	return export->functions[node->function].inlined && node->depth > 2;
}

/* Writes a stack with its own instructions, the innermost frame first. */
static void put_sample(struct pprof *pprof, const struct ntrace_stack_node *node)
{
	const struct stacks_export *export = pprof->export;
	const struct ntrace_stack_node *nodes = export->nodes, *up = node;

	for (; up->depth > 1; up = &nodes[up->parent]) {
		protobuf_value(&pprof->file.inner, pprof->location[up - nodes]);
		/* The outer functions share the location. */
		while (is_within(export, up))
			up = &nodes[up->parent];
	}
	/* "[other]" has no thread. */
	if (export->functions[up->function].kind != NTRACE_STACK_TASK)
		protobuf_value(&pprof->file.inner, pprof->location[up - nodes]);
	protobuf_message(&pprof->file.part, SAMPLE_LOCATION, &pprof->file.inner);
	protobuf_value(&pprof->file.inner, node->instructions);
	if (pprof->export->timestamp_hz)
		protobuf_value(&pprof->file.inner, nanoseconds(pprof, node->ticks));
	protobuf_message(&pprof->file.part, SAMPLE_VALUE, &pprof->file.inner);
	protobuf_number(&pprof->file.inner, LABEL_KEY, TEXT_THREAD);
	protobuf_number(&pprof->file.inner, LABEL_TEXT, text_of_function(up->function));
	protobuf_message(&pprof->file.part, SAMPLE_LABEL, &pprof->file.inner);
	put(pprof, PROFILE_SAMPLE);
}

static void put_function(struct pprof *pprof, size_t i)
{
	protobuf_number(&pprof->file.part, FUNCTION_ID, i + 1);
	protobuf_number(&pprof->file.part, FUNCTION_NAME, text_of_function(i));
	protobuf_number(&pprof->file.part, FUNCTION_SYSTEM_NAME, text_of_function(i) + 1);
	put(pprof, PROFILE_FUNCTION);
}

static void put_line(struct pprof *pprof, size_t function)
{
	protobuf_number(&pprof->file.inner, LINE_FUNCTION, function + 1);
	protobuf_message(&pprof->file.part, LOCATION_LINE, &pprof->file.inner);
}

/* Writes the location of a node: its function and the outer ones, the innermost first. */
static void put_location(struct pprof *pprof, const struct ntrace_stack_node *node)
{
	const struct stacks_export *export = pprof->export;
	const struct ntrace_stack_node *in = node;
	size_t last;

	while (is_within(export, in))
		in = &export->nodes[in->parent];
	last = in->function;
	protobuf_number(&pprof->file.part, LOCATION_ID, pprof->location[node - export->nodes]);
	protobuf_number(&pprof->file.part, LOCATION_MAPPING, pprof->mapping[last]);
	protobuf_number(&pprof->file.part, LOCATION_ADDRESS, export->functions[last].start);
	for (; node != in; node = &export->nodes[node->parent])
		put_line(pprof, node->function);
	put_line(pprof, last);
	put(pprof, PROFILE_LOCATION);
}

/* Numbers the locations and writes each at its first node. */
static void put_locations(struct pprof *pprof)
{
	const struct stacks_export *export = pprof->export;
	uint64_t number;
	bool is_new;
	size_t i;

	for (i = 0; i < export->node_count && !pprof->file.error; i++) {
		const struct ntrace_stack_node *node = &export->nodes[i];
		const struct ntrace_stack_function *function = &export->functions[node->function];
		uint64_t around = is_within(export, node) ? pprof->location[node->parent] : 0;

		if (function->kind >= NTRACE_STACK_TASK)
			continue;
		number = pairs_number(&pprof->chains, around, node->function, &is_new);
		if (!number)
			pprof->file.error = NTRACE_ERR_NOMEM;
		pprof->location[i] = number;
		if (is_new)
			put_location(pprof, node);
	}
}

static void put_mapping(struct pprof *pprof, uint32_t mapping)
{
	pprof_put_mapping(&pprof->file, mapping, pprof->objects[mapping - 1],
			  text_of_object(pprof, mapping));
}

static void put_strings(struct pprof *pprof)
{
	const struct stacks_export *export = pprof->export;
	size_t i;

	for (i = 0; i < TEXTS; i++)
		pprof_put_text(&pprof->file, texts[i]);
	for (i = 0; i < export->function_count; i++) {
		pprof_put_text(&pprof->file, export->names[i]);
		pprof_put_text(&pprof->file, export->functions[i].name);
	}
	for (i = 0; i < pprof->mappings; i++)
		pprof_put_object_texts(&pprof->file, pprof->objects[i]);
	pprof_put_text(&pprof->file, export->title);
	protobuf_number(&pprof->file.whole, PROFILE_COMMENT,
			text_of_function(export->function_count) + 2 * (uint64_t)pprof->mappings);
	protobuf_number(&pprof->file.whole, PROFILE_DEFAULT_TYPE, TEXT_INSTRUCTIONS);
}

static void put_profile(struct pprof *pprof)
{
	const struct stacks_export *export = pprof->export;
	size_t i;

	put_type(pprof, TEXT_INSTRUCTIONS, TEXT_COUNT);
	if (export->timestamp_hz)
		put_type(pprof, TEXT_TIME, TEXT_NANOSECONDS);
	for (i = 0; i < export->function_count; i++)
		pprof->mapping[i] = find_mapping(pprof, export->functions[i].object);
	for (i = 0; i < pprof->mappings; i++)
		put_mapping(pprof, (uint32_t)i + 1);
	/* Threads and the root, which are no frames, come last. */
	for (i = 0; i < export->function_count && export->functions[i].kind < NTRACE_STACK_TASK;
	     i++)
		put_function(pprof, i);
	put_locations(pprof);
	for (i = 0; i < export->node_count; i++)
		if (export->nodes[i].instructions ||
		    (export->timestamp_hz && export->nodes[i].ticks))
			put_sample(pprof, &export->nodes[i]);
	put_strings(pprof);
}

int put_pprof(const struct stacks_export *export)
{
	struct pprof pprof = { .export = export };
	int error;

	pprof.objects = calloc(export->function_count + 1, sizeof(*pprof.objects));
	pprof.mapping = calloc(export->function_count + 1, sizeof(*pprof.mapping));
	pprof.location = calloc(export->node_count + 1, sizeof(*pprof.location));
	error = pprof.objects && pprof.mapping && pprof.location ?
			pprof_begin(&pprof.file, export->file) :
			NTRACE_ERR_NOMEM;
	if (!error) {
		put_profile(&pprof);
		error = pprof_end(&pprof.file);
	}
	free(pprof.objects);
	free(pprof.mapping);
	free(pprof.location);
	pairs_free(&pprof.chains);
	return error;
}
