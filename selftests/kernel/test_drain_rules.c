// SPDX-License-Identifier: GPL-2.0-only
/*
 * Steps of the drain: the amount drained, the end, wakeups, and failing hardware. Rules:
 * Documentation/trace/ntrace.rst and the comments of drain.c.
 */
#include <tap.h>

#include "host/drain.h"

static void test_settled(void)
{
	begin(1, 4096, 64, 8192);
	hw_take(64);
	ntrace_drain_flush(feed);
	is_u64(drained(), 0, "the granule that was written last stays in a running sink");
	hw_take(64);
	ntrace_drain_flush(feed);
	is_u64(drained(), 64, "the one before it does not");
	hw_take(640);
	ntrace_drain_flush(feed);
	is_u64(drained(), 704, "FLUSH: all but the last granule");
	ntrace_drain_flush(feed);
	is_u64(drained(), 704, "again: nothing new");
	stop();
	is_u64(drained(), 768, "STOP brings everything");
	read_all();
	struct found found = reader_judge_plain(&readers[0], hw.pointer);

	ok(!found.wrong && !found.missing && !found.marks && !control->loss,
	   "and it is what the sink has written");
	over();

	/* A write pointer that moves in steps smaller than a granule. */
	begin(1, 4096, 64, 8192);
	hw.unit = 4;
	hw_take(200);
	ntrace_drain_flush(feed);
	is_u64(drained(), 128, "a pointer in the middle of a granule: it is not drained yet");
	hw_take(4);
	stop();
	is_u64(drained(), 204, "STOP brings a part of a granule as well");
	over();
}

static void test_slices(void)
{
	static const size_t ring = 1 << 20;

	begin(1, ring, 64, 2 << 20);
	hw_take(20 << 10);
	is_u64(ntrace_drain_step(feed), 10000, "more is waiting: a pause of 10 us");
	is_u64(drained(), 8 << 10, "8 KiB at a time: 82 us at 100 MB/s");
	is_u64(ntrace_drain_step(feed), 10000, "and again");
	is_u64(ntrace_drain_step(feed), 1000000, "nothing is waiting: the interval");
	is_u64(drained(), (20 << 10) - 64, "all is drained");
	hw_take(8 << 10);
	is_u64(ntrace_drain_step(feed), 1000000, "just a slice: nothing is waiting");
	judge("slices");

	/* Memory of 10 MB/s: a slice takes 819.2 us. The model's clock adds 1 us at each look at it. */
	begin(1, ring, 64, 2 << 20);
	memory_ns = 100;
	hw_take(20 << 10);
	is_u64(ntrace_drain_step(feed), ((8 << 10) * 100 + 1000) / 8,
	       "slow memory: a pause of an eighth of the time that a slice takes");
	memory_ns = 0;
	stop();
	over();

	begin(1, ring, 64, 2 << 20);
	hw_take(700 << 10);
	ntrace_drain_flush(feed);
	is_u64(drained(), (700 << 10) - 64, "FLUSH takes as many slices as it needs");
	/* The sink writes as fast as the driver drains. */
	lap_when(HOST_READ_BARRIER, 0, 1000, 8 << 10);
	hw_take(256 << 10);
	hw.pointer_reads = 0;
	ntrace_drain_flush(feed);
	is_u64(hw.pointer_reads, 2 * ring / (8 << 10),
	       "but no more than a ring, however much comes");
	hw.at = NULL;
	judge("a sink as fast as the drain");

	begin(1, ring, 64, 2 << 20);
	hw_take(700 << 10);
	stop();
	ok(drained() == 700 << 10 && !control->loss, "a stopped sink laps in no slice");
	over();

	begin(1, ring, 64, 2 << 20);
	hw.byte = message_byte;
	sink->dealt = true;
	sink->src_bits = MESSAGE_SRC_BITS;
	hw_take(100 << 10);
	is_u64(ntrace_drain_step(feed), 5000, "dealt out, more is waiting: a pause of 5 us");
	is_u64(sink->drained, 3 << 10, "dealt out: 3 KiB at a time");
	stop();
	over();
}

