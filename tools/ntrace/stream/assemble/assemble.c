// SPDX-License-Identifier: GPL-2.0-only
/* Converts each type of line to bytes. */
#include <inttypes.h>
#include <stdio.h>

#include "fields.h"

#define IDLE_CHUNK 4096
#define FAILED (-1)

static int failed(struct assemble *assemble, const char *error)
{
	assemble_refuse(assemble, "%s", error);
	return FAILED;
}

/* Defaults, overridden by the text, overridden by the command. */
static bool set_params(struct assemble *assemble, const char *text)
{
	ntrace_params_init(&assemble->params);
	if (ntrace_params_parse(&assemble->params, text, NULL))
		return assemble_refuse(assemble, "\"params\": cannot use '%.200s'", text);
	if (assemble->override && ntrace_params_parse(&assemble->params, assemble->override, NULL))
		return assemble_refuse(assemble, "cannot use --params %.200s", assemble->override);
	if (ntrace_reader_init(&assemble->follower, &assemble->params, true))
		return assemble_refuse(assemble, "the stream parameters contradict each other");
	address_tracker_init(&assemble->addresses, &assemble->params);
	return true;
}

bool assemble_init(struct assemble *assemble, const char *override,
		   int (*write)(void *data, const uint8_t *bytes, size_t size), void *data)
{
	memset(assemble, 0, sizeof(*assemble));
	assemble->override = override;
	assemble->write = write;
	assemble->data = data;
	return set_params(assemble, "");
}

/* Tracks the reference address of U-ADDR, as a reader of the trace does. */
static void follow(struct assemble *assemble, const uint8_t *bytes, size_t size)
{
	struct ntrace_message message;
	int event;

	ntrace_reader_feed(&assemble->follower, bytes, size);
	while ((event = ntrace_reader_next(&assemble->follower, &message)) >= 0) {
		if (event == NTRACE_WIRE_MESSAGE)
			assemble->address_known = address_tracker_message(
				&assemble->addresses, &message, &assemble->address);
		else
			address_tracker_lost(&assemble->addresses);
	}
}

static int emit(struct assemble *assemble, const uint8_t *bytes, size_t size)
{
	follow(assemble, bytes, size);
	assemble->offset += size;
	assemble->begun = true;
	return assemble->write(assemble->data, bytes, size);
}

/* All lines must come from one stream of one file. */
static bool check_origin(struct assemble *assemble)
{
	const struct assemble_line *line = &assemble->line;
	bool has_stream = assemble_line_has(line, ASSEMBLE_HAS_STREAM);
	bool has_file = assemble_line_has(line, ASSEMBLE_HAS_FILE);

	if (has_stream && assemble->has_stream && line->stream != assemble->stream)
		return assemble_refuse(assemble,
				       "stream %" PRIu64 " after stream %" PRIu64
				       ": a text has one "
				       "stream: choose it with ntrace dump --stream N",
				       line->stream, assemble->stream);
	if (has_file && strlen(line->file) >= sizeof(assemble->file))
		return assemble_refuse(assemble, "\"file\" is too long");
	if (has_file && assemble->has_file && strcmp(line->file, assemble->file))
		return assemble_refuse(
			assemble, "file %.200s after %.200s: a text has one file: dump one file",
			line->file, assemble->file);
	if (has_stream)
		assemble->stream = line->stream;
	if (has_file)
		memcpy(assemble->file, line->file, strlen(line->file) + 1);
	assemble->has_stream |= has_stream;
	assemble->has_file |= has_file;
	return true;
}

/* Warns of missing bytes or an edited text. */
static void check_offset(struct assemble *assemble)
{
	const struct assemble_line *line = &assemble->line;
	uint64_t start = assemble->offset;

	if (line->type != ASSEMBLE_PART)
		start -= assemble->piece_bytes;
	if (!assemble_line_has(line, ASSEMBLE_HAS_OFFSET) || line->offset == start ||
	    assemble->offset_told)
		return;
	assemble->offset_told = true;
	snprintf(assemble->warning, sizeof(assemble->warning),
		 "\"offset\" is %" PRIu64 ", but these bytes are written at %" PRIu64
		 ": the text was "
		 "edited, or lacks bytes, as without ntrace dump --lossless",
		 line->offset, start);
}

