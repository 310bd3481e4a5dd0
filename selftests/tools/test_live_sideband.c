// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sideband on its way from the recorder to the decoders of `ntrace record --live`: each reader gets all
 * records in order, a time only after all records before it, and blocks are freed when the last reader
 * has passed them, also a reader that has left. The sanitizers see leaks and use after free.
 */
#include <poll.h>
#include <pthread.h>

#include "record/live_sideband.h"
#include "tap.h"

#define BLOCK (1u << 20)
#define ROUNDS 3000
#define THREADS 3

static struct live_sideband *queue;

static bool asked(void)
{
	struct pollfd poller = { .fd = live_sideband_fd(queue), .events = POLLIN };

	return poll(&poller, 1, 0) == 1;
}

static void add(uint32_t value)
{
	if (live_sideband_add(queue, &value, sizeof(value)))
		ok(false, "a block is added");
}

/* The next value of a reader; 0: none. */
static uint32_t take(unsigned int reader, uint64_t *complete)
{
	struct ntrace_live_records records = { .size = sizeof(records) };
	uint32_t value = 0;
	int result = live_sideband_take(queue, reader, false, &records);

	if (result)
		ok(false, "the reader goes on");
	if (records.count)
		memcpy(&value, records.bytes, sizeof(value));
	if (complete)
		*complete = records.complete_ns;
	return value;
}

static void test_order(void)
{
	uint64_t complete;

	live_sideband_new(&queue, 2);
	add(1);
	add(2);
	live_sideband_complete(queue, 100);
	ok(take(0, &complete) == 1 && !complete, "the time comes after the last record");
	ok(take(0, &complete) == 2 && complete == 100, "with it");
	live_sideband_complete(queue, 90);
	ok(!take(0, &complete) && complete == 100, "it does not go back");
	live_sideband_complete(queue, 200);
	add(3);
	ok(take(0, &complete) == 3 && complete == 200, "the first reader");
	ok(take(1, &complete) == 1 && !complete && take(1, NULL) == 2,
	   "the second reader is behind");
	ok(take(1, &complete) == 3 && complete == 200, "and gets all of it");
	live_sideband_leave(queue, 1);
	add(4);
	ok(take(0, NULL) == 4, "one reader is left");
	live_sideband_leave(queue, 0);
	add(5);
	live_sideband_free(queue);
}

static void test_limit(void)
{
	struct ntrace_live_records records = { .size = sizeof(records) };
	static uint8_t bytes[BLOCK];
	unsigned int blocks = 0, i;

	live_sideband_new(&queue, 2);
	while (blocks < 100 && !live_sideband_full(queue)) {
		live_sideband_add(queue, bytes, sizeof(bytes));
		blocks++;
	}
	is_u64(blocks, 8, "blocks of 1 MiB until it is full");
	for (i = 0; i <= blocks; i++)
		live_sideband_take(queue, 0, false, &records);
	ok(live_sideband_full(queue), "it is full until all readers have passed");
	live_sideband_take(queue, 1, false, &records);
	ok(!asked() && live_sideband_full(queue), "a block is in use until the next one is taken");
	live_sideband_take(queue, 1, false, &records);
	ok(asked(), "the recorder is asked for what it has left in the rings");
	ok(!live_sideband_full(queue) && !asked(), "and adds it");
	live_sideband_add(queue, bytes, sizeof(bytes));
	ok(live_sideband_full(queue), "full again");
	live_sideband_leave(queue, 1);
	live_sideband_leave(queue, 0);
	ok(!live_sideband_full(queue), "readers that leave free their blocks");
	live_sideband_free(queue);
}

struct reader {
	pthread_t thread;
	unsigned int number;
	uint32_t last;
	bool ordered;
	int result;
};

/* Reads until the end or until it is stopped; the time of a record is its number. */
static void *read_all(void *data)
{
	struct reader *reader = data;
	uint64_t complete = 0;
	uint32_t value;

	reader->ordered = true;
	while (complete != UINT64_MAX && !reader->result) {
		struct ntrace_live_records records = { .size = sizeof(records) };

		reader->result = live_sideband_take(queue, reader->number, true, &records);
		complete = records.complete_ns;
		if (records.count) {
			memcpy(&value, records.bytes, sizeof(value));
			reader->ordered &= value == reader->last + 1;
			reader->last = value;
		}
		/* No record from before the time may come later. */
		reader->ordered &= complete == UINT64_MAX || complete <= reader->last;
	}
	live_sideband_leave(queue, reader->number);
	return NULL;
}

/* The recorder adds when it is asked. @stop: no end of the records, readers are stopped */
static void test_threads(bool stop)
{
	struct reader readers[THREADS] = { 0 };
	struct pollfd poller = { .events = POLLIN };
	uint32_t value;
	unsigned int i;

	live_sideband_new(&queue, THREADS);
	for (i = 0; i < THREADS; i++) {
		readers[i].number = i;
		pthread_create(&readers[i].thread, NULL, read_all, &readers[i]);
	}
	poller.fd = live_sideband_fd(queue);
	for (value = 1; value <= ROUNDS; value++) {
		poll(&poller, 1, -1);
		live_sideband_full(queue);
		add(value);
		live_sideband_complete(queue, value);
	}
	if (stop)
		live_sideband_stop(queue);
	else
		live_sideband_complete(queue, UINT64_MAX);
	for (i = 0; i < THREADS; i++) {
		pthread_join(readers[i].thread, NULL);
		ok(readers[i].ordered, "reader %u: all in order", i);
		if (stop)
			ok(readers[i].result, "reader %u was stopped", i);
		else
			is_u64(readers[i].last, ROUNDS, "reader %u has all", i);
	}
	live_sideband_free(queue);
}

int main(void)
{
	test_order();
	test_limit();
	test_threads(false);
	test_threads(true);
	return done_testing();
}
