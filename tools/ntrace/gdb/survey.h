/* SPDX-License-Identifier: GPL-2.0-only */
/* Which threads a trace has, what they executed, and how a cursor finds it. */
#ifndef NTRACE_TOOL_GDB_SURVEY_H
#define NTRACE_TOOL_GDB_SURVEY_H

#include "common/input.h"
#include "history.h"
#include "stream/raw.h"

/**
 * struct survey - what to look for
 * @history: filled in
 * @cpu: only this CPU, as one thread of all that ran on it; -1 = a thread for each task
 * @src: raw trace: only this SRC, -1 = each SRC is a thread
 * @privileges: 1 << enum ntrace_priv for each privilege to show, 0 = all
 */
struct survey {
	struct history *history;
	int64_t cpu;
	int64_t src;
	uint32_t privileges;
};

/** survey_recording - Return: EXIT_OK, or EXIT_FAILED after an error message */
int survey_recording(const struct survey *survey, struct recording *recording);

/** survey_raw - the same for a raw trace @name; @raw, @params and @space are those of the cursors */
int survey_raw(const struct survey *survey, const struct raw_trace *raw, const char *name,
	       const struct ntrace_params *params, struct ntrace_space *space);

/**
 * survey_tandem - the same for a tandem trace @name; its replay becomes the history's
 * @space: the program, or NULL
 */
int survey_tandem(const struct survey *survey, const struct raw_trace *raw, const char *name,
		  const struct ntrace_tandem_params *params, struct ntrace_space *space);

#endif /* NTRACE_TOOL_GDB_SURVEY_H */
