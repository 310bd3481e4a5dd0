// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <string.h>

#include <ntrace/trace_control.h>

#include "funnel.h"

static uint32_t inputs_mask(const struct funnel *funnel)
{
	return (1u << funnel->parameters.inputs) - 1;
}

static uint32_t legal_inputs(const struct funnel *funnel, uint32_t value)
{
	return warl_bit(funnel->parameters.dis_input, true, inputs_mask(funnel), value);
}

static void clear_registers(struct funnel *funnel)
{
	funnel->dis_input = 0;
	timestamp_init(&funnel->timestamp, &funnel->parameters.timestamp);
}

static void reset_registers(struct funnel *funnel)
{
	funnel->active = false;
	funnel->enable = false;
	if (funnel->parameters.reset != WARL_RESET_KEPT)
		clear_registers(funnel);
	funnel->lost = 0;
	funnel->fill = 0;
	funnel->ends = 0;
}

void funnel_power_up(struct funnel *funnel)
{
	reset_registers(funnel);
	clear_registers(funnel);
	funnel->bus = (struct bus){ .shown = TR_CONTROL_EMPTY };
	funnel->software_errors = 0;
	funnel->bytes = 0;
	funnel->dropped = 0;
	funnel->fault = (struct fault){ .mask = funnel->parameters.faults };
}

void funnel_init(struct funnel *funnel, const struct funnel_parameters *parameters,
		 const struct trace_port *out)
{
	memset(funnel, 0, sizeof(*funnel));
	funnel->parameters = *parameters;
	funnel->out = out;
	funnel->random = parameters->reset_seed;
	funnel_power_up(funnel);
}

static uint32_t read_register(const struct funnel *funnel, uint32_t offset)
{
	if (!funnel->active)
		return offset == TR_FUNNEL_CONTROL ? TR_CONTROL_EMPTY : 0;

	switch (offset) {
	case TR_FUNNEL_CONTROL:
		return TR_CONTROL_ACTIVE | (funnel->enable ? TR_CONTROL_ENABLE : 0) |
		       (funnel->fill && !funnel->parameters.empty_fixed ? 0 : TR_CONTROL_EMPTY);
	case TR_FUNNEL_IMPL:
		return TR_VER_MAJOR << TR_IMPL_VER_MAJOR_SHIFT |
		       funnel->parameters.version_minor << TR_IMPL_VER_MINOR_SHIFT |
		       TR_COMP_TYPE_FUNNEL << TR_IMPL_COMP_TYPE_SHIFT;
	case TR_FUNNEL_DIS_INPUT:
		return funnel->dis_input;
	case TR_TS_CONTROL:
	case TR_TS_COUNTER_LOW:
	case TR_TS_COUNTER_HIGH:
		return timestamp_read(&funnel->timestamp, offset);
	default:
		return 0;
	}
}

uint32_t funnel_read(const struct funnel *funnel, uint32_t offset)
{
	return fault_read(&funnel->fault, offset, read_register(funnel, offset));
}

/* If the output refuses any message, the rest is lost. */
void funnel_flush(struct funnel *funnel)
{
	unsigned int begin = 0;
	bool good = true;

	for (unsigned int i = 0; i < funnel->ends; i++) {
		unsigned int size = funnel->end[i] - begin;

		good = good &&
		       trace_port_put(funnel->out, funnel->id[i], funnel->data + begin, size);
		*(good ? &funnel->bytes : &funnel->dropped) += size;
		begin = funnel->end[i];
	}
	funnel->fill = 0;
	funnel->ends = 0;
	if (!good)
		funnel->lost = inputs_mask(funnel);
}

void funnel_advance(struct funnel *funnel)
{
	unsigned int size;
	bool good;

	if (!funnel->ends || !trace_port_ready(funnel->out))
		return;
	size = funnel->end[0];
	good = trace_port_put(funnel->out, funnel->id[0], funnel->data, size);
	*(good ? &funnel->bytes : &funnel->dropped) += size;
	if (!good)
		funnel->lost = inputs_mask(funnel);
	funnel->fill -= size;
	funnel->ends--;
	memmove(funnel->data, funnel->data + size, funnel->fill);
	memmove(funnel->id, funnel->id + 1, funnel->ends);
	for (unsigned int i = 0; i < funnel->ends; i++)
		funnel->end[i] = (uint16_t)(funnel->end[i + 1] - size);
}

