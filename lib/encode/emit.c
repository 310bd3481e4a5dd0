// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Bytes of the encoder's messages (N-Trace 1.0, "message framing": MDO in bits 7:2, MSEO in bits
 * 1:0). DirectBranch, IndirectBranch[Hist] and ResourceFull have code of their own, because an
 * encoder in place of hardware sends 10^8 of them; a test compares the bytes with
 * ntrace_message_write().
 */
#include <string.h>

#include "emit.h"
#include "history.h"

#define MSEO_FIELD_END 0x1
#define MSEO_MESSAGE_END 0x3

static unsigned int bit_length(uint64_t value)
{
	return value ? 64 - (unsigned int)__builtin_clzll(value) : 0;
}

/*
 * Writes the low @bits bits of @value, at least one byte, and ends the field. Return: start of the
 * next field.
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
 * Writes the fixed fields and the first variable field, which starts in the rest of their last
 * byte; a zero needs a byte of its own only if that byte is full.
 */
static uint8_t *put_start(uint8_t *out, uint64_t fixed, unsigned int fixed_bits, uint64_t value)
{
	unsigned int bits = fixed_bits + bit_length(value);

	if (bits == fixed_bits && fixed_bits % 6 == 0)
		bits++;
	return put_field(out, fixed | value << fixed_bits, bits);
}

/*
 * Writes an address field: with address extension, the fewest groups of six bits whose top bit can
 * be copied upwards.
 */
static uint8_t *put_address(const struct ntrace_encoder *encoder, uint8_t *out, uint64_t address)
{
	uint64_t field = (address & encoder->sent_mask) >> 1;
	unsigned int width = bit_length(encoder->sent_mask) - 1;
	uint64_t lead;

	if (!encoder->params.extend_address)
		return put_variable(out, field);
	assert(width > 0 && width < 64);
	/* Bits that differ from the field's top bit, and one more that equals it. */
	lead = field >> (width - 1) & 1 ? ~field & (encoder->sent_mask >> 1) : field;
	return put_field(out, field, (bit_length(lead) + 6) / 6 * 6);
}

bool emit_room(const struct ntrace_encoder *encoder, size_t size)
{
	return !(encoder->options & OPTION_FIFO) ||
	       encoder->fifo_level + ((uint64_t)size << 16) <= (uint64_t)encoder->config.fifo_bytes
								       << 16;
}

void emit_drain(struct ntrace_encoder *encoder, uint64_t cycles)
{
	uint64_t drain = encoder->config.fifo_drain;

	if (!(encoder->options & OPTION_FIFO))
		return;
	/* In this order no operation overflows. */
	if (cycles > encoder->fifo_level / drain)
		encoder->fifo_level = 0;
	else
		encoder->fifo_level -= cycles * drain;
}

/*
 * Whether the queue takes a message. If the hart stalls or has stopped, the message waits for room.
 * Otherwise the message is lost, and so are all that follow until the encoder notices the loss,
 * because a partial set of a block's messages would be worse than none.
 */
static bool enters_queue(struct ntrace_encoder *encoder, size_t size)
{
	uint64_t drain = encoder->config.fifo_drain;

	if (!encoder->flushing && (encoder->attention & ATTENTION_FULL)) {
		encoder->dropped++;
		return false;
	}
	if (!emit_room(encoder, size)) {
		uint64_t excess = encoder->fifo_level + ((uint64_t)size << 16) -
				  ((uint64_t)encoder->config.fifo_bytes << 16);
		uint64_t cycles = (excess + drain - 1) / drain;

		if (!encoder->config.stall && !encoder->flushing) {
			encoder->attention |= ATTENTION_FULL;
			if (!encoder->lost)
				encoder->time_lost = encoder->time;
			encoder->dropped++;
			return false;
		}
		if (!encoder->flushing)
			encoder->stall_cycles += cycles;
		ntrace_encoder_cycles(encoder, cycles);
	}
	encoder->fifo_level += (uint64_t)size << 16;
	return true;
}

