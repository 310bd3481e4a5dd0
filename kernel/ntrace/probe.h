/* SPDX-License-Identifier: GPL-2.0-only */
/* Probing of components. */
#ifndef NTRACE_PROBE_H
#define NTRACE_PROBE_H

struct ntrace_component;

int ntrace_probe_component(struct ntrace_component *component);
int ntrace_probe_init(void);
void ntrace_probe_exit(void);

#endif /* NTRACE_PROBE_H */
