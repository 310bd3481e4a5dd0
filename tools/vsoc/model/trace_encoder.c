// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <string.h>

#include <ntrace/trace_control.h>

#include "trace_encoder.h"

#define FEATURES (TR_TE_FEATURE_ALL_JUMPS | TR_TE_FEATURE_EXTEND_ADDR_MSB)
#define FILTER_CONTROL (TR_TE_FILTER_CONTROL_ENABLE | TR_TE_FILTER_CONTROL_MATCH_PRIVILEGE)
#define PRIVILEGES (1u << TR_PRIV_U | 1u << TR_PRIV_S | 1u << TR_PRIV_M | \
		    1u << TR_PRIV_VU | 1u << TR_PRIV_VS)

/* Fields of trTeControl that configure and are frozen while Enable is 1. */
#define CONTROL_CONFIG (TR_TE_CONTROL_INST_MODE_MASK | TR_TE_CONTROL_INST_STALL_ENA | \
			TR_TE_CONTROL_INHIBIT_SRC | TR_TE_CONTROL_INST_SYNC_MODE_MASK | \
			TR_TE_CONTROL_INST_SYNC_MAX_MASK)

static uint32_t get_field(uint32_t value, uint32_t mask, unsigned int shift)
{
	return (value & mask) >> shift;
}

void trace_encoder_init(struct trace_encoder *te, const struct trace_encoder_parameters *parameters,
			const struct trace_encoder_ops *ops, void *opaque)
{
	memset(te, 0, sizeof(*te));
	te->parameters = *parameters;
	te->ops = ops;
	te->opaque = opaque;
	trace_encoder_power_up(te);
}

static void reset_registers(struct trace_encoder *te)
{
	te->active = false;
	te->control = 0;
	te->features = 0;
	te->filters = 0;
	te->filter_control = 0;
	te->filter_match_inst = 0;
	te->overflow = false;
}

static void set_fault(struct trace_encoder *te, uint32_t mask)
{
	te->fault = (struct fault){ mask & FAULT_ALL, trace_encoder_read(te, TR_CONTROL) };
	te->drop = mask & FAULT_DROP;
}

void trace_encoder_power_up(struct trace_encoder *te)
{
	reset_registers(te);
	te->fault.mask = 0;
	te->epoch++;
	te->in_flight = 0;
	te->tracing = false;
	te->running = false;
	te->slow = 0;
	te->lost = 0;
	te->stalled = 0;
	memset(&te->encoder, 0, sizeof(te->encoder));
	set_fault(te, te->parameters.faults);
}

static unsigned int src_bits(const struct trace_encoder *te)
{
	return get_field(te->features, TR_TE_FEATURE_SRC_BITS_MASK, TR_TE_FEATURE_SRC_BITS_SHIFT);
}

static unsigned int inst_mode(const struct trace_encoder *te)
{
	return get_field(te->control, TR_TE_CONTROL_INST_MODE_MASK, TR_TE_CONTROL_INST_MODE_SHIFT);
}

static uint32_t control_value(const struct trace_encoder *te)
{
	uint32_t value = te->control;

	if (te->active)
		value |= TR_CONTROL_ACTIVE | TR_TE_FORMAT_NTRACE << TR_TE_CONTROL_FORMAT_SHIFT;
	if (te->overflow)
		value |= TR_TE_CONTROL_INST_STALL_OR_OVERFLOW;
	/* Between start and stop the hart may always have something up its sleeve. */
	if (!te->tracing && !te->in_flight)
		value |= TR_CONTROL_EMPTY;
	return value;
}

static uint32_t read_register(const struct trace_encoder *te, uint32_t offset)
{
	if (offset == TR_TE_CONTROL)
		return control_value(te);
	if (!te->active)
		return 0;

	switch (offset) {
	case TR_TE_IMPL:
		return TR_VER_MAJOR << TR_IMPL_VER_MAJOR_SHIFT |
		       TR_VER_MINOR << TR_IMPL_VER_MINOR_SHIFT |
		       TR_COMP_TYPE_ENCODER << TR_IMPL_COMP_TYPE_SHIFT |
		       TR_TE_PROTOCOL_MAJOR_NTRACE << TR_TE_IMPL_PROTOCOL_MAJOR_SHIFT;
	case TR_TE_INST_FEATURES:
		return te->features;
	case TR_TE_INST_FILTERS:
		return te->filters;
	case TR_TE_FILTER_CONTROL(0):
		return te->filter_control;
	case TR_TE_FILTER_MATCH_INST(0):
		return te->filter_match_inst;
	default:
		return 0;
	}
}

uint32_t trace_encoder_read(const struct trace_encoder *te, uint32_t offset)
{
	return fault_read(&te->fault, offset, read_register(te, offset));
}

