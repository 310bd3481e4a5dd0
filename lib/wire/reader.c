// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Bytes to messages (N-Trace 1.0, "message framing").
 *
 * MSEO alone first splits a message into parts: the first part holds TCODE, SRC, the fixed fields
 * and the first variable field, each further part holds one variable field. The message table is
 * applied only to a complete message. So the state between two chunks is a few numbers for any
 * message, and a message of any length and unknown layout needs no further memory.
 */
#include <string.h>

#include <ntrace/messages.h>

#include "table.h"
#include "stamp.h"
#include "struct_size.h"
#include "word.h"

/* ntrace_reader.state */
enum state {
	STATE_IDLE,	/* between messages */
	STATE_MESSAGE,	/* inside a message */
	STATE_SKIP,	/* searching for a boundary */
};

/* MSEO, the low two bits of a byte */
enum mseo {
	MSEO_GO_ON = 0,
	MSEO_FIELD_END = 1,
	MSEO_RESERVED = 2,
	MSEO_MESSAGE_END = 3,
};

#define MDO_BITS 6
#define PARTS_MAX (sizeof(((struct ntrace_reader *)0)->part) / sizeof(struct ntrace_reader_part))

int ntrace_reader_init(struct ntrace_reader *reader, const struct ntrace_params *params,
		       bool aligned)
{
	struct ntrace_params full;

	ntrace_params_init(&full);
	if (!reader || !params || STRUCT_TAKE(&full, params) || full.src_bits > NTRACE_SRC_BITS_MAX)
		return NTRACE_ERR_INVALID;
	memset(reader, 0, sizeof(*reader));
	reader->src_bits = full.src_bits;
	reader->vendor_timed = full.vendor_timestamps;
	reader->rows = ntrace_wire_row(0, full.dialect);
	reader->state = aligned ? STATE_IDLE : STATE_SKIP;
	return NTRACE_OK;
}

void ntrace_reader_feed(struct ntrace_reader *reader, const uint8_t *data, size_t size)
{
	reader->next = data;
	reader->end = size ? data + size : data;
}

uint64_t ntrace_reader_pending(const struct ntrace_reader *reader)
{
	return reader->state == STATE_MESSAGE ? reader->offset - reader->start : 0;
}

uint64_t ntrace_reader_break(struct ntrace_reader *reader)
{
	uint64_t lost = ntrace_reader_pending(reader);

	reader->state = STATE_SKIP;
	return lost;
}

/* Advances the position in chunk and stream to @next. */
static inline void advance(struct ntrace_reader *reader, const uint8_t *next)
{
	reader->offset += (uint64_t)(next - reader->next);
	reader->next = next;
}

static int stray_code(struct ntrace_reader *reader, struct ntrace_message *message, uint64_t start)
{
	memset(message, 0, sizeof(*message));
	message->offset = start;
	message->length = reader->offset - start;
	reader->errors++;
	reader->state = STATE_SKIP;
	return NTRACE_WIRE_ERROR;
}

/* Skips all bytes up to and including the next message end. Return: false if the chunk has none. */
static bool skip_to_boundary(struct ntrace_reader *reader)
{
	const uint8_t *next = reader->next;

	while (next < reader->end) {
		if ((*next++ & 3) == MSEO_MESSAGE_END) {
			reader->state = STATE_IDLE;
			break;
		}
	}
	advance(reader, next);
	return reader->state == STATE_IDLE;
}

/*
 * Adds 6 bits to the current part. Its first 128 bits are kept: enough for all fixed fields and a
 * variable field of 64 bits. Further bits are only checked for being 0.
 */
static inline void part_add(struct ntrace_reader_part *part, uint64_t mdo)
{
	if (part->bits < 64) {
		part->value |= mdo << part->bits;
		if (part->bits > 64 - MDO_BITS)
			part->high |= mdo >> (64 - part->bits);
	} else if (part->bits <= 128 - MDO_BITS) {
		part->high |= mdo << (part->bits - 64);
	} else if (mdo) {
		part->dropped = 1;
	}
	/* The saturation value is also a multiple of 6. */
	if (part->bits < MDO_BITS << 16)
		part->bits += MDO_BITS;
	part->last_mdo = (uint8_t)mdo;
}

