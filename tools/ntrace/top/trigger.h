/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What `ntrace trigger` waits for, as perf events: probes of a function, and signals. Functions
 * that fail have complained already.
 */
#ifndef NTRACE_TOOL_TOP_TRIGGER_H
#define NTRACE_TOOL_TOP_TRIGGER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum trigger_kind {
	TRIGGER_CALL,
	TRIGGER_RETURN,
	TRIGGER_SIGNAL,
	TRIGGER_KINDS,
};

/**
 * struct trigger_request - what is to be told
 * @file: path of the file that the function is in; NULL = no function
 * @offset: of its first instruction in that file
 * @returns: its returns, too
 * @signal: number of a signal, when it comes to a thread; 0 = none
 */
struct trigger_request {
	const char *file;
	uint64_t offset;
	bool returns;
	int signal;
};

/**
 * struct trigger_hit - it happened
 * @time: CLOCK_MONOTONIC, nanoseconds
 */
struct trigger_hit {
	enum trigger_kind kind;
	pid_t pid;
	pid_t tid;
	uint64_t time;
};

struct trigger;

/** trigger_open - on all harts, of all processes. trigger_close() in all cases; NULL is allowed */
int trigger_open(struct trigger **trigger, const struct trigger_request *request);
void trigger_close(struct trigger *trigger);

/** trigger_fds - file descriptors to poll. Return: their number */
unsigned int trigger_fds(const struct trigger *trigger, const int **fds);

/**
 * trigger_next - the next hit, in order of time, but not one that is so new that an older one may
 * still come; does not wait
 */
bool trigger_next(struct trigger *trigger, struct trigger_hit *hit);

/** trigger_waiting - there are hits that trigger_next() holds back for a moment */
bool trigger_waiting(const struct trigger *trigger);

/** trigger_lost - hits that nobody took in time */
uint64_t trigger_lost(const struct trigger *trigger);

#endif /* NTRACE_TOOL_TOP_TRIGGER_H */
