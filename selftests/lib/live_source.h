/* SPDX-License-Identifier: GPL-2.0-only */
/* For test_live.c: a finished recording that is given in pieces, and the events of its decoding. */
#ifndef NTRACE_SELFTESTS_LIB_LIVE_SOURCE_H
#define NTRACE_SELFTESTS_LIB_LIVE_SOURCE_H

#include <ntrace/live.h>

#include "session/session.h"
#include "test_session.h"

#define EVENTS_MAX 400000
#define RECORDS_MAX 100000
#define MARKS_MAX 20000

static uint64_t state;

static uint64_t draw(uint64_t below)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state % below;
}

/* ---- events ---- */

struct seen {
	uint64_t hash;
	uint64_t offset;
	uint64_t address;
	int32_t pid;
	bool block;
};

struct events {
	struct seen *seen;
	size_t count;
};

static struct events whole, part;

static uint64_t mix(uint64_t hash, uint64_t value)
{
	return (hash ^ value) * UINT64_C(1099511628211) ^ value >> 29;
}

static uint64_t mix_text(uint64_t hash, const char *text)
{
	while (*text)
		hash = mix(hash, (uint8_t)*text++);
	return hash;
}

static int take_seen(void *data, const struct ntrace_session_event *event)
{
	const struct ntrace_flow_event *flow = event->flow;
	struct ntrace_location place = { 0 };
	struct events *events = data;
	uint64_t hash = mix(0, flow->type);

	if (events->count == EVENTS_MAX)
		return 0;
	if (flow->space)
		ntrace_space_locate(flow->space, flow->address, &place);
	hash = mix(hash, flow->code);
	hash = mix(hash, (uint64_t)event->pid << 32 | (uint32_t)event->tid);
	hash = mix(hash, (uint64_t)event->cpu << 32 | event->privilege);
	hash = mix_text(hash, event->comm);
	hash = mix_text(hash, place.symbol ? place.symbol : "-");
	hash = mix_text(hash, flow->space ? ntrace_space_name(flow->space) : "-");
	hash = mix(hash, flow->address);
	hash = mix(hash, flow->next);
	hash = mix(hash, flow->value);
	hash = mix(hash, flow->time);
	hash = mix(hash, flow->instructions);
	hash = mix(hash, flow->offset);
	events->seen[events->count++] = (struct seen){ hash, flow->offset, flow->address,
						       event->pid,
						       flow->type == NTRACE_FLOW_BLOCK };
	return 0;
}

/* ---- a finished recording, to be given in pieces ---- */

struct mark {
	uint64_t bytes;
	uint64_t until;
};

static struct mark marks[MARKS_MAX];
static size_t mark_count;

/* The bytes so far were made before this time. */
static void mark(void)
{
	if (mark_count < MARKS_MAX)
		marks[mark_count++] = (struct mark){ hart.bytes, now + 100 };
}

static struct {
	uint8_t *trace;
	size_t size;
	uint8_t *records;
	size_t at[RECORDS_MAX + 1];
	uint64_t time[RECORDS_MAX];
	uint64_t complete[RECORDS_MAX + 1]; /* least time of the record and later ones */
	size_t count;
} all;

static struct ntrace_perf_writer *before;

/* Records of this many come in another order: those of switches first, as from another ring buffer. */
#define ROUND 8

struct placed {
	uint8_t bytes[256];
	size_t size;
	uint64_t time;
	bool later;
};

static void reorder(void)
{
	static struct placed round[ROUND];
	size_t first, count, i, at;
	unsigned int turn;

	for (first = 0; first < all.count; first += count) {
		count = all.count - first < ROUND ? all.count - first : ROUND;
		for (i = 0; i < count; i++) {
			const uint8_t *bytes = all.records + all.at[first + i];
			struct perf_event_header header;

			memcpy(&header, bytes, sizeof(header));
			round[i] = (struct placed){ .size = header.size,
						    .time = all.time[first + i],
						    .later = header.type !=
							     PERF_RECORD_SWITCH_CPU_WIDE };
			memcpy(round[i].bytes, bytes, header.size);
		}
		at = first;
		for (turn = 0; turn < 2; turn++) {
			for (i = 0; i < count; i++) {
				if (round[i].later != turn)
					continue;
				memcpy(all.records + all.at[at], round[i].bytes, round[i].size);
				all.time[at] = round[i].time;
				all.at[at + 1] = all.at[at] + round[i].size;
				at++;
			}
		}
	}
}

/* Records with time 0 are in the directory, the others come later. */
static int sort_record(void *data, const struct ntrace_perf_record *record)
{
	struct ntrace_sideband parsed;

	if (ntrace_perf_file_parse(data, record, &parsed))
		return 0;
	if (!parsed.time) {
		ntrace_perf_writer_records(before, record->data, record->size);
		return 0;
	}
	if (all.count == RECORDS_MAX)
		return 0;
	memcpy(all.records + all.at[all.count], record->data, record->size);
	all.time[all.count] = parsed.time;
	all.at[all.count + 1] = all.at[all.count] + record->size;
	all.count++;
	return 0;
}

