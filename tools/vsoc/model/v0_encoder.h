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

/* teControl */
#define V0_CONTROL			0x00
#define V0_CONTROL_ACTIVE		0x00000001u
#define V0_CONTROL_ENABLE		0x00000002u
#define V0_CONTROL_TRACING		0x00000004u
#define V0_CONTROL_EMPTY		0x00000008u
#define V0_CONTROL_MODE_SHIFT		4	/* 0 none, 6 HTM, 7 HTM with optimisations */
#define V0_CONTROL_STALL_OR_OVERFLOW	0x00001000u	/* cleared by writing 0 */
#define V0_CONTROL_STALL_ENA		0x00002000u
#define V0_CONTROL_STOP_ON_WRAP		0x00004000u
#define V0_CONTROL_INHIBIT_SRC		0x00008000u
#define V0_CONTROL_SYNC_MAX_BTM_SHIFT	16	/* 2^(n+5) messages, 15: off */
#define V0_CONTROL_SYNC_MAX_INST_SHIFT	20	/* 2^(n+5) bytes, 15: off */
#define V0_CONTROL_FORMAT		0x01000000u	/* reads 1 */
#define V0_CONTROL_SINK_ERROR		0x08000000u	/* cleared by writing 1 */
#define V0_CONTROL_SINK_SHIFT		28
#define V0_SINK_SBA			7	/* system memory */

#define V0_IMPL				0x04
#define V0_IMPL_HAS_SBA			0x00000080u
#define V0_IMPL_SINK_BYTES_SHIFT	16	/* 4 << n */
#define V0_IMPL_SRC_ID_SHIFT		20
#define V0_IMPL_SRC_BITS_SHIFT		24
#define V0_IMPL_HART_SHIFT		28

#define V0_SINK_BASE			0x10
#define V0_SINK_BASE_HIGH		0x14	/* of Limit and WP as well */
#define V0_SINK_LIMIT			0x18
#define V0_SINK_WP			0x1c	/* bit 0: wrapped */
#define V0_TS_CONTROL			0x40	/* as trTsControl, but Width has 8 bits */
#define V0_TS_LOWER			0x44
#define V0_TS_UPPER			0x48

#define V0_SRC_BITS			2

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
 * set when trace cannot be enabled because WP is outside of the buffer.
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
