// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events of perf take turns on harts that share a sink, and the end of a turn may arrive when the
 * next one has begun. Whatever is on its way in funnels, granules or frames: an event gets messages of
 * its own only, in order, and all from its first one on, unless a gap or its record says otherwise.
 * The test makes the messages, which name their event, and random turns.
 */
#include <tap.h>

#include <ntrace/frames.h>

#include "host/drain.h"

#define HARTS 3
#define SRC_BITS 2
#define AREA (1 << 17)
#define UNUSED 0xee
#define STREAM_MAX (1 << 21)
#define TCODE_SYNC 9
#define TCODE_BRANCH 3
#define HELD 64 /* bytes that a funnel holds back */

/* What the sink has taken, or frames that it has written. */
static u8 *stream;
static size_t stream_size;
static struct ntrace_frames_writer writer;
static struct ntrace_deframe frames;

/* Harts 0 and 1 have a funnel, hart 2 has its own. In frames: a bridge for each hart. */
static struct {
	u8 bytes[4096];
	size_t size;
} funnel[HARTS];

static struct {
	bool runs, leaves, traces;
	unsigned int event, next;
	u8 *area;
	u64 begin;
	u32 gaps;
} hart[HARTS];

static unsigned int events, running, late_ends, whole_turns, marked_starts;
static size_t holds; /* bytes that each funnel holds back */
static bool framed;
static const char *wrong;

static u8 stream_byte(u64 position)
{
	return stream[position];
}

static void show(void)
{
	u64 pointer = framed ? stream_size : stream_size - stream_size % hw.granule;

	if (pointer > hw.pointer)
		hw_take(pointer - hw.pointer);
}

static void to_sink(unsigned int source, const u8 *bytes, size_t size)
{
	size_t written = size;

	if (framed)
		ntrace_frames_write(&writer, source + 1, bytes, size, stream + stream_size,
				    &written);
	else
		(memcpy)(stream + stream_size, bytes, size);
	stream_size += written;
	show();
}

static void empty(unsigned int i)
{
	to_sink(i, funnel[i].bytes, funnel[i].size);
	funnel[i].size = 0;
}

/* Messages wait in a funnel until the next one does not fit; bytes in a bridge, for three others. */
static void to_funnel(unsigned int source, const u8 *bytes, size_t size)
{
	unsigned int i = framed || source == 2 ? source : 0;

	if (framed) {
		while (size--) {
			funnel[i].bytes[funnel[i].size++] = *bytes++;
			if (funnel[i].size == 4)
				empty(i);
		}
		return;
	}
	if (funnel[i].size + size > holds)
		empty(i);
	(memcpy)(funnel[i].bytes + funnel[i].size, bytes, size);
	funnel[i].size += size;
	if (!holds)
		empty(i);
}

static bool flush_sink(struct ntrace_component *component, u64 deadline)
{
	for (unsigned int i = 0; i < HARTS; i++)
		empty(i);
	stream_size += ntrace_frames_flush(&writer, stream + stream_size);
	show();
	return true;
}

/* A message has TCODE, SRC, the event and a number, 18 bits each, and up to 20 other bytes. */
static void message(unsigned int i, unsigned int tcode)
{
	u64 value = tcode;
	u8 bytes[32];
	unsigned int shift = 6, size = 8;

	if (!framed) {
		value |= (u64)i << shift;
		shift += SRC_BITS;
	}
	value |= (u64)hart[i].event << shift | (u64)hart[i].next++ << (shift + 18);
	if (!random_below(4))
		size += random_below(20);
	for (unsigned int k = 0; k < size; k++) {
		bytes[k] = (u8)((value & 0x3f) << 2 | (k + 1 == size ? 3 : random_below(2)));
		value >>= 6;
	}
	to_funnel(i, bytes, size);
}

/* The hart executes something: a part of the trace begins, goes on, or ends. */
static void run(unsigned int i)
{
	if (!hart[i].runs)
		return;
	if (!hart[i].traces) {
		message(i, TCODE_SYNC);
		hart[i].traces = true;
	} else if (random_below(6)) {
		message(i, TCODE_BRANCH);
	} else {
		message(i, NTRACE_TCODE_END);
		hart[i].traces = false;
	}
}

/* Others go on while a hart waits, or not. */
static unsigned int others_run, waiting;

static void others(enum host_event event)
{
	unsigned int i = (unsigned int)random_below(HARTS);

	if (event == HOST_LOOK && random_below(4) < others_run && i != waiting)
		run(i);
}

static struct ntrace_feed *feed_of(unsigned int i)
{
	return &machine.capture[i].feed;
}

static void complain(const char *what, unsigned int i)
{
	if (!wrong)
		diag("event %u on hart %u: %s", hart[i].event, i, what);
	wrong = what;
}

