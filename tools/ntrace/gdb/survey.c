// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which threads a trace has. Of a recording, each block is counted once with the number of its
 * executions, without their order; of a raw trace, the cursors go over all of it.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ntrace/encode.h>

#include "common/ui.h"
#include "survey.h"

/* The state of a survey of a recording. */
struct counting {
	const struct survey *survey;
	const struct ntrace_session *session;
	struct ntrace_locator *locator;
	struct history_thread *thread;	/* of @last */
	struct ntrace_segment last;
};

static bool is_wanted(const struct counting *counting, unsigned int stream, unsigned int cpu)
{
	const struct survey *survey = counting->survey;

	return (survey->history->stream < 0 || survey->history->stream == stream) &&
	       (survey->cpu < 0 || survey->cpu == cpu);
}

/* The thread of a task, or of all tasks of a CPU. Return: false when out of memory */
static bool use_thread(struct counting *counting, const struct ntrace_segment *segment)
{
	const struct survey *survey = counting->survey;
	const struct ntrace_segment *last = &counting->last;
	struct history *history = survey->history;
	bool by_cpu = survey->cpu >= 0;
	struct history_thread *thread;
	int64_t number;

	if (counting->thread && last->at.tid == segment->at.tid &&
	    last->at.pid == segment->at.pid && last->at.comm == segment->at.comm &&
	    last->at.cpu == segment->at.cpu && last->at.sideband_ns == segment->at.sideband_ns)
		return true;
	number = by_cpu ? history_thread(history, -1, (int32_t)segment->at.cpu + 1) :
			  history_thread(history, segment->at.pid, segment->at.tid);
	if (number < 0)
		return false;
	counting->last = *segment;
	thread = counting->thread = &history->thread[number];
	if (segment->at.sideband_ns >= thread->last_ns) {
		thread->last_ns = segment->at.sideband_ns;
		thread->cpu = segment->at.cpu;
	}
	thread->config.session = (struct ntrace_session *)(uintptr_t)counting->session;
	thread->config.privileges = survey->privileges;
	thread->hz =
		ntrace_session_stream(counting->session, segment->at.stream)->params->timestamp_hz;
	thread->config.stream = segment->at.stream;
	if (by_cpu) {
		snprintf(thread->name, sizeof(thread->name), "CPU %u", segment->at.cpu);
	} else {
		thread->config.pid = segment->at.pid;
		thread->config.tid = segment->at.tid;
		snprintf(thread->name, sizeof(thread->name), "%s", segment->at.comm);
	}
	return true;
}

static void note_time(struct history *history, const struct ntrace_block_batch *batch)
{
	if (!batch->time_known || (history->time_known && batch->time >= history->first_time))
		return;
	history->time_known = true;
	history->first_time = batch->time;
}

static int count_segment(void *data, const struct ntrace_segment *segment)
{
	bool sum = segment->type == NTRACE_SEGMENT_SUM;
	struct counting *counting = data;
	const struct survey *survey = counting->survey;
	const struct ntrace_block_batch *batch = segment->batch;

	if (!is_wanted(counting, segment->at.stream, segment->at.cpu) || (sum && !segment->times) ||
	    (survey->privileges && !(survey->privileges >> segment->at.privilege & 1)))
		return 0;
	if (!use_thread(counting, segment))
		return NTRACE_ERR_NOMEM;
	if (!sum)
		note_time(survey->history, batch);
	for (size_t i = sum ? segment->lead : 0; i < batch->count; i++) {
		const struct ntrace_block *block = &batch->blocks[i];
		const struct ntrace_location *place =
			ntrace_locator_find(counting->locator, batch->space, block->address);
		int64_t module = -1;

		if (place->object) {
			module = history_add_module(survey->history, place->object,
						    block->address - place->link_address,
						    counting->thread->pid);
			if (module < 0)
				return NTRACE_ERR_NOMEM;
		}
		history_survey_block(survey->history, counting->thread, module, block,
				     sum ? segment->times : 1);
	}
	return 0;
}

static int ignore_event(void *data, const struct ntrace_session_event *event)
{
	(void)data;
	(void)event;
	return 0;
}

