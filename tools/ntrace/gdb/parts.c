// SPDX-License-Identifier: GPL-2.0-only
/* Parts of a large recording. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/ui.h"
#include "parts.h"

/** struct part_view - a part in memory */
struct part_view {
	struct part_view *next;
	size_t number;
	struct history history;
	struct target target;
};

static struct parts *parts_of(const struct target_parts *base)
{
	return (struct parts *)(uintptr_t)base;
}

/* ---- boundaries ---- */

/** struct point - a point of the index of a stream */
struct point {
	uint64_t time;
	uint64_t offset;
	unsigned int stream;
};

static bool wanted(const struct parts *parts, unsigned int stream)
{
	const struct ntrace_stream *info = ntrace_session_stream(parts->recording->session, stream);

	return (parts->stream < 0 || parts->stream == stream) &&
	       (parts->options->cpu < 0 || parts->options->cpu == info->cpu);
}

static uint64_t total_bytes(const struct parts *parts)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < parts->streams; i++)
		if (wanted(parts, i))
			sum += ntrace_session_stream(parts->recording->session, i)->bytes;
	return sum;
}

/* A new boundary at the places of the streams. Return: false when out of memory. */
static bool add_boundary(struct parts *parts, const uint64_t *at, uint64_t time)
{
	size_t room = parts->room ? 2 * parts->room : 16;
	uint64_t *more;

	if (parts->base.count == parts->room) {
		more = reallocarray(parts->offset, room * parts->streams, sizeof(*more));
		if (!more)
			return false;
		parts->offset = more;
		more = reallocarray(parts->time, room, sizeof(*more));
		if (!more)
			return false;
		parts->time = more;
		parts->room = room;
	}
	memcpy(parts->offset + parts->base.count * parts->streams, at,
	       parts->streams * sizeof(*at));
	parts->time[parts->base.count++] = time;
	return true;
}

static int by_time(const void *first, const void *second)
{
	const struct point *a = first, *b = second;

	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	if (a->stream != b->stream)
		return a->stream < b->stream ? -1 : 1;
	return a->offset < b->offset ? -1 : a->offset > b->offset;
}

/* All points of the wanted streams. Return: NULL when out of memory. */
static struct point *collect(struct parts *parts, size_t *count)
{
	const struct ntrace_session *session = parts->recording->session;
	struct ntrace_index_point point;
	struct point *points = NULL;
	size_t room = 0;

	*count = 0;
	parts->timed = true;
	for (unsigned int i = 0; i < parts->streams; i++) {
		for (uint64_t n = 0;
		     wanted(parts, i) && !ntrace_session_index_point(session, i, n, &point); n++) {
			if (!history_grow(&points, *count, &room, sizeof(*points))) {
				free(points);
				return NULL;
			}
			/* A stream without times is divided like the first one. */
			parts->timed &= point.time_known;
			points[(*count)++] = (struct point){
				.time = point.time,
				.offset = point.offset,
				.stream = i,
			};
		}
	}
	if (!points)
		points = calloc(1, sizeof(*points));
	return points;
}

/* Places without a time are ordered by their share of the stream. */
static void order_points(const struct parts *parts, struct point *points, size_t count)
{
	for (size_t i = 0; !parts->timed && i < count; i++) {
		const struct ntrace_stream *info =
			ntrace_session_stream(parts->recording->session, points[i].stream);

		points[i].time =
			info->bytes ?
				(uint64_t)((double)points[i].offset * 1e15 / (double)info->bytes) :
				0;
	}
	qsort(points, count, sizeof(*points), by_time);
}

static bool divide(struct parts *parts, const struct point *points, size_t count, uint64_t size)
{
	uint64_t *at = calloc(parts->streams, sizeof(*at)), since = 0;
	bool good;

	if (!at)
		return false;
	good = add_boundary(parts, at, 0);
	for (size_t i = 0; good && i < count; i++) {
		since += points[i].offset - at[points[i].stream];
		at[points[i].stream] = points[i].offset;
		if (since < size)
			continue;
		good = add_boundary(parts, at, points[i].time);
		since = 0;
	}
	for (unsigned int i = 0; i < parts->streams; i++)
		at[i] = UINT64_MAX;
	good = good && add_boundary(parts, at, UINT64_MAX);
	/* The last boundary is an end. */
	parts->base.count -= good;
	free(at);
	return good;
}