static inline void pass_on(struct ntrace_encoder *encoder, const uint8_t *data, size_t size)
{
	encoder->messages++;
	encoder->bytes += size;
	if (encoder->config.sync_mode == 1 && ++encoder->since_sync >= encoder->interval &&
	    encoder->synced)
		encoder->attention |= ATTENTION_PERIODIC;
	encoder->config.write(encoder->config.write_data, data, size);
}

/* Removes the byte of a first variable field that is 0 and has that byte alone. Return: new size. */
static size_t drop_empty_field(const struct ntrace_encoder *encoder, uint8_t *data, size_t size)
{
	static const uint64_t none[NTRACE_FIELD_COUNT];
	struct ntrace_layout_field layout[NTRACE_LAYOUT_MAX];
	int count = ntrace_message_layout(data[0] >> 2, none, &encoder->params, layout);
	unsigned int bits = 6, at;

	for (int i = 0; i < count; i++)
		bits += layout[i].bits;
	at = bits / 6;
	/* The byte of TCODE cannot end a field. */
	if (bits % 6 || at < 2 || data[at] >> 2 || !(data[at] & MSEO_MESSAGE_END))
		return size;
	data[at - 1] |= data[at];
	memmove(data + at, data + at + 1, size - at - 1);
	return size - 1;
}

/* Return: whether the message was written. */
static bool finish(struct ntrace_encoder *encoder, uint8_t *data, size_t size)
{
	if (encoder->options & OPTION_EMPTY_FIELDS)
		size = drop_empty_field(encoder, data, size);
	if ((encoder->options & OPTION_FIFO) && !enters_queue(encoder, size))
		return false;
	pass_on(encoder, data, size);
	return true;
}

/* TSTAMP of a message without SYNC. */
static uint64_t time_delta(const struct ntrace_encoder *encoder)
{
	switch (encoder->params.timestamp_delta) {
	case NTRACE_TIME_DELTA_XOR:
		return encoder->time ^ encoder->time_sent;
	case NTRACE_TIME_DELTA_ABSOLUTE:
		return encoder->time;
	default:
		break;
	}
	return (encoder->time - encoder->time_sent) & encoder->time_mask;
}

static void finish_slowly(struct ntrace_encoder *encoder, uint8_t *data, uint8_t *end,
			  enum ntrace_timestamps kind)
{
	bool timed = (encoder->options & OPTION_TIMESTAMPS) && encoder->config.timestamps >= kind;

	if (timed)
		end = put_variable(end, time_delta(encoder));
	end[-1] |= MSEO_MESSAGE_END;
	if (finish(encoder, data, (size_t)(end - data)) && timed)
		encoder->time_sent = encoder->time;
}

static inline void finish_fields(struct ntrace_encoder *encoder, uint8_t *data, uint8_t *end,
				 enum ntrace_timestamps kind)
{
	if (encoder->options & (OPTION_FIFO | OPTION_TIMESTAMPS | OPTION_EMPTY_FIELDS)) {
		finish_slowly(encoder, data, end, kind);
		return;
	}
	end[-1] |= MSEO_MESSAGE_END;
	/* cppcheck-suppress uninitvar ; written up to end */
	pass_on(encoder, data, (size_t)(end - data));
}

/* Sends RepeatBranch for the branch messages that were held back. */
static void end_repeat(struct ntrace_encoder *encoder)
{
	uint32_t count = encoder->branch.count;
	uint8_t data[NTRACE_MESSAGE_BYTES_MAX];

	encoder->branch.tcode = 0;
	encoder->branch.count = 0;
	if (count)
		finish_fields(encoder, data,
			      put_start(data, NTRACE_TCODE_REPEAT_BRANCH | encoder->src,
					encoder->fixed_bits, count),
			      NTRACE_TIMESTAMPS_ALL);
}

/*
 * Whether a branch message only repeats the previous one: the same branch, or with repeat_message the
 * same fields. Only adjacent messages pair up, so any other message ends a repetition.
 */
