/* SPDX-License-Identifier: GPL-2.0-only */
/* A reader of profile.proto (github.com/google/pprof), and what it reads as text. */
#ifndef SELFTESTS_PPROF_TEXT_H
#define SELFTESTS_PPROF_TEXT_H

#include <inttypes.h>
#include <zlib.h>

#include "export_file.h"

/* The unread bytes. */
struct bytes {
	const uint8_t *at;
	const uint8_t *end;
};

static bool bad;

static inline uint64_t take_varint(struct bytes *from)
{
	uint64_t value = 0;
	unsigned int shift = 0;

	for (; from->at < from->end && shift < 70; shift += 7) {
		uint8_t byte = *from->at++;

		value |= shift < 64 ? (uint64_t)(byte & 0x7f) << shift : 0;
		if (byte < 0x80)
			return value;
	}
	bad = true;
	return 0;
}

/* Reads the next field: its number, 0 at the end; a varint in @value or bytes in @part. */
static inline unsigned int take_field(struct bytes *from, uint64_t *value, struct bytes *part)
{
	uint64_t key, size;

	if (from->at == from->end)
		return 0;
	key = take_varint(from);
	*part = (struct bytes){ 0 };
	*value = 0;
	switch (key & 7) {
	case 0:
		*value = take_varint(from);
		break;
	case 2:
		size = take_varint(from);
		if (size > (size_t)(from->end - from->at)) {
			bad = true;
			return 0;
		}
		*part = (struct bytes){ from->at, from->at + size };
		from->at += size;
		break;
	default:
		bad = true;
	}
	return (unsigned int)(key >> 3);
}

static char strings[64][256];
static size_t string_count;

static inline const char *text_of(uint64_t index)
{
	if (index < string_count)
		return strings[index];
	bad = true;
	return "?";
}

/* Numbers of a message by field; repeated fields in packed form are joined. */
struct message {
	uint64_t number[20];
	char packed[20][128];
	struct bytes parts[8];	/* of the requested field */
	size_t part_count;
};

static inline struct message take_message(struct bytes from, unsigned int repeated,
					  unsigned int packed)
{
	struct message made = { 0 };
	unsigned int field;
	struct bytes part;
	uint64_t value;

	while ((field = take_field(&from, &value, &part)) && field < 20) {
		made.number[field] = value;
		if (field == repeated && made.part_count < 8)
			made.parts[made.part_count++] = part;
		while (packed & 1u << field && part.at < part.end) {
			size_t used = strlen(made.packed[field]);

			snprintf(made.packed[field] + used, sizeof(made.packed[field]) - used,
				 "%s%" PRIu64, used ? " " : "", take_varint(&part));
		}
	}
	return made;
}

static inline void put_message(FILE *out, unsigned int field, struct bytes part)
{
	struct message message;
	size_t i;

	switch (field) {
	case 1: /* sample_type: type, unit */
		message = take_message(part, 0, 0);
		fprintf(out, "type %s %s\n", text_of(message.number[1]),
			text_of(message.number[2]));
		break;
	case 2: /* sample: packed locations, packed values, labels with key and text */
		message = take_message(part, 3, 1u << 1 | 1u << 2);
		fprintf(out, "sample at %s: %s", message.packed[1], message.packed[2]);
		for (i = 0; i < message.part_count; i++) {
			struct message label = take_message(message.parts[i], 0, 0);

			fprintf(out, ", %s %s", text_of(label.number[1]), text_of(label.number[2]));
		}
		fputc('\n', out);
		break;
	case 3: /* mapping: id, start, limit, offset, file name, build-id, has functions */
		message = take_message(part, 0, 0);
		fprintf(out, "mapping %u %" PRIx64 "-%" PRIx64 " %s %s%s\n",
			(unsigned int)message.number[1], message.number[2], message.number[3],
			text_of(message.number[5]), text_of(message.number[6]),
			message.number[7] ? " functions" : "");
		break;
	case 4: /* location: id, mapping, address, lines with a function */
		message = take_message(part, 4, 0);
		fprintf(out, "location %u in %u at %" PRIx64 ":", (unsigned int)message.number[1],
			(unsigned int)message.number[2], message.number[3]);
		for (i = 0; i < message.part_count; i++)
			fprintf(out, " %u",
				(unsigned int)take_message(message.parts[i], 0, 0).number[1]);
		fputc('\n', out);
		break;
	case 5: /* function: id, name, system name */
		message = take_message(part, 0, 0);
		fprintf(out, "function %u %s, %s\n", (unsigned int)message.number[1],
			text_of(message.number[2]), text_of(message.number[3]));
		break;
	}
}

/* The profile as text, in the order of its fields. */
static inline const char *pprof_text(const struct written *written)
{
	static uint8_t proto[1 << 18];
	static char text[1 << 16];
	z_stream gzip = { .next_in = (Bytef *)(uintptr_t)written->bytes,
			  .avail_in = (uInt)written->size,
			  .next_out = proto,
			  .avail_out = sizeof(proto) };
	struct bytes all, from, part;
	unsigned int field;
	uint64_t value;
	FILE *out;

	bad = false;
	string_count = 0;
	/* 16: expects a gzip header. */
	if (inflateInit2(&gzip, MAX_WBITS + 16) != Z_OK ||
	    inflate(&gzip, Z_FINISH) != Z_STREAM_END || gzip.avail_in)
		bad = true;
	all = (struct bytes){ proto, gzip.next_out };
	inflateEnd(&gzip);
	for (from = all; (field = take_field(&from, &value, &part));)
		if (field == 6 && string_count < sizeof(strings) / sizeof(strings[0]))
			snprintf(strings[string_count++], sizeof(strings[0]), "%.*s",
				 (int)(part.end - part.at), (const char *)part.at);
	ok(string_count && !strings[0][0], "pprof: the first string is empty");
	out = fmemopen(text, sizeof(text), "w");
	for (from = all; (field = take_field(&from, &value, &part));) {
		put_message(out, field, part);
		if (field == 13)
			fprintf(out, "comment %s\n", text_of(value));
		if (field == 14)
			fprintf(out, "default %s\n", text_of(value));
	}
	fclose(out);
	ok(!bad, "pprof: well-formed");
	return text;
}

#endif