static void write_control(struct funnel *funnel, uint32_t value)
{
	if (!(value & TR_CONTROL_ACTIVE)) {
		reset_registers(funnel);
		return;
	}
	if (!funnel->active) {
		/* This write only ends the reset: its other fields have no effect. */
		funnel->active = true;
		if (funnel->parameters.reset == WARL_RESET_RANDOM)
			funnel->dis_input =
				legal_inputs(funnel, (uint32_t)warl_random(&funnel->random));
		return;
	}
	if (funnel->enable && !(value & TR_CONTROL_ENABLE))
		funnel_flush(funnel);
	if (!funnel->enable)
		funnel->lost = 0;
	funnel->enable = value & TR_CONTROL_ENABLE;
}

void funnel_write(struct funnel *funnel, uint32_t offset, uint32_t value)
{
	uint32_t old = read_register(funnel, offset);

	if (offset == FAULT_REGISTER) {
		funnel->fault =
			(struct fault){ value & FAULT_ALL, funnel_read(funnel, TR_CONTROL) };
		return;
	}
	if (!fault_write(&funnel->fault, offset, old, &value))
		return;
	if (offset == TR_FUNNEL_CONTROL) {
		write_control(funnel, value);
		return;
	}
	if (!funnel->active) {
		funnel->software_errors++;
		return;
	}
	/* trFunnelDisInput is writable while enabled: paths that share the funnel come and go. */
	if (offset == TR_FUNNEL_DIS_INPUT)
		funnel->dis_input = legal_inputs(funnel, value);
	else if (offset == TR_TS_CONTROL)
		timestamp_write(&funnel->timestamp, value);
}

/* Registers that software must read to find out about a function, answer without it, too. */
static bool exists(const struct funnel *funnel, uint32_t offset)
{
	switch (offset) {
	case TR_FUNNEL_CONTROL:
	case TR_FUNNEL_IMPL:
	case TR_FUNNEL_DIS_INPUT:
	case TR_TS_CONTROL:
		return true;
	case TR_TS_COUNTER_LOW:
	case TR_TS_COUNTER_HIGH:
		return funnel->parameters.timestamp.width;
	default:
		return false;
	}
}

bool funnel_answers(const struct funnel *funnel, uint32_t offset)
{
	return bus_answers(&funnel->parameters.bus, offset, exists(funnel, offset), funnel->active,
			   true);
}

uint32_t funnel_poll(struct funnel *funnel, uint32_t offset)
{
	uint32_t value = funnel_read(funnel, offset);

	return offset == TR_FUNNEL_CONTROL ?
		       bus_control(&funnel->bus, &funnel->parameters.bus, value) :
		       value;
}

static bool takes_and_drops(const struct funnel *funnel, unsigned int input)
{
	return !funnel->enable || funnel->dis_input >> input & 1;
}

bool funnel_put(struct funnel *funnel, unsigned int input, uint8_t id, const uint8_t *data,
		size_t size)
{
	if (takes_and_drops(funnel, input)) {
		funnel->dropped += size;
		return true;
	}
	if (funnel->fill + size > funnel->parameters.buffer)
		funnel_flush(funnel);
	if (funnel->lost >> input & 1) {
		funnel->lost &= ~(1u << input);
		funnel->dropped += size;
		return false;
	}
	if (size > funnel->parameters.buffer) {
		if (!trace_port_put(funnel->out, id, data, size)) {
			funnel->dropped += size;
			return false;
		}
		funnel->bytes += size;
		return true;
	}
	memcpy(funnel->data + funnel->fill, data, size);
	funnel->fill += size;
	funnel->id[funnel->ends] = id;
	funnel->end[funnel->ends++] = (uint16_t)funnel->fill;
	return true;
}

bool funnel_ready(const struct funnel *funnel, unsigned int input)
{
	return takes_and_drops(funnel, input) || trace_port_ready(funnel->out);
}
