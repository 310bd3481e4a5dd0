// SPDX-License-Identifier: GPL-2.0-only
/*
 * Timestamp units, trTs... registers, of encoders and funnels.
 *
 * A unit counts itself (internal and external modes) or takes the time of the next unit on the way
 * to the sink (shared mode). The units of funnels always run: the unit next to the sink counts,
 * the others share its time. So all encoders before them can use the same clock. Funnels are
 * programmed once for all of their users.
 */
#include <linux/bitfield.h>
#include <linux/device.h>
#include <linux/of.h>

#include "component.h"

#define NTRACE_TS_MODE(mode)	FIELD_PREP(TR_TS_CONTROL_MODE_MASK, mode)
/* Fields that must read back as written. */
#define NTRACE_TS_FIELDS	(TR_TS_CONTROL_COUNT | TR_TS_CONTROL_MODE_MASK | \
				 TR_TS_CONTROL_PRESCALE_MASK | TR_TS_CONTROL_ENABLE)

static bool ntrace_timestamp_is_internal(u32 mode)
{
	return mode == NTRACE_TIMESTAMPS_SYSTEM || mode == NTRACE_TIMESTAMPS_CORE;
}

/* trTsActive is a bit of its own, or a copy of the component's Active. */
static int ntrace_timestamp_wake(struct ntrace_component *component)
{
	if (ntrace_read(component, TR_TS_CONTROL) & TR_TS_CONTROL_ACTIVE)
		return 0;
	ntrace_write(component, TR_TS_CONTROL, TR_TS_CONTROL_ACTIVE);
	return ntrace_component_poll(component, TR_TS_CONTROL, TR_TS_CONTROL_ACTIVE,
				     TR_TS_CONTROL_ACTIVE, true, NULL);
}

static u32 ntrace_timestamp_value(const struct ntrace_component *component, u32 mode, u32 prescale)
{
	u32 value = TR_TS_CONTROL_ACTIVE | NTRACE_TS_MODE(mode) |
		    FIELD_PREP(TR_TS_CONTROL_PRESCALE_MASK, prescale);

	if (ntrace_timestamp_is_internal(mode))
		value |= TR_TS_CONTROL_COUNT;
	if (component->type == TR_COMP_TYPE_ENCODER)
		value |= TR_TS_CONTROL_ENABLE | component->layout->timestamp_extra;
	return value;
}

static int ntrace_timestamp_set(struct ntrace_component *component, u32 mode, u32 prescale)
{
	u32 value = ntrace_timestamp_value(component, mode, prescale);
	u32 control = ntrace_component_warl(component, TR_TS_CONTROL, value);

	return (control ^ value) & NTRACE_TS_FIELDS ? -EOPNOTSUPP : 0;
}

/* No register has the frequency. The device tree gives it; the clock of a hart is unknown. */
static void ntrace_timestamp_read_clock(struct ntrace_component *component)
{
	const struct device_node *node = component->dev->of_node;
	struct ntrace_timestamp *unit = &component->timestamp;
	u64 hz = 0;
	u32 low;

	if (of_property_count_u32_elems(node, "clock-frequency") == 2)
		of_property_read_u64(node, "clock-frequency", &hz);
	else if (!of_property_read_u32(node, "clock-frequency", &low))
		hz = low;
	unit->hz[NTRACE_TIMESTAMPS_EXTERNAL] = hz;
	unit->hz[NTRACE_TIMESTAMPS_SYSTEM] = hz;
}

/*
 * Finds out what the timestamp unit of a component supports: an encoder, a funnel, or a sink with a
 * funnel. It was just reset.
 */
void ntrace_timestamp_init(struct ntrace_component *component)
{
	struct ntrace_timestamp *unit = &component->timestamp;
	u32 mode, prescale;

	unit->modes = 0;
	unit->exists = ntrace_component_has(component, TR_TS_CONTROL);
	if (!unit->exists)
		return;
	if (ntrace_timestamp_wake(component))
		goto off;
	unit->bits = FIELD_GET(TR_TS_CONTROL_WIDTH_MASK, ntrace_read(component, TR_TS_CONTROL));
	/* A decoder needs the width. */
	if (!unit->bits)
		goto off;
	for (mode = NTRACE_TIMESTAMPS_EXTERNAL; mode <= NTRACE_TIMESTAMPS_SHARED; mode++)
		if (!ntrace_timestamp_set(component, mode, 0))
			unit->modes |= BIT(mode);
	prescale = ntrace_component_warl(component, TR_TS_CONTROL,
					 ntrace_timestamp_value(component, NTRACE_TIMESTAMPS_SYSTEM,
								NTRACE_PRESCALE_MAX));
	unit->prescale_max = FIELD_GET(TR_TS_CONTROL_PRESCALE_MASK, prescale);
	unit->offered = unit->modes;
	ntrace_timestamp_read_clock(component);
off:
	ntrace_write(component, TR_TS_CONTROL, 0);
}

