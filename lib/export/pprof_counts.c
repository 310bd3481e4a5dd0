// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * profile.proto of counts: without call stacks. A location is the first instruction of a straight
 * run, in the function that contains it; a sample is a location with its sums.
 */
#include <stdlib.h>
#include <string.h>

#include <ntrace/export.h>

#include "grow.h"
#include "pprof.h"
#include "saturate.h"

static const char *const texts[] = { "", "instructions", "count", "runs", "ntrace" };
enum { TEXT_NONE, TEXT_INSTRUCTIONS, TEXT_COUNT, TEXT_RUNS, TEXT_NTRACE, TEXTS };

/* @mapping, @function: numbers from 1 on, 0 = none */
struct place {
	uint64_t address;
	uint64_t instructions;
	uint64_t runs;
	uint32_t mapping;
	uint32_t function;
};

/* @symbol: name in the object; @name: as a programmer wrote it, owned */
struct function {
	const char *symbol;
	char *name;
	uint64_t start;
};

struct sums {
	struct pprof_file file;
	struct ntrace_object **objects;
	size_t object_count;
	size_t object_room;
	struct function *functions;
	size_t function_count;
	size_t function_room;
	struct place *places;
	size_t place_count;
	size_t place_room;
};

/* Values of the format are signed. */
static uint64_t add(uint64_t sum, uint64_t value, uint64_t times)
{
	unsigned __int128 exact = (unsigned __int128)value * times + sum;

	return exact > INT64_MAX ? INT64_MAX : (uint64_t)exact;
}

static int add_function(struct sums *sums, const struct ntrace_location *location)
{
	struct function *last = sums->function_count ? &sums->functions[sums->function_count - 1] :
						       NULL;
	int error;

	/* Runs are in the order of objects and addresses. */
	if (last && last->symbol == location->function && last->start == location->function_start)
		return 0;
	error = grow((void **)&sums->functions, sums->function_count, &sums->function_room,
		     sizeof(*sums->functions));
	if (error)
		return error;
	last = &sums->functions[sums->function_count];
	*last = (struct function){ location->function, ntrace_demangle(location->function),
				   location->function_start };
	if (!last->name)
		return NTRACE_ERR_NOMEM;
	sums->function_count++;
	return 0;
}

static int add_place(struct sums *sums, const struct ntrace_profile_trace *trace)
{
	struct ntrace_location location = { 0 };
	struct place *place;
	int error = 0;

	if (!sums->object_count || sums->objects[sums->object_count - 1] != trace->object) {
		error = grow((void **)&sums->objects, sums->object_count, &sums->object_room,
			     sizeof(struct ntrace_object *));
		if (!error)
			sums->objects[sums->object_count++] = trace->object;
	}
	if (!error)
		error = grow((void **)&sums->places, sums->place_count, &sums->place_room,
			     sizeof(*sums->places));
	if (error)
		return error;
	ntrace_object_locate(trace->object, trace->start, &location);
	if (location.function)
		error = add_function(sums, &location);
	place = &sums->places[sums->place_count++];
	*place = (struct place){ .address = trace->start,
				 .mapping = (uint32_t)sums->object_count,
				 .function = location.function ? (uint32_t)sums->function_count :
								 0 };
	return error;
}

static int collect(struct sums *sums, const struct ntrace_profile_trace *traces, size_t count,
		   const struct ntrace_object *object, struct ntrace_export_counts *counts)
{
	int error = 0;
	size_t i;

	for (i = 0; i < count && !error; i++) {
		const struct ntrace_profile_trace *trace = &traces[i];
		struct place *last = sums->place_count ? &sums->places[sums->place_count - 1] :
							 NULL;

		if (!trace->object || !trace->instructions || (object && trace->object != object))
			continue;
		if (!last || last->address != trace->start ||
		    sums->objects[last->mapping - 1] != trace->object)
			error = add_place(sums, trace);
		if (error)
			break;
		last = &sums->places[sums->place_count - 1];
		last->instructions = add(last->instructions, trace->count, trace->instructions);
		last->runs = add(last->runs, trace->count, 1);
		counts->traces++;
		counts->executed = add_counts(counts->executed, trace->count);
	}
	return error;
}

