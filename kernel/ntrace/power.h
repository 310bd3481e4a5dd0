/* SPDX-License-Identifier: GPL-2.0-only */
/* Clocks, resets and power domains of a component. */
#ifndef NTRACE_POWER_H
#define NTRACE_POWER_H

struct ntrace_component;

int ntrace_power_get(struct ntrace_component *component);
void ntrace_power_put(struct ntrace_component *component);
int ntrace_power_init(struct ntrace_component *component);
int ntrace_power_resume(struct ntrace_component *component);
void ntrace_power_suspend(struct ntrace_component *component);

#endif /* NTRACE_POWER_H */
