// SPDX-License-Identifier: GPL-2.0-only
/*
 * Separates the messages of several encoders in one sink by their SRC field, and in frames by ID.
 *
 * Each byte of a message has six data bits (MDO) above two bits (MSEO) that delimit it: MSEO is 3
 * in the last byte of a message only. A message begins with TCODE, six bits, and SRC, whose width
 * is the same in all encoders of a sink. Funnels never mix the bytes of two messages. A message of
 * one byte is idle and belongs to no encoder. See N-Trace 1.0, message layout.
 *
 * A sink may write frames of a CoreSight formatter (ARM IHI 0029, "Trace formatter"). Then the ID
 * that the ATB bridge of an encoder gives its trace comes first, and each ID has its own position
 * in the messages. If it stands for one encoder, messages need no SRC; only their ends matter.
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
#include <linux/bitops.h>
#include <linux/bits.h>
#include <linux/kernel.h>
#include <linux/unaligned.h>

#include <asm/byteorder.h>

#include <ntrace/coresight.h>

#include "feed.h"

#define NTRACE_MSEO_BITS	2
#define NTRACE_MSEO_LAST	3
#define NTRACE_MDO_BITS		6

/* ProgTraceCorrelation: the last message of an encoder that stops. */
#define NTRACE_TCODE_END	33

/* Bit 0 of each even byte of eight in a frame. */
#define NTRACE_DEFRAME_EVEN 0x0001000100010001ULL

static bool ntrace_split_is_last(u8 byte)
{
	return (byte & NTRACE_MSEO_LAST) == NTRACE_MSEO_LAST;
}

/* The SRC of a message that begins at @head, of which ntrace_split_needed() bytes are there. */
static u32 ntrace_split_source(u32 src_bits, const u8 *head)
{
	u32 src = head[1] >> NTRACE_MSEO_BITS, i;

	for (i = 1; i * NTRACE_MDO_BITS < src_bits; i++)
		src |= head[i + 1] >> NTRACE_MSEO_BITS << i * NTRACE_MDO_BITS;
	return src & (BIT(src_bits) - 1);
}

/* The data area that gets the messages of an encoder, or NULL if its hart is not traced. */
static struct ntrace_feed *ntrace_split_find(const struct ntrace_split *split,
					     const struct list_head *feeds, u32 src)
{
	struct ntrace_feed *feed;

	list_for_each_entry(feed, feeds, node)
		if (feed->encoder->encoder.atid == split->atid &&
		    (!split->src_bits || feed->encoder->encoder.src == src))
			return feed;
	return NULL;
}

static bool ntrace_split_is_end(u8 first)
{
	return first >> NTRACE_MSEO_BITS == NTRACE_TCODE_END;
}

/* The message is complete. Records whether it ends the trace of its encoder. */
static void ntrace_split_complete(struct ntrace_split *split)
{
	if (split->to)
		ntrace_feed_message(split->to, ntrace_split_is_end(split->head[0]));
	split->have = 0;
}

/* Bytes of a message that name its source. */
static u32 ntrace_split_needed(const struct ntrace_split *split)
{
	return 1 + DIV_ROUND_UP(split->src_bits, NTRACE_MDO_BITS);
}

/* Takes one more byte of the start of a message. */
static void ntrace_split_start(struct ntrace_split *split, const struct list_head *feeds, u8 byte)
{
	split->to = NULL;
	split->head[split->have++] = byte;
	if (split->have == ntrace_split_needed(split)) {
		split->to = ntrace_split_find(split, feeds,
					      ntrace_split_source(split->src_bits, split->head));
		if (split->to) {
			split->to->ended = false;
			ntrace_feed_put(split->to, split->head, split->have);
		}
	}
	if (ntrace_split_is_last(byte))
		ntrace_split_complete(split);
}

/*
 * Eight bytes at @word, a multiple of eight. Those outside of @begin to @end read as 0, which ends
 * no message.
 */
static u64 ntrace_split_load(const u8 *word, const u8 *begin, const u8 *end)
{
	u64 bytes = 0;
	u32 i;

	if (word >= begin && end - word >= (long)sizeof(u64))
		return le64_to_cpup((const __le64 *)word);
	for (i = 0; i < sizeof(u64); i++)
		if (word + i >= begin && word + i < end)
			bytes |= (u64)word[i] << i * 8;
	return bytes;
}

/* Bit 8 n is set if byte n is the last one of a message: both bits of its MSEO are. */
static u64 ntrace_split_lasts(u64 bytes)
{
	return bytes & (bytes >> 1) & 0x0101010101010101ULL;
}

/* The messages are those of one encoder. Return: as ntrace_split_whole(). */
static const u8 *ntrace_split_single(struct ntrace_split *split, const struct list_head *feeds,
				     const u8 *bytes, const u8 *end)
{
	struct ntrace_feed *to;
	const u8 *last;

	while (end > bytes && !ntrace_split_is_last(end[-1]))
		end--;
	if (end == bytes)
		return end;
	to = ntrace_split_find(split, feeds, 0);
	if (!to)
		return end;
	last = end - 1;
	while (last > bytes && !ntrace_split_is_last(last[-1]))
		last--;
	ntrace_feed_put(to, bytes, end - bytes);
	ntrace_feed_message(to, ntrace_split_is_end(*last));
	return end;
}

/* Consecutive messages of one encoder, which are passed on in one piece. */
struct ntrace_split_piece {
	struct ntrace_feed *to;
	u32 src;
	const u8 *begin;
	const u8 *last; /* the last message */
};

