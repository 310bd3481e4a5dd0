// SPDX-License-Identifier: GPL-2.0-only
/*
 * Keeps trace in memory until it is written to the file.
 *
 * The recorder is traced, too. Writing a page to a file executes some thousand instructions full of
 * branches, and their trace is up to half as large as the page: the recorder would mostly record
 * itself. Copying to memory in a plain loop makes hardly any trace. So the spool keeps trace in
 * memory while memory suffices, and writes it when tracing has ended; above the limit, each new
 * chunk causes the oldest one to be written.
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

struct spool_chunk {
	struct spool_chunk *next;
	size_t used;
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

/*
 * Writes the oldest chunk and removes it from the list, even if writing fails. After an error
 * nothing more is written: the file would have a gap.
 */
static struct spool_chunk *write_oldest(struct spool *spool)
{
	struct spool_chunk *chunk = spool->oldest;

	if (!spool->error)
		spool->error = trace_output_write(spool->output, chunk->data, chunk->used);
	spool->oldest = chunk->next;
	if (!spool->oldest)
		spool->newest = NULL;
	chunk->next = NULL;
	chunk->used = 0;
	return chunk;
}

/* Appends an empty chunk. */
static int extend(struct spool *spool)
{
	struct spool_chunk *chunk = NULL;

	if (spool->held + CHUNK_SIZE <= spool->limit || !spool->oldest) {
		chunk = new_chunk();
		if (chunk)
			spool->held += CHUNK_SIZE;
	}
	if (!chunk && spool->oldest)
		chunk = write_oldest(spool);
	if (!chunk)
		return ENOMEM;
	if (spool->newest)
		spool->newest->next = chunk;
	else
		spool->oldest = chunk;
	spool->newest = chunk;
	return spool->error;
}

int spool_add(struct spool *spool, const uint8_t *data, size_t size)
{
	size_t part;
	int error;

	while (size) {
		if (!spool->newest || spool->newest->used == CHUNK_SIZE) {
			error = extend(spool);
			if (error)
				return error;
		}
		part = CHUNK_SIZE - spool->newest->used;
		if (part > size)
			part = size;
		memcpy(spool->newest->data + spool->newest->used, data, part);
		spool->newest->used += part;
		data += part;
		size -= part;
	}
	return 0;
}

int spool_flush(struct spool *spool)
{
	while (spool->oldest)
		free_chunk(write_oldest(spool));
	spool->held = 0;
	if (!spool->error)
		spool->error = trace_output_end(spool->output);
	return spool->error;
}
