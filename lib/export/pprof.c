// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * profile.proto, gzipped, which go tool pprof, Pyroscope and Parca read. A location is a function
 * at its link address; threads are labels. Functions, locations and mappings are numbered from 1.
 * Inlined functions are lines of the location of the function that contains them: one location for
 * each chain of inlined functions, numbered after those of functions.
 */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "pairs.h"
#include "protobuf.h"
#include "stacks.h"

/* Field numbers of profile.proto. */
enum {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE,
	PROFILE_MAPPING,
	PROFILE_LOCATION,
	PROFILE_FUNCTION,
	PROFILE_STRING,
	PROFILE_COMMENT = 13,
	PROFILE_DEFAULT_TYPE
};
enum { TYPE_TYPE = 1, TYPE_UNIT };
enum { SAMPLE_LOCATION = 1, SAMPLE_VALUE, SAMPLE_LABEL };
enum { LABEL_KEY = 1, LABEL_TEXT };
enum {
	MAPPING_ID = 1,
	MAPPING_START,
	MAPPING_LIMIT,
	MAPPING_FILE = 5,
	MAPPING_BUILD_ID,
	MAPPING_HAS_FUNCTIONS
};
enum { LOCATION_ID = 1, LOCATION_MAPPING, LOCATION_ADDRESS, LOCATION_LINE };
enum { LINE_FUNCTION = 1 };
enum { FUNCTION_ID = 1, FUNCTION_NAME, FUNCTION_SYSTEM_NAME, FUNCTION_FILE };

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
 * @whole: the profile so far, emptied into @gzip from time to time
 * @objects: object of each mapping, from number 1 on
 * @mapping: mapping of each function, 0 = none
 * @location: location of each node
 * @chains: chains of inlined functions: a number for each pair of outer location and function
 */
struct pprof {
	const struct stacks_export *export;
	struct protobuf whole;
	struct protobuf part;
	struct protobuf inner;
	z_stream gzip;
	const struct ntrace_object **objects;
	uint32_t *mapping;
	uint32_t mappings;
	uint64_t *location;
	struct pairs chains;
	int error;
};

/* Compresses the profile so far and writes it to the file; @last: no more data follows. */
static void compress_whole(struct pprof *pprof, bool last)
{
	uint8_t out[16384];
	int result;

	pprof->gzip.next_in = pprof->whole.data;
	pprof->gzip.avail_in = (unsigned int)pprof->whole.size;
	do {
		pprof->gzip.next_out = out;
		pprof->gzip.avail_out = sizeof(out);
		result = deflate(&pprof->gzip, last ? Z_FINISH : Z_NO_FLUSH);
		/* cppcheck-suppress uninitvar ; written by deflate() */
		fwrite(out, 1, sizeof(out) - pprof->gzip.avail_out, pprof->export->file);
	} while (!pprof->gzip.avail_out && result == Z_OK);
	pprof->whole.size = 0;
}

static void put(struct pprof *pprof, unsigned int field)
{
	protobuf_message(&pprof->whole, field, &pprof->part);
	if (pprof->whole.failed || pprof->part.failed || pprof->inner.failed)
		pprof->error = NTRACE_ERR_NOMEM;
	else if (pprof->whole.size > 65536)
		compress_whole(pprof, false);
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
	protobuf_number(&pprof->part, TYPE_TYPE, type);
	protobuf_number(&pprof->part, TYPE_UNIT, unit);
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
		protobuf_value(&pprof->inner, pprof->location[up - nodes]);
		/* The outer functions share the location. */
		while (is_within(export, up))
			up = &nodes[up->parent];
	}
	/* "[other]" has no thread. */
	if (export->functions[up->function].kind != NTRACE_STACK_TASK)
		protobuf_value(&pprof->inner, pprof->location[up - nodes]);
	protobuf_message(&pprof->part, SAMPLE_LOCATION, &pprof->inner);
	protobuf_value(&pprof->inner, node->instructions);
	if (pprof->export->timestamp_hz)
		protobuf_value(&pprof->inner, nanoseconds(pprof, node->ticks));
	protobuf_message(&pprof->part, SAMPLE_VALUE, &pprof->inner);
	protobuf_number(&pprof->inner, LABEL_KEY, TEXT_THREAD);
	protobuf_number(&pprof->inner, LABEL_TEXT, text_of_function(up->function));
	protobuf_message(&pprof->part, SAMPLE_LABEL, &pprof->inner);
	put(pprof, PROFILE_SAMPLE);
}

static void put_function(struct pprof *pprof, size_t i)
{
	protobuf_number(&pprof->part, FUNCTION_ID, i + 1);
	protobuf_number(&pprof->part, FUNCTION_NAME, text_of_function(i));
	protobuf_number(&pprof->part, FUNCTION_SYSTEM_NAME, text_of_function(i) + 1);
	put(pprof, PROFILE_FUNCTION);
}

