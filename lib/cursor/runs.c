// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Which thread executed which items: runs, in order of time over all streams.
 *
 * Trace need not have timestamps, but each event has a place in the sideband: the end of its
 * scheduling interval. A thread runs on one hart at a time, so these places give the order of its
 * runs.
 */
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "grow.h"
#include "lane.h"

int runs_note(struct lane *lane, const struct run *piece)
{
	struct run *run = lane->run_count ? &lane->runs[lane->run_count - 1] : NULL;
	const char *comm = run && !strcmp(run->comm, piece->comm) ?
				   run->comm :
				   store_name(lane->store, piece->comm);

	if (!comm)
		return NTRACE_ERR_NOMEM;
	/* A thread may have been on another hart between two intervals of this one. */
	if (!run || run->pid != piece->pid || run->tid != piece->tid ||
	    run->last_ns != piece->first_ns) {
		if (grow((void **)&lane->runs, lane->run_count, &lane->run_room,
			 sizeof(*lane->runs)))
			return NTRACE_ERR_NOMEM;
		run = &lane->runs[lane->run_count++];
		*run = *piece;
		run->comm = comm;
		return 0;
	}
	run->comm = comm;
	if (!run->instructions && piece->gap_items) {
		run->gap = piece->gap;
		run->gap_items = piece->gap_items;
	}
	run->count += piece->count;
	run->instructions += piece->instructions;
	run->last_ns = piece->last_ns;
	if (piece->time_known)
		extend_times(&run->first_time, &run->last_time, &run->time_known, piece->first_time,
			     piece->last_time);
	return 0;
}

/* Within a stream, places in the sideband never decrease. */
static int compare_runs(const struct run *a, const struct run *b)
{
	int order = compare_numbers(a->last_ns, b->last_ns);

	if (!order)
		order = compare_numbers(a->lane, b->lane);
	return order ? order : compare_numbers(a->first, b->first);
}

static int by_time(const void *left, const void *right)
{
	return compare_runs(*(const struct run *const *)left, *(const struct run *const *)right);
}

static int by_thread(const void *left, const void *right)
{
	const struct run *a = *(const struct run *const *)left;
	const struct run *b = *(const struct run *const *)right;

	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	if (a->tid != b->tid)
		return a->tid < b->tid ? -1 : 1;
	return compare_runs(a, b);
}

static void add_run(struct ntrace_cursor_thread *thread, const struct run *run)
{
	if (!thread->runs++ || run->first_ns < thread->first_ns)
		thread->first_ns = run->first_ns;
	thread->last_ns = run->last_ns;
	thread->comm = run->comm;
	thread->instructions += run->instructions;
	if (run->time_known)
		extend_times(&thread->first_time, &thread->last_time, &thread->time_known,
			     run->first_time, run->last_time);
}

static int list_threads(struct store *store, const struct run *const *runs, size_t count)
{
	struct ntrace_cursor_thread *thread = NULL;

	store->threads = calloc(count + 1, sizeof(*store->threads));
	if (!store->threads)
		return NTRACE_ERR_NOMEM;
	for (size_t i = 0; i < count; i++) {
		if (!thread || thread->pid != runs[i]->pid || thread->tid != runs[i]->tid) {
			thread = &store->threads[store->thread_count++];
			thread->pid = runs[i]->pid;
			thread->tid = runs[i]->tid;
		}
		add_run(thread, runs[i]);
	}
	return 0;
}

int runs_list(struct store *store)
{
	size_t count = 0, room = 0;
	const struct run **order;
	struct lane *lane;
	unsigned int i;
	int error;

	if (store->listed)
		return 0;
	for (i = 0; i < store->lane_count; i++) {
		error = store_lane(store, i, &lane);
		if (!error)
			error = lane_complete(lane);
		if (error)
			return error;
		room += lane->run_count;
	}
	order = malloc((room + 1) * sizeof(const struct run *));
	if (!order)
		return NTRACE_ERR_NOMEM;
	for (i = 0; i < store->lane_count; i++)
		for (size_t run = 0; run < store->lanes[i]->run_count; run++)
			order[count++] = &store->lanes[i]->runs[run];
	qsort(order, count, sizeof(const struct run *), by_thread);
	error = list_threads(store, order, count);
	if (error) {
		free(order);
		return error;
	}
	qsort(order, count, sizeof(const struct run *), by_time);
	store->order = order;
	store->order_count = count;
	store->listed = true;
	return 0;
}