static void test_overwrite(void)
{
	u8 area[4096];
	u64 head = 3 << 20;

	/* A snapshot of perf has the last bytes, and no loss. */
	begin(1, 65536, 64, 0);
	feed->counts = true;
	ntrace_turn_into(feed, area, sizeof(area), head, sizeof(area), true);
	for (int i = 0; i < 10; i++) {
		hw_take(6400);
		ntrace_drain_flush(feed);
	}
	stop();
	ok(!control->loss && feed->head == head + 64000, "overwritten: no loss is reported");
	bool good = true;

	for (u64 p = 64000 - 4096; p < 64000; p++)
		good &= area[(head + p) % sizeof(area)] == plain_byte(p);
	ok(good, "the last bytes are there");
	over();

	/* The drain writes at most the free room, at the right place. */
	begin(1, 65536, 64, 0);
	feed->counts = true;
	(memset)(area, 0xee, sizeof(area));
	ntrace_turn_into(feed, area, sizeof(area), head + 4000, 1000, false);
	hw_take(2048);
	ntrace_drain_flush(feed);
	ok(feed->head == head + 5000 && control->lost == 2048 - 64 - 999 && control->gaps == 1,
	   "room for 1000 bytes: 999 of trace and a mark");
	good = area[904 - 1] == RESERVED;
	for (u64 p = 0; p < 999; p++)
		good &= area[(4000 + p) % 4096] == plain_byte(p);
	for (u64 p = 904; p < 4000; p++)
		good &= area[p] == 0xee;
	ok(good, "and nothing else is written");
	ntrace_turn_into(feed, area, sizeof(area), head + 4000, 4096, false);
	ok(!feed->overrun, "other memory: there is room");
	feed->head = head + 5000;
	is_u64(ntrace_turn_discard(feed, false), head + 5000, "the kept trace ends at the head");
	hw_take(640);
	ntrace_drain_flush(feed);
	ok(feed->head == head + 5640 && area[904] == 0xee && control->gaps == 1,
	   "discarded: counted, and not stored");
	ntrace_turn_into(feed, area, sizeof(area), head + 5000, 4096, false);
	is_u64(feed->overrun, 0, "other memory: the overrun is over");
	hw_take(64 + 65536);
	ntrace_drain_flush(feed);
	ok(area[904] == RESERVED && control->gaps == 2,
	   "a gap is marked even if the last one was in other memory");
	stop();
	over();

	begin(1, 65536, 64, 0);
	feed->counts = true;
	for (u64 i = 1; i <= 2; i++) {
		ntrace_turn_discard(feed, true);
		hw_take(i == 1 ? 64 + 640 : 640);
		ntrace_drain_flush(feed);
		ok(feed->head == 0 && control->lost == i * 640 && control->gaps == 1,
		   "discarded as lost, part %llu: counted as such, and one gap",
		   (unsigned long long)i);
	}
	ntrace_turn_into(feed, area, sizeof(area), 0, 4096, false);
	hw_take(640);
	ntrace_drain_flush(feed);
	ok(feed->head == 640 && control->lost == 2 * 640, "there is memory again");
	stop();
	over();

	begin(1, 4096, 64, 4096);
	hw_take(1024);
	ntrace_turn_pause(feed, true);
	ntrace_drain_flush(feed);
	is_u64(drained(), 0, "paused: the ring is left alone");
	is_u64(ntrace_drain_step(feed), 1000000, "and asked for again after the interval");
	ntrace_turn_pause(feed, false);
	ntrace_drain_flush(feed);
	is_u64(drained(), 960, "no longer");
	stop();
	over();
}

/* After a lap, what the running sink still holds at its write pointer is not lost. */
static void test_lapped_at(void)
{
	unsigned int past, wrong = 0;

	for (past = 0; past < 4096; past += 8) {
		begin(1, 4096, 64, 65536);
		hw_take(4096 + past);
		ntrace_drain_flush(feed);
		stop();
		wrong += control->lost + drained() - control->gaps != 4096 + past;
		over();
	}
	is_u64(wrong, 0, "lapped at any position: all bytes are drained or lost");
}

/* A second start of the same capture. */
static void test_restart(void)
{
	begin(1, 4096, 64, 65536);
	hw.byte = plain_byte;
	hw_take(1024);
	ntrace_drain_flush(feed);
	hw_take(8192);
	is_u64(ntrace_drain_step(feed), 10000,
	       "lapped: it continues after a pause, as it may lap in every interval");
	is_u64(ntrace_drain_step(feed), 1000000, "and then after the interval");
	stop();
	sink->split.skip = true;
	(memset)(hw.ring, 0, hw.size);
	hw.pointer = hw.memory = hw.seen = 0;
	ntrace_drain_begin(&machine.sink);
	u64 head = drained();

	hw.running = true;
	hw_take(640);
	ntrace_drain_flush(feed);
	ok(drained() == head + 576 && control->gaps == 1,
	   "after a new start it begins at the start of the ring");
	ok(!sink->split.skip, "and with a message");
	over();
}

