// SPDX-License-Identifier: GPL-2.0-only
/*
 * Filters and comparators of an encoder: which instructions are traced.
 *
 * An encoder traces an instruction if one of the selected filters matches; a filter matches if all
 * of its conditions hold. So the driver uses one filter, with its own comparator, for each address
 * range. Each of these filters also selects the permitted privileges: an address range never makes
 * more visible than there was without it.
 */
#include <linux/bitfield.h>
#include <linux/bits.h>

#include <asm/cpufeature.h>

#include "component.h"
#include "filter.h"

#define NTRACE_PRIVILEGE_NO_H (NTRACE_PRIVILEGE_U | NTRACE_PRIVILEGE_S | NTRACE_PRIVILEGE_M)

/* An address range includes its start and its end. */
#define NTRACE_COMP_RANGE (TR_TE_COMP_FUNCTION_GE << TR_TE_COMP_P_FUNCTION_SHIFT | \
			   TR_TE_COMP_FUNCTION_LE << TR_TE_COMP_S_FUNCTION_SHIFT | \
			   TR_TE_COMP_MODE_AND << TR_TE_COMP_MODE_SHIFT)

/* Filter @i uses comparator @i and no other. */
static u32 ntrace_filter_comparator(u32 i)
{
	return TR_TE_FILTER_CONTROL_MATCH_COMP(0) | i << TR_TE_FILTER_COMP_SHIFT(0);
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
	u32 control = ntrace_filter_comparator(i);
	bool takes;

	if (!(component->encoder.comparators & BIT(i)))
		return false;
	if (privilege)
		control |= TR_TE_FILTER_CONTROL_MATCH_PRIVILEGE;
	takes = ntrace_filter_write(component, TR_TE_FILTER_MATCH_INST(i), privilege) &&
		ntrace_filter_write(component, TR_TE_COMP_CONTROL(i), NTRACE_COMP_RANGE) &&
		ntrace_filter_takes(component, i, control);
	ntrace_write(component, TR_TE_FILTER_CONTROL(i), 0);
	return takes;
}

/**
 * ntrace_filter_init - find out what an encoder can filter
 * @component: encoder, just reset
 */
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
	while (encoder->ranges < NTRACE_RANGES_MAX && filters & BIT(encoder->ranges) &&
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

/**
 * ntrace_filter_check - check the filters of a configuration
 * @component: encoder
 * @config: configuration; defaults are filled in
 *
 * Return: 0, -EINVAL if no encoder supports it, -EOPNOTSUPP if this one does not.
 */
int ntrace_filter_check(const struct ntrace_component *component, struct ntrace_config *config)
{
	const struct ntrace_encoder *encoder = &component->encoder;
	u32 i;

	if (config->traps > NTRACE_TRAPS_INTERRUPTS || (config->causes && !config->traps) ||
	    config->range_count > NTRACE_RANGES_MAX)
		return -EINVAL;
	for (i = 0; i < config->range_count; i++)
		if (config->ranges[i].start > config->ranges[i].end)
			return -EINVAL;
	if (config->range_count > encoder->ranges)
		return ntrace_component_lacks(component, "the number of address comparators",
					      config->range_count);
	if (config->traps && !(encoder->traps & BIT(config->traps)))
		return ntrace_component_lacks(component, "trTeFilterMatchInterrupt", config->traps);
	if (config->causes && !encoder->causes)
		return ntrace_component_lacks(component, "trTeFilterMatchEcause", config->causes);
	return ntrace_filter_check_privilege(component, config);
}

static bool ntrace_filter_set_range(struct ntrace_component *component, u32 i,
				    const struct ntrace_range *range)
{
	/* Address bits above the implemented width may be missing. */
	ntrace_write(component, TR_TE_COMP_P_MATCH_HIGH(i), upper_32_bits(range->start));
	ntrace_write(component, TR_TE_COMP_S_MATCH_HIGH(i), upper_32_bits(range->end));
	return ntrace_filter_write(component, TR_TE_COMP_P_MATCH_LOW(i),
				   lower_32_bits(range->start)) &&
	       ntrace_filter_write(component, TR_TE_COMP_S_MATCH_LOW(i),
				   lower_32_bits(range->end)) &&
	       ntrace_filter_write(component, TR_TE_COMP_CONTROL(i), NTRACE_COMP_RANGE);
}

/* Operands before the bits that enable them. */
static bool ntrace_filter_set(struct ntrace_component *component, u32 i,
			      const struct ntrace_config *config)
{
	u32 control = TR_TE_FILTER_CONTROL_ENABLE, match = 0;

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
		control |= ntrace_filter_comparator(i);
		if (!ntrace_filter_set_range(component, i, &config->ranges[i]))
			return false;
	}
	return ntrace_filter_write(component, TR_TE_FILTER_MATCH_INST(i), match) &&
	       ntrace_filter_write(component, TR_TE_FILTER_CONTROL(i), control);
}

/**
 * ntrace_filter_program - program the filters
 * @component: encoder, disabled; trTeInstFilters is 0
 * @config: configuration that ntrace_filter_check() accepted
 *
 * Return: 0, or -EOPNOTSUPP if a register does not read back as written.
 */
int ntrace_filter_program(struct ntrace_component *component, const struct ntrace_config *config)
{
	u32 count = max(config->range_count, 1U);
	u32 i;

	if (!component->encoder.privilege && !config->range_count && !config->traps)
		return 0;
	for (i = 0; i < count; i++)
		if (!ntrace_filter_set(component, i, config))
			return ntrace_component_lacks(component, "a register of trTeFilter", i);
	return ntrace_filter_write(component, TR_TE_INST_FILTERS, GENMASK(count - 1, 0)) ?
		       0 :
		       ntrace_component_lacks(component, "trTeInstFilters", GENMASK(count - 1, 0));
}
