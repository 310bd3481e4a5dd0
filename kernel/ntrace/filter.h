/* SPDX-License-Identifier: GPL-2.0-only */
/* Filters and comparators of an encoder. */
#ifndef NTRACE_FILTER_H
#define NTRACE_FILTER_H

struct ntrace_component;
struct ntrace_config;

void ntrace_filter_init(struct ntrace_component *component);
int ntrace_filter_check(const struct ntrace_component *component, struct ntrace_config *config);
int ntrace_filter_program(struct ntrace_component *component, const struct ntrace_config *config);

#endif /* NTRACE_FILTER_H */
