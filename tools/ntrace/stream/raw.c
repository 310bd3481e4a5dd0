// SPDX-License-Identifier: GPL-2.0-only
/* All bytes of a raw trace. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "common/command.h"
#include "common/ui.h"
#include "raw.h"

/* Messages between two questions whether the user wants more. */
#define STOP_MESSAGES 4096
/* MSEO 10 is reserved, 11 ends what it is in (N-Trace 1.0, MSEO): no message, and the next one is whole. */
static const uint8_t missing[] = { 2, 3 };

static bool add_bytes(struct raw_trace *raw, uint64_t *room, const uint8_t *bytes, size_t size)
{
	uint8_t *more;

	while (raw->size + size > *room || !*room) {
		*room = *room ? 2 * *room : 1u << 20;
		more = realloc(raw->data, *room);
		if (!more)
			return false;
		raw->data = more;
	}
	memcpy(raw->data + raw->size, bytes, size);
	raw->size += size;
	return true;
}

/* Bytes of a trace in frames, words, or compressed. */
static int read_bytes(struct raw_trace *raw, struct trace *trace)
{
	uint64_t room = 0;
	const uint8_t *part;
	size_t size;

	do {
		if (trace_read(trace, &part, &size))
			return EXIT_FAILED;
		if ((trace->lost && !add_bytes(raw, &room, missing, sizeof(missing))) ||
		    !add_bytes(raw, &room, part, size))
			return fail("out of memory");
	} while (size);
	return EXIT_OK;
}

int raw_trace_open(struct raw_trace *raw, const char *path, const struct trace_format *format)
{
	static struct trace trace;
	int error = trace_open(&trace, path, format);

	*raw = (struct raw_trace){ .data = NULL };
	if (error)
		return error;
	if (trace.size && !format->words16 && !format->framing.given && !format->atid) {
		raw->data = mmap(NULL, (size_t)trace.size, PROT_READ, MAP_PRIVATE, trace.fd, 0);
		raw->mapped = raw->data != MAP_FAILED;
		raw->size = raw->mapped ? trace.size : 0;
		if (!raw->mapped)
			raw->data = NULL;
	}
	if (!raw->mapped)
		error = read_bytes(raw, &trace);
	trace_close(&trace);
	return error;
}

void raw_trace_close(struct raw_trace *raw)
{
	if (raw->mapped)
		munmap(raw->data, (size_t)raw->size);
	else
		free(raw->data);
	*raw = (struct raw_trace){ .data = NULL };
}

bool raw_trace_sources(const struct raw_trace *raw, const struct ntrace_params *params,
		       const char *name, uint64_t *messages,
		       bool (*stop)(void *data, unsigned int stream, uint64_t position),
		       void *stop_data)
{
	struct ntrace_message message;
	struct ntrace_reader reader;
	struct sanity sanity = { 0 };
	int got;

	if (ntrace_reader_init(&reader, params, true))
		return true;
	ntrace_reader_feed(&reader, raw->data, (size_t)raw->size);
	while ((got = ntrace_reader_next(&reader, &message)) != NTRACE_ERR_AGAIN) {
		sanity_message(&sanity, got, &message, params->dialect);
		if (got == NTRACE_WIRE_MESSAGE) {
			messages[message.field[NTRACE_FIELD_SRC] & (RAW_SOURCES - 1)]++;
			if (!name)
				return true;
		}
		if (stop && !(sanity.messages % STOP_MESSAGES) && stop(stop_data, 0, reader.offset))
			return false;
	}
	if (name)
		sanity_warn(&sanity, name);
	return true;
}
