// SPDX-License-Identifier: GPL-2.0-only
/*
 * How the driver takes the trace of each hart out of the frames of a CoreSight formatter (ARM IHI
 * 0029, "Trace formatter"). First a frame that is worked out by hand, then random messages in frames
 * that the library's writer makes, which has tests of its own. The test compares the contents of
 * each capture with what went into the frames.
 */
#include <tap.h>

#include <ntrace/frames.h>

#include "../../kernel/ntrace/split.c"
#include "host/machine.h"

#define STREAM_MAX 65536
#define FRAMES_MAX (4 * STREAM_MAX)

static struct machine machine;
static struct ntrace_ramsink *const sink = &machine.sink.ramsink;
static struct ntrace_deframe state;

/* Data that each capture got, and what it must get. */
static u8 got[MACHINE_HARTS][STREAM_MAX], want[MACHINE_HARTS][STREAM_MAX];
static size_t got_size[MACHINE_HARTS], want_size[MACHINE_HARTS];

void ntrace_feed_put(struct ntrace_feed *feed, const u8 *bytes, u32 count)
{
	size_t i = container_of(feed, struct ntrace_capture, feed) - machine.capture;

	(memcpy)(got[i] + got_size[i], bytes, count);
	got_size[i] += count;
}

void ntrace_feed_message(struct ntrace_feed *feed, bool ends)
{
	feed->ended = ends;
}

static void begin(unsigned int harts)
{
	(memset)(got_size, 0, sizeof(got_size));
	(memset)(want_size, 0, sizeof(want_size));
	machine_init(&machine, harts, 0);
	sink->framed = true;
	sink->frames = &state;
	for (unsigned int i = 0; i < harts; i++)
		machine.encoder[i].encoder.atid = 2 * i + 1;
	ntrace_split_reset(sink, false);
}

static bool has(unsigned int hart, const void *bytes, size_t size)
{
	return got_size[hart] == size && !memcmp(got[hart], bytes, size);
}

static void by_hand(void)
{
	/* Each byte is the last one of a message, or message bytes with MSEO 0: TCODE alone. */
	static const u8 frame[] __aligned(8) = { 0x03, 0xa1, 0x22, 0x33, 0x07, 0x45, 0x56, 0x67,
						 0x03, 0x6b, 0x98, 0x78, 0x01, 0x00, 0x00, 0x30 };
	static const u8 one[] = { 0xa1, 0x22, 0x33, 0x99, 0x78 };
	static const u8 three[] = { 0x45, 0x56, 0x67, 0x6b };
	static const u8 no_id[] __aligned(8) = { 0x10, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17,
						 0x18, 0x19, 0x1a, 0x1b, 0x1c, 0x1d, 0x1e, 0xff };
	static const u8 barrier[] __aligned(8) = { 0xff, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff, 0x7f,
						   0xff, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff, 0x7f };
	/* ID 1 in byte 14: from the next frame on. */
	static const u8 last[] __aligned(8) = { 0x07, 0x13, 0x12, 0x13, 0x12, 0x13, 0x12, 0x13,
						0x12, 0x13, 0x12, 0x13, 0x12, 0x13, 0x03, 0x80 };
	static const u8 odd[] = { 0x11, 0x11, 0x13, 0x13, 0x15, 0x15, 0x17, 0x17,
				  0x19, 0x19, 0x1b, 0x1b, 0x1d, 0x1d, 0x1f };
	u8 reserved[TMC_FRAME_BYTES] __aligned(8) = { 0xff, 0x11, 0x22 };

	begin(2);
	ntrace_split_put(sink, frame, sizeof(frame));
	ok(has(0, one, sizeof(one)) && has(1, three, sizeof(three)),
	   "a frame with four IDs, one of which takes effect a byte later, and bits 0 apart");
	is_u64(state.id, 0, "it ends with padding");

	begin(2);
	ntrace_split_put(sink, no_id, sizeof(no_id));
	ok(!got_size[0] && !got_size[1], "bytes before the first ID: to no capture");
	ntrace_split_put(sink, last, sizeof(last));
	is_u64(got_size[1], 13, "13 bytes of ID 3");
	is_u64(got_size[0], 0, "an ID in the last place has no byte in its frame");
	ntrace_split_put(sink, no_id, sizeof(no_id));
	ok(has(0, odd, sizeof(odd)), "all bytes of the next frame are its own, with bits 0");

	begin(2);
	ntrace_split_put(sink, last, sizeof(last));
	ntrace_split_put(sink, barrier, sizeof(barrier));
	got_size[0] = got_size[1] = 0;
	ntrace_split_put(sink, no_id, sizeof(no_id));
	ok(!got_size[0] && !got_size[1], "after synchronization words no ID is known");
	ntrace_split_put(sink, frame, sizeof(frame));
	ok(has(1, three + 3, 1) && has(0, one + 3, 2),
	   "and bytes up to the end of a message are dropped");

	begin(2);
	ntrace_split_put(sink, last, sizeof(last));
	got_size[1] = 0;
	ntrace_split_put(sink, reserved, sizeof(reserved));
	ok(!got_size[0] && !got_size[1], "a reserved ID, and padding: to no capture");

	begin(2);
	machine.encoder[1].encoder.atid = 0x6f;
	reserved[0] = 0x6f << 1 | 1;
	ntrace_split_put(sink, reserved, sizeof(reserved));
	is_u64(got_size[1], 14, "the last ID");
}

