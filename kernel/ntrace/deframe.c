// SPDX-License-Identifier: GPL-2.0-only
/*
 * Separates the trace of several encoders in the frames of a CoreSight formatter (ARM IHI 0029,
 * "Trace formatter") by the ID that the ATB bridge of each encoder gives its trace.
 *
 *	byte   0    1    2    3   ...  12   13   14   15
 *	     even odd  even odd      even odd  even  bits 0 of the even bytes
 *
 * A frame has 16 bytes. An even byte with bit 0 set is an ID in bits 7:1. Its bit in byte 15 tells
 * where the new ID begins: 0 = at the next byte, 1 = at the byte after the next. Any other even
 * byte is trace whose bit 0 is in byte 15. Odd bytes are trace. An ID holds until the next one,
 * across frames; the formatter repeats it every few frames. ID 0 is padding. The bytes of a message
 * may be in several frames, with bytes of other IDs between them.
 *
 * All numbers from memory are checked here: the sink, or what else wrote there, may be broken.
 */
#include <linux/bits.h>
#include <linux/kernel.h>
#include <linux/unaligned.h>

#include <asm/byteorder.h>

#include <ntrace/coresight.h>

#include "feed.h"

/* Bit 0 of each even byte of eight. */
#define NTRACE_DEFRAME_EVEN 0x0001000100010001ULL

/*
 * A driver, such as that of an earlier kernel, or a debugger marks lost trace with synchronization
 * words. IDs 0x7f, of which they consist, are reserved otherwise.
 */
static bool ntrace_deframe_is_barrier(const u8 *frame)
{
	u32 i;

	for (i = 0; i < TMC_FRAME_BYTES; i += sizeof(u32))
		if (get_unaligned_le32(frame + i) != TMC_FRAME_SYNC_WORD)
			return false;
	return true;
}

/* The data area of the first encoder with this ID, or NULL. */
static const struct ntrace_feed *ntrace_deframe_find(const struct ntrace_ramsink *sink, u32 id)
{
	const struct ntrace_feed *feed;

	list_for_each_entry(feed, &sink->feeds, node)
		if (feed->encoder->encoder.atid == id)
			return feed;
	return NULL;
}

/* Passes the bytes of an ID on. Those of IDs that no encoder has are dropped. */
static void ntrace_deframe_pass(struct ntrace_ramsink *sink, u32 id)
{
	struct ntrace_deframe *frames = sink->frames;
	struct ntrace_deframe_run *run = &frames->run[id];
	struct ntrace_split *split = &frames->split[id];
	const struct ntrace_feed *feed;
	u32 count = run->count;

	run->count = 0;
	if (!count || !id)
		return;
	/* Encoders with the same ID, before a funnel, have SRC fields of the same width. */
	feed = split->have ? NULL : ntrace_deframe_find(sink, id);
	if (feed)
		split->src_bits = feed->encoder->encoder.src_bits;
	split->atid = id;
	ntrace_split_pass(split, &sink->feeds, run->bytes, count);
}

/*
 * Passes on what all IDs have. Their order does not matter: bytes of two IDs go to different data
 * areas.
 */
static void ntrace_deframe_pass_all(struct ntrace_ramsink *sink)
{
	struct ntrace_deframe *frames = sink->frames;
	u32 i;

	for (i = 0; i < frames->used_count; i++) {
		ntrace_deframe_pass(sink, frames->used[i]);
		frames->run[frames->used[i]].listed = false;
	}
	frames->used_count = 0;
}

/*
 * The run that gets the next bytes, with room for those of a frame. Bytes before the first ID, and
 * of IDs that no encoder can have, go to that of ID 0.
 */
static struct ntrace_deframe_run *ntrace_deframe_run(struct ntrace_ramsink *sink)
{
	struct ntrace_deframe *frames = sink->frames;
	u32 id = frames->known && frames->id <= TR_ATB_ID_MAX ? frames->id : 0;
	struct ntrace_deframe_run *run = &frames->run[id];

	if (!run->listed) {
		run->listed = true;
		frames->used[frames->used_count++] = id;
	}
	if (run->count > NTRACE_DEFRAME_RUN - TMC_FRAME_LAST)
		ntrace_deframe_pass(sink, id);
	return run;
}

