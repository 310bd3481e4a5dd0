/* SPDX-License-Identifier: GPL-2.0-only */
/* Trace encoder. */
#ifndef NTRACE_ENCODER_H
#define NTRACE_ENCODER_H

#include <linux/types.h>

struct ntrace_component;
struct ntrace_config;

int ntrace_encoder_find_hart(struct ntrace_component *component);
int ntrace_encoder_init(struct ntrace_component *component);
int ntrace_encoder_set_source(struct ntrace_component *component, u32 src, u32 least, u32 width);
int ntrace_encoder_check(const struct ntrace_component *component, struct ntrace_config *config);
int ntrace_encoder_program(struct ntrace_component *component, const struct ntrace_config *config);
int ntrace_encoder_enable(struct ntrace_component *component);
void ntrace_encoder_trace(struct ntrace_component *component);
void ntrace_encoder_pause(struct ntrace_component *component);
void ntrace_encoder_stop(struct ntrace_component *component);

#endif /* NTRACE_ENCODER_H */