/* Makes the directory NAME.live as it is when the trace starts, and reads all that comes later. */
static void split(const char *name)
{
	struct perf_event_attr attr = sideband_attr();
	struct ntrace_perf_file *file;
	char path[600];
	uint64_t id = 1;
	FILE *trace;
	size_t i;

	snprintf(path, sizeof(path), "%s/aux.0", in(name));
	trace = fopen(path, "r");
	all.size = trace ? fread(all.trace, 1, 16 << 20, trace) : 0;
	if (trace)
		fclose(trace);
	run("cp -r %s %s.live && rm %s.live/aux.0 %s.live/data", in(name), in(name), in(name),
	    in(name));
	/* The file stays unfinished while it is read. */
	ntrace_perf_writer_close(before);
	snprintf(path, sizeof(path), "%s.live/data", in(name));
	ntrace_perf_writer_open(&before, path);
	ntrace_perf_writer_event(before, &attr, &id, 1, "dummy:u");
	all.count = 0;
	if (!ntrace_perf_file_open(&file, in(name))) {
		ntrace_perf_file_records(file, sort_record, file);
		ntrace_perf_file_close(file);
	}
	if (ntrace_perf_writer_flush(before))
		ok(false, "%s: the sideband so far is written", name);
	reorder();
	all.complete[all.count] = UINT64_MAX;
	for (i = all.count; i--;)
		all.complete[i] = all.time[i] < all.complete[i + 1] ? all.time[i] :
								      all.complete[i + 1];
}

/**
 * struct giver - gives the recording in pieces
 * @most: largest piece of trace
 * @burst: largest number of records at once; given only when needed if 0
 * @timed: the times of the pieces are known
 * @loss: probability of a loss, 1 to this; 0: nothing is lost
 */
struct giver {
	size_t trace;
	size_t record;
	size_t most;
	size_t burst;
	bool timed;
	unsigned int loss;
	uint64_t lost;
	uint64_t losses;
	size_t ahead;
	size_t switches;
	size_t tasks;
	struct ntrace_session *session;
};

static uint64_t until(size_t bytes)
{
	size_t i;

	for (i = 0; i < mark_count; i++)
		if (marks[i].bytes >= bytes)
			return marks[i].until;
	return now + 100;
}

/* A message may have begun some bytes before. */
#define MESSAGE_MAX 64

static uint64_t since(size_t bytes)
{
	uint64_t time = 0;
	size_t i;

	for (i = 0; i < mark_count && marks[i].bytes + MESSAGE_MAX <= bytes; i++)
		time = marks[i].until - 100;
	return time;
}

/* What the session keeps. */
static void measure(struct giver *giver)
{
	const struct machine *machine = &giver->session->machine;
	const struct task *task;
	size_t tasks = 0, i;

	for (i = 0; i < MACHINE_BUCKETS; i++)
		for (task = machine->tasks[i]; task; task = task->next)
			tasks++;
	if (tasks > giver->tasks)
		giver->tasks = tasks;
	if (machine->cpus && machine->cpus[0].count > giver->switches)
		giver->switches = machine->cpus[0].count;
}

static int give_trace(void *data, struct ntrace_live_trace *trace)
{
	struct giver *giver = data;
	size_t left = all.size - giver->trace, count = draw(giver->most) + 1;

	if (giver->loss && left > 200 && !draw(giver->loss)) {
		trace->lost = draw(left < 2000 ? left : 2000) + 1;
		giver->lost += trace->lost;
		giver->losses++;
		giver->trace += trace->lost;
		left -= trace->lost;
	}
	if (!draw(5))
		count = 0;
	if (count > left)
		count = left;
	trace->bytes = all.trace + giver->trace;
	trace->count = count;
	if (giver->timed) {
		trace->since_ns = since(giver->trace);
		trace->until_ns = until(giver->trace + count);
	}
	giver->trace += count;
	trace->end = giver->trace == all.size;
	if (trace->end)
		trace->stop_ns = now + 100;
	if (giver->trace < all.size / 2)
		giver->ahead = giver->record;
	measure(giver);
	return 0;
}

static int give_records(void *data, bool wait, struct ntrace_live_records *records)
{
	struct giver *giver = data;
	size_t count = giver->burst ? draw(giver->burst + 1) : 0;

	if (wait && !count)
		count = 1;
	if (count > all.count - giver->record)
		count = all.count - giver->record;
	records->bytes = all.records + all.at[giver->record];
	records->count = all.at[giver->record + count] - all.at[giver->record];
	giver->record += count;
	records->complete_ns = all.complete[giver->record];
	return 0;
}

static struct ntrace_session *opened(const char *name, bool live)
{
	struct ntrace_session_options options = {
		.size = sizeof(options),
		.sysroot = in("root"),
		.note = take_note,
		.live = live,
	};
	struct ntrace_session *session = NULL;
	char path[200];

	notes[0] = 0;
	snprintf(path, sizeof(path), "%s%s", name, live ? ".live" : "");
	if (ntrace_session_open(&session, in(path), &options))
		ok(false, "%s opens: %s", path, notes);
	return session;
}

static int live(const char *name, struct giver *giver, const struct ntrace_decode_options *options)
{
	struct ntrace_session *session = opened(name, true);
	struct ntrace_live_source source = {
		.size = sizeof(source),
		.trace = give_trace,
		.records = give_records,
		.data = giver,
		.start_ns = START_NS,
		.patience_ns = UINT64_MAX,
	};
	int error;

	if (!session)
		return NTRACE_ERR_IO;
	giver->session = session;
	error = ntrace_session_decode_live(session, options, &source);
	ntrace_session_close(session);
	return error;
}

#endif /* NTRACE_SELFTESTS_LIB_LIVE_SOURCE_H */
