/* SPDX-License-Identifier: GPL-2.0-only */
/* A client: a debugger that walks through the trace. */
#ifndef NTRACE_TOOL_GDB_REMOTE_H
#define NTRACE_TOOL_GDB_REMOTE_H

#include "packet.h"
#include "target.h"

#define REMOTE_BREAKPOINTS_MAX 4096
#define REMOTE_WATCHPOINTS_MAX 64
#define REMOTE_FILES_MAX 64

/* Instructions of `record btrace` if monitor history does not set another number. */
#define REMOTE_HISTORY 100000

/**
 * struct remote_thread - a thread as this client sees it
 * @place: the instruction that is executed next, if @placed; else the last one
 * @low, @high: window: first and last instruction to go to
 * @branches: branch trace is enabled
 * @sent: the branch trace up to instruction @sent_to was sent
 */
struct remote_thread {
	struct history_place place;
	bool placed;
	uint64_t low;
	uint64_t high;
	bool branches;
	bool sent;
	uint64_t sent_to;
};

struct remote_breakpoint {
	uint64_t address;
	bool hardware;
};

/**
 * struct remote - a client
 * @target: shared by all clients; borrowed
 * @packets: the connection
 * @ended: the client has detached: close when all is sent
 */
struct remote {
	struct target *target;
	struct packet_stream packets;
	bool ended;
	/* the rest is private */
	struct remote_thread *thread;
	size_t current;			/* registers and memory: packet Hg */
	size_t resumed;			/* steps: packet Hc */
	bool all;			/* all threads continue */
	struct remote_breakpoint breakpoint[REMOTE_BREAKPOINTS_MAX];
	size_t breakpoints;
	uint64_t address[REMOTE_BREAKPOINTS_MAX];	/* of the breakpoints, in order */
	struct history_watch watch[REMOTE_WATCHPOINTS_MAX];
	size_t watches;
	uint64_t history;		/* monitor history */
	uint64_t gaps_passed;
	struct packet_output document;	/* of qXfer */
	char document_name[64];
	int file[REMOTE_FILES_MAX];	/* of vFile, plus one */
	bool swbreak;
	bool hwbreak;
};

/** remote_new - a client at the place where the target's @current thread is. Return: NULL when out of memory */
struct remote *remote_new(struct target *target);
void remote_free(struct remote *remote);

/**
 * remote_input - take received bytes and make replies
 *
 * Return: false if the connection is of no use any more.
 */
bool remote_input(struct remote *remote, const void *bytes, size_t size);

/**
 * remote_start - a monitor command before the first packet, for options of the command
 * @text: set to what it says, to be freed with free()
 *
 * Return: true if the command was done.
 */
bool remote_start(struct remote *remote, const char *command, char **text);

#endif /* NTRACE_TOOL_GDB_REMOTE_H */
