// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <stdatomic.h>
#include <string.h>

#include <ntrace/trace_control.h>

#include "trace_encoder.h"

/* What the fields accept by default, as sets for warl_value(). */
#define INST_MODES (1u << TR_TE_INST_MODE_NONE | 1u << TR_TE_INST_MODE_BTM | \
		    1u << TR_TE_INST_MODE_HTM)
#define SYNC_MODES (1u << TR_TE_SYNC_MODE_OFF | 1u << TR_TE_SYNC_MODE_MESSAGES | \
		    1u << TR_TE_SYNC_MODE_PARCELS)
#define SYNC_MAXES 0xffffu
#define FORMATS (1u << TR_TE_FORMAT_NTRACE)

/* Configuration fields of trTeControl, frozen while Enable is 1. */
#define CONTROL_CONFIG (TR_TE_CONTROL_INST_MODE_MASK | TR_TE_CONTROL_CONTEXT | \
			TR_TE_CONTROL_INST_TRIG_ENABLE | \
			TR_TE_CONTROL_INST_STALL_ENA | TR_TE_CONTROL_INHIBIT_SRC | TR_TE_CONTROL_INST_SYNC_MODE_MASK | \
			TR_TE_CONTROL_INST_SYNC_MAX_MASK | TR_TE_CONTROL_FORMAT_MASK)

static uint32_t get_field(uint32_t value, uint32_t mask, unsigned int shift)
{
	return (value & mask) >> shift;
}

static uint64_t time_now(void *opaque, unsigned int mode)
{
	struct trace_encoder *te = opaque;

	return mode == TR_TS_MODE_CORE ? te->cycles : te->ops->time(te->opaque, mode);
}

void trace_encoder_init(struct trace_encoder *te, const struct trace_encoder_parameters *parameters,
			const struct trace_encoder_ops *ops, void *opaque)
{
	bool slave = parameters->v0 && parameters->timestamp_shared;
	uint32_t kinds = parameters->timestamp_modes;

	memset(te, 0, sizeof(*te));
	te->parameters = *parameters;
	te->ops = ops;
	te->opaque = opaque;
	te->filters.count = parameters->filters ? parameters->filters : 1;
	if (parameters->no_filters)
		te->filters.count = 0;
	te->filters.comparators = parameters->comparators;
	te->filters.contexts = parameters->context_bits;
	te->timestamp_parameters = (struct timestamp_parameters){
		.width = parameters->timestamp_bits,
		.modes = (slave ? 0 : 1u << TR_TS_MODE_SYSTEM | 1u << TR_TS_MODE_CORE) |
			 (uint32_t)parameters->timestamp_shared << TR_TS_MODE_SHARED,
		.no_prescale = parameters->timestamp_prescale_fixed,
		.fixed = slave,
		.enable = true,
		.now = time_now,
		.opaque = te,
	};
	if (kinds) {
		kinds &= te->timestamp_parameters.modes | 1u << TR_TS_MODE_EXTERNAL;
		te->timestamp_parameters.modes = kinds;
		if (!kinds)
			te->timestamp_parameters.width = 0;
	}
	te->random = parameters->reset_seed;
	trace_encoder_power_up(te);
}

static void clear_registers(struct trace_encoder *te)
{
	te->control = 0;
	te->features = 0;
	te->return_mode = 0;
	te->trigger_in = 0;
	te->trigger_out = 0;
	filters_reset(&te->filters);
	timestamp_init(&te->timestamp, &te->timestamp_parameters);
}

static void reset_registers(struct trace_encoder *te)
{
	te->active = false;
	te->control &= ~TR_CONTROL_ENABLE;
	te->fired = 0;
	te->overflow = false;
	if (te->parameters.reset != WARL_RESET_KEPT)
		clear_registers(te);
}

static void set_fault(struct trace_encoder *te, uint32_t mask)
{
	te->fault = (struct fault){ mask & FAULT_ALL, trace_encoder_read(te, TR_CONTROL) };
	te->drop = mask & FAULT_DROP;
}