/* Takes @bits from the start of the first part. Return: false if it has fewer bits. */
static inline bool take(struct ntrace_reader_part *part, unsigned int bits, uint64_t *value)
{
	*value = 0;
	if (part->bits < bits)
		return false;
	*value = part->value & ((UINT64_C(1) << bits) - 1);
	part->value = part->value >> bits | part->high << (64 - bits);
	part->high >>= bits;
	part->bits -= bits;
	return true;
}

static inline void set_field(struct ntrace_message *message, unsigned int field, uint64_t value)
{
	message->field[field] = value;
	message->present |= 1u << field;
}

/* Takes a variable field. Address bits above bit 63 have no meaning (N-Trace 1.0, "addresses"). */
static inline void set_variable(struct ntrace_message *message, unsigned int field,
				const struct ntrace_reader_part *part)
{
	bool wide = part->high || part->dropped;

	set_field(message, field, part->value);
	if (field == NTRACE_FIELD_FADDR || field == NTRACE_FIELD_UADDR) {
		unsigned int bytes = part->bits / MDO_BITS;

		message->field[field] &= ~UINT64_C(0) >> 1;
		message->address_msb = part->last_mdo >> 5;
		message->address_bytes = (uint8_t)(bytes < UINT8_MAX ? bytes : UINT8_MAX);
		wide = wide && bytes > 11;
	}
	if (wide)
		message->flags |= NTRACE_MESSAGE_OVERSIZE;
}

/* Row in the table of the dialect, chosen once: a message is read in a few nanoseconds. */
static inline const struct ntrace_wire_row *row_of(const struct ntrace_reader *reader,
						   unsigned int tcode)
{
	const struct ntrace_wire_row *rows = reader->rows;

	return &rows[tcode];
}

/* A vendor's message has an unknown layout, but TSTAMP is the last field of every message. */
static void interpret_vendor(struct ntrace_reader *reader, struct ntrace_message *message)
{
	if (reader->vendor_timed && reader->parts > 1 && stamp_of_vendor(message->tcode))
		set_variable(message, NTRACE_FIELD_TSTAMP, &reader->part[reader->parts - 1]);
}

/* Reads the parts by the message table. */
static void interpret(struct ntrace_reader *reader, struct ntrace_message *message)
{
	struct ntrace_reader_part *first = &reader->part[0];
	const struct ntrace_wire_row *row;
	unsigned int used = 0;
	uint64_t value;

	memset(message, 0, sizeof(*message));
	message->offset = reader->start;
	message->length = reader->offset - reader->start;
	take(first, MDO_BITS, &value);
	message->tcode = (uint8_t)value;
	row = row_of(reader, message->tcode);
	if (!row->name)
		message->flags |= NTRACE_MESSAGE_UNKNOWN |
				  (reader->parts > 1 ? NTRACE_MESSAGE_FIELDS : 0);
	if (reader->src_bits) {
		if (!take(first, reader->src_bits, &value))
			goto truncated;
		set_field(message, NTRACE_FIELD_SRC, value);
	}
	if (!row->name) {
		interpret_vendor(reader, message);
		return;
	}
	for (unsigned int i = 0; row->fixed[i].bits; i++) {
		if (!take(first, row->fixed[i].bits, &value))
			goto truncated;
		set_field(message, row->fixed[i].field, value);
	}
	/*
	 * A variable field has at least one bit. Some encoders send none for a first one that is 0, if
	 * the fixed fields end with a byte: MSEO then ends a field there, and it can be no other.
	 */
	for (unsigned int i = 0; row->variable[i].field; i++) {
		if (!ntrace_wire_demands(row, i, message->field))
			continue;
		if (used == reader->parts)
			goto truncated;
		set_variable(message, row->variable[i].field, &reader->part[used++]);
	}
	/* One variable field beyond the table's is the timestamp. */
	if (used < reader->parts)
		set_variable(message, NTRACE_FIELD_TSTAMP, &reader->part[used++]);
	if (used < reader->parts)
		message->flags |= NTRACE_MESSAGE_EXTRA;
	return;
truncated:
	message->flags |= NTRACE_MESSAGE_TRUNCATED;
}

