// SPDX-License-Identifier: GPL-2.0-only
/*
 * The data area of a capture, compared with a model of one byte at a time, and with a reader that
 * keeps all data. Rules: include/uapi/linux/ntrace.h (struct ntrace_control), "Draining and loss"
 * in Documentation/trace/ntrace.rst.
 */
#include <tap.h>

#include "../../kernel/ntrace/feed.c"
#include "host/machine.h"

#define RESERVED 0x02

static struct machine machine;
static struct ntrace_feed *const feed = &machine.capture[0].feed;
static struct ntrace_control *const control = &machine.control[0];

/* Expected contents of the data area: everything that was ever in it, by position. */
static struct {
	u8 stream[1 << 20];
	u64 head, tail;
	u64 lost;
	u32 gaps, loss;
	u64 gap_head;
	bool full; /* until a quarter of the area is free again */
	/* bytes put, and neither published nor dropped yet */
	u64 fresh, dropped;
} model;

static bool remains;

static void fresh_area(size_t size)
{
	machine_free(&machine);
	machine_init(&machine, 1, size);
	(memset)(&model, 0, sizeof(model));
}

static void model_put(const u8 *bytes, u32 count)
{
	size_t size = feed->size;
	bool wait = model.full && size - (model.head + model.fresh - model.tail) < size / 4;

	for (u32 i = 0; i < count; i++) {
		/* One byte stays free for a gap mark. */
		if (wait || model.dropped || model.head + model.fresh - model.tail + 1 >= size) {
			model.dropped++;
			continue;
		}
		model.stream[model.head + model.fresh++] = bytes[i];
	}
}

/* Adds a gap mark, unless the previous mark is still the last byte. */
static void model_hole(void)
{
	if (model.gaps && model.gap_head + 1 == model.head)
		return;
	model.gaps++;
	model.gap_head = model.head;
	model.stream[model.head++] = RESERVED;
}

static void model_commit(void)
{
	if (!model.fresh && !model.dropped)
		return;
	model.head += model.fresh;
	model.full = model.dropped;
	if (model.dropped) {
		model.lost += model.dropped;
		model.loss |= NTRACE_LOSS_DATA_FULL;
		model_hole();
	}
	model.fresh = model.dropped = 0;
}

/* The positions that user space sees. */
static bool same(void)
{
	size_t mask = feed->size - 1;
	u64 tail, readable = ntrace_feed_readable(feed, &tail);

	if (control->head != model.head || control->lost != model.lost ||
	    control->loss != model.loss || control->gaps != model.gaps ||
	    (model.gaps && control->gap_head != model.gap_head) || tail != model.tail ||
	    readable != model.head - model.tail || control->tail != model.tail ||
	    readable > mask + 1)
		return false;
	for (u64 i = tail; i < model.head; i++)
		if (machine.data[0][i & mask] != model.stream[i])
			return false;
	return true;
}

static void put(u32 count)
{
	u8 *bytes = malloc(count);

	for (u32 i = 0; i < count; i++)
		bytes[i] = (u8)(random_below(64) << 2 | (random_below(3) + 3) % 4);
	ntrace_feed_put(feed, bytes, count);
	model_put(bytes, count);
	free(bytes);
}

/*
 * User space sees all of the area: discarded trace does not stay there. The mark of a gap may have
 * replaced its first byte.
 */
static void model_void(void)
{
	for (u64 i = feed->head; i < model.head + model.fresh; i++)
		if (machine.data[0][i & (feed->size - 1)])
			remains = true;
	model.fresh = model.dropped = 0;
}

static void step(size_t size)
{
	u64 readable = model.head - model.tail;

	switch (random_below(12)) {
	case 0:
		ntrace_feed_void(feed);
		model_void();
		break;
	case 1: {
		u64 lost = random_below(1000);

		ntrace_feed_miss(feed, lost, NTRACE_LOSS_LAPPED);
		model_void();
		model.lost += lost;
		model.loss |= NTRACE_LOSS_LAPPED;
		model_hole();
		break;
	}
	case 2:
		if (random_below(4))
			break;
		ntrace_feed_commit(feed);
		model_commit();
		ntrace_feed_note(feed, NTRACE_LOSS_SINK_FULL, true);
		model.loss |= NTRACE_LOSS_SINK_FULL;
		model_hole();
		break;
	case 3:
	case 4:
	case 5: {
		u64 tail = model.tail + random_below(readable + 1);

		if (ntrace_feed_consume(feed, tail))
			model.gaps = ~0u;
		model.tail = tail;
		break;
	}
	case 6:
	case 7:
		ntrace_feed_commit(feed);
		model_commit();
		break;
	default:
		put((u32)random_below(random_below(4) ? size / 8 : size + size / 2));
	}
}

