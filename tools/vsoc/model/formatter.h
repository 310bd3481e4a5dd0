/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Formatter of an Arm CoreSight trace buffer (ARM IHI 0029, "Trace formatter"): frames of 16 bytes
 * with the bytes of several sources. It shares no code with the library's frames, so that each
 * checks the other. This file depends on no emulator and is not thread safe.
 */
#ifndef VSOC_MODEL_FORMATTER_H
#define VSOC_MODEL_FORMATTER_H

#include <stdbool.h>
#include <stdint.h>

#define FORMATTER_FRAME 16

/*
 * CoreSight formatters repeat the ID of a source that does not change, at least in every tenth
 * frame: a reader that starts in the middle of a buffer that has wrapped then finds one.
 */
#define FORMATTER_REPEAT 10

/**
 * struct formatter - a frame in progress
 * @id: source of the last byte, 0: none yet, or padding
 * @anonymous: frames since the last one with an ID
 */
struct formatter {
	uint8_t id;
	unsigned int anonymous;
	bool named;		/* the frame has an ID */
	unsigned int used;
	uint8_t frame[FORMATTER_FRAME];
};

void formatter_init(struct formatter *formatter);

/**
 * formatter_put - add a byte
 * @id: its source, 1..0x6f
 * @out: receives a frame that is complete
 *
 * Return: whether there is one. The byte may be in the frame after it.
 */
bool formatter_put(struct formatter *formatter, uint8_t id, uint8_t byte,
		   uint8_t out[FORMATTER_FRAME]);

/**
 * formatter_flush - pad the frame in progress with ID 0
 * Return: false if there is none.
 */
bool formatter_flush(struct formatter *formatter, uint8_t out[FORMATTER_FRAME]);

#endif /* VSOC_MODEL_FORMATTER_H */
