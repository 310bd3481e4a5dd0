// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * How timestamps count (N-Trace 1.0, "timestamps"). A message with SYNC has an absolute time,
 * others a difference to the last time: the sum of the differences must not exceed the next
 * absolute time.
 */
#include <stdlib.h>
#include <string.h>

#include "detect.h"

#define TIMES_MANY 16
/* Number of contradictions that one damaged time causes. */
#define WRONG_BY_CHANCE 1
/* A damaged stream has more contradictions; from this factor on they are not chance. */
#define WRONG_BY_DAMAGE 3
#define WRONG_FACTOR 3
/* One time in this many may be damaged and therefore run backwards. */
#define TIMES_DAMAGED 16
/* Among differences, as many do not rise for each one that falls, except by chance. */
#define WHOLE_RISES 8
/* No time between two messages is as long as the time before, if that is long enough. */
#define ABSOLUTE_MIN 1024
#define WHOLE_ABOVE 2

struct clock {
	uint64_t absolute;
	uint64_t before[2];	/* the times before @absolute, the latest first; 0 = none */
	uint64_t added;
	uint64_t xored;
	uint64_t whole;		/* the last TSTAMP as it is */
	bool back;		/* XOR ran backwards since then */
	bool wrapped;		/* XOR wrapped since then */
	uint32_t known;		/* the stretch between wire errors in which @absolute is known */
};

/* How a walk reads TSTAMP of messages without SYNC. */
enum reading {
	READING_DIFFERENCE,
	READING_WRAPPING,	/* a difference whose sum has the bits of a time only */
	READING_WHOLE,
};

struct times {
	enum reading reading;
	uint32_t stretch;
	uint64_t mask;		/* bits of a time */
	uint32_t widths[65];	/* number of times by width */
	uint64_t wraps;
	uint64_t sure_wraps;	/* wraps confirmed by two times on either side */
	uint64_t add_wrong;	/* stretches between two absolute times that contradict addition */
	uint64_t xor_wrong;
	uint64_t differences;
	uint64_t rises;		/* TSTAMP without SYNC, above the TSTAMP before it */
	uint64_t above;		/* and not below the last one with SYNC: rare among differences */
	uint64_t below;
	uint64_t falls;		/* and below it, by less than half of all times: no wrap */
	struct clock clock[];	/* by SRC */
};

static size_t times_size(const struct ntrace_params *params)
{
	return sizeof(struct times) + ((size_t)1 << params->src_bits) * sizeof(struct clock);
}

static unsigned int width(uint64_t value)
{
	return value ? 64 - (unsigned int)__builtin_clzll(value) : 0;
}

static uint64_t count_times(const struct times *times)
{
	uint64_t total = 0;

	for (unsigned int bits = 0; bits <= 64; bits++)
		total += times->widths[bits];
	return total;
}

