// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Reads a tandem stream. A field is parsed from at least PADDED readable bytes, so that values of
 * any length are one load and a mask; near the end of a chunk, the field is copied to the reader
 * and padded with zeros. Whether the padding was used shows afterwards.
 *
 * Most groups have the same fields in the same order: begin, pc, instruction, registers, additional
 * state, end. read_group() expects this order, so that its branches are predictable, and leaves
 * everything else to parse().
 */
#include <endian.h>
#include <string.h>

#include "layout.h"
#include "struct_size.h"

/* Readable bytes that parse() needs. */
#define PADDED 32

/* Bytes that read_group() may read: 1 + 10 + 5 + 3 * 11 + 3 * 10 + 1 and a load; and its fields. */
#define GROUP_BYTES 96
#define GROUP_FIELDS 10

/* Bits of reader->open. */
enum {
	OPEN = 0x01,
	SEEN_NEXT_PC = 0x02,
	SEEN_PC = 0x04,
	SEEN_INSN = 0x08,
	SEEN_INIT = 0x10,
	SEEN_RESET = 0x20,
	SEEN_INSN_TWICE = 0x40,
	SEEN_PC_TWICE = 0x80,
	FAILED = 0x100,
};

void ntrace_tandem_params_init(struct ntrace_tandem_params *params)
{
	memset(params, 0, sizeof(*params));
	params->size = sizeof(*params);
	params->xlen = 64;
	params->mlen = 64;
	params->flen = 64;
}

const char *ntrace_tandem_params_refusal(const struct ntrace_tandem_params *callers)
{
	struct ntrace_tandem_params params;

	ntrace_tandem_params_init(&params);
	if (STRUCT_TAKE(&params, callers))
		return "the struct has no size, or fields that this library does not know";
	if (params.xlen != 32 && params.xlen != 64)
		return "xlen must be 32 or 64";
	if (params.xlen == 64 && params.mlen != 64)
		return "mlen must be 64 with xlen 64";
	if (params.xlen == 32 && params.mlen != 32 && params.mlen != 34)
		return "mlen must be 32 or 34 with xlen 32";
	if (params.flen != 0 && params.flen != 32 && params.flen != 64)
		return "flen must be 0, 32 or 64";
	if (params.flags & ~(NTRACE_TANDEM_SC_DATA | NTRACE_TANDEM_FAILED_NO_DATA))
		return "unknown flags";
	return NULL;
}

int ntrace_tandem_reader_init(struct ntrace_tandem_reader *reader,
			      const struct ntrace_tandem_params *callers)
{
	struct ntrace_tandem_params params;

	memset(reader, 0, sizeof(*reader));
	if (ntrace_tandem_params_refusal(callers))
		return NTRACE_ERR_INVALID;
	ntrace_tandem_params_init(&params);
	STRUCT_TAKE(&params, callers);
	reader->mlen_bytes = tandem_mlen_bytes(&params);
	reader->xlen_bytes = params.xlen / 8;
	reader->flen_bytes = params.flen / 8;
	reader->params_flags = params.flags;
	for (unsigned int id = 0; id < sizeof(reader->state_bytes); id++)
		reader->state_bytes[id] =
			(uint8_t)tandem_state_bytes(id, reader->xlen_bytes, reader->mlen_bytes);
	reader->request = NTRACE_TANDEM_OPS;
	return 0;
}

void ntrace_tandem_reader_feed(struct ntrace_tandem_reader *reader, const void *data, size_t size)
{
	reader->next = data;
	reader->end = size ? reader->next + size : reader->next;
}

unsigned int ntrace_tandem_reader_pending(const struct ntrace_tandem_reader *reader)
{
	return reader->held;
}

static inline uint64_t load64(const uint8_t *at)
{
	uint64_t value;

	memcpy(&value, at, sizeof(value));
	return le64toh(value);
}

