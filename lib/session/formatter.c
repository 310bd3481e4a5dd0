// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* CoreSight formatter frames; see formatter.h. */
#include <string.h>

#include "formatter.h"

#define WORD 4
#define AUXILIARY 15

static const uint8_t synchronization[WORD] = { 0xff, 0xff, 0xff, 0x7f };

static int put(struct formatter *formatter, uint8_t byte)
{
	if (!formatter->known) {
		formatter->nameless++;
		return 0;
	}
	if (!formatter->source)
		return 0;
	if (formatter->source > FORMATTER_SOURCE_LAST) {
		formatter->reserved++;
		return 0;
	}
	return formatter->put(formatter->data, formatter->source, byte);
}

static int take_frame(struct formatter *formatter)
{
	const uint8_t *frame = formatter->frame;
	unsigned int i;
	int error = 0;

	for (i = 0; i < AUXILIARY && !error; i += 2) {
		bool bit = frame[AUXILIARY] >> i / 2 & 1;
		bool number = frame[i] & 1;

		if (!number) {
			error = put(formatter, (uint8_t)(frame[i] | bit));
		} else if (bit && i + 1 < AUXILIARY) {
			/* The byte behind it belongs to the source before. */
			error = put(formatter, frame[i + 1]);
		}
		if (number) {
			formatter->source = frame[i] >> 1;
			formatter->known = true;
		}
		if (!error && i + 1 < AUXILIARY && !(number && bit))
			error = put(formatter, frame[i + 1]);
	}
	return error;
}

/* Synchronization is no part of a frame: takes it out of the one in progress. */
static int drop_synchronization(struct formatter *formatter)
{
	const uint8_t *last = formatter->frame + formatter->used - 2;

	if (formatter->used == WORD && !memcmp(formatter->frame, synchronization, WORD)) {
		formatter->used = 0;
		if (++formatter->words != WORD)
			return 0;
		formatter->known = false;
		return formatter->restarted(formatter->data);
	}
	if (formatter->used >= WORD)
		formatter->words = 0;
	/* The number 0x7f is reserved, so half a word of synchronization is never data. */
	if (last[0] == synchronization[2] && last[1] == synchronization[3])
		formatter->used -= 2;
	return 0;
}

int formatter_feed(struct formatter *formatter, const uint8_t *bytes, size_t size)
{
	int error = 0;

	for (; size && !error; size--) {
		if (!formatter->used)
			error = formatter->frame_begins(formatter->data, formatter->fed);
		formatter->frame[formatter->used++] = *bytes++;
		formatter->fed++;
		if (!error && !(formatter->used & 1))
			error = drop_synchronization(formatter);
		if (!error && formatter->used == FORMATTER_FRAME) {
			formatter->used = 0;
			error = take_frame(formatter);
		}
	}
	return error;
}

void formatter_break(struct formatter *formatter)
{
	formatter->used = 0;
	formatter->words = 0;
	formatter->known = false;
}
