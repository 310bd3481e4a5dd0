// SPDX-License-Identifier: GPL-2.0-only
/*
 * Separates the messages of several encoders in one sink by their SRC field.
 *
 * Each byte of a message has six data bits (MDO) above two bits (MSEO) that delimit it: MSEO is 3
 * in the last byte of a message only. A message begins with TCODE, six bits, and SRC, whose width
 * is the same in all encoders of a sink. Funnels never mix the bytes of two messages. A message of
 * one byte is idle and belongs to no encoder. See N-Trace 1.0, message layout.
 *
 * In frames the ID on the ATB bus comes first (deframe.c), and each ID has its own position in the
 * messages. If it stands for one encoder, messages need no SRC; only their ends matter.
 */
#include <linux/bitops.h>
#include <linux/bits.h>
#include <linux/kernel.h>

#include <asm/byteorder.h>

#include "feed.h"

#define NTRACE_MSEO_BITS	2
#define NTRACE_MSEO_LAST	3
#define NTRACE_MDO_BITS		6

/* ProgTraceCorrelation: the last message of an encoder that stops. */
#define NTRACE_TCODE_END	33

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

/* Has a data area the start of a message without its end? */
bool ntrace_split_is_inside(const struct ntrace_split *split, const struct ntrace_feed *feed)
{
	return split->to == feed && split->have;
}

/* A data area gets no more trace, for now: the rest of a message for it is dropped. */
void ntrace_split_forget(struct ntrace_split *split, const struct ntrace_feed *feed)
{
	if (split->to == feed)
		split->to = NULL;
}

/* Restarts at an unrelated position in the ring. */
void ntrace_split_reset(struct ntrace_ramsink *sink, bool skip)
{
	sink->split = (struct ntrace_split){ .skip = skip };
}

/* Distributes the next bytes of one position in messages. */
void ntrace_split_pass(struct ntrace_split *split, const struct list_head *feeds, const u8 *bytes,
		       u32 count)
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

/* Distributes the next bytes of the ring. */
void ntrace_split_put(struct ntrace_ramsink *sink, const u8 *bytes, u32 count)
{
	sink->split.src_bits = sink->src_bits;
	ntrace_split_pass(&sink->split, &sink->feeds, bytes, count);
}
