// SPDX-License-Identifier: GPL-2.0-only
/*
 * The drain with a sink that continues to write while it is read: laps, writes in flight, wrong
 * pointers; and on a slow hart. The reader must get the stream in pieces, with a mark at each gap.
 * Rules: "Draining and loss" in Documentation/trace/ntrace.rst, and include/uapi/linux/ntrace.h.
 */
#include <tap.h>

#include "host/drain.h"

/* The sink does not move during a drain, so the number of lost bytes is exact. */
static void test_lapped(void)
{
	static const struct {
		const char *what;
		u64 first, then, lost;
		bool stopped;
	} table[] = {
		/* 4096 bytes of ring, granules of 64; drained: first - 64 */
		{ "a round but one granule", 1024, 4096 - 128, 0, false },
		{ "to the canary", 1024, 4096 - 64, 4096 - 64, false },
		{ "a round", 1024, 4096, 4096, false },
		{ "a round and a half", 1024, 6144, 6144, false },
		{ "two rounds but two granules", 1024, 8192 - 128, 8192 - 128, false },
		/* With more than two rounds, the driver misses one. */
		{ "two rounds and a half", 1024, 10240, 6144, false },
		{ "a round, to the end of the ring", 4096 + 64, 8192, 4096, false },
		{ "stopped, a round but one granule", 1024, 4096 - 128, 0, true },
		{ "stopped, to the canary", 1024, 4096 - 64, 4096, true },
		{ "stopped, a round and a half", 1024, 6144, 6144 + 64, true },
	};

	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		begin(1, 4096, 64, 16384);
		hw_take(64);
		for (u64 done = 64; done < table[i].first; done += 1024 - 64) {
			hw_take(table[i].first - done < 1024 - 64 ? table[i].first - done :
								    1024 - 64);
			ntrace_drain_flush(feed);
			if (hw.pointer == table[i].first)
				break;
		}
		hw_take(table[i].then);
		if (table[i].stopped)
			stop();
		else
			ntrace_drain_flush(feed);
		is_u64(control->lost, table[i].lost, "%s: bytes lost", table[i].what);
		is_u64(control->gaps, !!table[i].lost, "%s: gaps", table[i].what);
		is_u64(control->loss, table[i].lost ? NTRACE_LOSS_LAPPED : 0, "%s: cause",
		       table[i].what);
		if (!table[i].stopped) {
			hw_take(512);
			stop();
		}
		read_all();
		struct found found = reader_judge_plain(&readers[0], hw.pointer);

		is_str(found.wrong ? found.wrong : "no", "no", "%s: anything wrong?",
		       table[i].what);
		is_u64(found.missing % 4096, table[i].lost % 4096,
		       "%s: missing bytes, except whole rounds", table[i].what);
		over();
	}
}

static void test_lapped_meanwhile(void)
{
	begin(1, 4096, 64, 65536);
	hw_take(3072);
	lap_when(HOST_COPY, 0, 1, 4096);
	ntrace_drain_flush(feed);
	ok(control->loss == NTRACE_LOSS_LAPPED && control->head == 1,
	   "overtaken during the copy: none of it is visible");
	is_u64(behind(), 64, "it continues at the last granule but one");
	judge("overtaken during the copy");

	begin(1, 4096, 64, 65536);
	hw_take(3072);
	lap_when(HOST_COPY, 0, 1, 1536);
	ntrace_drain_flush(feed);
	ok(control->loss == NTRACE_LOSS_LAPPED && control->head == 1,
	   "half a round during the copy: too");
	judge("half a round during the copy");

	begin(1, 4096, 64, 65536);
	hw_take(2048);
	lap_when(HOST_COPY, 0, 1, 1024);
	ntrace_drain_flush(feed);
	ok(!control->loss && control->head >= 2048 - 64, "a quarter during the copy: no loss");
	judge("a quarter during the copy");

	/*
	 * The sink has lapped the driver, and laps it again between the two canaries of a restart.
	 */
	begin(1, 4096, 64, 65536);
	hw_take(6144);
	lap_when(HOST_SET, 0, 1, 4096 + 320);
	ntrace_drain_flush(feed);
	is_u64(behind(), 64, "lapped again during a restart: it restarts again");
	judge("lapped again");

	begin(1, 4096, 64, 65536);
	hw_take(6144);
	lap_when(HOST_BARRIER, 1, 1, 4096 + 320);
	ntrace_drain_flush(feed);
	is_u64(behind(), 64, "lapped after the second canary: it restarts again");
	judge("lapped after the second canary");

	begin(1, 4096, 64, 65536);
	hw_take(6144);
	lap_when(HOST_BARRIER, 0, ~0u, 4096 + 64);
	hw.pointer_reads = 0;
	ntrace_drain_flush(feed);
	is_u64(hw.pointer_reads, 5, "lapped repeatedly: three attempts, then the next drain");
	judge("lapped repeatedly");

	begin(1, 4096, 64, 65536);
	hw_take(6144);
	hw.pointer_reads = 0;
	ntrace_drain_flush(feed);
	is_u64(hw.pointer_reads, 3, "a sink that stands still: one attempt");
	judge("lapped once");
}

