/* SPDX-License-Identifier: GPL-2.0-only */
/* ntrace report --callers, --callees: who calls a function, and whom it calls. */
#ifndef NTRACE_TOOL_REPORT_CALLERS_H
#define NTRACE_TOOL_REPORT_CALLERS_H

#include <ntrace/stacks.h>

#include "common/output.h"

/**
 * put_callers - print a table for each function of a name
 * @stacks: that have ended
 * @name: as the object has it, or as a programmer wrote it
 * @callees: whom it calls; else who calls it
 *
 * Return: EXIT_OK, or EXIT_FAILED after a complaint.
 */
int put_callers(struct ntrace_stacks *stacks, const char *name, bool callees,
		struct output *output);

#endif /* NTRACE_TOOL_REPORT_CALLERS_H */
