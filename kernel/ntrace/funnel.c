// SPDX-License-Identifier: GPL-2.0-only
/*
 * Trace funnel, trFunnel... registers: several inputs, one output. Messages stay whole; only SRC
 * tells from which input a message came.
 */
#include "component.h"

/*
 * Writes the registers that reset leaves undefined. The funnel was just reset. Return: 0,
 * -EOPNOTSUPP or -ETIMEDOUT.
 */
static int ntrace_funnel_program(struct ntrace_component *component,
				 const struct ntrace_config *config)
{
	if (component->port.inputs)
		ntrace_write(component, TR_FUNNEL_DIS_INPUT, 0);
	return ntrace_timestamp_program(component, component->timestamp.source, 0);
}

const struct ntrace_ops ntrace_funnel_ops = {
	.program = ntrace_funnel_program,
	.start = ntrace_component_start,
	.stop = ntrace_component_stop,
	.await_empty = ntrace_component_await_empty,
};

/*
 * Finds out what a funnel supports; it was just reset. A funnel has nothing to configure except
 * its timestamp unit, if any.
 * Return: 0.
 */
int ntrace_funnel_init(struct ntrace_component *component)
{
	component->merges = true;
	component->ops = &ntrace_funnel_ops;
	component->is_link = true;
	component->port.inputs = ntrace_component_has(component, TR_FUNNEL_DIS_INPUT);
	ntrace_timestamp_init(component);
	return 0;
}
