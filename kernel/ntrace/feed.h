/* SPDX-License-Identifier: GPL-2.0-only */
/* The data area of a capture. */
#ifndef NTRACE_FEED_H
#define NTRACE_FEED_H

#include <linux/types.h>

struct ntrace_capture;

bool ntrace_feed_is_due(const struct ntrace_capture *capture, u64 bytes);
void ntrace_feed_put(struct ntrace_capture *capture, const u8 *bytes, u32 count);
void ntrace_feed_commit(struct ntrace_capture *capture);
void ntrace_feed_void(struct ntrace_capture *capture);
void ntrace_feed_lapped(struct ntrace_capture *capture, u64 lost);
void ntrace_feed_sink_full(struct ntrace_capture *capture);
void ntrace_feed_encoder(struct ntrace_capture *capture, u32 control);
int ntrace_feed_consume(struct ntrace_capture *capture, u64 tail);
u64 ntrace_feed_readable(struct ntrace_capture *capture, u64 *tail);

#endif /* NTRACE_FEED_H */
