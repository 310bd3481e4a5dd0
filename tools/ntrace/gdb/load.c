// SPDX-License-Identifier: GPL-2.0-only
/* Decodes a recording or a raw trace into a history. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/ui.h"
#include "load.h"

/* 4 bytes each: more than 1 GiB of blocks is refused, because other processes need memory, too. */
#define BLOCKS_MAX ((size_t)1 << 28)

static int out_of_memory(struct load *load)
{
	load->failed = true;
	return fail("out of memory");
}

/* ---- code ---- */

static int take_size(void *data, uint64_t address, const uint8_t *bytes,
		     const struct ntrace_insn *insn)
{
	struct load *load = data;

	(void)address;
	(void)bytes;
	if (load->size_count < sizeof(load->sizes))
		load->sizes[load->size_count++] = insn->size;
	return 0;
}

static int32_t find_module(struct load *load, struct ntrace_space *space, uint64_t address)
{
	struct ntrace_location location;

	if (ntrace_space_locate(space, address, &location) || !location.object)
		return -1;
	return (int32_t)history_add_module(load->history, location.object,
					   address - location.link_address, load->pid);
}

/* Return: number of the code, or -1 after an error message. */
static int64_t make_code(struct load *load, const struct ntrace_block_batch *batch,
			 const struct ntrace_block *block)
{
	int64_t code;
	int error;

	load->size_count = 0;
	error = ntrace_block_instructions(batch, block, take_size, load);
	if (error) {
		load->failed = true;
		return fail("code at 0x%" PRIx64 ": %s", block->address, ntrace_strerror(error)),
		       -1;
	}
	code = history_add_code(load->history, block->address, load->sizes, load->size_count,
				find_module(load, batch->space, block->address));
	return code < 0 ? out_of_memory(load), -1 : code;
}

static int64_t find_code(struct load *load, const struct ntrace_block_batch *batch,
			 const struct ntrace_block *block)
{
	uint32_t *ids;
	int64_t code;
	size_t room;

	if (!block->id)
		return make_code(load, batch, block);
	ids = load->ids[batch->src];
	if (block->id < load->id_rooms[batch->src] && ids[block->id])
		return ids[block->id] - 1;
	code = make_code(load, batch, block);
	if (code < 0)
		return code;
	room = load->id_rooms[batch->src];
	if (block->id >= room) {
		room = room ? room : 1024;
		while (room <= block->id)
			room *= 2;
		ids = reallocarray(load->ids[batch->src], room, sizeof(*ids));
		if (!ids)
			return out_of_memory(load), -1;
		memset(ids + load->id_rooms[batch->src], 0,
		       (room - load->id_rooms[batch->src]) * sizeof(*ids));
		load->ids[batch->src] = ids;
		load->id_rooms[batch->src] = room;
	}
	ids[block->id] = (uint32_t)code + 1;
	return code;
}

static void forget_ids(struct load *load)
{
	for (uint32_t i = 0; i < load->sources; i++) {
		free(load->ids[i]);
		load->ids[i] = NULL;
		load->id_rooms[i] = 0;
	}
}

static int begin(struct load *load)
{
	load->sources = 1u << NTRACE_SRC_BITS_MAX;
	load->ids = calloc(load->sources, sizeof(*load->ids));
	load->id_rooms = calloc(load->sources, sizeof(*load->id_rooms));
	load->opened = false;
	return load->ids && load->id_rooms ? EXIT_OK : out_of_memory(load);
}

static void end(struct load *load)
{
	if (load->ids && load->id_rooms)
		forget_ids(load);
	free(load->ids);
	free(load->id_rooms);
}

/* ---- runs ---- */

static bool continues(const struct load *load)
{
	const struct history_run *open = &load->open, *next = &load->next;
	const struct history *history = load->history;

	return load->opened && open->thread == next->thread && open->space == next->space &&
	       open->cpu == next->cpu && open->time_known == next->time_known &&
	       open->time == next->time &&
	       history->run[history->run_count - 1].blocks < HISTORY_RUN_BLOCKS;
}

