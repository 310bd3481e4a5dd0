/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Remembers what messages do, so that repeated messages are only counted; see count.c. */
#ifndef NTRACE_FLOW_COUNT_H
#define NTRACE_FLOW_COUNT_H

#include "flow.h"

/* Blocks that one message may have to be remembered; also the room of the batch. */
#define COUNT_BLOCKS 4096

/* Return: 0 or NTRACE_ERR_NOMEM. */
int flow_count_new(struct ntrace_flow *flow);
void flow_count_free(struct flow_count *count);

/* A message is about to be decoded. */
void flow_count_begin(struct ntrace_flow *flow, const struct ntrace_message *message);
/* The message was decoded: remembers it if possible; else its blocks are passed on. */
void flow_count_end(struct ntrace_flow *flow, const struct ntrace_message *message);

/* The waiting blocks are about to be passed to the caller. */
void flow_count_deliver(struct ntrace_flow *flow);
/* The callbacks are about to be called: the caller must know the place. */
void flow_count_report_place(struct ntrace_flow *flow);
/* The next block does not continue the earlier ones. */
void flow_count_part(struct ntrace_flow *flow);
/* A trap leads to the next block. */
void flow_count_trap(struct ntrace_flow *flow);

/* Passes all effects to the caller. The result of its callback goes to @flow->count_error. */
void flow_count_fold(struct ntrace_flow *flow);
/* Passes effects in @context; 0: all. */
void flow_count_fold_context(struct ntrace_flow *flow, uint32_t context);
/* The indices of all blocks become invalid. */
void flow_count_forget(struct ntrace_flow *flow);
/* Adds effects that have not been passed on. */
void flow_count_add_stats(const struct flow_count *count, struct ntrace_flow_stats *stats);

#endif