void trace_encoder_power_up(struct trace_encoder *te)
{
	reset_registers(te);
	clear_registers(te);
	te->bus = (struct bus){ .shown = TR_CONTROL_EMPTY };
	te->fault.mask = 0;
	te->debugger = te->parameters.debug_owned;
	te->ignored = 0;
	te->unpowered = 0;
	te->epoch++;
	te->in_flight = 0;
	te->tracing = false;
	te->running = false;
	te->slow = 0;
	te->cycles = 0;
	te->context = 0;
	te->lost = 0;
	te->stalled = 0;
	memset(&te->encoder, 0, sizeof(te->encoder));
	set_fault(te, te->parameters.faults);
}

/* Width of SRC that the encoder sends. */
static unsigned int src_bits(const struct trace_encoder *te)
{
	uint32_t bits =
		get_field(te->features, TR_TE_FEATURE_SRC_BITS_MASK, TR_TE_FEATURE_SRC_BITS_SHIFT);

	return bits ? bits : te->parameters.src_bits_zero;
}

static unsigned int inst_mode(const struct trace_encoder *te)
{
	return get_field(te->control, TR_TE_CONTROL_INST_MODE_MASK, TR_TE_CONTROL_INST_MODE_SHIFT);
}

static bool speaks_ntrace(const struct trace_encoder *te)
{
	return get_field(te->control, TR_TE_CONTROL_FORMAT_MASK, TR_TE_CONTROL_FORMAT_SHIFT) ==
	       TR_TE_FORMAT_NTRACE;
}

static uint32_t control_value(const struct trace_encoder *te)
{
	uint32_t value = te->control;

	if (te->active)
		value |= TR_CONTROL_ACTIVE;
	if (te->overflow)
		value |= TR_TE_CONTROL_INST_STALL_OR_OVERFLOW;
	/* Until a stop has been applied, the hart may still emit a message. */
	if (!te->tracing && !te->in_flight)
		value |= TR_CONTROL_EMPTY;
	if (te->debugger)
		value |= TR_TE_CONTROL_DIS_SELF_HOSTED;
	return value;
}

static bool is_filter(uint32_t offset)
{
	return offset == TR_TE_INST_FILTERS ||
	       (offset >= TR_TE_FILTER_BASE && offset < TR_TE_COMP_CONTROL(TR_TE_COMPARATOR_MAX));
}

/* trTeInstImplicitReturnMode as software reads it. */
static uint32_t return_mode(const struct trace_encoder *te)
{
	return te->parameters.implicit_return_modes ? te->return_mode :
						      te->parameters.implicit_return;
}

/* The mode in which the encoder predicts returns; 0: it does not. */
static uint32_t predicts_returns(const struct trace_encoder *te)
{
	if (!(te->features & TR_TE_FEATURE_IMPLICIT_RETURN))
		return 0;
	return te->parameters.implicit_return_modes > 1 ? te->return_mode :
							  te->parameters.implicit_return;
}

static uint32_t read_register(const struct trace_encoder *te, uint32_t offset)
{
	if (offset == TR_TE_CONTROL)
		return control_value(te);
	if (offset == TRACE_ENCODER_DEBUGGER)
		return te->ignored << 1 | te->debugger;
	if (offset == TRACE_ENCODER_UNPOWERED)
		return te->unpowered;
	if (!te->active)
		return 0;

	switch (offset) {
	case TR_TE_IMPL:
		return TR_VER_MAJOR << TR_IMPL_VER_MAJOR_SHIFT |
		       te->parameters.version_minor << TR_IMPL_VER_MINOR_SHIFT |
		       TR_COMP_TYPE_ENCODER << TR_IMPL_COMP_TYPE_SHIFT |
		       TR_TE_PROTOCOL_MAJOR_NTRACE << TR_TE_IMPL_PROTOCOL_MAJOR_SHIFT |
		       te->parameters.protocol_minor << TR_TE_IMPL_PROTOCOL_MINOR_SHIFT;
	case TR_TE_INST_FEATURES:
		return te->features | return_mode(te) << TR_TE_FEATURE_IMPLICIT_RETURN_MODE_SHIFT;
	case TR_TE_TRIG_EXT_IN_CONTROL:
		return te->trigger_in;
	case TR_TE_TRIG_EXT_OUT_CONTROL:
		return te->trigger_out;
	case TRACE_ENCODER_TRIGGER_OUT:
		return te->fired;
	case TR_TS_CONTROL:
	case TR_TS_COUNTER_LOW:
	case TR_TS_COUNTER_HIGH:
		return timestamp_read(&te->timestamp, offset);
	default:
		return is_filter(offset) ? filters_read(&te->filters, offset) : 0;
	}
}