static inline uint64_t load(const uint8_t *at, unsigned int bytes)
{
	return load64(at) & tandem_mask(bytes);
}

static inline unsigned int load16(const uint8_t *at)
{
	uint16_t value;

	memcpy(&value, at, sizeof(value));
	return le16toh(value);
}

/* The byte at @index is wrong. */
static int wrong(struct ntrace_tandem_reader *reader, unsigned int index, const char *error)
{
	reader->error = error;
	reader->wrong = index;
	return -1;
}

static inline int parse_register(struct ntrace_tandem_reader *reader, const uint8_t *at,
				 struct ntrace_tandem_field *field)
{
	unsigned int id = load16(at + 1), bytes = reader->xlen_bytes;

	field->id = (uint16_t)id;
	if (id >= NTRACE_TANDEM_FPR) {
		if (id >= NTRACE_TANDEM_REGISTERS)
			return wrong(reader, 2, "unknown register");
		bytes = reader->flen_bytes;
		if (!bytes)
			return wrong(reader, 2, "floating-point register, but flen is 0");
	}
	if (field->type != NTRACE_TANDEM_REGISTER) {
		field->value = at[3];
		if (field->type == NTRACE_TANDEM_ADD)
			field->value = (uint64_t)(int8_t)at[3];
		return 4;
	}
	field->value = load(at + 3, bytes);
	return 3 + (int)bytes;
}

static int parse_request(struct ntrace_tandem_reader *reader, const uint8_t *at,
			 struct ntrace_tandem_field *field)
{
	unsigned int mlen = reader->mlen_bytes, op = at[1 + mlen] & 15, size = at[1 + mlen] >> 4;
	unsigned int bytes;

	if (op >= NTRACE_TANDEM_OPS)
		return wrong(reader, 1 + mlen, "unknown operation of a memory request");
	if (size > 3)
		return wrong(reader, 1 + mlen, "unknown size of a memory request");
	field->address = load(at + 1, mlen);
	field->op = (uint8_t)op;
	field->size = (uint8_t)size;
	bytes = tandem_request_has_data(op) ? 1u << size : 0;
	field->value = load(at + 2 + mlen, bytes);
	reader->request = op;
	reader->request_size = size;
	reader->request_address = field->address;
	return 2 + (int)(mlen + bytes);
}

static int parse_response(struct ntrace_tandem_reader *reader, const uint8_t *at,
			  struct ntrace_tandem_field *field)
{
	unsigned int size = at[1] & 15, result = at[1] >> 4, bytes;

	if (size > 3)
		return wrong(reader, 1, "unknown size of a memory response");
	if (result > 1)
		return wrong(reader, 1, "unknown result of a memory response");
	if (reader->request == NTRACE_TANDEM_OPS)
		return wrong(reader, 0, "memory response that does not follow a request");
	if (reader->request_size != size)
		return wrong(reader, 1, "memory response with another size than its request");
	field->op = (uint8_t)reader->request;
	field->address = reader->request_address;
	field->size = (uint8_t)(size | (result ? NTRACE_TANDEM_FAILED : 0));
	bytes = tandem_response_has_data(reader->request, result, reader->params_flags) ?
			1u << size :
			0;
	field->value = load(at + 2, bytes);
	return 2 + (int)bytes;
}

/* Flags of the END of a group. */
static unsigned int group_flags(unsigned int seen)
{
	unsigned int flags = 0;

	if ((seen & SEEN_NEXT_PC) && !(seen & SEEN_INSN))
		flags |= NTRACE_TANDEM_PC_ALONE;
	if (seen & SEEN_PC_TWICE)
		flags |= NTRACE_TANDEM_PC_TWICE;
	if (seen & SEEN_INSN_TWICE)
		flags |= NTRACE_TANDEM_INSN_TWICE;
	if (((seen & SEEN_INIT) && (seen & (SEEN_INSN | SEEN_RESET))) ||
	    ((seen & SEEN_RESET) && (seen & SEEN_INSN)))
		flags |= NTRACE_TANDEM_INIT_MIXED;
	return flags;
}

