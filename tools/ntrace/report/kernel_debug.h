/* SPDX-License-Identifier: GPL-2.0-only */
/* Source lines of the kernel and its modules, by the debug files of the release. */
#ifndef NTRACE_TOOL_REPORT_KERNEL_DEBUG_H
#define NTRACE_TOOL_REPORT_KERNEL_DEBUG_H

#include <ntrace/lines.h>

/**
 * struct kernel_debug_options - where to look
 * @release: of the recorded kernel, uname -r; NULL: nobody knows
 * @sysroot: files of the recorded machine; NULL = "/"
 * @directory: that is asked first; NULL: none
 */
struct kernel_debug_options {
	const char *release;
	const char *sysroot;
	const char *directory;
};

/**
 * struct kernel_debug - a debug file, of the kernel or of a module
 * @units: NULL: there is none
 * @bias: of addresses at run time over those of @units
 * @said: where it is, or why there is none: a sentence without a full stop
 */
struct kernel_debug {
	struct ntrace_units *units;
	uint64_t bias;
	char said[512];
};

/**
 * kernel_debug_open - find the file that a function of the kernel was made with
 * @debug: to be freed with kernel_debug_close(), whatever this returns
 * @space: the kernel as it was recorded: that functions are at the same distances there says that
 *         the file is of the same build
 * @symbol: "name" or "name [module]"
 * @address: where it was
 *
 * Return: true if @debug->units is good for the function.
 */
bool kernel_debug_open(struct kernel_debug *debug, const struct kernel_debug_options *options,
		       const struct ntrace_space *space, const char *symbol, uint64_t address);
void kernel_debug_close(struct kernel_debug *debug);

#endif /* NTRACE_TOOL_REPORT_KERNEL_DEBUG_H */
