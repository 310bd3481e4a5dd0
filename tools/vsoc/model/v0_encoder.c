// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <ntrace/trace_control.h>

#include "fault.h"
#include "v0_encoder.h"

/* Fields of teControl that the v0 front end keeps itself: trTeControl has no such fields. */
#define CONTROL_KEPT (7u << V0_CONTROL_MODE_SHIFT | 0xfu << V0_CONTROL_SYNC_MAX_BTM_SHIFT | \
		      0xfu << V0_CONTROL_SYNC_MAX_INST_SHIFT)

/* Fields that teControl and trTeControl have at the same place. */
#define SAME_PLACE (V0_CONTROL_ACTIVE | V0_CONTROL_ENABLE | V0_CONTROL_TRACING | \
		    V0_CONTROL_STALL_OR_OVERFLOW | V0_CONTROL_STALL_ENA | V0_CONTROL_INHIBIT_SRC)

static uint32_t rd(const struct v0_encoder *v0, enum v0_part part, uint32_t offset)
{
	return v0->ops->read(v0->opaque, part, offset);
}

static void wr(const struct v0_encoder *v0, enum v0_part part, uint32_t offset, uint32_t value)
{
	v0->ops->write(v0->opaque, part, offset, value);
}

void v0_encoder_power_up(struct v0_encoder *v0)
{
	v0->control = 0;
	v0->sink_error = false;
}

/*
 * Stops the sink after the encoder has sent all trace. When that is depends on the hart, so each
 * access to a register checks for it.
 */
static void settle(const struct v0_encoder *v0)
{
	uint32_t te = rd(v0, V0_ENCODER, TR_TE_CONTROL);
	uint32_t sink = rd(v0, V0_RAM_SINK, TR_RAM_CONTROL);

	if (!(te & TR_CONTROL_ENABLE) && (te & TR_CONTROL_EMPTY) && (sink & TR_CONTROL_ENABLE))
		wr(v0, V0_RAM_SINK, TR_RAM_CONTROL, sink & ~TR_CONTROL_ENABLE);
}

static uint32_t read_control(const struct v0_encoder *v0)
{
	uint32_t te = rd(v0, V0_ENCODER, TR_TE_CONTROL);
	uint32_t sink = rd(v0, V0_RAM_SINK, TR_RAM_CONTROL);
	uint32_t value = te & SAME_PLACE;

	if (te & sink & TR_CONTROL_EMPTY)
		value |= V0_CONTROL_EMPTY;
	if (!(te & TR_CONTROL_ACTIVE))
		return value;
	if (sink & TR_RAM_CONTROL_STOP_ON_WRAP)
		value |= V0_CONTROL_STOP_ON_WRAP;
	if (v0->sink_error)
		value |= V0_CONTROL_SINK_ERROR;
	return value | v0->control | V0_CONTROL_FORMAT |
	       (uint32_t)V0_SINK_SBA << V0_CONTROL_SINK_SHIFT;
}

static uint32_t read_impl(const struct v0_encoder *v0)
{
	if (!(rd(v0, V0_ENCODER, TR_TE_CONTROL) & TR_CONTROL_ACTIVE))
		return 0;
	return V0_IMPL_HAS_SBA |
	       (uint32_t)__builtin_ctz(v0->sink_bytes / 4) << V0_IMPL_SINK_BYTES_SHIFT |
	       (v0->hart & ((1u << V0_SRC_BITS) - 1)) << V0_IMPL_SRC_ID_SHIFT |
	       V0_SRC_BITS << V0_IMPL_SRC_BITS_SHIFT | (v0->hart & 0xf) << V0_IMPL_HART_SHIFT;
}

uint32_t v0_encoder_read(struct v0_encoder *v0, uint32_t offset)
{
	settle(v0);
	switch (offset) {
	case V0_CONTROL:
		return read_control(v0);
	case V0_IMPL:
		return read_impl(v0);
	case V0_SINK_BASE:
		return rd(v0, V0_RAM_SINK, TR_RAM_START_LOW);
	case V0_SINK_BASE_HIGH:
		return rd(v0, V0_RAM_SINK, TR_RAM_START_HIGH);
	case V0_SINK_LIMIT:
		return rd(v0, V0_RAM_SINK, TR_RAM_LIMIT_LOW);
	case V0_SINK_WP:
		return rd(v0, V0_RAM_SINK, TR_RAM_WP_LOW);
	case V0_TS_CONTROL:
		return rd(v0, V0_ENCODER, TR_TS_CONTROL);
	case V0_TS_LOWER:
		return rd(v0, V0_ENCODER, TR_TS_COUNTER_LOW);
	case V0_TS_UPPER:
		return rd(v0, V0_ENCODER, TR_TS_COUNTER_HIGH);
	default:
		return 0;
	}
}

static uint32_t legal_kept(uint32_t value)
{
	uint32_t mode = value >> V0_CONTROL_MODE_SHIFT & 7;

	value &= CONTROL_KEPT;
	return mode >= 6 ? value : value & ~(7u << V0_CONTROL_MODE_SHIFT);
}