static void random_areas(u64 seed)
{
	bool good = true;

	for (unsigned int number = 0; number < 60 && good; number++) {
		size_t size = 16ul << random_below(6);

		random_begin(seed, number);
		fresh_area(size);
		for (int i = 0; i < 1500 && good; i++) {
			step(size);
			good = same() && !remains;
			if (!good)
				diag("area %u of %zu bytes, step %d: head %llu, expected %llu",
				     number, size, i, (unsigned long long)control->head,
				     (unsigned long long)model.head);
		}
	}
	ok(good, "whatever comes: no byte is overwritten unread, moved, or lost without a mark");
}

static void by_hand(void)
{
	u64 tail;

	fresh_area(64);
	put(63);
	is_u64(control->head, 0, "put bytes are not visible yet");
	ntrace_feed_commit(feed);
	ok(control->head == 63 && !control->gaps && !control->loss && !control->lost,
	   "63 bytes into an area of 64");
	put(1);
	ntrace_feed_commit(feed);
	ok(control->head == 64 && control->gaps == 1 && control->gap_head == 63 &&
		   machine.data[0][63] == RESERVED && control->lost == 1 &&
		   control->loss == NTRACE_LOSS_DATA_FULL,
	   "the 64th has no room: a gap, marked with the last byte");
	put(5);
	ntrace_feed_commit(feed);
	ok(control->head == 64 && control->gaps == 1 && control->lost == 6,
	   "no more room: the same gap");
	is_u64(ntrace_feed_consume(feed, 15), 0, "15 bytes are consumed");
	put(3);
	ntrace_feed_commit(feed);
	ok(control->head == 64 && control->lost == 9, "less than a quarter is free: nothing");
	ntrace_feed_consume(feed, 16);
	put(3);
	ntrace_feed_commit(feed);
	ok(control->head == 67 && control->lost == 9, "a quarter is free: it continues");
	put(5);
	ntrace_feed_commit(feed);
	is_u64(control->head, 72, "and then no quarter is needed");
	is_u64(ntrace_feed_consume(feed, 73), (u64)-EINVAL, "beyond the head: EINVAL");
	is_u64(ntrace_feed_consume(feed, 15), (u64)-EINVAL, "before the tail: EINVAL");
	is_u64(ntrace_feed_consume(feed, ~0ull), (u64)-EINVAL, "-1: EINVAL");
	is_u64(control->tail, 16, "and nothing is consumed");
	is_u64(ntrace_feed_consume(feed, 16), 0, "nothing: fine");
	is_u64(ntrace_feed_consume(feed, 72), 0, "up to the head: fine");
	is_u64(ntrace_feed_readable(feed, &tail), 0, "nothing is left");
	is_u64(tail, 72, "from there");

	fresh_area(64);
	put(10);
	put(100);
	put(3);
	ntrace_feed_commit(feed);
	ok(control->head == 64 && control->lost == 50,
	   "after dropped bytes nothing is put until the gap is marked");
	ntrace_feed_void(feed);
	put(4);
	ntrace_feed_void(feed);
	ntrace_feed_commit(feed);
	ok(control->head == 64 && control->lost == 50,
	   "discarded bytes are neither visible nor lost");

	fresh_area(64);
	put(20);
	feed->ended = true;
	ntrace_feed_miss(feed, 1000, NTRACE_LOSS_LAPPED);
	ok(control->head == 1 && control->gap_head == 0 && machine.data[0][0] == RESERVED &&
		   control->lost == 1000 && control->loss == NTRACE_LOSS_LAPPED && !feed->ended,
	   "lapped: put bytes are void, a gap, and the trace has not ended");
	ntrace_feed_note(feed, NTRACE_LOSS_SINK_FULL, true);
	ok(control->head == 1 && control->gaps == 1 &&
		   control->loss == (NTRACE_LOSS_LAPPED | NTRACE_LOSS_SINK_FULL) &&
		   control->lost == 1000,
	   "full as well: one gap, both causes");
}

