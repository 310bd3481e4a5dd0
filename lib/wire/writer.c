// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Messages to bytes (digest section 1), by the message table. */
#include <string.h>

#include "table.h"

/* Output in progress: the bytes so far, and the MDO bits of the next one. */
struct output {
	uint8_t *data;
	unsigned int size;
	unsigned int mdo;
	unsigned int bits;	/* used in mdo, 0..5 */
};

static void put_bits(struct output *out, uint64_t value, unsigned int bits)
{
	while (bits) {
		unsigned int room = 6 - out->bits;
		unsigned int n = bits < room ? bits : room;

		out->mdo |= (unsigned int)(value & ((1u << n) - 1)) << out->bits;
		out->bits += n;
		value >>= n;
		bits -= n;
		if (out->bits == 6) {
			out->data[out->size++] = (uint8_t)(out->mdo << 2);
			out->mdo = 0;
			out->bits = 0;
		}
	}
}

/* Pads the byte in progress and marks it as the end of a field; at least one bit was put. */
static void end_field(struct output *out)
{
	if (out->bits)
		put_bits(out, 0, 6 - out->bits);
	out->data[out->size - 1] |= 1;
}

static unsigned int significant_bits(uint64_t value)
{
	return value ? 64 - (unsigned int)__builtin_clzll(value) : 0;
}

static void put_variable(struct output *out, uint64_t value)
{
	unsigned int bits = significant_bits(value);

	/* Zero fits in the rest of a byte, but where there is none it needs a byte of its own. */
	put_bits(out, value, bits ? bits : 1);
	end_field(out);
}

/*
 * Bytes that an address needs. With trTeInstExtendAddrMSB upper bits may be
 * left out if they equal the top bit of the last byte (digest section 5).
 */
static unsigned int address_bytes(uint64_t value, const struct ntrace_params *params)
{
	unsigned int width = params->xlen - 1;
	unsigned int bytes = 1;

	if (params->address_bits && params->address_bits < width)
		width = params->address_bits;

	if (!params->extend_address) {
		unsigned int bits = significant_bits(value);

		return bits ? (bits + 5) / 6 : 1;
	}
	for (; bytes * 6 < width; bytes++) {
		uint64_t omitted = value >> (bytes * 6 - 1);

		if (!omitted || omitted == (UINT64_C(1) << (width - bytes * 6 + 1)) - 1)
			break;
	}
	return bytes;
}

static int put_address(struct output *out, const struct ntrace_message *message,
		       const struct ntrace_params *params, uint64_t value)
{
	unsigned int bytes = message->address_bytes;

	if (!bytes) {
		if (params->xlen == 32)
			value &= 0x7fffffff;
		bytes = address_bytes(value, params);
	} else if (bytes > 11 || significant_bits(value) > bytes * 6) {
		return NTRACE_ERR_INVALID;
	}
	/* Only a byte that was all there is can hold more than the 63 bits of an address. */
	put_bits(out, value, bytes * 6 < 64 ? bytes * 6 : 64);
	end_field(out);
	return NTRACE_OK;
}

static int put_fixed(struct output *out, const struct ntrace_message *message, unsigned int field,
		     unsigned int bits)
{
	if (!ntrace_message_has(message, field) || significant_bits(message->field[field]) > bits)
		return NTRACE_ERR_INVALID;
	put_bits(out, message->field[field], bits);
	return NTRACE_OK;
}

int ntrace_message_write(const struct ntrace_message *message, const struct ntrace_params *params,
			 uint8_t *data)
{
	const struct ntrace_wire_row *row;
	struct output out = { .data = data };

	if (message->tcode >= 64 || params->src_bits > NTRACE_SRC_BITS_MAX ||
	    !ntrace_wire_rows[message->tcode].name)
		return NTRACE_ERR_INVALID;
	row = &ntrace_wire_rows[message->tcode];
	put_bits(&out, message->tcode, 6);
	if (params->src_bits && put_fixed(&out, message, NTRACE_FIELD_SRC, params->src_bits))
		return NTRACE_ERR_INVALID;
	for (unsigned int i = 0; row->fixed[i].bits; i++) {
		if (put_fixed(&out, message, row->fixed[i].field, row->fixed[i].bits))
			return NTRACE_ERR_INVALID;
	}
	for (unsigned int i = 0; row->variable[i].field; i++) {
		unsigned int field = row->variable[i].field;

		if (!ntrace_wire_demands(row, i, message->field))
			continue;
		if (!ntrace_message_has(message, field))
			return NTRACE_ERR_INVALID;
		if (field != NTRACE_FIELD_FADDR && field != NTRACE_FIELD_UADDR)
			put_variable(&out, message->field[field]);
		else if (put_address(&out, message, params, message->field[field]))
			return NTRACE_ERR_INVALID;
	}
	if (ntrace_message_has(message, NTRACE_FIELD_TSTAMP))
		put_variable(&out, message->field[NTRACE_FIELD_TSTAMP]);
	data[out.size - 1] |= 3;
	return (int)out.size;
}
