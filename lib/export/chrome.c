// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Trace Event Format: JSON that chrome://tracing, Perfetto and Speedscope read. Each call has an
 * event at its start and one at its end.
 */
#include <inttypes.h>

#include "json_text.h"
#include "timeline.h"

void begin_chrome(struct ntrace_export_timeline *timeline)
{
	fputs("{\"displayTimeUnit\":\"ns\",\n\"traceEvents\":[", timeline->file);
}

void end_chrome(struct ntrace_export_timeline *timeline)
{
	char text[NTRACE_TIME_ERROR_SIZE];

	fputs("\n],\n\"otherData\":{\"producer\":\"ntrace\"", timeline->file);
	if (timeline->time_error) {
		fputs(",\"times\":", timeline->file);
		put_json_text(timeline->file, ntrace_time_error_text(timeline->time_error, text));
	}
	fputs("}}\n", timeline->file);
}

static void put_chrome_name(struct ntrace_export_timeline *timeline, const char *kind,
			    const struct ntrace_stack_change *change, const char *name)
{
	fprintf(timeline->file,
		"%s\n{\"ph\":\"M\",\"name\":\"%s\",\"pid\":%" PRIu32 ",\"tid\":%" PRId32
		",\"args\":{\"name\":",
		timeline->written++ ? "," : "", kind, timeline_place(change), change->tid);
	put_json_text(timeline->file, name);
	fputs("}}", timeline->file);
}

/* A hart is written as a process, and so are all threads, which move between harts, together. */
void put_chrome(struct ntrace_export_timeline *timeline, const struct ntrace_stack_change *change,
		const char *name)
{
	static const char phases[] = {
		[NTRACE_STACK_ENTER] = 'B', [NTRACE_STACK_LEAVE] = 'E', [NTRACE_STACK_GAP] = 'i'
	};
	uint64_t time = change->time;
	char text[64];
	bool is_new;

	timeline_track_name(change, text, sizeof(text));
	timeline_number(timeline, &timeline->tracks, timeline_place(change), (uint32_t)change->tid,
			&is_new);
	/* The hart's own track comes first and gives the process its name. */
	if (is_new && change->tid == TIMELINE_HART)
		put_chrome_name(timeline, "process_name", change, text);
	if (is_new && change->tid > 0 && !timeline->threads) {
		timeline->threads = true;
		put_chrome_name(timeline, "process_name", change, "threads");
	}
	if (is_new)
		put_chrome_name(timeline, "thread_name", change, text);
	fprintf(timeline->file,
		"%s\n{\"ph\":\"%c\",\"pid\":%" PRIu32 ",\"tid\":%" PRId32 ",\"ts\":%" PRIu64
		".%03" PRIu64 ",\"cat\":\"%s\"",
		timeline->written++ ? "," : "", phases[change->type], timeline_place(change),
		change->tid, time / 1000, time % 1000, timeline_category(change));
	if (change->type != NTRACE_STACK_LEAVE) {
		fputs(",\"name\":", timeline->file);
		put_json_text(timeline->file, name);
	}
	if (change->type == NTRACE_STACK_GAP)
		fputs(",\"s\":\"t\"", timeline->file);
	putc('}', timeline->file);
}
