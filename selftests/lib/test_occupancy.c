// SPDX-License-Identifier: GPL-2.0-only
/* Execution of threads on CPUs over time, from hand-made events: cells, slots and shares of time. */
#include <stdlib.h>

#include <ntrace/functions.h>
#include <ntrace/occupancy.h>

#include "session/session.h"
#include "tap.h"

static struct ntrace_profile *profile;
static const struct ntrace_occupancy *occupancy;
static int32_t process = 7, thread = 7;
static unsigned int privilege, cpu;
static const char *name = "seven";
static uint64_t offset, stamp, turn_end;
static bool stamped, cut, unlocated;
static uint32_t error;

static struct ntrace_params params[2];
static struct ntrace_stream streams[2] = { { .params = &params[0] }, { .params = &params[1] } };
static struct ntrace_recording recording = { .streams = streams };
static struct ntrace_session session = { .recording = &recording, .streams = streams };

/* @bits: of the timestamps, 0 for none */
static void begin_with(unsigned int count, unsigned int bits)
{
	const struct ntrace_profile_options options = { .size = sizeof(options),
							.parts = NTRACE_PROFILE_OCCUPANCY,
							.session = &session };

	recording.stream_count = count;
	for (unsigned int i = 0; i < 2; i++) {
		ntrace_params_init(&params[i]);
		params[i].timestamp_bits = bits;
		params[i].timestamp_hz = 1000;
	}
	process = thread = 7;
	name = "seven";
	privilege = NTRACE_PRIV_U;
	cpu = 0;
	offset = 0;
	stamped = false;
	error = 0;
	if (ntrace_profile_new(&profile, &options))
		ok(false, "a profile");
}

static void begin(unsigned int bits)
{
	begin_with(1, bits);
}

static void runs(uint32_t instructions)
{
	const struct ntrace_flow_event flow = { .type = NTRACE_FLOW_BLOCK,
						.instructions = instructions,
						.offset = offset,
						.time = stamp,
						.time_known = stamped };
	const struct ntrace_session_event event = { .flow = &flow,
						    .cpu = cpu,
						    .pid = process,
						    .tid = thread,
						    .comm = name,
						    .privilege = privilege,
						    .turn_end = turn_end,
						    .cut = cut,
						    .time = stamp,
						    .time_error = error,
						    .time_unit = !stamped || unlocated ?
									 NTRACE_TIME_NONE :
								 params[0].timestamp_hz ?
									 NTRACE_TIME_NANOSECONDS :
									 NTRACE_TIME_TICKS };

	if (ntrace_profile_event(profile, &event))
		ok(false, "an event is taken");
}

/* The next message has this timestamp. */
static void at(uint64_t time)
{
	offset++;
	stamp = time;
	stamped = true;
}

static void finish(void)
{
	ntrace_profile_end(profile);
	occupancy = ntrace_profile_occupancy(profile);
}

static void end(void)
{
	ntrace_profile_free(profile);
	profile = NULL;
}

/* "THREAD:INSTRUCTIONS/KERNEL/TICKS ..." of a cell of CPU @of */
static const char *cell(size_t of, size_t index)
{
	static char text[200];
	const struct ntrace_occupancy_slot *slots = occupancy->cpus[of]->cells[index].slots;
	size_t used = 0;

	text[0] = '\0';
	for (unsigned int i = 0; i < NTRACE_OCCUPANCY_SLOTS; i++)
		if (slots[i].sum.instructions || slots[i].sum.ticks)
			used += (size_t)sprintf(text + used, "%s%u:%u/%u/%u", used ? " " : "",
						slots[i].task,
						(unsigned int)slots[i].sum.instructions,
						(unsigned int)slots[i].sum.kernel,
						(unsigned int)slots[i].sum.ticks);
	return text;
}

/* The sum of all cells of CPU @of. */
static struct ntrace_occupancy_sum all_cells(size_t of)
{
	struct ntrace_occupancy_sum sum = { 0 };

