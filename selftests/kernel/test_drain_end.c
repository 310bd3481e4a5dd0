// SPDX-License-Identifier: GPL-2.0-only
/*
 * The end of the trace of an event, drained with interrupts off: for how long, and what is lost
 * then; and trace that ends although the hart executes. Rules: "Draining and loss" in Documentation/trace/ntrace.rst.
 */
#include <tap.h>

#include "host/drain.h"

/* The task of an event is descheduled, and a sink of its own is drained with interrupts off. */
static void test_bound(void)
{
	memory_ns = 10;
	begin(1, 65536, 64, 65536);
	feed->counts = true;
	hw_take(40 << 10);
	stop();
	is_u64(control->head, (9 << 10) + 1, "an event ends: 100 us, and the mark of a gap");
	is_u64(control->lost, 31 << 10, "the rest is lost");
	is_u64(control->loss, NTRACE_LOSS_SWITCH, "as the event ended too early for it");
	is_u64(sink->drops, 1, "and that is known");
	feed->counts = false;
	over();

	begin(1, 65536, 64, 65536);
	feed->counts = true;
	hw_take(9 << 10);
	stop();
	ok(control->head == 9 << 10 && !control->gaps && !sink->drops, "9 KiB: nothing is lost");
	feed->counts = false;
	over();

	begin(1, 65536, 64, 65536);
	hw_take(40 << 10);
	stop();
	ok(control->head == 40 << 10 && !control->gaps, "a file gets everything");
	over();
	memory_ns = 0;
}

/*
 * The task of an event is descheduled after its timers were late: with @behind ns for those that
 * left trace in the sink, with @overdue for the one that has not come yet. The drain may take an
 * eighth of this time longer. A KiB takes 11 us. Return: KiB that arrived.
 */
static u64 end_late(ktime_t behind, ktime_t overdue)
{
	u64 arrived;

	memory_ns = 10;
	begin(1, 1 << 20, 64, 1 << 20);
	feed->counts = true;
	feed->interval = feed->pace = 100000;
	ntrace_drain_first(feed);
	hw_take(800 << 10);
	feed->timer.late = behind;
	if (behind)
		ntrace_drain_step(feed);
	feed->timer.late = overdue;
	stop();
	arrived = (control->head - control->gaps) >> 10;
	ok(arrived == 800 ? !control->loss : control->loss == NTRACE_LOSS_SWITCH, "%llu KiB: %s",
	   arrived, arrived == 800 ? "nothing lost" : "cause");
	feed->timer.late = 0;
	feed->counts = false;
	memory_ns = 0;
	over();
	return arrived;
}

static void test_late_end(void)
{
	is_u64(end_late(0, 0), 9, "timers on time: 100 us");
	is_u64(end_late(0, 800000), 18, "a timer is overdue by 800 us: 200 us");
	is_u64(end_late(800000, 0), 8 + 18, "a timer was 800 us late: a slice of its own, 200 us");
	is_u64(end_late(0, 1600000), 27, "overdue by 1,600 us: 300 us");
	is_u64(end_late(0, 80000000), 800, "overdue by 80 ms: all");
	is_u64(end_late(0, 1ll << 50), 800, "however long, 10 ms are the limit");

	/* The next expiry finds nothing that was left. */
	begin(1, 65536, 64, 65536);
	feed->counts = true;
	feed->interval = feed->pace = 100000;
	hw_take(12 << 10);
	feed->timer.late = 8000000;
	ntrace_drain_step(feed);
	is_u64((u64)feed->behind, 8000000, "a late timer leaves trace in the sink");
	feed->timer.late = 0;
	ntrace_drain_step(feed);
	is_u64((u64)feed->behind, 0, "the next one has caught up");
	feed->counts = false;
	over();
}

static void deschedule_hart(enum host_event event, const void *address, size_t size)
{
	if (event != HOST_COPY)
		return;
	now += 10000000;
	host_event = NULL;
}

/* A hypervisor deschedules the hart while it drains. That is not slow memory. */
static void test_descheduled(void)
{
	memory_ns = 10;
	begin(1, 65536, 64, 65536);
	feed->counts = true;
	hw_take(7 << 10);
	host_event = deschedule_hart;
	stop();
	ok(!host_event && control->head == 7 << 10 && !control->loss,
	   "descheduled for 10 ms in the first slice: nothing is lost");
	feed->counts = false;
	over();

	/* But memory may be so slow, and then the time is limited, too. */
	memory_ns = 1000;
	begin(1, 65536, 64, 65536);
	feed->counts = true;
	hw_take(40 << 10);
	stop();
	is_u64((control->head - control->gaps) >> 10, 3, "memory of 1 MB/s: three slices");
	feed->counts = false;
	memory_ns = 0;
	over();
}

/* Trace that stands still while the hart executes. */
static void test_still(void)
{
	begin(1, 65536, 64, 65536);
	machine_logged = 0;
	hw_take(640);
	for (unsigned int i = 0; i < 2 * NTRACE_DRAIN_STILL; i++)
		ntrace_drain_step(feed);
	ok(!machine_logged && !control->loss, "no trace, and none need be made: nothing is said");
	feed->watched = true;
	for (unsigned int i = 0; i < 2 * NTRACE_DRAIN_STILL; i++) {
		if (i % (NTRACE_DRAIN_STILL / 2) == 0)
			hw_take(64);
		ntrace_drain_step(feed);
	}
	ok(!machine_logged && !control->loss, "it arrives late: nothing is said");
	for (unsigned int i = 0; i < NTRACE_DRAIN_STILL; i++)
		ntrace_drain_step(feed);
	ok(machine_logged == 1 && strstr(machine_log, "no trace arrives while the hart executes"),
	   "it stands still: the log says so");
	is_u64(control->loss, NTRACE_LOSS_ENCODER, "it is a loss");
	for (unsigned int i = 0; i < 2 * NTRACE_DRAIN_STILL; i++)
		ntrace_drain_step(feed);
	is_u64(machine_logged, 1, "said once");
	over();
}

int main(void)
{
	test_bound();
	test_late_end();
	test_descheduled();
	test_still();
	return done_testing();
}
