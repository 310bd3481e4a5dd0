// SPDX-License-Identifier: GPL-2.0-only
/*
 * Trace funnel, trFunnel... registers: several inputs, one output. Messages
 * stay whole; whose they are is told by SRC alone.
 */
#include <linux/ktime.h>
#include <linux/processor.h>

#include "component.h"
#include "funnel.h"
#include "timestamp.h"

/**
 * ntrace_funnel_init - find out what a funnel can do
 * @component: funnel, just reset
 *
 * It passes on what comes, from all inputs; but it may have a clock.
 *
 * Return: 0.
 */
int ntrace_funnel_init(struct ntrace_component *component)
{
	ntrace_timestamp_init(component);
	return 0;
}

/**
 * ntrace_funnel_program - write what reset does not define
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

/**
 * ntrace_funnel_await_empty - wait until a funnel has passed on what it had
 * @component: funnel that others use, too; what this hart sends to it is empty
 * @deadline: when to give up, ktime_get_mono_fast_ns()
 *
 * Once it is empty, what came before has left it. Others may keep it from ever
 * being empty: that is no error.
 *
 * Return: true if it was.
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