/* The driver sets a canary when the sink has just wrapped: it must not read the canary as trace. */
static void test_canary_in_the_way(void)
{
	for (u64 bytes = 4096 - 256; bytes <= 4096 + 64; bytes += 64) {
		char what[64];

		snprintf(what, sizeof(what), "%llu bytes before the first canary",
			 (unsigned long long)bytes);
		begin(1, 4096, 64, 65536);
		hw_take(6144);
		lap_when(HOST_READ_BARRIER, 0, 1, bytes);
		ntrace_drain_flush(feed);
		hw_take(640);
		ntrace_drain_flush(feed);
		judge(what);
	}

	/* The canary lies where a write is in flight, and disappears when that write completes. */
	begin(1, 4096, 64, 65536);
	hw_take(6144);
	hw.in_flight = 64;
	hw.late = true;
	lap_when(HOST_LOOK, 0, 1, 4096 - 64);
	ntrace_drain_flush(feed);
	is_u64(behind(), 64, "a canary that a late write overwrites: that write is read");
	hw_take(640);
	ntrace_drain_flush(feed);
	is_u64(control->gaps, 1, "and not counted as another lap");
	judge("a late write");
}

/* The sink moves at all times; the test checks the data afterwards. */
struct situation {
	size_t ring, data;
	unsigned int granule, least, in_flight, pace, lap, harts;
	bool dealt;
};

static void judge_situation(const struct situation *s, unsigned int number, const char **wrong)
{
	for (unsigned int i = 0; i < s->harts && !*wrong; i++) {
		struct ntrace_control *c = &machine.control[i];
		struct found found =
			s->dealt ? reader_judge_messages(&readers[i], hw.pointer, i,
							 c->loss & NTRACE_LOSS_DATA_FULL) :
				   reader_judge_plain(&readers[i], hw.pointer);
		u64 missing = found.missing;

		if (found.wrong)
			*wrong = found.wrong;
		else if (found.marks != c->gaps)
			*wrong = "not a mark for each hole";
		else if (!c->gaps != !c->loss)
			*wrong = "a hole without a cause, or a cause without one";
		else if (c->loss & ~(NTRACE_LOSS_LAPPED | NTRACE_LOSS_DATA_FULL))
			*wrong = "a cause that there was not";
		else if (!s->dealt && (c->lost > missing ||
				       (s->least == s->granule && (missing - c->lost) % s->ring)))
			*wrong = "not a lower bound by whole rounds";
		else if (!s->dealt && !(c->loss & NTRACE_LOSS_LAPPED) && c->lost != missing)
			*wrong = "what was lost is not exact";
	}
	if (!*wrong)
		*wrong = hw.disorder;
	if (*wrong)
		diag("case %u: %s; ring %zu, granule %u (%u), data %zu, pace %u, lap %u, "
		     "in flight %u, %u captures",
		     number, *wrong, s->ring, s->granule, s->least, s->data, s->pace, s->lap,
		     s->in_flight, s->harts);
}

