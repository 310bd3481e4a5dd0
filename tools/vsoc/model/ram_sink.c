// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <string.h>

#include <ntrace/trace_control.h>

#include "ram_sink.h"

#define IDLE 0xff

static unsigned int granule(const struct ram_sink *sink)
{
	return sink->smem ? sink->parameters.granule : RAM_SINK_SRAM_GRANULE;
}

/*
 * trRamLimit as software reads it: the address of the last granule of the
 * buffer.
 */
static uint64_t limit(const struct ram_sink *sink)
{
	uint64_t size = sink->limit - sink->start + granule(sink);
	uint64_t alignment = sink->start & -sink->start;

	if (!sink->smem || !sink->parameters.power_of_two || sink->limit < sink->start)
		return sink->limit;
	while (size & (size - 1))
		size &= size - 1;
	if (alignment && size > alignment)
		size = alignment;
	return sink->start + size - granule(sink);
}

/* Writes one granule to system memory. Start and Limit are frozen until all are written. */
static void write_granule(struct ram_sink *sink, uint64_t address, const uint8_t *data)
{
	unsigned int size = granule(sink);
	uint64_t last = limit(sink), after = address > last ? address - last : 0;

	sink->outside += after < size ? after : size;
	sink->ops->write_memory(sink->opaque, address, data, size);
}

/* Completes posted writes, oldest first, until at most @most are in flight. */
static void arrive(struct ram_sink *sink, unsigned int most)
{
	while (sink->posted > most) {
		write_granule(sink, sink->post[0].address, sink->post[0].data);
		sink->posted--;
		memmove(sink->post, sink->post + 1, sink->posted * sizeof(sink->post[0]));
	}
}

static void close_memory(struct ram_sink *sink)
{
	sink->enable = false;
	if (!sink->smem)
		return;
	arrive(sink, 0);
	sink->ops->close(sink->opaque);
}

static void set_mode(struct ram_sink *sink, bool smem)
{
	sink->smem = smem;
	sink->wrap &= sink->parameters.wrap_cleared == RAM_SINK_WRAP_BY_POWER_UP;
	sink->start = 0;
	sink->limit = smem ? 0 : sink->parameters.sram_size - RAM_SINK_SRAM_GRANULE;
	sink->wp = 0;
	sink->rp = 0;
	sink->stuck = 0;
}

static void reset_registers(struct ram_sink *sink)
{
	if (sink->enable)
		close_memory(sink);
	sink->active = false;
	sink->fill = 0;
	if (sink->parameters.reset == WARL_RESET_KEPT)
		return;
	sink->stop_on_wrap = false;
	set_mode(sink, !sink->parameters.sram);
}

void ram_sink_power_up(struct ram_sink *sink)
{
	reset_registers(sink);
	sink->stop_on_wrap = false;
	set_mode(sink, !sink->parameters.sram);
	sink->bus = (struct bus){ .shown = TR_CONTROL_EMPTY };
	sink->wrap = false;
	sink->software_errors = 0;
	sink->bytes = 0;
	sink->dropped = 0;
	sink->outside = 0;
	sink->fault = (struct fault){ .mask = sink->parameters.faults };
}

void ram_sink_init(struct ram_sink *sink, const struct ram_sink_parameters *parameters,
		   const struct ram_sink_ops *ops, void *opaque)
{
	memset(sink, 0, sizeof(*sink));
	sink->parameters = *parameters;
	sink->ops = ops;
	sink->opaque = opaque;
	sink->random = parameters->reset_seed;
	ram_sink_power_up(sink);
}

/* trRamWP as software reads it. */
static uint64_t write_pointer(const struct ram_sink *sink)
{
	if (sink->fault.mask & FAULT_POINTER_OUTSIDE)
		return limit(sink) + 0x1000;
	return sink->fault.mask & FAULT_STUCK_POINTER ? sink->stuck : sink->wp;
}