static uint32_t legal_config(const struct trace_encoder *te, uint32_t value)
{
	uint32_t plain = TR_TE_CONTROL_INHIBIT_SRC | TR_TE_CONTROL_INST_SYNC_MAX_MASK |
			 (te->parameters.fifo ? TR_TE_CONTROL_INST_STALL_ENA : 0);
	uint32_t mode =
		get_field(value, TR_TE_CONTROL_INST_MODE_MASK, TR_TE_CONTROL_INST_MODE_SHIFT);
	uint32_t sync = get_field(value, TR_TE_CONTROL_INST_SYNC_MODE_MASK,
				  TR_TE_CONTROL_INST_SYNC_MODE_SHIFT);

	if (mode)
		mode = mode <= TR_TE_INST_MODE_BTM ? TR_TE_INST_MODE_BTM : TR_TE_INST_MODE_HTM;
	if (sync == TR_TE_SYNC_MODE_CYCLES)
		sync = TR_TE_SYNC_MODE_PARCELS;

	return (value & plain) | mode << TR_TE_CONTROL_INST_MODE_SHIFT |
	       sync << TR_TE_CONTROL_INST_SYNC_MODE_SHIFT;
}

static uint32_t privilege_mask(const struct trace_encoder *te)
{
	if (!te->filters)
		return ~0u;
	if (!(te->filter_control & TR_TE_FILTER_CONTROL_ENABLE))
		return 0;
	if (!(te->filter_control & TR_TE_FILTER_CONTROL_MATCH_PRIVILEGE))
		return ~0u;
	return te->filter_match_inst & TR_TE_FILTER_MATCH_INST_PRIV_MASK;
}

static void encoder_write(void *opaque, const uint8_t *data, size_t size)
{
	struct trace_encoder *te = opaque;

	bool taken = true;

	if (te->slow & TE_SLOW_DROPPING)
		return;
	if (te->drop && te->encoder.bytes >= te->drop_next) {
		te->drop_next = te->encoder.bytes + te->parameters.fault_drop;
		taken = false;
	}
	if (!taken || !te->ops->write(te->opaque, data, size)) {
		te->slow |= TE_SLOW_DROPPING;
		te->overflow = true;
	}
}

/* Bytes in a cycle, 16.16 fixed point; 0 would be never. */
static uint32_t drain_of(uint32_t bandwidth)
{
	uint64_t drain = ((uint64_t)bandwidth << 16) / 1000;

	return drain ? drain > UINT32_MAX ? UINT32_MAX : (uint32_t)drain : 1;
}

static void make_setup(struct trace_encoder *te, struct trace_encoder_setup *setup)
{
	struct ntrace_encoder_config *config = &setup->config;

	ntrace_encoder_config_init(config);
	config->params.xlen = te->parameters.xlen;
	config->params.mode = inst_mode(te) == TR_TE_INST_MODE_BTM ? NTRACE_MODE_BRANCH :
								     NTRACE_MODE_HISTORY;
	config->params.all_jumps = te->features & TR_TE_FEATURE_ALL_JUMPS;
	config->params.extend_address = te->features & TR_TE_FEATURE_EXTEND_ADDR_MSB;
	if (!(te->control & TR_TE_CONTROL_INHIBIT_SRC)) {
		config->params.src_bits = src_bits(te);
		config->src = get_field(te->features, TR_TE_FEATURE_SRC_ID_MASK,
					TR_TE_FEATURE_SRC_ID_SHIFT);
	}
	if (!config->params.src_bits)
		config->src = 0;
	config->icnt_bits = te->parameters.icnt_bits;
	config->hist_bits = te->parameters.hist_bits;
	config->sync_mode = get_field(te->control, TR_TE_CONTROL_INST_SYNC_MODE_MASK,
				      TR_TE_CONTROL_INST_SYNC_MODE_SHIFT);
	config->sync_max = get_field(te->control, TR_TE_CONTROL_INST_SYNC_MAX_MASK,
				     TR_TE_CONTROL_INST_SYNC_MAX_SHIFT);
	config->priv_mask = privilege_mask(te);
	if (te->parameters.fifo) {
		config->fifo_bytes = te->parameters.fifo;
		config->fifo_drain = drain_of(te->parameters.bandwidth);
		config->stall = te->control & TR_TE_CONTROL_INST_STALL_ENA;
	}
	config->write = encoder_write;
	config->write_data = te;
}

static void deliver(struct trace_encoder *te, bool tracing, bool discard)
{
	struct trace_encoder_setup setup = {
		.epoch = te->epoch,
		.tracing = tracing,
		.discard = discard,
	};

	if (tracing == te->tracing)
		return;
	if (tracing)
		make_setup(te, &setup);
	te->tracing = tracing;
	te->in_flight++;
	te->ops->deliver(te->opaque, &setup);
}

