// SPDX-License-Identifier: GPL-2.0-only
/*
 * Triggers of an encoder. External inputs start and stop tracing or send a mark; external outputs
 * signal the start and the end of tracing. Triggers of the hart's debug module (tdata1, actions 2
 * to 4) act like inputs. Firmware or a debugger sets them; the driver only lets them in, with
 * trTeInstTrigEnable, which external inputs need as well.
 */
#include <linux/bits.h>

#include "component.h"

#define NTRACE_TRIGGER_ALL(action) (0x11111111U * (action))

/* The inputs or outputs that support @action, as a bit mask. */
static u32 ntrace_trigger_probe(struct ntrace_component *component, u32 offset, u32 action)
{
	u32 mask = 0, value, i;

	if (!ntrace_component_has(component, offset))
		return 0;
	value = ntrace_component_warl(component, offset, NTRACE_TRIGGER_ALL(action));
	for (i = 0; i < TR_TE_TRIG_EXT_MAX; i++)
		if (TR_TE_TRIG_EXT(value, i) == action)
			mask |= BIT(i);
	ntrace_write(component, offset, 0);
	return mask;
}

/* Finds out which external triggers an encoder has; it was just reset. */
void ntrace_trigger_init(struct ntrace_component *component)
{
	struct ntrace_encoder *encoder = &component->encoder;

	encoder->triggers_in =
		ntrace_trigger_probe(component, TR_TE_TRIG_EXT_IN_CONTROL, NTRACE_TRIGGER_ON);
	encoder->triggers_out =
		ntrace_trigger_probe(component, TR_TE_TRIG_EXT_OUT_CONTROL, NTRACE_TRIGGER_OUT_ON);
}

/* Tells whether a trigger can switch tracing on or off. */
bool ntrace_trigger_is_used(const struct ntrace_config *config)
{
	return config->trigger_in || config->flags & NTRACE_CONFIG_DEBUG_TRIGGERS;
}

/*
 * Checks the triggers of a configuration.
 * Return: 0, -EINVAL if no encoder supports it, -EOPNOTSUPP if this one does not.
 */
int ntrace_trigger_check(const struct ntrace_component *component,
			 const struct ntrace_config *config)
{
	const struct ntrace_encoder *encoder = &component->encoder;
	bool debug = config->flags & NTRACE_CONFIG_DEBUG_TRIGGERS;
	u32 missing_in = 0, missing_out = 0;
	/* A debug trigger may start tracing: the driver does not know its action. */
	bool begins = debug;
	u32 in, out, i;

	for (i = 0; i < TR_TE_TRIG_EXT_MAX; i++) {
		in = TR_TE_TRIG_EXT(config->trigger_in, i);
		out = TR_TE_TRIG_EXT(config->trigger_out, i);
		if ((in && in < NTRACE_TRIGGER_ON) || in > NTRACE_TRIGGER_NOTIFY ||
		    out & ~(NTRACE_TRIGGER_OUT_ON | NTRACE_TRIGGER_OUT_OFF))
			return -EINVAL;
		begins |= in == NTRACE_TRIGGER_ON;
		if (in && !(encoder->triggers_in & BIT(i)))
			missing_in |= in << 4 * i;
		if (out && !(encoder->triggers_out & BIT(i)))
			missing_out |= out << 4 * i;
	}
	if (config->flags & NTRACE_CONFIG_ARMED && !begins)
		return -EINVAL;
	if (debug && !encoder->triggers_debug)
		return ntrace_component_lacks(component, "trTeInstTrigEnable", 1);
	if (missing_in)
		return ntrace_component_lacks(component, "trTeTrigExtInControl", missing_in);
	return missing_out ?
		       ntrace_component_lacks(component, "trTeTrigExtOutControl", missing_out) :
		       0;
}

/*
 * Programs the external triggers that ntrace_trigger_check() accepted. Both registers are 0, or do
 * not exist.
 * Return: 0, or -EOPNOTSUPP if a register does not read back as written.
 */
int ntrace_trigger_program(struct ntrace_component *component, const struct ntrace_config *config)
{
	u32 in = config->trigger_in, out = config->trigger_out;

	/* The others are 0. */
	if (in && ntrace_component_warl(component, TR_TE_TRIG_EXT_IN_CONTROL, in) != in)
		return ntrace_component_lacks(component, "trTeTrigExtInControl", in);
	if (out && ntrace_component_warl(component, TR_TE_TRIG_EXT_OUT_CONTROL, out) != out)
		return ntrace_component_lacks(component, "trTeTrigExtOutControl", out);
	return 0;
}