/* The piece ends at @end. The next message is that of @src. */
static void ntrace_split_change(const struct ntrace_split *split, const struct list_head *feeds,
				struct ntrace_split_piece *piece, const u8 *end, u32 src)
{
	if (piece->to) {
		ntrace_feed_put(piece->to, piece->begin, end - piece->begin);
		ntrace_feed_message(piece->to, ntrace_split_is_end(*piece->last));
	}
	/* A message without SRC belongs to no encoder. */
	piece->to = src == U32_MAX ? NULL : ntrace_split_find(split, feeds, src);
	piece->src = src;
	piece->begin = end;
}

/*
 * Distributes whole messages from @bytes on, which begins one. Messages that follow each other and
 * belong to one encoder are passed on in one piece: they have few bytes each. Their ends are looked
 * for in eight bytes at a time.
 *
 * Return: the first byte of a message whose end is not there, or @end.
 */
static const u8 *ntrace_split_whole(struct ntrace_split *split, const struct list_head *feeds,
				    const u8 *bytes, const u8 *end)
{
	const u8 *word = bytes - (uintptr_t)bytes % sizeof(u64), *begin = bytes;
	u64 lasts = ntrace_split_lasts(ntrace_split_load(word, begin, end));
	struct ntrace_split_piece piece = { .src = U32_MAX };
	u32 needed = ntrace_split_needed(split), src_bits = split->src_bits, src;
	const u8 *next;

	if (!src_bits)
		return ntrace_split_single(split, feeds, bytes, end);
	for (;; bytes = next) {
		while (!lasts) {
			word += sizeof(u64);
			if (word >= end)
				goto out;
			lasts = ntrace_split_lasts(ntrace_split_load(word, begin, end));
		}
		next = word + __ffs64(lasts) / 8 + 1;
		lasts &= lasts - 1;
		src = next - bytes >= needed ? ntrace_split_source(src_bits, bytes) : U32_MAX;
		if (src != piece.src || (piece.to && piece.to->late.unsure))
			ntrace_split_change(split, feeds, &piece, bytes, src);
		piece.last = bytes;
	}
out:
	ntrace_split_change(split, feeds, &piece, bytes, U32_MAX);
	return bytes;
}

/* Distributes the next bytes of one position in messages. */
static void ntrace_split_pass(struct ntrace_split *split, const struct list_head *feeds,
			      const u8 *bytes, u32 count)
{
	u32 needed = ntrace_split_needed(split);
	const u8 *end = bytes + count;
	const u8 *start;

	while (bytes < end) {
		if (!split->skip && !split->have) {
			bytes = ntrace_split_whole(split, feeds, bytes, end);
			if (bytes == end)
				return;
		}
		if (!split->skip && split->have < needed) {
			ntrace_split_start(split, feeds, *bytes++);
			continue;
		}
		start = bytes;
		while (bytes < end && !ntrace_split_is_last(*bytes))
			bytes++;
		/*
		 * A piece without a last byte is the middle of a message, and the message
		 * continues.
		 */
		if (bytes == end) {
			if (split->to)
				ntrace_feed_put(split->to, start, end - start);
			return;
		}
		bytes++;
		if (split->to)
			ntrace_feed_put(split->to, start, bytes - start);
		split->skip = false;
		ntrace_split_complete(split);
	}
}

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
 * ntrace_split_reset - restart at an unrelated position in the ring
 * @sink: sink, with a formatter or without one; the same applies to the functions below
 * @skip: trace is missing before the position: it is inside messages
 */
void ntrace_split_reset(struct ntrace_ramsink *sink, bool skip)
{
	u32 id;

	sink->split = (struct ntrace_split){ .skip = skip };
	if (!sink->frames)
		return;
	sink->frames->known = false;
	for (id = 0; id < ARRAY_SIZE(sink->frames->split); id++)
		sink->frames->split[id] = sink->split;
}

/**
 * ntrace_split_put - distribute the next bytes of the ring
 * @sink: sink
 * @bytes: bytes; frames at a multiple of eight
 * @count: number of bytes, a multiple of the size of a frame
 */
void ntrace_split_put(struct ntrace_ramsink *sink, const u8 *bytes, u32 count)
{
	if (!sink->framed) {
		sink->split.src_bits = sink->src_bits;
		ntrace_split_pass(&sink->split, &sink->feeds, bytes, count);
		return;
	}
	for (; count >= TMC_FRAME_BYTES; bytes += TMC_FRAME_BYTES, count -= TMC_FRAME_BYTES) {
		if (ntrace_deframe_take_plain(sink, bytes))
			continue;
		if (ntrace_deframe_is_barrier(bytes)) {
			ntrace_deframe_pass_all(sink);
			ntrace_split_reset(sink, true);
		} else {
			ntrace_deframe_take(sink, bytes);
		}
	}
	ntrace_deframe_pass_all(sink);
}

static bool ntrace_split_is_at(const struct ntrace_split *split, const struct ntrace_feed *feed)
{
	return split->to == feed && split->have;
}

/** ntrace_split_is_inside - has a data area the start of a message without its end? */
bool ntrace_split_is_inside(const struct ntrace_ramsink *sink, const struct ntrace_feed *feed)
{
	u32 id;

	if (!sink->frames)
		return ntrace_split_is_at(&sink->split, feed);
	for (id = 0; id < ARRAY_SIZE(sink->frames->split); id++)
		if (ntrace_split_is_at(&sink->frames->split[id], feed))
			return true;
	return false;
}

/** ntrace_split_forget - a data area gets no more trace: drop the rest of a message for it */
void ntrace_split_forget(struct ntrace_ramsink *sink, const struct ntrace_feed *feed)
{
	u32 id;

	if (sink->split.to == feed)
		sink->split.to = NULL;
	if (!sink->frames)
		return;
	for (id = 0; id < ARRAY_SIZE(sink->frames->split); id++)
		if (sink->frames->split[id].to == feed)
			sink->frames->split[id].to = NULL;
}
