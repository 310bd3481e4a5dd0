/* SPDX-License-Identifier: GPL-2.0-only */
/* Sinks: the RAM sink, and sinks without memory. */
#ifndef NTRACE_SINK_H
#define NTRACE_SINK_H

#include "component.h"

struct attribute_group;

/* Initializes what all sinks have in common, in a new component. */
static inline void ntrace_sink_setup(struct ntrace_component *component,
				     const struct ntrace_sink_ops *ops)
{
	struct ntrace_ramsink *sink = &component->ramsink;

	component->sink_ops = ops;
	mutex_init(&sink->mutex);
	raw_spin_lock_init(&sink->users_lock);
	raw_spin_lock_init(&sink->lock);
	INIT_LIST_HEAD(&sink->feeds);
	sink->wp = TR_RAM_WP_LOW;
	sink->status = TR_CONTROL;
}

/* The width of one write of the sink is known. */
static inline void ntrace_sink_set_granule(struct ntrace_ramsink *sink, u32 bytes)
{
	sink->least = bytes;
	sink->granule = bytes;
	sink->reach = bytes;
}

/* ramsink.c */
int ntrace_ramsink_set_width(struct ntrace_component *component, u32 high);
int ntrace_ramsink_find_memory(struct ntrace_component *component);
int ntrace_ramsink_find_granule(struct ntrace_component *component, u32 limit);
int ntrace_ramsink_accept(struct ntrace_component *component, u64 start, u64 limit, u64 wp);
void ntrace_ramsink_set_ring(struct ntrace_ramsink *sink, u64 start, u64 limit);
int ntrace_ramsink_init(struct ntrace_component *component);
size_t ntrace_ramsink_size_max(const struct ntrace_component *component);
bool ntrace_ramsink_is_whole(const struct ntrace_ramsink *sink);
int ntrace_ramsink_alloc(struct ntrace_component *component, size_t size);
void ntrace_ramsink_free(struct ntrace_component *component);
void ntrace_ramsink_note_full(struct ntrace_component *component);
void ntrace_ramsink_fetch(struct ntrace_component *component);
bool ntrace_ramsink_wrapped(const struct ntrace_component *component);
bool ntrace_ramsink_measure(struct ntrace_ramsink *sink, bool running);
bool ntrace_ramsink_track(struct ntrace_ramsink *sink, u32 *position, bool running);
bool ntrace_ramsink_is_stuck(const struct ntrace_component *component);
bool ntrace_ramsink_position(const struct ntrace_component *component, u32 *position);

/* portsink.c */
extern const struct attribute_group ntrace_portsink_group;
int ntrace_portsink_init(struct ntrace_component *component);

#endif /* NTRACE_SINK_H */