/* Without a data area, as for perf: the feed only counts. */
static void without_area(void)
{
	fresh_area(0);
	put(100);
	ntrace_feed_commit(feed);
	ok(!control->head && !control->lost, "a file that wants no data: nothing is counted");
	feed->counts = true;
	put(100);
	put(28);
	ntrace_feed_commit(feed);
	is_u64(control->head, 128, "perf without memory: it is counted");
	is_u64(control->lost, 0, "and nothing is lost");
	ntrace_feed_miss(feed, 7, NTRACE_LOSS_LAPPED);
	ok(control->head == 128 && control->gaps == 1 && control->lost == 7,
	   "a loss is counted, no mark");
}

static void wakeups(void)
{
	fresh_area(4096);
	ok(!ntrace_feed_is_due(feed, 1023) && ntrace_feed_is_due(feed, 1024),
	   "a quarter of the area is enough to wake readers");
	fresh_area(0);
	ok(!ntrace_feed_is_due(feed, 0), "without an area no reader is woken");
}

static void encoder_says(void)
{
	fresh_area(64);
	machine.encoder[0].encoder.losses = 0x1000;
	ntrace_feed_encoder(feed, 0x2fff);
	is_u64(control->loss, 0, "no bit of a loss: none");
	ntrace_feed_encoder(feed, 0x1007);
	is_u64(control->loss, NTRACE_LOSS_ENCODER, "the encoder has lost trace");
	feed->recent = 0;
	ntrace_feed_encoder(feed, 0x1007);
	is_u64(feed->recent, 0, "its flag stays set: the same loss");
	feed->loss = NTRACE_LOSS_LAPPED;
	feed->overflowed = false;
	ntrace_feed_encoder(feed, 0x1007);
	is_u64(control->loss, NTRACE_LOSS_ENCODER | NTRACE_LOSS_LAPPED,
	       "after a loss of another sort it has both");
	ok(!control->gaps && !control->head, "where, it says itself: no mark");
	put(2);
	ntrace_feed_encoder(feed, 0x1007);
	is_u64(control->head, 0, "known already: nothing new is shown");
}

/* Another thread consumes between the driver's read and its compare-and-exchange. */
static u64 other_tail;

static void consume_beside(enum host_event event, const void *address, size_t size)
{
	if (event == HOST_EXCHANGE) {
		host_event = NULL;
		atomic64_set(&feed->tail, (s64)other_tail);
	}
}

static void races(void)
{
	fresh_area(64);
	put(50);
	ntrace_feed_commit(feed);
	host_event = consume_beside;
	other_tail = 30;
	is_u64(ntrace_feed_consume(feed, 20), (u64)-EINVAL, "another one has consumed more");
	is_u64(feed->tail.counter, 30, "the tail does not go back");
	host_event = consume_beside;
	other_tail = 35;
	is_u64(ntrace_feed_consume(feed, 40), 0, "another one has consumed less");
	is_u64(feed->tail.counter, 40, "the tail advances");
	host_event = NULL;
}

/* In frames of 16 bytes a gap is marked by a whole frame of synchronization words. */
static void test_framed(void)
{
	static const u8 barrier[] = { 0xff, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff, 0x7f,
				      0xff, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff, 0x7f };
	u8 frames[4096];

	(memset)(frames, 0x11, sizeof(frames));
	fresh_area(4096);
	feed->framed = true;
	ntrace_feed_put(feed, frames, 4096);
	ntrace_feed_commit(feed);
	is_u64(control->head, 4096, "frames: the area is full with the mark of a gap");
	ok(control->lost == 16 && control->gaps == 1 && control->gap_head == 4080 &&
		   !memcmp(feed->data + 4080, barrier, sizeof(barrier)),
	   "a frame was lost, and synchronization words are in its place");
	ntrace_feed_miss(feed, 160, NTRACE_LOSS_LAPPED);
	ok(control->gaps == 1 && control->lost == 176, "more is lost there: the same gap");
	/* A consumer may stand anywhere. */
	ntrace_feed_consume(feed, 2045);
	ntrace_feed_put(feed, frames, 4096);
	ntrace_feed_commit(feed);
	is_u64(control->head, 4096 + 2016 + 16, "whole frames fit, and the mark");
	ok(control->gaps == 2 && control->gap_head == 4096 + 2016 &&
		   !memcmp(feed->data + 2016, barrier, sizeof(barrier)) && feed->data[2015] == 0x11,
	   "the second gap is marked as well");
	feed->framed = false;
}

int main(void)
{
	u64 seed = random_seed(2);

	random_begin(seed, 0);
	by_hand();
	without_area();
	wakeups();
	encoder_says();
	races();
	random_areas(seed);
	test_framed();
	machine_free(&machine);
	return done_testing();
}