uint32_t trace_encoder_read(const struct trace_encoder *te, uint32_t offset)
{
	return fault_read(&te->fault, offset, read_register(te, offset));
}

/* What a field becomes that is written with its part of @value. */
static uint32_t legal_field(uint32_t set, uint32_t usual, uint32_t value, uint32_t mask,
			    unsigned int shift)
{
	return warl_value(set ? set : usual, get_field(value, mask, shift)) << shift;
}

static uint32_t legal_config(const struct trace_encoder *te, uint32_t value)
{
	const struct trace_encoder_parameters *p = &te->parameters;

	return warl_bit(p->inhibit_src, true, TR_TE_CONTROL_INHIBIT_SRC, value) |
	       warl_bit(p->stall_ena, p->fifo, TR_TE_CONTROL_INST_STALL_ENA, value) |
	       warl_bit(p->trig_enable, p->triggers, TR_TE_CONTROL_INST_TRIG_ENABLE, value) |
	       warl_bit(p->context, p->context_bits, TR_TE_CONTROL_CONTEXT, value) |
	       legal_field(p->inst_modes, INST_MODES, value, TR_TE_CONTROL_INST_MODE_MASK,
			   TR_TE_CONTROL_INST_MODE_SHIFT) |
	       legal_field(p->sync_modes, SYNC_MODES, value, TR_TE_CONTROL_INST_SYNC_MODE_MASK,
			   TR_TE_CONTROL_INST_SYNC_MODE_SHIFT) |
	       legal_field(p->sync_maxes, SYNC_MAXES, value, TR_TE_CONTROL_INST_SYNC_MAX_MASK,
			   TR_TE_CONTROL_INST_SYNC_MAX_SHIFT) |
	       legal_field(p->formats, FORMATS, value, TR_TE_CONTROL_FORMAT_MASK,
			   TR_TE_CONTROL_FORMAT_SHIFT);
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

/* Bytes per cycle in 16.16 fixed point, at least 1: with 0 the queue would never drain. */
static uint32_t drain_of(uint32_t bandwidth)
{
	uint64_t drain = ((uint64_t)bandwidth << 16) / 1000;

	return drain ? drain > UINT32_MAX ? UINT32_MAX : (uint32_t)drain : 1;
}

static void make_setup(struct trace_encoder *te, struct trace_encoder_setup *setup)
{
	struct ntrace_encoder_config *config = &setup->config;
	struct ntrace_params *params = &setup->params;

	ntrace_encoder_config_init(config);
	ntrace_params_init(params);
	params->xlen = te->parameters.xlen;
	if (te->parameters.v0) {
		params->dialect = NTRACE_DIALECT_SIFIVE_V0;
		params->timestamp_delta = NTRACE_TIME_DELTA_XOR;
		/* As wide as the addresses of the emulated harts, which have Sv57. */
		params->address_bits = te->parameters.xlen == 64 ? 56 : 0;
	}
	params->mode = inst_mode(te) == TR_TE_INST_MODE_BTM ? NTRACE_MODE_BRANCH :
							      NTRACE_MODE_HISTORY;
	params->all_jumps = te->features & TR_TE_FEATURE_ALL_JUMPS;
	params->implicit_return = predicts_returns(te);
	config->sequential_jumps = te->features & TR_TE_FEATURE_SEQUENTIAL_JUMP;
	config->repeated_history = te->features & TR_TE_FEATURE_REPEATED_HISTORY &&
				   params->mode == NTRACE_MODE_HISTORY;
	params->extend_address = te->features & TR_TE_FEATURE_EXTEND_ADDR_MSB;
	if (!(te->control & TR_TE_CONTROL_INHIBIT_SRC)) {
		params->src_bits = src_bits(te);
		config->src = get_field(te->features, TR_TE_FEATURE_SRC_ID_MASK,
					TR_TE_FEATURE_SRC_ID_SHIFT);
	}
	if (!params->src_bits)
		config->src = 0;
	config->icnt_bits = te->parameters.icnt_bits;
	config->hist_bits = te->parameters.hist_bits;
	config->sync_mode = get_field(te->control, TR_TE_CONTROL_INST_SYNC_MODE_MASK,
				      TR_TE_CONTROL_INST_SYNC_MODE_SHIFT);
	config->sync_max = get_field(te->control, TR_TE_CONTROL_INST_SYNC_MAX_MASK,
				     TR_TE_CONTROL_INST_SYNC_MAX_SHIFT);
	if (config->sync_mode == TR_TE_SYNC_MODE_CYCLES)
		setup->slow |= TE_SLOW_CYCLES;
	config->context = te->control & TR_TE_CONTROL_CONTEXT;
	setup->filters = te->filters;
	if (te->fault.mask & FAULT_NO_FILTER)
		setup->filters.selected = 0;
	if (!filters_privileges(&setup->filters, &config->priv_mask)) {
		config->priv_mask = ~0u;
		setup->slow |= TE_SLOW_FILTERS;
	}
	setup->timestamp = te->timestamp;
	if (timestamp_in_messages(&te->timestamp)) {
		config->timestamps = te->parameters.timestamps;
		params->timestamp_bits = te->parameters.timestamp_bits;
		setup->slow |= TE_SLOW_TIME;
	}
	if (te->parameters.fifo) {
		config->fifo_bytes = te->parameters.fifo;
		config->fifo_drain = drain_of(te->parameters.bandwidth);
		config->stall = te->control & TR_TE_CONTROL_INST_STALL_ENA;
		setup->slow |= TE_SLOW_QUEUE;
	}
	if (te->parameters.pauses)
		setup->slow |= TE_SLOW_PAUSES;
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

/*
 * Never passes a smaller time to the encoder: an emulator may count a whole block and then run only
 * a part of it. The step back is less than half the range of the counter.
 */
static void tell_time(struct trace_encoder *te)
{
	uint64_t now;

	if (!(te->slow & TE_SLOW_TIME))
		return;
	now = timestamp_value(&te->clock);
	if ((now - te->time) >> (te->parameters.timestamp_bits - 1) & 1)
		return;
	te->time = now;
	ntrace_encoder_time(&te->encoder, now);
}

static void start(struct trace_encoder *te, const struct trace_encoder_setup *setup)
{
	struct ntrace_encoder_config config = setup->config;

	te->slow = setup->slow;
	te->drop_next = te->parameters.fault_drop;
	te->until_pause = te->parameters.pauses;
	te->plain = false;
	te->filtering = setup->filters;
	te->clock = setup->timestamp;
	te->told_context = te->context;
	te->time = timestamp_value(&te->clock);
	/* The glue may have copied the setup on its way: point to this copy. */
	config.params = &setup->params;
	ntrace_encoder_init(&te->encoder, &config);
	tell_time(te);
	ntrace_encoder_context(&te->encoder, te->context, 0, NTRACE_CTYPE_NONE);
	ntrace_encoder_start(&te->encoder, NTRACE_SYNC_TRACE_ENABLE);
}

static void stop(struct trace_encoder *te, bool discard)
{
	tell_time(te);
	if (!discard)
		ntrace_encoder_stop(&te->encoder, NTRACE_EVCODE_TRACE_DISABLE);
	memset(&te->encoder, 0, sizeof(te->encoder));
	te->slow = 0;
}

bool trace_encoder_apply(struct trace_encoder *te, const struct trace_encoder_setup *setup)
{
	if (setup->epoch != te->epoch)
		return false;
	te->in_flight--;
	if (setup->marker) {
		ntrace_encoder_marker(&te->encoder, setup->mark);
		return true;
	}
	if (setup->tracing)
		start(te, setup);
	else
		stop(te, setup->discard);
	te->running = setup->tracing;
	return true;
}

/* WARL: unsupported actions of inputs, and vendor bits of outputs, read 0. */
static uint32_t legal_triggers(const struct trace_encoder *te, uint32_t value, bool in)
{
	uint32_t legal = 0;

	for (unsigned int i = 0; i < te->parameters.triggers; i++) {
		uint32_t nibble = TR_TE_TRIG_EXT(value, i);

		if (!in)
			nibble &= TR_TE_TRIG_OUT_ON | TR_TE_TRIG_OUT_OFF;
		else if (nibble < TR_TE_TRIG_ACTION_ON || nibble > TR_TE_TRIG_ACTION_NOTIFY)
			nibble = TR_TE_TRIG_ACTION_NONE;
		legal |= nibble << 4 * i;
	}
	return legal;
}

/* Calls that are reported as jumps leave nothing to predict returns by. */
static uint32_t legal_features(const struct trace_encoder *te, uint32_t value)
{
	const struct trace_encoder_parameters *p = &te->parameters;
	uint32_t jumps = warl_bit(p->all_jumps, true, TR_TE_FEATURE_ALL_JUMPS, value);
	uint32_t returns = warl_bit(p->implicit_return_bit, p->implicit_return,
				    TR_TE_FEATURE_IMPLICIT_RETURN, value);

	if (jumps && p->implicit_return_bit == WARL_ONE)
		jumps = 0;
	return jumps | (jumps ? 0 : returns) |
	       warl_bit(p->sequential_jump, false, TR_TE_FEATURE_SEQUENTIAL_JUMP, value) |
	       warl_bit(p->repeated_history_bit, p->repeated_history,
			TR_TE_FEATURE_REPEATED_HISTORY, value) |
	       warl_bit(p->extend_address, true, TR_TE_FEATURE_EXTEND_ADDR_MSB, value);
}

static void write_features(struct trace_encoder *te, uint32_t value)
{
	const struct trace_encoder_parameters *p = &te->parameters;
	uint32_t bits = get_field(value, TR_TE_FEATURE_SRC_BITS_MASK, TR_TE_FEATURE_SRC_BITS_SHIFT);
	uint32_t id = get_field(value, TR_TE_FEATURE_SRC_ID_MASK, TR_TE_FEATURE_SRC_ID_SHIFT);

	if (bits > p->src_bits_max)
		bits = p->src_bits_max;
	if (bits < p->src_bits_min)
		bits = p->src_bits_min;
	if (p->src_fixed)
		id = p->index;
	id &= (1u << (bits ? bits : p->src_bits_zero)) - 1;
	te->features = legal_features(te, value) | id << TR_TE_FEATURE_SRC_ID_SHIFT |
		       bits << TR_TE_FEATURE_SRC_BITS_SHIFT;
	if (p->implicit_return_modes)
		te->return_mode =
			warl_value(p->implicit_return_modes,
				   get_field(value, TR_TE_FEATURE_IMPLICIT_RETURN_MODE_MASK,
					     TR_TE_FEATURE_IMPLICIT_RETURN_MODE_SHIFT));
}

/* Starts or stops InstTracing, by software or by a trigger, and fires external outputs. */
static void set_tracing(struct trace_encoder *te, uint32_t control, bool tracing)
{
	bool before = te->control & TR_TE_CONTROL_INST_TRACING;
	uint32_t event = tracing ? TR_TE_TRIG_OUT_ON : TR_TE_TRIG_OUT_OFF;

	control &= ~TR_TE_CONTROL_INST_TRACING;
	te->control = control | (tracing ? TR_TE_CONTROL_INST_TRACING : 0);
	for (unsigned int i = 0; i < te->parameters.triggers && before != tracing; i++)
		if (TR_TE_TRIG_EXT(te->trigger_out, i) & event)
			te->fired |= 1u << i;
	deliver(te, tracing && inst_mode(te) && speaks_ntrace(te), false);
}

/* The values of the registers when Active becomes 1. */
static void leave_reset(struct trace_encoder *te)
{
	te->active = true;
	if (te->parameters.reset == WARL_RESET_KEPT && te->control)
		return;
	if (te->parameters.reset != WARL_RESET_RANDOM) {
		te->control = legal_config(te, 0);
		write_features(te, te->parameters.src_bits_zero << TR_TE_FEATURE_SRC_BITS_SHIFT);
		return;
	}
	te->control = legal_config(te, (uint32_t)warl_random(&te->random)) |
		      (warl_random(&te->random) & TR_TE_CONTROL_INST_TRACING);
	write_features(te, (uint32_t)warl_random(&te->random));
	te->trigger_in = legal_triggers(te, (uint32_t)warl_random(&te->random), true);
	te->trigger_out = legal_triggers(te, (uint32_t)warl_random(&te->random), false);
	filters_write(&te->filters, TR_TE_INST_FILTERS, (uint32_t)warl_random(&te->random));
	for (uint32_t at = TR_TE_FILTER_BASE; at < TR_TE_COMP_CONTROL(TR_TE_COMPARATOR_MAX);
	     at += 4)
		filters_write(&te->filters, at, (uint32_t)warl_random(&te->random));
	timestamp_write(&te->timestamp, TR_TS_CONTROL_ACTIVE);
	timestamp_write(&te->timestamp, (uint32_t)warl_random(&te->random) | TR_TS_CONTROL_ACTIVE);
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
		/* This write only ends the reset: its other fields have no effect. */
		leave_reset(te);
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
	control &= ~TR_CONTROL_ENABLE;
	control |= value & TR_CONTROL_ENABLE;
	set_tracing(te, control, value & TR_CONTROL_ENABLE && value & TR_TE_CONTROL_INST_TRACING);
}

/* Carries out the action of a trigger. */
static void trigger(struct trace_encoder *te, uint32_t action, enum ntrace_sync mark)
{
	struct trace_encoder_setup marker = { .epoch = te->epoch, .marker = true, .mark = mark };

	if (!(te->control & TR_CONTROL_ENABLE) || !(te->control & TR_TE_CONTROL_INST_TRIG_ENABLE))
		return;
	switch (action) {
	case TR_TE_TRIG_ACTION_ON:
		set_tracing(te, te->control, true);
		break;
	case TR_TE_TRIG_ACTION_OFF:
		set_tracing(te, te->control, false);
		break;
	case TR_TE_TRIG_ACTION_NOTIFY:
		if (!te->tracing)
			break;
		te->in_flight++;
		te->ops->deliver(te->opaque, &marker);
		break;
	}
}

/* Reads and writes the registers that stand for wires. Return: whether @offset is one. */
static bool write_wires(struct trace_encoder *te, uint32_t offset, uint32_t value)
{
	switch (offset) {
	case TRACE_ENCODER_TRIGGER_IN:
		for (unsigned int i = 0; i < te->parameters.triggers; i++)
			if (value >> i & 1)
				trigger(te, TR_TE_TRIG_EXT(te->trigger_in, i),
					NTRACE_SYNC_EXTERNAL_TRIGGER);
		return true;
	case TRACE_ENCODER_TRIGGER_OUT:
		te->fired &= ~value;
		return true;
	case TRACE_ENCODER_TRIGGER_DBG:
		trigger(te, value, NTRACE_SYNC_TRACE_EVENT);
		return true;
	default:
		return false;
	}
}

/* Return: whether a write ends here: it is not software's, or a debugger owns the encoder. */
static bool write_foreign(struct trace_encoder *te, uint32_t offset, uint32_t value)
{
	switch (offset) {
	case TRACE_ENCODER_DEBUGGER:
		te->debugger = value & 1;
		if (te->debugger)
			te->ignored = 0;
		return true;
	case TRACE_ENCODER_UNPOWERED:
		te->unpowered = value;
		return true;
	default:
		te->ignored += te->debugger;
		te->software_errors += te->debugger;
		return te->debugger;
	}
}

void trace_encoder_write(struct trace_encoder *te, uint32_t offset, uint32_t value)
{
	uint32_t old = read_register(te, offset);

	if (offset == FAULT_REGISTER) {
		set_fault(te, value);
		return;
	}
	if (write_foreign(te, offset, value) || !fault_write(&te->fault, offset, old, &value))
		return;
	if (offset == TR_TE_CONTROL) {
		write_control(te, value);
		return;
	}
	if (write_wires(te, offset, value))
		return;
	if (!te->active || te->control & TR_CONTROL_ENABLE) {
		te->software_errors++;
		return;
	}

	switch (offset) {
	case TR_TE_INST_FEATURES:
		write_features(te, value);
		break;
	case TR_TE_TRIG_EXT_IN_CONTROL:
		te->trigger_in = legal_triggers(te, value, true);
		break;
	case TR_TE_TRIG_EXT_OUT_CONTROL:
		te->trigger_out = legal_triggers(te, value, false);
		break;
	case TR_TS_CONTROL:
		timestamp_write(&te->timestamp, value);
		break;
	default:
		if (is_filter(offset))
			filters_write(&te->filters, offset, value);
		break;
	}
}

/* Registers that software must read to find out about a function, answer without it, too. */
static bool exists(const struct trace_encoder *te, uint32_t offset)
{
	const struct filters *filters = &te->filters;

	if (offset >= TR_TE_FILTER_BASE && offset < TR_TE_COMPARATOR_BASE)
		return (offset - TR_TE_FILTER_BASE) / TR_TE_FILTER_STRIDE < filters->count;
	if (offset >= TR_TE_COMPARATOR_BASE)
		return (offset - TR_TE_COMPARATOR_BASE) / TR_TE_COMPARATOR_STRIDE <
		       filters->comparators;
	switch (offset) {
	case TR_TE_CONTROL:
	case TR_TE_IMPL:
	case TR_TE_INST_FEATURES:
	case TR_TE_INST_FILTERS:
	case TR_TE_TRIG_EXT_IN_CONTROL:
	case TR_TE_TRIG_EXT_OUT_CONTROL:
	case TR_TS_CONTROL:
		return true;
	case TR_TS_COUNTER_LOW:
	case TR_TS_COUNTER_HIGH:
		return te->timestamp_parameters.width;
	default:
		return false;
	}
}

bool trace_encoder_answers(const struct trace_encoder *te, uint32_t offset, bool own)
{
	return bus_answers(&te->parameters.bus, offset, exists(te, offset), te->active, own);
}

uint32_t trace_encoder_poll(struct trace_encoder *te, uint32_t offset)
{
	uint32_t value = trace_encoder_read(te, offset);

	return offset == TR_TE_CONTROL ? bus_control(&te->bus, &te->parameters.bus, value) : value;
}

void trace_encoder_unpowered(struct trace_encoder *te, uint32_t offset)
{
	if (offset != TRACE_ENCODER_UNPOWERED && offset != FAULT_REGISTER)
		te->unpowered++;
}

/* Adds to the totals: the library's counters restart at each start. */
static void watch_queue(struct trace_encoder *te, uint64_t dropped, uint64_t stall_cycles)
{
	if (te->encoder.dropped != dropped || te->encoder.stall_cycles != stall_cycles)
		te->overflow = true;
	te->lost += te->encoder.dropped - dropped;
	te->stalled += te->encoder.stall_cycles - stall_cycles;
}

/* Runs after the block that ends with the write of scontext. */
static void change_context(struct trace_encoder *te)
{
	te->slow &= ~(uint32_t)TE_SLOW_CONTEXT;
	te->told_context = te->context;
	ntrace_encoder_context(&te->encoder, te->context, 0, NTRACE_CTYPE_IMPRECISE);
}

/* Return: whether the block is traced. */
static bool filter(struct trace_encoder *te, const struct ntrace_ingress *block)
{
	unsigned int match = filters_match(&te->filtering, block, te->cause, te->told_context);

	if (match & FILTERS_NOTIFY)
		ntrace_encoder_marker(&te->encoder, NTRACE_SYNC_TRACE_EVENT);
	return match & 1;
}

/*
 * The hart may have waited in low power before a block: after a WFI, which is no jump, and without a
 * trap, which the trace would not have.
 */
static void pause_tracing(struct trace_encoder *te, const struct ntrace_ingress *block)
{
	if (te->until_pause) {
		te->until_pause--;
	} else if (te->plain && block->iretire) {
		te->until_pause = te->parameters.pauses;
		ntrace_encoder_stop(&te->encoder, NTRACE_EVCODE_LOW_POWER);
		ntrace_encoder_start(&te->encoder, NTRACE_SYNC_POWER_DOWN_EXIT);
	}
	te->plain = block->itype == NTRACE_ITYPE_NONE;
}

/* The only writer of te->cycles. */
static void count_cycles(struct trace_encoder *te, uint32_t cycles)
{
	uint64_t before = atomic_load_explicit(&te->cycles, memory_order_relaxed);

	atomic_store_explicit(&te->cycles, before + cycles, memory_order_relaxed);
	ntrace_encoder_cycles(&te->encoder, cycles);
}

int trace_encoder_retire_slowly(struct trace_encoder *te, const struct ntrace_ingress *block)
{
	uint64_t dropped = te->encoder.dropped;
	uint64_t stall_cycles = te->encoder.stall_cycles;
	bool traced;
	int error = 0;

	if (te->slow & TE_SLOW_FORWARD) {
		te->ops->forward(te->opaque, block, te->cause, te->context);
		return 0;
	}
	traced = !(te->slow & TE_SLOW_FILTERS) || filter(te, block);

	/* The encoder stamps messages with the time before this block. */
	tell_time(te);
	count_cycles(te, block->iretire);
	if ((te->slow & TE_SLOW_DROPPING) && te->ops->ready(te->opaque)) {
		te->slow &= ~(uint32_t)TE_SLOW_DROPPING;
		ntrace_encoder_overrun(&te->encoder);
	}
	if (te->slow & TE_SLOW_PAUSES && !(te->slow & TE_SLOW_DROPPING))
		pause_tracing(te, block);
	if (!(te->slow & TE_SLOW_DROPPING) && traced)
		error = ntrace_encoder_retire(&te->encoder, block);
	else if (!traced)
		ntrace_encoder_exclude(&te->encoder);
	if (te->slow & TE_SLOW_CONTEXT)
		change_context(te);
	if (te->slow & TE_SLOW_QUEUE)
		watch_queue(te, dropped, stall_cycles);
	return error;
}

void trace_encoder_context(struct trace_encoder *te, uint64_t context)
{
	unsigned int bits = te->parameters.context_bits;

	if (!bits)
		return;
	te->context = bits < 64 ? context & ((UINT64_C(1) << bits) - 1) : context;
	if (te->running)
		te->slow |= TE_SLOW_CONTEXT;
}

void trace_encoder_forward(struct trace_encoder *te, bool on)
{
	te->running = on;
	te->slow = on ? TE_SLOW_FORWARD : 0;
}

void trace_encoder_lost(struct trace_encoder *te)
{
	te->overflow = true;
	ntrace_encoder_overrun(&te->encoder);
}
