/* SPDX-License-Identifier: GPL-2.0-only */
/* Timestamp units of encoders and funnels. */
#ifndef NTRACE_TIMESTAMP_H
#define NTRACE_TIMESTAMP_H

#include <linux/types.h>

struct ntrace_component;
struct ntrace_config;

void ntrace_timestamp_init(struct ntrace_component *component);
void ntrace_timestamp_connect(struct ntrace_component *const *component, unsigned int count);
int ntrace_timestamp_program(struct ntrace_component *component, u32 mode, u32 prescale);
int ntrace_timestamp_check(const struct ntrace_component *component,
			   const struct ntrace_config *config);

#endif /* NTRACE_TIMESTAMP_H */
