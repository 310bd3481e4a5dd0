/* SPDX-License-Identifier: GPL-2.0-only */
/* Results of ntrace detect as text and as JSON. */
#ifndef NTRACE_TOOL_STREAM_DETECT_PRINT_H
#define NTRACE_TOOL_STREAM_DETECT_PRINT_H

#include <ntrace/detect.h>

#include "common/output.h"

/**
 * detect_text - print the candidates as text
 * @name: name of the trace
 * @partial: only the beginning of the trace was examined
 * @result: has at least one candidate
 */
void detect_text(struct output *output, const char *name, bool partial,
		 const struct ntrace_detect_result *result);

/** detect_json - print a JSON object, also without candidates; @size: bytes examined */
void detect_json(struct output *output, const char *name, uint64_t size,
		 const struct ntrace_detect_result *result);

#endif /* NTRACE_TOOL_STREAM_DETECT_PRINT_H */
