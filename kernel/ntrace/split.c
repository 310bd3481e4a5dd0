// SPDX-License-Identifier: GPL-2.0-only
/*
 * Messages of several encoders in one sink, dealt out by their SRC field.
 *
 * A message is some bytes of six bits each (MDO) above two that tell where it
 * ends (MSEO): 3 in its last byte, and nowhere else. It begins with TCODE, six
 * bits, and SRC, of the same width in all encoders of a sink. Funnels never mix
 * bytes of two messages. A byte that is a message of its own is idle, and
 * nobody's.
 */
#include <linux/string.h>

#include "feed.h"
#include "ntrace.h"
#include "split.h"

#define NTRACE_MSEO_BITS	2
#define NTRACE_MSEO_LAST	3
#define NTRACE_MDO_BITS		6

/* ProgTraceCorrelation: the last message of an encoder that stops. */
#define NTRACE_TCODE_END	33

static bool ntrace_split_is_last(u8 byte)
{
	return (byte & NTRACE_MSEO_LAST) == NTRACE_MSEO_LAST;
}

/* Who gets a message that begins like this; NULL if nobody traces that hart. */
static struct ntrace_capture *ntrace_split_find(const struct ntrace_ramsink *sink)
{
	const struct ntrace_split *split = &sink->split;
	struct ntrace_capture *capture;
	u32 src = 0;
	int i;

	for (i = split->have - 1; i > 0; i--)
		src = src << NTRACE_MDO_BITS | split->head[i] >> NTRACE_MSEO_BITS;
	src &= BIT(sink->src_bits) - 1;
	list_for_each_entry(capture, &sink->feeds, feed)
		if (ntrace_path_encoder(capture->path)->encoder.src == src)
			return capture;
	return NULL;
}

/* The message is complete: was it one that ends the trace of its encoder? */
static void ntrace_split_complete(struct ntrace_split *split)
{
	if (split->to)
		split->to->ended = split->head[0] >> NTRACE_MSEO_BITS == NTRACE_TCODE_END;
	split->have = 0;
}

/* One more byte of the start of a message. */
static void ntrace_split_start(struct ntrace_ramsink *sink, u8 byte)
{
	u32 needed = 1 + DIV_ROUND_UP(sink->src_bits, NTRACE_MDO_BITS);
	struct ntrace_split *split = &sink->split;

	split->to = NULL;
	split->head[split->have++] = byte;
	if (split->have == needed) {
		split->to = ntrace_split_find(sink);
		if (split->to) {
			split->to->ended = false;
			ntrace_feed_put(split->to, split->head, split->have);
		}
	}
	if (ntrace_split_is_last(byte))
		ntrace_split_complete(split);
}

/**
 * ntrace_split_reset - begin anew
 * @sink: sink with several encoders
 * @skip: somewhere in a message, not at the start of one
 */
void ntrace_split_reset(struct ntrace_ramsink *sink, bool skip)
{
	sink->split = (struct ntrace_split){ .skip = skip };
}

/**
 * ntrace_split_put - deal out what comes next in the ring
 * @sink: sink with several encoders
 * @bytes: trace
 * @count: bytes of it
 */
void ntrace_split_put(struct ntrace_ramsink *sink, const u8 *bytes, u32 count)
{
	u32 needed = 1 + DIV_ROUND_UP(sink->src_bits, NTRACE_MDO_BITS);
	struct ntrace_split *split = &sink->split;
	const u8 *end = bytes + count;
	const u8 *start;

	while (bytes < end) {
		if (!split->skip && split->have < needed) {
			ntrace_split_start(sink, *bytes++);
			continue;
		}
		start = bytes;
		while (bytes < end && !ntrace_split_is_last(*bytes))
			bytes++;
		/* The last byte belongs to the message; without it, it goes on. */
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
