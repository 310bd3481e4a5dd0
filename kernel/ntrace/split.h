/* SPDX-License-Identifier: GPL-2.0-only */
/* Separates the messages of several encoders in one sink. */
#ifndef NTRACE_SPLIT_H
#define NTRACE_SPLIT_H

#include <linux/sizes.h>
#include <linux/types.h>

struct list_head;
struct ntrace_feed;
struct ntrace_ramsink;
struct ntrace_split;

/* The driver separates the trace of a shared sink in pieces of this size, outside of the ring. */
#define NTRACE_DRAIN_BOUNCE	SZ_4K

bool ntrace_split_is_inside(const struct ntrace_split *split, const struct ntrace_feed *feed);
void ntrace_split_forget(struct ntrace_split *split, const struct ntrace_feed *feed);
void ntrace_split_reset(struct ntrace_ramsink *sink, bool skip);
void ntrace_split_pass(struct ntrace_split *split, const struct list_head *feeds, const u8 *bytes,
		       u32 count);
void ntrace_split_put(struct ntrace_ramsink *sink, const u8 *bytes, u32 count);

#endif /* NTRACE_SPLIT_H */