/* Looks at what the event got. @whole: its record does not say that something is missing. */
static void look(unsigned int i, u64 size, bool whole)
{
	unsigned int number = 0, shift = framed ? 6 : 6 + SRC_BITS;
	u64 value = 0;
	u32 have = 0;
	bool gap = false, ended = true;

	for (u64 p = 0; p < size; p++) {
		u8 byte = hart[i].area[p];

		if (byte == RESERVED) {
			/* A mark of a gap, or that of a message which is cut. */
			if (p + 1 < size && hart[i].area[p + 1] == 3)
				p++;
			else if (have)
				complain("a gap in a message", i);
			have = 0;
			value = 0;
			gap = true;
			marked_starts += p == 0 && size > 1;
			continue;
		}
		if (have < 10)
			value |= (u64)(byte >> 2) << 6 * have;
		have++;
		if ((byte & 3) != 3)
			continue;
		if ((value >> shift & 0x3ffff) != hart[i].event)
			complain("a message of another event", i);
		if ((value >> (shift + 18) & 0x3ffff) < number)
			complain("a message twice, or out of order", i);
		if ((value >> (shift + 18) & 0x3ffff) > number && !gap)
			complain("a message is missing without a mark", i);
		number = (value >> (shift + 18) & 0x3ffff) + 1;
		ended = (value & 0x3f) == NTRACE_TCODE_END;
		gap = false;
		have = 0;
		value = 0;
	}
	if (have)
		complain("the last message has no end", i);
	if (whole && (number != hart[i].next || gap))
		complain("the end is missing, and nothing says so", i);
	if (number != hart[i].next && !gap && !ended)
		complain("a part of the trace has no end, without a mark", i);
	whole_turns += whole;
	late_ends += !whole;
}

/* User space sees all memory of the area: trace that may be of another event does not come there. */
static void look_ahead(unsigned int i, u64 head)
{
	u64 at = head - hart[i].begin;

	for (u64 p = at; p < at + NTRACE_FEED_DOUBTFUL && p < AREA; p++)
		if (hart[i].area[p] != UNUSED && hart[i].area[p])
			complain("bytes after the end of its trace", i);
}

static void drain_by(unsigned int i)
{
	ntrace_drain_step(feed_of(i));
	for (i = 0; i < HARTS; i++)
		if (hart[i].runs)
			look_ahead(i, feed_of(i)->head);
}

/* The capture of a hart is released, and there is a new one, while others keep the sink running. */
static void reopen(unsigned int i)
{
	struct ntrace_feed *to = feed_of(i);

	list_del(&to->node);
	ntrace_turn_part(to);
	ntrace_feed_void(to);
	to->late = (struct ntrace_late){ 0 };
	to->ended = true;
	list_add_tail(&to->node, &sink->feeds);
	ntrace_turn_join(to, holds ? HELD : 0);
}

static void begin_turn(unsigned int i)
{
	if (!running++) {
		stream_size = 0;
		hw.pointer = hw.memory = hw.seen = 0;
		ntrace_frames_writer_init(&writer);
		ntrace_drain_begin(&machine.sink);
		hw.running = true;
	}
	if (!random_below(4))
		reopen(i);
	(memset)(hart[i].area, UNUSED, AREA);
	hart[i].event = events++;
	hart[i].next = 0;
	hart[i].begin = random_below(1 << 20) * AREA;
	hart[i].gaps = feed_of(i)->gaps;
	ntrace_turn_into(feed_of(i), hart[i].area, AREA, hart[i].begin, AREA, false);
	hart[i].runs = true;
	hart[i].traces = false;
}

static void end_turn(unsigned int i);

/* While a hart waits for its trace, the others stop, and perhaps start again. */
static void end_others(void)
{
	unsigned int i;

	for (i = 0; i < HARTS; i++)
		if (hart[i].runs)
			end_turn(i);
	i = (unsigned int)random_below(HARTS);
	if (!hart[i].leaves && !hart[i].runs && random_below(2))
		begin_turn(i);
}