static void test_timer(void)
{
	begin(1, 65536, 64, 4096);
	control->state = NTRACE_STATE_RUNNING;
	hw_take(64 + 960);
	is_u64(ntrace_drain_timer(&feed->timer), HRTIMER_RESTART, "the timer continues");
	ok(feed->timer.next == 1000000 && !feed->wake.queued, "less than a quarter: no wakeup");
	hw_take(64);
	ntrace_drain_timer(&feed->timer);
	is_u64(feed->wake.queued, 1, "a quarter of the data area: a wakeup");
	reader_read(&machine, 0, 512);
	ntrace_drain_timer(&feed->timer);
	is_u64(feed->wake.queued, 1, "half of that was read: none");
	hw_take(128);
	hw.outside = true;
	machine_logged = 0;
	is_u64(ntrace_drain_timer(&feed->timer), HRTIMER_NORESTART,
	       "the pointer left the ring: the timer ends");
	ok(encoder_stops == 1 && sink_halts == 1 && control->state == NTRACE_STATE_DEAD,
	   "encoder and sink are stopped, the state is DEAD");
	ok(machine_logged == 1 && strstr(machine_log, "left its buffer"), "the log says why");
	is_u64(feed->wake.queued, 2, "waiters are woken");
	is_u64(drained(), 1024, "earlier trace is there");
	hw.outside = false;
	ntrace_drain_flush(feed);
	stop();
	is_u64(drained(), 1024, "and no more trace is drained");
	ntrace_drain_begin(&machine.sink);
	ok(!sink->fault, "the next start forgets it");
	over();

	begin(1, 4096, 64, 4096);
	machine.encoder[0].encoder.losses = 0x1000 | 0x08000000;
	machine.encoder[0].encoder.failures = 0x08000000;
	hw_take(640);
	hw.encoder = 0x1000;
	is_u64(ntrace_drain_timer(&feed->timer), HRTIMER_RESTART, "a loss is no failure");
	is_u64(control->loss, NTRACE_LOSS_ENCODER, "it is reported");
	hw.encoder = 0x08000000;
	machine_logged = 0;
	is_u64(ntrace_drain_timer(&feed->timer), HRTIMER_NORESTART, "a failure ends the timer");
	ok(machine_logged == 1 && strstr(machine_log, "cannot write to its sink") && feed->failed &&
		   sink->fault && control->state == NTRACE_STATE_DEAD,
	   "the log has one line, the path is dead");
	ntrace_drain_end(feed, 0x08000000, true);
	is_u64(machine_logged, 1, "and it has no other");
	over();
}

/* A sink that reports its own failures. */
static void test_sink_failure(void)
{
	begin(2, 4096, 64, 4096);
	hw_take(640);
	hw.control = 0x08000000;
	is_u64(ntrace_drain_timer(&feed->timer), HRTIMER_RESTART, "bits that report no failure");
	sink->failures = 0x08000000;
	machine_logged = 0;
	is_u64(ntrace_drain_timer(&feed->timer), HRTIMER_NORESTART,
	       "a failure of the sink ends the timer");
	ok(machine_logged == 1 && strstr(machine_log, "cannot write to memory") && sink->fault,
	   "the log has one line");
	ok(control->state == NTRACE_STATE_DEAD && control->loss == NTRACE_LOSS_ENCODER &&
		   machine.control[1].loss == NTRACE_LOSS_ENCODER && machine.capture[1].feed.fault,
	   "it is a loss of each capture");
	ntrace_drain_end(feed, 0, true);
	is_u64(machine_logged, 1, "and the log has no other line");
	sink->failures = 0;
	hw.control = 0;
	over();
}