static bool repeats(struct ntrace_encoder *encoder, unsigned int tcode, unsigned int btype,
		    uint64_t target)
{
	uint32_t max = (1u << encoder->config.bcnt_bits) - 1;
	uint32_t hist = tcode == NTRACE_TCODE_INDIRECT_BRANCH_HIST ? encoder->hist : 1;

	if (encoder->params.repeat_message && tcode != NTRACE_TCODE_DIRECT_BRANCH)
		target ^= encoder->reference;
	if (encoder->branch.tcode == tcode && encoder->branch.btype == btype &&
	    encoder->branch.icnt == encoder->icnt && encoder->branch.target == target &&
	    encoder->branch.hist == hist) {
		if (++encoder->branch.count == max)
			end_repeat(encoder);
		return true;
	}
	end_repeat(encoder);
	encoder->branch.tcode = (uint8_t)tcode;
	encoder->branch.btype = (uint8_t)btype;
	encoder->branch.icnt = encoder->icnt;
	encoder->branch.target = target;
	encoder->branch.hist = hist;
	return false;
}

void emit_direct_branch(struct ntrace_encoder *encoder)
{
	uint8_t data[NTRACE_MESSAGE_BYTES_MAX];
	uint8_t *end;

	if ((encoder->options & OPTION_REPEAT_BRANCH) &&
	    repeats(encoder, NTRACE_TCODE_DIRECT_BRANCH, 0, 0))
		return;
	end = put_start(data, NTRACE_TCODE_DIRECT_BRANCH | encoder->src, encoder->fixed_bits,
			encoder->icnt);
	finish_fields(encoder, data, end, NTRACE_TIMESTAMPS_BRANCH);
}

void emit_indirect_branch(struct ntrace_encoder *encoder, unsigned int btype, uint64_t address)
{
	uint8_t data[NTRACE_MESSAGE_BYTES_MAX];
	bool with_history;
	unsigned int tcode;
	uint8_t *end;

	if (encoder->options & OPTION_REPEATED_HISTORY)
		history_drain(encoder);
	with_history = encoder->history && (encoder->hist != 1 || encoder->config.empty_history);
	tcode = with_history ? NTRACE_TCODE_INDIRECT_BRANCH_HIST : NTRACE_TCODE_INDIRECT_BRANCH;
	if ((encoder->options & OPTION_REPEAT_BRANCH) && repeats(encoder, tcode, btype, address))
		return;
	end = put_start(data, tcode | encoder->src | (uint64_t)btype << encoder->fixed_bits,
			encoder->fixed_bits + 2, encoder->icnt);
	end = put_address(encoder, end, address ^ encoder->reference);
	if (with_history)
		end = put_variable(end, encoder->hist);
	finish_fields(encoder, data, end, NTRACE_TIMESTAMPS_BRANCH);
}

static void resource_full(struct ntrace_encoder *encoder, enum ntrace_rcode rcode, uint64_t value,
			  uint64_t repeat)
{
	uint8_t data[NTRACE_MESSAGE_BYTES_MAX];
	uint8_t *end;

	if (encoder->options & OPTION_REPEAT_BRANCH)
		end_repeat(encoder);
	end = put_start(data,
			NTRACE_TCODE_RESOURCE_FULL | encoder->src |
				(uint64_t)rcode << encoder->fixed_bits,
			encoder->fixed_bits + 4, value);
	if (rcode == NTRACE_RCODE_HIST_REPEAT)
		end = put_variable(end, repeat);
	finish_fields(encoder, data, end, NTRACE_TIMESTAMPS_ALL);
}

void emit_resource_full(struct ntrace_encoder *encoder, enum ntrace_rcode rcode, uint64_t value)
{
	/* A decoder that walks each message at once needs the branches of these parcels first. */
	if (encoder->options & OPTION_REPEATED_HISTORY)
		history_drain(encoder);
	resource_full(encoder, rcode, value, 0);
}

void emit_history(struct ntrace_encoder *encoder)
{
	if (encoder->options & OPTION_REPEATED_HISTORY)
		history_push(encoder);
	else
		resource_full(encoder, NTRACE_RCODE_HIST, encoder->hist, 0);
	encoder->hist = 1;
}

void emit_history_bits(struct ntrace_encoder *encoder, uint64_t hist, uint64_t repeat)
{
	resource_full(encoder, repeat ? NTRACE_RCODE_HIST_REPEAT : NTRACE_RCODE_HIST, hist, repeat);
}

