// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Exports of timelines with the start and end of frames: the list of formats and their common code.
 * Each thread has a track, which it keeps when it moves to another hart, and each hart has one that
 * shows which thread it runs.
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

/* Whether the track of a hart shows a thread. NULL: out of memory. */
static bool *running_of(struct ntrace_export_timeline *timeline, uint32_t stream)
{
	if (stream >= timeline->running_count) {
		bool *running = realloc(timeline->running, stream + (size_t)1);

		if (!running) {
			timeline->error = NTRACE_ERR_NOMEM;
			return NULL;
		}
		timeline->running = running;
		while (timeline->running_count <= stream)
			running[timeline->running_count++] = false;
	}
	return &timeline->running[stream];
}

/* Threads start and end on the track of their hart like functions on the track of a thread. */
static int put_run(struct ntrace_export_timeline *timeline,
		   const struct ntrace_stack_change *change)
{
	struct ntrace_stack_change run = *change;
	bool *running = running_of(timeline, change->stream);
	char name[64];
	int error = 0;

	if (!running)
		return NTRACE_ERR_NOMEM;
	timeline_track_name(change, name, sizeof(name));
	run.tid = TIMELINE_HART;
	run.type = NTRACE_STACK_LEAVE;
	if (*running)
		error = put(timeline, &run, "");
	*running = change->kind == NTRACE_STACK_TASK;
	run.type = NTRACE_STACK_ENTER;
	return error || !*running ? error : put(timeline, &run, name);
}

int ntrace_export_timeline_change(void *data, const struct ntrace_stack_change *change)
{
	struct ntrace_export_timeline *timeline = data;

	timeline->last_time = change->time;
	timeline->time_error = change->time_error;
	if (change->type == NTRACE_STACK_RUN)
		return put_run(timeline, change);
	return put(timeline, change, change->type == NTRACE_STACK_GAP ? "trace lost" : NULL);
}

int ntrace_export_timeline_close(struct ntrace_export_timeline *timeline, uint64_t *events)
{
	int error;

	if (events)
		*events = 0;
	if (!timeline)
		return 0;
	if (formats[timeline->format].end)
		formats[timeline->format].end(timeline);
	if (ferror(timeline->file) && !timeline->error)
		timeline->error = NTRACE_ERR_IO;
	error = timeline->error;
	if (events)
		*events = timeline->events;
	free(timeline->running);
	pairs_free(&timeline->tracks);
	pairs_free(&timeline->names);
	protobuf_free(&timeline->packet);
	protobuf_free(&timeline->part);
	protobuf_free(&timeline->inner);
	free(timeline);
	return error;
}