/* Chooses the mode of a funnel's unit. @next is the unit of the next component. */
static void ntrace_timestamp_choose(struct ntrace_timestamp *unit,
				    const struct ntrace_timestamp *next)
{
	if (next->source && unit->modes & BIT(NTRACE_TIMESTAMPS_SHARED))
		unit->source = NTRACE_TIMESTAMPS_SHARED;
	else if (unit->modes & BIT(NTRACE_TIMESTAMPS_SYSTEM))
		unit->source = NTRACE_TIMESTAMPS_SYSTEM;
	else if (unit->modes & BIT(NTRACE_TIMESTAMPS_EXTERNAL))
		unit->source = NTRACE_TIMESTAMPS_EXTERNAL;
	else
		unit->source = NTRACE_TIMESTAMPS_OFF;
	unit->hz[NTRACE_TIMESTAMPS_SHARED] = next->hz[next->source];
}

/* Chooses the modes of all units on a path, whose components begin with the encoder. */
void ntrace_timestamp_connect(struct ntrace_component *const *component, unsigned int count)
{
	struct ntrace_timestamp *encoder = &component[0]->timestamp;
	const struct ntrace_timestamp *next;
	static const struct ntrace_timestamp none;
	unsigned int i, first = 1;

	/* A bridge has no unit, and is not in the way of the time. */
	while (component[first]->type == TR_COMP_TYPE_ATB_BRIDGE && first + 1 < count)
		first++;
	next = &component[first]->timestamp;

	/* A sink has a unit if it is one block with a funnel. */
	for (i = count - 1; i > 0; i--)
		ntrace_timestamp_choose(&component[i]->timestamp,
					i + 1 < count ? &component[i + 1]->timestamp : &none);
	encoder->offered = encoder->modes;
	/*
	 * A funnel without a unit has no time to share. Without a funnel an external unit shares
	 * its time.
	 */
	if (component[first]->merges && !next->source)
		encoder->offered &= ~BIT(NTRACE_TIMESTAMPS_SHARED);
	encoder->hz[NTRACE_TIMESTAMPS_SHARED] = next->hz[next->source];
}

/**
 * ntrace_timestamp_program - program a timestamp unit
 * @component: encoder or funnel, disabled; an encoder may have been programmed before
 * @mode: NTRACE_TIMESTAMPS_...
 * @prescale: trTsPrescale
 *
 * Called with interrupts off. A running counter is not reset: events of perf alternate, and their
 * trace may be in one stream.
 *
 * Return: 0, -EOPNOTSUPP or -ETIMEDOUT.
 */
int ntrace_timestamp_program(struct ntrace_component *component, u32 mode, u32 prescale)
{
	u32 control;
	int ret;

	if (!component->timestamp.modes) {
		if (component->timestamp.exists)
			ntrace_write(component, TR_TS_CONTROL, 0);
		return mode ? ntrace_component_lacks(component, "trTsMode", mode) : 0;
	}
	if (mode == NTRACE_TIMESTAMPS_OFF) {
		control = ntrace_read(component, TR_TS_CONTROL);
		ntrace_write(component, TR_TS_CONTROL, control & ~TR_TS_CONTROL_ENABLE);
		return 0;
	}
	ret = ntrace_timestamp_wake(component);
	if (!ret && ntrace_timestamp_set(component, mode, prescale))
		ret = ntrace_component_lacks(component, "trTsControl, in trTsMode,", mode);
	return ret;
}

/*
 * Checks the timestamps of a configuration.
 * Return: 0, -EINVAL if no encoder supports it, -EOPNOTSUPP if this one does not.
 */
int ntrace_timestamp_check(const struct ntrace_component *component,
			   const struct ntrace_config *config)
{
	const struct ntrace_timestamp *unit = &component->timestamp;

	if (config->timestamps > NTRACE_TIMESTAMPS_SHARED ||
	    config->timestamp_prescale > NTRACE_PRESCALE_MAX)
		return -EINVAL;
	if (config->timestamp_prescale && !ntrace_timestamp_is_internal(config->timestamps))
		return -EINVAL;
	if (config->timestamps && !(unit->offered & BIT(config->timestamps)))
		return ntrace_component_lacks(component, "trTsMode", config->timestamps);
	return config->timestamp_prescale > unit->prescale_max ?
		       ntrace_component_lacks(component, "trTsPrescale",
					      config->timestamp_prescale) :
		       0;
}
