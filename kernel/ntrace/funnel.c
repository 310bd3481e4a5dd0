// SPDX-License-Identifier: GPL-2.0-only
/*
 * Trace funnel, trFunnel... registers: several inputs, one output. Messages
 * stay whole; whose they are is told by SRC alone.
 */
#include "ntrace.h"

/**
 * ntrace_funnel_init - find out what a funnel can do
 * @component: funnel, just reset
 *
 * There is nothing to find out: it passes on what comes, from all inputs.
 *
 * Return: 0.
 */
int ntrace_funnel_init(struct ntrace_component *component)
{
	ntrace_funnel_program(component);
	return 0;
}

/**
 * ntrace_funnel_program - write what reset does not define
 * @component: funnel, just reset
 */
void ntrace_funnel_program(struct ntrace_component *component)
{
	ntrace_write(component, TR_FUNNEL_DIS_INPUT, 0);
	ntrace_write(component, TR_TS_CONTROL, 0);
}

/**
 * ntrace_funnel_start - let trace through
 * @component: funnel, programmed; what it sends to is enabled
 * @atomic: interrupts are off, so be short
 *
 * Return: 0 or -ETIMEDOUT.
 */
int ntrace_funnel_start(struct ntrace_component *component, bool atomic)
{
	ntrace_write(component, TR_CONTROL, TR_CONTROL_ACTIVE | TR_CONTROL_ENABLE);
	return ntrace_component_wait_enabled(component, atomic);
}

/**
 * ntrace_funnel_stop - flush and disable
 * @component: funnel; what sends to it has been stopped and is empty
 * @atomic: interrupts are off, so be short
 *
 * Return: 0 or -ETIMEDOUT.
 */
int ntrace_funnel_stop(struct ntrace_component *component, bool atomic)
{
	ntrace_write(component, TR_CONTROL, TR_CONTROL_ACTIVE);
	return ntrace_component_wait_disabled(component, atomic, NULL);
}