static uint32_t read_register(const struct ram_sink *sink, uint32_t offset)
{
	if (!sink->active)
		return offset == TR_RAM_CONTROL ? TR_CONTROL_EMPTY : 0;

	switch (offset) {
	case TR_RAM_CONTROL:
		return TR_CONTROL_ACTIVE | (sink->smem ? TR_RAM_CONTROL_MODE_SMEM : 0) |
		       (sink->enable ? TR_CONTROL_ENABLE : 0) |
		       (sink->fill || sink->posted ? 0 : TR_CONTROL_EMPTY) |
		       (sink->stop_on_wrap ? TR_RAM_CONTROL_STOP_ON_WRAP : 0);
	case TR_RAM_IMPL:
		return TR_VER_MAJOR << TR_IMPL_VER_MAJOR_SHIFT |
		       sink->parameters.version_minor << TR_IMPL_VER_MINOR_SHIFT |
		       TR_COMP_TYPE_RAM_SINK << TR_IMPL_COMP_TYPE_SHIFT |
		       (sink->parameters.smem ? TR_RAM_IMPL_HAS_SMEM : 0) |
		       (sink->parameters.sram ? TR_RAM_IMPL_HAS_SRAM : 0);
	case TR_RAM_START_LOW:
		return (uint32_t)sink->start;
	case TR_RAM_START_HIGH:
		return sink->start >> 32;
	case TR_RAM_LIMIT_LOW:
		return (uint32_t)limit(sink);
	case TR_RAM_LIMIT_HIGH:
		return limit(sink) >> 32;
	case TR_RAM_WP_LOW:
		return (uint32_t)write_pointer(sink) | (sink->wrap ? TR_RAM_WP_LOW_WRAP : 0);
	case TR_RAM_WP_HIGH:
		return write_pointer(sink) >> 32;
	case TR_RAM_RP_LOW:
		return sink->rp;
	default:
		return 0;
	}
}

/* Returns the word at RP for an access through trRamData, and advances RP. */
static uint8_t *window(struct ram_sink *sink)
{
	uint8_t *word;

	if (!sink->active || sink->smem || sink->enable || sink->fill)
		return NULL;
	word = sink->parameters.sram + sink->rp;
	sink->rp = sink->rp == limit(sink) ? (uint32_t)sink->start :
					     (sink->rp + 4) % sink->parameters.sram_size;
	return word;
}

static uint32_t read_data(struct ram_sink *sink)
{
	const uint8_t *word = window(sink);

	return word ? word[0] | word[1] << 8 | word[2] << 16 | (uint32_t)word[3] << 24 : 0;
}

static void write_data(struct ram_sink *sink, uint32_t value)
{
	uint8_t *word = window(sink);

	for (unsigned int i = 0; word && !sink->parameters.data_fixed && i < 4; i++)
		word[i] = (uint8_t)(value >> 8 * i);
}

uint32_t ram_sink_read(struct ram_sink *sink, uint32_t offset)
{
	if (offset == TR_RAM_DATA)
		return read_data(sink);
	return fault_read(&sink->fault, offset, read_register(sink, offset));
}

/* Posts the write of one granule to system memory. */
static void post(struct ram_sink *sink)
{
	unsigned int most = sink->parameters.in_flight;

	if (!most) {
		write_granule(sink, sink->wp, sink->buffer);
		return;
	}
	arrive(sink, most - 1);
	sink->post[sink->posted].address = sink->wp;
	memcpy(sink->post[sink->posted].data, sink->buffer, granule(sink));
	sink->posted++;
}

/* Writes one granule to memory; stop-on-wrap may disable the sink here. */
static void commit(struct ram_sink *sink)
{
	if (sink->smem)
		post(sink);
	else
		memcpy(sink->parameters.sram + sink->wp, sink->buffer, granule(sink));
	sink->fill = 0;
	if (sink->wp != limit(sink)) {
		sink->wp += granule(sink);
		if (sink->stop_on_wrap && sink->enable &&
		    limit(sink) - sink->wp < (uint64_t)sink->parameters.stop_early * granule(sink))
			close_memory(sink);
		return;
	}
	sink->wp = sink->start;
	sink->wrap = true;
	if (sink->stop_on_wrap && sink->enable)
		close_memory(sink);
}

