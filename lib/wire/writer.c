// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Writes messages as bytes (N-Trace 1.0, "message framing") by the message table. */
#include <string.h>

#include "table.h"

/* Bytes of an address of 63 bits. */
#define ADDRESS_BYTES_MAX 11

/* Output under construction: the bytes so far, and the MDO bits of the next byte. */
struct output {
	uint8_t *data;
	unsigned int size;
	unsigned int mdo;
	unsigned int bits;	/* number of bits in mdo, 0..5 */
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

/* Pads the current byte and marks it as the end of a field; the field has at least one bit. */
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

/* @bytes: number of bytes that hold bits of the field, 0: the fewest */
static int put_variable(struct output *out, uint64_t value, unsigned int bytes)
{
	unsigned int bits = significant_bits(value), width;

	if (!bytes) {
		/* Zero fits in the rest of a byte; a full byte needs another one. */
		put_bits(out, value, bits ? bits : 1);
		end_field(out);
		return NTRACE_OK;
	}
	width = 6 * bytes - out->bits;
	if (bits > width || out->size + bytes > NTRACE_MESSAGE_BYTES_MAX)
		return NTRACE_ERR_INVALID;
	for (; width > 64; width -= 64, value = 0)
		put_bits(out, value, 64);
	put_bits(out, value, width);
	end_field(out);
	return NTRACE_OK;
}

static unsigned int address_width(const struct ntrace_params *params)
{
	unsigned int width = params->xlen - 1;

	return params->address_bits && params->address_bits < width ? params->address_bits : width;
}

/* Bits above addrbits are not sent: they must all be 0, or all equal the sign bit. */
static bool narrow_address(uint64_t *value, const struct ntrace_params *params)
{
	unsigned int width = address_width(params);
	uint64_t top = *value >> (width - 1);

	*value &= (UINT64_C(1) << width) - 1;
	return top <= 1 || top == (UINT64_C(1) << (params->xlen - width)) - 1;
}

/*
 * Number of bytes for an address. With trTeInstExtendAddrMSB, upper bits that equal the top bit of
 * the last byte may be left out (N-Trace 1.0, "addresses").
 */
static unsigned int address_bytes(uint64_t value, const struct ntrace_params *params)
{
	unsigned int width = address_width(params);
	unsigned int bytes = 1;

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

/* Uses a size from the caller or from the reader's message, or else the fewest bytes. */
static int put_address(struct output *out, const struct ntrace_params *params, uint64_t value,
		       unsigned int bytes)
{
	if (!bytes) {
		if (params->xlen == 32)
			value &= 0x7fffffff;
		if (!narrow_address(&value, params))
			return NTRACE_ERR_INVALID;
		bytes = address_bytes(value, params);
		/* The omitted bits equal the top bit that is sent. */
		value &= ~UINT64_C(0) >> (bytes * 6 < 64 ? 64 - bytes * 6 : 0);
	}
	return put_variable(out, value, bytes);
}

static int put_fixed(struct output *out, const struct ntrace_message *message, unsigned int field,
		     unsigned int bits)
{
	if (!ntrace_message_has(message, field) || significant_bits(message->field[field]) > bits)
		return NTRACE_ERR_INVALID;
	put_bits(out, message->field[field], bits);
	return NTRACE_OK;
}

static int put_field(struct output *out, const struct ntrace_message *message,
		     const struct ntrace_params *params, unsigned int field, const uint8_t *sizes)
{
	bool address = field == NTRACE_FIELD_FADDR || field == NTRACE_FIELD_UADDR;
	unsigned int bytes = sizes ? sizes[field] : 0;

	if (!ntrace_message_has(message, field))
		return NTRACE_ERR_INVALID;
	if (!address)
		return put_variable(out, message->field[field], bytes);
	if (!sizes)
		bytes = message->address_bytes;
	if (!sizes && bytes > ADDRESS_BYTES_MAX)
		return NTRACE_ERR_INVALID;
	return put_address(out, params, message->field[field], bytes);
}

/* Only variable fields of the message may have a size. */
static bool sizes_fit(const struct ntrace_layout_field *layout, int count,
		      const struct ntrace_message *message, const uint8_t *sizes)
{
	uint32_t variable = message->present & 1u << NTRACE_FIELD_TSTAMP;

	for (int i = 0; i < count; i++)
		if (!layout[i].bits)
			variable |= 1u << layout[i].field;
	for (unsigned int i = 0; i < NTRACE_FIELD_COUNT; i++)
		if (sizes[i] && !(variable >> i & 1))
			return false;
	return true;
}

static int write_message(const struct ntrace_message *message, const struct ntrace_params *params,
			 const uint8_t *sizes, uint8_t *data)
{
	struct ntrace_layout_field layout[NTRACE_LAYOUT_MAX];
	struct output out = { .data = data };
	int count, error = NTRACE_OK;

	count = ntrace_message_layout(message->tcode, message->field, params, layout);
	if (count < 0 || (sizes && !sizes_fit(layout, count, message, sizes)))
		return NTRACE_ERR_INVALID;
	put_bits(&out, message->tcode, 6);
	for (int i = 0; !error && i < count; i++)
		error = layout[i].bits ? put_fixed(&out, message, layout[i].field, layout[i].bits) :
					 put_field(&out, message, params, layout[i].field, sizes);
	if (!error && ntrace_message_has(message, NTRACE_FIELD_TSTAMP))
		error = put_field(&out, message, params, NTRACE_FIELD_TSTAMP, sizes);
	if (error)
		return error;
	data[out.size - 1] |= 3;
	return (int)out.size;
}

int ntrace_message_write(const struct ntrace_message *message, const struct ntrace_params *params,
			 uint8_t *data)
{
	return write_message(message, params, NULL, data);
}

int ntrace_message_write_sized(const struct ntrace_message *message,
			       const struct ntrace_params *params, const uint8_t *sizes,
			       uint8_t *data)
{
	return sizes ? write_message(message, params, sizes, data) : NTRACE_ERR_INVALID;
}
