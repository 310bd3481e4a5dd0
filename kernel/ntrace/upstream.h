/* SPDX-License-Identifier: GPL-2.0-only */
/* The components that send trace to one that is being probed. */
#ifndef NTRACE_UPSTREAM_H
#define NTRACE_UPSTREAM_H

struct ntrace_component;

int ntrace_upstream_wake(struct ntrace_component *component);
int ntrace_upstream_stop(struct ntrace_component *component);
void ntrace_upstream_rest(struct ntrace_component *component);

#endif /* NTRACE_UPSTREAM_H */