static bool add_gap(struct load *load)
{
	struct history_run gap = load->next;

	gap.space = NULL;
	gap.time_known = false;
	gap.gap = strdup(*load->reason ? load->reason : "a gap in the trace");
	load->opened = false;
	if (!gap.gap)
		return false;
	if (history_add_run(load->history, &gap))
		return true;
	free(gap.gap);
	return false;
}

static int take_batch(struct load *load, const struct ntrace_block_batch *batch)
{
	int64_t code;
	size_t i;

	if (load->history->block_count + batch->count > BLOCKS_MAX) {
		load->failed = true;
		return fail("more than %zu blocks were executed, which is too much: choose a part "
			    "with --part, --user, --cpu, --src or --stream",
			    BLOCKS_MAX);
	}
	load->next.space = batch->space;
	load->next.time = batch->time;
	load->next.time_known = batch->time_known;
	if (load->gap_pending && load->open.thread != load->next.thread && !add_gap(load))
		return out_of_memory(load);
	load->gap_pending = false;
	if (!continues(load)) {
		if (!history_add_run(load->history, &load->next))
			return out_of_memory(load);
		load->open = load->next;
		load->opened = true;
	}
	for (i = 0; i < batch->count; i++) {
		code = find_code(load, batch, &batch->blocks[i]);
		if (code < 0)
			return EXIT_FAILED;
		if (!history_add_block(load->history, (uint32_t)code))
			return out_of_memory(load);
	}
	return 0;
}

static bool use_thread(struct load *load, int32_t pid, int32_t tid, const char *name, uint64_t hz)
{
	int64_t number = history_thread(load->history, pid, tid);
	struct history_thread *thread;

	if (number < 0)
		return false;
	thread = &load->history->thread[number];
	snprintf(thread->name, sizeof(thread->name), "%s", name);
	thread->hz = hz;
	load->next.thread = (uint32_t)number;
	return true;
}

/* Errors explain the gap that follows them. */
static int take_event(struct load *load, const struct ntrace_flow_event *event)
{
	if (event->type == NTRACE_FLOW_ERROR) {
		load->gaps++;
		ntrace_flow_describe(event, load->reason, sizeof(load->reason));
		return 0;
	}
	if (event->type != NTRACE_FLOW_GAP)
		return 0;
	load->gaps++;
	if (!*load->reason)
		ntrace_flow_describe(event, load->reason, sizeof(load->reason));
	if (!add_gap(load))
		return out_of_memory(load);
	load->open = load->next;
	load->gap_pending = load->tasks;
	return 0;
}

/* ---- recordings ---- */

struct recording_load {
	struct load *load;
	struct recording *recording;
	int64_t stream;
};

static bool use_task(struct recording_load *from, unsigned int stream, unsigned int cpu,
		     int32_t pid, int32_t tid, const char *comm)
{
	const struct ntrace_stream *info = ntrace_session_stream(from->recording->session, stream);
	struct load *load = from->load;
	char name[32];

	load->next.cpu = cpu;
	if (load->cpu < 0)
		return use_thread(load, pid, tid, comm, info->params->timestamp_hz);
	snprintf(name, sizeof(name), "CPU %u", cpu);
	return use_thread(load, -1, (int32_t)cpu + 1, name, info->params->timestamp_hz);
}

static bool wanted(const struct recording_load *from, unsigned int stream, unsigned int cpu)
{
	return (from->stream < 0 || from->stream == stream) &&
	       (from->load->cpu < 0 || from->load->cpu == cpu);
}

static bool has_privilege(const struct load *load, unsigned int privilege)
{
	return !load->privileges || load->privileges >> privilege & 1;
}

