/* SPDX-License-Identifier: GPL-2.0-only */
/* One stream of a recording, for tests: ntrace_session_decode() with what they need. */
#ifndef NTRACE_SELFTESTS_DECODE_STREAM_H
#define NTRACE_SELFTESTS_DECODE_STREAM_H

#include <string.h>

#include <ntrace/session.h>

/* @segment NULL: each block is an event. @stats: set to the totals; may be NULL. */
__attribute__((unused)) static int
decode_part(struct ntrace_session *session, unsigned int stream,
	    const struct ntrace_session_range *range,
	    int (*event)(void *data, const struct ntrace_session_event *event),
	    int (*segment)(void *data, const struct ntrace_segment *segment), void *data,
	    struct ntrace_flow_stats *stats)
{
	const struct ntrace_decode_options options = {
		.size = sizeof(options),
		.stream = stream,
		.event = event,
		.segment = segment,
		.data = data,
		.range = range,
		.stats = stats,
	};

	if (stats)
		memset(stats, 0, sizeof(*stats));
	return ntrace_session_decode(session, &options);
}

__attribute__((unused)) static int
decode_stream(struct ntrace_session *session, unsigned int stream,
	      int (*event)(void *data, const struct ntrace_session_event *event),
	      int (*segment)(void *data, const struct ntrace_segment *segment), void *data,
	      struct ntrace_flow_stats *stats)
{
	return decode_part(session, stream, NULL, event, segment, data, stats);
}

/* A block of a segment, for receivers of events. */
__attribute__((unused)) static int
segment_as_events(const struct ntrace_segment *segment,
		  int (*event)(void *data, const struct ntrace_session_event *event), void *data)
{
	struct ntrace_session_event made;
	struct ntrace_flow_event flow;
	int result = 0;

	for (size_t i = 0; i < segment->batch->count && !result; i++) {
		ntrace_segment_event(segment, &segment->batch->blocks[i], &flow, &made);
		result = event(data, &made);
	}
	return result;
}

#endif
