/* SPDX-License-Identifier: GPL-2.0-only */
/* Triggers of an encoder. */
#ifndef NTRACE_TRIGGER_H
#define NTRACE_TRIGGER_H

#include <linux/types.h>

struct ntrace_component;
struct ntrace_config;

void ntrace_trigger_init(struct ntrace_component *component);
bool ntrace_trigger_is_used(const struct ntrace_config *config);
int ntrace_trigger_check(const struct ntrace_component *component,
			 const struct ntrace_config *config);
int ntrace_trigger_program(struct ntrace_component *component, const struct ntrace_config *config);

#endif /* NTRACE_TRIGGER_H */