static size_t part_at_time(const struct target_parts *base, uint64_t time)
{
	const struct parts *parts = parts_of(base);
	size_t part = 0;

	while (parts->timed && part + 1 < base->count && parts->time[part + 1] <= time)
		part++;
	return part;
}

/* ---- views ---- */

static void free_view(struct part_view *view)
{
	target_free(&view->target);
	history_free(&view->history);
	free(view);
}

/* Frees the parts that no debugger shows. */
static void free_unused(struct parts *parts)
{
	struct part_view **at = &parts->views, *view;

	while ((view = *at)) {
		if (view->target.clients) {
			at = &view->next;
			continue;
		}
		*at = view->next;
		free_view(view);
	}
}

static int load_view(struct parts *parts, struct part_view *view)
{
	const size_t first = view->number * parts->streams;
	struct load load = *parts->options;
	int64_t tid = parts->tid;
	int error;

	load.history = &view->history;
	if (parts->base.count > 1) {
		load.begin = parts->offset + first;
		load.end = parts->offset + first + parts->streams;
	}
	error = load_recording(&load, parts->recording, parts->stream);
	if (!error && !history_end(&view->history, 0))
		error = fail("out of memory");
	if (error)
		return error;
	if (!parts->known && !parts->tid && parts->around)
		tid = target_around(&view->history, parts->around, parts->calls);
	if (parts->base.count > 1) {
		view->history.time_known &= parts->timed;
		view->history.first_time = parts->first_time;
	}
	error = parts->known ? target_init_process(&view->target, &view->history, parts->pid) :
			       target_init(&view->target, &view->history, tid);
	if (error)
		return error;
	parts->known = true;
	parts->pid = view->target.pid;
	view->target.xlen = parts->xlen;
	view->target.parts = parts->base.count > 1 ? &parts->base : NULL;
	view->target.part = view->number;
	return parts->exec ? target_set_exec(&view->target, parts->exec, parts->exec_bias) :
			     EXIT_OK;
}

struct target *parts_open(struct parts *parts, size_t number)
{
	struct part_view *view;

	for (view = parts->views; view; view = view->next)
		if (view->number == number)
			return &view->target;
	free_unused(parts);
	view = calloc(1, sizeof(*view));
	if (!view) {
		parts->failed = fail("out of memory");
		return NULL;
	}
	view->number = number;
	parts->failed = load_view(parts, view);
	if (parts->failed) {
		free_view(view);
		return NULL;
	}
	view->next = parts->views;
	parts->views = view;
	return &view->target;
}

static struct target *open_part(struct target_parts *base, size_t number)
{
	return parts_open(parts_of(base), number);
}

void parts_free(struct parts *parts)
{
	struct part_view *view;

	while ((view = parts->views)) {
		parts->views = view->next;
		free_view(view);
	}
	free(parts->offset);
	free(parts->time);
	parts->offset = parts->time = NULL;
}

int parts_make(struct parts *parts, uint64_t size, const char *path)
{
	struct point *points;
	size_t count;
	bool good;
	int error;

	parts->streams = ntrace_session_streams(parts->recording->session);
	parts->base = (struct target_parts){ 1, open_part, part_at_time };
	if (total_bytes(parts) <= size)
		return EXIT_OK;
	error = recording_index(parts->recording, path, NULL);
	if (error)
		return error;
	points = collect(parts, &count);
	if (!points)
		return fail("out of memory");
	order_points(parts, points, count);
	parts->base.count = 0;
	good = divide(parts, points, count, size);
	free(points);
	parts->timed &= load_first_time(parts->options, parts->recording, parts->stream,
					&parts->first_time);
	return good ? EXIT_OK : fail("out of memory");
}
