/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Frames of a CoreSight trace formatter (ARM IHI 0029, "Trace formatter"): 16 bytes that hold the
 * bytes of several sources, with the number of the source before them.
 *
 * The bytes at even places are either a number (bit 0 set) or data without its bit 0, which is in
 * byte 15, bit N for byte 2 N. Behind a number that bit says that the next byte is still of the
 * source before. Bytes at odd places are data. Between frames there may be words 0x7fffffff, and
 * between half-words 0x7fff, for a probe to find the frames by.
 */
#ifndef NTRACE_SESSION_FORMATTER_H
#define NTRACE_SESSION_FORMATTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FORMATTER_FRAME 16
#define FORMATTER_SOURCES 128

/* Source 0 is nobody: what is there fills up a frame. Those from 0x70 on are reserved. */
#define FORMATTER_SOURCE_LAST 0x6f

/**
 * struct formatter - takes frames apart
 * @put: gets each byte; @source is 1..FORMATTER_SOURCE_LAST
 * @frame_begins: called before each frame with the number of bytes that were fed before it
 * @restarted: called where four words 0x7fffffff say that frames before are not continued
 * @nameless: bytes before the first number
 * @reserved: bytes of reserved sources, which are none of trace
 */
struct formatter {
	int (*put)(void *data, unsigned int source, uint8_t byte);
	int (*frame_begins)(void *data, uint64_t fed);
	int (*restarted)(void *data);
	void *data;
	uint64_t nameless;
	uint64_t reserved;
	/* private */
	uint64_t fed;
	uint8_t frame[FORMATTER_FRAME];
	unsigned int used;
	unsigned int words;
	unsigned int source;
	bool known;
};

/** formatter_feed - the next bytes. Return: 0, or what a callback returned */
int formatter_feed(struct formatter *formatter, const uint8_t *bytes, size_t size);

/** formatter_break - bytes are missing: what follows begins with a frame, of an unknown source */
void formatter_break(struct formatter *formatter);

/** formatter_pending - bytes of a frame that is not whole */
static inline unsigned int formatter_pending(const struct formatter *formatter)
{
	return formatter->used;
}

#endif