static inline void part_begin(struct ntrace_reader_part *part)
{
	memset(part, 0, sizeof(*part));
}

/* Skips idle bytes and takes the first byte of a message. */
static int begin(struct ntrace_reader *reader, struct ntrace_message *message)
{
	const uint8_t *next = reader->next;
	const uint8_t *start = next;

	while (next < reader->end && (*next & 3) == MSEO_MESSAGE_END)
		next++;
	reader->idles += (uint64_t)(next - start);
	advance(reader, next);
	if (next == reader->end)
		return NTRACE_ERR_AGAIN;
	reader->start = reader->offset;
	if ((*next & 3) != MSEO_GO_ON) {
		advance(reader, next + 1);
		return stray_code(reader, message, reader->start);
	}
	reader->state = STATE_MESSAGE;
	reader->parts = 0;
	part_begin(&reader->part[0]);
	return NTRACE_OK;
}

/* The MDO bits of 8 bytes, packed into 48 bits. */
static inline uint64_t payload_of(uint64_t word)
{
	word = word >> 2 & UINT64_C(0x3f3f3f3f3f3f3f3f);
	word = (word & UINT64_C(0x003f003f003f003f)) | (word & UINT64_C(0x3f003f003f003f00)) >> 2;
	word = (word & UINT64_C(0x00000fff00000fff)) | (word & UINT64_C(0x0fff00000fff0000)) >> 4;
	return (word & 0xffffff) | (word >> 8 & UINT64_C(0xffffff000000));
}

/*
 * A message of at most 8 bytes.
 * @word: its bytes; 0 after its end
 * @end: bit 0 of its last byte
 * @size: number of bytes
 */
struct short_message {
	uint64_t word;
	uint64_t end;
	unsigned int size;
};

/* Finds the end of the message that begins with the bytes of @word. Return: false: not in them. */
static inline bool find_end(uint64_t word, struct short_message *found)
{
	uint64_t ends = word_ends(word);

	if (!ends)
		return false;
	found->end = ends & -ends;
	found->size = (unsigned int)__builtin_ctzll(ends) / 8 + 1;
	/* If the last byte is the eighth, the shift leaves 0. */
	found->word = word & ((found->end << 8) - 1);
	return true;
}

/* The unread rest of a message of at most 8 bytes: payload, and field ends as bits of bytes. */
struct short_rest {
	uint64_t payload;
	uint64_t ends;
	unsigned int at;
};

static inline bool take_short(struct ntrace_message *message, unsigned int field,
			      struct short_rest *rest)
{
	unsigned int end;

	if (!rest->ends)
		return false;
	end = ((unsigned int)__builtin_ctzll(rest->ends) / 8 + 1) * MDO_BITS;
	if (end <= rest->at)
		return false;
	message->field[field] = rest->payload >> rest->at & ((UINT64_C(1) << (end - rest->at)) - 1);
	message->present |= 1u << field;
	if (field == NTRACE_FIELD_FADDR || field == NTRACE_FIELD_UADDR) {
		message->address_msb = rest->payload >> (end - 1) & 1;
		message->address_bytes = (uint8_t)((end - rest->at) / MDO_BITS);
	}
	rest->at = end;
	rest->ends &= rest->ends - 1;
	return true;
}

/* Cleared in parts: compilers inline small stores, and a string instruction takes longer. */
static inline void clear_fields(struct ntrace_message *message)
{
	memset(message->field, 0, 64);
	memset(message->field + 8, 0, 64);
	memset(message->field + 16, 0, sizeof(message->field) - 128);
}

/* A fixed field, or SRC. */
static inline void take_short_fixed(struct ntrace_message *message, unsigned int field,
				    unsigned int bits, struct short_rest *rest)
{
	message->field[field] = rest->payload >> rest->at & ((1u << bits) - 1);
	message->present |= 1u << field;
	rest->at += bits;
}