static void enable(struct ram_sink *sink)
{
	uint64_t last = limit(sink);

	if (sink->wp < sink->start || sink->wp > last) {
		sink->software_errors++;
		return;
	}
	sink->enable = true;
	if (sink->smem)
		sink->ops->open(sink->opaque, sink->start, last - sink->start + granule(sink));
}

static void disable(struct ram_sink *sink)
{
	if (sink->fill) {
		memset(sink->buffer + sink->fill, IDLE, granule(sink) - sink->fill);
		commit(sink);
	}
	if (sink->enable)
		close_memory(sink);
}

static bool legal_mode(const struct ram_sink *sink, uint32_t value)
{
	if (!sink->parameters.smem || !sink->parameters.sram)
		return sink->parameters.smem;
	return value & TR_RAM_CONTROL_MODE_SMEM;
}

static uint64_t address(const struct ram_sink *sink, uint64_t value)
{
	unsigned int bits = sink->parameters.address_bits;
	unsigned int step = sink->parameters.hidden ? 4 : granule(sink);
	uint64_t last = bits < 64 ? (UINT64_C(1) << bits) - 1 : UINT64_MAX;

	return value & last & ~(uint64_t)(step - 1);
}

static uint64_t start_address(const struct ram_sink *sink, uint64_t value)
{
	uint64_t alignment = sink->parameters.start_alignment;

	return address(sink, alignment ? value & ~(alignment - 1) : value);
}

static bool legal_stop(const struct ram_sink *sink, uint32_t value)
{
	return warl_bit(sink->parameters.stop_on_wrap, true, TR_RAM_CONTROL_STOP_ON_WRAP, value);
}

/* The values of the registers when Active becomes 1. */
static void leave_reset(struct ram_sink *sink)
{
	sink->active = true;
	if (sink->parameters.reset == WARL_RESET_RANDOM && sink->smem) {
		sink->stop_on_wrap = warl_random(&sink->random) & 1;
		sink->start = start_address(sink, warl_random(&sink->random));
		sink->limit = address(sink, warl_random(&sink->random));
		sink->wp = address(sink, warl_random(&sink->random));
	}
	sink->stop_on_wrap = legal_stop(sink, sink->stop_on_wrap ? TR_RAM_CONTROL_STOP_ON_WRAP : 0);
}

static void write_control(struct ram_sink *sink, uint32_t value)
{
	if (!(value & TR_CONTROL_ACTIVE)) {
		reset_registers(sink);
		return;
	}
	if (!sink->active) {
		leave_reset(sink);
		return;
	}
	if (sink->enable && !(value & TR_CONTROL_ENABLE)) {
		disable(sink);
		return;
	}
	if (sink->enable) {
		if (sink->stop_on_wrap != legal_stop(sink, value) ||
		    sink->smem != legal_mode(sink, value))
			sink->software_errors++;
		return;
	}
	if (sink->smem != legal_mode(sink, value))
		set_mode(sink, legal_mode(sink, value));
	sink->stop_on_wrap = legal_stop(sink, value);
	if (value & TR_CONTROL_ENABLE)
		enable(sink);
}

/* An address after the SRAM becomes that of its last word. */
static uint32_t sram_address(const struct ram_sink *sink, uint32_t value)
{
	uint32_t last = sink->parameters.sram_size - RAM_SINK_SRAM_GRANULE;

	return value > last ? last : value & ~(uint32_t)(RAM_SINK_SRAM_GRANULE - 1);
}

static uint64_t set_low(uint64_t old, uint32_t value)
{
	return (old >> 32) << 32 | value;
}

static uint64_t set_high(uint64_t old, uint32_t value)
{
	return (uint64_t)value << 32 | (uint32_t)old;
}

static void write_fault(struct ram_sink *sink, uint32_t mask)
{
	sink->stuck = write_pointer(sink);
	sink->fault = (struct fault){ mask & FAULT_ALL, ram_sink_read(sink, TR_CONTROL) };
}