/* Captures come and go while messages are in progress. */
static void test_forget(void)
{
	static const u8 first[] __aligned(8) = { 0x03, 0x70, 0x10, 0x10, 0x10, 0x10, 0x10, 0x10,
						 0x10, 0x10, 0x10, 0x10, 0x10, 0x10, 0x10, 0 };
	static const u8 second[] __aligned(8) = { 0x10, 0x13, 0x70, 0x23, 0x01, 0, 0, 0,
						  0,	0,    0,    0,	  0,	0, 0, 0 };
	struct ntrace_feed *feed = &machine.capture[0].feed;

	begin(1);
	ntrace_split_put(sink, first, sizeof(first));
	is_u64(got_size[0], 14, "a long message has begun");
	ok(ntrace_split_is_inside(sink, feed), "its capture goes: the message is cut");
	ntrace_split_forget(sink, feed);
	ok(!ntrace_split_is_inside(sink, feed), "once");
	list_del(&feed->node);
	ntrace_split_put(sink, second, sizeof(second));
	ok(!ntrace_split_is_inside(sink, feed), "between messages none is cut");
	is_u64(got_size[0], 14, "its capture is gone: the rest is dropped");
	list_add_tail(&feed->node, &sink->feeds);
	ntrace_split_put(sink, first, sizeof(first));
	is_u64(got_size[0], 28, "a new capture gets the next message");
}

/* Adds a message to the frames, cut into pieces at places of no meaning. */
static u8 frames[FRAMES_MAX];
static size_t frames_size;
static struct ntrace_frames_writer writer;

static void add(unsigned int id, const u8 *bytes, size_t size)
{
	size_t written;

	ntrace_frames_write(&writer, id, bytes, size, frames + frames_size, &written);
	frames_size += written;
}

struct message {
	u8 bytes[40];
	size_t size, sent;
	bool ends;
};

/* A message of hart @hart; those with SRC share an ID. */
static void make(struct message *message, unsigned int hart, unsigned int src_bits)
{
	unsigned int tcode = random_below(4) ? random_below(62) : NTRACE_TCODE_END;
	u64 value = tcode | (u64)hart << 6 | random_below(1ULL << 40) << (6 + src_bits);
	unsigned int needed = src_bits ? 2 : 1;

	message->size = needed + random_below(30);
	message->sent = 0;
	message->ends = tcode == NTRACE_TCODE_END;
	for (size_t i = 0; i < message->size; i++) {
		message->bytes[i] =
			(u8)((value & 0x3f) << 2 | (i + 1 == message->size ? 3 : random_below(2)));
		value = i < 6 ? value >> 6 : random_below(64);
	}
}

/* Random messages of harts that each have an ID, or share one, or both. */
static bool run(unsigned int sharing)
{
	struct message message[MACHINE_HARTS] = { 0 };
	bool ended[MACHINE_HARTS];
	size_t at = 0;

	begin(MACHINE_HARTS);
	frames_size = 0;
	ntrace_frames_writer_init(&writer);
	for (unsigned int i = 0; i < MACHINE_HARTS; i++) {
		ended[i] = true;
		if (i >= sharing)
			continue;
		machine.encoder[i].encoder.atid = 0x20;
		machine.encoder[i].encoder.src_bits = 2;
	}
	while (frames_size < 3000) {
		unsigned int hart = random_below(MACHINE_HARTS);
		struct message *now = &message[hart];
		size_t part;

		if (now->sent == now->size) {
			make(now, hart, hart < sharing ? 2 : 0);
			(memcpy)(want[hart] + want_size[hart], now->bytes, now->size);
			want_size[hart] += now->size;
			ended[hart] = now->ends;
		}
		/* A funnel of RISC-V keeps messages whole; one of Arm switches anywhere. */
		part = hart < sharing ? now->size : 1 + random_below(now->size - now->sent);
		add(machine.encoder[hart].encoder.atid, now->bytes + now->sent, part);
		now->sent += part;
	}
	for (unsigned int i = 0; i < MACHINE_HARTS; i++)
		add(machine.encoder[i].encoder.atid, message[i].bytes + message[i].sent,
		    message[i].size - message[i].sent);
	frames_size += ntrace_frames_flush(&writer, frames + frames_size);
	while (at < frames_size) {
		size_t part = 16 * (1 + random_below(40));

		if (part > frames_size - at)
			part = frames_size - at;
		/* An exact copy: sanitizers detect reads past its end. */
		u8 *piece = malloc(part);

		(memcpy)(piece, frames + at, part);
		ntrace_split_put(sink, piece, (u32)part);
		free(piece);
		at += part;
	}
	for (unsigned int i = 0; i < MACHINE_HARTS; i++)
		if (!has(i, want[i], want_size[i]) || machine.capture[i].feed.ended != ended[i])
			return false;
	return true;
}

/* Whatever memory holds, nothing is read or written out of bounds. */
static void garbage(void)
{
	u8 bytes[16 * 64] __aligned(8);

	begin(MACHINE_HARTS);
	for (unsigned int round = 0; round < 200; round++) {
		for (size_t i = 0; i < sizeof(bytes); i++)
			bytes[i] = random_below(3) ? (u8)random_below(256) : 0xff;
		(memset)(got_size, 0, sizeof(got_size));
		ntrace_split_put(sink, bytes, sizeof(bytes));
	}
	ok(true, "random bytes do no harm");
}

int main(void)
{
	static const char *const names[] = { "each hart has an ID", "", "two harts share an ID",
					     "three harts share an ID" };
	u64 seed = random_seed(1);
	unsigned int number = 0;

	by_hand();
	test_forget();
	for (unsigned int sharing = 0; sharing < 4; sharing++) {
		bool good = true;

		if (sharing == 1)
			continue;
		for (int round = 0; round < 40 && good; round++) {
			random_begin(seed, number++);
			good = run(sharing);
		}
		ok(good, "%s: every byte goes to its capture, and no other", names[sharing]);
	}
	garbage();
	return done_testing();
}
