/* SPDX-License-Identifier: GPL-2.0-only */
/* Connections of debuggers. */
#ifndef NTRACE_TOOL_GDB_SERVER_H
#define NTRACE_TOOL_GDB_SERVER_H

#include <sys/types.h>

#include "remote.h"

/* More clients are turned away. */
#define SERVER_CLIENTS_MAX 16

/* Exit status of a child that could not become the debugger, as of a shell. */
#define SERVER_NOT_STARTED 127

/**
 * struct server - where clients come from
 * @target: borrowed
 * @start: monitor commands for each new client; NULL-terminated
 * @listener: socket that listens, -1 = none
 * @keep: go on without clients
 * @child: debugger that was started: the server ends with it; 0 = none
 */
struct server {
	struct target *target;
	const char *const *start;
	int listener;
	bool keep;
	pid_t child;
};

/**
 * server_listen - listen on "[HOST:]PORT"
 * @address: HOST is the loopback if it is left out; port 0 is any free one
 * @name: set to the address with its port
 *
 * Return: EXIT_OK, or EXIT_FAILED after an error message.
 */
int server_listen(struct server *server, const char *address, char *name, size_t size);

/** server_run - serve clients until there are no more. Return: EXIT_OK or EXIT_FAILED */
int server_run(struct server *server);

/** server_pipe - serve one client on standard input and output */
int server_pipe(struct server *server);

#endif /* NTRACE_TOOL_GDB_SERVER_H */
