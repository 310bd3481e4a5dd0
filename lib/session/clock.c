// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Clocks of streams: see clock.h. */
#include "bytes.h"
#include "clock.h"

/* Instructions of the driver between the time of a start and the first message, interrupts off. */
#define START_NS 10000

/*
 * Pieces of a trace may limit the offset to some hundred microseconds, which is more than many of them take. The
 * offset that is used is then at most so much above the lowest one, with which no time is behind the end of its
 * piece: so the piece takes as long as its ticks say.
 */
#define NEAR_NS 5000

/* Two clocks of a machine drift by less, in parts per million. */
#define DRIFT_PPM 100

#define NS_PER_S UINT64_C(1000000000)

void stream_clock_init(struct stream_clock *clock, const struct ntrace_params *params,
		       uint64_t start_ns, bool in_pieces)
{
	*clock = (struct stream_clock){
		.hz = params->timestamp_bits ? params->timestamp_hz : 0,
		.left = start_ns,
		.came = start_ns ? start_ns + START_NS : 0,
		.pending = start_ns,
		.end = UINT64_MAX,
		.in_pieces = in_pieces,
	};
}

void stream_clock_assume(struct stream_clock *clock)
{
	clock->known = true;
	clock->assumed = true;
}

void stream_clock_turn(struct stream_clock *clock, uint64_t first, uint64_t end)
{
	clock->first = first;
	clock->end = end;
}

/* Ticks in nanoseconds, modulo 2^64. */
static uint64_t to_ns(const struct stream_clock *clock, uint64_t tick)
{
	return (uint64_t)((unsigned __int128)tick * NS_PER_S / clock->hz);
}

/* Offsets of real clocks; others come from wrong times. */
static bool is_offset(int64_t offset)
{
	return offset > -(INT64_C(1) << 62) && offset < INT64_C(1) << 62;
}

static int64_t later(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* A timestamp is the whole number of ticks; to_ns() rounds down, too. */
static uint64_t tick_ns(const struct stream_clock *clock)
{
	return NS_PER_S / clock->hz + 1;
}

/* How far the two clocks may have drifted within @ns. */
static uint64_t drift_in(uint64_t ns)
{
	return ns / 1000000 * DRIFT_PPM + ns % 1000000 * DRIFT_PPM / 1000000 + 1;
}

/* The offset lies between @low and @high, as seen at @ns. */
static void limit(struct stream_clock *clock, int64_t low, int64_t high, uint64_t ns)
{
	int64_t drift = 0;

	if (!is_offset(low) || !is_offset(high) || high < low)
		return;
	if (clock->known && ns > clock->limited)
		drift = (int64_t)drift_in(ns - clock->limited);
	if (clock->known && !clock->assumed && low <= clock->high + drift &&
	    high >= clock->low - drift) {
		clock->low = later(low, clock->low - drift);
		clock->high = -later(-high, -(clock->high + drift));
	} else {
		clock->low = low;
		clock->high = high;
	}
	clock->limited = ns;
	clock->known = true;
	clock->assumed = false;
}

/* The limit of a switch, now that there is a timestamp after it. */
static void limit_by_switch(struct stream_clock *clock, uint64_t after)
{
	uint64_t earlier = clock->has_earlier ? clock->earlier : after;
	uint64_t drift = drift_in(to_ns(clock, after) - to_ns(clock, earlier));
	int64_t low, high;

	clock->pending = false;
	if (!clock->left || !clock->came || earlier > after)
		return;
	low = (int64_t)(clock->left - to_ns(clock, after) - tick_ns(clock) - drift);
	high = (int64_t)(clock->came - to_ns(clock, earlier) + 1 + drift);
	limit(clock, low, high, clock->came);
}

/* A message has a new timestamp. */
static void note_stamp(struct stream_clock *clock, uint64_t tick)
{
	if (clock->stamps && tick == clock->last)
		return;
	clock->before = clock->last;
	clock->last = tick;
	if (clock->stamps < 2)
		clock->stamps++;
	if (clock->pending)
		limit_by_switch(clock, tick);
}

void stream_clock_switch(struct stream_clock *clock, uint64_t left, uint64_t came)
{
	clock->left = left;
	clock->came = came;
	/* The last timestamp may be that of the message that reports the switch. */
	clock->pending = clock->stamps == 2;
	clock->has_earlier = true;
	clock->earlier = clock->before;
}

void stream_clock_piece(struct stream_clock *clock, uint64_t start, uint64_t came, uint64_t end,
			uint64_t last_end)
{
	clock->has_earlier = !came && clock->stamps;
	clock->left = start;
	clock->came = came ? came : clock->stamps ? last_end : end;
	clock->pending = true;
	clock->earlier = clock->last;
}

bool stream_clock_read(struct stream_clock *clock, uint64_t tick, uint64_t *ns, uint64_t *error)
{
	int64_t offset, above;

	if (!clock->hz)
		return false;
	note_stamp(clock, tick);
	if (!clock->known)
		return false;
	above = (clock->high - clock->low) / 2;
	offset = clock->low + (above > NEAR_NS && clock->in_pieces ? NEAR_NS : above);
	*ns = to_ns(clock, tick) + (uint64_t)offset;
	*error = (uint64_t)(clock->high - offset) + tick_ns(clock);
	if (*ns > clock->limited)
		*error += drift_in(*ns - clock->limited);
	if (clock->assumed)
		*error = UINT64_MAX;
	if (*ns < clock->first)
		*ns = clock->first;
	if (*ns > clock->end)
		*ns = clock->end;
	if (*ns < clock->ns) {
		if (!clock->assumed)
			*error += clock->ns - *ns;
		*ns = clock->ns;
	}
	clock->ns = *ns;
	return true;
}

void stream_clock_code(struct stream_clock *clock, struct codec *codec)
{
	CODE_SIGNED(codec, clock->low);
	CODE_SIGNED(codec, clock->high);
	CODE_NUMBER(codec, clock->limited);
	CODE_NUMBER(codec, clock->last);
	CODE_NUMBER(codec, clock->before);
	CODE_MAX(codec, clock->stamps, 2);
	CODE_NUMBER(codec, clock->left);
	CODE_NUMBER(codec, clock->came);
	CODE_NUMBER(codec, clock->earlier);
	CODE_NUMBER(codec, clock->first);
	CODE_NUMBER(codec, clock->end);
	CODE_NUMBER(codec, clock->ns);
	CODE_MAX(codec, clock->known, 1);
	CODE_MAX(codec, clock->pending, 1);
	CODE_MAX(codec, clock->has_earlier, 1);
	CODE_MAX(codec, clock->assumed, 1);
	/* As limit() has it, so that no sum of them overflows. */
	if (!codec->to &&
	    (!is_offset(clock->low) || !is_offset(clock->high) || clock->high < clock->low))
		codec->from->bad = true;
}
