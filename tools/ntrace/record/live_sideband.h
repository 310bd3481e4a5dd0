/* SPDX-License-Identifier: GPL-2.0-only */
/* Sideband on its way from the recorder to the decoders of `ntrace record --live`. */
#ifndef NTRACE_TOOL_RECORD_LIVE_SIDEBAND_H
#define NTRACE_TOOL_RECORD_LIVE_SIDEBAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ntrace/live.h>

struct live_sideband;

/** live_sideband_new - an empty queue that @readers threads read. Return: exit status */
int live_sideband_new(struct live_sideband **queue, unsigned int readers);
void live_sideband_free(struct live_sideband *queue);

/** live_sideband_fd - becomes readable when a reader needs newer records */
int live_sideband_fd(const struct live_sideband *queue);

/** live_sideband_full - readers have many records to take: leave more to the kernel, which counts losses */
bool live_sideband_full(struct live_sideband *queue);

/** live_sideband_add - append whole records; for sideband_divert(). Return: 0 or NTRACE_ERR_NOMEM */
int live_sideband_add(void *queue, const void *bytes, size_t count);

/**
 * live_sideband_complete - no records from before @time_ns will be added any more
 * @time_ns: UINT64_MAX: none at all
 */
void live_sideband_complete(struct live_sideband *queue, uint64_t time_ns);

/** live_sideband_stop - let all readers end; live_sideband_take() returns nonzero from now on */
void live_sideband_stop(struct live_sideband *queue);

/**
 * live_sideband_take - the next records of a reader; see struct ntrace_live_source
 * @reader: 0 to the number of readers - 1, a different one for each thread
 */
int live_sideband_take(struct live_sideband *queue, unsigned int reader, bool wait,
		       struct ntrace_live_records *records);

/** live_sideband_leave - the reader has ended */
void live_sideband_leave(struct live_sideband *queue, unsigned int reader);

#endif /* NTRACE_TOOL_RECORD_LIVE_SIDEBAND_H */
