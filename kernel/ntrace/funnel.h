/* SPDX-License-Identifier: GPL-2.0-only */
/* Trace funnel. */
#ifndef NTRACE_FUNNEL_H
#define NTRACE_FUNNEL_H

#include <linux/types.h>

struct ntrace_component;

int ntrace_funnel_init(struct ntrace_component *component);
int ntrace_funnel_program(struct ntrace_component *component);
int ntrace_funnel_start(struct ntrace_component *component, bool atomic);
int ntrace_funnel_stop(struct ntrace_component *component, bool atomic);
bool ntrace_funnel_await_empty(const struct ntrace_component *component, u64 deadline);

#endif /* NTRACE_FUNNEL_H */
