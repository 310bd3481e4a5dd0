// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <string.h>

#include "formatter.h"

/* This byte has bit 0 of each even byte, or, for an ID, whether the next byte has the old ID. */
#define AUXILIARY (FORMATTER_FRAME - 1)

void formatter_init(struct formatter *formatter)
{
	memset(formatter, 0, sizeof(*formatter));
}

/* Return: whether the frame was complete. */
static bool finish(struct formatter *formatter, uint8_t out[FORMATTER_FRAME])
{
	if (formatter->used < AUXILIARY)
		return false;
	memcpy(out, formatter->frame, FORMATTER_FRAME);
	memset(formatter->frame, 0, FORMATTER_FRAME);
	formatter->used = 0;
	formatter->anonymous = formatter->named ? 0 : formatter->anonymous + 1;
	formatter->named = false;
	return true;
}

/* An ID takes an even byte. If that has data already, the data moves to the odd byte after it. */
static void put_id(struct formatter *formatter, uint8_t id)
{
	unsigned int even = formatter->used & ~1u;
	uint8_t bit = (uint8_t)(1u << even / 2);

	if (formatter->used & 1) {
		uint8_t low = formatter->frame[AUXILIARY] & bit ? 1 : 0;

		formatter->frame[even + 1] = formatter->frame[even] | low;
		formatter->frame[AUXILIARY] |= bit;
	}
	formatter->frame[even] = (uint8_t)(id << 1 | 1);
	formatter->used++;
	formatter->id = id;
	formatter->named = true;
}

static void put_data(struct formatter *formatter, uint8_t byte)
{
	unsigned int at = formatter->used++;

	if (at & 1) {
		formatter->frame[at] = byte;
		return;
	}
	formatter->frame[at] = byte & 0xfe;
	formatter->frame[AUXILIARY] |= (uint8_t)((byte & 1) << at / 2);
}

static bool repeats(const struct formatter *formatter)
{
	return !formatter->used && formatter->anonymous == FORMATTER_REPEAT - 1;
}

bool formatter_put(struct formatter *formatter, uint8_t id, uint8_t byte,
		   uint8_t out[FORMATTER_FRAME])
{
	bool complete = false;

	if (id != formatter->id || repeats(formatter)) {
		put_id(formatter, id);
		complete = finish(formatter, out);
	}
	put_data(formatter, byte);
	return finish(formatter, out) || complete;
}

bool formatter_flush(struct formatter *formatter, uint8_t out[FORMATTER_FRAME])
{
	if (!formatter->used)
		return false;
	put_id(formatter, 0);
	formatter->used = AUXILIARY;
	return finish(formatter, out);
}
