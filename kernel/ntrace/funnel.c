// SPDX-License-Identifier: GPL-2.0-only
/*
 * Trace funnel, trFunnel... registers: several inputs, one output. Messages stay whole; only SRC
 * tells from which input a message came.
 */
#include <linux/ktime.h>
#include <linux/processor.h>

#include "component.h"
#include "funnel.h"
#include "timestamp.h"

/**
 * ntrace_funnel_init - find out what a funnel supports
 * @component: funnel, just reset
 *
 * A funnel has nothing to configure except its timestamp unit, if any.
 *
 * Return: 0.
 */
int ntrace_funnel_init(struct ntrace_component *component)
{
	component->merges = true;
	ntrace_timestamp_init(component);
	return 0;
}

/**
 * ntrace_funnel_program - write the registers that reset leaves undefined
 * @component: funnel of a path, just reset
 *
 * Return: 0, -EOPNOTSUPP or -ETIMEDOUT.
 */
int ntrace_funnel_program(struct ntrace_component *component)
{
	ntrace_write(component, TR_FUNNEL_DIS_INPUT, 0);
	return ntrace_timestamp_program(component, component->timestamp.source, 0);
}

/**
 * ntrace_funnel_start - enable a funnel
 * @component: funnel, programmed; the component after it is enabled
 * @atomic: interrupts are off: use the short timeout
 *
 * Return: 0 or -ETIMEDOUT.
 */
int ntrace_funnel_start(struct ntrace_component *component, bool atomic)
{
	ntrace_write(component, TR_CONTROL,
		     component->fixed | TR_CONTROL_ACTIVE | TR_CONTROL_ENABLE);
	return ntrace_component_wait_enabled(component, atomic);
}

/**
 * ntrace_funnel_stop - flush and disable a funnel
 * @component: funnel; the components that send to it have stopped and are empty
 * @atomic: interrupts are off: use the short timeout
 *
 * Return: 0 or -ETIMEDOUT.
 */
int ntrace_funnel_stop(struct ntrace_component *component, bool atomic)
{
	ntrace_write(component, TR_CONTROL, component->fixed | TR_CONTROL_ACTIVE);
	return ntrace_component_wait_disabled(component, atomic, NULL);
}

/**
 * ntrace_funnel_await_empty - wait until a shared funnel has passed on a hart's trace
 * @component: funnel that other harts use, too; the part before it is empty for this hart
 * @deadline: time at which to give up, of ktime_get_mono_fast_ns()
 *
 * Once the funnel is empty, all trace that entered it earlier has left. Other harts may keep it
 * from ever being empty, which is not an error.
 *
 * Return: true if the funnel was empty.
 */
bool ntrace_funnel_await_empty(const struct ntrace_component *component, u64 deadline)
{
	while (!(ntrace_read(component, TR_CONTROL) & TR_CONTROL_EMPTY)) {
		if (ktime_get_mono_fast_ns() >= deadline)
			return false;
		cpu_relax();
	}
	return true;
}
