/* SPDX-License-Identifier: GPL-2.0-only */
/* ntrace export: the formats that are made of call stacks. */
#ifndef NTRACE_TOOL_EXPORT_STACKS_H
#define NTRACE_TOOL_EXPORT_STACKS_H

#include <ntrace/profile.h>

#include "common/input.h"

/** export_stacks_name - format @index, from 0; NULL if there is none */
const char *export_stacks_name(unsigned int index);

/**
 * struct export_stacks_options - what to write
 * @recording: open
 * @path: of it, for messages
 * @output: file; NULL = standard output
 * @format: see export_stacks_name()
 * @sysroot: debug files are looked for there, too; NULL: not
 * @threads: threads of the same name are kept apart
 * @inlined: what was inlined has frames of its own, but in a timeline
 * @selection: what counts
 */
struct export_stacks_options {
	struct recording *recording;
	const char *path;
	const char *output;
	unsigned int format;
	const char *sysroot;
	bool threads;
	bool inlined;
	const struct ntrace_profile_options *selection;
};

/**
 * export_stacks - decode a recording and write its call stacks
 *
 * Says what it wrote. Return: enum tool_exit, after a complaint.
 */
int export_stacks(const struct export_stacks_options *options);

#endif /* NTRACE_TOOL_EXPORT_STACKS_H */
