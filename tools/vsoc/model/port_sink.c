// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <string.h>

#include <ntrace/trace_control.h>

#include "port_sink.h"

/* Room for any message. */
#define PORT_SINK_GROUPS 256

static void reset_registers(struct port_sink *sink)
{
	sink->active = false;
	sink->enable = false;
	sink->fields = sink->parameters.id << TR_ATB_CONTROL_ID_SHIFT;
	sink->fill = 0;
}

void port_sink_power_up(struct port_sink *sink)
{
	reset_registers(sink);
	sink->software_errors = 0;
	sink->bytes = 0;
	sink->dropped = 0;
	sink->fault = (struct fault){ .mask = sink->parameters.faults };
}

void port_sink_init(struct port_sink *sink, const struct port_sink_parameters *parameters,
		    const struct port_sink_ops *ops, void *opaque)
{
	memset(sink, 0, sizeof(*sink));
	sink->parameters = *parameters;
	sink->ops = ops;
	sink->opaque = opaque;
	port_sink_power_up(sink);
}

static bool is_pib(const struct port_sink *sink)
{
	return sink->parameters.type == TR_COMP_TYPE_PIB_SINK;
}

static unsigned int pib_mode(uint32_t fields)
{
	return (fields & TR_PIB_CONTROL_MODE_MASK) >> TR_PIB_CONTROL_MODE_SHIFT;
}

static uint32_t legal_pib(const struct port_sink *sink, uint32_t value)
{
	uint32_t divider = value >> TR_PIB_CONTROL_DIVIDER_SHIFT;
	unsigned int mode = pib_mode(value);
	uint32_t legal = 0;

	if (divider > sink->parameters.divider_max)
		divider = sink->parameters.divider_max;
	if (sink->parameters.modes >> mode & 1) {
		legal |= mode << TR_PIB_CONTROL_MODE_SHIFT | (value & TR_PIB_CONTROL_CALIBRATE);
		if (mode >= TR_PIB_MODE_PARALLEL_1)
			legal |= value & TR_PIB_CONTROL_CLK_CENTER;
	}
	return legal | divider << TR_PIB_CONTROL_DIVIDER_SHIFT;
}

static uint32_t legal_atb(const struct port_sink *sink, uint32_t value)
{
	uint32_t id = sink->parameters.id;

	return id ? id << TR_ATB_CONTROL_ID_SHIFT : value & TR_ATB_CONTROL_ID_MASK;
}

static uint32_t read_register(const struct port_sink *sink, uint32_t offset)
{
	if (!sink->active)
		return offset == TR_CONTROL ? TR_CONTROL_EMPTY : 0;
	switch (offset) {
	case TR_CONTROL:
		return TR_CONTROL_ACTIVE | (sink->enable ? TR_CONTROL_ENABLE : 0) |
		       (sink->fill ? 0 : TR_CONTROL_EMPTY) | sink->fields;
	case TR_IMPL:
		return TR_VER_MAJOR << TR_IMPL_VER_MAJOR_SHIFT |
		       TR_VER_MINOR << TR_IMPL_VER_MINOR_SHIFT |
		       sink->parameters.type << TR_IMPL_COMP_TYPE_SHIFT;
	default:
		return 0;
	}
}

uint32_t port_sink_read(const struct port_sink *sink, uint32_t offset)
{
	return fault_read(&sink->fault, offset, read_register(sink, offset));
}

/* Return: false if the far end refused the bytes. */
static bool send(struct port_sink *sink, const uint8_t *data, size_t size)
{
	uint8_t id = is_pib(sink) ? 0 :
				    (uint8_t)((sink->fields & TR_ATB_CONTROL_ID_MASK) >>
					      TR_ATB_CONTROL_ID_SHIFT);
	bool taken = sink->ops->send(sink->opaque, id, data, size);

	if (taken)
		sink->bytes += size;
	return taken;
}

static void flush(struct port_sink *sink)
{
	if (sink->fill && !send(sink, sink->buffer, sink->fill))
		sink->dropped += sink->fill;
	sink->fill = 0;
}

