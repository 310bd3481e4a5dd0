/* SPDX-License-Identifier: GPL-2.0-only */
/* Separates the trace of several encoders in the frames of a CoreSight formatter. */
#ifndef NTRACE_DEFRAME_H
#define NTRACE_DEFRAME_H

#include <linux/types.h>

struct ntrace_feed;
struct ntrace_ramsink;

void ntrace_deframe_reset(struct ntrace_ramsink *sink, bool skip);
void ntrace_deframe_put(struct ntrace_ramsink *sink, const u8 *bytes, u32 count);
bool ntrace_deframe_is_inside(const struct ntrace_ramsink *sink, const struct ntrace_feed *feed);
void ntrace_deframe_forget(struct ntrace_ramsink *sink, const struct ntrace_feed *feed);

#endif /* NTRACE_DEFRAME_H */