bool trace_encoder_apply(struct trace_encoder *te, const struct trace_encoder_setup *setup)
{
	if (setup->epoch != te->epoch)
		return false;
	te->in_flight--;
	if (setup->tracing) {
		te->slow = setup->config.fifo_bytes ? TE_SLOW_QUEUE : 0;
		te->drop_next = te->parameters.fault_drop;
		ntrace_encoder_init(&te->encoder, &setup->config);
		ntrace_encoder_start(&te->encoder, NTRACE_SYNC_TRACE_ENABLE);
	} else {
		if (!setup->discard)
			ntrace_encoder_stop(&te->encoder, NTRACE_EVCODE_TRACE_DISABLE);
		memset(&te->encoder, 0, sizeof(te->encoder));
	}
	te->running = setup->tracing;
	return true;
}

static void write_control(struct trace_encoder *te, uint32_t value)
{
	uint32_t control = te->control;

	if (!(value & TR_CONTROL_ACTIVE)) {
		deliver(te, false, true);
		reset_registers(te);
		return;
	}
	if (!te->active) {
		/* Out of reset first: the rest of the component is just waking up. */
		te->active = true;
		return;
	}

	if (value & TR_TE_CONTROL_INST_STALL_OR_OVERFLOW)
		te->overflow = false;

	if (control & TR_CONTROL_ENABLE) {
		if ((control ^ legal_config(te, value)) & CONTROL_CONFIG)
			te->software_errors++;
	} else {
		control = legal_config(te, value);
		if (value & TR_CONTROL_ENABLE)
			te->overflow = false;
	}
	control &= ~(TR_CONTROL_ENABLE | TR_TE_CONTROL_INST_TRACING);
	control |= value & TR_CONTROL_ENABLE;
	if (value & TR_CONTROL_ENABLE)
		control |= value & TR_TE_CONTROL_INST_TRACING;
	te->control = control;
	deliver(te, (control & TR_TE_CONTROL_INST_TRACING) && inst_mode(te), false);
}

static void write_features(struct trace_encoder *te, uint32_t value)
{
	uint32_t bits = get_field(value, TR_TE_FEATURE_SRC_BITS_MASK, TR_TE_FEATURE_SRC_BITS_SHIFT);
	uint32_t id = get_field(value, TR_TE_FEATURE_SRC_ID_MASK, TR_TE_FEATURE_SRC_ID_SHIFT);

	if (bits > te->parameters.src_bits_max)
		bits = te->parameters.src_bits_max;
	id &= (1u << bits) - 1;
	te->features = (value & FEATURES) | id << TR_TE_FEATURE_SRC_ID_SHIFT |
		       bits << TR_TE_FEATURE_SRC_BITS_SHIFT;
}

void trace_encoder_write(struct trace_encoder *te, uint32_t offset, uint32_t value)
{
	uint32_t old = read_register(te, offset);

	if (offset == FAULT_REGISTER) {
		set_fault(te, value);
		return;
	}
	if (!fault_write(&te->fault, offset, old, &value))
		return;
	if (offset == TR_TE_CONTROL) {
		write_control(te, value);
		return;
	}
	if (!te->active || te->control & TR_CONTROL_ENABLE) {
		te->software_errors++;
		return;
	}

	switch (offset) {
	case TR_TE_INST_FEATURES:
		write_features(te, value);
		break;
	case TR_TE_INST_FILTERS:
		te->filters = value & 1;
		break;
	case TR_TE_FILTER_CONTROL(0):
		te->filter_control = value & FILTER_CONTROL;
		break;
	case TR_TE_FILTER_MATCH_INST(0):
		te->filter_match_inst = value & PRIVILEGES;
		break;
	}
}

/* The library counts from one start to the next. */
static void watch_queue(struct trace_encoder *te, uint64_t dropped, uint64_t stall_cycles)
{
	if (te->encoder.dropped != dropped || te->encoder.stall_cycles != stall_cycles)
		te->overflow = true;
	te->lost += te->encoder.dropped - dropped;
	te->stalled += te->encoder.stall_cycles - stall_cycles;
}

int trace_encoder_retire_slowly(struct trace_encoder *te, const struct ntrace_ingress *block)
{
	uint64_t dropped = te->encoder.dropped;
	uint64_t stall_cycles = te->encoder.stall_cycles;
	int error;

	if (te->slow & TE_SLOW_DROPPING) {
		if (!te->ops->ready(te->opaque))
			return 0;
		te->slow &= ~(uint32_t)TE_SLOW_DROPPING;
		ntrace_encoder_overrun(&te->encoder);
	}
	if (te->slow & TE_SLOW_QUEUE)
		ntrace_encoder_cycles(&te->encoder, block->iretire);
	error = ntrace_encoder_retire(&te->encoder, block);
	if (te->slow & TE_SLOW_QUEUE)
		watch_queue(te, dropped, stall_cycles);
	return error;
}

void trace_encoder_lost(struct trace_encoder *te)
{
	te->overflow = true;
	ntrace_encoder_overrun(&te->encoder);
}
