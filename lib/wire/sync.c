// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Messages at which decoding can start (N-Trace 1.0, "synchronizing messages").
 *
 * The search splits the stream only by MSEO: a byte with MSEO 11 ends a message or is idle, so a
 * message starts after it in any state of the reader. A message whose TCODE has no SYNC is passed
 * without reading its fields.
 */
#include <assert.h>
#include <string.h>

#include "struct_size.h"
#include "table.h"
#include "word.h"

#define MSEO_MESSAGE_END 3

/* The byte that starts a message with SYNC and F-ADDR: TCODE with MSEO 00. */
static bool starts_sync(uint8_t byte)
{
	switch (byte) {
	case NTRACE_TCODE_PROG_TRACE_SYNC << 2:
	case NTRACE_TCODE_DIRECT_BRANCH_SYNC << 2:
	case NTRACE_TCODE_INDIRECT_BRANCH_SYNC << 2:
	case NTRACE_TCODE_INDIRECT_BRANCH_HIST_SYNC << 2:
		return true;
	default:
		return false;
	}
}

/*
 * Bit 7 of each byte of a word that equals @byte, and of bytes that differ from it in bit 0 alone,
 * in a row after one that equals it. None of these is after the end of a message: @byte has MSEO 00,
 * the others 01.
 */
static inline uint64_t equal_bytes(uint64_t word, uint8_t byte)
{
	uint64_t differences = word ^ byte * BYTES_BIT_0;

	return (differences - BYTES_BIT_0) & ~differences & BYTES_BIT_0 << 7;
}

/*
 * First byte from @at on that starts a message of a TCODE with SYNC; @size if there is none. @starts: a
 * message may start at @at. Eight bytes at a time: few of them are such a TCODE after the end of a
 * message.
 */
static size_t next_start(const uint8_t *data, size_t size, size_t at, bool starts)
{
	uint64_t word, ends, found;

	for (; size - at >= sizeof(word); at += sizeof(word)) {
		word = load_word(data + at);
		ends = word_ends(word);
		found = equal_bytes(word & ~(8 * BYTES_BIT_0), NTRACE_TCODE_PROG_TRACE_SYNC << 2) |
			equal_bytes(word, NTRACE_TCODE_INDIRECT_BRANCH_SYNC << 2) |
			equal_bytes(word, NTRACE_TCODE_INDIRECT_BRANCH_HIST_SYNC << 2);
		found &= (ends << 8 | starts) << 7;
		if (found)
			return at + (size_t)__builtin_ctzll(found) / 8;
		starts = ends >> 56;
	}
	for (; at < size; at++) {
		if (starts && starts_sync(data[at]))
			return at;
		starts = (data[at] & 3) == MSEO_MESSAGE_END;
	}
	return size;
}

static_assert((NTRACE_TCODE_PROG_TRACE_SYNC << 2 | 8) == NTRACE_TCODE_DIRECT_BRANCH_SYNC << 2,
	      "one comparison finds both");

static bool synchronizes(const struct ntrace_message *message, const struct ntrace_params *params,
			 unsigned int src)
{
	if (message->flags &
	    (NTRACE_MESSAGE_UNKNOWN | NTRACE_MESSAGE_TRUNCATED | NTRACE_MESSAGE_OVERSIZE))
		return false;
	return !params->src_bits || src == NTRACE_SRC_ANY ||
	       message->field[NTRACE_FIELD_SRC] == src;
}

static void set_sync(struct ntrace_wire_sync *sync, const struct ntrace_message *message,
		     const struct ntrace_params *params)
{
	*sync = (struct ntrace_wire_sync){
		.offset = message->offset,
		.length = message->length,
		.address = ntrace_message_address(message, params, 0),
		.time = message->field[NTRACE_FIELD_TSTAMP],
		.time_known = ntrace_message_has(message, NTRACE_FIELD_TSTAMP),
		.tcode = message->tcode,
		.sync = (uint8_t)message->field[NTRACE_FIELD_SYNC],
		.src = (uint16_t)message->field[NTRACE_FIELD_SRC],
	};
}

/* Reads the message at @at. Return: 1: it synchronizes @src; 0: it does not; NTRACE_ERR_AGAIN. */
static int read_sync(const uint8_t *data, size_t size, size_t at,
		     const struct ntrace_params *params, unsigned int src,
		     struct ntrace_wire_sync *sync)
{
	struct ntrace_message message;
	struct ntrace_reader reader;
	int got = ntrace_reader_init(&reader, params, true);

	if (got)
		return got;
	ntrace_reader_feed(&reader, data + at, size - at);
	got = ntrace_reader_next(&reader, &message);
	if (got == NTRACE_ERR_AGAIN)
		return got;
	if (got != NTRACE_WIRE_MESSAGE || !synchronizes(&message, params, src))
		return 0;
	message.offset += at;
	set_sync(sync, &message, params);
	return 1;
}

int ntrace_wire_sync_next(const uint8_t *data, size_t size, size_t from, bool aligned,
			  const struct ntrace_params *params, unsigned int src,
			  struct ntrace_wire_sync *sync)
{
	struct ntrace_params full;
	size_t at;

	ntrace_params_init(&full);
	if (!sync || !params || from > size || STRUCT_TAKE(&full, params) ||
	    full.src_bits > NTRACE_SRC_BITS_MAX ||
	    (full.src_bits && src != NTRACE_SRC_ANY && src >> full.src_bits))
		return NTRACE_ERR_INVALID;
	memset(sync, 0, sizeof(*sync));
	at = next_start(data, size, from,
			from ? (data[from - 1] & 3) == MSEO_MESSAGE_END : aligned);
	while (at < size) {
		int got = read_sync(data, size, at, &full, src, sync);

		if (got == NTRACE_ERR_AGAIN)
			break;
		if (got)
			return got < 0 ? got : NTRACE_OK;
		at = next_start(data, size, at + 1, false);
	}
	sync->offset = at;
	return NTRACE_ERR_AGAIN;
}
