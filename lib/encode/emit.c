// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Bytes of the encoder's messages (digest section 1: MDO in bits 7:2, MSEO in
 * bits 1:0). DirectBranch, IndirectBranch[Hist] and ResourceFull are written by
 * hand, because an encoder that stands in for hardware sends 10^8 of them; a
 * test holds them against ntrace_message_write().
 */
#include "emit.h"

#define MSEO_FIELD_END 0x1
#define MSEO_MESSAGE_END 0x3

static unsigned int bit_length(uint64_t value)
{
	return value ? 64 - (unsigned int)__builtin_clzll(value) : 0;
}

/*
 * Write the low @bits bits of @value, at least one byte, and close the field.
 * Return: where the next field starts.
 */
static uint8_t *put_field(uint8_t *out, uint64_t value, unsigned int bits)
{
	while (bits > 6) {
		*out++ = (value & 0x3f) << 2;
		value >>= 6;
		bits -= 6;
	}
	*out++ = (value & 0x3f) << 2 | MSEO_FIELD_END;
	return out;
}

static uint8_t *put_variable(uint8_t *out, uint64_t value)
{
	return put_field(out, value, bit_length(value));
}

/*
 * Fixed fields and the first variable one, which starts in the rest of their
 * last byte; a zero needs a byte of its own only if there is no rest.
 */
static uint8_t *put_start(uint8_t *out, uint64_t fixed, unsigned int fixed_bits, uint64_t value)
{
	unsigned int bits = fixed_bits + bit_length(value);

	if (bits == fixed_bits && fixed_bits % 6 == 0)
		bits++;
	return put_field(out, fixed | value << fixed_bits, bits);
}

/*
 * An address field: with address extension as few groups of six bits as let
 * their top bit be copied upwards.
 */
static uint8_t *put_address(const struct ntrace_encoder *encoder, uint8_t *out, uint64_t address)
{
	uint64_t field = (address & encoder->address_mask) >> 1;
	unsigned int width = encoder->config.params.xlen - 1;
	uint64_t lead;

	if (!encoder->config.params.extend_address)
		return put_variable(out, field);
	/* Bits that differ from the top bit of the field, and one more that equals it. */
	lead = field >> (width - 1) & 1 ? ~field & (encoder->address_mask >> 1) : field;
	return put_field(out, field, (bit_length(lead) + 6) / 6 * 6);
}

static void finish(struct ntrace_encoder *encoder, const uint8_t *data, size_t size)
{
	encoder->messages++;
	encoder->bytes += size;
	if (encoder->config.sync_mode == 1)
		encoder->since_sync++;
	encoder->config.write(encoder->config.write_data, data, size);
}

static void finish_fields(struct ntrace_encoder *encoder, uint8_t *data, uint8_t *end)
{
	end[-1] |= MSEO_MESSAGE_END;
	finish(encoder, data, (size_t)(end - data));
}

void emit_direct_branch(struct ntrace_encoder *encoder)
{
	uint8_t data[NTRACE_MESSAGE_BYTES_MAX];
	uint8_t *end = put_start(data, NTRACE_TCODE_DIRECT_BRANCH | encoder->src,
				 encoder->fixed_bits, encoder->icnt);

	finish_fields(encoder, data, end);
}

void emit_indirect_branch(struct ntrace_encoder *encoder, unsigned int btype, uint64_t address)
{
	bool with_history = encoder->history && encoder->hist != 1;
	unsigned int tcode = with_history ? NTRACE_TCODE_INDIRECT_BRANCH_HIST :
					    NTRACE_TCODE_INDIRECT_BRANCH;
	uint8_t data[NTRACE_MESSAGE_BYTES_MAX];
	uint8_t *end;

	end = put_start(data, tcode | encoder->src | (uint64_t)btype << encoder->fixed_bits,
			encoder->fixed_bits + 2, encoder->icnt);
	end = put_address(encoder, end, address ^ encoder->reference);
	if (with_history)
		end = put_variable(end, encoder->hist);
	finish_fields(encoder, data, end);
}

void emit_resource_full(struct ntrace_encoder *encoder, enum ntrace_rcode rcode, uint64_t value)
{
	uint8_t data[NTRACE_MESSAGE_BYTES_MAX];
	uint8_t *end;

	end = put_start(data,
			NTRACE_TCODE_RESOURCE_FULL | encoder->src |
				(uint64_t)rcode << encoder->fixed_bits,
			encoder->fixed_bits + 4, value);
	finish_fields(encoder, data, end);
}

static void set_field(struct ntrace_message *message, enum ntrace_field field, uint64_t value)
{
	message->present |= 1u << field;
	message->field[field] = value;
}

static void emit_message(struct ntrace_encoder *encoder, struct ntrace_message *message)
{
	uint8_t data[NTRACE_MESSAGE_BYTES_MAX];
	int size;

	if (encoder->config.params.src_bits)
		set_field(message, NTRACE_FIELD_SRC, encoder->config.src);
	size = ntrace_message_write(message, &encoder->config.params, data);
	assert(size > 0);
	if (size > 0)
		finish(encoder, data, (size_t)size);
}

void emit_sync(struct ntrace_encoder *encoder, enum ntrace_tcode tcode, enum ntrace_sync sync,
	       unsigned int btype, uint64_t icnt, uint64_t address)
{
	struct ntrace_message message = { .tcode = tcode };

	set_field(&message, NTRACE_FIELD_SYNC, sync);
	set_field(&message, NTRACE_FIELD_ICNT, icnt);
	set_field(&message, NTRACE_FIELD_FADDR, address >> 1);
	if (tcode != NTRACE_TCODE_PROG_TRACE_SYNC)
		set_field(&message, NTRACE_FIELD_BTYPE, btype);
	if (tcode == NTRACE_TCODE_INDIRECT_BRANCH_HIST_SYNC)
		set_field(&message, NTRACE_FIELD_HIST, encoder->hist);
	emit_message(encoder, &message);
}

void emit_correlation(struct ntrace_encoder *encoder, enum ntrace_evcode evcode)
{
	struct ntrace_message message = { .tcode = NTRACE_TCODE_PROG_TRACE_CORRELATION };

	set_field(&message, NTRACE_FIELD_EVCODE, evcode);
	set_field(&message, NTRACE_FIELD_CDF, encoder->history);
	set_field(&message, NTRACE_FIELD_ICNT, encoder->icnt);
	if (encoder->history)
		set_field(&message, NTRACE_FIELD_HIST, encoder->hist);
	emit_message(encoder, &message);
}

void emit_error(struct ntrace_encoder *encoder)
{
	struct ntrace_message message = { .tcode = NTRACE_TCODE_ERROR };

	set_field(&message, NTRACE_FIELD_ETYPE, 0);
	set_field(&message, NTRACE_FIELD_ECODE, 1 << 2);
	emit_message(encoder, &message);
}
