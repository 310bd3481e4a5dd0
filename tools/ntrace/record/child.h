/* SPDX-License-Identifier: GPL-2.0-only */
/* The recorded command. */
#ifndef NTRACE_TOOL_RECORD_CHILD_H
#define NTRACE_TOOL_RECORD_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

/**
 * struct child - the recorded command
 * @go: write end of a pipe: a byte starts the command
 * @failed: read end of a pipe: errno of a failed exec, or end of file after a successful one
 */
struct child {
	pid_t pid;
	int go;
	int failed;
	bool ended;
	int status;
};

/** command_find - check that a command can be executed. Return: EXIT_OK, or 126 or 127 as in shells */
int command_find(const char *name);

/** child_fork - create the command's process, which waits before exec */
int child_fork(struct child *child, char **argv);

/** child_go - let it exec. Return: EXIT_OK, or EXIT_FAILED if it has ended */
int child_go(const struct child *child, const char *name);

/** child_tried - wait until exec has succeeded or failed. Return: false after @milliseconds */
bool child_tried(const struct child *child, int milliseconds);

/** child_started - wait for exec. Return: EXIT_OK, or EXIT_FAILED if exec failed */
int child_started(const struct child *child, const char *name);

/** child_ended - Return: true once it has ended; does not wait */
bool child_ended(struct child *child);

/** child_wait - wait for its end. Return: its exit status as shells show it */
int child_wait(struct child *child);

#endif /* NTRACE_TOOL_RECORD_CHILD_H */
