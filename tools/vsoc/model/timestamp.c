// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <string.h>

#include <ntrace/trace_control.h>

#include "timestamp.h"

#define FIELDS (TR_TS_CONTROL_ACTIVE | TR_TS_CONTROL_COUNT | TR_TS_CONTROL_MODE_MASK | \
		TR_TS_CONTROL_PRESCALE_MASK)

void timestamp_init(struct timestamp *unit, const struct timestamp_parameters *parameters)
{
	memset(unit, 0, sizeof(*unit));
	unit->parameters = parameters;
}

static unsigned int mode_of(uint32_t control)
{
	return (control & TR_TS_CONTROL_MODE_MASK) >> TR_TS_CONTROL_MODE_SHIFT;
}

static unsigned int prescale_of(uint32_t control)
{
	return 2 * ((control & TR_TS_CONTROL_PRESCALE_MASK) >> TR_TS_CONTROL_PRESCALE_SHIFT);
}

static bool internal(unsigned int mode)
{
	return mode == TR_TS_MODE_SYSTEM || mode == TR_TS_MODE_CORE;
}

static bool comes_from_outside(unsigned int mode)
{
	return mode == TR_TS_MODE_SHARED || mode == TR_TS_MODE_EXTERNAL;
}

static uint64_t now(const struct timestamp *unit)
{
	return unit->parameters->now(unit->parameters->opaque, mode_of(unit->control));
}

/* Counter of an internal mode. */
static uint64_t counter(const struct timestamp *unit)
{
	if (!(unit->control & TR_TS_CONTROL_COUNT) || !internal(mode_of(unit->control)))
		return unit->held;
	return unit->held + ((now(unit) - unit->since) >> prescale_of(unit->control));
}

uint64_t timestamp_value(const struct timestamp *unit)
{
	uint64_t mask;

	if (!(unit->control & TR_TS_CONTROL_ACTIVE))
		return 0;
	mask = (UINT64_C(1) << unit->parameters->width) - 1;
	return (comes_from_outside(mode_of(unit->control)) ? now(unit) : counter(unit)) & mask;
}

bool timestamp_in_messages(const struct timestamp *unit)
{
	return (unit->control & TR_TS_CONTROL_ENABLE) && mode_of(unit->control);
}

uint32_t timestamp_read(const struct timestamp *unit, uint32_t offset)
{
	if (!(unit->control & TR_TS_CONTROL_ACTIVE))
		return 0;
	switch (offset) {
	case TR_TS_CONTROL:
		return unit->control | unit->parameters->width << TR_TS_CONTROL_WIDTH_SHIFT;
	case TR_TS_COUNTER_LOW:
		return (uint32_t)timestamp_value(unit);
	case TR_TS_COUNTER_HIGH:
		return timestamp_value(unit) >> 32;
	default:
		return 0;
	}
}

static uint32_t fixed_mode(const struct timestamp *unit)
{
	return (uint32_t)__builtin_ctz(unit->parameters->modes) << TR_TS_CONTROL_MODE_SHIFT;
}

static uint32_t legal(const struct timestamp *unit, uint32_t value)
{
	uint32_t control;

	if (unit->parameters->fixed)
		value = (value & ~TR_TS_CONTROL_MODE_MASK) | fixed_mode(unit);
	control = value & FIELDS;
	if (unit->parameters->enable)
		control |= value & TR_TS_CONTROL_ENABLE;
	if (!(unit->parameters->modes >> mode_of(value) & 1))
		control &= ~TR_TS_CONTROL_MODE_MASK;
	if (unit->parameters->no_prescale)
		control &= ~TR_TS_CONTROL_PRESCALE_MASK;
	if (!internal(mode_of(control)))
		control &= ~(TR_TS_CONTROL_COUNT | TR_TS_CONTROL_PRESCALE_MASK);
	return control;
}

void timestamp_write(struct timestamp *unit, uint32_t value)
{
	if (!unit->parameters->width)
		return;
	if (!(value & TR_TS_CONTROL_ACTIVE)) {
		timestamp_init(unit, unit->parameters);
		return;
	}
	if (!(unit->control & TR_TS_CONTROL_ACTIVE)) {
		/*
		 * This write only ends the reset: its other fields have no
		 * effect.
		 */
		unit->control = legal(unit, TR_TS_CONTROL_ACTIVE);
		return;
	}
	unit->held = counter(unit);
	unit->control = legal(unit, value);
	if (value & TR_TS_CONTROL_RESET)
		unit->held = 0;
	if (internal(mode_of(unit->control)))
		unit->since = now(unit);
}
