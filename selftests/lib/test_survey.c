// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which anchor belongs to which system call, after lost trace: threads that make calls from a few places, in loops and at
 * random, with gaps of any length. An anchor that is given to a call is that of this call, in each of them.
 */
#include <stdlib.h>
#include <string.h>

#include "tap.h"
#include "values/values.h"

#define CALLS 300
#define A7 17
#define AFTER_GAP 0x5000
#define READ 63

static uint64_t state;

/* xorshift64* */
static unsigned int below(unsigned int limit)
{
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return (unsigned int)(state * UINT64_C(0x2545f4914f6cdd1d) >> 32) % limit;
}

/* The thread: pc and registers after each call. */
static uint64_t registers[CALLS][32];
static struct anchor anchor[CALLS];
static unsigned int calls;

/* A signal interrupts a call, and its handler returns to the ecall, which is made again: three anchors of two stops. */
static void test_restart(void)
{
	const struct anchors anchors = { .anchor = anchor, .count = 20, .born = true };
	struct survey survey = { .stop = calloc(19, sizeof(struct stop)), .stops = 19 };
	unsigned int wrong = 0;

	if (!survey.stop)
		abort();
	for (unsigned int i = 0; i < 20; i++) {
		registers[i][0] = i ? 0x1004 : 0x8000;
		anchor[i] =
			(struct anchor){ .registers = (const uint8_t *)registers[i], .exec = !i };
	}
	for (unsigned int i = 0; i < 19; i++)
		survey.stop[i] = (struct stop){ .call = i ? 0x1000 : 0,
						.address = registers[i][0],
						.lost = !i };
	/* Call 10 is interrupted; the handler, at 0x3000, returns by a call of its own. */
	survey.stop[10].address = 0x3000;
	survey.stop[11].call = 0x4000;
	registers[11][0] = 0x1000;
	survey_pair(&survey, &anchors);
	for (unsigned int i = 0; i < 19; i++)
		wrong += survey.stop[i].anchor != (i < 11 ? i : i + 1) ||
			 survey.stop[i].merged != (i == 11);
	is_u64(wrong, 0, "a call that is made again after a handler has its own anchor");
	survey_free(&survey);
}

/* Calls from up to @places places: those of a part of the program repeat in the same order. */
static void run_thread(unsigned int places, unsigned int count, unsigned int repeats)
{
	memset(registers, 0, sizeof(registers));
	calls = count;
	for (unsigned int i = 0; i < calls;) {
		unsigned int body[4], length = 1 + below(4), rounds = 1 + below(repeats);

		for (unsigned int k = 0; k < length; k++)
			body[k] = below(places);
		for (unsigned int k = 0; k < rounds * length && i < calls; k++, i++) {
			registers[i][0] = 0x1004 + 16 * body[k % length];
			registers[i][A7] = READ;
			anchor[i] = (struct anchor){ .time = 1000 + i,
						     .registers = (const uint8_t *)registers[i] };
		}
	}
	/* The thread begins with the end of exec(). */
	anchor[0].exec = true;
	registers[0][0] = 0x8000;
}

/* Return: the stop of call @number, or of what follows a gap */
static struct stop stop_of(int number)
{
	if (number < 0)
		return (struct stop){ .address = AFTER_GAP, .anchor = -1, .lost = true };
	return (struct stop){ .number = (uint64_t)number,
			      .address = registers[number][0],
			      .call = number ? registers[number][0] - 4 : 0,
			      .lost = !number,
			      .anchor = -1 };
}

/* The calls that the trace has, apart from gaps. Return: how many have an anchor; *@wrong: that of another call */
static unsigned int pair(bool born, unsigned int gaps, unsigned int *wrong)
{
	const struct anchors anchors = { .anchor = anchor, .count = calls, .born = born };
	struct survey survey = { .stop = calloc(CALLS + 8, sizeof(struct stop)) };
	unsigned int paired = 0, next = 0;

	if (!survey.stop)
		abort();
	if (!born) {
		survey.stop[survey.stops++] = stop_of(-1);
		next = 1 + below(calls - 1);
	}
	for (unsigned int i = 0; i <= gaps; i++) {
		unsigned int until = i == gaps ? calls : next + below(calls - next + 1);

		while (next < until)
			survey.stop[survey.stops++] = stop_of((int)next++);
		if (i < gaps)
			survey.stop[survey.stops++] = stop_of(-1);
		next += below(40);
		next = next < calls ? next : calls;
	}
	survey_pair(&survey, &anchors);
	for (size_t i = 0; i < survey.stops; i++) {
		const struct stop *stop = &survey.stop[i];

		if (stop->anchor < 0)
			continue;
		paired++;
		*wrong += stop->address == AFTER_GAP || (uint64_t)stop->anchor != stop->number;
	}
	survey_free(&survey);
	return paired;
}

int main(void)
{
	const char *seed = getenv("SEED");
	unsigned int wrong = 0, lost = 0;

	test_restart();
	state = (seed ? strtoull(seed, NULL, 0) : 1) | 1;
	for (unsigned int round = 0; round < 2000; round++) {
		run_thread(1 + below(12), 20 + below(CALLS - 20), 60);
		if (pair(true, 0, &wrong) != calls)
			lost++;
	}
	is_u64(lost, 0, "without gaps, each call has its anchor");
	is_u64(wrong, 0, "and no other");
	for (unsigned int round = 0; round < 20000; round++) {
		run_thread(1 + below(12), 20 + below(CALLS - 20), 60);
		pair(below(2), 1 + below(4), &wrong);
	}
	is_u64(wrong, 0, "after gaps, no call has the anchor of another");
	run_thread(200, CALLS, 1);
	ok(pair(true, 3, &wrong) > calls / 2 && !wrong,
	   "most calls have one where few places repeat");
	return done_testing();
}