static bool run(const struct situation *s, unsigned int number)
{
	const char *wrong = NULL;

	begin_width(s->harts, s->ring, s->granule, s->least, s->data);
	hw.in_flight = s->in_flight;
	hw.pace = s->pace;
	hw.lap = s->lap;
	if (s->dealt) {
		hw.byte = message_byte;
		sink->dealt = true;
		sink->src_bits = MESSAGE_SRC_BITS;
	}
	for (int i = 0; i < 150 && hw.pointer < READER_MAX / 2; i++) {
		struct ntrace_feed *who = &machine.capture[random_below(s->harts)].feed;

		if (random_below(2))
			hw_take(random_below(s->ring / 2 / s->granule) * s->granule);
		hw.pace = random_below(4) ? s->pace : 0;
		switch (random_below(4)) {
		case 0:
			ntrace_drain_flush(who);
			break;
		case 1:
			ntrace_drain_timer(&who->timer);
			break;
		default:
			ntrace_drain_step(who);
		}
		for (unsigned int hart = 0; hart < s->harts; hart++)
			if (random_below(3))
				reader_read(&machine, hart, random_below(s->data) + 1);
	}
	/* The stream ends at a message boundary. */
	if (s->dealt && hw.pointer % MESSAGE)
		hw_take(MESSAGE - hw.pointer % MESSAGE);
	stop();
	read_all();
	judge_situation(s, number, &wrong);
	if (!wrong && s->least < s->granule && hw.pointer / s->ring && sink->wrapped &&
	    sink->ring_size != s->ring)
		wrong = "a ring of another size";
	over();
	return !wrong;
}

static void test_situations(u64 seed)
{
	static const char *const names[] = { "slow sinks",
					     "sinks that lap",
					     "writes in flight",
					     "messages dealt out",
					     "two files of a sink",
					     "granules of unknown width",
					     "messages in granules of unknown width" };
	unsigned int number = 0;

	for (unsigned int kind = 0; kind < ARRAY_SIZE(names); kind++) {
		bool good = true;

		for (int round = 0; round < 60 && good; round++) {
			random_begin(seed, number++);
			unsigned int granule = 4u << random_below(6);
			struct situation s = {
				.granule = granule,
				.least = granule,
				.ring = (size_t)granule * (8u << random_below(6)),
				.data = 256u << random_below(9),
				.pace = (unsigned int)random_below(3),
				.lap = kind ? 20 + (unsigned int)random_below(100) : 0,
				.harts = 1,
			};

			if (kind == 2)
				s.in_flight = granule;
			if (kind == 3) {
				s.dealt = true;
				s.harts = MESSAGE_HARTS;
				s.in_flight = granule;
			}
			if (kind == 4)
				s.harts = 2;
			if (kind >= 5) {
				s.granule = 8u << random_below(10);
				s.least = min(4u << random_below(10), s.granule / 2);
				s.ring = (4096u << random_below(3)) + s.granule;
				s.in_flight = s.granule;
				s.data = 8192u << random_below(4);
			}
			if (kind == 6) {
				s.dealt = true;
				s.harts = MESSAGE_HARTS;
			}
			good = run(&s, number - 1);
		}
		ok(good, "%s: the stream, and a mark where it is not", names[kind]);
	}
}

/* On a slow hart, the interrupt takes longer than the interval, and the task made no progress. */
static ktime_t late_by(ktime_t late, unsigned int times)
{
	ktime_t next = 0;

	feed->timer.late = late;
	while (times--)
		next = ntrace_drain_step(feed);
	return next;
}

static void test_delays(void)
{
	begin(1, 4096, 64, 8192);
	feed->interval = feed->pace = 50000;
	is_u64(late_by(30000, 1024), 120000, "all expiries are late: four times the delay");
	is_u64(late_by(13000, 1), 52000, "less late: of this delay");
	is_u64(late_by(0, 1), 50000, "one is not late: the interval");
	is_u64(late_by(60000, 100), 50000, "a hundred are late after that: the interval");
	is_u64(late_by(10000, 1024), 50000, "all are late, hardly: the interval");
	feed->timer.late = 0;
	stop();
	over();

	/* Other harts may fill a shared sink faster than it is drained, so that trace is always waiting. */
	begin(1, 1 << 20, 64, 2 << 20);
	for (unsigned int late = 10000; late <= 30000; late += 20000) {
		feed->timer.late = late;
		for (int n = 0; n < 1024; n++)
			ntrace_drain_step(feed);
		hw_take(20 << 10);
		is_u64(ntrace_drain_step(feed), late > 10000 ? 4 * late : 10000,
		       "late by %u ns while trace is waiting: the pause", late);
	}
	feed->timer.late = 0;
	stop();
	over();
}

int main(void)
{
	u64 seed = random_seed(3);

	random_begin(seed, 0);
	test_lapped();
	test_lapped_meanwhile();
	test_canary_in_the_way();
	test_situations(seed);
	test_delays();
	drain_free();
	return done_testing();
}
