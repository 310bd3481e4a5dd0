/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Definitions shared by the two formats of timelines. */
#ifndef NTRACE_EXPORT_TIMELINE_PRIVATE_H
#define NTRACE_EXPORT_TIMELINE_PRIVATE_H

#include "pairs.h"
#include "protobuf.h"
#include "stacks.h"

/* enum ntrace_stack_time. */
#define TIMELINE_CATEGORIES 4
/* Names whose numbers are found without a table; a power of two. */
#define TIMELINE_RECENT 1024

/*
 * @tracks: tracks that have been named: see timeline_place()
 * @names: functions and categories, for Perfetto; the address of a name identifies it, since the
 *         address is stable as long as the stacks exist
 * @packet, @part, @inner: messages under construction
 * @written: not 0 after the first JSON object or packet
 * @running: by stream: the track of its hart shows a thread; @running_count: their number
 * @threads: the process of all threads has its name, for Chrome
 * @last_time: of the last change, and @time_error as there
 * @last_track: track of the last change, of @last_place and @last_tid, for Perfetto; 0 = none
 * @categories: their numbers, for Perfetto; 0 = not used yet
 * @recent: names that came lately, by their address, with their numbers, for Perfetto
 */
struct ntrace_export_timeline {
	FILE *file;
	const struct ntrace_session *session;
	unsigned int format;
	struct pairs tracks;
	struct pairs names;
	struct protobuf packet;
	struct protobuf part;
	struct protobuf inner;
	uint64_t written;
	uint64_t events;
	bool *running;
	uint32_t running_count;
	bool threads;
	uint64_t last_time;
	uint64_t time_error;
	uint64_t last_track;
	uint32_t last_place;
	int32_t last_tid;
	uint64_t categories[TIMELINE_CATEGORIES];
	struct {
		uint64_t name;
		uint64_t number;
	} recent[TIMELINE_RECENT];
	int error;
};

/* The number of a pair; @is_new: the number is new. */
uint64_t timeline_number(struct ntrace_export_timeline *timeline, struct pairs *seen, uint64_t a,
			 uint64_t b, bool *is_new);

/* Thread id of the track that shows a hart's threads; no thread has this id. */
#define TIMELINE_HART (-2)

/* A thread has one track; idle and unknown threads, and harts, have one for each stream. */
static inline uint32_t timeline_place(const struct ntrace_stack_change *change)
{
	return change->tid > 0 ? 0 : change->stream + 1;
}

void timeline_track_name(const struct ntrace_stack_change *change, char *text, size_t size);
const char *timeline_category(const struct ntrace_stack_change *change);

void begin_chrome(struct ntrace_export_timeline *timeline);
void put_chrome(struct ntrace_export_timeline *timeline, const struct ntrace_stack_change *change,
		const char *name);
void end_chrome(struct ntrace_export_timeline *timeline);
void put_perfetto(struct ntrace_export_timeline *timeline, const struct ntrace_stack_change *change,
		  const char *name);
void end_perfetto(struct ntrace_export_timeline *timeline);

#endif
