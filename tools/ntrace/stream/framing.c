// SPDX-License-Identifier: GPL-2.0-only
/* Raw trace in frames: finds the source and extracts its bytes. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "common/input.h"
#include "common/ui.h"
#include "framing.h"
#include "trace.h"

/* An error message lists this many sources and counts the rest. */
#define SOURCES_SHOWN 16
#define LIST_SIZE 1024

int framing_option(const struct command *command, struct framing *framing, const char *text)
{
	static const char kind[] = "coresight";
	uint64_t source;
	const char *end;

	if (strncmp(text, kind, strlen(kind)) || (text[strlen(kind)] && text[strlen(kind)] != ':'))
		return usage_error(command,
				   "option --framing: '%s' is not coresight or coresight:ID", text);
	*framing = (struct framing){ .given = true };
	text += strlen(kind);
	if (!*text)
		return EXIT_OK;
	if (!number_parse(++text, &end, 0, &source) || *end || source < NTRACE_FRAMES_SOURCE_MIN ||
	    source > NTRACE_FRAMES_SOURCE_MAX)
		return usage_error(command,
				   "option --framing: '%s' is not a source ID between 1 and 0x%x",
				   text, NTRACE_FRAMES_SOURCE_MAX);
	framing->source = (unsigned int)source;
	return EXIT_OK;
}

int framing_conflict(const struct command *command, const struct framing *framing, bool words16)
{
	if (framing->given && words16)
		return usage_error(command, "--words16 and --framing exclude each other: "
					    "frames are bytes");
	return EXIT_OK;
}

int trace_file_failed(const char *name, int error)
{
	return fail("%s: %s", name,
		    error == NTRACE_ERR_FORMAT ? "what zstd compressed is damaged" :
						 error_text(error));
}

/* "0x10 (1,234 bytes), 0x11 (2 bytes)". Return: number of sources */
static unsigned int list_sources(const uint64_t *bytes, char *text)
{
	unsigned int count = 0, source;
	char number[UI_NUMBER_SIZE];
	size_t at = 0;

	*text = '\0';
	for (source = NTRACE_FRAMES_SOURCE_MIN; source < FRAMING_SOURCES; source++) {
		if (!bytes[source] || ++count > SOURCES_SHOWN)
			continue;
		at += (size_t)snprintf(text + at, LIST_SIZE - at, "%s0x%02x (%s bytes)",
				       at ? ", " : "", source, ui_number(number, bytes[source]));
	}
	if (count > SOURCES_SHOWN)
		snprintf(text + at, LIST_SIZE - at, " and %u more", count - SOURCES_SHOWN);
	return count;
}

/* Opens a deframer. */
static int read_chunk(const char *name, struct ntrace_trace_file *file,
		      struct ntrace_frames *frames, uint8_t *chunk, bool *ended)
{
	/* The current frame adds to the chunk. */
	ssize_t got = ntrace_trace_file_read(file, chunk, FRAMING_CHUNK - NTRACE_FRAME_BYTES);

	const char *other;

	if (got < 0)
		return trace_file_failed(name, (int)got);
	other = frames->offset ? NULL : other_format(chunk, (size_t)got);
	if (other)
		return fail("%s: not a trace: the file is %s", name, other);
	*ended = !got;
	ntrace_frames_feed(frames, chunk, (size_t)got);
	return EXIT_OK;
}

static int count_sources(const char *name, struct ntrace_trace_file *file, uint64_t size,
			 uint64_t *bytes)
{
	static uint8_t chunk[FRAMING_CHUNK];
	struct ntrace_frames_piece piece;
	struct ntrace_frames frames;
	struct progress progress;
	bool ended = false;
	int event, error;

	ntrace_frames_init(&frames);
	progress_begin(&progress, "look for sources", size);
	while (!(error = read_chunk(name, file, &frames, chunk, &ended)) && !ended) {
		while ((event = ntrace_frames_next(&frames, &piece)) >= 0) {
			if (event == NTRACE_FRAMES_BYTES)
				bytes[piece.source] += piece.size;
		}
		progress_update(&progress, frames.offset);
	}
	progress_end(&progress);
	return error;
}

int framing_find(const char *name, int fd, uint64_t size, unsigned int *source, uint64_t *bytes)
{
	uint64_t counts[FRAMING_SOURCES] = { 0 };
	struct ntrace_trace_file *file;
	off_t start = lseek(fd, 0, SEEK_CUR);
	char list[LIST_SIZE];
	unsigned int count;
	int error;

	if (start < 0)
		return fail("%s: %s", name, strerror(errno));
	error = ntrace_trace_file_open(&file, fd, NTRACE_TRACE_GUESS);
	if (error)
		return trace_file_failed(name, error);
	error = count_sources(name, file, size, counts);
	ntrace_trace_file_close(file);
	if (error)
		return error;
	if (lseek(fd, start, SEEK_SET) < 0)
		return fail("%s: %s", name, strerror(errno));
	count = list_sources(counts, list);
	if (count > 1)
		return fail("%s: the frames have %u sources: %s: choose one with "
			    "--framing coresight:ID, or separate them with 'ntrace split'",
			    name, count, list);
	for (*source = FRAMING_SOURCES - 1; *source && !counts[*source];)
		(*source)--;
	*bytes = counts[*source];
	return EXIT_OK;
}

