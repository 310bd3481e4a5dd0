/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Which task runs on a hart, followed along the flow of its trace without timestamps: each
 * execution of __switch_to takes the next switch record of the CPU. A scheduling interval ("interval"
 * in identifiers) is the time between two switches; interval k ends with switch k. A place is an
 * interval in which the hart may be. There is one while the interval is certain. After a loss there are
 * several, which user addresses, further switches, Ownership messages and the end of the records
 * eliminate (Documentation/trace/recording.md, "Attribution to tasks"):
 *
 *	switch records	  A   |   B   |   A   |   C   |   B
 *	places		  A                                   one switch is executed:
 *			      |   B                           a gap, up to 3 switches:
 *			      |   B   |   A   |   C   |   B   code that C alone has mapped:
 *			                      |   C           one switch is executed: B
 *
 * Where only user space is traced, no switch is seen, and any number may precede each return to it
 * (follow_threads.c). Trace recorded through perf needs none of this: its records name the task of each
 * piece.
 */
#ifndef NTRACE_SESSION_FOLLOW_H
#define NTRACE_SESSION_FOLLOW_H

#include "bytes.h"
#include "spaces.h"

/*
 * The scheduling intervals of one thread in one stream, in order. @leader: the first thread of the process in the
 * list, which has the @execs of the process.
 */
struct thread_intervals {
	int32_t pid, tid;
	const size_t *intervals;
	size_t count;
	size_t next;			/* the intervals before it are over */
	struct program *entered;	/* program started by exec in interval @entered_interval */
	size_t entered_interval;
	struct thread_intervals *leader;
	struct execs *execs;		/* NULL: not needed so far */
};

/*
 * A possible place in the list of switches. @missing: not interval @interval itself but one of up to
 * @missing intervals before it whose switches were lost. @thread: interval @interval or any later one
 * of this thread, of which only the first is kept (follow_threads.c); @certain: no later one.
 * @program: program started by exec before this place; NULL: the program that ran when the interval
 * began. @unsure: an exec in this interval may have been missed.
 */
struct switch_place {
	size_t interval;
	uint64_t missing;
	struct thread_intervals *thread;
	bool certain;
	bool unsure;
	struct program *program;
};

#define PENDING_EXECS 16
#define KNOWN_PARTS 4

/* The last part of which two mappings were compared, and whether they have the same bytes. */
struct compared_part {
	struct code_part part;
	bool same;
};

/* @program: one owner of the code. @pid: the only one or -1, if records are missing. */
struct known_part {
	struct code_part part;
	struct program *program;
	int32_t pid;
};

struct follower {
	struct ntrace_session *session;
	struct spaces *spaces;
	const struct cpu_switches *cpu;
	unsigned int stream;
	uint64_t start_ns;
	size_t first;			/* scheduling intervals of this stream: [first, last] */
	size_t last;
	struct switch_place *places;
	size_t count;
	size_t room;
	struct switch_place first_place;		/* the first place with a known task */
	uint64_t work;			/* number of places examined */
	uint64_t work_max;		/* limit of work */
	bool given_up;
	/* The current task; pid -1: unknown. */
	int32_t pid;
	int32_t tid;
	const char *comm;
	char text[32];			/* comm of a task without a name */
	struct program *program;	/* program of the leading place; NULL: kernel only */
	struct program *next_program;	/* the next program, started by exec within the interval */
	struct program *entered;	/* program already started, in @entered_interval */
	size_t entered_interval;
	uint64_t last_user;		/* last user address that was looked up */
	uint64_t limit;			/* changes before this time have been applied */
	int32_t pending[PENDING_EXECS];	/* threads that entered exec and have not finished it */
	unsigned int pending_next;
	bool unseen;			/* no switch is visible: neither the place nor the names are certain */
	/* Only user space is traced: threads of the hart, and intervals with losses before them. */
	bool by_thread;
	struct thread_intervals *threads;
	size_t thread_count;
	size_t *intervals;			/* intervals of all threads, followed by @losses */
	size_t *losses;
	size_t loss_count;
	size_t next_loss;
	/* Records still come: see follower_grow(). */
	bool growing;
	/* Trace from perf: pieces by position in the AUX area, and the current one. */
	bool by_piece;
	struct piece *pieces;
	size_t piece_count;
	size_t piece_room;
	size_t next_piece;
	const struct piece *piece;	/* NULL: between pieces */
	bool piece_unsure;		/* an exec in this piece may have been missed */
	/* Code that all tasks share that may run, with the uncertainty of now. */
	struct known_part known[KNOWN_PARTS];
	unsigned int known_count;
	unsigned int known_next;
	struct compared_part compared;
};

