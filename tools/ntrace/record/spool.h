/* SPDX-License-Identifier: GPL-2.0-only */
/* Memory between a data area and the file of trace. */
#ifndef NTRACE_TOOL_RECORD_SPOOL_H
#define NTRACE_TOOL_RECORD_SPOOL_H

#include <stddef.h>
#include <stdint.h>

#include "trace_output.h"

struct spool_chunk;

/**
 * struct spool - see spool.c
 * @output: file; borrowed
 * @limit: bytes of memory it may hold
 * @held: bytes it holds
 * @error: errno of the first failed write; all later trace is dropped
 */
struct spool {
	struct trace_output *output;
	uint64_t limit;
	uint64_t held;
	int error;
	struct spool_chunk *oldest;
	struct spool_chunk *newest;
};

/** spool_memory - memory for all spools together: a quarter of what is available */
uint64_t spool_memory(void);

void spool_init(struct spool *spool, struct trace_output *output, uint64_t limit);

/** spool_add - Return: 0 or errno: ENOMEM, or the error of a write that became necessary */
int spool_add(struct spool *spool, const uint8_t *data, size_t size);

/** spool_flush - write everything and free the memory. Return: 0 or errno of the first failed write */
int spool_flush(struct spool *spool);

#endif /* NTRACE_TOOL_RECORD_SPOOL_H */