/* A field that belongs into a group: notes that it was seen, and whether it was before. */
static inline void see(struct ntrace_tandem_reader *reader, struct ntrace_tandem_field *field,
		       unsigned int bit, unsigned int others, unsigned int twice)
{
	reader->request = NTRACE_TANDEM_OPS;
	if (!reader->open)
		field->flags |= NTRACE_TANDEM_OUTSIDE;
	else
		reader->open |= bit | (reader->open & (bit | others) ? twice : 0);
}

/*
 * Parses the field at @at, which has PADDED readable bytes, and updates the group.
 * Return: length of the field, or -1
 */
static inline int parse(struct ntrace_tandem_reader *reader, const uint8_t *at,
			struct ntrace_tandem_field *field)
{
	unsigned int bytes;
	int length;

	*field = (struct ntrace_tandem_field){ .offset = reader->offset, .type = at[0] };
	switch (at[0]) {
	case NTRACE_TANDEM_BEGIN:
		reader->request = NTRACE_TANDEM_OPS;
		return 1;
	case NTRACE_TANDEM_END:
		field->flags = (uint16_t)(reader->open ? group_flags(reader->open) :
							 NTRACE_TANDEM_STRAY_END);
		reader->open = 0;
		reader->request = NTRACE_TANDEM_OPS;
		return 1;
	case NTRACE_TANDEM_NEXT_PC:
		see(reader, field, SEEN_NEXT_PC, SEEN_PC, SEEN_PC_TWICE);
		return 1;
	case NTRACE_TANDEM_REGISTER:
	case NTRACE_TANDEM_ADD:
	case NTRACE_TANDEM_OR:
		reader->request = NTRACE_TANDEM_OPS;
		return parse_register(reader, at, field);
	case NTRACE_TANDEM_INSN32:
		see(reader, field, SEEN_INSN, 0, SEEN_INSN_TWICE);
		field->value = load(at + 1, 4);
		return 5;
	case NTRACE_TANDEM_INSN16:
		see(reader, field, SEEN_INSN, 0, SEEN_INSN_TWICE);
		field->value = load16(at + 1);
		if ((field->value & 3) == 3)
			field->flags |= NTRACE_TANDEM_INSN_LENGTH;
		return 3;
	case NTRACE_TANDEM_STATE:
		reader->request = NTRACE_TANDEM_OPS;
		bytes = at[1] < sizeof(reader->state_bytes) ? reader->state_bytes[at[1]] : 0;
		if (!bytes)
			return wrong(reader, 1, "unknown additional state");
		field->id = at[1];
		field->value = load(at + 2, bytes);
		/* Outside a group a pc is a change by itself. */
		if (at[1] == NTRACE_TANDEM_STATE_PC && reader->open)
			see(reader, field, SEEN_PC, SEEN_NEXT_PC, SEEN_PC_TWICE);
		return 2 + (int)bytes;
	case NTRACE_TANDEM_REQUEST:
		return parse_request(reader, at, field);
	case NTRACE_TANDEM_RESPONSE:
		length = parse_response(reader, at, field);
		if (length > 0)
			reader->request = NTRACE_TANDEM_OPS;
		return length;
	case NTRACE_TANDEM_RESET:
		reader->request = NTRACE_TANDEM_OPS;
		if (reader->open)
			see(reader, field, SEEN_RESET, 0, 0);
		return 1;
	case NTRACE_TANDEM_INIT:
		see(reader, field, SEEN_INIT, 0, 0);
		return 1;
	default:
		return wrong(reader, 0, "unknown opcode");
	}
}

/* Puts the END that a BEGIN implies. */
static void set_implied(struct ntrace_tandem_reader *reader, struct ntrace_tandem_field *field)
{
	memset(field, 0, sizeof(*field));
	field->offset = reader->offset;
	field->type = NTRACE_TANDEM_END;
	field->flags = (uint16_t)(NTRACE_TANDEM_IMPLIED | group_flags(reader->open));
	reader->open = 0;
}

