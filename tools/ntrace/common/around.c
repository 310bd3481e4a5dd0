// SPDX-License-Identifier: GPL-2.0-only
/* --around: finds the execution of a function, and selects the trace around it. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "input.h"
#include "range.h"
#include "ui.h"

/* Bytes of trace before and after the execution. */
#define AROUND_BYTES 8192

/**
 * struct search - the search in one stream
 * @marks: for each id of blocks: 1 = does not begin the function, 2 = begins it; 0 = not looked up
 * @left: executions to find
 */
struct search {
	char *name;
	uint8_t *marks;
	uint32_t room;
	uint64_t left;
	uint64_t found;
	uint64_t offset;
};

static bool begins(const struct search *search, const struct ntrace_block_batch *batch,
		   const struct ntrace_block *block)
{
	struct ntrace_location place = { 0 };

	ntrace_space_locate(batch->space, block->address, &place);
	return place.symbol && place.link_address == place.symbol_start &&
	       ntrace_object_function_matches(place.object, place.symbol_start, search->name);
}

/* The same, looked up once for each id. Return: false too if there is no memory to remember it. */
static bool begins_by_id(struct search *search, const struct ntrace_block_batch *batch,
			 const struct ntrace_block *block)
{
	if (block->id >= search->room) {
		uint32_t room = block->id < UINT32_MAX / 2 ? 2 * block->id + 1024 : UINT32_MAX;
		uint8_t *marks = realloc(search->marks, room);

		if (!marks)
			return begins(search, batch, block);
		memset(marks + search->room, 0, room - search->room);
		search->marks = marks;
		search->room = room;
	}
	if (!block->id)
		return begins(search, batch, block);
	if (!search->marks[block->id])
		search->marks[block->id] = begins(search, batch, block) ? 2 : 1;
	return search->marks[block->id] == 2;
}

static int search_segment(void *data, const struct ntrace_segment *segment)
{
	const struct ntrace_block_batch *batch = segment->batch;
	struct search *search = data;
	size_t i;

	for (i = 0; batch->space && i < batch->count; i++) {
		if (!begins_by_id(search, batch, &batch->blocks[i]))
			continue;
		search->found++;
		if (!--search->left) {
			search->offset = batch->offset;
			return 1;
		}
	}
	return 0;
}

static int take_event(void *data, const struct ntrace_session_event *event)
{
	(void)data;
	(void)event;
	return 0;
}

char *around_parse(const char *text, uint64_t *number)
{
	const char *colon = strrchr(text, ':');
	char *name = strdup(text);
	const char *end;

	*number = 1;
	/* Other colons are those of C++. */
	if (!name || !colon || colon == text || colon[-1] == ':' || !colon[1] ||
	    colon[1 + strspn(colon + 1, "0123456789")])
		return name;
	if (!number_parse(colon + 1, &end, 10, number))
		*number = 0;
	name[colon - text] = '\0';
	return name;
}

/* Searches the streams one after the other. Return: 1 if found, 0, or an error of the library. */
static int search_streams(struct recording *recording, struct search *search)
{
	unsigned int streams = ntrace_session_streams(recording->session), i;
	struct range_options *range = &recording->range;
	int result = 0;

	for (i = 0; i < streams && !result; i++) {
		/* Ids are those of a stream. */
		free(search->marks);
		search->marks = NULL;
		search->room = 0;
		if (!range_has_stream(range, i))
			continue;
		result =
			recording_decode(recording, NULL,
					 &(struct ntrace_decode_options){ .stream = i,
									  .event = take_event,
									  .segment = search_segment,
									  .data = search },
					 NULL);
		if (result > 0)
			range->only = i + 1;
	}
	return result;
}

int recording_around(struct recording *recording, const char *path)
{
	struct ntrace_session_range *part = &recording->range.range;
	struct search search = { 0 };
	int result;

	search.name = around_parse(recording->range.around, &search.left);
	if (!search.name)
		return fail("out of memory");
	if (!search.left) {
		free(search.name);
		return fail(AROUND_NUMBER, recording->range.around, UINT64_MAX);
	}
	result = search_streams(recording, &search);
	free(search.marks);
	free(search.name);
	if (result < 0)
		return path_failed(path, result);
	if (!result)
		return fail("%s: --around: '%s' is executed %" PRIu64
			    " times in what is decoded, counted at its first instruction",
			    path, recording->range.around, search.found);
	*part = (struct ntrace_session_range){
		.size = sizeof(*part),
		.first_offset = search.offset > AROUND_BYTES ? search.offset - AROUND_BYTES : 0,
		.last_offset = search.offset + AROUND_BYTES,
		.last_time = UINT64_MAX,
	};
	say("stream %u: --offset %" PRIu64 ",%" PRIu64, recording->range.only - 1,
	    part->first_offset, part->last_offset);
	recording->range.given = true;
	return EXIT_OK;
}