/* A frame with an ID. */
static void ntrace_deframe_take(struct ntrace_ramsink *sink, const u8 *frame)
{
	struct ntrace_deframe_run *run = ntrace_deframe_run(sink);
	bool is_id, bit, late;
	u32 i;

	for (i = 0; i < TMC_FRAME_LAST; i += 2) {
		is_id = frame[i] & 1;
		bit = frame[TMC_FRAME_LAST] & BIT(i / 2);
		/* The byte after this ID has still the old one. Byte 14 has no byte after it. */
		late = is_id && bit && i + 1 < TMC_FRAME_LAST;
		if (late)
			run->bytes[run->count++] = frame[i + 1];
		if (is_id) {
			sink->frames->id = frame[i] >> 1;
			sink->frames->known = true;
			run = ntrace_deframe_run(sink);
		} else {
			run->bytes[run->count++] = frame[i] | bit;
		}
		if (!late && i + 1 < TMC_FRAME_LAST)
			run->bytes[run->count++] = frame[i + 1];
	}
}

/* Bits 0 to 3 to bits 0, 16, 32 and 48, where the even bytes are that they belong to. */
static u64 ntrace_deframe_spread(u64 bits)
{
	return (bits | bits << 15 | bits << 30 | bits << 45) & NTRACE_DEFRAME_EVEN;
}

/* Takes a frame without an ID, all of whose bytes have the last ID. Return: whether it is one. */
static bool ntrace_deframe_take_plain(struct ntrace_ramsink *sink, const u8 *frame)
{
	u64 first = le64_to_cpup((const __le64 *)frame);
	u64 second = le64_to_cpup((const __le64 *)frame + 1);
	struct ntrace_deframe_run *run;
	u8 bits = frame[TMC_FRAME_LAST];

	if ((first | second) & NTRACE_DEFRAME_EVEN)
		return false;
	run = ntrace_deframe_run(sink);
	put_unaligned_le64(first | ntrace_deframe_spread(bits & 15), run->bytes + run->count);
	put_unaligned_le64(second | ntrace_deframe_spread(bits >> 4), run->bytes + run->count + 8);
	run->count += TMC_FRAME_LAST;
	return true;
}

/**
 * ntrace_deframe_reset - restart at an unrelated position in the ring
 * @sink: sink with a formatter
 * @skip: trace is missing before the position: it is inside messages
 */
void ntrace_deframe_reset(struct ntrace_ramsink *sink, bool skip)
{
	u32 id;

	sink->frames->known = false;
	for (id = 0; id < ARRAY_SIZE(sink->frames->split); id++)
		sink->frames->split[id] = (struct ntrace_split){ .skip = skip };
}

/**
 * ntrace_deframe_put - distribute the next frames of the ring
 * @sink: sink with a formatter
 * @bytes: frames, at a multiple of eight
 * @count: number of bytes, a multiple of the size of a frame
 */
void ntrace_deframe_put(struct ntrace_ramsink *sink, const u8 *bytes, u32 count)
{
	for (; count >= TMC_FRAME_BYTES; bytes += TMC_FRAME_BYTES, count -= TMC_FRAME_BYTES) {
		if (ntrace_deframe_take_plain(sink, bytes))
			continue;
		if (ntrace_deframe_is_barrier(bytes)) {
			ntrace_deframe_pass_all(sink);
			ntrace_deframe_reset(sink, true);
		} else {
			ntrace_deframe_take(sink, bytes);
		}
	}
	ntrace_deframe_pass_all(sink);
}

/* Has a data area the start of a message without its end? The sink may have a formatter or not. */
bool ntrace_deframe_is_inside(const struct ntrace_ramsink *sink, const struct ntrace_feed *feed)
{
	u32 id;

	if (!sink->frames)
		return ntrace_split_is_inside(&sink->split, feed);
	for (id = 0; id < ARRAY_SIZE(sink->frames->split); id++)
		if (ntrace_split_is_inside(&sink->frames->split[id], feed))
			return true;
	return false;
}

/*
 * A data area gets no more trace, for now: the rest of a message for it is dropped. The sink may
 * have a formatter or not.
 */
void ntrace_deframe_forget(struct ntrace_ramsink *sink, const struct ntrace_feed *feed)
{
	u32 id;

	ntrace_split_forget(&sink->split, feed);
	if (!sink->frames)
		return;
	for (id = 0; id < ARRAY_SIZE(sink->frames->split); id++)
		ntrace_split_forget(&sink->frames->split[id], feed);
}