/* "length" includes the previous pieces. */
static bool check_length(struct assemble *assemble)
{
	const struct assemble_line *line = &assemble->line;
	uint64_t length = line->count;

	if (line->type != ASSEMBLE_PART)
		length += assemble->piece_bytes;
	if (!assemble_line_has(line, ASSEMBLE_HAS_LENGTH) || line->length == length)
		return true;
	return assemble_refuse(assemble,
			       "\"length\" is %" PRIu64 ", but there are %" PRIu64 " bytes: ntrace "
			       "dump has all of them with --lossless",
			       line->length, length);
}

static bool begin_piece(struct assemble *assemble)
{
	if (assemble->piece_bytes)
		return true;
	if (ntrace_reader_init(&assemble->piece, &assemble->params, true))
		return assemble_refuse(assemble, "the stream parameters contradict each other");
	return true;
}

/* Result of reading the bytes of a line together with the previous pieces. */
struct piece_result {
	int event;		/* NTRACE_ERR_AGAIN: not complete */
	bool rest;		/* bytes are left after the event */
	bool inside;		/* the bytes end inside a message that began with the first byte */
	struct ntrace_message message;
};

static void read_bytes(struct assemble *assemble, struct piece_result *result)
{
	const struct assemble_line *line = &assemble->line;
	uint64_t total = assemble->piece_bytes + line->count;

	ntrace_reader_feed(&assemble->piece, line->bytes, line->count);
	result->event = ntrace_reader_next(&assemble->piece, &result->message);
	result->rest = assemble->piece.offset != total;
	result->inside = ntrace_reader_pending(&assemble->piece) == total;
}

static bool check_piece(struct assemble *assemble, const struct piece_result *result)
{
	switch (assemble->line.type) {
	case ASSEMBLE_MESSAGE:
		if (result->event == NTRACE_WIRE_MESSAGE && !result->rest &&
		    result->message.offset == 0)
			return assemble_fields_compare(assemble, &result->message);
		return assemble_refuse(assemble, "\"bytes\" are not exactly one message: write "
						 "other bytes as {\"raw\":\"...\"}");
	case ASSEMBLE_ERROR:
		if (result->event == NTRACE_WIRE_ERROR && !result->rest &&
		    result->message.offset == 0)
			return true;
		return assemble_refuse(assemble, "\"bytes\" of an error must end with a reserved "
						 "MSEO code");
	default:
		if (result->event == NTRACE_ERR_AGAIN && result->inside)
			return true;
		return assemble_refuse(assemble, "\"bytes\" are not the beginning of a message");
	}
}

/* Bytes of a message, an error, a cut message, or a piece of one of them. */
static int take_bytes(struct assemble *assemble)
{
	const struct assemble_line *line = &assemble->line;
	struct piece_result result;
	int error;

	if (!check_length(assemble) || !begin_piece(assemble))
		return FAILED;
	read_bytes(assemble, &result);
	if (!check_piece(assemble, &result))
		return FAILED;
	error = emit(assemble, line->bytes, line->count);
	assemble->piece_bytes = line->type == ASSEMBLE_PART ? assemble->piece_bytes + line->count :
							      0;
	assemble->cut = line->type == ASSEMBLE_CUT;
	return error;
}

/* "address" of a dump is not an input, since it follows from the fields. */
static void check_address(struct assemble *assemble)
{
	const struct assemble_line *line = &assemble->line;
	if (!assemble_line_has(line, ASSEMBLE_HAS_ADDRESS) || assemble->address_told ||
	    !assemble->address_known || assemble->address == line->address)
		return;
	assemble->address_told = true;
	snprintf(assemble->warning, sizeof(assemble->warning),
		 "\"address\" is 0x%" PRIx64 ", but the fields mean 0x%" PRIx64
		 ", which is written: "
		 "to choose an address, give ADDRESS instead of FADDR, UADDR or "
		 "CKDATA0",
		 line->address, assemble->address);
}

