/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Common part of the drain tests: the drain with its callees, harts, and a sink. A test calls
 * begin() first and over() last.
 */
#ifndef HOST_DRAIN_H
#define HOST_DRAIN_H

#include "../../../kernel/ntrace/ramsink.c"
#include "../../../kernel/ntrace/feed.c"
#include "../../../kernel/ntrace/split.c"
#include "../../../kernel/ntrace/drain.c"
#include "../../../kernel/ntrace/pace.c"
#include "../../../kernel/ntrace/turn.c"
#include "machine.h"
#include "platform.h"
#include "sink.h"
#include "reader.h"

static struct machine machine;
static struct ntrace_ramsink *const sink = &machine.sink.ramsink;
static struct ntrace_feed *const feed = &machine.capture[0].feed;
static struct ntrace_control *const control = &machine.control[0];

static unsigned int encoder_stops, encoder_pauses, encoder_traces, sink_halts;
/* Bytes that have been drained when the encoder is paused, and when it continues. */
static u32 paused_at, traced_at;

void ntrace_encoder_stop(struct ntrace_component *component)
{
	encoder_stops++;
}

void ntrace_encoder_pause(struct ntrace_component *component)
{
	encoder_pauses++;
	paused_at = sink->drained;
}

void ntrace_encoder_trace(struct ntrace_component *component)
{
	encoder_traces++;
	traced_at = sink->drained;
}

static void halt_sink(struct ntrace_component *component)
{
	sink_halts++;
}

static const struct ntrace_ops sink_ops = { .halt = halt_sink };

static u64 now;
/* Time that the memory of the sink takes for each byte that the drain reads. */
static u64 memory_ns;
static u32 looked_at;

u64 ktime_get_mono_fast_ns(void)
{
	if (sink->ring_size)
		now += memory_ns * ring_distance(sink, looked_at, sink->drained);
	looked_at = sink->drained;
	return now += 1000;
}

/*
 * Sets up a sink that has been programmed and is about to run. The driver knows that it writes at
 * least @least bytes at a time; if that is less than the granule, 4096 at most.
 */
static void begin_width(unsigned int harts, size_t ring, unsigned int granule, unsigned int least,
			size_t data_size)
{
	free(hw.ring);
	machine_free(&machine);
	machine_init(&machine, harts, data_size);
	(memset)(&hw, 0, sizeof(hw));
	ntrace_sink_set_granule(sink, least);
	if (least < granule) {
		sink->granule = 4096;
		sink->reach = 4096;
	}
	sink->last = (u32)(ring - granule);
	hw.ring = calloc(1, sink->last + sink->reach);
	hw.size = ring;
	hw.granule = granule;
	hw.unit = granule;
	hw.byte = plain_byte;
	machine.sink.base = sink_page;
	machine.sink.ops = &sink_ops;
	for (unsigned int i = 0; i < harts; i++) {
		machine.encoder[i].base = encoder_page;
		machine.capture[i].feed.interval = machine.capture[i].feed.pace = 1000000;
	}
	sink->wp = TR_RAM_WP_LOW;
	sink->ring = hw.ring;
	sink->ring_dma = SINK_DMA;
	sink->bounce = malloc(NTRACE_DRAIN_BOUNCE);
	encoder_stops = 0;
	sink_halts = 0;
	looked_at = 0;
	reader_begin();
	ntrace_drain_begin(&machine.sink);
	hw.running = true;
	host_event = hw_event;
}

static void begin(unsigned int harts, size_t ring, unsigned int granule, size_t data_size)
{
	begin_width(harts, ring, granule, granule, data_size);
}

static void over(void)
{
	free(sink->bounce);
	sink->bounce = NULL;
	host_event = NULL;
}

/* Stops encoder and sink; all trace is then in memory. */
static void stop(void)
{
	hw_settle();
	hw.running = false;
	hw.pace = 0;
	ntrace_drain_end(feed, 0, true);
}

static void read_all(void)
{
	for (unsigned int i = 0; i < MACHINE_HARTS; i++)
		if (machine.data[i])
			reader_read(&machine, i, ~0ull);
}

static u64 drained(void)
{
	return control->head;
}

/* Makes the sink lap at a given moment of the drain. */
static enum host_event lap_at;
static unsigned int lap_count, lap_skip;
static u64 lap_bytes;

static void lap(enum host_event event)
{
	if (event != lap_at || !lap_count)
		return;
	if (lap_skip) {
		lap_skip--;
		return;
	}
	lap_count--;
	hw_take(lap_bytes);
}

static void lap_when(enum host_event event, unsigned int skip, unsigned int count, u64 bytes)
{
	lap_at = event;
	lap_skip = skip;
	lap_count = count;
	lap_bytes = bytes;
	hw.at = lap;
}

/* Progress of the driver in the ring, relative to the sink's pointer. */
static u64 behind(void)
{
	return (hw.pointer + hw.size - sink->drained) % hw.size;
}

static void judge(const char *what)
{
	stop();
	read_all();
	struct found found = reader_judge_plain(&readers[0], hw.pointer);

	is_str(found.wrong ? found.wrong : "no", "no", "%s: anything wrong?", what);
	is_u64(found.marks, control->gaps, "%s: a mark for each gap", what);
	ok(control->lost <= found.missing && (found.missing - control->lost) % hw.size == 0,
	   "%s: lost is %llu of %llu bytes, a lower bound by whole rounds", what,
	   (unsigned long long)control->lost, (unsigned long long)found.missing);
	is_str(hw.disorder ? hw.disorder : "no", "no", "%s: any barrier left out?", what);
	over();
}

static void drain_free(void)
{
	free(hw.ring);
	machine_free(&machine);
	reader_end();
}

#endif /* HOST_DRAIN_H */