/* The drain of a hart whose kernel is traced for perf is not in the trace. */
static void test_hush(void)
{
	begin(1, 65536, 64, 65536);
	hw.byte = message_byte;
	sink->dealt = true;
	sink->src_bits = MESSAGE_SRC_BITS;
	hw.encoder = 0x4;
	hw_take(1024);
	ntrace_drain_step(feed);
	is_u64(encoder_pauses, 0, "without the kernel the encoder is not paused");
	feed->kernel = true;
	hw_take(1024);
	ntrace_drain_step(feed);
	ok(encoder_pauses == 1 && encoder_traces == 1 && paused_at == 960 && traced_at == 1984,
	   "with the kernel it is paused before the drain, and continues after it");
	hw.encoder = 0;
	ntrace_drain_step(feed);
	ok(encoder_pauses == 1 && encoder_traces == 1, "if it does not trace it is left alone");
	hw.encoder = 0x4;
	sink->dealt = false;
	ntrace_drain_step(feed);
	is_u64(encoder_pauses, 1, "and so if the trace is not dealt out");
	sink->dealt = true;
	hw.outside = true;
	ntrace_drain_step(feed);
	ok(encoder_pauses == 2 && encoder_traces == 1, "after a fault it does not continue");
	feed->kernel = false;
	hw.encoder = 0;
	hw.outside = false;
	over();
}

/* Harts that share a sink do not wait for each other's drains. */
static void test_busy(void)
{
	begin(2, 65536, 64, 65536);
	hw.encoder = 0x4;
	hw_take(1024);
	hw.pointer_reads = 0;
	sink->lock.held = true;
	is_u64(ntrace_drain_step(feed), 100000, "another hart drains: retry after 100 us");
	ok(!hw.pointer_reads && !sink->drained, "meanwhile this hart does not touch the sink");
	feed->interval = feed->pace = 50000;
	is_u64(ntrace_drain_step(feed), 50000, "retry after the interval if that is shorter");
	sink->lock.held = false;
	is_u64(ntrace_drain_step(feed), 50000, "the next expiry drains");
	is_u64(sink->drained, 960, "the trace has waited for it");
	hw.encoder = 0;
	stop();
	over();

	/* Where the drain separates trace, the timer waits: host time goes on 1 us at each reading. */
	begin(2, 65536, 64, 65536);
	sink->dealt = true;
	sink->lock.held = true;
	now = 0;
	is_u64(ntrace_drain_step(feed), 5000, "another hart separates: a pause of 5 us");
	ok(now >= 80000 && now < 90000, "after 80 us of waiting: %llu ns", (unsigned long long)now);
	sink->lock.held = false;
	sink->dealt = false;
	stop();
	over();
}

/* The timer of an event of perf expires more often while there is much trace, and less often again. */
static void test_pace(void)
{
	begin(1, 65536, 64, 65536);
	feed->counts = true;
	feed->interval = 256000;
	feed->pace = 256000;
	hw_take(5 << 10);
	is_u64(ntrace_drain_step(feed), 128000, "more than half a slice: half the interval");
	hw_take(5 << 10);
	is_u64(ntrace_drain_step(feed), 64000, "again");
	hw_take(9 << 10);
	is_u64(ntrace_drain_step(feed), 10000, "more than a slice: a pause");
	hw_take(2 << 10);
	is_u64(ntrace_drain_step(feed), 32000, "and half the interval");
	hw_take(9 << 10);
	hw_take(9 << 10);
	for (int i = 0; i < 3; i++)
		ntrace_drain_step(feed);
	is_u64(feed->pace, 10000, "again and again: no less than the pause");
	ntrace_drain_step(feed);
	is_u64(ntrace_drain_step(feed), 40000, "hardly any: twice the interval");
	for (int i = 0; i < 2; i++)
		ntrace_drain_step(feed);
	is_u64(ntrace_drain_step(feed), 256000, "up to the interval of the capture");
	is_u64(ntrace_drain_first(feed), 64000, "the next trace begins with a quarter");
	feed->pace = 25000;
	is_u64(ntrace_drain_first(feed), 25000, "or with what was found before");
	feed->counts = false;
	stop();
	over();
}

/* Two files each get a copy: together, they take as long as one. */
static void test_copies(void)
{
	begin(2, 65536, 64, 65536);
	hw_take(20 << 10);
	is_u64(ntrace_drain_step(feed), 10000, "two copies: more is waiting");
	is_u64(drained(), 4 << 10, "two copies: 4 KiB at a time");
	stop();
	over();
}

static bool fault_now;

static void leave(enum host_event event)
{
	if (event == (fault_now ? HOST_LOOK : HOST_COPY))
		hw.outside = true;
}

