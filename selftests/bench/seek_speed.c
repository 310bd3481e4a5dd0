// SPDX-License-Identifier: GPL-2.0-only
/*
 * The time from the request for a part of a recording to its first block: seek_speed RECORDING
 * SYSROOT ROUNDS. The part begins at 90 % of the first stream; the index is loaded before. Prints
 * one number of milliseconds for each round.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <ntrace/index.h>

#include "../include/decode_stream.h"

static double milliseconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static int no_event(void *data, const struct ntrace_session_event *event)
{
	(void)data;
	(void)event;
	return 0;
}

static int first_segment(void *data, const struct ntrace_segment *segment)
{
	(void)data;
	(void)segment;
	return 1;
}

int main(int argc, char **argv)
{
	struct ntrace_session_options options = { .size = sizeof(options), .sysroot = argv[2] };
	struct ntrace_session_range range = { .size = sizeof(range), .last_offset = UINT64_MAX };
	struct ntrace_index_counts counts;
	struct ntrace_session *session;
	double start;
	int i;

	if (argc != 4 || ntrace_session_open(&session, argv[1], &options) ||
	    ntrace_session_index(session, 0, &counts) || counts.decoded) {
		fprintf(stderr, "no recording with an index\n");
		return 1;
	}
	range.first_offset = ntrace_session_stream(session, 0)->bytes / 10 * 9;
	for (i = 0; i < atoi(argv[3]); i++) {
		start = milliseconds();
		if (decode_part(session, 0, &range, no_event, first_segment, NULL, NULL) != 1) {
			fprintf(stderr, "no block\n");
			return 1;
		}
		printf("%.4f\n", milliseconds() - start);
	}
	ntrace_session_close(session);
	return 0;
}
