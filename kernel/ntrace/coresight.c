// SPDX-License-Identifier: GPL-2.0-only
/*
 * CoreSight components of Arm. What all have in common: the lock, and claim tags, by which a
 * debugger and software on this machine agree who uses a component (CoreSight Architecture, "Claim
 * tags"). tmc.c has the one that writes to memory.
 *
 * The dynamic funnel has several ATB inputs and one output. It may switch between inputs inside a
 * message; the ID that the bridge before an input gives its trace tells them apart. It has one
 * register of interest, and neither a reset nor a sign that it is empty: a flush of the sink takes
 * the rest of the trace out of it.
 */
#include <linux/bitfield.h>
#include <linux/device.h>

#include <ntrace/coresight.h>

#include "component.h"

/* Tags that may say who uses a component; others have no agreed meaning. */
#define NTRACE_CLAIM_TAGS	(CS_CLAIM_EXTERNAL | CS_CLAIM_SELF_HOSTED)

/* An input is served for at least this many transfers, plus one, so that switches are rare. */
#define NTRACE_FUNNEL_HOLD	7

/** ntrace_coresight_unlock - let a component accept writes; without a lock nothing happens */
void ntrace_coresight_unlock(struct ntrace_component *component)
{
	ntrace_write(component, CS_LAR, CS_LAR_UNLOCK);
}

/** ntrace_coresight_is_external - tell whether a debugger has claimed a component */
bool ntrace_coresight_is_external(const struct ntrace_component *component)
{
	return ntrace_read(component, CS_CLAIMCLR) & CS_CLAIM_EXTERNAL;
}

/*
 * Unlocks a component and sets the tag of self-hosted use. A tag that was set before is that of an
 * earlier kernel. A debugger may set its tag at the same time, so the tags are read again.
 * Return: 0, or -EBUSY if a debugger has claimed the component.
 */
int ntrace_coresight_claim(struct ntrace_component *component)
{
	u32 tags;

	ntrace_coresight_unlock(component);
	if (!ntrace_coresight_is_external(component)) {
		ntrace_write(component, CS_CLAIMSET, CS_CLAIM_SELF_HOSTED);
		if (!ntrace_coresight_is_external(component))
			return 0;
	}
	tags = ntrace_read(component, CS_CLAIMCLR);
	ntrace_write(component, CS_CLAIMCLR, CS_CLAIM_SELF_HOSTED);
	dev_err_ratelimited(component->dev, "a debugger uses it (claim tags 0x%x)\n",
			    tags & NTRACE_CLAIM_TAGS);
	return -EBUSY;
}

/** ntrace_coresight_release - undo ntrace_coresight_claim() */
void ntrace_coresight_release(struct ntrace_component *component)
{
	ntrace_write(component, CS_CLAIMCLR, CS_CLAIM_SELF_HOSTED);
	ntrace_write(component, CS_LAR, 0);
}

/* ---- funnel ---- */

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
