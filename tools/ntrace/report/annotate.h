/* SPDX-License-Identifier: GPL-2.0-only */
/* ntrace report --annotate: a function, instruction by instruction, with exact counts. */
#ifndef NTRACE_TOOL_REPORT_ANNOTATE_H
#define NTRACE_TOOL_REPORT_ANNOTATE_H

#include <ntrace/profile.h>

#include "common/output.h"
#include "kernel_debug.h"

/**
 * struct annotate_options - what to show
 * @function: its name, as the object has it or as a programmer wrote it
 * @sysroot: files of the recorded machine; NULL = "/"
 * @kernel: where debug files of the kernel are
 * @objdump: disassembler; NULL: the first of those that are usual
 */
struct annotate_options {
	const char *function;
	const char *sysroot;
	const char *objdump;
	struct kernel_debug_options kernel;
	bool colours;
};

/**
 * annotate - print each function of that name of which something was executed
 * @profile: one that has ended
 *
 * Return: EXIT_OK, or EXIT_FAILED after a complaint.
 */
int annotate(struct ntrace_profile *profile, const struct annotate_options *options,
	     struct output *output);

#endif /* NTRACE_TOOL_REPORT_ANNOTATE_H */