/* @spaces: those of the decoding; @user: the trace contains only user space. Return: 0 or NTRACE_ERR_NOMEM. */
int follower_init(struct follower *follower, struct spaces *spaces, unsigned int stream, bool user);
void follower_free(struct follower *follower);

/* The flow passed through __switch_to. Return: 0 or NTRACE_ERR_NOMEM. */
int follower_switch(struct follower *follower);

/* The flow is at byte @offset of the stream's file; only for followers @by_piece. */
void follower_offset(struct follower *follower, uint64_t offset);

/* Whether follower_offset() keeps the task. */
bool follower_stays(const struct follower *follower, uint64_t offset);

/* The flow entered begin_new_exec. */
void follower_exec(struct follower *follower);

/* Flow was lost: up to @switches switches were missed. Return: 0 or NTRACE_ERR_NOMEM. */
int follower_gap(struct follower *follower, uint64_t switches);

/* An Ownership message reports that thread @tid runs. */
void follower_owner(struct follower *follower, int32_t tid);

/* follow_live.c: the machine has more records. Return: 0 or NTRACE_ERR_NOMEM. */
int follower_grow(struct follower *follower);

/* Whether the end of a scheduling interval in which the hart may be is not recorded yet. */
bool follower_is_open(const struct follower *follower);

/* The hart is in no interval that ended before @since or begins after @until. */
void follower_between(struct follower *follower, uint64_t since, uint64_t until);

/* Forgets what lies before the current place. @complete: all records before this time are known. */
void follower_forget(struct follower *follower, uint64_t complete);

/*
 * follow_state.c: writes the state of @follower, or reads that of one of the same stream into one made by
 * follower_init(). Return: 0, NTRACE_ERR_NOMEM or NTRACE_ERR_FORMAT.
 */
int follower_code(struct follower *follower, struct codec *codec);

/* What limits the time of the hart: the switches before and after, or the piece; 0, UINT64_MAX: nothing. */
void follower_window(const struct follower *follower, uint64_t *first, uint64_t *end);

/* When the thread of the hart stops running, 0: not known. */
uint64_t follower_turn_end(const struct follower *follower);

/* Whether records of the stream's CPU, or pieces, have times, or may still come. */
bool follower_has_times(const struct follower *follower);

/* The times of the records of the last switch; false: not certain which one it was. */
bool follower_switched(const struct follower *follower, uint64_t *left, uint64_t *came);

/*
 * The turn of the hart (turns.h): twice the index of the scheduling interval or piece in which it is, from
 * the first one of the stream, and 1 more after the thread got another number by exec in it. Of several
 * possible ones the first. Return: false: the task, or the place among its intervals, is not certain.
 */
bool follower_turn(const struct follower *follower, size_t *index);

/* Whether one program is known to run, so that follower->program has all of its code. */
bool follower_is_certain(const struct follower *follower);

/*
 * The space for user code at @address. The address also shows that the task maps it. If several tasks
 * may run, or a program before or after an exec, the space contains only the code around @address that
 * all of them share; NULL: they share none.
 */
struct ntrace_space *follower_user(struct follower *follower, uint64_t address);

/* What follower_user() returned last, for @address; NULL: its state was not of user code. */
struct ntrace_space *follower_same(struct follower *follower, uint64_t address);

#endif
