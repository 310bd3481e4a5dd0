// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which instructions an encoder traces: filters, comparators and triggers.
 *
 * An encoder traces an instruction if one of the selected filters matches; a filter matches if all
 * of its conditions hold. So the driver uses one filter, with its own comparator, for each address
 * range. Each of these filters also selects the permitted privileges, and the conditions that hold
 * for all: an address range never makes more visible than there was without it.
 *
 *	comparator	compares	used by
 *	0 .. n - 1	the ranges	filters 0 .. n - 1, each as its first
 *	next		from, until	all filters, as their second
 *	next		the task	all filters, as their third
 *	next ones	two marks each	none: they notify
 *
 * External trigger inputs start and stop tracing or send a mark; external outputs signal the start
 * and the end of tracing. Triggers of the hart's debug module (tdata1, actions 2 to 4) act like
 * inputs. Firmware or a debugger sets them; the driver only lets them in, with trTeInstTrigEnable,
 * which external inputs need as well.
 */
#include <linux/bitfield.h>
#include <linux/bits.h>

#include <asm/cpufeature.h>

#include "component.h"

#define NTRACE_PRIVILEGE_NO_H (NTRACE_PRIVILEGE_U | NTRACE_PRIVILEGE_S | NTRACE_PRIVILEGE_M)

/* An address range includes its start and its end. */
#define NTRACE_COMP_RANGE (TR_TE_COMP_FUNCTION_GE << TR_TE_COMP_P_FUNCTION_SHIFT | \
			   TR_TE_COMP_FUNCTION_LE << TR_TE_COMP_S_FUNCTION_SHIFT | \
			   TR_TE_COMP_MODE_AND << TR_TE_COMP_MODE_SHIFT)
#define NTRACE_COMP_MARK (TR_TE_COMP_FUNCTION_EQ << TR_TE_COMP_P_FUNCTION_SHIFT | \
			  TR_TE_COMP_FUNCTION_EQ << TR_TE_COMP_S_FUNCTION_SHIFT | \
			  TR_TE_COMP_P_NOTIFY)
#define NTRACE_COMP_TASK (TR_TE_COMP_INPUT_CONTEXT | \
			  TR_TE_COMP_FUNCTION_EQ << TR_TE_COMP_P_FUNCTION_SHIFT)

#define NTRACE_CONFIG_WINDOW (NTRACE_CONFIG_FROM | NTRACE_CONFIG_UNTIL)

/*
 * P sets the latch, and S clears it. If P never matches, the latch is set from the beginning. No
 * address is below 0.
 */
static u32 ntrace_filter_window(u32 flags)
{
	u32 p = flags & NTRACE_CONFIG_FROM ? TR_TE_COMP_FUNCTION_EQ : TR_TE_COMP_FUNCTION_FALSE;
	u32 s = flags & NTRACE_CONFIG_UNTIL ? TR_TE_COMP_FUNCTION_EQ : TR_TE_COMP_FUNCTION_LT;

	return p << TR_TE_COMP_P_FUNCTION_SHIFT | s << TR_TE_COMP_S_FUNCTION_SHIFT |
	       TR_TE_COMP_MODE_LATCH << TR_TE_COMP_MODE_SHIFT;
}

/* A filter takes comparator @j as its number @n. */
static u32 ntrace_filter_comparator(u32 n, u32 j)
{
	return TR_TE_FILTER_CONTROL_MATCH_COMP(n) | j << TR_TE_FILTER_COMP_SHIFT(n);
}

/* A register that does not read back would filter something else. */
static bool ntrace_filter_write(struct ntrace_component *component, u32 offset, u32 value)
{
	return ntrace_component_warl(component, offset, value) == value;
}

static bool ntrace_filter_takes(struct ntrace_component *component, u32 i, u32 control)
{
	control |= TR_TE_FILTER_CONTROL_ENABLE;
	return ntrace_filter_write(component, TR_TE_FILTER_CONTROL(i), control);
}