static uint64_t text_of_function(size_t function)
{
	return TEXTS + 2 * function;
}

static void put_type(struct pprof_file *file, unsigned int type)
{
	protobuf_number(&file->part, TYPE_TYPE, type);
	protobuf_number(&file->part, TYPE_UNIT, TEXT_COUNT);
	pprof_put(file, PROFILE_SAMPLE_TYPE);
}

static void put_place(struct sums *sums, size_t i)
{
	const struct place *place = &sums->places[i];
	struct pprof_file *file = &sums->file;

	protobuf_number(&file->part, LOCATION_ID, i + 1);
	protobuf_number(&file->part, LOCATION_MAPPING, place->mapping);
	protobuf_number(&file->part, LOCATION_ADDRESS, place->address);
	if (place->function) {
		protobuf_number(&file->inner, LINE_FUNCTION, place->function);
		protobuf_message(&file->part, LOCATION_LINE, &file->inner);
	}
	pprof_put(file, PROFILE_LOCATION);
	protobuf_value(&file->inner, i + 1);
	protobuf_message(&file->part, SAMPLE_LOCATION, &file->inner);
	protobuf_value(&file->inner, place->instructions);
	protobuf_value(&file->inner, place->runs);
	protobuf_message(&file->part, SAMPLE_VALUE, &file->inner);
	pprof_put(file, PROFILE_SAMPLE);
}

static void put_function(struct sums *sums, size_t i)
{
	struct pprof_file *file = &sums->file;

	protobuf_number(&file->part, FUNCTION_ID, i + 1);
	protobuf_number(&file->part, FUNCTION_NAME, text_of_function(i));
	protobuf_number(&file->part, FUNCTION_SYSTEM_NAME, text_of_function(i) + 1);
	pprof_put(file, PROFILE_FUNCTION);
}

static void put_texts(struct sums *sums, const char *title)
{
	struct pprof_file *file = &sums->file;
	size_t i;

	for (i = 0; i < TEXTS; i++)
		pprof_put_text(file, texts[i]);
	for (i = 0; i < sums->function_count; i++) {
		pprof_put_text(file, sums->functions[i].name);
		pprof_put_text(file, sums->functions[i].symbol);
	}
	for (i = 0; i < sums->object_count; i++)
		pprof_put_object_texts(file, sums->objects[i]);
	pprof_put_text(file, title ? title : "");
	protobuf_number(&file->whole, PROFILE_COMMENT,
			text_of_function(sums->function_count) + 2 * sums->object_count);
	protobuf_number(&file->whole, PROFILE_DEFAULT_TYPE, TEXT_INSTRUCTIONS);
}

static void put_all(struct sums *sums, const char *title)
{
	size_t i;

	put_type(&sums->file, TEXT_INSTRUCTIONS);
	put_type(&sums->file, TEXT_RUNS);
	for (i = 0; i < sums->object_count; i++)
		pprof_put_mapping(&sums->file, (uint32_t)i + 1, sums->objects[i],
				  text_of_function(sums->function_count) + 2 * i);
	for (i = 0; i < sums->function_count; i++)
		put_function(sums, i);
	for (i = 0; i < sums->place_count; i++)
		put_place(sums, i);
	put_texts(sums, title);
}

int ntrace_export_pprof(FILE *file, struct ntrace_profile *profile,
			const struct ntrace_object *object, const char *title,
			struct ntrace_export_counts *counts)
{
	const struct ntrace_profile_trace *traces;
	struct ntrace_export_counts summary = { 0 };
	struct sums sums = { .object_count = 0 };
	size_t count, i;
	int error;

	traces = ntrace_profile_traces(profile, &count);
	error = collect(&sums, traces, count, object, &summary);
	if (!error)
		error = pprof_begin(&sums.file, file);
	if (!error) {
		put_all(&sums, title);
		error = pprof_end(&sums.file);
	}
	if (!error && ferror(file))
		error = NTRACE_ERR_IO;
	for (i = 0; i < sums.function_count; i++)
		free(sums.functions[i].name);
	free(sums.functions);
	free(sums.objects);
	free(sums.places);
	if (counts)
		*counts = summary;
	return error;
}