/* Reading a counter drains, and does not change when the timer expires. */
static void test_read(void)
{
	ktime_t pace;

	begin(1, 65536, 64, 65536);
	feed->counts = true;
	hw_take(20 << 10);
	ntrace_drain_step(feed);
	pace = feed->pace;
	for (int i = 0; i < 8; i++)
		ntrace_drain_read(feed);
	ok(drained() > 16 << 10, "a counter is read: it drains");
	ok(feed->pace == pace, "the pace stays");
	feed->counts = false;
	stop();
	over();
}

static void test_fault(void)
{
	begin(2, 4096, 64, 4096);
	hw_take(1024);
	hw.at = leave;
	ntrace_drain_flush(feed);
	ok(sink->fault && machine.capture[0].feed.fault && machine.capture[1].feed.fault &&
		   !drained() && !machine.control[1].head && !machine.capture[0].feed.fresh &&
		   !machine.capture[1].feed.fresh && !control->loss,
	   "the pointer leaves the ring during a copy: it is void for all captures");
	ok(sink_halts == 1, "and the sink is stopped at once");
	hw.at = NULL;
	hw.outside = false;
	hw.stuck = true;
	machine_logged = 0;
	stop();
	ok(!machine_logged, "further errors are not reported");
	over();

	begin(1, 4096, 64, 4096);
	hw_take(1024);
	ntrace_drain_flush(feed);
	hw_take(8192);
	hw.at = leave;
	fault_now = true;
	ntrace_drain_flush(feed);
	fault_now = false;
	ok(sink->fault && feed->fault && control->head == 960 && !control->loss,
	   "it leaves it during a restart: no gap is reported");
	over();
}

static void test_stuck(void)
{
	begin(1, 4096, 64, 4096);
	sink->ring = NULL;
	stop();
	ok(!sink->fault && !drained(), "without a ring there is nothing to drain");
	over();

	begin(1, 4096, 64, 4096);
	hw.stuck = true;
	hw_take(640);
	ntrace_drain_flush(feed);
	machine_logged = 0;
	stop();
	ok(sink->fault && feed->fault && machine_logged == 1 && strstr(machine_log, "stuck"),
	   "trace is in memory and the pointer is at the start: it is stuck");
	over();

	begin(1, 4096, 64, 4096);
	stop();
	ok(!sink->fault, "nothing was written: it is not stuck");
	over();

	begin(1, 4096, 64, 65536);
	for (int i = 0; i < 4; i++) {
		hw_take(1024);
		ntrace_drain_flush(feed);
	}
	stop();
	ok(!sink->fault && drained() == 4096, "it is at the start again: it is not stuck");
	over();

	begin(1, 4096, 64, 65536);
	hw.stuck = true;
	hw_take(640);
	hw_settle();
	ntrace_drain_end(feed, 0, false);
	ok(!sink->fault, "while others use the sink it is not asked");
	hw.running = false;
	over();
}

/* All trace can be read after a stop: StopOnWrap, and SRAM mode. */
static void test_whole(void)
{
	static const struct {
		const char *what;
		bool sram, stop_on_wrap, unknown; /* width of a write */
		u64 taken, from, lost;
		u32 loss, gaps;
		bool full;
	} table[] = {
		{ "SRAM, half", true, false, false, 512, 0, 0, 0, 0, false },
		{ "SRAM, wrapped", true, false, false, 1024 + 300, 300, 300, NTRACE_LOSS_LAPPED, 1,
		  false },
		{ "SRAM, nothing", true, false, false, 0, 0, 0, 0, 0, false },
		{ "stop-on-wrap, half", false, true, false, 512, 0, 0, 0, 0, false },
		{ "stop-on-wrap, full", false, true, false, 1024, 0, 0, NTRACE_LOSS_SINK_FULL, 1,
		  true },
		{ "stop-on-wrap, full early", false, true, false, 960, 0, 0, NTRACE_LOSS_SINK_FULL,
		  1, true },
		{ "unknown width, half", false, true, true, 512, 0, 0, 0, 0, false },
		{ "unknown width, full", false, true, true, 1024, 0, 0, NTRACE_LOSS_SINK_FULL, 1,
		  true },
		{ "SRAM, stop-on-wrap, full", true, true, false, 1024, 0, 0, NTRACE_LOSS_SINK_FULL,
		  1, true },
	};

	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		u64 bytes = table[i].taken - table[i].from;
		bool good = true;

		begin_width(1, 1024, table[i].unknown ? 64 : 4, 4, 4096);
		if (table[i].sram)
			sink->sram_size = 1024;
		if (table[i].stop_on_wrap)
			sink->control |= TR_RAM_CONTROL_STOP_ON_WRAP;
		sink->ring_dma = table[i].sram ? 0 : SINK_DMA;
		hw.zero_based = table[i].sram;
		hw_take(table[i].taken);
		hw_settle();
		if (table[i].sram) {
			(memcpy)(hw.sram, hw.ring, 1024);
			(memset)(hw.ring, 0, 1024);
		}
		ntrace_drain_flush(feed);
		is_u64(drained(), 0, "%s: nothing while it runs", table[i].what);
		ntrace_drain_end(feed, 0, false);
		is_u64(drained(), 0, "%s: nor while others use it", table[i].what);
		sink->full = table[i].full;
		stop();
		is_u64(drained(), bytes + table[i].gaps, "%s: all trace is there", table[i].what);
		ok(control->loss == table[i].loss && control->lost == table[i].lost &&
			   control->gaps == table[i].gaps &&
			   (!table[i].gaps ||
			    control->gap_head == (table[i].stop_on_wrap ? bytes : 0)),
		   "%s: losses, and where", table[i].what);
		for (u64 p = 0; p < bytes; p++)
			good &= machine.data[0][p + (table[i].gaps && !table[i].stop_on_wrap)] ==
				plain_byte(table[i].from + p);
		ok(good, "%s: the bytes are those of the stream", table[i].what);
		over();
	}

	begin(1, 4096, 64, 4096);
	sink->control |= TR_RAM_CONTROL_STOP_ON_WRAP;
	hw_take(1024);
	hw.outside = true;
	stop();
	ok(sink->fault && !drained(), "stopped outside of its ring: no trace");
	over();
}

