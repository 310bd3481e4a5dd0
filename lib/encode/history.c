// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Repeated history: the encoder searches the queued bits for the period that encodes most of them
 * in the fewest bytes. A period that still holds at the end of the queue becomes a pattern with a
 * count and leaves the queue, so that a repetition of any length takes constant room.
 */
#include <string.h>

#include "emit.h"
#include "history.h"

/* Room for one more HIST register and for the rest of a pattern is always kept. */
#define QUEUE_HIGH (NTRACE_ENCODER_QUEUE_BITS - 96)

/*
 * One encoding of the oldest bits: the first @width bits @repeat times (1: ResourceFull RCODE 1).
 */
struct choice {
	uint32_t width;
	uint32_t repeat;
	bool open;	/* the period holds to the end of the queue */
};

void history_clear(struct ntrace_encoder *encoder)
{
	encoder->queue.width = 0;
	encoder->queue.queued = 0;
}

static uint32_t reverse(uint32_t bits, unsigned int width)
{
	uint32_t result = 0;

	for (unsigned int i = 0; i < width; i++)
		result |= (bits >> i & 1) << (width - 1 - i);
	return result;
}

/* 64 bits of the queue from bit @at on; bits after the last one are undefined. */
static uint64_t bits_at(const struct ntrace_encoder *encoder, uint32_t at)
{
	const uint64_t *word = &encoder->queue.bits[at / 64];

	return at % 64 ? word[0] >> at % 64 | word[1] << (64 - at % 64) : word[0];
}

static void append(struct ntrace_encoder *encoder, uint64_t bits, unsigned int width)
{
	uint32_t at = encoder->queue.queued;
	uint64_t *word = &encoder->queue.bits[at / 64];

	if (!width)
		return;
	bits &= UINT64_MAX >> (64 - width);
	word[0] = at % 64 ? (word[0] & ~(UINT64_MAX << at % 64)) | bits << at % 64 : bits;
	if (at % 64 && at % 64 + width > 64)
		word[1] = bits >> (64 - at % 64);
	encoder->queue.queued += width;
}

static void remove_oldest(struct ntrace_encoder *encoder, uint32_t count)
{
	uint32_t left = encoder->queue.queued - count;

	/* The read position is never before the write position. */
	for (uint32_t i = 0; i < left; i += 64)
		encoder->queue.bits[i / 64] = bits_at(encoder, i + count);
	encoder->queue.queued = left;
}

/* The oldest @width bits, at most 32, as HIST with its stop bit. */
static uint64_t oldest(const struct ntrace_encoder *encoder, unsigned int width)
{
	return UINT64_C(1) << width % 64 | reverse((uint32_t)bits_at(encoder, 0), width);
}

/* Number of the oldest bits that repeat with period @width. */
static uint32_t reach(const struct ntrace_encoder *encoder, uint32_t width)
{
	uint32_t end = encoder->queue.queued - width;

	for (uint32_t i = 0; i < end; i += 64) {
		uint64_t differ = bits_at(encoder, i) ^ bits_at(encoder, i + width);
		uint32_t same;

		if (!differ)
			continue;
		same = i + (uint32_t)__builtin_ctzll(differ);
		return (same < end ? same : end) + width;
	}
	return encoder->queue.queued;
}

static uint32_t field_bytes(unsigned int fixed, uint32_t value_bits)
{
	return (fixed + value_bits + 5) / 6;
}

static uint32_t most_repeats(const struct ntrace_encoder *encoder)
{
	return (1u << encoder->config.hrepeat_bits) - 1;
}

static struct choice choose(const struct ntrace_encoder *encoder)
{
	unsigned int fixed = encoder->fixed_bits + 4u;
	uint32_t hist_bits = encoder->config.hist_bits;
	struct choice best = { .width = hist_bits, .repeat = 1 };
	uint64_t best_bytes = field_bytes(fixed, hist_bits + 1);

