/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The stacks of threads, rebuilt from the events of all harts in the order of execution
 * (threads.c).
 *
 * A thread is a task pointer from its first switch-in or an exec to the next exec or the end: the
 * kernel reuses the pointers. It has one stack of frames wherever it runs, and layers for the
 * traps that it is in. The stack pointer at its first instruction identifies a frame: the frame
 * ends when a return of any kind leaves the stack pointer at or above that value. Return
 * addresses are ignored.
 *
 *   user frames | layer: frames of the trap handler | layer: frames of an interrupt in it
 *   ^ signal handlers are frames above the frames that they interrupt
 *
 * What a thread does with its user frames:
 *   exec            they go, and the start of the new program is the root: it begins with its first instruction,
 *                   whose page is often not there yet
 *   fork, vfork     the child has a copy of them: it goes on below the same callers
 *   a new thread    its first instruction is in a root frame
 *   swapcontext     a jump to another stack: the frames are kept, and come back with their stack
 *                   pointer: each time, their calls are over for as long. A stack that is entered for
 *                   the first time has a root of its own
 */
#ifndef ORACLE_THREAD_STACKS_H
#define ORACLE_THREAD_STACKS_H

#include <stdbool.h>
#include <stdint.h>

#include "log_read.h"

#define LAYERS_MAX 16
#define NO_CALL UINT32_MAX

/* A node of the call tree; that of a thread begins at its root. */
struct node {
	uint32_t parent;
	uint32_t function;
	uint64_t instructions;
	uint64_t calls, begun;
};

/*
 * @stack: stack pointer at the frame's first instruction, 0 = unknown
 * @call: number of the frame's record in calls, or NO_CALL
 * @signal: frame of a signal handler
 * @ends: frame of the sigreturn trampoline that a signal handler returned to
 * @resume, @interrupted: for both: address and stack pointer at which the interrupted code resumes
 * @shown: the frame's privilege is selected
 * @inside: a part that its function has called: its code is of the frame below, and it has no record
 */
struct frame {
	uint32_t function;
	uint32_t node;
	uint32_t call;
	uint64_t stack;
	uint64_t resume;
	uint64_t interrupted;
	bool signal;
	bool ends;
	bool shown;
	bool inside;
};

struct frames {
	struct frame *at;
	uint32_t count, room;
};

/*
 * Frames from @base on belong to a trap handler. @resume, @stack: those of the interrupted code.
 * @number: of the system call, if the trap is an ECALL from U-mode, else -1
 */
struct layer {
	uint32_t base;
	int64_t number;
	uint64_t resume;
	uint64_t stack;
};

/* The user frames at a clone(), for the child. */
struct snapshot {
	struct frames frames;
	uint64_t resume;
	uint64_t stack;
	struct snapshot *before;
};

/* One execution of a function, from its call to its end, in instructions of all harts. */
#define CALL_CALLED 1
#define CALL_TAIL 2
#define CALL_OPEN 4
#define CALL_INHERITED 8
#define CALL_BEGUN 16 /* by a trap, a signal or an exec */
struct call {
	uint32_t thread;
	uint32_t parent;
	uint32_t function;
	uint32_t flags;
	uint64_t start, end;
	uint64_t first_instruction, end_instruction;	/* of the thread, in the privileges */
};

/* A thread was on a hart. */
struct interval {
	uint32_t thread;
	uint32_t hart;
	uint64_t start, end;
	uint64_t instructions;
};

struct thread {
	uint64_t task;
	uint64_t pid, tgid, parent;
	uint32_t number;
	uint32_t table;		/* symbols of its program */
	uint32_t root;		/* node */
	struct frames stack;
	struct frames *parked;	/* other stacks of the thread: fibers */
	uint32_t parked_count;
	struct layer layers[LAYERS_MAX];
	unsigned int layer_count;
	unsigned int pending;	/* topmost layers whose handler has not begun */
	struct snapshot *snapshot;
	uint64_t after;		/* address after its last instruction in U-mode */
	uint64_t instructions;	/* in the privileges */
	uint64_t first; /* instructions of all harts when it first came to a hart */
	uint64_t last; /* and when it last left one */
	uint64_t last_shown; /* and after its last instruction in the privileges */
	bool begun;		/* the log has its begin */
	bool cut;		/* it was on a hart when the log ended */
	bool starts;		/* exec has been called, and the program has executed nothing yet */
};

struct hart {
	unsigned int number;
	struct thread *thread;
	uint64_t now;		/* instructions of all harts before */
	uint64_t switched, switched_instructions;
	int64_t number_of_call;	/* of the next TRAP */
	uint64_t after;
};

/* The hart executed nothing, as others did. */
struct pause {
	unsigned int hart;
	uint64_t start, end;
};

/* The result. @calls_kept: keep a record of each call, interval and pause */
struct stacks {
	unsigned int privileges;
	bool calls_kept;
	uint64_t forget;
	struct node *nodes;
	uint32_t node_count, node_room;
	uint32_t *hash;
	uint32_t hash_size;
	struct thread **threads;
	uint32_t thread_count, thread_room;
	struct call *calls;
	uint32_t call_count, call_room;
	struct interval *intervals;
	uint32_t interval_count, interval_room;
	struct pause *pauses;
	uint32_t pause_count, pause_room;
};
extern struct stacks stacks;

void stacks_begin(void);
/* The hart goes on after @now instructions of all harts. */
void stacks_go_on(struct hart *hart, uint64_t now);
void stacks_hart_begin(struct hart *hart, unsigned int number, uint64_t task);
void stacks_event(struct hart *hart, const struct oracle_arrival *event);
void stacks_instruction(struct hart *hart, const struct oracle_insn *insn);
void stacks_end(struct hart *hart);

/*
 * thread_symbols.c: symbols by process. A line "space PID N" begins the symbols of the program
 * that the Nth exec of PID in the log started; "kernel" those of the kernel. Other lines are
 * "ADDRESS\tNAME", ascending; a function reaches up to the next one. "\tpart" follows the name of a function
 * where a part of it begins that is elsewhere.
 */
#define NO_TABLE 0
void symbols_read(const char *path);
uint32_t symbols_table(uint64_t pid, unsigned int exec);
void symbols_of(uint32_t table, uint64_t *pid, unsigned int *exec);
uint32_t symbols_function(uint32_t table, uint64_t address);
const char *symbols_name(uint32_t function);
uint64_t symbols_start(uint32_t function);
bool symbols_is_part(uint32_t part, uint32_t function);

void *threads_grow(void *array, uint32_t *room, size_t size, uint32_t max, const char *what)
	__attribute__((returns_nonnull));
void threads_die(const char *what, const char *why) __attribute__((noreturn));

#endif /* ORACLE_THREAD_STACKS_H */
