/* SPDX-License-Identifier: GPL-2.0-only */
/* ntrace report --annotate: a function, instruction by instruction, with exact counts. */
#ifndef NTRACE_TOOL_REPORT_ANNOTATE_H
#define NTRACE_TOOL_REPORT_ANNOTATE_H

#include <ntrace/profile.h>

#include "common/output.h"
#include "kernel_debug.h"

/**
 * struct annotate_options - what to show
 * @function: its name, as in the object or demangled
 * @roots: see files_roots()
 * @kernel: places of the kernel's debug files
 * @objdump: disassembler; NULL = the default ones
 */
struct annotate_options {
	const char *function;
	const char *const *roots;
	const char *objdump;
	struct kernel_debug_options kernel;
	bool colours;
};

/**
 * annotate - print each executed function of that name
 * @profile: ended
 *
 * Return: EXIT_OK, or EXIT_FAILED after an error message.
 */
int annotate(struct ntrace_profile *profile, const struct annotate_options *options,
	     struct output *output);

#endif /* NTRACE_TOOL_REPORT_ANNOTATE_H */