/* The width of the widest times; one time among many may be damaged. */
static unsigned int widest(const struct times *times)
{
	uint64_t total = count_times(times);
	unsigned int bits;

	for (bits = 64; bits && times->widths[bits] < (total >= TIMES_MANY ? 2 : 1);)
		bits--;
	return bits ? bits : 64;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/*
 * Near the wrap, the last two times are less than the two before them: a single damaged time is
 * not.
 */
static bool is_sure_wrap(const struct times *times, const struct clock *clock, uint64_t time)
{
	uint64_t before = clock->before[0] < clock->before[1] ? clock->before[0] : clock->before[1];

	return before > times->mask / 2 && larger(time, clock->absolute) < before;
}

static void take_absolute(struct times *times, struct clock *clock, uint64_t time)
{
	bool known = clock->known == times->stretch;

	times->sure_wraps += known && is_sure_wrap(times, clock, time);
	clock->before[1] = known ? clock->before[0] : 0;
	clock->before[0] = known ? clock->absolute : 0;
	if (known && time < clock->absolute) {
		times->wraps += clock->absolute > times->mask / 2 && clock->absolute <= times->mask;
	} else if (known) {
		times->add_wrong += clock->added > time;
		times->xor_wrong += clock->back || clock->xored > time;
	}
	times->widths[width(time)]++;
	clock->absolute = time;
	clock->whole = time;
	clock->added = time;
	clock->xored = time;
	clock->back = false;
	clock->wrapped = false;
	clock->known = times->stretch;
}

static void take_difference(struct times *times, struct clock *clock, uint64_t difference)
{
	uint64_t xored = clock->xored ^ difference;

	if (clock->known != times->stretch || !difference)
		return;
	times->differences++;
	times->rises += difference > clock->whole;
	if (clock->absolute >= ABSOLUTE_MIN) {
		times->above += difference >= clock->absolute;
		times->below += difference < clock->absolute;
	}
	times->falls += difference < clock->whole && clock->whole - difference <= times->mask / 2;
	clock->whole = difference;
	if (xored < clock->xored && clock->xored - xored > times->mask / 2)
		clock->wrapped = true;
	else
		clock->back |= xored < clock->xored;
	clock->xored = xored;
	clock->added += difference;
	if (times->reading == READING_WRAPPING)
		clock->added &= times->mask;
}

static void walk(struct times *times, const uint8_t *data, size_t size,
		 const struct ntrace_params *params)
{
	struct ntrace_message message;
	struct ntrace_reader reader;
	int event;

	times->stretch = 1;
	ntrace_reader_init(&reader, params, true);
	ntrace_reader_feed(&reader, data, size);
	while ((event = ntrace_reader_next(&reader, &message)) >= 0) {
		struct clock *clock;

		times->stretch += event == NTRACE_WIRE_ERROR;
		if (event == NTRACE_WIRE_ERROR || message.flags ||
		    !ntrace_message_has(&message, NTRACE_FIELD_TSTAMP))
			continue;
		clock = &times->clock[message.field[NTRACE_FIELD_SRC]];
		/* The TSTAMP of Error may be the time of the loss. */
		if (message.tcode == NTRACE_TCODE_ERROR)
			clock->known = 0;
		else if (times->reading == READING_WHOLE ||
			 ntrace_message_has(&message, NTRACE_FIELD_SYNC))
			take_absolute(times, clock, message.field[NTRACE_FIELD_TSTAMP]);
		else
			take_difference(times, clock, message.field[NTRACE_FIELD_TSTAMP]);
	}
}

/* Times have @bits. */
static void walk_within(struct times *times, unsigned int bits, enum reading reading,
			const uint8_t *data, size_t size, const struct ntrace_params *params)
{
	memset(times, 0, times_size(params));
	times->reading = reading;
	times->mask = UINT64_MAX >> (64 - bits);
	walk(times, data, size, params);
}

/* The first walk finds the width of a time, the second uses it. Return: the width. */
static unsigned int walk_twice(struct times *times, enum reading reading, const uint8_t *data,
			       size_t size, const struct ntrace_params *params)
{
	unsigned int bits;

	walk_within(times, 64, reading, data, size, params);
	bits = widest(times);
	walk_within(times, bits, reading, data, size, params);
	return bits;
}

/* Whether @wrong exceeds @other by more than chance. */
static bool is_refuted(uint64_t wrong, uint64_t other, bool damaged)
{
	if (damaged)
		return wrong > WRONG_FACTOR * other + WRONG_BY_DAMAGE;
	return wrong > other + WRONG_BY_CHANCE;
}

/*
 * Whether messages without SYNC have whole times: these rise from message to message, and differences
 * rise and fall alike.
 */
static bool is_whole(const struct times *times)
{
	return (times->rises >= WHOLE_RISES && times->falls <= times->rises / WHOLE_RISES) ||
	       (times->above >= WHOLE_ABOVE && times->below <= times->above / WHOLE_RISES);
}

/* Whether an XORed time wrapped, and no absolute time came after it that would show the wrap, too. */
static bool ends_wrapped(const struct times *times, const struct ntrace_params *params)
{
	for (size_t src = 0; src < (size_t)1 << params->src_bits; src++) {
		if (times->clock[src].wrapped)
			return true;
	}
	return false;
}

int detect_times(const uint8_t *data, size_t size, struct ntrace_params *params, bool damaged,
		 uint32_t *open)
{
	struct times *times = calloc(1, times_size(params));
	bool sifive = params->dialect == NTRACE_DIALECT_SIFIVE_V0;
	unsigned int bits;
	bool whole, xored;

	if (!times)
		return NTRACE_ERR_NOMEM;
	*open = 0;
	bits = walk_twice(times, READING_DIFFERENCE, data, size, params);
	whole = is_whole(times);
	if (whole)
		bits = walk_twice(times, READING_WHOLE, data, size, params);
	if (times->wraps && bits < 64) {
		if (!times->sure_wraps && times->wraps <= 1 + count_times(times) / TIMES_DAMAGED)
			*open |= NTRACE_DETECT_OPEN_WRAP;
		params->timestamp_bits = bits;
		walk_within(times, bits, whole ? READING_WHOLE : READING_WRAPPING, data, size,
			    params);
	}
	/* This also holds without any difference after a known time. */
	if (!sifive && !whole &&
	    ((times->above && !times->below) ||
	     (!is_refuted(times->add_wrong, times->xor_wrong, damaged) &&
	      !is_refuted(times->xor_wrong, times->add_wrong, damaged))))
		*open |= NTRACE_DETECT_OPEN_DELTA;
	xored = !whole && (sifive || times->xor_wrong < times->add_wrong);
	if (xored && !damaged && !params->timestamp_bits && bits < 64 &&
	    ends_wrapped(times, params)) {
		params->timestamp_bits = bits;
		*open |= NTRACE_DETECT_OPEN_WRAP;
	}
	params->timestamp_delta = xored && !sifive ? NTRACE_TIME_DELTA_XOR : NTRACE_TIME_DELTA_ADD;
	if (whole)
		params->timestamp_delta = NTRACE_TIME_DELTA_ABSOLUTE;
	free(times);
	return NTRACE_OK;
}
