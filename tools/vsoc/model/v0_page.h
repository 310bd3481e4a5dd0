/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Registers of pre-ratification SiFive trace encoders and funnels (version 0), as a front end to
 * blocks of Trace Control Interface 1.0: one page controls an encoder or a funnel, and its way to
 * memory. This file depends on no emulator and is not thread safe.
 */
#ifndef VSOC_MODEL_V0_PAGE_H
#define VSOC_MODEL_V0_PAGE_H

#include <stdbool.h>
#include <stdint.h>

#include <ntrace/trace_control.h>

enum v0_kind {
	V0_ENCODER_AND_SINK,	/* an encoder that writes to memory */
	V0_ENCODER,		/* an encoder that sends to a funnel */
	V0_FUNNEL_AND_SINK,	/* a funnel that writes to memory */
};

/* The blocks that a page controls */
enum v0_part {
	V0_SOURCE,		/* encoder or funnel */
	V0_RAM_SINK,
};

struct v0_ops {
	/* Registers of a part */
	uint32_t (*read)(void *opaque, enum v0_part part, uint32_t offset);
	void (*write)(void *opaque, enum v0_part part, uint32_t offset, uint32_t value);
	/* V0_ENCODER only: software stored the id of a process for an Ownership message. */
	void (*own)(void *opaque, uint32_t id);
};

/**
 * struct v0_page - state that the parts do not have
 * @hart: index of the hart; SRC is its low bits
 * @sink_bytes: granule of the sink: 4, 8, 16 or 32
 * @control: modes and sync intervals as software wrote them
 * @itc_enable: itcTraceEnable
 * @itc_trigger: itcTrigEnable
 * @read_only: FAULT_READ_ONLY
 * @stamped: fields of tsControl that name the messages with a timestamp; without effect
 *
 * Mode 1 (events) becomes 0; mode 7 traces like mode 6. A sync interval in bytes overrides one in
 * messages. There is no BTM. SinkError is set if trace cannot be enabled because WP is outside the
 * buffer, and when FAULT_SINK_ERROR is written to FAULT_REGISTER while trace is enabled: from then
 * on no trace reaches memory until software enables it again.
 *
 * Only V0_ENCODER has an ITC mode: stores to itcStimulus[15] and [31] become Ownership messages.
 * Other stimulus registers send nothing, and no store triggers.
 */
struct v0_page {
	const struct v0_ops *ops;
	void *opaque;
	enum v0_kind kind;
	unsigned int hart;
	unsigned int sink_bytes;
	uint32_t control;
	uint32_t itc_enable;
	uint32_t itc_trigger;
	uint32_t stamped;
	bool sink_error;
	bool read_only;
};

/** v0_page_power_up - set the page to its state after power-up; the caller resets its parts */
void v0_page_power_up(struct v0_page *v0);

uint32_t v0_page_read(struct v0_page *v0, uint32_t offset);
void v0_page_write(struct v0_page *v0, uint32_t offset, uint32_t value);

#endif /* VSOC_MODEL_V0_PAGE_H */