static void end_turn(unsigned int i)
{
	struct ntrace_feed *to = feed_of(i);
	unsigned int at = i == 2 ? 2 : 0;
	struct ntrace_turn_way way;
	u32 held, drops = sink->drops;
	bool complete;
	u64 head;

	if (hart[i].traces)
		message(i, NTRACE_TCODE_END);
	hart[i].runs = false;
	if (--running) {
		if (framed)
			flush_sink(&machine.sink, 0);
		held = !framed && funnel[at].size ? HELD : 0;
		ntrace_turn_measure(to, &way);
		hart[i].leaves = true;
		if (!random_below(16))
			end_others();
		hart[i].leaves = false;
		waiting = i;
		others_run = (unsigned int)random_below(4);
		hw.at = others;
		memory_ns = random_below(4) ? 0 : 40;
		complete = ntrace_turn_leave(to, &way, now + NTRACE_DRAIN_END_US * NSEC_PER_USEC, 0,
					     held);
		memory_ns = 0;
		hw.at = NULL;
		/* Another hart drains before perf closes the area. */
		if (!random_below(4))
			drain_by((i + 1) % HARTS);
	} else {
		for (unsigned int k = 0; k < HARTS; k++)
			empty(k);
		if (framed)
			flush_sink(&machine.sink, 0);
		/* The sink completes its last granule with idle bytes. */
		while (stream_size % hw.unit)
			stream[stream_size++] = 0xff;
		show();
		hw.running = false;
		memory_ns = random_below(4) ? 0 : 40;
		ntrace_drain_end(to, 0, true);
		memory_ns = 0;
		complete = sink->drops == drops;
	}
	head = ntrace_turn_discard(to, false);
	look_ahead(i, head);
	look(i, head - hart[i].begin, complete && to->gaps == hart[i].gaps);
}

static bool turns(unsigned int granule, size_t holding, bool frame)
{
	wrong = NULL;
	framed = frame;
	holds = holding;
	begin(HARTS, 8192, granule, 0);
	free(sink->bounce);
	sink->bounce = aligned_alloc(8, NTRACE_DRAIN_BOUNCE);
	hw.byte = stream_byte;
	hw.unit = framed ? 16 : granule;
	sink->dealt = true;
	sink->src_bits = SRC_BITS;
	sink->framed = framed;
	sink->frames = framed ? &frames : NULL;
	hw.running = false;
	(memset)(funnel, 0, sizeof(funnel));
	static const struct ntrace_ops flushed = { .flush = flush_sink };

	machine.sink.ops = framed ? &flushed : &sink_ops;
	running = 0;
	for (unsigned int i = 0; i < HARTS; i++) {
		hart[i].runs = false;
		feed_of(i)->counts = true;
		feed_of(i)->pace = feed_of(i)->interval;
		machine.encoder[i].encoder.atid = framed ? i + 1 : 0;
		machine.encoder[i].encoder.src_bits = 0;
	}
	for (int step = 0; step < 4000 && !wrong && stream_size < STREAM_MAX / 2; step++) {
		unsigned int i = (unsigned int)random_below(HARTS), count;

		switch (random_below(8)) {
		case 0:
			if (hart[i].runs)
				drain_by(i);
			break;
		case 1:
			if (hart[i].runs)
				end_turn(i);
			if (random_below(4))
				begin_turn(i);
			break;
		default:
			count = (unsigned int)random_below(12);
			while (count--)
				run(i);
		}
		/* No losses: the timers are in time. */
		if (running && stream_size - hw.memory + behind() > 3000)
			for (unsigned int k = 0; k < HARTS; k++)
				if (hart[k].runs)
					drain_by(k);
	}
	for (unsigned int i = 0; i < HARTS && !wrong; i++)
		if (hart[i].runs)
			end_turn(i);
	machine.sink.ops = &sink_ops;
	over();
	return !wrong;
}

int main(void)
{
	static const struct {
		const char *what;
		unsigned int granule;
		size_t holds;
		bool framed;
		unsigned int marked;
	} table[] = {
		{ "granules of 4 bytes", 4, 0, false, 0 },
		{ "granules of 64 bytes", 64, 0, false, 10 },
		{ "funnels that hold back messages", 64, HELD, false, 70 },
		{ "frames, a burst of 128 bytes", 128, 0, true, 8 },
	};
	u64 seed = random_seed(1);
	unsigned int number = 0;

	stream = malloc(STREAM_MAX);
	for (unsigned int i = 0; i < HARTS; i++)
		hart[i].area = malloc(AREA);
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		bool good = true;

		late_ends = whole_turns = marked_starts = 0;
		for (int round = 0; round < 20 && good; round++) {
			random_begin(seed, number++);
			good = turns(table[i].granule, table[i].holds, table[i].framed);
		}
		ok(good, "%s: each event has its own messages", table[i].what);
		ok(late_ends > 10 && whole_turns > 10, "%u turns with and %u without their end",
		   whole_turns, late_ends);
		/* Where no part of a trace is as short as a granule, all starts are known. */
		ok(marked_starts <= table[i].marked * (whole_turns + late_ends) / 100,
		   "%u starts cannot be told from the end of another event, at most %u in 100",
		   marked_starts, table[i].marked);
	}
	for (unsigned int i = 0; i < HARTS; i++)
		free(hart[i].area);
	free(stream);
	drain_free();
	return done_testing();
}
