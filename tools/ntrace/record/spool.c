// SPDX-License-Identifier: GPL-2.0-only
/*
 * Keeps trace in memory until it is written to the file.
 *
 *      saver: spool_add()                       recorder: spool_write_ahead()
 *   data area --> [newest ........ oldest] --> file
 *
 * The recorder is traced, too. Writing a page to a file executes some thousand instructions full of
 * branches, and their trace is up to half as large as the page. Copying to memory in a plain loop
 * makes hardly any trace. So one thread per data area copies the trace to chunks of memory and never
 * waits for the disk while memory suffices. The recorder's main thread writes ahead about once a
 * second, and at most a bounded amount, so that little is lost if the recorder is killed. What is
 * left is written when tracing has ended; above the memory limit, each new chunk causes the oldest
 * one to be written.
 *
 * Invariants: only spool_add() fills chunks, and the newest chunk is removed only by it or by
 * spool_flush(); @writing is held while bytes go to the file, @listed while the list changes.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "spool.h"
#include "trace_output.h"

#define CHUNK_SIZE (4u << 20)

/*
 * @used: bytes of trace; read by the other thread
 * @written: bytes that are in the file; protected by the spool's @writing
 */
struct spool_chunk {
	struct spool_chunk *next;
	size_t used;
	size_t written;
	uint8_t *data;
};

uint64_t spool_memory(void)
{
	uint64_t kilobytes = 0;
	char line[128];
	FILE *file = fopen("/proc/meminfo", "re");

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "MemAvailable: %" SCNu64, &kilobytes) == 1)
			break;
	if (file)
		fclose(file);
	return kilobytes * 1024 / 4;
}

void spool_init(struct spool *spool, struct trace_output *output, uint64_t limit)
{
	*spool = (struct spool){ .output = output, .limit = limit };
	pthread_mutex_init(&spool->writing, NULL);
	pthread_mutex_init(&spool->listed, NULL);
}

static struct spool_chunk *new_chunk(void)
{
	struct spool_chunk *chunk = calloc(1, sizeof(*chunk));
	void *data;

	if (!chunk)
		return NULL;
	data = mmap(NULL, CHUNK_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (data == MAP_FAILED) {
		free(chunk);
		return NULL;
	}
	/* One page fault instead of hundreds, which would appear in the trace. */
	madvise(data, CHUNK_SIZE, MADV_HUGEPAGE);
	chunk->data = data;
	return chunk;
}

static void free_chunk(struct spool_chunk *chunk)
{
	munmap(chunk->data, CHUNK_SIZE);
	free(chunk);
}

static struct spool_chunk *oldest_chunk(struct spool *spool)
{
	struct spool_chunk *chunk;

	pthread_mutex_lock(&spool->listed);
	chunk = spool->oldest;
	pthread_mutex_unlock(&spool->listed);
	return chunk;
}

static bool is_newest(struct spool *spool, const struct spool_chunk *chunk)
{
	bool newest;

	pthread_mutex_lock(&spool->listed);
	newest = spool->newest == chunk;
	pthread_mutex_unlock(&spool->listed);
	return newest;
}

/* Removes the oldest chunk; with @keep it becomes a spare one. */
static void remove_oldest(struct spool *spool, bool keep)
{
	struct spool_chunk *chunk;

	pthread_mutex_lock(&spool->listed);
	chunk = spool->oldest;
	spool->oldest = chunk->next;
	if (!spool->oldest)
		spool->newest = NULL;
	chunk->next = NULL;
	chunk->used = 0;
	chunk->written = 0;
	if (keep) {
		chunk->next = spool->spare;
		spool->spare = chunk;
	}
	pthread_mutex_unlock(&spool->listed);
}

/*
 * Writes bytes of a chunk, at most @most. After an error nothing more is written: the file would
 * have a gap.
 */
static size_t write_chunk(struct spool *spool, struct spool_chunk *chunk, uint64_t most)
{
	size_t size = __atomic_load_n(&chunk->used, __ATOMIC_ACQUIRE) - chunk->written;

	if (size > most)
		size = (size_t)most;
	if (size && !spool->error)
		__atomic_store_n(&spool->error,
				 trace_output_write(spool->output, chunk->data + chunk->written,
						    size),
				 __ATOMIC_RELAXED);
	chunk->written += size;
	spool->gone += size;
	return size;
}

/* Writes the oldest chunk and takes it from the list. */
static struct spool_chunk *write_oldest(struct spool *spool)
{
	struct spool_chunk *chunk;

