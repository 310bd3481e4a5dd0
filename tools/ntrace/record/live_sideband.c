// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sideband on its way from the recorder to the decoders: a list of blocks, each of which is freed when
 * all readers have taken it. A reader that has taken all blocks knows the sideband up to a time; it asks
 * for more through an eventfd, so that the recorder works only when a decoder waits.
 *
 * The list is bounded: above the limit the recorder leaves records in the kernel's rings, which count
 * what they cannot hold.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <ntrace/error.h>

#include "common/command.h"
#include "common/ui.h"
#include "live_sideband.h"

#define BYTES_MAX (8u << 20)

struct block {
	struct block *next;
	unsigned int readers; /* which still need it */
	size_t size;
	uint8_t bytes[];
};

/**
 * struct reader - position of a thread
 * @held: block whose records were returned last
 * @next: first block that was not returned
 * @complete: time returned last
 * @left: it reads no more
 */
struct reader {
	struct block *held;
	struct block *next;
	uint64_t complete;
	bool left;
};

/**
 * struct live_sideband - see live_sideband_new()
 * @bytes: in all blocks
 * @complete: time up to which the list is complete
 * @full: the recorder has left records in the rings
 * @stopped: nobody waits any more
 */
struct live_sideband {
	pthread_mutex_t lock;
	pthread_cond_t grown;
	struct reader *readers;
	unsigned int count;
	struct block *newest;
	size_t bytes;
	uint64_t complete;
	bool full;
	bool stopped;
	int fd;
};

int live_sideband_new(struct live_sideband **queue, unsigned int readers)
{
	struct live_sideband *made = calloc(1, sizeof(*made));

	*queue = made;
	if (!made)
		return fail("out of memory");
	made->count = readers;
	pthread_mutex_init(&made->lock, NULL);
	pthread_cond_init(&made->grown, NULL);
	made->readers = calloc(readers, sizeof(*made->readers));
	made->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (made->readers && made->fd >= 0)
		return EXIT_OK;
	return made->readers ? fail("eventfd: %s", strerror(errno)) : fail("out of memory");
}

static void put_block(struct live_sideband *queue, struct block *block)
{
	if (!block || --block->readers)
		return;
	queue->bytes -= block->size;
	if (queue->newest == block)
		queue->newest = NULL;
	free(block);
}

/* Gives back all blocks of a reader. */
static void put_all(struct live_sideband *queue, struct reader *reader)
{
	struct block *next;

	put_block(queue, reader->held);
	reader->held = NULL;
	while (reader->next) {
		next = reader->next->next;
		put_block(queue, reader->next);
		reader->next = next;
	}
}

void live_sideband_free(struct live_sideband *queue)
{
	unsigned int i;

	if (!queue)
		return;
	for (i = 0; queue->readers && i < queue->count; i++)
		put_all(queue, &queue->readers[i]);
	if (queue->fd >= 0)
		close(queue->fd);
	free(queue->readers);
	free(queue);
}

int live_sideband_fd(const struct live_sideband *queue)
{
	return queue->fd;
}

static void ask(const struct live_sideband *queue)
{
	const uint64_t one = 1;

	/* The counter cannot overflow in practice, and a set one suffices. */
	if (write(queue->fd, &one, sizeof(one)) < 0 && errno != EAGAIN)
		warn("eventfd: %s", strerror(errno));
}

bool live_sideband_full(struct live_sideband *queue)
{
	uint64_t count;
	bool full;

	/* Requests that come after this read wake the recorder again. */
	if (read(queue->fd, &count, sizeof(count)) < 0 && errno != EAGAIN)
		warn("eventfd: %s", strerror(errno));
	pthread_mutex_lock(&queue->lock);
	full = queue->bytes >= BYTES_MAX;
	queue->full = full;
	pthread_mutex_unlock(&queue->lock);
	return full;
}

int live_sideband_add(void *data, const void *bytes, size_t count)
{
	struct live_sideband *queue = data;
	struct block *block = malloc(sizeof(*block) + count);
	unsigned int i;

	if (!block)
		return NTRACE_ERR_NOMEM;
	*block = (struct block){ .size = count };
	memcpy(block->bytes, bytes, count);
	pthread_mutex_lock(&queue->lock);
	for (i = 0; i < queue->count; i++) {
		if (queue->readers[i].left)
			continue;
		block->readers++;
		if (!queue->readers[i].next)
			queue->readers[i].next = block;
	}
	if (block->readers) {
		if (queue->newest)
			queue->newest->next = block;
		queue->newest = block;
		queue->bytes += count;
	} else {
		free(block);
	}
	pthread_cond_broadcast(&queue->grown);
	pthread_mutex_unlock(&queue->lock);
	return 0;
}

void live_sideband_complete(struct live_sideband *queue, uint64_t time_ns)
{
	pthread_mutex_lock(&queue->lock);
	if (time_ns > queue->complete)
		queue->complete = time_ns;
	pthread_cond_broadcast(&queue->grown);
	pthread_mutex_unlock(&queue->lock);
}

void live_sideband_stop(struct live_sideband *queue)
{
	pthread_mutex_lock(&queue->lock);
	queue->stopped = true;
	pthread_cond_broadcast(&queue->grown);
	pthread_mutex_unlock(&queue->lock);
}

static void wait_for_more(struct live_sideband *queue, const struct reader *reader)
{
	while (!queue->stopped && !reader->next && queue->complete == reader->complete &&
	       queue->complete != UINT64_MAX) {
		ask(queue);
		pthread_cond_wait(&queue->grown, &queue->lock);
	}
}

int live_sideband_take(struct live_sideband *queue, unsigned int number, bool wait,
		       struct ntrace_live_records *records)
{
	struct reader *reader = &queue->readers[number];
	int stopped;

	pthread_mutex_lock(&queue->lock);
	put_block(queue, reader->held);
	reader->held = NULL;
	if (queue->full && queue->bytes < BYTES_MAX) {
		queue->full = false;
		ask(queue);
	}
	if (wait)
		wait_for_more(queue, reader);
	if (reader->next) {
		reader->held = reader->next;
		reader->next = reader->next->next;
		records->bytes = reader->held->bytes;
		records->count = reader->held->size;
	}
	if (!reader->next)
		reader->complete = queue->complete;
	records->complete_ns = reader->complete;
	stopped = queue->stopped;
	pthread_mutex_unlock(&queue->lock);
	return stopped;
}

void live_sideband_leave(struct live_sideband *queue, unsigned int number)
{
	pthread_mutex_lock(&queue->lock);
	queue->readers[number].left = true;
	put_all(queue, &queue->readers[number]);
	pthread_mutex_unlock(&queue->lock);
}
