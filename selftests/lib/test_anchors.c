// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory that system calls have written, in the sideband: which samples have such contents, and to which call they belong.
 * A content is never given to another call.
 */
#include <stdlib.h>
#include <string.h>

#include "tap.h"
#include "values/anchors.h"

#define A0    10
#define A7    17
#define CALLS 6
#define READ  63

/* ---- one sample ---- */

static const struct {
	const char *what;
	struct ntrace_values_content of;
	size_t size;
	bool good;
} samples[] = {
	{ "one byte", { NTRACE_VALUES_CONTENT, 1, 0x1000, READ, 1 }, 33, true },
	{ "with padding", { NTRACE_VALUES_CONTENT, 5, 0x1000, READ, 5 }, 40, true },
	{ "up to the last address",
	  { NTRACE_VALUES_CONTENT, 8, UINT64_MAX - 7, READ, 8 },
	  40,
	  true },
	{ "no bytes", { NTRACE_VALUES_CONTENT, 0, 0x1000, READ, 0 }, 40, false },
	{ "fewer bytes than its length", { NTRACE_VALUES_CONTENT, 9, 0x1000, READ, 9 }, 40, false },
	{ "the largest length", { NTRACE_VALUES_CONTENT, UINT32_MAX, 0x1000, READ, 9 }, 40, false },
	{ "over the last address",
	  { NTRACE_VALUES_CONTENT, 8, UINT64_MAX - 6, READ, 8 },
	  40,
	  false },
	{ "data of another program", { NTRACE_VALUES_CONTENT + 1, 8, 0x1000, READ, 8 }, 40, false },
};

static void test_samples(void)
{
	for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]); i++) {
		/* Of its size, for the sanitizer. */
		uint8_t *raw = calloc(samples[i].size, 1);
		struct content content = { 0 };

		if (!raw)
			abort();
		memcpy(raw, &samples[i].of, sizeof(samples[i].of));
		is_u64(anchors_content(&content, raw, samples[i].size), samples[i].good,
		       "a sample: %s", samples[i].what);
		free(raw);
	}
}

static void test_cut(void)
{
	struct ntrace_values_content of = { NTRACE_VALUES_CONTENT, 1, 0x1000, READ, 1 };
	unsigned int taken = 0;

	for (size_t size = 0; size <= sizeof(of); size++) {
		uint8_t *raw = malloc(size + !size);
		struct content content;

		if (!raw)
			abort();
		memcpy(raw, &of, size);
		taken += anchors_content(&content, raw, size);
		free(raw);
	}
	is_u64(taken, 0, "a sample that is cut at any byte is no content");
}

/* ---- order ---- */

/* As in a file: registers of a call, and its content. */
static struct {
	uint64_t registers[32];
	uint8_t bytes[8];
} record[CALLS];
static struct anchor anchor[CALLS];
static struct content content[CALLS];

static struct anchors make(void)
{
	memset(anchor, 0, sizeof(anchor));
	memset(record, 0, sizeof(record));
	for (unsigned int i = 0; i < CALLS; i++) {
		record[i].registers[A7] = READ;
		record[i].registers[A0] = 1 + i;
		anchor[i].time = 1000 + 10 * i;
		anchor[i].registers = (const uint8_t *)record[i].registers;
		content[i] = (struct content){
			.time = anchor[i].time + 1,
			.of = { NTRACE_VALUES_CONTENT, 1 + i, 0x1000, READ, 1 + i },
			.bytes = record[i].bytes,
		};
	}
	return (struct anchors){
		.anchor = anchor, .count = CALLS, .content = content, .contents = CALLS
	};
}

/* How many contents the calls have, if all are their own. */
static unsigned int pair(struct anchors anchors)
{
	unsigned int given = 0;

	anchors_pair(&anchors);
	for (size_t i = 0; i < anchors.count; i++)
		for (size_t k = 0; k < anchors.anchor[i].contents; k++) {
			const struct content *of = &anchors.content[anchors.anchor[i].content + k];

			if (of->of.length != record[&anchors.anchor[i] - anchor].registers[A0])
				return UINT32_MAX;
			given++;
		}
	return given;
}

static void test_order(void)
{
	struct anchors anchors = make();

	is_u64(pair(anchors), CALLS, "each call has its content");
	anchors = make();
	for (unsigned int i = 0; i < CALLS; i++)
		content[i].time = anchor[i].time = 1000;
	is_u64(pair(anchors), CALLS, "also if the clock stands still");
	anchors = make();
	content[1] = content[0];
	content[1].time++;
	is_u64(pair(anchors), CALLS, "a call has two contents, and the one after it none");
	anchors = make();
	anchors.anchor++;
	anchors.count--;
	is_u64(pair(anchors), CALLS - 1,
	       "contents from before the first registers belong to no call");
	anchors = make();
	anchors.count = 0;
	is_u64(pair(anchors), 0, "there are no registers");
	anchors = make();
	for (unsigned int i = 0; i < CALLS; i++)
		content[i].time -= 2;
	is_u64(pair(anchors), 0, "contents before the registers: no call has one");
	anchors = make();
	content[CALLS - 1].of.number++;
	is_u64(pair(anchors), 0, "the last content is of another call: no call has one");
	anchors = make();
	content[CALLS - 1].of.result--;
	is_u64(pair(anchors), 0,
	       "the last content is of a call with another result: no call has one");
}

int main(void)
{
	test_samples();
	test_cut();
	test_order();
	return done_testing();
}
