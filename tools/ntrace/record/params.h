/* SPDX-License-Identifier: GPL-2.0-only */
/* The file params of a recording. */
#ifndef NTRACE_TOOL_RECORD_PARAMS_H
#define NTRACE_TOOL_RECORD_PARAMS_H

#include "device.h"
#include "options.h"
#include "tasks.h"

/**
 * record_params_write - write the file params; one of @list and @tasks is empty
 * @unfinished: the trace goes on: sizes, losses and stops are unknown
 */
int record_params_write(const struct record_options *options, const struct device_list *list,
			const struct tasks *tasks, bool unfinished);

/** record_params_losses - print a warning for each stream with losses. Return: whether there is one */
bool record_params_losses(const struct device_list *list, const struct tasks *tasks);

#endif /* NTRACE_TOOL_RECORD_PARAMS_H */