static void test_shared(void)
{
	/* The sources of overwritten messages are unknown. */
	begin(2, 4096, 64, 65536);
	hw.byte = message_byte;
	sink->dealt = true;
	sink->src_bits = MESSAGE_SRC_BITS;
	hw_take(1024);
	ntrace_drain_flush(feed);
	ok(!machine.capture[0].feed.ended && !machine.capture[1].feed.ended, "no trace has ended");
	hw_take(8192);
	ntrace_drain_flush(feed);
	ok(!machine.control[0].lost && !machine.control[1].lost && machine.control[0].gaps == 1 &&
		   machine.control[1].gaps == 1 && machine.control[1].loss == NTRACE_LOSS_LAPPED,
	   "lapped, separated for two: each has a gap, and may have lost nothing");
	over();

	begin(1, 4096, 64, 65536);
	hw.byte = message_byte;
	sink->dealt = true;
	sink->src_bits = MESSAGE_SRC_BITS;
	hw_take(8192);
	ntrace_drain_flush(feed);
	ok(control->lost, "separated for one: all lost bytes count as its own");
	over();

	begin(2, 4096, 64, 65536);
	hw_take(5120);
	ntrace_drain_flush(feed);
	ok(machine.control[0].lost == 5120 - 64 && machine.control[1].lost == 5120 - 64,
	   "two files: all lost bytes count for both");
	over();
}

/* One encoder has stopped; the messages of others push its messages on. */
static unsigned int pushes;

static void push(enum host_event event)
{
	if (pushes && (event == HOST_BARRIER || event == HOST_LOOK)) {
		pushes--;
		hw_take(64);
	}
}

/* The messages numbered in @ending belong to source 0, the others to source 1. */
struct ending {
	unsigned int number, tcode;
};

static const struct ending *ending;

static u8 ending_byte(u64 position)
{
	for (const struct ending *e = ending; e->tcode; e++) {
		if (position / MESSAGE != e->number)
			continue;
		if (position % MESSAGE == 0)
			return (u8)(e->tcode << 2);
		if (position % MESSAGE == 1)
			return 0;
	}
	return position % MESSAGE == 1 ? 1 << 2 : message_byte(position);
}

/* The encoder and the funnels are empty; the sink has taken @taken bytes. */
static void begin_ending(const struct ending *messages, u64 taken)
{
	begin(2, 4096, 64, 65536);
	hw.byte = ending_byte;
	ending = messages;
	sink->dealt = true;
	sink->src_bits = MESSAGE_SRC_BITS;
	hw_take(taken);
}