static int session_event(void *data, const struct ntrace_session_event *event)
{
	struct recording_load *from = data;
	struct load *load = from->load;

	if ((event->flow->type != NTRACE_FLOW_GAP && event->flow->type != NTRACE_FLOW_ERROR) ||
	    !wanted(from, event->stream, event->cpu))
		return 0;
	load->next.order = event->sideband_ns;
	if (!use_task(from, event->stream, event->cpu, event->pid, event->tid, event->comm))
		return out_of_memory(load);
	if (event->flow->type == NTRACE_FLOW_ERROR)
		load->unmapped = event->flow->code == NTRACE_FLOW_ERROR_NOMAP;
	/* Memory that is not known between code that is not shown, such as firmware: no gap. */
	if (event->flow->type == NTRACE_FLOW_GAP && load->unmapped && !load->shown) {
		load->hidden = load->next;
		load->hidden_gap = true;
		return 0;
	}
	return take_event(load, event->flow);
}

static int session_segment(void *data, const struct ntrace_segment *blocks)
{
	struct recording_load *from = data;
	struct load *load = from->load;

	if (!wanted(from, blocks->stream, blocks->cpu))
		return 0;
	load->shown = has_privilege(load, blocks->privilege);
	if (!load->shown) {
		load->hidden_gap = false;
		*load->reason = '\0';
		return 0;
	}
	if (load->hidden_gap) {
		load->next = load->hidden;
		load->hidden_gap = false;
		if (!add_gap(load))
			return out_of_memory(load);
	}
	load->next.order = blocks->sideband_ns;
	if (!use_task(from, blocks->stream, blocks->cpu, blocks->pid, blocks->tid, blocks->comm))
		return out_of_memory(load);
	load->pid = blocks->privilege == NTRACE_PRIV_U ? blocks->pid : -1;
	if (take_batch(load, blocks->batch))
		return EXIT_FAILED;
	*load->reason = '\0';
	return 0;
}

/* The next stream has block ids of its own. */
static int session_end(void *data, unsigned int stream)
{
	struct recording_load *from = data;

	(void)stream;
	forget_ids(from->load);
	from->load->opened = false;
	from->load->gap_pending = false;
	from->load->hidden_gap = false;
	from->load->shown = true;
	*from->load->reason = '\0';
	return 0;
}

static struct ntrace_decode_options receiver_of(struct recording_load *from)
{
	return (struct ntrace_decode_options){ .stream = NTRACE_ALL_STREAMS,
					       .event = session_event,
					       .segment = session_segment,
					       .end = session_end,
					       .data = from };
}

/* Decodes the part of each stream. */
static int decode_parts(struct recording_load *from)
{
	struct ntrace_decode_options options = receiver_of(from);
	struct recording *recording = from->recording;
	struct ntrace_session_range *range = &recording->range.range;
	unsigned int streams = ntrace_session_streams(recording->session);
	struct progress progress;
	int error = 0;

	progress_begin(&progress, "gdb", streams);
	for (unsigned int i = 0; !error && i < streams; i++) {
		progress_update(&progress, i);
		/* A stream may have nothing in this part. */
		if (from->load->begin[i] == from->load->end[i])
			continue;
		*range = (struct ntrace_session_range){
			.size = sizeof(*range),
			.first_offset = from->load->begin[i],
			.last_offset = from->load->end[i] - (from->load->end[i] != UINT64_MAX),
			.last_time = UINT64_MAX,
		};
		recording->range.given = true;
		options.stream = i;
		error = recording_decode(recording, NULL, &options, NULL);
	}
	progress_end(&progress);
	recording->range.given = false;
	return error;
}

int load_recording(struct load *load, struct recording *recording, int64_t stream)
{
	struct recording_load from = { load, recording, stream };
	const struct ntrace_decode_options options = receiver_of(&from);
	int error = begin(load);

	load->tasks = load->cpu < 0;
	load->shown = true;
	if (!error && load->begin)
		error = decode_parts(&from);
	else if (!error)
		error = recording_decode(recording, "gdb", &options, NULL);
	end(load);
	if (error && !load->failed)
		return fail("%s", ntrace_strerror(error));
	return error ? EXIT_FAILED : EXIT_OK;
}