/* Sets all but the fields of a message without an address. */
static inline void set_head(struct ntrace_message *message, unsigned int tcode, uint32_t present,
			    uint64_t offset, unsigned int size)
{
	message->tcode = (uint8_t)tcode;
	message->flags = 0;
	message->address_msb = 0;
	message->address_bytes = 0;
	message->present = present;
	message->offset = offset;
	message->length = size;
}

/*
 * DirectBranch without SRC and TSTAMP, by far the most frequent message of BTM: TCODE, then I-CNT up
 * to the end. Return: number of bytes; 0: another message.
 */
static inline unsigned int take_branch(uint64_t word, uint64_t *icnt)
{
	struct short_message found;

	/* Most I-CNT are in a single byte. */
	if ((word & 0x3ff) == (NTRACE_TCODE_DIRECT_BRANCH << 2 | MSEO_MESSAGE_END << 8)) {
		*icnt = word >> 10 & 63;
		return 2;
	}
	if ((word & 0xff) != NTRACE_TCODE_DIRECT_BRANCH << 2 || !find_end(word, &found) ||
	    (found.word & (found.end - 1) & 3 * BYTES_BIT_0))
		return 0;
	*icnt = payload_of(found.word) >> MDO_BITS;
	return found.size;
}

/* Sets all that differs from a cleared message. */
static inline void set_branch(struct ntrace_message *message, uint64_t icnt, uint64_t offset,
			      unsigned int size)
{
	set_head(message, NTRACE_TCODE_DIRECT_BRANCH, 1u << NTRACE_FIELD_ICNT, offset, size);
	message->field[NTRACE_FIELD_ICNT] = icnt;
}

/* Passes over a message that was read. */
static inline void pass_short(struct ntrace_reader *reader, unsigned int size)
{
	reader->next += size;
	reader->offset += size;
}

/* clang-format off */
#define CASE(tcode, text, fixed_fields, variable_fields) \
	case NTRACE_TCODE_##tcode: \
		fixed_fields variable_fields break;