/* Returns mode, format and sync for trTeControl. 2^(n+5) bytes are 2^(n+4) parcels. */
static uint32_t te_config(const struct v0_encoder *v0)
{
	uint32_t messages = v0->control >> V0_CONTROL_SYNC_MAX_BTM_SHIFT & 0xf;
	uint32_t bytes = v0->control >> V0_CONTROL_SYNC_MAX_INST_SHIFT & 0xf;
	uint32_t mode = TR_TE_SYNC_MODE_OFF, max = 0;
	uint32_t value = v0->control >> V0_CONTROL_MODE_SHIFT & 7 ?
				 TR_TE_INST_MODE_HTM << TR_TE_CONTROL_INST_MODE_SHIFT :
				 0;

	if (bytes != V0_SYNC_MAX_OFF) {
		mode = TR_TE_SYNC_MODE_PARCELS;
		max = bytes;
	} else if (messages != V0_SYNC_MAX_OFF) {
		mode = TR_TE_SYNC_MODE_MESSAGES;
		max = messages + 1;
	}
	return value | mode << TR_TE_CONTROL_INST_SYNC_MODE_SHIFT |
	       max << TR_TE_CONTROL_INST_SYNC_MAX_SHIFT;
}

static void wake_up(struct v0_encoder *v0)
{
	wr(v0, V0_RAM_SINK, TR_RAM_CONTROL, TR_CONTROL_ACTIVE);
	wr(v0, V0_ENCODER, TR_TE_CONTROL, TR_CONTROL_ACTIVE);
	wr(v0, V0_ENCODER, TR_TE_INST_FEATURES,
	   V0_SRC_BITS << TR_TE_FEATURE_SRC_BITS_SHIFT | (v0->hart & ((1u << V0_SRC_BITS) - 1))
								 << TR_TE_FEATURE_SRC_ID_SHIFT);
	v0->control = V0_SYNC_MAX_OFF << V0_CONTROL_SYNC_MAX_BTM_SHIFT |
		      V0_SYNC_MAX_OFF << V0_CONTROL_SYNC_MAX_INST_SHIFT;
}

/* Return: whether the sink is enabled, or need not be. */
static bool enable_sink(struct v0_encoder *v0, uint32_t value)
{
	uint32_t sink = TR_CONTROL_ACTIVE | TR_RAM_CONTROL_MODE_SMEM |
			(value & V0_CONTROL_STOP_ON_WRAP ? TR_RAM_CONTROL_STOP_ON_WRAP : 0);

	wr(v0, V0_RAM_SINK, TR_RAM_CONTROL, sink);
	if (!(value & V0_CONTROL_ENABLE))
		return true;
	wr(v0, V0_RAM_SINK, TR_RAM_CONTROL, sink | TR_CONTROL_ENABLE);
	if (rd(v0, V0_RAM_SINK, TR_RAM_CONTROL) & TR_CONTROL_ENABLE)
		return true;
	v0->sink_error = true;
	return false;
}

static void write_control(struct v0_encoder *v0, uint32_t value)
{
	uint32_t te = rd(v0, V0_ENCODER, TR_TE_CONTROL);

	if (!(value & V0_CONTROL_ACTIVE)) {
		wr(v0, V0_ENCODER, TR_TE_CONTROL, 0);
		wr(v0, V0_RAM_SINK, TR_RAM_CONTROL, 0);
		v0_encoder_power_up(v0);
		return;
	}
	if (!(te & TR_CONTROL_ACTIVE)) {
		wake_up(v0);
		return;
	}
	if (value & V0_CONTROL_SINK_ERROR)
		v0->sink_error = false;
	/* Other fields are frozen while tracing is enabled or trace is still queued. */
	if (!(te & TR_CONTROL_ENABLE) && (te & TR_CONTROL_EMPTY)) {
		v0->control = legal_kept(value);
		if (!enable_sink(v0, value))
			value &= ~(V0_CONTROL_ENABLE | V0_CONTROL_TRACING);
	}
	/* 1 clears StallOrOverflow in trTeControl, 0 in teControl. */
	value ^= V0_CONTROL_STALL_OR_OVERFLOW;
	wr(v0, V0_ENCODER, TR_TE_CONTROL, (value & SAME_PLACE) | te_config(v0));
	settle(v0);
}

/* Makes memory answer with an error. */
static void fail_sink(struct v0_encoder *v0)
{
	uint32_t sink = rd(v0, V0_RAM_SINK, TR_RAM_CONTROL);

	if (!(sink & TR_CONTROL_ENABLE))
		return;
	v0->sink_error = true;
	wr(v0, V0_RAM_SINK, TR_RAM_CONTROL, sink & ~TR_CONTROL_ENABLE);
}

void v0_encoder_write(struct v0_encoder *v0, uint32_t offset, uint32_t value)
{
	settle(v0);
	switch (offset) {
	case FAULT_REGISTER:
		if (value & FAULT_SINK_ERROR)
			fail_sink(v0);
		break;
	case V0_CONTROL:
		write_control(v0, value);
		break;
	case V0_SINK_BASE:
		wr(v0, V0_RAM_SINK, TR_RAM_START_LOW, value);
		break;
	case V0_SINK_BASE_HIGH:
		wr(v0, V0_RAM_SINK, TR_RAM_START_HIGH, value);
		wr(v0, V0_RAM_SINK, TR_RAM_LIMIT_HIGH, value);
		wr(v0, V0_RAM_SINK, TR_RAM_WP_HIGH, value);
		break;
	case V0_SINK_LIMIT:
		wr(v0, V0_RAM_SINK, TR_RAM_LIMIT_LOW, value);
		break;
	case V0_SINK_WP:
		wr(v0, V0_RAM_SINK, TR_RAM_WP_LOW, value);
		break;
	case V0_TS_CONTROL:
		wr(v0, V0_ENCODER, TR_TS_CONTROL, value);
		break;
	}
}
