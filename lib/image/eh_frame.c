// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Function ranges of stripped code from .eh_frame (LSB core specification,
 * "Exception Frames"): each frame description entry covers one function or
 * part of one.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "object.h"

/* Pointer encodings, DW_EH_PE_... */
#define ENCODING_FORMAT 0x0f
#define ENCODING_APPLICATION 0x70
#define ENCODING_PC_RELATIVE 0x10
#define ENCODING_INDIRECT 0x80

struct eh_cursor {
	const uint8_t *bytes;
	size_t size;
	uint64_t address;
};

static bool skip(struct eh_cursor *cursor, size_t size)
{
	if (size > cursor->size)
		return false;
	cursor->bytes += size;
	cursor->size -= size;
	cursor->address += size;
	return true;
}

static bool skip_leb(struct eh_cursor *cursor)
{
	while (cursor->size) {
		uint8_t byte = cursor->bytes[0];

		skip(cursor, 1);
		if (!(byte & 0x80))
			return true;
	}
	return false;
}

/* Signed values have less than 8 bytes. */
static bool take(struct eh_cursor *cursor, size_t size, bool is_signed, uint64_t *value)
{
	*value = 0;
	if (size > cursor->size)
		return false;
	memcpy(value, cursor->bytes, size); /* RISC-V and all supported hosts are little endian. */
	if (is_signed && *value >> (8 * size - 1))
		*value |= UINT64_MAX << (8 * size);
	return skip(cursor, size);
}

/* Reads a pointer in an encoding; @relative: also apply the "relative to" part. */
static bool take_encoded(struct eh_cursor *cursor, uint8_t encoding, unsigned int xlen,
			 bool relative, uint64_t *value)
{
	uint64_t here = cursor->address;
	bool ok;

	switch (encoding & ENCODING_FORMAT) {
	case 0x0:
		ok = take(cursor, xlen / 8, false, value);
		break;
	case 0x2:
	case 0xa:
		ok = take(cursor, 2, encoding & 8, value);
		break;
	case 0x3:
	case 0xb:
		ok = take(cursor, 4, encoding & 8, value);
		break;
	case 0x4:
	case 0xc:
		ok = take(cursor, 8, false, value);
		break;
	default:
		return false;
	}
	if (!ok || !relative)
		return ok;
	if (encoding & ENCODING_INDIRECT)
		return false;
	if ((encoding & ENCODING_APPLICATION) == ENCODING_PC_RELATIVE)
		*value += here;
	else if (encoding & ENCODING_APPLICATION)
		return false;
	if (xlen == 32)
		*value = (uint32_t)*value;
	return true;
}

/*
 * Pointer encoding that a CIE defines for its FDEs; false if it is unknown. The cursor is after the
 * CIE id.
 */
static bool cie_encoding(struct eh_cursor cursor, unsigned int xlen, uint8_t *encoding)
{
	const char *augmentation;
	const uint8_t *end;
	uint64_t version, personality;
	uint8_t kind;

	*encoding = 0;
	if (!take(&cursor, 1, false, &version) || (version != 1 && version != 3))
		return false;
	augmentation = (const char *)cursor.bytes;
	end = cursor.size ? memchr(cursor.bytes, 0, cursor.size) : NULL;
	if (!end || !skip(&cursor, (size_t)(end - cursor.bytes) + 1))
		return false;
	if (!skip_leb(&cursor)) /* code alignment */
		return false;
	if (!skip_leb(&cursor)) /* data alignment */
		return false;
	if (version == 1 ? !skip(&cursor, 1) : !skip_leb(&cursor)) /* return address register */
		return false;
	if (augmentation[0] != 'z')
		return !augmentation[0];
	if (!skip_leb(&cursor))
		return false;
	for (augmentation++; *augmentation; augmentation++) {
		switch (*augmentation) {
		case 'R':
			if (!cursor.size)
				return false;
			*encoding = cursor.bytes[0];
			return true;
		case 'P':
			if (!cursor.size)
				return false;
			kind = cursor.bytes[0];
			skip(&cursor, 1);
			if (!take_encoded(&cursor, kind, xlen, false, &personality))
				return false;
			break;
		case 'L':
			if (!skip(&cursor, 1))
				return false;
			break;
		case 'S':
		case 'B':
			break;
		default:
			return false;
		}
	}
	return true;
}

static int add_range(struct ntrace_object *object, uint64_t start, uint64_t size)
{
	char name[32];

	snprintf(name, sizeof(name), "sub_%" PRIx64, start);
	return symbol_table_add_copy(&object->symbols, name, start, size, SYMBOL_RANK_RANGE);
}

int object_add_eh_frame(struct ntrace_object *object, const uint8_t *bytes, size_t size,
			uint64_t address, unsigned int xlen)
{
	const struct eh_cursor section = { bytes, size, address };
	struct eh_cursor rest = section;

	for (;;) {
		struct eh_cursor entry, cie;
		uint64_t length, id, start, range;
		uint8_t encoding;
		size_t id_at;
		int error;

		/* 0 ends the section; 0xffffffff (64-bit lengths) does not occur in practice. */
		if (!take(&rest, 4, false, &length) || !length || length > rest.size)
			return 0;
		entry = rest;
		entry.size = length;
		skip(&rest, length);
		id_at = (size_t)(entry.bytes - section.bytes);
		if (!take(&entry, 4, false, &id) || !id || id > id_at)
			continue;
		/* An FDE contains the distance back to its CIE, which begins with its length. */
		cie = section;
		skip(&cie, id_at - id);
		if (!take(&cie, 4, false, &length) || length > cie.size)
			continue;
		cie.size = length;
		if (!take(&cie, 4, false, &id) || id || !cie_encoding(cie, xlen, &encoding))
			continue;
		if (!take_encoded(&entry, encoding, xlen, true, &start) ||
		    !take_encoded(&entry, encoding, xlen, false, &range) || !range)
			continue;
		error = add_range(object, start, range);
		if (error)
			return error;
	}
}
