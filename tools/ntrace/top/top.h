/* SPDX-License-Identifier: GPL-2.0-only */
/* Parts of `ntrace top`. */
#ifndef NTRACE_TOOL_TOP_H
#define NTRACE_TOOL_TOP_H

#include <stdbool.h>
#include <stdint.h>

#include <ntrace/functions.h>

#include "common/output.h"
#include "screen.h"

/**
 * struct top_window - a traced piece of time and its profile
 * @number: number of the window, from 1
 * @cpus: traced; 0: tasks were
 * @interval: seconds since the end of the previous window, or since the start
 * @traced: traced seconds of the interval, per CPU
 * @decoding: seconds of decoding
 * @bytes: bytes of trace
 * @losses: sum of what was lost while recording, see ntrace_stream_add_losses()
 * @note: the first note of the library; "" = nothing
 * @profile: functions of this window; NULL before the first one
 * @functions: in the order to show
 */
struct top_window {
	uint64_t number;
	unsigned int cpus;
	double interval;
	double traced;
	double decoding;
	uint64_t bytes;
	struct ntrace_stream losses;
	char note[256];
	struct ntrace_profile *profile;
	const struct ntrace_profile_function *functions;
	size_t function_count;
};

/** top_show - draw a window as text. @paused: no new windows follow. Return: 0 or errno */
int top_show(struct top_screen *screen, const struct top_window *window, size_t limit, bool paused);

/** top_json - a window as one JSON object in a line. Return: 0 or errno */
int top_json(struct output *output, const struct top_window *window, size_t limit);

#endif /* NTRACE_TOOL_TOP_H */
