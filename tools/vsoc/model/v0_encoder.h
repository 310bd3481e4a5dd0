/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Registers of SiFive's trace encoder of before the ratified specification
 * (digest trace-control.md section 10), as a front to an encoder and a RAM sink of
 * today: one page that has both. Knows no emulator; not thread safe.
 */
#ifndef VSOC_MODEL_V0_ENCODER_H
#define VSOC_MODEL_V0_ENCODER_H

#include <stdbool.h>
#include <stdint.h>

#include <ntrace/trace_control.h>

enum v0_part {
	V0_ENCODER,
	V0_RAM_SINK,
};

/* Registers of the encoder and of the sink */
struct v0_ops {
	uint32_t (*read)(void *opaque, enum v0_part part, uint32_t offset);
	void (*write)(void *opaque, enum v0_part part, uint32_t offset, uint32_t value);
};

/**
 * struct v0_encoder - what the two do not have themselves
 * @hart: its number; the low bits are SRC
 * @sink_bytes: granule of the sink: 4, 8, 16 or 32
 * @control: mode and sync intervals as they were written
 *
 * Mode 1 (events) lands on 0; 7 traces as 6 does. A sync interval of bytes wins
 * over one of messages. No BTM, no ITC, no sink but system memory. SinkError is
 * set when trace cannot be enabled because WP is outside of the buffer, and when
 * FAULT_SINK_ERROR is written to FAULT_REGISTER while it runs: from then on nothing
 * gets to memory until it is enabled anew.
 */
struct v0_encoder {
	const struct v0_ops *ops;
	void *opaque;
	unsigned int hart;
	unsigned int sink_bytes;
	uint32_t control;
	bool sink_error;
};

/** v0_encoder_power_up - registers after power-up; those of the two parts are reset by others */
void v0_encoder_power_up(struct v0_encoder *v0);

uint32_t v0_encoder_read(struct v0_encoder *v0, uint32_t offset);
void v0_encoder_write(struct v0_encoder *v0, uint32_t offset, uint32_t value);

#endif /* VSOC_MODEL_V0_ENCODER_H */
