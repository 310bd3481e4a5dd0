// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * How time stamps count (N-Trace 1.0, "time stamps"; digest section 10). A message with SYNC has the
 * time itself, others a difference to the last one: what they add up to must not be after the next
 * time that is given.
 */
#include <stdlib.h>

#include "detect.h"

struct clock {
	uint64_t absolute;
	uint64_t added;
	uint64_t xored;
	uint32_t known;		/* the stretch between wire errors that it is known in */
};

struct times {
	struct clock clock[SRC_COUNT];
	uint32_t stretch;
	uint64_t mask;		/* bits that a time has */
	uint64_t widest;	/* all bits of all times */
	uint64_t wraps;
	uint64_t add_wrong;
	uint64_t xor_wrong;
	uint64_t differences;
};

static void take_absolute(struct times *times, struct clock *clock, uint64_t time)
{
	bool known = clock->known == times->stretch;

	if (known && time < clock->absolute) {
		times->wraps += clock->absolute > times->mask / 2;
	} else if (known) {
		times->add_wrong += clock->added > time;
		times->xor_wrong += clock->xored > time;
	}
	times->widest |= time;
	clock->absolute = time;
	clock->added = time;
	clock->xored = time;
	clock->known = times->stretch;
}

static void take_difference(struct times *times, struct clock *clock, uint64_t difference)
{
	uint64_t xored = clock->xored ^ difference;

	if (clock->known != times->stretch || !difference)
		return;
	times->differences++;
	times->xor_wrong += xored < clock->xored && clock->xored - xored <= times->mask / 2;
	clock->xored = xored;
	clock->added = (clock->added + difference) & times->mask;
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
		struct clock *clock = &times->clock[message.field[NTRACE_FIELD_SRC]];

		times->stretch += event == NTRACE_WIRE_ERROR;
		if (event == NTRACE_WIRE_ERROR || message.flags ||
		    !ntrace_message_has(&message, NTRACE_FIELD_TSTAMP))
			continue;
		/* That of Error may be the time of the loss. */
		if (message.tcode == NTRACE_TCODE_ERROR)
			clock->known = 0;
		else if (ntrace_message_has(&message, NTRACE_FIELD_SYNC))
			take_absolute(times, clock, message.field[NTRACE_FIELD_TSTAMP]);
		else
			take_difference(times, clock, message.field[NTRACE_FIELD_TSTAMP]);
	}
}

int detect_times(const uint8_t *data, size_t size, struct ntrace_params *params, bool *open)
{
	struct times *times = calloc(1, sizeof(*times));
	unsigned int bits;
	uint64_t wraps;

	if (!times)
		return NTRACE_ERR_NOMEM;
	/* Once to see how wide a time is, then within that width. */
	times->mask = UINT64_MAX;
	walk(times, data, size, params);
	bits = times->widest ? 64 - (unsigned int)__builtin_clzll(times->widest) : 0;
	*times = (struct times){ .mask = bits ? UINT64_MAX >> (64 - bits) : UINT64_MAX };
	walk(times, data, size, params);
	wraps = times->wraps;
	if (wraps && bits < 64)
		params->timestamp_bits = bits;
	*open = times->differences && times->add_wrong == times->xor_wrong;
	params->timestamp_xor = params->dialect != NTRACE_DIALECT_SIFIVE_V0 &&
				times->xor_wrong < times->add_wrong;
	if (params->dialect == NTRACE_DIALECT_SIFIVE_V0)
		*open = false;
	free(times);
	return NTRACE_OK;
}
