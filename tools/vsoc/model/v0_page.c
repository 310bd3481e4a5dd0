// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <ntrace/trace_control.h>

#include "fault.h"
#include "v0_page.h"

/* Fields of teControl that the page keeps itself: trTeControl has no such fields. */
#define CONTROL_KEPT (V0_CONTROL_MODE_MASK | V0_CONTROL_SYNC_MAX_BTM_MASK | \
		      V0_CONTROL_SYNC_MAX_INST_MASK)

/* Fields that teControl and trTeControl have at the same place. */
#define ENCODER_FIELDS (V0_CONTROL_ACTIVE | V0_CONTROL_ENABLE | V0_CONTROL_TRACING | \
			V0_CONTROL_STALL_OR_OVERFLOW | V0_CONTROL_STALL_ENA | \
			V0_CONTROL_INHIBIT_SRC)
#define FUNNEL_FIELDS (V0_CONTROL_ACTIVE | V0_CONTROL_ENABLE)

#define STAMPED (V0_TS_CONTROL_BRANCH_MASK | V0_TS_CONTROL_ITC | V0_TS_CONTROL_OWNERSHIP)

static bool has_encoder(const struct v0_page *v0)
{
	return v0->kind != V0_FUNNEL_AND_SINK;
}

static bool has_sink(const struct v0_page *v0)
{
	return v0->kind != V0_ENCODER;
}

static uint32_t rd(const struct v0_page *v0, enum v0_part part, uint32_t offset)
{
	return v0->ops->read(v0->opaque, part, offset);
}

static void wr(const struct v0_page *v0, enum v0_part part, uint32_t offset, uint32_t value)
{
	v0->ops->write(v0->opaque, part, offset, value);
}

/* An encoder without a sink acts like one whose sink is never enabled. */
static uint32_t sink_control(const struct v0_page *v0)
{
	return has_sink(v0) ? rd(v0, V0_RAM_SINK, TR_RAM_CONTROL) : TR_CONTROL_EMPTY;
}

void v0_page_power_up(struct v0_page *v0)
{
	v0->control = 0;
	v0->itc_enable = 0;
	v0->itc_trigger = 0;
	v0->stamped = 0;
	v0->sink_error = false;
}

/*
 * Stops the sink after the source has sent all trace. When that is depends on the hart, so each
 * access to a register checks for it.
 */
static void settle(const struct v0_page *v0)
{
	uint32_t source = rd(v0, V0_SOURCE, TR_CONTROL);
	uint32_t sink = sink_control(v0);

	if (!(source & TR_CONTROL_ENABLE) && (source & TR_CONTROL_EMPTY) &&
	    (sink & TR_CONTROL_ENABLE))
		wr(v0, V0_RAM_SINK, TR_RAM_CONTROL, sink & ~TR_CONTROL_ENABLE);
}

static uint32_t read_control(const struct v0_page *v0)
{
	uint32_t source = rd(v0, V0_SOURCE, TR_CONTROL);
	uint32_t sink = sink_control(v0);
	uint32_t value = source & (has_encoder(v0) ? ENCODER_FIELDS : FUNNEL_FIELDS);

	if (source & sink & TR_CONTROL_EMPTY)
		value |= V0_CONTROL_EMPTY;
	if (!(source & TR_CONTROL_ACTIVE))
		return value;
	if (sink & TR_RAM_CONTROL_STOP_ON_WRAP)
		value |= V0_CONTROL_STOP_ON_WRAP;
	if (v0->sink_error)
		value |= V0_CONTROL_SINK_ERROR;
	if (has_encoder(v0))
		value |= V0_CONTROL_FORMAT;
	return value | v0->control |
	       (uint32_t)(has_sink(v0) ? V0_SINK_SBA : V0_SINK_FUNNEL) << V0_CONTROL_SINK_SHIFT;
}

static uint32_t read_impl(const struct v0_page *v0)
{
	uint32_t value = has_sink(v0) ? V0_IMPL_HAS_SBA : V0_IMPL_HAS_FUNNEL;

	if (!(rd(v0, V0_SOURCE, TR_CONTROL) & TR_CONTROL_ACTIVE))
		return 0;
	if (has_sink(v0))
		value |= (uint32_t)__builtin_ctz(v0->sink_bytes / 4) << V0_IMPL_SINK_BYTES_SHIFT;
	if (has_encoder(v0))
		value |= (v0->hart & ((1u << V0_SRC_BITS) - 1)) << V0_IMPL_SRC_ID_SHIFT |
			 V0_SRC_BITS << V0_IMPL_SRC_BITS_SHIFT |
			 (v0->hart & 0xf) << V0_IMPL_HART_SHIFT;
	return value;
}

