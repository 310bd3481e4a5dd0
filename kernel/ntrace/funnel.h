/* SPDX-License-Identifier: GPL-2.0-only */
/* Trace funnel. */
#ifndef NTRACE_FUNNEL_H
#define NTRACE_FUNNEL_H

struct ntrace_component;
struct ntrace_link_ops;

extern const struct ntrace_link_ops ntrace_funnel_ops;
int ntrace_funnel_init(struct ntrace_component *component);

#endif /* NTRACE_FUNNEL_H */
