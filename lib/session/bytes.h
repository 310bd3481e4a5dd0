/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Numbers and texts as bytes, for the index of a recording. Numbers are LEB128.
 *
 * One function describes a state for both directions (struct codec), so that what is read is what was written.
 */
#ifndef NTRACE_SESSION_BYTES_H
#define NTRACE_SESSION_BYTES_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "grow.h"

/* Bytes being written. @error: NTRACE_ERR_NOMEM, and nothing was written from there on. */
struct bytes {
	uint8_t *data;
	size_t size;
	size_t room;
	int error;
};

static inline void put_byte(struct bytes *bytes, uint8_t byte)
{
	if (!bytes->error)
		bytes->error = grow((void **)&bytes->data, bytes->size, &bytes->room, 1);
	if (!bytes->error)
		bytes->data[bytes->size++] = byte;
}

static inline void put_number(struct bytes *bytes, uint64_t number)
{
	for (; number >= 128; number >>= 7)
		put_byte(bytes, (uint8_t)(number | 128));
	put_byte(bytes, (uint8_t)number);
}

static inline void put_signed(struct bytes *bytes, int64_t number)
{
	uint64_t twice = (uint64_t)number << 1;

	put_number(bytes, number < 0 ? ~twice : twice);
}

static inline void put_data(struct bytes *bytes, const void *data, size_t size)
{
	put_number(bytes, size);
	for (size_t i = 0; i < size; i++)
		put_byte(bytes, ((const uint8_t *)data)[i]);
}

/* Bytes being read. @bad: they ended too early or were out of range; all later numbers are 0. */
struct bytes_reader {
	const uint8_t *next;
	const uint8_t *end;
	bool bad;
};

static inline uint64_t get_number(struct bytes_reader *reader)
{
	uint64_t number = 0;

	for (unsigned int shift = 0; shift < 64 && reader->next < reader->end; shift += 7) {
		uint8_t byte = *reader->next++;

		number |= (uint64_t)(byte & 127) << shift;
		if (byte < 128)
			return reader->bad ? 0 : number;
	}
	reader->bad = true;
	return 0;
}

/* A number of at most @max. */
static inline uint64_t get_number_max(struct bytes_reader *reader, uint64_t max)
{
	uint64_t number = get_number(reader);

	if (number <= max)
		return number;
	reader->bad = true;
	return 0;
}

static inline int64_t get_signed(struct bytes_reader *reader)
{
	uint64_t number = get_number(reader);

	return (int64_t)(number >> 1 ^ -(number & 1));
}

/* Data written by put_data(); borrowed. */
static inline const uint8_t *get_data(struct bytes_reader *reader, size_t *size)
{
	uint64_t wanted = get_number(reader);
	const uint8_t *data = reader->next;

	/* What is left without the bytes of the number itself. */
	reader->bad |= wanted > (uint64_t)(reader->end - data);
	*size = reader->bad ? 0 : (size_t)wanted;
	reader->next += *size;
	return data;
}

/* Writes to @to or, if that is NULL, reads from @from. */
struct codec {
	struct bytes *to;
	struct bytes_reader *from;
};

static inline bool codec_failed(const struct codec *codec)
{
	return codec->to ? codec->to->error : codec->from->bad;
}

/* Writes @number, or returns one of at most @max that was read. */
static inline uint64_t code_number(struct codec *codec, uint64_t number, uint64_t max)
{
	if (!codec->to)
		return get_number_max(codec->from, max);
	put_number(codec->to, number);
	return number;
}

static inline int64_t code_signed(struct codec *codec, int64_t number)
{
	if (!codec->to)
		return get_signed(codec->from);
	put_signed(codec->to, number);
	return number;
}

/* Writes or reads a variable; what is read is at most @max. */
#define CODE_MAX(codec, variable, max)                                                             \
	((variable) = (__typeof__(variable))code_number(codec, (uint64_t)(variable), max))
#define CODE_NUMBER(codec, variable) CODE_MAX(codec, variable, UINT64_MAX)
#define CODE_SIGNED(codec, variable)                                                               \
	((variable) = (__typeof__(variable))code_signed(codec, (int64_t)(variable)))

#endif