static uint32_t read_pointer(const struct v0_page *v0, uint32_t offset)
{
	switch (offset) {
	case V0_SINK_BASE:
		return rd(v0, V0_RAM_SINK, TR_RAM_START_LOW);
	case V0_SINK_BASE_HIGH:
		return rd(v0, V0_RAM_SINK, TR_RAM_START_HIGH);
	case V0_SINK_LIMIT:
		return rd(v0, V0_RAM_SINK, TR_RAM_LIMIT_LOW);
	default:
		return rd(v0, V0_RAM_SINK, TR_RAM_WP_LOW);
	}
}

uint32_t v0_page_read(struct v0_page *v0, uint32_t offset)
{
	settle(v0);
	switch (offset) {
	case V0_CONTROL:
		return read_control(v0);
	case V0_IMPL:
		return read_impl(v0);
	case V0_SINK_BASE:
	case V0_SINK_BASE_HIGH:
	case V0_SINK_LIMIT:
	case V0_SINK_WP:
		return has_sink(v0) ? read_pointer(v0, offset) : 0;
	case V0_TS_CONTROL:
		return rd(v0, V0_SOURCE, TR_TS_CONTROL) | v0->stamped;
	case V0_TS_LOWER:
		return rd(v0, V0_SOURCE, TR_TS_COUNTER_LOW);
	case V0_TS_UPPER:
		return rd(v0, V0_SOURCE, TR_TS_COUNTER_HIGH);
	case V0_ITC_TRACE_ENABLE:
		return v0->itc_enable;
	case V0_ITC_TRIG_ENABLE:
		return v0->itc_trigger;
	default:
		return 0;
	}
}

static uint32_t legal_kept(const struct v0_page *v0, uint32_t value)
{
	uint32_t mode = value >> V0_CONTROL_MODE_SHIFT & 7;

	if (!has_encoder(v0))
		return 0;
	value &= CONTROL_KEPT | (v0->kind == V0_ENCODER ? V0_CONTROL_ITC_MASK : 0);
	return mode >= 6 ? value : value & ~V0_CONTROL_MODE_MASK;
}

/* Returns mode, context, format and sync for trTeControl. 2^(n+5) bytes are 2^(n+4) parcels. */
static uint32_t te_config(const struct v0_page *v0)
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
	if (v0->control & V0_CONTROL_ITC_OWNERSHIP)
		value |= TR_TE_CONTROL_CONTEXT;
	return value | mode << TR_TE_CONTROL_INST_SYNC_MODE_SHIFT |
	       max << TR_TE_CONTROL_INST_SYNC_MAX_SHIFT;
}

static void wake_up(struct v0_page *v0)
{
	if (has_sink(v0))
		wr(v0, V0_RAM_SINK, TR_RAM_CONTROL, TR_CONTROL_ACTIVE);
	wr(v0, V0_SOURCE, TR_CONTROL, TR_CONTROL_ACTIVE);
	if (!has_encoder(v0))
		return;
	wr(v0, V0_SOURCE, TR_TE_INST_FEATURES,
	   V0_SRC_BITS << TR_TE_FEATURE_SRC_BITS_SHIFT | (v0->hart & ((1u << V0_SRC_BITS) - 1))
								 << TR_TE_FEATURE_SRC_ID_SHIFT);
	v0->control = V0_SYNC_MAX_OFF << V0_CONTROL_SYNC_MAX_BTM_SHIFT |
		      V0_SYNC_MAX_OFF << V0_CONTROL_SYNC_MAX_INST_SHIFT;
}

/* Return: whether the sink is enabled, or need not be. */
static bool enable_sink(struct v0_page *v0, uint32_t value)
{
	uint32_t sink = TR_CONTROL_ACTIVE | TR_RAM_CONTROL_MODE_SMEM |
			(value & V0_CONTROL_STOP_ON_WRAP ? TR_RAM_CONTROL_STOP_ON_WRAP : 0);

	if (!has_sink(v0))
		return true;
	wr(v0, V0_RAM_SINK, TR_RAM_CONTROL, sink);
	if (!(value & V0_CONTROL_ENABLE))
		return true;
	wr(v0, V0_RAM_SINK, TR_RAM_CONTROL, sink | TR_CONTROL_ENABLE);
	if (rd(v0, V0_RAM_SINK, TR_RAM_CONTROL) & TR_CONTROL_ENABLE)
		return true;
	v0->sink_error = true;
	return false;
}