	for (uint32_t width = 1; width <= hist_bits && 2 * width <= encoder->queue.queued;
	     width++) {
		uint32_t same = reach(encoder, width);
		uint32_t repeat = same / width;
		uint64_t bytes;

		if (repeat > most_repeats(encoder))
			repeat = most_repeats(encoder);
		if (repeat < 2)
			continue;
		bytes = field_bytes(fixed, width + 1) +
			field_bytes(0, 32 - (uint32_t)__builtin_clz(repeat));
		if ((uint64_t)repeat * width * best_bytes >
		    (uint64_t)best.repeat * best.width * bytes) {
			best = (struct choice){ width, repeat, same == encoder->queue.queued };
			best_bytes = bytes;
		}
	}
	return best;
}

static void send(struct ntrace_encoder *encoder, const struct choice *choice)
{
	emit_history_bits(encoder, oldest(encoder, choice->width),
			  choice->repeat > 1 ? choice->repeat : 0);
	remove_oldest(encoder, choice->width * choice->repeat);
}

/* Sends as many repetitions of the pattern as one message can encode. */
static void send_pattern(struct ntrace_encoder *encoder)
{
	unsigned int width = encoder->queue.width;
	uint32_t count = encoder->queue.count;

	if (count > most_repeats(encoder))
		count = most_repeats(encoder);
	emit_history_bits(encoder, UINT64_C(1) << width | reverse(encoder->queue.pattern, width),
			  count);
	encoder->queue.count -= count;
}

/* Makes a pattern of the bits that repeat to the end of the queue, which is empty then. */
static void begin_pattern(struct ntrace_encoder *encoder, uint32_t width)
{
	encoder->queue.pattern = (uint32_t)bits_at(encoder, 0) & ((UINT64_C(1) << width) - 1);
	encoder->queue.width = (uint8_t)width;
	encoder->queue.count = encoder->queue.queued / width;
	encoder->queue.position = (uint8_t)(encoder->queue.queued % width);
	encoder->queue.queued = 0;
	while (encoder->queue.count >= most_repeats(encoder))
		send_pattern(encoder);
}

/* Ends the pattern: sends the repetitions that are worth a message and queues the other bits. */
static void end_pattern(struct ntrace_encoder *encoder)
{
	unsigned int width = encoder->queue.width;

	if (!width)
		return;
	if (encoder->queue.count > 1 && encoder->queue.count * width >= encoder->config.hist_bits)
		send_pattern(encoder);
	while (encoder->queue.count--)
		append(encoder, encoder->queue.pattern, width);
	append(encoder, encoder->queue.pattern, encoder->queue.position);
	encoder->queue.width = 0;
}

/* Return: number of bits that continue the pattern; if fewer than @width, the pattern has ended. */
static unsigned int extend_pattern(struct ntrace_encoder *encoder, uint32_t bits,
				   unsigned int width)
{
	for (unsigned int i = 0; i < width; i++) {
		if ((encoder->queue.pattern >> encoder->queue.position & 1) != (bits >> i & 1)) {
			end_pattern(encoder);
			return i;
		}
		if (++encoder->queue.position < encoder->queue.width)
			continue;
		encoder->queue.position = 0;
		if (++encoder->queue.count == most_repeats(encoder))
			send_pattern(encoder);
	}
	return width;
}

/* Queues the bits of HIST, the oldest lowest. */
static void queue_register(struct ntrace_encoder *encoder)
{
	unsigned int width = 31 - (unsigned int)__builtin_clz(encoder->hist);
	uint32_t bits = reverse(encoder->hist, width);
	unsigned int taken = 0;

	if (encoder->queue.width)
		taken = extend_pattern(encoder, bits, width);
	append(encoder, (uint64_t)bits >> taken, width - taken);
}

void history_push(struct ntrace_encoder *encoder)
{
	queue_register(encoder);
	while (encoder->queue.queued > QUEUE_HIGH) {
		struct choice choice = choose(encoder);

		if (choice.open)
			begin_pattern(encoder, choice.width);
		else
			send(encoder, &choice);
	}
}

void history_drain(struct ntrace_encoder *encoder)
{
	if (!encoder->queue.queued && !encoder->queue.width)
		return;
	queue_register(encoder);
	end_pattern(encoder);
	while (encoder->queue.queued >= encoder->config.hist_bits) {
		struct choice choice = choose(encoder);

		send(encoder, &choice);
	}
	encoder->hist = (uint32_t)oldest(encoder, encoder->queue.queued);
	encoder->queue.queued = 0;
}
