/* SPDX-License-Identifier: GPL-2.0-only */
/* What ntrace detect found, for people and for programs. */
#ifndef NTRACE_TOOL_STREAM_DETECT_PRINT_H
#define NTRACE_TOOL_STREAM_DETECT_PRINT_H

#include <ntrace/detect.h>

#include "common/output.h"

/**
 * detect_text - the candidates, as a text
 * @name: of the trace
 * @partial: only the beginning of the trace was judged
 * @result: with one candidate at least
 */
void detect_text(struct output *output, const char *name, bool partial,
		 const struct ntrace_detect_result *result);

/** detect_json - the same as one JSON object, also if there is no candidate; @size: bytes judged */
void detect_json(struct output *output, const char *name, uint64_t size,
		 const struct ntrace_detect_result *result);

#endif /* NTRACE_TOOL_STREAM_DETECT_PRINT_H */