	pthread_mutex_lock(&spool->writing);
	chunk = oldest_chunk(spool);
	if (chunk) {
		write_chunk(spool, chunk, CHUNK_SIZE);
		remove_oldest(spool, false);
	}
	pthread_mutex_unlock(&spool->writing);
	return chunk;
}

static struct spool_chunk *spare_chunk(struct spool *spool)
{
	struct spool_chunk *chunk;

	pthread_mutex_lock(&spool->listed);
	chunk = spool->spare;
	if (chunk) {
		spool->spare = chunk->next;
		chunk->next = NULL;
	}
	pthread_mutex_unlock(&spool->listed);
	return chunk;
}

/* Appends an empty chunk. */
static int extend(struct spool *spool)
{
	struct spool_chunk *chunk = spare_chunk(spool);

	if (!chunk && (spool->held + CHUNK_SIZE <= spool->limit || !oldest_chunk(spool))) {
		chunk = new_chunk();
		if (chunk)
			spool->held += CHUNK_SIZE;
	}
	if (!chunk)
		chunk = write_oldest(spool);
	if (!chunk)
		return ENOMEM;
	pthread_mutex_lock(&spool->listed);
	if (spool->newest)
		spool->newest->next = chunk;
	else
		spool->oldest = chunk;
	spool->newest = chunk;
	pthread_mutex_unlock(&spool->listed);
	return __atomic_load_n(&spool->error, __ATOMIC_RELAXED);
}

int spool_add(struct spool *spool, const uint8_t *data, size_t size)
{
	size_t part, used;
	int error;

	while (size) {
		if (!spool->newest || spool->newest->used == CHUNK_SIZE) {
			error = extend(spool);
			if (error)
				return error;
		}
		used = spool->newest->used;
		part = CHUNK_SIZE - used;
		if (part > size)
			part = size;
		memcpy(spool->newest->data + used, data, part);
		__atomic_store_n(&spool->newest->used, used + part, __ATOMIC_RELEASE);
		__atomic_store_n(&spool->added, spool->added + part, __ATOMIC_RELEASE);
		data += part;
		size -= part;
	}
	return 0;
}

uint64_t spool_added(const struct spool *spool)
{
	return __atomic_load_n(&spool->added, __ATOMIC_ACQUIRE);
}

int spool_write_ahead(struct spool *spool, uint64_t until, uint64_t most)
{
	struct spool_chunk *chunk;
	uint64_t left;
	int error;

	pthread_mutex_lock(&spool->writing);
	left = until > spool->gone ? until - spool->gone : 0;
	if (left > most)
		left = most;
	while (left && !spool->error && (chunk = oldest_chunk(spool))) {
		left -= write_chunk(spool, chunk, left);
		if (chunk->written < CHUNK_SIZE || is_newest(spool, chunk))
			break;
		remove_oldest(spool, true);
	}
	error = spool->error;
	pthread_mutex_unlock(&spool->writing);
	return error;
}

int spool_flush(struct spool *spool)
{
	struct spool_chunk *chunk;

	while ((chunk = write_oldest(spool)))
		free_chunk(chunk);
	while ((chunk = spare_chunk(spool)))
		free_chunk(chunk);
	spool->held = 0;
	if (!spool->error)
		spool->error = trace_output_end(spool->output);
	return spool->error;
}
