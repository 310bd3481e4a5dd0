// SPDX-License-Identifier: GPL-2.0-only
/*
 * How the driver distributes the messages of a shared sink. The test makes the messages, so it
 * knows the start, end and source of each; it compares the contents of each capture after every
 * piece. N-Trace 1.0: a message begins with six bits of TCODE, then SRC; a byte holds six bits
 * (MDO), lowest first; only the last byte has MSEO 11.
 */
#include <tap.h>

#include "../../kernel/ntrace/split.c"
#include "host/machine.h"

#define STREAM_MAX 65536
#define TCODE_PROG_TRACE_CORRELATION 33

static struct machine machine;
static struct ntrace_ramsink *const sink = &machine.sink.ramsink;

/* Data that each capture got, to be compared with the stream. */
static u8 got[MACHINE_HARTS][STREAM_MAX];
static size_t got_size[MACHINE_HARTS];

static u8 stream[STREAM_MAX];
static size_t stream_size;
/* For each byte: its capture or -1; its number within its message, from 1. */
static int whose[STREAM_MAX];
static unsigned int nth[STREAM_MAX];
static bool ends[STREAM_MAX]; /* byte of a message that ends a trace */

void ntrace_feed_put(struct ntrace_feed *feed, const u8 *bytes, u32 count)
{
	size_t i = container_of(feed, struct ntrace_capture, feed) - machine.capture;

	(memcpy)(got[i] + got_size[i], bytes, count);
	got_size[i] += count;
}

void ntrace_feed_message(struct ntrace_feed *feed, bool last)
{
	feed->ended = last;
}

static void add_byte(u8 byte, int capture, unsigned int number, bool end)
{
	stream[stream_size] = byte;
	whose[stream_size] = capture;
	nth[stream_size] = number;
	ends[stream_size++] = end;
}

/* Adds a message of @length bytes. The bits above SRC belong to other fields. */
static void add_message(unsigned int tcode, unsigned int src, unsigned int src_bits,
			unsigned int length, unsigned int harts)
{
	u64 value = tcode | (u64)src << 6 | random_below(1ULL << 40) << (6 + src_bits);

	for (unsigned int i = 0; i < length; i++) {
		unsigned int mseo = i + 1 == length ? 3 : random_below(2);

		add_byte((u8)((value & 0x3f) << 2 | mseo), src < harts ? (int)src : -1, i + 1,
			 tcode == TCODE_PROG_TRACE_CORRELATION);
		value = i < 6 ? value >> 6 : random_below(64);
	}
}

/* Tells whether all captures have the right part of the first @fed bytes, and the right end. */
static bool as_expected(size_t begin, size_t fed, unsigned int needed, unsigned int harts,
			const bool *ended_before)
{
	for (unsigned int hart = 0; hart < harts; hart++) {
		bool ended = ended_before[hart];
		size_t size = 0, start = begin;

		for (size_t i = begin; i < fed; i++) {
			if (nth[i] == 1)
				start = i;
			if (whose[i] != (int)hart || nth[i] < needed)
				continue;
			/*
			 * This byte completes SRC: the previous bytes of the message are delivered
			 * with it.
			 */
			for (size_t k = nth[i] == needed ? start : i; k <= i; k++)
				if (size == got_size[hart] || got[hart][size++] != stream[k])
					return false;
			/* Only the last byte of the message ends the trace. */
			ended = ends[i] && (stream[i] & 3) == 3;
		}
		if (size != got_size[hart] || machine.capture[hart].feed.ended != ended)
			return false;
	}
	return true;
}

static void reset_got(void)
{
	(memset)(got_size, 0, sizeof(got_size));
}

/* Checks one random stream; @skip: the drain begins in the middle of a message. */
static bool run(unsigned int src_bits, unsigned int harts, bool skip)
{
	unsigned int needed = 1 + (src_bits + 5) / 6;
	bool ended_before[MACHINE_HARTS] = { 0 };
	size_t begin = 0, fed = 0;
	bool good = true;

	reset_got();
	stream_size = 0;
	machine_init(&machine, harts, 0);
	sink->src_bits = src_bits;
	ntrace_split_reset(sink, skip);
	for (unsigned int i = 0; i < harts; i++)
		machine.capture[i].feed.ended = ended_before[i] = random_below(2);
	if (skip) {
		/* The rest of a message, with arbitrary contents. */
		for (unsigned int i = random_below(9); i; i--)
			add_byte((u8)(random_below(64) << 2 | random_below(2)), -1, 0, false);
		add_byte((u8)(random_below(64) << 2 | 3), -1, 0, false);
		begin = stream_size;
	}
	while (stream_size < 2000) {
		unsigned int tcode = random_below(4) ? random_below(62) :
						       TCODE_PROG_TRACE_CORRELATION;
		unsigned int src = random_below(8) ? random_below(harts) :
						     random_below(1ULL << src_bits);

		switch (random_below(8)) {
		case 0:
			add_byte(0xff, -1, 1, false);
			break;
		case 1: /* just long enough to contain SRC */
			add_message(tcode, src, src_bits, needed, harts);
			break;
		default:
			add_message(tcode, src, src_bits, needed + random_below(30), harts);
		}
	}
	while (good && fed < stream_size) {
		size_t part = random_below(4) ? random_below(4) : random_below(200);

		if (part > stream_size - fed)
			part = stream_size - fed;
		/* An exact copy: sanitizers detect reads past its end. */
		u8 *piece = malloc(part);

		(memcpy)(piece, stream + fed, part);
		ntrace_split_put(sink, piece, (u32)part);
		free(piece);
		fed += part;
		good = as_expected(begin, fed < begin ? begin : fed, needed, harts, ended_before);
	}
	if (!good)
		diag("wrong after %zu bytes", fed);
	return good;
}