static void write_source(const struct v0_page *v0, uint32_t value)
{
	if (!has_encoder(v0)) {
		wr(v0, V0_SOURCE, TR_CONTROL, value & FUNNEL_FIELDS);
		return;
	}
	/* 1 clears StallOrOverflow in trTeControl, 0 in teControl. */
	value ^= V0_CONTROL_STALL_OR_OVERFLOW;
	wr(v0, V0_SOURCE, TR_CONTROL, (value & ENCODER_FIELDS) | te_config(v0));
}

static void write_control(struct v0_page *v0, uint32_t value)
{
	uint32_t source = rd(v0, V0_SOURCE, TR_CONTROL);

	if (!(value & V0_CONTROL_ACTIVE)) {
		wr(v0, V0_SOURCE, TR_CONTROL, 0);
		if (has_sink(v0))
			wr(v0, V0_RAM_SINK, TR_RAM_CONTROL, 0);
		v0_page_power_up(v0);
		return;
	}
	if (!(source & TR_CONTROL_ACTIVE)) {
		wake_up(v0);
		return;
	}
	if (value & V0_CONTROL_SINK_ERROR)
		v0->sink_error = false;
	/* Other fields are frozen while tracing is enabled or trace is still queued. */
	if (!(source & TR_CONTROL_ENABLE) && (source & TR_CONTROL_EMPTY)) {
		if (!v0->read_only)
			v0->control = legal_kept(v0, value);
		if (!enable_sink(v0, value))
			value &= ~(V0_CONTROL_ENABLE | V0_CONTROL_TRACING);
	}
	write_source(v0, value);
	settle(v0);
}

static void write_pointer(const struct v0_page *v0, uint32_t offset, uint32_t value)
{
	switch (offset) {
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
	default:
		wr(v0, V0_RAM_SINK, TR_RAM_WP_LOW, value);
		break;
	}
}

/* Makes memory answer with an error. */
static void fail_sink(struct v0_page *v0)
{
	uint32_t sink = sink_control(v0);

	if (!(sink & TR_CONTROL_ENABLE))
		return;
	v0->sink_error = true;
	wr(v0, V0_RAM_SINK, TR_RAM_CONTROL, sink & ~TR_CONTROL_ENABLE);
}

/* Other faults are those of a part. */
static void set_faults(struct v0_page *v0, uint32_t value)
{
	uint32_t pointer = FAULT_POINTER_OUTSIDE | FAULT_STUCK_POINTER;

	v0->read_only = value & FAULT_READ_ONLY;
	if (value & FAULT_SINK_ERROR)
		fail_sink(v0);
	wr(v0, V0_SOURCE, FAULT_REGISTER, value & ~(pointer | FAULT_SINK_ERROR));
	if (has_sink(v0))
		wr(v0, V0_RAM_SINK, FAULT_REGISTER, value & (pointer | FAULT_READ_ONLY));
}

static void store_stimulus(const struct v0_page *v0, unsigned int number, uint32_t value)
{
	bool owner = number == 15 || number == V0_ITC_STIMULUS_MAX;

	if (owner && v0->control & V0_CONTROL_ITC_OWNERSHIP && v0->itc_enable >> number & 1)
		v0->ops->own(v0->opaque, value);
}

static bool is_active(const struct v0_page *v0)
{
	return rd(v0, V0_SOURCE, TR_CONTROL) & TR_CONTROL_ACTIVE;
}

static void write_itc(struct v0_page *v0, uint32_t offset, uint32_t value)
{
	if (v0->kind != V0_ENCODER || !is_active(v0))
		return;
	if (offset == V0_ITC_TRACE_ENABLE)
		v0->itc_enable = value;
	else if (offset == V0_ITC_TRIG_ENABLE)
		v0->itc_trigger = value;
	else if (offset >= V0_ITC_STIMULUS(0) && offset <= V0_ITC_STIMULUS(V0_ITC_STIMULUS_MAX))
		store_stimulus(v0, (offset - V0_ITC_STIMULUS(0)) / 4, value);
}

void v0_page_write(struct v0_page *v0, uint32_t offset, uint32_t value)
{
	settle(v0);
	switch (offset) {
	case FAULT_REGISTER:
		set_faults(v0, value);
		break;
	case V0_CONTROL:
		write_control(v0, value);
		break;
	case V0_SINK_BASE:
	case V0_SINK_BASE_HIGH:
	case V0_SINK_LIMIT:
	case V0_SINK_WP:
		if (has_sink(v0))
			write_pointer(v0, offset, value);
		break;
	case V0_TS_CONTROL:
		wr(v0, V0_SOURCE, TR_TS_CONTROL, value);
		if (has_encoder(v0))
			v0->stamped = value & TR_TS_CONTROL_ACTIVE ? value & STAMPED : 0;
		break;
	default:
		write_itc(v0, offset, value);
		break;
	}
}