static bool ntrace_filter_takes_range(struct ntrace_component *component, u32 i)
{
	u32 privilege = component->encoder.privilege;
	u32 control = ntrace_filter_comparator(0, i);
	bool takes;

	if (privilege)
		control |= TR_TE_FILTER_CONTROL_MATCH_PRIVILEGE;
	takes = ntrace_filter_write(component, TR_TE_FILTER_MATCH_INST(i), privilege) &&
		ntrace_filter_takes(component, i, control);
	ntrace_write(component, TR_TE_FILTER_CONTROL(i), 0);
	return takes;
}

/* Can comparator @j compare so? */
static bool ntrace_filter_compares(struct ntrace_component *component, u32 j, u32 control)
{
	bool takes;

	if (j >= TR_TE_COMPARATOR_MAX || !(component->encoder.comparators & BIT(j)))
		return false;
	takes = ntrace_filter_write(component, TR_TE_COMP_CONTROL(j), control);
	ntrace_write(component, TR_TE_COMP_CONTROL(j), 0);
	return takes;
}

static void ntrace_filter_probe_comparators(struct ntrace_component *component, u32 filters)
{
	struct ntrace_encoder *encoder = &component->encoder;

	while (ntrace_filter_compares(component, encoder->comparator_count, NTRACE_COMP_RANGE))
		encoder->comparator_count++;
	if (ntrace_filter_compares(component, 0, NTRACE_COMP_MARK | TR_TE_COMP_S_NOTIFY))
		encoder->comparisons |= NTRACE_COMPARE_MARK;
	if (!(filters & BIT(0)))
		return;
	if (ntrace_filter_compares(component, 0, ntrace_filter_window(0)) &&
	    ntrace_filter_compares(component, 0, ntrace_filter_window(NTRACE_CONFIG_WINDOW)) &&
	    ntrace_filter_takes(component, 0, ntrace_filter_comparator(1, 0)))
		encoder->comparisons |= NTRACE_COMPARE_FROM_UNTIL;
	if (ntrace_filter_compares(component, 0, NTRACE_COMP_TASK) &&
	    ntrace_filter_takes(component, 0, ntrace_filter_comparator(2, 0)))
		encoder->comparisons |= NTRACE_COMPARE_TASK;
	ntrace_write(component, TR_TE_FILTER_CONTROL(0), 0);
}

/* Finds out what an encoder can filter; it was just reset. */
void ntrace_filter_init(struct ntrace_component *component)
{
	struct ntrace_encoder *encoder = &component->encoder;
	u32 filters;

	if (!ntrace_component_has(component, TR_TE_INST_FILTERS))
		return;
	filters = ntrace_component_warl(component, TR_TE_INST_FILTERS, U16_MAX);
	if (filters & BIT(0)) {
		u32 privilege = ntrace_component_warl(component, TR_TE_FILTER_MATCH_INST(0),
						      NTRACE_PRIVILEGE_ALL);

		if (ntrace_filter_takes(component, 0, TR_TE_FILTER_CONTROL_MATCH_PRIVILEGE))
			encoder->privilege = privilege & NTRACE_PRIVILEGE_ALL;
		if (ntrace_filter_takes(component, 0, TR_TE_FILTER_CONTROL_MATCH_INTERRUPT))
			encoder->traps |= BIT(NTRACE_TRAPS_EXCEPTIONS) |
					  BIT(NTRACE_TRAPS_INTERRUPTS);
		if (encoder->traps &&
		    ntrace_filter_takes(component, 0, TR_TE_FILTER_CONTROL_MATCH_ECAUSE))
			encoder->causes = true;
		ntrace_write(component, TR_TE_FILTER_CONTROL(0), 0);
	}
	ntrace_filter_probe_comparators(component, filters);
	while (encoder->ranges < encoder->comparator_count && filters & BIT(encoder->ranges) &&
	       ntrace_filter_takes_range(component, encoder->ranges))
		encoder->ranges++;
	ntrace_write(component, TR_TE_INST_FILTERS, 0);
}

static int ntrace_filter_check_privilege(const struct ntrace_component *component,
					 struct ntrace_config *config)
{
	const struct ntrace_encoder *encoder = &component->encoder;