static void by_hand(void)
{
	/*
	 * TCODE 28, SRC 1 in 2 bits; TCODE 33, SRC 0; idle; TCODE 9, SRC 3, which no capture
	 * traces.
	 */
	static const u8 bytes[] = { 28 << 2, 1 << 2 | 0x10 << 2, 0x05, 0x07, 33 << 2, 3, 0xff,
				    9 << 2,  3 << 2 | 1,	 3 };
	static const u8 longer[] = { 33 << 2, 0, 0x04, 3 };

	reset_got();
	machine_init(&machine, 2, 0);
	machine.capture[0].feed.ended = false;
	sink->src_bits = 2;
	ntrace_split_reset(sink, false);
	ntrace_split_put(sink, bytes, 1);
	ok(!got_size[0] && !got_size[1], "TCODE alone: its source is unknown");
	ntrace_split_put(sink, bytes + 1, 1);
	ok(got_size[1] == 2 && !got_size[0], "SRC: both bytes, to source 1");
	ok(!machine.capture[1].feed.ended, "a message that ends no trace has begun");
	ntrace_split_put(sink, bytes + 2, 2);
	ok(got_size[1] == 4 && !memcmp(got[1], bytes, 4), "the rest as well");
	ntrace_split_put(sink, bytes + 4, 2);
	ok(got_size[0] == 2 && !memcmp(got[0], bytes + 4, 2) && machine.capture[0].feed.ended,
	   "ProgTraceCorrelation: the trace of source 0 has ended");
	ok(!machine.capture[1].feed.ended, "that of source 1 has not");
	ntrace_split_put(sink, longer, 2);
	ok(!machine.capture[0].feed.ended, "another ProgTraceCorrelation begins: not yet");
	ntrace_split_put(sink, longer + 2, 1);
	ok(!machine.capture[0].feed.ended, "part of it has arrived: not yet");
	ntrace_split_put(sink, longer + 3, 1);
	ok(machine.capture[0].feed.ended && !machine.capture[1].feed.ended,
	   "its last byte: ended again");
	ntrace_split_put(sink, bytes + 6, 4);
	ok(got_size[0] == 6 && got_size[1] == 4, "idle and an unknown source: to no capture");

	reset_got();
	ntrace_split_put(sink, bytes, 3);
	ntrace_split_reset(sink, true);
	ntrace_split_put(sink, bytes + 1, 2);
	ntrace_split_put(sink, bytes + 3, 3);
	ok(got_size[1] == 3 && got_size[0] == 2,
	   "after a loss: nothing up to the end of the message");

	reset_got();
	ntrace_split_reset(sink, true);
	ntrace_split_reset(sink, false);
	ntrace_split_put(sink, bytes + 4, 2);
	is_u64(got_size[0], 2, "an empty ring begins with a message");

	/* SRC 0x41 has 7 bits, which span two bytes. */
	static const u8 wide[] = { 28 << 2, 1 << 2, (0x3e | 1) << 2, 3 };

	reset_got();
	machine.encoder[1].encoder.src = 0x41;
	sink->src_bits = 7;
	ntrace_split_put(sink, wide, 2);
	is_u64(got_size[1], 0, "SRC of 7 bits: unknown after six of them");
	ntrace_split_put(sink, wide + 2, 2);
	is_u64(got_size[1], 4, "known after the second byte; the lowest bits come first");

	/* Too short for SRC: a damaged message, or one without SRC. */
	static const u8 shorter[] = { 28 << 2, 3, 28 << 2, 1 << 2, 1 << 2, 3 };

	reset_got();
	ntrace_split_put(sink, shorter, sizeof(shorter));
	is_u64(got_size[1], 4, "a message cut before SRC goes to no capture, and damages no other");

	reset_got();
	ntrace_split_put(sink, wide, 3);
	ok(ntrace_split_is_inside(sink, &machine.capture[1].feed),
	   "its capture goes: the message is cut");
	ntrace_split_forget(sink, &machine.capture[1].feed);
	ntrace_split_put(sink, wide + 3, 1);
	is_u64(got_size[1], 3, "the rest of it is dropped");
	ok(!ntrace_split_is_inside(sink, &machine.capture[1].feed), "between messages none is cut");
}

int main(void)
{
	u64 seed = random_seed(1);
	static const unsigned int widths[] = { 1, 2, 3, 5, 6, 7, 8, 12 };
	unsigned int number = 0;

	by_hand();
	for (size_t i = 0; i < ARRAY_SIZE(widths); i++) {
		unsigned int harts = widths[i] == 1 ? 2 : MACHINE_HARTS;
		bool good = true;

		for (int round = 0; round < 40 && good; round++) {
			random_begin(seed, number++);
			good = run(widths[i], harts, round & 1);
		}
		ok(good, "SRC of %u bits: every byte goes to its capture, and no other", widths[i]);
	}
	return done_testing();
}
