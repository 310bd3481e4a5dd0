// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Exports of timelines with the start and end of frames: the list of formats and their common code.
 * A thread has a track on each hart that it ran on, since the trace of a hart has the order of
 * events on that hart only.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "timeline.h"

/* Numbers tracks and, for Perfetto, names; each is defined once. */
uint64_t timeline_number(struct ntrace_export_timeline *timeline, struct pairs *seen, uint64_t a,
			 uint64_t b, bool *is_new)
{
	uint64_t number = pairs_number(seen, a, b, is_new);

	if (!number)
		timeline->error = NTRACE_ERR_NOMEM;
	return number;
}

uint64_t timeline_nanoseconds(struct ntrace_export_timeline *timeline,
			      const struct ntrace_stack_change *change)
{
	const struct ntrace_stream *stream;

	if (change->time_kind == NTRACE_STACK_TIME_NONE)
		return change->instructions;
	stream = timeline->session ? ntrace_session_stream(timeline->session, change->stream) :
				     NULL;
	if (!stream || !stream->params->timestamp_hz)
		return change->time;
	return (uint64_t)((unsigned __int128)change->time * 1000000000 /
			  stream->params->timestamp_hz);
}

void timeline_track_name(const struct ntrace_stack_change *change, char *text, size_t size)
{
	if (change->tid == TIMELINE_HART)
		snprintf(text, size, "CPU %" PRIu32, change->cpu);
	else
		snprintf(text, size, "%s %" PRId32 "/%" PRId32, change->comm, change->pid,
			 change->tid);
}

const char *timeline_category(const struct ntrace_stack_change *change)
{
	switch (change->time_kind) {
	case NTRACE_STACK_TIME_EXACT:
		return "exact";
	case NTRACE_STACK_TIME_INTERPOLATED:
		return "interpolated";
	case NTRACE_STACK_TIME_OUTSIDE:
		return "outside";
	default:
		return "instructions";
	}
}

static const struct {
	const char *name;
	void (*begin)(struct ntrace_export_timeline *timeline);
	void (*put)(struct ntrace_export_timeline *timeline,
		    const struct ntrace_stack_change *change, const char *name);
	void (*end)(struct ntrace_export_timeline *timeline);
	bool names;	/* each change needs the name of its frame */
} formats[NTRACE_EXPORT_TIMELINE_FORMATS] = {
	[NTRACE_EXPORT_CHROME] = { "chrome", begin_chrome, put_chrome, end_chrome, true },
	[NTRACE_EXPORT_PERFETTO] = { "perfetto", NULL, put_perfetto, end_perfetto, false },
};

const char *ntrace_export_timeline_name(unsigned int format)
{
	return format < NTRACE_EXPORT_TIMELINE_FORMATS ? formats[format].name : NULL;
}

int ntrace_export_timeline_open(struct ntrace_export_timeline **timeline, FILE *file,
				unsigned int format, const struct ntrace_session *session)
{
	struct ntrace_export_timeline *made;

	if (format >= NTRACE_EXPORT_TIMELINE_FORMATS)
		return NTRACE_ERR_INVALID;
	made = calloc(1, sizeof(*made));
	if (!made)
		return NTRACE_ERR_NOMEM;
	made->file = file;
	made->format = format;
	made->session = session;
	if (formats[format].begin)
		formats[format].begin(made);
	*timeline = made;
	return 0;
}

/* @name: NULL = that of the frame. */
static int put(struct ntrace_export_timeline *timeline, const struct ntrace_stack_change *change,
	       const char *name)
{
	char *made = NULL;

	if (!name && formats[timeline->format].names)
		name = made = stack_frame_name(change->kind, change->name);
	if (name || !formats[timeline->format].names)
		formats[timeline->format].put(timeline, change, name);
	else
		timeline->error = NTRACE_ERR_NOMEM;
	free(made);
	timeline->events++;
	if (ferror_unlocked(timeline->file) && !timeline->error)
		timeline->error = NTRACE_ERR_IO;
	return timeline->error;
}

/* Threads start and end on the track of their hart like functions on the track of a thread. */
static int put_run(struct ntrace_export_timeline *timeline,
		   const struct ntrace_stack_change *change)
{
	struct ntrace_stack_change run = *change;
	char name[64];
	int error = 0;

	timeline_track_name(change, name, sizeof(name));
	run.tid = TIMELINE_HART;
	run.type = NTRACE_STACK_LEAVE;
	if (timeline->running)
		error = put(timeline, &run, "");
	timeline->running = change->kind == NTRACE_STACK_TASK;
	run.type = NTRACE_STACK_ENTER;
	return error || !timeline->running ? error : put(timeline, &run, name);
}

int ntrace_export_timeline_change(void *data, const struct ntrace_stack_change *change)
{
	struct ntrace_export_timeline *timeline = data;

	if (change->type == NTRACE_STACK_RUN)
		return put_run(timeline, change);
	return put(timeline, change, change->type == NTRACE_STACK_GAP ? "trace lost" : NULL);
}

int ntrace_export_timeline_close(struct ntrace_export_timeline *timeline, uint64_t *events)
{
	int error;

	if (formats[timeline->format].end)
		formats[timeline->format].end(timeline);
	if (ferror(timeline->file) && !timeline->error)
		timeline->error = NTRACE_ERR_IO;
	error = timeline->error;
	if (events)
		*events = timeline->events;
	pairs_free(&timeline->tracks);
	pairs_free(&timeline->names);
	protobuf_free(&timeline->packet);
	protobuf_free(&timeline->part);
	protobuf_free(&timeline->inner);
	free(timeline);
	return error;
}