#define FIXED(name, width) take_short_fixed(message, NTRACE_FIELD_##name, width, rest);
#define VARIABLE(name) \
	if (!take_short(message, NTRACE_FIELD_##name, rest)) \
		return false;
#define VARIABLE_IF(name, selected_by, accepted) \
	if ((accepted) >> message->field[NTRACE_FIELD_##selected_by] & 1 && \
	    !take_short(message, NTRACE_FIELD_##name, rest)) \
		return false;
/* clang-format on */

/* Reads the fields of a whole message. Return: false: it has others than those of the table. */
static inline bool read_fields(const struct ntrace_reader *reader, struct ntrace_message *message,
			       struct short_rest *rest)
{
	if (reader->src_bits)
		take_short_fixed(message, NTRACE_FIELD_SRC, reader->src_bits, rest);
	switch (message->tcode) {
		NTRACE_MESSAGE_TABLE(CASE, FIXED, VARIABLE, VARIABLE_IF)
	default:
		if (!row_of(reader, message->tcode)->name)
			return false;
		switch (message->tcode) {
			NTRACE_SIFIVE_TABLE(CASE, FIXED, VARIABLE, VARIABLE_IF)
		default:
			return false;
		}
	}
	if (rest->ends && !take_short(message, NTRACE_FIELD_TSTAMP, rest))
		return false;
	return !rest->ends;
}

/* read_short() for a message that begins with the bytes of @word. */
static inline bool read_word(struct ntrace_reader *reader, struct ntrace_message *message,
			     uint64_t word)
{
	struct short_message found;
	struct short_rest rest;

	if (!find_end(word, &found) || found.word & 3 || word_strays(found.word))
		return false;
	rest.payload = payload_of(found.word);
	rest.ends = found.word & BYTES_BIT_0;
	rest.at = MDO_BITS;
	clear_fields(message);
	set_head(message, rest.payload & 63, 0, reader->offset, found.size);
	if (!read_fields(reader, message, &rest))
		return false;
	pass_short(reader, found.size);
	return true;
}

/*
 * Most messages are short and whole: a message of at most 8 bytes that lies inside the chunk and
 * has the fields of the table is read from one word, with the same result as byte by byte. Return:
 * false for any other message, with nothing changed.
 */
static inline bool read_short(struct ntrace_reader *reader, struct ntrace_message *message)
{
	uint64_t word, icnt;
	unsigned int size;

	if (reader->end - reader->next < (ptrdiff_t)sizeof(word))
		return false;
	word = load_word(reader->next);
	size = reader->src_bits ? 0 : take_branch(word, &icnt);
	if (!size)
		return read_word(reader, message, word);
	clear_fields(message);
	set_branch(message, icnt, reader->offset, size);
	pass_short(reader, size);
	return true;
}

/* Reads any message byte by byte. Not inlined, so that short messages need few registers. */
static __attribute__((noinline)) int read_any(struct ntrace_reader *reader,
					      struct ntrace_message *message)
{
	struct ntrace_reader_part part;
	const uint8_t *next;

	if (reader->state == STATE_IDLE) {
		int ret = begin(reader, message);

		if (ret)
			return ret;
	}
	/* Parts beyond the last slot share that slot and are only counted. */
	part = reader->part[reader->parts < PARTS_MAX ? reader->parts : PARTS_MAX - 1];
	for (next = reader->next; next < reader->end;) {
		uint8_t byte = *next++;

		part_add(&part, byte >> 2);
		if ((byte & 3) == MSEO_GO_ON)
			continue;
		if ((byte & 3) == MSEO_RESERVED) {
			advance(reader, next);
			return stray_code(reader, message, reader->start);
		}
		if (reader->parts < PARTS_MAX)
			reader->part[reader->parts++] = part;
		if ((byte & 3) == MSEO_MESSAGE_END) {
			advance(reader, next);
			reader->state = STATE_IDLE;
			interpret(reader, message);
			return NTRACE_WIRE_MESSAGE;
		}
		part_begin(&part);
	}
	advance(reader, next);
	if (reader->parts < PARTS_MAX)
		reader->part[reader->parts] = part;
	return NTRACE_ERR_AGAIN;
}

int ntrace_reader_next(struct ntrace_reader *reader, struct ntrace_message *message)
{
	if (reader->state == STATE_SKIP && !skip_to_boundary(reader))
		return NTRACE_ERR_AGAIN;
	if (reader->state == STATE_IDLE && read_short(reader, message))
		return NTRACE_WIRE_MESSAGE;
	return read_any(reader, message);
}

/* Reads DirectBranch messages up to the first other one. */
static inline struct ntrace_message *read_branches(struct ntrace_reader *reader,
						   struct ntrace_message *message,
						   const struct ntrace_message *end)
{
	const uint8_t *next = reader->next, *last = reader->end - sizeof(uint64_t);
	uint64_t offset = reader->offset, icnt;

	for (; message < end && next <= last; message++) {
		unsigned int size = take_branch(load_word(next), &icnt);

		if (!size)
			break;
		/* An earlier DirectBranch has the same fields, so that none has to be cleared. */
		if (message->present & ~(1u << NTRACE_FIELD_ICNT))
			clear_fields(message);
		set_branch(message, icnt, offset, size);
		next += size;
		offset += size;
	}
	reader->next = next;
	reader->offset = offset;
	return message;
}

size_t ntrace_reader_batch(struct ntrace_reader *reader, struct ntrace_message *messages,
			   size_t count)
{
	struct ntrace_message *message = messages;
	const struct ntrace_message *end = messages + count;

	if (reader->state != STATE_IDLE || reader->end - reader->next < (ptrdiff_t)sizeof(uint64_t))
		return 0;
	for (; message < end; message++) {
		if (!reader->src_bits)
			message = read_branches(reader, message, end);
		if (message == end || reader->end - reader->next < (ptrdiff_t)sizeof(uint64_t) ||
		    !read_word(reader, message, load_word(reader->next)))
			break;
	}
	return (size_t)(message - messages);
}
