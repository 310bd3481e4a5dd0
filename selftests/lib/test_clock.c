// SPDX-License-Identifier: GPL-2.0-only
/*
 * Clocks of streams (lib/session/clock.h) against simulated ones. The simulation knows the true time
 * of each timestamp. Each reported time must be within its bound of the true one, lie in the turn,
 * and not go back.
 *
 *     OUT     s w i t c h     IN        the records of the kernel
 *      |         |   m         |        m: the message that reports the switch
 */
#include <ntrace/params.h>

#include "session/clock.h"

#include "tap.h"

#define SECOND UINT64_C(1000000000)

static uint64_t seed;

static uint64_t any(uint64_t below)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed % below;
}

/* ---- a simulated hart and its counter ---- */

static struct stream_clock hart_clock;
static uint64_t hz, now;
static unsigned __int128 counted;	/* the counter, in ticks / 10^15 */
static int drift;			/* of the counter, in parts per million */
static bool in_pieces;
static uint64_t turn_first, turn_end, last_ns, last_error;
static unsigned int reads, unknown, wrong, back, outside;
static uint64_t worst;	/* distance from the true time, beyond the bound */
static bool unchecked;	/* the counter is wrong, and no switch has shown it yet */

static uint64_t ticks(void)
{
	return (uint64_t)(counted / 1000000 / SECOND);
}

static void wait(uint64_t ns)
{
	now += ns;
	counted += (unsigned __int128)ns * hz * (uint64_t)(1000000 + drift);
}

static void begin(uint64_t frequency, uint64_t counter, int ppm, uint64_t start)
{
	struct ntrace_params params;

	ntrace_params_init(&params);
	params.timestamp_bits = 64;
	params.timestamp_hz = hz = frequency;
	counted = (unsigned __int128)counter * SECOND * 1000000;
	drift = ppm;
	stream_clock_init(&hart_clock, &params, start, in_pieces);
	turn_first = 0;
	turn_end = UINT64_MAX;
	last_ns = last_error = worst = 0;
	reads = unknown = wrong = back = outside = 0;
	unchecked = false;
}

/* A message with a timestamp. */
static void stamp(void)
{
	uint64_t ns = 0, error = 0, distance;

	reads++;
	if (!stream_clock_read(&hart_clock, ticks(), &ns, &error)) {
		unknown++;
		return;
	}
	back += ns < last_ns;
	outside += ns < turn_first || ns > turn_end;
	distance = ns > now ? ns - now : now - ns;
	/* Whole nanoseconds: the bound is exact up to one. */
	if (!unchecked && distance > error + 1) {
		if (!wrong++)
			diag("read %u: true %" PRIu64 ", got %" PRIu64 ", bound %" PRIu64, reads,
			     now, ns, error);
		if (distance - error > worst)
			worst = distance - error;
	}
	last_ns = ns;
	last_error = error;
}

/* A turn of @length ns with @stamps messages, up to the OUT record of the switch at its end. */
static void run_turn(uint64_t length, unsigned int stamps)
{
	uint64_t each = length / (stamps + 1);

	for (unsigned int i = 0; i < stamps; i++) {
		wait(each);
		stamp();
	}
	wait(length - each * stamps);
}

/*
 * The switch at the end of a turn. @width: from OUT to IN. The turn that comes is @length ns long,
 * and its switch takes @next_width. The hart executes the switch at some time between OUT and IN; the
 * message that reports it comes afterwards, perhaps after IN.
 */
static void take_switch(uint64_t width, uint64_t length, uint64_t next_width)
{
	uint64_t left = now, came = now + width, executed = any(width);
	uint64_t message = left + executed + any(2 * (width - executed) + 1);

	turn_first = left;
	turn_end = (message > came ? message : came) + length + next_width;
	wait(message - left);
	stream_clock_turn(&hart_clock, turn_first, turn_end);
	stamp();
	stream_clock_switch(&hart_clock, left, came);
	if (now < came)
		wait(came - now);
}

static void report(const char *name)
{
	ok(!wrong, "%s: %u of %u times are farther off than their bound, by up to %" PRIu64 " ns",
	   name, wrong, reads, worst);
	ok(!back, "%s: times never go back: %u", name, back);
	ok(!outside, "%s: times lie in the turn: %u do not", name, outside);
}

/* A switch that takes *@width, and a turn; *@width: set to that of the switch after it. */
static void go_on(uint64_t *width, uint64_t length, uint64_t widths, unsigned int stamps)
{
	uint64_t next_length = 10 + any(length), next_width = 1 + any(widths);

	take_switch(*width, next_length, next_width);
	run_turn(next_length, stamps);
	*width = next_width;
}

/* ---- true clocks ---- */

