/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Limits of this process (ulimit). Reaching one in the middle would look like a fault of a file or a recording, or
 * crash. So what can be known before is checked before: a command does not start, or does not decode, without
 * enough of it. Limits that only the work itself shows, of memory and of output files, are added to the message.
 */
#ifndef NTRACE_TOOL_COMMON_PROCESS_LIMITS_H
#define NTRACE_TOOL_COMMON_PROCESS_LIMITS_H

#include <stddef.h>

/** limits_check - whether the stack suffices, and @files more files than any command needs can be open. Return: EXIT_OK or EXIT_FAILED */
int limits_check(unsigned int files);

/** limits_raise_files - allow as many open files as this process may have */
void limits_raise_files(void);

/** limit_add - append the limit of this process to a message whose reason it may be */
void limit_add(char *text, size_t size);

#endif /* NTRACE_TOOL_COMMON_PROCESS_LIMITS_H */