	if (config->privilege & ~NTRACE_PRIVILEGE_ALL)
		return -EINVAL;
	if (!config->privilege)
		config->privilege = NTRACE_PRIVILEGE_U | NTRACE_PRIVILEGE_S;
	if (encoder->privilege)
		return config->privilege & ~encoder->privilege ?
			       ntrace_component_lacks(component, "trTeFilterMatchPrivilege",
						      config->privilege) :
			       0;
	/*
	 * Without filters the encoder traces all privileges: accept only a request for all of
	 * them.
	 */
	if (config->privilege == NTRACE_PRIVILEGE_ALL)
		return 0;
	if (config->privilege == NTRACE_PRIVILEGE_NO_H && !riscv_isa_extension_available(NULL, h))
		return 0;
	return ntrace_component_lacks(component, "trTeFilterMatchPrivilege (there is no filter)",
				      config->privilege);
}

static int ntrace_filter_check_comparators(const struct ntrace_component *component,
					   const struct ntrace_config *config)
{
	const struct ntrace_encoder *encoder = &component->encoder;
	u32 needed = config->range_count + DIV_ROUND_UP(config->mark_count, 2) +
		     !!(config->flags & NTRACE_CONFIG_WINDOW) + !!config->task;

	/* The kernel tells the thread only then. */
	if (config->task && !(config->flags & NTRACE_CONFIG_CONTEXT))
		return -EINVAL;
	if (config->range_count > encoder->ranges)
		return ntrace_component_lacks(component, "the number of address comparators",
					      config->range_count);
	if (needed > encoder->comparator_count)
		return ntrace_component_lacks(component, "the number of comparators", needed);
	if (config->mark_count && !(encoder->comparisons & NTRACE_COMPARE_MARK))
		return ntrace_component_lacks(component, "trTeCompPNotify", 1);
	if (config->flags & NTRACE_CONFIG_WINDOW &&
	    !(encoder->comparisons & NTRACE_COMPARE_FROM_UNTIL))
		return ntrace_component_lacks(component, "trTeCompMatchMode",
					      TR_TE_COMP_MODE_LATCH);
	if (config->task && !(encoder->comparisons & NTRACE_COMPARE_TASK))
		return ntrace_component_lacks(component, "trTeCompPInput",
					      TR_TE_COMP_INPUT_CONTEXT);
	return 0;
}

/*
 * Checks the filters of a configuration, and fills in its defaults.
 * Return: 0, -EINVAL if no encoder supports it, -EOPNOTSUPP if this one does not.
 */
int ntrace_filter_check(const struct ntrace_component *component, struct ntrace_config *config)
{
	const struct ntrace_encoder *encoder = &component->encoder;
	u32 i;
	int ret;

	if (config->traps > NTRACE_TRAPS_INTERRUPTS || (config->causes && !config->traps) ||
	    config->range_count > NTRACE_RANGES_MAX || config->mark_count > NTRACE_MARKS_MAX)
		return -EINVAL;
	for (i = 0; i < config->range_count; i++)
		if (config->ranges[i].start > config->ranges[i].end)
			return -EINVAL;
	ret = ntrace_filter_check_comparators(component, config);
	if (ret)
		return ret;
	if (config->traps && !(encoder->traps & BIT(config->traps)))
		return ntrace_component_lacks(component, "trTeFilterMatchInterrupt", config->traps);
	if (config->causes && !encoder->causes)
		return ntrace_component_lacks(component, "trTeFilterMatchEcause", config->causes);
	return ntrace_filter_check_privilege(component, config);
}

static bool ntrace_filter_compare(struct ntrace_component *component, u32 j, u32 control, u64 p,
				  u64 s)
{
	/* Address bits above the implemented width may be missing. */
	ntrace_write(component, TR_TE_COMP_P_MATCH_HIGH(j), upper_32_bits(p));
	ntrace_write(component, TR_TE_COMP_S_MATCH_HIGH(j), upper_32_bits(s));
	return ntrace_filter_write(component, TR_TE_COMP_P_MATCH_LOW(j), lower_32_bits(p)) &&
	       ntrace_filter_write(component, TR_TE_COMP_S_MATCH_LOW(j), lower_32_bits(s)) &&
	       ntrace_filter_write(component, TR_TE_COMP_CONTROL(j), control);
}

