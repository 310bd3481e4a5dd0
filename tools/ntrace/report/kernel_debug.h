/* SPDX-License-Identifier: GPL-2.0-only */
/* Source lines of the kernel and its modules, from debug files of its release. */
#ifndef NTRACE_TOOL_REPORT_KERNEL_DEBUG_H
#define NTRACE_TOOL_REPORT_KERNEL_DEBUG_H

#include <ntrace/lines.h>

/**
 * struct kernel_debug_options - where to look
 * @release: release of the recorded kernel, as uname -r prints it; NULL = unknown
 * @roots: see files_roots()
 * @directory: searched first; may be NULL
 */
struct kernel_debug_options {
	const char *release;
	const char *const *roots;
	const char *directory;
};

/**
 * struct kernel_debug - a debug file of the kernel or a module
 * @units: NULL = no debug file
 * @bias: run-time address minus address in @units
 * @said: its path, or why there is none; a sentence without a full stop
 */
struct kernel_debug {
	struct ntrace_units *units;
	uint64_t bias;
	char said[512];
};

/**
 * kernel_debug_open - find the debug file of a kernel function
 * @debug: call kernel_debug_close() afterwards, whatever the result
 * @space: the recorded kernel: equal distances of functions show that the file is of this build
 * @symbol: "name" or "name [module]"
 * @address: its run-time address
 *
 * Return: true if @debug->units covers the function.
 */
bool kernel_debug_open(struct kernel_debug *debug, const struct kernel_debug_options *options,
		       const struct ntrace_space *space, const char *symbol, uint64_t address);
void kernel_debug_close(struct kernel_debug *debug);

#endif /* NTRACE_TOOL_REPORT_KERNEL_DEBUG_H */
