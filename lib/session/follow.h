/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Which task runs on a hart, followed along the flow of its trace. There are
 * no time stamps: each execution of __switch_to takes the next switch record
 * of the CPU. A stint is the time between two switches; stint k ends with
 * switch k. While it is certain there is one place; after a loss there are
 * several, which user addresses, further switches and the end of the records
 * and Ownership messages sort out (Documentation/trace/recording.md, "Which task").
 *
 * Trace that came through perf needs none of this: its records say which task
 * each piece of it belongs to.
 */
#ifndef NTRACE_SESSION_FOLLOW_H
#define NTRACE_SESSION_FOLLOW_H

#include "session.h"

/* The stints of one thread in one stream, in order. */
struct thread_stints {
	int32_t pid, tid;
	const size_t *stints;
	size_t count;
	size_t next;			/* those before it are over */
	struct program *entered;	/* it has exec'd this one, in stint @entered_stint */
	size_t entered_stint;
};

/*
 * A possible place in the list of switches. @missing: not in stint @stint but
 * in one of up to @missing stints before it whose switches were lost.
 * @thread: in stint @stint or any later one of this thread, of which only the
 * first one is kept (follow_threads.c); @certain: in no later one. @program: which
 * it has exec'd by then; NULL: the one that ran when the stint began.
 */
struct switch_place {
	size_t stint;
	uint64_t missing;
	struct thread_stints *thread;
	bool certain;
	struct program *program;
};

#define PENDING_EXECS 16

struct follower {
	struct ntrace_session *session;
	const struct cpu_switches *cpu;
	unsigned int stream;
	uint64_t start_ns;
	size_t first;			/* stints of this stream: [first, last] */
	size_t last;
	struct switch_place *places;
	size_t count;
	size_t room;
	struct switch_place lead;		/* the first place whose task is known */
	uint64_t work;			/* places looked at */
	uint64_t work_max;		/* and the bound of that */
	bool given_up;
	/* The present task; pid -1: unknown. */
	int32_t pid;
	int32_t tid;
	const char *comm;
	char text[32];			/* comm of a task without a name */
	struct program *program;	/* of the leading place; NULL: kernel only */
	struct program *next_program;	/* it execs this one within the stint */
	struct program *entered;	/* it has, in @entered_stint */
	size_t entered_stint;
	uint64_t last_user;		/* user address that was asked for last */
	uint64_t limit;			/* changes before this time are applied */
	int32_t pending[PENDING_EXECS];	/* threads that entered exec, not through it */
	unsigned int pending_next;
	/* Only user space is traced: threads that run on the hart, and stints with losses before. */
	bool by_thread;
	struct thread_stints *threads;
	size_t thread_count;
	size_t *stints;			/* of all threads, behind them @losses */
	size_t *losses;
	size_t loss_count;
	size_t next_loss;
	/* Trace from perf: pieces by their place in the AUX area, and the present one. */
	bool by_piece;
	struct piece *pieces;
	size_t piece_count;
	size_t next_piece;
	const struct piece *piece;	/* NULL: between pieces */
};

/* @user: user space alone is in the trace. Return: 0 or NTRACE_ERR_NOMEM. */
int follower_init(struct follower *follower, struct ntrace_session *session, unsigned int stream,
		  bool user);
void follower_free(struct follower *follower);

/* The flow went through __switch_to. Return: 0 or NTRACE_ERR_NOMEM. */
int follower_switch(struct follower *follower);

/* The flow is at byte @offset of the stream's file; only for followers @by_piece. */
void follower_offset(struct follower *follower, uint64_t offset);

/* The flow entered begin_new_exec. */
void follower_exec(struct follower *follower);

/* Flow was lost: up to @switches were not seen. Return: 0 or NTRACE_ERR_NOMEM. */
int follower_gap(struct follower *follower, uint64_t switches);

/* An Ownership message says that thread @tid runs. */
void follower_owner(struct follower *follower, int32_t tid);

/* The space for user code at @address, and with it the knowledge that the task maps it. */
struct ntrace_space *follower_user(struct follower *follower, uint64_t address);

#endif