void unframer_init(struct unframer *unframer, const char *name, struct ntrace_trace_file *file,
		   unsigned int source)
{
	memset(unframer, 0, offsetof(struct unframer, chunk));
	unframer->name = name;
	unframer->file = file;
	unframer->source = source;
	unframer->chosen = source;
	ntrace_frames_init(&unframer->frames);
}

void frames_warn(const char *name, const struct ntrace_frames *frames, const char *where)
{
	const struct {
		uint64_t count;
		const char *one, *several;
	} causes[] = {
		{ frames->barriers, "barrier over lost trace", "barriers over lost trace" },
		{ frames->cut + ntrace_frames_pending(frames), "byte of a frame that is not whole",
		  "bytes of frames that are not whole" },
		{ frames->nameless, "byte before the first source ID",
		  "bytes before the first source ID" },
		{ frames->reserved, "byte of a reserved source ID",
		  "bytes of reserved source IDs" },
	};
	char text[LIST_SIZE] = "", number[UI_NUMBER_SIZE];
	size_t at = 0, i;

	for (i = 0; i < sizeof(causes) / sizeof(causes[0]); i++) {
		if (!causes[i].count)
			continue;
		at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%s %s", at ? ", " : "",
				       ui_number(number, causes[i].count),
				       causes[i].count == 1 ? causes[i].one : causes[i].several);
	}
	if (at)
		warn("%s: trace is missing in the frames: %s%s", name, text, where);
}

/* Bytes are missing here. @have: bytes read before them since the last call */
static void lose(struct unframer *unframer, uint64_t input, size_t have)
{
	if (!unframer->places) {
		unframer->first_input = input;
		unframer->first_offset = unframer->read + have;
	}
	if (have) {
		unframer->places += !unframer->waiting;
		unframer->waiting = true;
	} else {
		unframer->places += !unframer->lost;
		unframer->lost = true;
	}
}

static int finish(struct unframer *unframer)
{
	char list[LIST_SIZE], where[128];

	if (unframer->told)
		return EXIT_OK;
	unframer->told = true;
	snprintf(where, sizeof(where),
		 "; first at byte 0x%" PRIx64 " of the input, offset 0x%" PRIx64 " of the source",
		 unframer->first_input, unframer->first_offset);
	frames_warn(unframer->name, &unframer->frames, where);
	if (!unframer->chosen || unframer->bytes[unframer->source] || !unframer->frames.offset)
		return EXIT_OK;
	list_sources(unframer->bytes, list);
	return fail("%s: the frames have no bytes of source 0x%02x%s%s", unframer->name,
		    unframer->source, *list ? ": they have " : ", and of no other", list);
}

static int take_bytes(struct unframer *unframer, const struct ntrace_frames_piece *piece,
		      uint8_t *data, size_t *have)
{
	unframer->bytes[piece->source] += piece->size;
	if (!unframer->source)
		unframer->source = piece->source;
	if (piece->source == unframer->source) {
		memcpy(data + *have, piece->bytes, piece->size);
		*have += piece->size;
	} else if (!unframer->chosen) {
		return fail("%s: the frames have sources 0x%02x and 0x%02x, and a pipe cannot be "
			    "read twice: choose one with --framing coresight:ID, or separate them "
			    "with 'ntrace split'",
			    unframer->name, unframer->source, piece->source);
	}
	return EXIT_OK;
}

/* Reads up to the end of the chunk or the next gap. Return: as unframer_read() */
static int take_chunk(struct unframer *unframer, uint8_t *data, size_t *have)
{
	struct ntrace_frames_piece piece;
	int event, error;

	while (!unframer->waiting && (event = ntrace_frames_next(&unframer->frames, &piece)) >= 0) {
		if (event != NTRACE_FRAMES_BYTES) {
			lose(unframer, piece.offset, *have);
			continue;
		}
		error = take_bytes(unframer, &piece, data, have);
		if (error)
			return error;
	}
	return EXIT_OK;
}

int unframer_read(struct unframer *unframer, uint8_t *data, size_t *size, bool *ended)
{
	struct ntrace_frames *frames = &unframer->frames;
	struct progress progress;
	size_t have = 0;
	int error;

	progress_begin(&progress, "look for bytes of the source", 0);
	unframer->lost = unframer->waiting;
	unframer->waiting = false;
	error = take_chunk(unframer, data, &have);
	while (!error && !have && !unframer->ended) {
		progress_update(&progress, frames->offset);
		error = read_chunk(unframer->name, unframer->file, frames, unframer->chunk,
				   &unframer->ended);
		if (!error && !unframer->ended)
			error = take_chunk(unframer, data, &have);
		else if (!error && ntrace_frames_pending(frames))
			lose(unframer, frames->offset - ntrace_frames_pending(frames), 0);
	}
	progress_end(&progress);
	unframer->read += have;
	*size = have;
	*ended = unframer->ended;
	return !error && unframer->ended ? finish(unframer) : error;
}