int survey_recording(const struct survey *survey, struct recording *recording)
{
	struct counting counting = { .survey = survey,
				     .session = recording->session,
				     .locator = ntrace_locator_new() };
	const struct ntrace_decode_options options = {
		.stream = NTRACE_ALL_STREAMS,
		.needs = NTRACE_NEEDS_SUMS | NTRACE_NEEDS_THREADS,
		.event = ignore_event,
		.segment = count_segment,
		.data = &counting,
	};
	int error = counting.locator ? recording_decode(recording, "gdb", &options, NULL) :
				       NTRACE_ERR_NOMEM;

	ntrace_locator_free(counting.locator);
	survey->history->valued = recording->core || ntrace_values_recorded(recording->session);
	return error ? fail("%s", ntrace_strerror(error)) : EXIT_OK;
}

/* ---- raw traces ---- */

static int add_hart(const struct survey *survey, const struct raw_trace *raw,
		    const struct ntrace_params *params, struct ntrace_space *space,
		    unsigned int src)
{
	struct ntrace_locator *locator = ntrace_locator_new();
	struct history *history = survey->history;
	int64_t number = history_thread(history, -1, (int32_t)src + 1);
	struct history_thread *thread;
	bool good;

	if (number < 0 || !locator) {
		ntrace_locator_free(locator);
		return fail("out of memory");
	}
	thread = &history->thread[number];
	if (params->src_bits)
		snprintf(thread->name, sizeof(thread->name), "hart %u", src);
	else
		snprintf(thread->name, sizeof(thread->name), "hart");
	thread->hz = params->timestamp_hz;
	thread->config.params = params;
	thread->config.src = src;
	thread->config.space = space;
	thread->config.data = raw->data;
	thread->config.data_size = raw->size;
	good = history_survey(history, (uint32_t)number, locator);
	ntrace_locator_free(locator);
	return good ? EXIT_OK : fail("out of memory");
}

int survey_raw(const struct survey *survey, const struct raw_trace *raw, const char *name,
	       const struct ntrace_params *params, struct ntrace_space *space)
{
	uint64_t *messages = calloc(RAW_SOURCES, sizeof(*messages));
	struct ntrace_reader reader;
	int error = EXIT_OK;

	if (!messages)
		return fail("out of memory");
	if (ntrace_reader_init(&reader, params, true))
		error = fail("%s: the stream parameters contradict each other", name);
	else
		raw_trace_sources(raw, params, name, messages, NULL, NULL);
	for (unsigned int src = 0; !error && src < RAW_SOURCES; src++)
		if (messages[src] && (survey->src < 0 || survey->src == src))
			error = add_hart(survey, raw, params, space, src);
	free(messages);
	return error;
}

/* ---- tandem traces ---- */

struct tandem_counting {
	struct history *history;
	struct ntrace_locator *locator;
	struct ntrace_space *space;
	uint32_t thread;
};

static bool count_group(void *user, const struct ntrace_tandem_state *state)
{
	struct tandem_counting *counting = user;
	const struct ntrace_block block = {
		.address = state->pc_before,
		.instructions = 1,
		.bytes = state->insn_bytes,
	};
	const struct ntrace_location *place;
	int64_t module;

	if (!counting->space || !(state->has & NTRACE_TANDEM_HAS_INSN))
		return true;
	place = ntrace_locator_find(counting->locator, counting->space, block.address);
	if (!place->object)
		return true;
	module = history_add_module(counting->history, place->object,
				    block.address - place->link_address, -1);
	if (module < 0)
		return false;
	history_survey_block(counting->history, &counting->history->thread[counting->thread],
			     module, &block, 1);
	return true;
}

int survey_tandem(const struct survey *survey, const struct raw_trace *raw, const char *name,
		  const struct ntrace_tandem_params *params, struct ntrace_space *space)
{
	struct history *history = survey->history;
	int64_t number = history_thread(history, -1, 1);
	struct tandem_counting counting = { .history = history,
					    .locator = ntrace_locator_new(),
					    .space = space,
					    .thread = (uint32_t)number };
	int error = NTRACE_ERR_NOMEM;

	if (number >= 0 && counting.locator)
		error = replay_new(&history->replay, params, raw->data, (size_t)raw->size, space,
				   count_group, &counting);
	ntrace_locator_free(counting.locator);
	if (!history->replay)
		return fail("%s", ntrace_strerror(error));
	if (error)
		warn("%s: the trace is damaged after group %" PRIu64
		     ": are --xlen, --mlen and --flen right?",
		     name, replay_groups(history->replay));
	snprintf(history->thread[number].name, sizeof(history->thread[number].name), "hart");
	history->thread[number].instructions = replay_groups(history->replay);
	return EXIT_OK;
}
