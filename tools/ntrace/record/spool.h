/* SPDX-License-Identifier: GPL-2.0-only */
/* Memory between a data area and the file of trace. */
#ifndef NTRACE_TOOL_RECORD_SPOOL_H
#define NTRACE_TOOL_RECORD_SPOOL_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace_output.h"

struct spool_chunk;

/**
 * struct spool - see spool.c
 * @output: file; borrowed
 * @limit: bytes of memory it may hold
 * @held: bytes of its chunks
 * @added: bytes of trace that it got
 * @gone: bytes of these that have left it
 * @error: errno of the first failed write; all later trace is dropped
 * @spare: empty chunks
 */
struct spool {
	struct trace_output *output;
	uint64_t limit;
	uint64_t held;
	uint64_t added;
	uint64_t gone;
	int error;
	struct spool_chunk *oldest;
	struct spool_chunk *newest;
	struct spool_chunk *spare;
	pthread_mutex_t writing;
	pthread_mutex_t listed;
};

/** spool_memory - memory for all spools together: a quarter of what is available */
uint64_t spool_memory(void);

void spool_init(struct spool *spool, struct trace_output *output, uint64_t limit);

/** spool_add - Return: 0 or errno: ENOMEM, or the error of a write that became necessary */
int spool_add(struct spool *spool, const uint8_t *data, size_t size);

/** spool_added - bytes of trace that the spool got; any thread may ask */
uint64_t spool_added(const struct spool *spool);

/**
 * spool_write_ahead - write what waits, while another thread may add more
 * @until: no trace after this number of bytes, see spool_added()
 * @most: at most this number of bytes
 *
 * Return: 0 or errno of the first failed write
 */
int spool_write_ahead(struct spool *spool, uint64_t until, uint64_t most);

/** spool_flush - write everything and free the memory. Return: 0 or errno of the first failed write */
int spool_flush(struct spool *spool);

#endif /* NTRACE_TOOL_RECORD_SPOOL_H */