/*
 * Programs the comparators after those of the ranges.
 *
 * Return: false if a register does not read back. @all: what the control register of each filter
 * has for them.
 */
static bool ntrace_filter_set_comparators(struct ntrace_component *component,
					  const struct ntrace_config *config, u32 *all)
{
	u32 j = config->range_count, i;

	*all = 0;
	if (config->flags & NTRACE_CONFIG_WINDOW) {
		*all |= ntrace_filter_comparator(1, j);
		if (!ntrace_filter_compare(component, j++, ntrace_filter_window(config->flags),
					   config->from,
					   config->flags & NTRACE_CONFIG_UNTIL ? config->until : 0))
			return false;
	}
	if (config->task) {
		*all |= ntrace_filter_comparator(2, j);
		if (!ntrace_filter_compare(component, j++, NTRACE_COMP_TASK, config->task, 0))
			return false;
	}
	for (i = 0; i < config->mark_count; i += 2) {
		bool two = i + 1 < config->mark_count;

		if (!ntrace_filter_compare(component, j++,
					   NTRACE_COMP_MARK | (two ? TR_TE_COMP_S_NOTIFY : 0),
					   config->marks[i], two ? config->marks[i + 1] : 0))
			return false;
	}
	return true;
}

/* Operands before the bits that enable them. */
static bool ntrace_filter_set(struct ntrace_component *component, u32 i,
			      const struct ntrace_config *config, u32 control)
{
	u32 match = 0;

	control |= TR_TE_FILTER_CONTROL_ENABLE;

	ntrace_write(component, TR_TE_FILTER_CONTROL(i), 0);
	if (component->encoder.privilege) {
		control |= TR_TE_FILTER_CONTROL_MATCH_PRIVILEGE;
		match |= config->privilege;
	}
	if (config->traps) {
		control |= TR_TE_FILTER_CONTROL_MATCH_INTERRUPT;
		if (config->traps == NTRACE_TRAPS_INTERRUPTS)
			match |= TR_TE_FILTER_MATCH_INST_INTERRUPT;
	}
	if (config->causes) {
		control |= TR_TE_FILTER_CONTROL_MATCH_ECAUSE;
		if (!ntrace_filter_write(component, TR_TE_FILTER_ECAUSE_LOW(i),
					 lower_32_bits(config->causes)) ||
		    !ntrace_filter_write(component, TR_TE_FILTER_ECAUSE_HIGH(i),
					 upper_32_bits(config->causes)))
			return false;
	}
	if (config->range_count) {
		control |= ntrace_filter_comparator(0, i);
		if (!ntrace_filter_compare(component, i, NTRACE_COMP_RANGE, config->ranges[i].start,
					   config->ranges[i].end))
			return false;
	}
	return ntrace_filter_write(component, TR_TE_FILTER_MATCH_INST(i), match) &&
	       ntrace_filter_write(component, TR_TE_FILTER_CONTROL(i), control);
}

/*
 * Programs the filters that ntrace_filter_check() accepted. trTeInstFilters is 0.
 * Return: 0, or -EOPNOTSUPP if a register does not read back as written.
 */
int ntrace_filter_program(struct ntrace_component *component, const struct ntrace_config *config)
{
	u32 count = max(config->range_count, 1U);
	u32 i, all;

	if (!ntrace_filter_set_comparators(component, config, &all))
		return ntrace_component_lacks(component, "a register of trTeComp",
					      config->range_count);
	if (!component->encoder.privilege && !config->range_count && !config->traps && !all)
		return 0;
	for (i = 0; i < count; i++)
		if (!ntrace_filter_set(component, i, config, all))
			return ntrace_component_lacks(component, "a register of trTeFilter", i);
	return ntrace_filter_write(component, TR_TE_INST_FILTERS, GENMASK(count - 1, 0)) ?
		       0 :
		       ntrace_component_lacks(component, "trTeInstFilters", GENMASK(count - 1, 0));
}

/* ---- triggers ---- */

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