/* The search for the first timestamp of a stream. */
struct first_time {
	uint32_t privileges;
	bool known;
	uint64_t time;
};

static int ignore_event(void *data, const struct ntrace_session_event *event)
{
	(void)data;
	(void)event;
	return 0;
}

static int find_time(void *data, const struct ntrace_segment *blocks)
{
	struct first_time *first = data;

	if (!blocks->batch->time_known ||
	    (first->privileges && !(first->privileges >> blocks->privilege & 1)))
		return 0;
	if (!first->known || blocks->batch->time < first->time)
		first->time = blocks->batch->time;
	first->known = true;
	return 1;
}

bool load_first_time(const struct load *load, struct recording *recording, int64_t stream,
		     uint64_t *time)
{
	struct load filter = *load;
	const struct recording_load from = { &filter, recording, stream };
	struct first_time first = { .privileges = load->privileges };

	for (unsigned int i = 0; i < ntrace_session_streams(recording->session); i++)
		if (wanted(&from, i, ntrace_session_stream(recording->session, i)->cpu))
			ntrace_session_decode(recording->session,
					      &(struct ntrace_decode_options){
						      .size = sizeof(struct ntrace_decode_options),
						      .stream = i,
						      .event = ignore_event,
						      .segment = find_time,
						      .data = &first });
	*time = first.time;
	return first.known;
}

/* ---- raw traces ---- */

static bool use_lane(struct load *load, const struct lane *lane)
{
	char name[32];

	load->next.cpu = lane->src < 0 ? 0 : (uint32_t)lane->src;
	snprintf(name, sizeof(name), "hart %u", load->next.cpu);
	load->next.order = load->order++;
	return use_thread(load, -1, (int32_t)load->next.cpu + 1, lane->src < 0 ? "hart" : name, 0);
}

static int raw_event(void *data, struct lane *lane, const struct ntrace_flow_event *event)
{
	struct load *load = data;

	if (!lane)
		return 0;
	if (event->type != NTRACE_FLOW_GAP && event->type != NTRACE_FLOW_ERROR)
		return 0;
	if (!use_lane(load, lane))
		return out_of_memory(load);
	return take_event(load, event);
}

static int raw_blocks(void *data, struct lane *lane, const struct ntrace_block_batch *batch)
{
	struct load *load = data;

	if (!use_lane(load, lane))
		return out_of_memory(load);
	if (take_batch(load, batch))
		return EXIT_FAILED;
	*load->reason = '\0';
	return 0;
}

int load_raw(struct load *load, struct trace *trace, const struct ntrace_params *params,
	     struct ntrace_space *space)
{
	static struct lanes lanes;
	static struct progress progress;
	int stopped, error = begin(load);

	lanes.params = *params;
	lanes.space = space;
	lanes.only = load->src;
	lanes.event = raw_event;
	lanes.blocks = raw_blocks;
	lanes.data = load;
	load->pid = -1;
	if (!error)
		error = trace_start(trace, params);
	if (!error && lanes_start(&lanes))
		error = fail("%s: the stream parameters contradict each other", trace->name);
	if (!error) {
		progress_begin(&progress, "gdb", trace->size);
		trace->progress = &progress;
		stopped = lanes_walk(&lanes, trace);
		progress_end(&progress);
		if (stopped < 0)
			fail("%s", ntrace_strerror(stopped));
		error = stopped ? EXIT_FAILED : EXIT_OK;
	}
	for (size_t i = 0; i < load->history->thread_count; i++)
		load->history->thread[i].hz = params->timestamp_hz;
	lanes_free(&lanes);
	end(load);
	return error;
}
