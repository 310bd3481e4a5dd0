/* SPDX-License-Identifier: GPL-2.0-only */
/* Times that users type. */
#ifndef NTRACE_TOOL_COMMON_MOMENT_H
#define NTRACE_TOOL_COMMON_MOMENT_H

#include <stdbool.h>
#include <stdint.h>

/**
 * struct moment_scale - timestamps of a trace
 * @first: first timestamp in ticks, if @known
 * @hz: ticks in a second, 0 = unknown
 */
struct moment_scale {
	bool known;
	uint64_t first;
	uint64_t hz;
};

/**
 * moment_parse - ticks of "1.25", "3ms" (since the first timestamp) or "@TICKS"
 *
 * Return: NULL, or why @text is not a time: a sentence without full stop.
 */
const char *moment_parse(const char *text, const struct moment_scale *scale, uint64_t *ticks);

#endif /* NTRACE_TOOL_COMMON_MOMENT_H */
