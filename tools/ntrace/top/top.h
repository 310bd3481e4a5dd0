/* SPDX-License-Identifier: GPL-2.0-only */
/* Parts of `ntrace top`. */
#ifndef NTRACE_TOOL_TOP_H
#define NTRACE_TOOL_TOP_H

#include <stdbool.h>
#include <stdint.h>

#include "common/output.h"
#include "profile/profile.h"
#include "screen.h"

/**
 * struct top_window - a piece of time that was traced, and what was in it
 * @number: counts from 1
 * @harts: traced; 0: tasks were
 * @interval: seconds since the window before ended, or since the start
 * @traced: seconds of them with trace, on each hart
 * @decoding: seconds that decoding took
 * @bytes: of trace
 * @lost: of it while recording
 * @lost_exact: @lost is exact, else a lower bound
 * @holes: places where trace was lost while recording
 * @note: the first thing that the library had to say; "" = nothing
 * @profile: functions of this window
 */
struct top_window {
	uint64_t number;
	unsigned int harts;
	double interval;
	double traced;
	double decoding;
	uint64_t bytes;
	uint64_t lost;
	bool lost_exact;
	uint64_t holes;
	char note[256];
	struct profile profile;
};

/** top_show - draw a window: lines for people. @paused: nothing new comes. Return: 0 or errno */
int top_show(struct top_screen *screen, const struct top_window *window, size_t limit, bool paused);

/** top_json - a window as one JSON object in a line. Return: 0 or errno */
int top_json(struct output *output, const struct top_window *window, size_t limit);

#endif /* NTRACE_TOOL_TOP_H */