/* SRAM mode has no High registers, and Start is fixed. */
static void write_sram_register(struct ram_sink *sink, uint32_t offset, uint32_t value)
{
	switch (offset) {
	case TR_RAM_LIMIT_LOW:
		sink->limit = sram_address(sink, value);
		break;
	case TR_RAM_WP_LOW:
		sink->wp = sram_address(sink, value);
		sink->stuck = sink->wp;
		sink->wrap &= sink->parameters.wrap_cleared > RAM_SINK_WRAP_BY_WP;
		break;
	case TR_RAM_RP_LOW:
		sink->rp = sram_address(sink, value);
		break;
	case TR_RAM_DATA:
		write_data(sink, value);
		break;
	}
}

void ram_sink_write(struct ram_sink *sink, uint32_t offset, uint32_t value)
{
	uint32_t old = read_register(sink, offset);

	if (offset == FAULT_REGISTER) {
		write_fault(sink, value);
		return;
	}
	if (!fault_write(&sink->fault, offset, old, &value))
		return;
	if (offset == TR_RAM_CONTROL) {
		write_control(sink, value);
		return;
	}
	if (!sink->active || sink->enable || sink->fill) {
		sink->software_errors++;
		return;
	}
	if (!sink->smem) {
		write_sram_register(sink, offset, value);
		return;
	}

	switch (offset) {
	case TR_RAM_START_LOW:
		sink->start = start_address(sink, set_low(sink->start, value));
		break;
	case TR_RAM_START_HIGH:
		sink->start = start_address(sink, set_high(sink->start, value));
		break;
	case TR_RAM_LIMIT_LOW:
		sink->limit = address(sink, set_low(sink->limit, value));
		break;
	case TR_RAM_LIMIT_HIGH:
		sink->limit = address(sink, set_high(sink->limit, value));
		break;
	case TR_RAM_WP_LOW:
		sink->wp = address(sink, set_low(sink->wp, value));
		sink->stuck = sink->wp;
		sink->wrap &= sink->parameters.wrap_cleared > RAM_SINK_WRAP_BY_WP;
		break;
	case TR_RAM_WP_HIGH:
		sink->wp = address(sink, set_high(sink->wp, value));
		sink->stuck = sink->wp;
		break;
	}
}

static bool exists(const struct ram_sink *sink, uint32_t offset)
{
	switch (offset) {
	case TR_RAM_CONTROL:
	case TR_RAM_IMPL:
	case TR_RAM_START_LOW:
	case TR_RAM_LIMIT_LOW:
	case TR_RAM_WP_LOW:
		return true;
	case TR_RAM_START_HIGH:
	case TR_RAM_LIMIT_HIGH:
	case TR_RAM_WP_HIGH:
		/* Software must read them to find out how wide addresses are. */
		return sink->parameters.smem;
	case TR_RAM_RP_LOW:
	case TR_RAM_DATA:
		return sink->parameters.sram;
	default:
		return false;
	}
}

bool ram_sink_answers(const struct ram_sink *sink, uint32_t offset)
{
	return bus_answers(&sink->parameters.bus, offset, exists(sink, offset), sink->active, true);
}

uint32_t ram_sink_poll(struct ram_sink *sink, uint32_t offset)
{
	uint32_t value = ram_sink_read(sink, offset);

	return offset == TR_RAM_CONTROL ? bus_control(&sink->bus, &sink->parameters.bus, value) :
					  value;
}

bool ram_sink_put(struct ram_sink *sink, const uint8_t *data, size_t size)
{
	while (size) {
		size_t part = granule(sink) - sink->fill;

		if (!sink->enable) {
			sink->dropped += size;
			return false;
		}
		if (part > size)
			part = size;
		memcpy(sink->buffer + sink->fill, data, part);
		sink->fill += part;
		sink->bytes += part;
		data += part;
		size -= part;
		if (sink->fill == granule(sink))
			commit(sink);
	}
	return true;
}