static void test_true_clocks(void)
{
	static const struct {
		const char *name;
		uint64_t hz;
		uint64_t length, width;
		int drift;
	} cases[] = {
		{ "1 GHz", SECOND, 1000000, 5000, 0 },
		{ "3 GHz", 3 * SECOND, 1000000, 5000, 0 },
		{ "10 MHz", 10000000, 1000000, 5000, 0 },
		{ "1 MHz", 1000000, 1000000, 5000, 0 },
		{ "32768 Hz", 32768, 10000000, 5000, 0 },
		{ "1 GHz, fast", SECOND, 1000000, 5000, 99 },
		{ "1 GHz, slow", SECOND, 1000000, 5000, -99 },
		{ "1 GHz, slow, turns of up to 10 s", SECOND, 10 * SECOND, 5000, -99 },
		{ "1 GHz, fast, turns of up to 10 s", SECOND, 10 * SECOND, 5000, 99 },
		{ "long switches", SECOND, 1000000, 10000000, 50 },
		{ "short switches", SECOND, 1000, 2, 10 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t width = 1000;

		seed = 12345 + i;
		now = 1 + any(1000 * SECOND);
		begin(cases[i].hz, any(cases[i].hz * 1000), cases[i].drift, 0);
		stream_clock_turn(&hart_clock, 0, UINT64_MAX);
		run_turn(1000, 3);
		is_u64(reads - unknown, 0, "%s: no time is known before the first switch",
		       cases[i].name);
		for (unsigned int k = 0; k < 400; k++)
			go_on(&width, cases[i].length, cases[i].width, (unsigned int)any(6));
		ok(unknown < 30, "%s: times are known from the first switches on: all but %u",
		   cases[i].name, unknown);
		report(cases[i].name);
	}
}

/* The drift changes, within its limits: as the temperature of two oscillators does. */
static void test_wandering(void)
{
	uint64_t width = 1000;

	seed = 99;
	now = 5 * SECOND;
	begin(SECOND, 77, 0, 0);
	stream_clock_turn(&hart_clock, 0, UINT64_MAX);
	run_turn(1000, 3);
	for (unsigned int k = 0; k < 3000; k++) {
		drift = (int)any(199) - 99;
		go_on(&width, k % 10 ? 200000 : SECOND, 1 + any(20000), (unsigned int)any(9));
	}
	report("wandering");
}

static void test_shrinks(void)
{
	uint64_t width = 20000, first = 0;

	seed = 7;
	now = SECOND;
	begin(SECOND, 12345678, 0, 0);
	stream_clock_turn(&hart_clock, 0, UINT64_MAX);
	run_turn(1000, 5);
	for (unsigned int k = 0; k < 300; k++) {
		go_on(&width, 20000, 20000, 5);
		if (!first)
			first = last_error;
	}
	/* A switch of 20000, and the messages before and after it, of which the first is in the turn. */
	ok(first && first <= 30000, "one switch limits the time: %" PRIu64, first);
	ok(last_error < 1000, "many switches limit it more than one: %" PRIu64, last_error);
	report("many switches");
	first = last_error;
	turn_end = UINT64_MAX;
	stream_clock_turn(&hart_clock, turn_first, turn_end);
	run_turn(10 * SECOND, 2);
	ok(last_error > first, "the bound grows while no switch limits it: %" PRIu64, last_error);
}

/* The start of the trace, whose time the driver reports. */
static void test_start(void)
{
	unsigned int bad = 0;

	seed = 3;
	for (unsigned int i = 0; i < 100; i++) {
		now = 1 + any(1000 * SECOND);
		begin(SECOND, any(UINT64_C(1) << 50), (int)any(199) - 99, now);
		stream_clock_turn(&hart_clock, 0, UINT64_MAX);
		wait(any(2000));
		stamp();
		wait(1000);
		stamp();
		bad += unknown || wrong || back;
	}
	ok(!bad, "the start limits the first times: %u of 100 are wrong", bad);
	begin(0, 5, 0, 1000);
	stamp();
	is_u64(unknown, 1, "a counter of unknown frequency has no times");
}

/* No record and no start has a time: only durations are known, until there is a limit after all. */
static void test_assumed(void)
{
	uint64_t first, ns, error;

	now = 5 * SECOND;
	begin(SECOND / 4, 1000, 0, 0);
	stream_clock_assume(&hart_clock);
	unchecked = true;
	stamp();
	first = last_ns;
	is_u64(unknown, 0, "without any time in the recording, there are times");
	is_u64(first, 4 * 1000, "from where the counter is 0");
	is_u64(last_error, UINT64_MAX, "of an unknown bound");
	wait(12000);
	stamp();
	is_u64(last_ns - first, 12000, "their differences are right");
	stream_clock_switch(&hart_clock, now, now + 1000);
	wait(1000);
	ok(stream_clock_read(&hart_clock, ticks(), &ns, &error) && error < 20000,
	   "a limit ends that: %" PRIu64, error);
}

/* ---- pieces of perf ---- */

static void test_pieces(void)
{
	uint64_t last_end = 0;

	seed = 21;
	now = SECOND;
	in_pieces = true;
	begin(SECOND, 1000, 60, 0);
	for (unsigned int i = 0; i < 300; i++) {
		uint64_t length = 1000 + any(200000);

		wait(any(3000));
		turn_first = now;
		turn_end = now + length;
		stream_clock_turn(&hart_clock, turn_first, turn_end);
		stream_clock_piece(&hart_clock, turn_first, 0, turn_end, last_end);
		run_turn(length, 1 + (unsigned int)any(5));
		last_end = now;
	}
	is_u64(unknown, 0, "pieces: each time is known");
	report("pieces");
	in_pieces = false;
	ok(last_error < 20000, "pieces limit it: %" PRIu64, last_error);
}

/* ---- counters that are set, or stop ---- */

static void test_set(void)
{
	static const char *const names[] = { "set forwards", "set back", "the machine sleeps" };

	for (unsigned int how = 0; how < 3; how++) {
		uint64_t width = 1000;

		seed = 31 + how;
		now = 1000 * SECOND;
		begin(SECOND, 1000 * SECOND, 20, 0);
		stream_clock_turn(&hart_clock, 0, UINT64_MAX);
		run_turn(1000, 3);
		for (unsigned int k = 0; k < 300; k++) {
			if (k % 20 != 19) {
				go_on(&width, 100000, 3000, (unsigned int)any(6));
				unchecked = false;
				continue;
			}
			/* In the middle of a turn, with messages before and afterwards. */
			uint64_t sleep = how == 2 ? 100 * SECOND : 0;

			take_switch(width, 200000 + sleep, 1000);
			run_turn(100000, 3);
			unchecked = true;
			now += sleep;
			if (how < 2)
				counted =
					(unsigned __int128)(how ? 1 + any(SECOND) :
								  ticks() + SECOND + any(SECOND)) *
					SECOND * 1000000;
			run_turn(100000, 3);
			take_switch(1000, 100000, 1000);
			/* The first timestamp after the switch is what limits it. */
			wait(100);
			unchecked = false;
			run_turn(99900, 3);
			width = 1000;
		}
		report(names[how]);
	}
}

/* ---- hostile values ---- */

static uint64_t hostile(void)
{
	static const uint64_t values[] = { 0,
					   1,
					   2,
					   INT64_MAX,
					   UINT64_C(1) << 63,
					   UINT64_MAX - 1,
					   UINT64_MAX,
					   UINT64_C(1) << 62,
					   (UINT64_C(1) << 62) - 1,
					   3 * (UINT64_C(1) << 62),
					   SECOND,
					   UINT32_MAX };
	uint64_t which = any(16);

	return which < 12 ? values[which] : any(which < 14 ? SECOND : UINT64_MAX);
}

/* The sanitizers stop at undefined behaviour. */
static void test_hostile(void)
{
	unsigned int decreasing = 0, known = 0;

	seed = 1;
	for (unsigned int round = 0; round < 20000; round++) {
		struct ntrace_params params;
		uint64_t last = 0;

		ntrace_params_init(&params);
		params.timestamp_bits = any(20) ? 64 : 0;
		params.timestamp_hz = any(2) ? hostile() : SECOND;
		stream_clock_init(&hart_clock, &params, any(2) ? hostile() : 0, any(2));
		for (unsigned int i = 0; i < 30; i++) {
			uint64_t ns, error;

			switch (any(6)) {
			case 0:
				stream_clock_turn(&hart_clock, hostile(), hostile());
				break;
			case 1:
				stream_clock_switch(&hart_clock, hostile(), hostile());
				break;
			case 2:
				stream_clock_piece(&hart_clock, hostile(), hostile(), hostile(),
						   hostile());
				break;
			default:
				if (!stream_clock_read(&hart_clock, hostile(), &ns, &error))
					break;
				known++;
				decreasing += ns < last;
				last = ns;
			}
		}
	}
	ok(known > 10000, "hostile values: %u times", known);
	is_u64(decreasing, 0, "hostile values: times never go back");
}

/* A piece of 117 us in a record of 600 us: where it lies is not known, how long it takes is. */
static void test_durations(void)
{
	uint64_t first, last, error;

	in_pieces = true;
	begin(SECOND, 12345678, 0, 0);
	stream_clock_piece(&hart_clock, SECOND, 0, SECOND + 600000, 0);
	stream_clock_turn(&hart_clock, SECOND, SECOND + 600000);
	ok(stream_clock_read(&hart_clock, 5000, &first, &error) &&
		   stream_clock_read(&hart_clock, 5000 + 480000, &last, &error),
	   "times of a piece");
	is_u64(last - first, 480000, "a piece takes as long as its ticks say");
	ok(error >= 590000, "what is not known of its time is in the bound: %" PRIu64, error);
}

int main(void)
{
	test_true_clocks();
	test_wandering();
	test_shrinks();
	test_start();
	test_assumed();
	test_pieces();
	test_set();
	test_hostile();
	test_durations();
	return done_testing();
}