static int take_message(struct assemble *assemble)
{
	bool has_bytes = assemble_line_has(&assemble->line, ASSEMBLE_HAS_BYTES);
	uint8_t bytes[NTRACE_MESSAGE_BYTES_MAX];
	size_t size;
	int error;

	if (assemble->piece_bytes && !has_bytes)
		return failed(assemble, "\"bytes\" is missing: the message has previous parts");
	if (assemble_line_has(&assemble->line, ASSEMBLE_HAS_TARGET) && !assemble_target(assemble))
		return FAILED;
	if (has_bytes) {
		error = take_bytes(assemble);
	} else {
		if (!assemble_fields_write(assemble, bytes, &size))
			return FAILED;
		error = emit(assemble, bytes, size);
	}
	if (!error)
		check_address(assemble);
	return error;
}

static int take_idle(struct assemble *assemble)
{
	const struct assemble_line *line = &assemble->line;
	uint8_t bytes[IDLE_CHUNK];
	uint64_t left = line->idle;
	int error = 0;
	size_t i;

	if (assemble_line_has(line, ASSEMBLE_HAS_BYTES)) {
		for (i = 0; i < line->count; i++)
			if ((line->bytes[i] & 3) != 3)
				return failed(assemble, "\"bytes\" are not idle: the low two bits "
							"of each are 11");
		return check_length(assemble) ? emit(assemble, line->bytes, line->count) : FAILED;
	}
	memset(bytes, 0xff, sizeof(bytes));
	while (left && !error) {
		size_t part = left < sizeof(bytes) ? (size_t)left : sizeof(bytes);

		error = emit(assemble, bytes, part);
		left -= part;
	}
	return error;
}

static int take_params(struct assemble *assemble)
{
	if (assemble->begun || assemble->params_seen)
		return failed(assemble, "\"params\" is allowed once, before all other lines");
	assemble->params_seen = true;
	return set_params(assemble, assemble->line.params) ? 0 : FAILED;
}

/* Lines that cannot be pieces of a message. */
static int take_other(struct assemble *assemble)
{
	const struct assemble_line *line = &assemble->line;

	switch (line->type) {
	case ASSEMBLE_PARAMS:
		return take_params(assemble);
	case ASSEMBLE_IDLE:
		return take_idle(assemble);
	default:
		return check_length(assemble) ? emit(assemble, line->bytes, line->count) : FAILED;
	}
}

static bool is_of_pieces(enum assemble_type type)
{
	return type == ASSEMBLE_MESSAGE || type == ASSEMBLE_ERROR || type == ASSEMBLE_CUT ||
	       type == ASSEMBLE_PART;
}

int assemble_text(struct assemble *assemble, char *text, size_t length)
{
	struct assemble_line *line = &assemble->line;

	assemble->warning[0] = '\0';
	if (!assemble_line_parse(line, text, length, assemble->params.dialect, assemble->error))
		return FAILED;
	if (line->type == ASSEMBLE_NOTHING)
		return 0;
	assemble->any = true;
	if (assemble->cut)
		return failed(assemble, "no line may follow a cut message: write its bytes as "
					"{\"raw\":\"...\"}");
	if (!check_origin(assemble))
		return FAILED;
	check_offset(assemble);
	if (assemble->piece_bytes && !is_of_pieces(line->type))
		return failed(assemble, "a part must be followed by another part or by the "
					"message, error or cut that it belongs to");
	if (line->type == ASSEMBLE_MESSAGE)
		return take_message(assemble);
	return is_of_pieces(line->type) ? take_bytes(assemble) : take_other(assemble);
}

int assemble_end(struct assemble *assemble)
{
	if (assemble->piece_bytes)
		return failed(assemble, "the text ends after a part: the rest of its message is "
					"missing");
	/* Usually an earlier command of the pipe failed. */
	if (!assemble->any)
		return failed(assemble, "the text is empty");
	return 0;
}