static void put_line(struct pprof *pprof, size_t function)
{
	protobuf_number(&pprof->inner, LINE_FUNCTION, function + 1);
	protobuf_message(&pprof->part, LOCATION_LINE, &pprof->inner);
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
	protobuf_number(&pprof->part, LOCATION_ID, pprof->location[node - export->nodes]);
	protobuf_number(&pprof->part, LOCATION_MAPPING, pprof->mapping[last]);
	protobuf_number(&pprof->part, LOCATION_ADDRESS, export->functions[last].start);
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

	for (i = 0; i < export->node_count && !pprof->error; i++) {
		const struct ntrace_stack_node *node = &export->nodes[i];
		const struct ntrace_stack_function *function = &export->functions[node->function];
		uint64_t around = is_within(export, node) ? pprof->location[node->parent] : 0;

		if (function->kind >= NTRACE_STACK_TASK)
			continue;
		number = pairs_number(&pprof->chains, around, node->function, &is_new);
		if (!number)
			pprof->error = NTRACE_ERR_NOMEM;
		pprof->location[i] = number;
		if (is_new)
			put_location(pprof, node);
	}
}

static void put_mapping(struct pprof *pprof, uint32_t mapping)
{
	const struct ntrace_object *object = pprof->objects[mapping - 1];
	uint64_t address, size, start = UINT64_MAX, limit = 0;
	bool executable;
	size_t i;

	for (i = 0; !ntrace_object_segment(object, i, &address, &size, &executable); i++) {
		if (executable && address < start)
			start = address;
		if (executable && address + size > limit)
			limit = address + size;
	}
	protobuf_number(&pprof->part, MAPPING_ID, mapping);
	protobuf_number(&pprof->part, MAPPING_START, limit ? start : 0);
	protobuf_number(&pprof->part, MAPPING_LIMIT, limit);
	protobuf_number(&pprof->part, MAPPING_FILE, text_of_object(pprof, mapping));
	protobuf_number(&pprof->part, MAPPING_BUILD_ID, text_of_object(pprof, mapping) + 1);
	protobuf_number(&pprof->part, MAPPING_HAS_FUNCTIONS, 1);
	put(pprof, PROFILE_MAPPING);
}

static void put_string(struct pprof *pprof, const char *text)
{
	protobuf_bytes(&pprof->whole, PROFILE_STRING, text, strlen(text));
}

static void put_strings(struct pprof *pprof)
{
	const struct stacks_export *export = pprof->export;
	char id[2 * NTRACE_BUILD_ID_MAX + 1];
	const uint8_t *build_id;
	size_t i, k, size;

	for (i = 0; i < TEXTS; i++)
		put_string(pprof, texts[i]);
	for (i = 0; i < export->function_count; i++) {
		put_string(pprof, export->names[i]);
		put_string(pprof, export->functions[i].name);
	}
	for (i = 0; i < pprof->mappings; i++) {
		build_id = ntrace_object_build_id(pprof->objects[i], &size);
		for (k = 0; k < size && k < NTRACE_BUILD_ID_MAX; k++)
			snprintf(id + 2 * k, 3, "%02x", build_id[k]);
		id[2 * k] = '\0';
		put_string(pprof, ntrace_object_name(pprof->objects[i]));
		put_string(pprof, id);
	}
	put_string(pprof, export->title);
	protobuf_number(&pprof->whole, PROFILE_COMMENT,
			text_of_function(export->function_count) + 2 * (uint64_t)pprof->mappings);
	protobuf_number(&pprof->whole, PROFILE_DEFAULT_TYPE, TEXT_INSTRUCTIONS);
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

	pprof.objects = calloc(export->function_count + 1, sizeof(*pprof.objects));
	pprof.mapping = calloc(export->function_count + 1, sizeof(*pprof.mapping));
	pprof.location = calloc(export->node_count + 1, sizeof(*pprof.location));
	/*
	 * 16: with a gzip header, whose time is empty, so that the same counts give the same bytes.
	 */
	if (!pprof.objects || !pprof.mapping || !pprof.location ||
	    deflateInit2(&pprof.gzip, Z_DEFAULT_COMPRESSION, Z_DEFLATED, MAX_WBITS + 16, 8,
			 Z_DEFAULT_STRATEGY) != Z_OK) {
		free(pprof.objects);
		free(pprof.mapping);
		free(pprof.location);
		return NTRACE_ERR_NOMEM;
	}
	put_profile(&pprof);
	if (pprof.whole.failed)
		pprof.error = NTRACE_ERR_NOMEM;
	if (!pprof.error)
		compress_whole(&pprof, true);
	deflateEnd(&pprof.gzip);
	protobuf_free(&pprof.whole);
	protobuf_free(&pprof.part);
	protobuf_free(&pprof.inner);
	free(pprof.objects);
	free(pprof.mapping);
	free(pprof.location);
	pairs_free(&pprof.chains);
	return pprof.error;
}