/* Each hart of a shared sink can change its AUX area at any time. */
static void test_paused(void)
{
	begin(2, 4096, 64, 16384);
	hw_take(1024);
	ntrace_turn_pause(&machine.capture[0].feed, true);
	ntrace_turn_pause(&machine.capture[1].feed, true);
	ntrace_drain_flush(feed);
	is_u64(control->head, 0, "two captures change their data areas: the drain waits");
	ntrace_turn_pause(&machine.capture[0].feed, false);
	ntrace_drain_flush(feed);
	is_u64(control->head, 0, "one has finished: it waits for the other one");
	ntrace_turn_pause(&machine.capture[1].feed, false);
	ntrace_drain_flush(feed);
	is_u64(control->head, 1024 - 64, "both have finished: it continues");
	over();
}

/* The end of a turn, as in ntrace_path_disable_atomic(). */
static bool turn_ends(struct ntrace_feed *to)
{
	struct ntrace_turn_way way;

	ntrace_turn_measure(to, &way);
	return ntrace_turn_leave(to, &way, now + NTRACE_DRAIN_END_US * NSEC_PER_USEC, 0, 0);
}

static void test_await_end(void)
{
	static const struct ending one[] = { { 5, 33 }, { 0, 0 } };
	static const struct ending two[] = { { 5, 33 }, { 100, 9 }, { 101, 33 }, { 0, 0 } };
	static const struct ending rest[] = { { 5, 33 }, { 101, 9 }, { 0, 0 } };
	u64 before, taken = 128 * MESSAGE;

	begin_ending(one, 640);
	hw.at = push;
	pushes = U32_MAX;
	ok(turn_ends(feed) && feed->ended && control->head == MESSAGE,
	   "others push it out: the end arrives");
	over();

	/* A filter ended one section of trace; the next section was still in the sink. */
	begin_ending(two, taken);
	hw.at = push;
	ok(turn_ends(feed) && feed->ended && control->head == 3 * MESSAGE,
	   "an earlier end: it waits for all later trace");
	ok(hw.pointer >= taken + 128, "others have pushed out the last granule");
	over();

	begin_ending(rest, taken);
	hw.at = push;
	ok(!turn_ends(feed) && !feed->ended && !feed->late.reach,
	   "all has arrived, and the last message is no end");
	over();

	begin_ending(two, taken);
	before = now;
	ok(!turn_ends(feed), "no trace pushes it out: some may be missing");
	ok(now - before >= 130000 && now - before < 140000, "and it waits 130 us");
	over();

	begin_ending(two, taken);
	hw.at = push;
	pushes = U32_MAX;
	memory_ns = 1000;
	before = now;
	ok(!turn_ends(feed) && feed->late.stale,
	   "memory is slow: the rest is dropped when it comes");
	ok(now - before >= 100000 && now - before < 1100000, "after 100 us and a slice");
	memory_ns = 0;
	over();

	/* The last bytes fill one granule; the next granule shows that they are in memory. */
	for (unsigned int granules = 1; granules <= 2; granules++) {
		begin_ending(one, taken);
		hw.at = push;
		pushes = granules;
		is_u64(turn_ends(feed), granules == 2,
		       "others push out %u granules: is it complete?", granules);
		over();
	}

	for (unsigned int drops = 0; drops < 2; drops++) {
		struct ntrace_turn_way way;

		begin_ending(one, 3200);
		ntrace_turn_measure(feed, &way);
		hw_settle();
		hw.running = false;
		machine.capture[1].feed.counts = true;
		memory_ns = drops ? 1000 : 0;
		ntrace_drain_end(&machine.capture[1].feed, 0, true);
		memory_ns = 0;
		machine.capture[1].feed.counts = false;
		before = now;
		is_u64(ntrace_turn_leave(feed, &way, U64_MAX / 2, 0, 0), !drops,
		       "another hart stops the sink%s", drops ? " and gives up trace" : "");
		ok(now - before < 10000, "there is nothing to wait for");
		over();
	}

	begin_ending(one, 0);
	hw.outside = true;
	ok(!turn_ends(feed) && feed->fault, "a write pointer that left the ring: no end");
	over();
}

int main(void)
{
	random_begin(random_seed(4), 0);
	test_settled();
	test_slices();
	test_overwrite();
	test_lapped_at();
	test_restart();
	test_timer();
	test_sink_failure();
	test_hush();
	test_busy();
	test_pace();
	test_copies();
	test_read();
	test_fault();
	test_stuck();
	test_whole();
	test_shared();
	test_paused();
	test_await_end();
	drain_free();
	return done_testing();
}
