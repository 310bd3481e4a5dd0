/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Events of `ntrace trigger`, from perf: probes of a function, and signals. Functions that fail
 * have printed an error message.
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
 * struct trigger_request - events to report
 * @file: path of the function's file; NULL = no function
 * @offset: file offset of its first instruction
 * @returns: also report its returns
 * @signal: number of a signal to report when delivered; 0 = none
 */
struct trigger_request {
	const char *file;
	uint64_t offset;
	bool returns;
	int signal;
};

/**
 * struct trigger_hit - one event
 * @time: CLOCK_MONOTONIC, nanoseconds
 */
struct trigger_hit {
	enum trigger_kind kind;
	pid_t pid;
	pid_t tid;
	uint64_t time;
};

struct trigger;

/** trigger_open - open events on all CPUs, for all processes; call trigger_close() in any case */
int trigger_open(struct trigger **trigger, const struct trigger_request *request);
void trigger_close(struct trigger *trigger);

/** trigger_fds - file descriptors to poll. Return: their number */
unsigned int trigger_fds(const struct trigger *trigger, const int **fds);

/**
 * trigger_next - the next hit in order of time; holds back new hits while older ones may still
 * arrive; does not wait
 */
bool trigger_next(struct trigger *trigger, struct trigger_hit *hit);

/** trigger_waiting - true if trigger_next() holds back hits */
bool trigger_waiting(const struct trigger *trigger);

/** trigger_lost - number of lost hits */
uint64_t trigger_lost(const struct trigger *trigger);

#endif /* NTRACE_TOOL_TOP_TRIGGER_H */
