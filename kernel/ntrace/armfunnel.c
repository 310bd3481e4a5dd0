// SPDX-License-Identifier: GPL-2.0-only
/*
 * Dynamic funnel of Arm: several ATB inputs, one output. It may switch between inputs inside a
 * message; the ID that the bridge before an input gives its trace tells them apart.
 *
 * It has one register of interest, and neither a reset nor a sign that it is empty: a flush of the
 * sink takes the rest of the trace out of it.
 */
#include <linux/bitfield.h>
#include <linux/device.h>

#include <ntrace/coresight.h>

#include "component.h"

/* An input is served for at least this many transfers, plus one, so that switches are rare. */
#define NTRACE_FUNNEL_HOLD	7

static int ntrace_armfunnel_program(struct ntrace_component *component,
				    const struct ntrace_config *config)
{
	/* All inputs have the same priority. */
	ntrace_write(component, CS_FUNNEL_PRIORITY, 0);
	return 0;
}

/* The inputs of components that the driver does not know stay disabled. */
static int ntrace_armfunnel_start(struct ntrace_component *component, bool atomic)
{
	ntrace_write(component, CS_FUNNEL_CONTROL,
		     FIELD_PREP(CS_FUNNEL_CONTROL_HOLD_MASK, NTRACE_FUNNEL_HOLD) |
			     component->port.inputs);
	return 0;
}

static int ntrace_armfunnel_stop(struct ntrace_component *component, bool atomic)
{
	ntrace_write(component, CS_FUNNEL_CONTROL, 0);
	return 0;
}

static const struct ntrace_ops ntrace_armfunnel_ops = {
	.program = ntrace_armfunnel_program,
	.start = ntrace_armfunnel_start,
	.stop = ntrace_armfunnel_stop,
};

static int ntrace_armfunnel_identify(struct ntrace_component *component)
{
	u32 ports = ntrace_graph_ports(component->dev->of_node, "in-ports");

	component->type = TR_COMP_TYPE_FUNNEL;
	component->impl = ntrace_read(component, CS_DEVID);
	component->port.inputs = ports & CS_FUNNEL_CONTROL_PORTS_MASK;
	component->ops = &ntrace_armfunnel_ops;
	component->is_link = true;
	component->merges = true;
	if (!component->port.inputs || ports != component->port.inputs)
		return ntrace_component_refuse(component, "has no usable \"in-ports\"");
	return 0;
}

static int ntrace_armfunnel_reset(struct ntrace_component *component)
{
	int ret = ntrace_coresight_claim(component);

	if (ret)
		return ret;
	component->inactive = false;
	ntrace_write(component, CS_FUNNEL_CONTROL, 0);
	return 0;
}

static bool ntrace_armfunnel_is_running(const struct ntrace_component *component)
{
	return ntrace_read(component, CS_FUNNEL_CONTROL) & CS_FUNNEL_CONTROL_PORTS_MASK;
}

/* The funnel of a debugger is left alone. Return: 0 if the funnel was idle, 1 if it was stopped. */
static int ntrace_armfunnel_quiesce(struct ntrace_component *component)
{
	if (ntrace_coresight_is_external(component) || !ntrace_armfunnel_is_running(component))
		return 0;
	ntrace_coresight_unlock(component);
	ntrace_write(component, CS_FUNNEL_CONTROL, 0);
	return 1;
}

static int ntrace_armfunnel_off(struct ntrace_component *component)
{
	if (component->inactive)
		return 0;
	ntrace_write(component, CS_FUNNEL_CONTROL, 0);
	ntrace_coresight_release(component);
	component->inactive = true;
	return 0;
}

const struct ntrace_layout ntrace_layout_armfunnel = {
	.identify = ntrace_armfunnel_identify,
	.reset = ntrace_armfunnel_reset,
	.quiesce = ntrace_armfunnel_quiesce,
	.is_running = ntrace_armfunnel_is_running,
	.off = ntrace_armfunnel_off,
	.control = CS_FUNNEL_CONTROL,
};
