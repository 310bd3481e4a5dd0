/* SPDX-License-Identifier: GPL-2.0-only */
/* ntrace export: the formats that contain call stacks. */
#ifndef NTRACE_TOOL_EXPORT_STACKS_H
#define NTRACE_TOOL_EXPORT_STACKS_H

#include <ntrace/profile.h>

#include "common/input.h"

/** export_stacks_name - format @index, from 0; NULL if there is none */
const char *export_stacks_name(unsigned int index);

/**
 * struct export_stacks_options - what to write
 * @recording: open recording
 * @path: its path, for messages
 * @output: path of the file; NULL = standard output
 * @format: see export_stacks_name()
 * @roots: see files_roots()
 * @threads: do not merge threads of the same name
 * @inlined: inlined functions have frames of their own, except in timelines
 * @selection: process and privileges
 * @jobs: number of threads; 0 = all processors
 */
struct export_stacks_options {
	struct recording *recording;
	const char *path;
	const char *output;
	unsigned int format;
	const char *const *roots;
	bool threads;
	bool inlined;
	const struct ntrace_profile_options *selection;
	unsigned int jobs;
};

/**
 * export_stacks - decode a recording and write its call stacks
 *
 * Prints totals and losses. Return: EXIT_OK, or another exit status after an error message.
 */
int export_stacks(const struct export_stacks_options *options);

/**
 * export_is_empty - print why an export is empty, and what to try
 * @path: path of the recording
 * @selection: process and privileges
 * @recording: the open recording; NULL: it is a counts file
 *
 * Return: EXIT_FAILED
 */
int export_is_empty(const char *path, const struct ntrace_profile_options *selection,
		    const struct recording *recording);

#endif /* NTRACE_TOOL_EXPORT_STACKS_H */