/* Return: number of fields put at @field, 1 or 2. */
static inline int take(struct ntrace_tandem_reader *reader, struct ntrace_tandem_field *field,
		       unsigned int length)
{
	int count = 1;

	field->length = (uint8_t)length;
	if (field->type == NTRACE_TANDEM_BEGIN) {
		if (reader->open) {
			field[1] = field[0];
			set_implied(reader, field);
			count = 2;
		}
		reader->open = OPEN;
	}
	reader->offset += length;
	return count;
}

static int fail(struct ntrace_tandem_reader *reader)
{
	reader->wrong += reader->offset;
	reader->params_flags |= FAILED;
	return NTRACE_ERR_FORMAT;
}

/*
 * Parses a field that begins in the held bytes or near the end of the chunk.
 * Return: number of fields; 0: the chunk is used up; NTRACE_ERR_FORMAT
 */
static int read_held(struct ntrace_tandem_reader *reader, struct ntrace_tandem_field *field)
{
	unsigned int before = reader->held, open = reader->open, request = reader->request;
	size_t left = (size_t)(reader->end - reader->next);
	unsigned int more = left < PADDED - before ? (unsigned int)left : PADDED - before;
	unsigned int have = before + more;
	int length;

	if (more)
		memcpy(reader->bytes + before, reader->next, more);
	if (!have)
		return 0;
	/* Older bytes lie behind the held ones: a field that read some of them is parsed again. */
	length = parse(reader, reader->bytes, field);
	if (length < 0 || (unsigned int)length > have) {
		/* Parsed again when there is more of it. */
		reader->open = open;
		reader->request = request;
		if (length < 0 && reader->wrong < have)
			return fail(reader);
		reader->next += more;
		reader->held = have;
		return 0;
	}
	/* The held bytes were no complete field, so the field ends in this chunk. */
	reader->next += (unsigned int)length - before;
	reader->held = 0;
	return take(reader, field, (unsigned int)length);
}

static inline struct ntrace_tandem_field *put(struct ntrace_tandem_field *field, uint64_t offset,
					      uint64_t value, unsigned int type, unsigned int id,
					      unsigned int flags, unsigned int length)
{
	*field = (struct ntrace_tandem_field){ .offset = offset,
					       .value = value,
					       .type = (uint8_t)type,
					       .id = (uint16_t)id,
					       .flags = (uint16_t)flags,
					       .length = (uint8_t)length };
	return field + 1;
}

/*
 * Parses the fields of a group that begins at @next, up to the first that has another form or place
 * than most. At least GROUP_BYTES are readable, and there is room for GROUP_FIELDS.
 * Return: the next free field
 */
static inline struct ntrace_tandem_field *read_group(struct ntrace_tandem_reader *reader,
						     const uint8_t **at,
						     struct ntrace_tandem_field *field)
{
	const uint8_t *next = *at, *start = next;
	uint64_t offset = reader->offset;
	unsigned int open = OPEN, bytes = reader->xlen_bytes, id, length;
	uint64_t mask = tandem_mask(bytes), value;

