// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Extracts streams from 16-bit words and from frames of a CoreSight formatter. */
#include <stdlib.h>
#include <string.h>

#include <ntrace/frames.h>

#include "detect.h"

#define SOURCES (NTRACE_FRAMES_SOURCE_MAX + 1)
/* A source with fewer bytes comes from misread frames, or is too short to judge. */
#define SOURCE_BYTES_MIN 8
/* Inserted where trace is missing: a reserved MSEO code, so that no message joins both sides. */
#define MARK 0x02

struct sources {
	uint64_t bytes[SOURCES];
	uint64_t breaks;
	uint64_t wrong;		/* bytes before the first ID and of reserved IDs */
	uint64_t total;
};

int detect_unword(const uint8_t *data, size_t size, struct detect_stream *stream)
{
	size &= ~(size_t)1;
	stream->packing = NTRACE_DETECT_WORDS16;
	stream->size = size;
	stream->data = malloc(size + 1);
	if (!stream->data)
		return NTRACE_ERR_NOMEM;
	for (size_t i = 0; i < size; i += 2) {
		stream->data[i] = data[i + 1];
		stream->data[i + 1] = data[i];
	}
	return NTRACE_OK;
}

static void count_sources(const uint8_t *data, size_t size, struct sources *sources)
{
	struct ntrace_frames_piece piece;
	struct ntrace_frames frames;
	int event;

	memset(sources, 0, sizeof(*sources));
	ntrace_frames_init(&frames);
	ntrace_frames_feed(&frames, data, size);
	while ((event = ntrace_frames_next(&frames, &piece)) >= 0) {
		if (event == NTRACE_FRAMES_BYTES) {
			sources->bytes[piece.source] += piece.size;
			sources->total += piece.size;
		} else if (event == NTRACE_FRAMES_BARRIER || event == NTRACE_FRAMES_CUT) {
			sources->breaks++;
		} else {
			sources->wrong += piece.size;
		}
	}
}

/* Misread bytes have many sources, and half of their IDs are reserved or precede the first ID. */
static bool plausible(const struct sources *sources)
{
	unsigned int count = 0;

	for (unsigned int i = 0; i < SOURCES; i++)
		count += sources->bytes[i] != 0;
	return sources->total && sources->wrong <= sources->total / 2 && count <= SOURCES / 2;
}

/* The bytes of one source, with a mark at each place where bytes may be missing. */
static int take_source(const uint8_t *data, size_t size, const struct sources *sources,
		       struct detect_stream *stream)
{
	struct ntrace_frames_piece piece;
	struct ntrace_frames frames;
	int event;

	stream->packing = NTRACE_DETECT_FRAMES;
	stream->size = 0;
	stream->data = malloc(sources->bytes[stream->source] + sources->breaks + 1);
	if (!stream->data)
		return NTRACE_ERR_NOMEM;
	ntrace_frames_init(&frames);
	ntrace_frames_feed(&frames, data, size);
	while ((event = ntrace_frames_next(&frames, &piece)) >= 0) {
		if (event == NTRACE_FRAMES_BYTES && piece.source == stream->source) {
			memcpy(stream->data + stream->size, piece.bytes, piece.size);
			stream->size += piece.size;
		} else if ((event == NTRACE_FRAMES_BARRIER || event == NTRACE_FRAMES_CUT) &&
			   stream->size) {
			stream->data[stream->size++] = MARK;
		}
	}
	return NTRACE_OK;
}

int detect_unframe(const uint8_t *data, size_t size, struct detect_stream *streams,
		   unsigned int *count)
{
	struct sources sources;
	int error = NTRACE_OK;

	*count = 0;
	count_sources(data, size, &sources);
	if (!plausible(&sources))
		return NTRACE_OK;
	while (*count < STREAMS_MAX && !error) {
		unsigned int most = 0;

		for (unsigned int i = 1; i < SOURCES; i++) {
			if (sources.bytes[i] > sources.bytes[most])
				most = i;
		}
		if (sources.bytes[most] < SOURCE_BYTES_MIN)
			break;
		streams[*count].source = (uint8_t)most;
		error = take_source(data, size, &sources, &streams[*count]);
		sources.bytes[most] = 0;
		*count += !error;
	}
	return error;
}
