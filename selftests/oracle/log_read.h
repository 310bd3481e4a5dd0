/* SPDX-License-Identifier: GPL-2.0-only */
/* Reading the logs of exec_log.c (format: log.h), one section = one start to one stop. */
#ifndef ORACLE_LOG_READ_H
#define ORACLE_LOG_READ_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/**
 * struct oracle_insn - one executed instruction
 * @address: address of the instruction
 * @size: 2 or 4
 * @priv: 0 U, 1 S, 3 M
 * @trap: first instruction of a trap handler
 * @interrupt: valid with @trap
 * @cause: valid with @trap
 * @task: the kernel's task pointer when its section began
 * @section: number of the section
 */
struct oracle_insn {
	uint64_t address;
	uint8_t size;
	uint8_t priv;
	bool trap;
	bool interrupt;
	uint8_t cause;
	uint64_t task;
	unsigned int section;
};

/**
 * struct oracle_arrival - how control comes to an address (log.h), or another event
 * @token: ORACLE_CALL, ORACLE_RETURN, ORACLE_TRAP_RETURN, ORACLE_HANDLER, ORACLE_INDIRECT;
 *	   ORACLE_TRAP, which sets only @address (epc of the trap) and @cause; ORACLE_IDENTITY,
 *	   ORACLE_TURN, ORACLE_CLOCK and ORACLE_SYSCALL, which set the fields below
 * @cause: scause or mcause times 2, plus 1 for an interrupt
 * @priv: privilege at @address
 * @address: the instruction there has not retired yet, and perhaps never will
 * @stack: stack pointer at @address
 * @task: the kernel's task pointer; for ORACLE_HANDLER it may be the user's tp
 * @value: ORACLE_TURN: instructions of all harts before; ORACLE_CLOCK: value of the CSR time;
 *	   ORACLE_SYSCALL: number
 * @pid, @tgid, @parent: ORACLE_IDENTITY: of @task; @parent is a task pointer
 */
struct oracle_arrival {
	unsigned int token;
	unsigned int priv;
	uint64_t cause;
	uint64_t address;
	uint64_t stack;
	uint64_t task;
	uint64_t value;
	uint64_t pid;
	uint64_t tgid;
	uint64_t parent;
};

/**
 * struct oracle_log - a log being read
 * @remote_start: another hart started the section
 * @remote_stop: another hart stopped it; valid at its end
 * @closed: the end of the section was seen
 * @join: set by the caller: read on into the next section at the end of one
 * @task_changed: the task at the end of a section is not the one at its begin
 * @error: why reading stopped early, NULL if it did not
 * @arrive: optional callback for arrivals and traps between instructions; a result
 *	    other than 0 stops reading, and the callback has reported why
 * @data: first argument of @arrive
 * The other fields are private.
 */
struct oracle_log {
	bool remote_start;
	bool remote_stop;
	bool closed;
	bool join;
	bool task_changed;
	const char *error;
	int (*arrive)(void *data, const struct oracle_arrival *arrival);
	void *data;
	FILE *file;
	uint64_t expect;
	unsigned int priv;
	unsigned int run;
	unsigned int run_left;
	bool trap;
	bool interrupt;
	uint8_t cause;
	bool task_known;
	uint64_t task;
	unsigned int section;
	struct oracle_arrival last;
};

/**
 * oracle_log_open - find a section
 * @section: 0 = the first one of the file
 *
 * Return: 0, or -1 with log->error set.
 */
int oracle_log_open(struct oracle_log *log, const char *path, unsigned int section);

/** oracle_log_next - Return: 1, 0 at the end of the section, -1 with log->error set */
int oracle_log_next(struct oracle_log *log, struct oracle_insn *insn);

void oracle_log_close(struct oracle_log *log);

#endif /* ORACLE_LOG_READ_H */
