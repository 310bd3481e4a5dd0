/* SPDX-License-Identifier: GPL-2.0-only */
/* Options of commands that decode a part of a recording. */
#ifndef NTRACE_TOOL_COMMON_RANGE_H
#define NTRACE_TOOL_COMMON_RANGE_H

#include <stdbool.h>

#include <ntrace/index.h>

#include "command.h"

/* Ids of RANGE_OPTIONS. */
enum {
	OPTION_RANGE_OFFSET = OPTION_LONG + 1001,
	OPTION_RANGE_TIME,
	OPTION_RANGE_AROUND,
	OPTION_NO_INDEX,
};

/* Options that select a part of a recording, for range_option(). */
#define RANGE_OPTIONS                                                                              \
	{ OPTION_RANGE_OFFSET, "offset", "A,B",                                                    \
	  "recording: only messages from byte A to byte B of a stream" },                          \
		{ OPTION_RANGE_TIME, "time", "A,B",                                                \
		  "recording: only from timestamp A to timestamp B, in ticks" },                   \
		{ OPTION_RANGE_AROUND, "around", "FUNCTION[:N]",                                   \
		  "recording: only around the N-th (1st) execution of FUNCTION" },                 \
	{                                                                                          \
		OPTION_NO_INDEX, "no-index", NULL,                                                 \
			"with --offset and --time: decode everything up to B"                      \
	}

/**
 * struct range_options - the part
 * @given: --offset or --time was given
 * @around: argument of --around, or NULL
 * @only: number of the only stream to decode, plus 1; 0 = all
 * @no_index: neither use nor make an index
 * @range: valid with @given
 */
struct range_options {
	bool given;
	const char *around;
	unsigned int only;
	bool no_index;
	struct ntrace_session_range range;
};

/** range_option - one of RANGE_OPTIONS. Return: EXIT_OK, or EXIT_USAGE after an error message */
int range_option(const struct options *options, int option, struct range_options *range);

/** range_has_stream - whether a stream is decoded */
static inline bool range_has_stream(const struct range_options *range, unsigned int stream)
{
	return !range->only || range->only == stream + 1;
}

#endif /* NTRACE_TOOL_COMMON_RANGE_H */