void port_sink_flush(struct port_sink *sink)
{
	if (!(sink->fault.mask & FAULT_NO_FLUSH))
		flush(sink);
}

/* Sends the calibration pattern, from which a probe at the pins finds its sampling point. */
static void calibrate(struct port_sink *sink)
{
	static const uint8_t bits_2[] = { 0x66, 0x66, 0xcc, 0x33 };
	static const uint8_t bits_4[] = { 0x5a, 0x5a, 0xf0, 0x0f };
	static const uint8_t bits_16[] = { 0xaa, 0xaa, 0x55, 0x55, 0x00, 0x00, 0xff, 0xff };
	static const uint8_t others[] = { 0xaa, 0x55, 0x00, 0xff };

	switch (pib_mode(sink->fields)) {
	case TR_PIB_MODE_PARALLEL_2:
		send(sink, bits_2, sizeof(bits_2));
		break;
	case TR_PIB_MODE_PARALLEL_4:
		send(sink, bits_4, sizeof(bits_4));
		break;
	case TR_PIB_MODE_PARALLEL_16:
		send(sink, bits_16, sizeof(bits_16));
		break;
	default:
		send(sink, others, sizeof(others));
		break;
	}
}

static bool calibrates(const struct port_sink *sink)
{
	return is_pib(sink) && sink->fields & TR_PIB_CONTROL_CALIBRATE;
}

static void write_control(struct port_sink *sink, uint32_t value)
{
	uint32_t fields = is_pib(sink) ? legal_pib(sink, value) : legal_atb(sink, value);
	bool enable = value & TR_CONTROL_ENABLE;

	if (!(value & TR_CONTROL_ACTIVE)) {
		reset_registers(sink);
		return;
	}
	if (!sink->active) {
		/* This write only ends the reset: its other fields have no effect. */
		sink->active = true;
		return;
	}
	if (sink->enable || sink->fill) {
		if (fields != sink->fields)
			sink->software_errors++;
	} else {
		sink->fields = fields;
	}
	if (sink->enable && !enable)
		flush(sink);
	if (!sink->enable && enable && calibrates(sink))
		calibrate(sink);
	sink->enable = enable;
}

void port_sink_write(struct port_sink *sink, uint32_t offset, uint32_t value)
{
	uint32_t old = read_register(sink, offset);

	if (offset == FAULT_REGISTER) {
		sink->fault = (struct fault){ value & FAULT_ALL, port_sink_read(sink, TR_CONTROL) };
		return;
	}
	if (!fault_write(&sink->fault, offset, old, &value))
		return;
	if (offset == TR_CONTROL)
		write_control(sink, value);
	else if (!sink->active)
		sink->software_errors++;
}

bool port_sink_ready(const struct port_sink *sink)
{
	return sink->enable && !(is_pib(sink) && !pib_mode(sink->fields)) &&
	       (!sink->ops->ready || sink->ops->ready(sink->opaque));
}

/* Sends the groups that @data completes, at once: a message arrives as a whole or not at all. */
bool port_sink_put(struct port_sink *sink, const uint8_t *data, size_t size)
{
	uint8_t groups[PORT_SINK_GROUPS];
	bool ready = port_sink_ready(sink);
	size_t whole;

	if (!ready || calibrates(sink)) {
		sink->dropped += size;
		return ready;
	}
	while (sink->fill + size >= PORT_SINK_GRANULE) {
		size_t part = sizeof(groups) - sink->fill;

		if (part > size)
			part = size;
		memcpy(groups, sink->buffer, sink->fill);
		memcpy(groups + sink->fill, data, part);
		whole = (sink->fill + part) / PORT_SINK_GRANULE * PORT_SINK_GRANULE;
		if (!send(sink, groups, whole)) {
			sink->dropped += size;
			return false;
		}
		data += whole - sink->fill;
		size -= whole - sink->fill;
		sink->fill = 0;
	}
	memcpy(sink->buffer + sink->fill, data, size);
	sink->fill += size;
	return true;
}
