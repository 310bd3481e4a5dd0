/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Registers of pre-ratification SiFive trace encoders (version 0), as a front end to an encoder and
 * a RAM sink of Trace Control Interface 1.0: one page controls both. This file depends on no
 * emulator and is not thread safe.
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
 * struct v0_encoder - state that neither the encoder nor the RAM sink has
 * @hart: index of the hart; SRC is its low bits
 * @sink_bytes: granule of the sink: 4, 8, 16 or 32
 * @control: mode and sync intervals as software wrote them
 *
 * Mode 1 (events) becomes 0; mode 7 traces like mode 6. A sync interval in bytes overrides one in
 * messages. There is no BTM, no ITC, and no sink but system memory. SinkError is set if trace
 * cannot be enabled because WP is outside the buffer, and when FAULT_SINK_ERROR is written to
 * FAULT_REGISTER while trace is enabled: from then on no trace reaches memory until software
 * enables it again.
 */
struct v0_encoder {
	const struct v0_ops *ops;
	void *opaque;
	unsigned int hart;
	unsigned int sink_bytes;
	uint32_t control;
	bool sink_error;
};

/**
 * v0_encoder_power_up - set the front end to its state after power-up; the caller resets encoder
 * and sink
 */
void v0_encoder_power_up(struct v0_encoder *v0);

uint32_t v0_encoder_read(struct v0_encoder *v0, uint32_t offset);
void v0_encoder_write(struct v0_encoder *v0, uint32_t offset, uint32_t value);

#endif /* VSOC_MODEL_V0_ENCODER_H */
