/* SPDX-License-Identifier: GPL-2.0-only */
/* Positions in the ring of a sink, and the canary before the drained one (drain.c). */
#ifndef NTRACE_RING_H
#define NTRACE_RING_H

#include <linux/string.h>

#include "component.h"
#include "feed.h"

/* Number of bytes that the sink writes from one position to another. */
static inline u32 ring_distance(const struct ntrace_ramsink *sink, u32 from, u32 to)
{
	return to >= from ? to - from : to + sink->ring_size - from;
}

static inline u32 ring_add(const struct ntrace_ramsink *sink, u32 position, u32 bytes)
{
	return ring_distance(sink, sink->ring_size - bytes, position);
}

/*
 * Bytes by which ring_distance() may be too large: until the sink has wrapped, the end of its last
 * granule is not known if the width of a write is not.
 */
static inline u32 ring_doubt(const struct ntrace_ramsink *sink)
{
	return sink->wrapped ? 0 : sink->granule - sink->least;
}

/*
 * A canary is a part of the granule before a position: what one write of the sink has at least.
 * Before position 0, it is the start of the last granule, whose end may be unknown.
 */
static inline u8 *ring_canary(const struct ntrace_ramsink *sink, u32 position)
{
	return sink->ring + (position ? position - sink->least : sink->last);
}

static inline void ring_set_canary(const struct ntrace_ramsink *sink, u32 position)
{
	memset(ring_canary(sink, position), NTRACE_RESERVED_BYTE, sink->least);
}

static inline bool ring_canary_intact(const struct ntrace_ramsink *sink, u32 position)
{
	return !memchr_inv(ring_canary(sink, position), NTRACE_RESERVED_BYTE, sink->least);
}

#endif /* NTRACE_RING_H */