	for (size_t i = 0; i < NTRACE_OCCUPANCY_CELLS; i++)
		for (unsigned int k = 0; k < NTRACE_OCCUPANCY_SLOTS; k++) {
			const struct ntrace_occupancy_sum *more =
				&occupancy->cpus[of]->cells[i].slots[k].sum;

			sum.instructions += more->instructions;
			sum.kernel += more->kernel;
			sum.ticks += more->ticks;
		}
	return sum;
}

/* ---- cells of instructions ---- */

static void test_instructions(void)
{
	static const struct {
		uint32_t instructions;
		unsigned int width, used;
		const char *last;
	} cases[] = {
		{ 1, 1, 1, "1:1/0/0" },		{ 1023, 1, 1023, "1:1/0/0" },
		{ 1024, 2, 512, "1:2/0/0" },	{ 2047, 2, 1024, "1:1/0/0" },
		{ 2048, 4, 512, "1:4/0/0" },	{ 3001, 4, 751, "1:1/0/0" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		begin(0);
		runs(cases[i].instructions);
		finish();
		ok(occupancy->cpus[0]->width == cases[i].width &&
			   occupancy->cpus[0]->used == cases[i].used,
		   "%u instructions: %u cells of %u", cases[i].instructions,
		   (unsigned int)occupancy->cpus[0]->used, (unsigned int)occupancy->cpus[0]->width);
		is_str(cell(0, cases[i].used - 1), cases[i].last, "the last one");
		is_u64(all_cells(0).instructions, cases[i].instructions, "all are in cells");
		if (cases[i].used < NTRACE_OCCUPANCY_CELLS)
			is_str(cell(0, cases[i].used), "", "but no more");
		ok(!occupancy->timed && !occupancy->stamps && !occupancy->sum.ticks &&
			   !occupancy->cpus[0]->begin,
		   "without time");
		end();
	}
	begin(0);
	runs(0);
	finish();
	is_u64(occupancy->cpus[0]->used, 0, "a block without instructions uses no cell");
	end();
	/* Blocks of one instruction each, of two threads in turn, until cells have two of them. */
	begin(0);
	for (unsigned int i = 0; i < 1500; i++) {
		thread = i % 2 ? 8 : 7;
		privilege = i % 4 < 2 ? NTRACE_PRIV_U : NTRACE_PRIV_S;
		runs(1);
	}
	finish();
	is_u64(occupancy->cpus[0]->width, 2, "cells become wider");
	is_str(cell(0, 0), "1:1/0/0 2:1/0/0", "two cells become one, with both threads");
	is_str(cell(0, 1), "1:1/1/0 2:1/1/0", "also of the kernel");
	is_str(cell(0, 749), "1:1/1/0 2:1/1/0", "up to the last one");
	is_u64(occupancy->cpus[0]->used, 750, "their number");
	is_u64(occupancy->sum.kernel, 750, "half of them in the kernel");
	ok(occupancy->cpus[0]->tasks[1].instructions == 750 &&
		   occupancy->cpus[0]->tasks[1].kernel == 375,
	   "instructions of a thread");
	end();
}

/* A cell has slots for three threads, and one for the others. */
static void test_slots(void)
{
	begin(0);
	/* So that the cells have a width of 8. */
	runs(4096);
	for (unsigned int i = 0; i < 16; i++) {
		thread = (int32_t)(10 + i % 8);
		runs(1);
	}
	finish();
	is_u64(occupancy->cpus[0]->width, 8, "cells of 8 instructions");
	is_u64(occupancy->task_count, 10, "nine threads, and the entry for all others");
	is_str(cell(0, 512), "2:1/0/0 3:1/0/0 4:1/0/0 0:5/0/0",
	       "the fourth thread is one of the others");
	is_str(cell(0, 513), "2:1/0/0 3:1/0/0 4:1/0/0 0:5/0/0", "in each cell");
	end();
	/* Merging two cells of different threads. */
	begin(0);
	for (unsigned int i = 0; i < 1024; i++) {
		thread = (int32_t)(10 + i % 4);
		runs(1);
	}
	thread = 10;
	for (unsigned int i = 0; i < 1024; i++)
		runs(1);
	finish();
	is_u64(occupancy->cpus[0]->width, 4, "cells of 4 instructions");
	is_str(cell(0, 0), "1:1/0/0 2:1/0/0 3:1/0/0 0:1/0/0", "merged cells have the same slots");
	is_u64(all_cells(0).instructions, 2048, "nothing is lost");
	end();
}

/* ---- threads and CPUs ---- */

static void test_threads(void)
{
	unsigned int i;

	begin(0);
	runs(1);
	name = "eight";
	runs(1);
	process = 8;
	runs(1);
	thread = 8;
	runs(1);
	name = "a name of more than 31 characters, which is cut";
	runs(1);
	runs(1);
	name = "seven";
	process = thread = 7;
	runs(1);
	finish();
	is_u64(occupancy->task_count, 6, "a thread is known by process, number and name");
	/* In the order of process, thread and name. */
	is_u64(occupancy->cpus[0]->tasks[2].instructions, 2, "and found again");
	is_str(occupancy->tasks[4].comm, "a name of more than 31 characte", "a long name is cut");
	is_u64(occupancy->cpus[0]->tasks[4].instructions, 2, "and is still one thread");
	ok(occupancy->tasks[5].pid == 8 && occupancy->tasks[5].tid == 8, "its numbers");
	ok(occupancy->tasks[0].pid == -1 && occupancy->tasks[0].tid == -1,
	   "the entry for all others has none");
	end();
	begin(0);
	for (i = 0; i < NTRACE_OCCUPANCY_TASKS_MAX + 3; i++) {
		thread = (int32_t)i;
		runs(1);
	}
	finish();
	is_u64(occupancy->task_count, NTRACE_OCCUPANCY_TASKS_MAX, "there is a maximum of threads");
	is_u64(occupancy->cpus[0]->tasks[0].instructions, 4, "the others share an entry");
	is_u64(occupancy->cpus[0]->tasks[NTRACE_OCCUPANCY_TASKS_MAX - 1].instructions, 1,
	       "the last one has its own");
	end();
	begin(0);
	for (i = 0; i < 4; i++) {
		static const unsigned int order[] = { 5, 1, 9, 5 };

		cpu = order[i];
		runs(i + 1);
	}
	finish();
	ok(occupancy->cpu_count == 3 && occupancy->cpus[0]->number == 1 &&
		   occupancy->cpus[1]->number == 5 && occupancy->cpus[2]->number == 9,
	   "CPUs in order");
	ok(occupancy->cpus[0]->sum.instructions == 2 && occupancy->cpus[1]->sum.instructions == 5 &&
		   occupancy->cpus[2]->sum.instructions == 3 && occupancy->sum.instructions == 10,
	   "each with its instructions");
	end();
}

/* ---- cells of time ---- */

static void test_time(void)
{
	begin(40);
	at(1000);
	runs(10);
	at(1010);
	runs(30);
	thread = 8;
	privilege = NTRACE_PRIV_S;
	runs(10);
	at(1050);
	runs(5);
	at(1050);
	runs(7);
	finish();
	ok(occupancy->timed && occupancy->hz == 1000000000, "cells of time");
	is_u64(occupancy->stamps, 3, "of two equal timestamps the first one counts");
	is_u64(occupancy->sum.ticks, 50, "ticks from the first to the last timestamp");
	/*
	 * A message ends with its timestamp: the first 10 instructions precede 1000, the next 40 take
	 * 1000 to 1010, the 5 take 40 ticks; the last 7 have no end.
	 */
	is_u64(occupancy->untimed, 17, "instructions outside of them");
	is_u64(occupancy->cpus[0]->untimed, 17, "of the CPU");
	is_u64(occupancy->cpus[0]->tasks[1].ticks, 7, "ticks by instructions");
	is_u64(occupancy->cpus[0]->tasks[2].ticks, 43, "of the other thread");
	ok(occupancy->cpus[0]->begin == 1000 && occupancy->cpus[0]->width == 1 &&
		   occupancy->cpus[0]->used == 50,
	   "cells of a tick");
	is_str(cell(0, 0), "1:4/0/1", "30 instructions in 7 ticks: 4 in the first");
	is_str(cell(0, 6), "1:5/0/1", "5 in the last one");
	is_str(cell(0, 7), "2:3/3/1", "10 of the kernel in 3");
	is_str(cell(0, 49), "2:1/1/1", "5 in 40");
	ok(all_cells(0).instructions == 45 && all_cells(0).ticks == 50 && all_cells(0).kernel == 15,
	   "cells have all of it");
	end();

	/* Time that runs backwards. */
	begin(40);
	at(1000);
	runs(1);
	at(1010);
	runs(10);
	at(500);
	runs(20);
	at(520);
	runs(40);
	at(530);
	runs(1);
	finish();
	is_u64(occupancy->sum.ticks, 10 + 20 + 10, "a step backwards takes no time");
	is_u64(occupancy->untimed, 1 + 20, "nor do its instructions");
	is_u64(occupancy->cpus[0]->begin, 500, "cells begin with the earliest time");
	is_u64(occupancy->cpus[0]->width, 1, "and are as narrow as possible");
	is_u64(occupancy->cpus[0]->used, 510, "up to the last one");
	is_str(cell(0, 0), "1:2/0/1", "40 instructions in 20 ticks");
	is_str(cell(0, 500), "1:1/0/1", "those before stay where they were");
	is_str(cell(0, 499), "", "with nothing between");
	is_u64(all_cells(0).instructions, 10 + 40 + 1, "all are in cells");
	end();

	/* Far apart: cells are wider. */
	begin(40);
	at(0);
	runs(1);
	at(5000);
	runs(5000);
	at(5001);
	runs(1);
	at(5002);
	runs(0);
	finish();
	ok(occupancy->cpus[0]->width == 8 && occupancy->cpus[0]->used == 626, "cells of 8 ticks");
	is_str(cell(0, 0), "1:8/0/8", "the first one");
	is_str(cell(0, 625), "1:1/0/1", "the last one");
	end();

	begin(40);
	at(100000);
	runs(1);
	at(100010);
	runs(10);
	at(1);
	runs(1);
	at(6);
	runs(5);
	at(11);
	runs(5);
	finish();
	is_u64(occupancy->cpus[0]->width, 128, "also for a time long before");
	ok(!occupancy->cpus[0]->begin && all_cells(0).instructions == 20,
	   "no cell begins before time 0, and nothing is lost");
	is_str(cell(0, 0), "1:10/0/10", "the early one");
	is_u64(occupancy->cpus[0]->used, 783, "the last one is where it was");
	end();
}

/* Timestamps over the whole range of 64 bits: the ends of cells and times may be beyond it. */
static void test_far(void)
{
	static const struct {
		unsigned int count;
		uint64_t times[6];
		const char *what;
	} cases[] = {
		{ 3,
		  { UINT64_MAX - 5002, UINT64_MAX - 4002, UINT64_MAX - 1 },
		  "up to the last times" },
		{ 2, { UINT64_MAX - 1, UINT64_MAX }, "the last tick" },
		{ 2, { 0, UINT64_MAX }, "all times" },
		{ 3, { 1, UINT64_MAX - 1, UINT64_MAX }, "nearly all" },
		{ 4, { UINT64_MAX - 10, UINT64_MAX, 3, 9 }, "the last times, then the first ones" },
		{ 4, { UINT64_MAX - 10, UINT64_MAX, 0, 1 }, "then the very first ones" },
		{ 4, { 7, 17, UINT64_MAX - 9, UINT64_MAX }, "the first times, then the last ones" },
		{ 4, { UINT64_C(1) << 63, (UINT64_C(1) << 63) + 9, 1, 2 }, "half of all times" },
		{ 6, { UINT64_MAX - 9, UINT64_MAX, 5, 6, 0, UINT64_MAX }, "there and back" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t ticks = 0, instructions = 0, last = 0;
		const struct ntrace_occupancy_cpu *row;

		begin(64);
		for (unsigned int k = 0; k < cases[i].count; k++) {
			uint64_t time = cases[i].times[k];

			at(time);
			runs(30);
			if (k && time >= last) {
				ticks += time - last;
				instructions += 30;
			}
			last = time;
		}
		finish();
		row = occupancy->cpus[0];
		is_u64(row->sum.ticks, ticks, "%s: ticks", cases[i].what);
		ok(all_cells(0).ticks == ticks && all_cells(0).instructions == instructions,
		   "%s: all are in cells", cases[i].what);
		ok(row->used <= NTRACE_OCCUPANCY_CELLS &&
			   row->untimed + instructions == row->sum.instructions,
		   "%s: no other is", cases[i].what);
		end();
	}
}

/*
 * All streams must have times of the same unit: nanoseconds, whatever their frequencies are, or
 * ticks of unknown frequencies.
 */
static void test_clocks(void)
{
	static const struct {
		unsigned int count, bits;
		uint64_t first, second, hz;
		bool timed;
	} cases[] = {
		{ 1, 0, 1000, 9, 1000000000, true },
		{ 2, 40, 1000, 1000, 1000000000, true },
		{ 2, 0, 1000, 1000, 1000000000, false },
		{ 2, 40, 1000, 999, 1000000000, true },
		{ 2, 40, 1000, 0, 1000000000, false },
		{ 2, 40, 0, 1000, 0, false },
		{ 2, 40, 0, 0, 0, true },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		begin_with(cases[i].count, 40);
		params[0].timestamp_hz = cases[i].first;
		params[1].timestamp_bits = cases[i].bits;
		params[1].timestamp_hz = cases[i].second;
		error = 12;
		at(100);
		runs(1);
		error = 5;
		at(110);
		runs(10);
		finish();
		ok(occupancy->timed == cases[i].timed && occupancy->hz == cases[i].hz,
		   "streams, case %zu", i);
		is_u64(occupancy->sum.ticks, cases[i].timed ? 10 : 0, "time between timestamps");
		is_u64(occupancy->untimed, cases[i].timed ? 1 : 0, "instructions before it");
		is_u64(occupancy->time_error, cases[i].hz ? 12 : 0, "the greatest error");
		end();
	}
}

/* Events and batches give the same. */
static void test_batches(void)
{
	struct ntrace_block blocks[300] = { 0 };
	const struct ntrace_block_batch batch = { .blocks = blocks, .count = 300 };

	for (unsigned int bits = 0; bits <= 40; bits += 40) {
		struct ntrace_occupancy_cpu *want = malloc(sizeof(*want));
		const struct ntrace_segment all = { .batch = &batch,
						    .at.pid = 7,
						    .at.tid = 7,
						    .at.comm = "seven",
						    .at.privilege = NTRACE_PRIV_U };

		begin(bits);
		for (unsigned int k = 0; k < 8; k++)
			for (unsigned int i = 0; i < 300; i++) {
				blocks[i].instructions = i % 3;
				runs(i % 3);
			}
		finish();
		*want = *occupancy->cpus[0];
		end();
		begin(bits);
		for (unsigned int k = 0; k < 8; k++)
			if (ntrace_profile_segment(profile, &all))
				ok(false, "a batch is taken");
		finish();
		ok(want->sum.instructions == 2400 && occupancy->sum.instructions == 2400,
		   "instructions of batches");
		ok(occupancy->cpus[0]->width == want->width &&
			   occupancy->cpus[0]->used == want->used &&
			   occupancy->cpus[0]->untimed == want->untimed,
		   "cells of batches");
		ok(!memcmp(occupancy->cpus[0]->cells, want->cells, sizeof(want->cells)),
		   "have the same content");
		end();
		free(want);
	}
}

/* An event without execution. */
static void tells(unsigned int type)
{
	const struct ntrace_flow_event flow = {
		.type = (uint8_t)type, .offset = offset, .time = stamp, .time_known = stamped
	};
	const struct ntrace_session_event event = { .flow = &flow,
						    .comm = name,
						    .turn_end = turn_end,
						    .cut = cut,
						    .time = stamp,
						    .time_unit = stamped && !unlocated ?
									 NTRACE_TIME_NANOSECONDS :
									 NTRACE_TIME_NONE };

	if (ntrace_profile_event(profile, &event))
		ok(false, "an event without execution is taken");
}

/* Trace that is off at the end lasts until the end of the turn, unless the stream may end before that. */
static void test_end(void)
{
	for (unsigned int i = 0; i < 2; i++) {
		begin(40);
		params[0].timestamp_hz = 1000000000;
		turn_end = 5000;
		cut = i;
		at(1000);
		runs(4);
		at(1010);
		runs(10);
		offset++;
		stamped = false;
		runs(10);
		tells(NTRACE_FLOW_TRACE_OFF);
		finish();
		is_u64(occupancy->sum.ticks, cut ? 10 : 4000, "the end of a %s",
		       cut ? "stream" : "turn");
		end();
	}
	turn_end = 0;
	params[0].timestamp_hz = 0;
}

/*
 * A gap lasts from the last timestamp before it to the first one after it, or to the last one of the stream, whatever
 * time Error has: that of the loss, that of the recovery, or none.
 */
static void test_gaps(void)
{
	static const uint64_t errors[] = { 1020, 1090, 0 };

	for (unsigned int i = 0; i < 3; i++) {
		begin(40);
		params[0].timestamp_hz = 1000000000;
		at(1000);
		runs(4);
		at(1010);
		runs(4);
		at(errors[i]);
		stamped = errors[i];
		tells(NTRACE_FLOW_ERROR);
		tells(NTRACE_FLOW_GAP);
		at(1100);
		runs(4);
		at(1110);
		tells(NTRACE_FLOW_ERROR);
		tells(NTRACE_FLOW_GAP);
		at(1120);
		runs(4);
		finish();
		is_u64(occupancy->gap_time, 110, "gaps: at most this time, Error at %u",
		       (unsigned int)errors[i]);
		is_u64(occupancy->gap_longest, 90, "gaps: the longest");
		end();
	}
	/* The sideband is cut: times are no longer known, but ticks are, of 100 ns here. */
	begin(40);
	params[0].timestamp_hz = 10000000;
	at(1000);
	runs(4);
	for (unlocated = true; offset < 19;) {
		at(stamp + 50);
		tells(NTRACE_FLOW_SYNC);
		offset++;
		tells(NTRACE_FLOW_ERROR);
		tells(NTRACE_FLOW_GAP);
		tells(NTRACE_FLOW_TRACE_OFF);
	}
	at(stamp + 70);
	tells(NTRACE_FLOW_ERROR);
	unlocated = false;
	finish();
	is_u64(occupancy->gap_time, (8 * 50 + 70) * 100,
	       "gaps without a clock, until the next timestamp or the end");
	is_u64(occupancy->gap_longest, 70 * 100, "the longest lasts until the end");
	end();
}

/* The first message of a stream is at offset 0, and its timestamp counts as any other. */
static void test_first_message(void)
{
	begin(40);
	stamp = 1000;
	stamped = true;
	runs(4);
	at(1010);
	runs(10);
	at(1010);
	finish();
	is_u64(occupancy->sum.ticks, 10, "time from the message at offset 0 on");
	is_u64(occupancy->stamps, 2, "both timestamps count");
	end();
}

int main(void)
{
	test_first_message();
	test_gaps();
	test_end();
	test_instructions();
	test_slots();
	test_threads();
	test_time();
	test_far();
	test_clocks();
	test_batches();
	return done_testing();
}