static void set_field(struct ntrace_message *message, enum ntrace_field field, uint64_t value)
{
	message->present |= 1u << field;
	message->field[field] = value;
}

/* Return: whether the message was written. */
static bool emit_message(struct ntrace_encoder *encoder, struct ntrace_message *message)
{
	bool sync = ntrace_message_has(message, NTRACE_FIELD_SYNC);
	bool timed = encoder->config.timestamps >=
		     (sync ? NTRACE_TIMESTAMPS_SYNC : NTRACE_TIMESTAMPS_ALL);
	uint8_t data[NTRACE_MESSAGE_BYTES_MAX];
	int size;

	if (encoder->options & OPTION_REPEAT_BRANCH)
		end_repeat(encoder);
	if (encoder->params.src_bits)
		set_field(message, NTRACE_FIELD_SRC, encoder->config.src);
	if (timed)
		set_field(message, NTRACE_FIELD_TSTAMP, sync ? encoder->time : time_delta(encoder));
	size = ntrace_message_write(message, &encoder->params, data);
	assert(size > 0);
	if (size <= 0 || !finish(encoder, data, (size_t)size))
		return false;
	if (timed)
		encoder->time_sent = encoder->time;
	return true;
}

void emit_sync(struct ntrace_encoder *encoder, enum ntrace_tcode tcode, enum ntrace_sync sync,
	       unsigned int btype, uint64_t icnt, uint64_t address)
{
	struct ntrace_message message = { .tcode = (uint8_t)tcode };

	set_field(&message, NTRACE_FIELD_SYNC, sync);
	set_field(&message, NTRACE_FIELD_ICNT, icnt);
	set_field(&message, NTRACE_FIELD_FADDR, (address & encoder->sent_mask) >> 1);
	if (tcode != NTRACE_TCODE_PROG_TRACE_SYNC && tcode != NTRACE_TCODE_DIRECT_BRANCH_SYNC)
		set_field(&message, NTRACE_FIELD_BTYPE, btype);
	if (tcode == NTRACE_TCODE_INDIRECT_BRANCH_HIST_SYNC)
		set_field(&message, NTRACE_FIELD_HIST, encoder->hist);
	emit_message(encoder, &message);
}

void emit_correlation(struct ntrace_encoder *encoder, enum ntrace_evcode evcode)
{
	struct ntrace_message message = { .tcode = NTRACE_TCODE_PROG_TRACE_CORRELATION };

	history_drain(encoder);
	set_field(&message, NTRACE_FIELD_EVCODE, evcode);
	set_field(&message, NTRACE_FIELD_CDF, encoder->history);
	set_field(&message, NTRACE_FIELD_ICNT, encoder->icnt);
	if (encoder->history)
		set_field(&message, NTRACE_FIELD_HIST, encoder->hist);
	emit_message(encoder, &message);
}

/*
 * ECODE: bit 2 program trace lost, bit 3 ownership lost, 0 unspecified. The time is that of the loss:
 * the next sync has the time of the recovery.
 */
void emit_error(struct ntrace_encoder *encoder)
{
	struct ntrace_message message = { .tcode = NTRACE_TCODE_ERROR };
	uint64_t now = encoder->time;

	set_field(&message, NTRACE_FIELD_ETYPE, 0);
	set_field(&message, NTRACE_FIELD_ECODE,
		  encoder->config.unspecified_errors ?
			  0 :
			  1u << 2 | (unsigned int)encoder->ownership_lost << 3);
	encoder->ownership_lost = false;
	encoder->time = encoder->time_lost;
	emit_message(encoder, &message);
	encoder->time = now;
}

void emit_ownership(struct ntrace_encoder *encoder, uint64_t process)
{
	struct ntrace_message message = { .tcode = NTRACE_TCODE_OWNERSHIP };

	history_drain(encoder);
	set_field(&message, NTRACE_FIELD_PROCESS, process);
	if (!emit_message(encoder, &message))
		encoder->ownership_lost = true;
}
