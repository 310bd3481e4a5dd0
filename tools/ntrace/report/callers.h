/* SPDX-License-Identifier: GPL-2.0-only */
/* ntrace report --callers, --callees: callers and callees of a function. */
#ifndef NTRACE_TOOL_REPORT_CALLERS_H
#define NTRACE_TOOL_REPORT_CALLERS_H

#include <ntrace/stacks.h>

#include "common/output.h"

/**
 * put_callers - print a table for each function of a name
 * @stacks: ended
 * @name: as in the object, or demangled
 * @callees: print callees; else callers
 * @entered: set to whether one of them is a function of its own, not inlined
 *
 * Return: EXIT_OK, or EXIT_FAILED after an error message.
 */
int put_callers(struct ntrace_stacks *stacks, const char *name, bool callees, bool *entered,
		struct output *output);

#endif /* NTRACE_TOOL_REPORT_CALLERS_H */