	field = put(field, offset, 0, NTRACE_TANDEM_BEGIN, 0, 0, 1);
	next++;
	if (*next == NTRACE_TANDEM_NEXT_PC) {
		field = put(field, offset + 1, 0, NTRACE_TANDEM_NEXT_PC, 0, 0, 1);
		open |= SEEN_NEXT_PC;
		next++;
	} else if (load16(next) == (NTRACE_TANDEM_STATE | NTRACE_TANDEM_STATE_PC << 8)) {
		field = put(field, offset + 1, load64(next + 2) & mask, NTRACE_TANDEM_STATE,
			    NTRACE_TANDEM_STATE_PC, 0, 2 + bytes);
		open |= SEEN_PC;
		next += 2 + bytes;
	}
	if ((*next | 1) == NTRACE_TANDEM_INSN32) {
		/* Without a branch: programs mix both lengths at random. */
		unsigned int is_32 = *next & 1, high = (load16(next + 3) & -is_32) << 16;

		value = load16(next + 1) | high;
		length = 3 + 2 * is_32;
		field = put(field, offset + (uint64_t)(next - start), value, *next, 0,
			    (!is_32 & ((value & 3) == 3)) * NTRACE_TANDEM_INSN_LENGTH, length);
		open |= SEEN_INSN;
		next += length;
	}
	for (unsigned int i = 0; i < 3 && *next == NTRACE_TANDEM_REGISTER; i++) {
		id = load16(next + 1);
		if (id >= NTRACE_TANDEM_FPR)
			break;
		field = put(field, offset + (uint64_t)(next - start), load64(next + 3) & mask,
			    NTRACE_TANDEM_REGISTER, id, 0, 3 + bytes);
		next += 3 + bytes;
	}
	for (unsigned int i = 0; i < 3 && *next == NTRACE_TANDEM_STATE; i++) {
		id = next[1];
		length = id < sizeof(reader->state_bytes) ? reader->state_bytes[id] : 0;
		if (!length || id == NTRACE_TANDEM_STATE_PC)
			break;
		field = put(field, offset + (uint64_t)(next - start),
			    load64(next + 2) & tandem_mask(length), NTRACE_TANDEM_STATE, id, 0,
			    2 + length);
		next += 2 + length;
	}
	if (*next == NTRACE_TANDEM_END) {
		field = put(field, offset + (uint64_t)(next - start), 0, NTRACE_TANDEM_END, 0,
			    group_flags(open), 1);
		open = 0;
		next++;
	}
	reader->request = NTRACE_TANDEM_OPS;
	reader->open = open;
	reader->offset = offset + (uint64_t)(next - start);
	*at = next;
	return field;
}

/*
 * Parses fields that lie in the chunk with all bytes that parse() may read, up to the first that is
 * wrong. Return: the next free field, @last if there is no room for two
 */
static struct ntrace_tandem_field *read_chunk(struct ntrace_tandem_reader *reader,
					      struct ntrace_tandem_field *field,
					      const struct ntrace_tandem_field *last)
{
	const uint8_t *next = reader->next, *end = reader->end;

	if (reader->held)
		return field;
	while (end - next >= PADDED && field < last) {
		int length;

		if (*next == NTRACE_TANDEM_BEGIN && !reader->open && end - next >= GROUP_BYTES &&
		    last - field >= GROUP_FIELDS) {
			field = read_group(reader, &next, field);
			continue;
		}
		length = parse(reader, next, field);

		if (length < 0)
			break;
		next += length;
		field += take(reader, field, (unsigned int)length);
	}
	reader->next = next;
	return field;
}

int ntrace_tandem_read(struct ntrace_tandem_reader *reader, struct ntrace_tandem_field *fields,
		       size_t room)
{
	struct ntrace_tandem_field *field = fields;
	int count = 0;

	if (room < 2)
		return NTRACE_ERR_INVALID;
	if (room > INT32_MAX)
		room = INT32_MAX;
	if (reader->params_flags & FAILED)
		return NTRACE_ERR_FORMAT;
	do {
		field = read_chunk(reader, field, fields + room - 1);
		if (field >= fields + room - 1)
			break;
		/* Near the end of the chunk, or the field is wrong. */
		count = read_held(reader, field);
		if (count > 0)
			field += count;
	} while (count > 0 && field < fields + room - 1);
	if (count >= 0 || field == fields)
		return count < 0 ? count : (int)(field - fields);
	/* Deliver what is before the error; the next call finds it again. */
	reader->params_flags &= ~(unsigned int)FAILED;
	return (int)(field - fields);
}
