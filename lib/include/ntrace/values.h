/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Values of registers and memory in a recording of `ntrace record --values`.
 *
 * The trace is the path of a thread, and the kernel has recorded the thread's registers where system
 * calls return: anchors. From an anchor, the path is executed (exec.h), with registers and memory of
 * which only a part is known:
 *
 *	anchor ----- blocks -----> system call  anchor ----- blocks -----> place
 *	registers                  what it may  registers                  registers, memory
 *	                           write is forgotten
 *
 * What is known here is certain. Each anchor and each branch on the way is a test: registers that
 * contradict it end the knowledge, and are counted.
 *
 * Not known by rule: what other threads, processes or devices may write, so memory of a process with
 * several threads and shared mappings; what the kernel may have written, by a table of system calls;
 * everything after lost trace and in a signal handler, up to the next anchor; vectors; the kernel.
 */
#ifndef NTRACE_VALUES_H
#define NTRACE_VALUES_H

#include <ntrace/cursor.h>
#include <ntrace/exec.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- memory over time ---- */

struct ntrace_value_log;

/**
 * ntrace_value_log_new - memory of which nothing is known
 *
 * Values are added in the order of their times, which the caller numbers, and take 32 bytes each.
 *
 * Return: the log, to be freed with ntrace_value_log_free(); NULL: out of memory.
 */
NTRACE_EXPERIMENTAL struct ntrace_value_log *ntrace_value_log_new(void);

/**
 * ntrace_value_log_free - free a log
 * @log: the log, or NULL
 */
NTRACE_EXPERIMENTAL void ntrace_value_log_free(struct ntrace_value_log *log);

/**
 * ntrace_value_log_write - bytes have new values
 * @log: the log
 * @time: of the change, not before those of earlier calls
 * @address: of byte 0 of @value
 * @mask: bit n: byte n is written, up to 8; bits that @value does not know become unknown
 * @value: the values
 *
 * Return: 0 or NTRACE_ERR_NOMEM.
 */
NTRACE_EXPERIMENTAL int ntrace_value_log_write(struct ntrace_value_log *log, uint64_t time,
					       uint64_t address, uint8_t mask,
					       struct ntrace_exec_value value);

/**
 * ntrace_value_log_change - a range has another content
 * @log: the log
 * @time: as of ntrace_value_log_write(). If the range is all addresses, it is after other changes at
 *        this time
 * @first: first address
 * @last: last address, not below @first
 * @zero: bytes that the log has are 0 now; else all may have any value
 *
 * Return: 0 or NTRACE_ERR_NOMEM.
 */
NTRACE_EXPERIMENTAL int ntrace_value_log_change(struct ntrace_value_log *log, uint64_t time,
						uint64_t first, uint64_t last, bool zero);

/**
 * ntrace_value_log_forgot - whether all of memory was forgotten
 * @log: the log
 * @time: up to this time
 *
 * Return: true if ntrace_value_log_change() was called for all addresses.
 */
NTRACE_EXPERIMENTAL bool ntrace_value_log_forgot(const struct ntrace_value_log *log, uint64_t time);

/**
 * ntrace_value_log_read - memory at a time
 * @log: the log
 * @time: with changes at this time
 * @address: first address
 * @bytes: 1 to 8, none of them behind the next multiple of 8
 * @told: set to the bytes that were written or changed up to @time, since all of memory
 *        was forgotten; may be NULL
 *
 * Return: the value.
 */
NTRACE_EXPERIMENTAL struct ntrace_exec_value
ntrace_value_log_read(const struct ntrace_value_log *log, uint64_t time, uint64_t address,
		      unsigned int bytes, uint8_t *told);

/* ---- what system calls write ---- */

/* Beside the arguments 0 to 5, what the size of an output may be multiplied by: the result of the call; nothing */
#define NTRACE_VALUES_BY_RESULT 6
#define NTRACE_VALUES_ONCE	7

/**
 * struct ntrace_values_output - memory that a system call of Linux writes
 * @size: sizeof(struct ntrace_values_output) of the caller
 * @first: lowest number of the system calls
 * @last: highest number
 * @argument: the argument with the address
 * @by: argument that @bytes are multiplied by, NTRACE_VALUES_BY_RESULT or NTRACE_VALUES_ONCE
 * @bytes: its size, not 0; the call may write less
 */
struct ntrace_values_output {
	size_t size;
	uint16_t first;
	uint16_t last;
	uint16_t bytes;
	uint8_t argument;
	uint8_t by;
};

/**
 * ntrace_values_output - list outputs of system calls
 * @index: 0 for the first one
 * @output: filled in, as far as its size reaches
 *
 * Return: 0; 1: there are not so many.
 */
NTRACE_EXPERIMENTAL int ntrace_values_output(unsigned int index,
					     struct ntrace_values_output *output);

#define NTRACE_VALUES_CONTENT UINT32_C(0x76434e54)

/**
 * struct ntrace_values_content - memory after a system call, as a recording has it
 * @magic: NTRACE_VALUES_CONTENT
 * @length: number of bytes, which follow
 * @address: of the first one
 * @number: a7
 * @result: a0
 *
 * It is the raw data of a sample of the event PERF_COUNT_SW_BPF_OUTPUT, which comes after that of the registers.
 */
struct ntrace_values_content {
	uint32_t magic;
	uint32_t length;
	uint64_t address;
	uint64_t number;
	int64_t result;
};

/* ---- core dumps ---- */

struct ntrace_core;

/**
 * ntrace_core_open - read a core dump of a process
 * @core: the new object, to be freed with ntrace_core_free()
 * @path: a regular file, of 64-bit RISC-V Linux
 * @reason: set to what is wrong with the file, as a sentence without its name; NULL: see the result
 *
 * Memory that the file does not have, such as unchanged pages of files, is not known from it.
 *
 * Return: 0; NTRACE_ERR_FORMAT: not a core dump, damaged, or without registers; NTRACE_ERR_NOTRISCV;
 * NTRACE_ERR_UNSUPPORTED: of a 32-bit process; NTRACE_ERR_TRUNCATED; NTRACE_ERR_IO (errno is kept); NTRACE_ERR_NOMEM.
 */
NTRACE_EXPERIMENTAL int ntrace_core_open(struct ntrace_core **core, const char *path,
					 const char **reason);

/**
 * ntrace_core_free - free a core dump
 * @core: the core dump, or NULL
 */
NTRACE_EXPERIMENTAL void ntrace_core_free(struct ntrace_core *core);

/**
 * ntrace_core_check - whether a core dump is of the end of a recording
 * @core: the core dump
 * @session: the recording
 * @reason: filled in with what does not agree, as a sentence; empty: all agrees
 * @size: room for it
 *
 * Decodes the thread that crashed, or was the first one, up to its end: its last instruction must be where
 * the core dump has it, and the build-ids of the files of both must be the same.
 *
 * Return: 0; 1: see @reason; errors of ntrace_cursor_new() and ntrace_cursor_next().
 */
NTRACE_EXPERIMENTAL int ntrace_core_check(const struct ntrace_core *core,
					  struct ntrace_session *session, char *reason,
					  size_t size);

/**
 * ntrace_core_tid - the thread that crashed, or was the first one
 * @core: the core dump
 *
 * Return: its number.
 */
NTRACE_EXPERIMENTAL int32_t ntrace_core_tid(const struct ntrace_core *core);

/* ---- a thread ---- */

struct ntrace_values;

/**
 * struct ntrace_values_config - the thread whose values are asked
 * @size: sizeof(struct ntrace_values_config) of the caller
 * @session: a recording; borrowed for the life of the values
 * @pid: its process
 * @tid: the thread
 * @reach: instructions of the thread that may be executed to find a value; 0 = 16 Mi
 * @core: a core dump at the end of the thread (ntrace_core_check()): what follows from it is known, too, in the last
 *        2 Mi instructions. Borrowed for the life of the values; NULL: there is none
 */
struct ntrace_values_config {
	size_t size;
	struct ntrace_session *session;
	int32_t pid;
	int32_t tid;
	uint64_t reach;
	const struct ntrace_core *core;
};

/**
 * ntrace_values_recorded - whether a recording has anchors
 * @session: the recording
 *
 * Return: true if it was made with `ntrace record --values`.
 */
NTRACE_EXPERIMENTAL bool ntrace_values_recorded(const struct ntrace_session *session);

/**
 * ntrace_values_new - find the anchors of a thread
 * @values: the new object, to be freed with ntrace_values_free() before the session is closed
 * @config: copied
 *
 * Goes once over all that the thread executed. The rules for cursors (cursor.h) hold.
 *
 * Return: 0; NTRACE_ERR_INVALID: unknown fields, no session; NTRACE_ERR_UNSUPPORTED: the recording has no
 * anchors, and @core no registers of the thread; errors of ntrace_cursor_new() and ntrace_cursor_next().
 */
NTRACE_EXPERIMENTAL int ntrace_values_new(struct ntrace_values **values,
					  const struct ntrace_values_config *config);

/**
 * ntrace_values_free - free the values of a thread
 * @values: the values, or NULL
 */
NTRACE_EXPERIMENTAL void ntrace_values_free(struct ntrace_values *values);

/**
 * ntrace_values_seek - go to the state before an instruction
 * @values: the values
 * @mark: a block of a cursor over the thread (ntrace_values_config.pid and tid)
 * @index: the instruction in it
 *
 * Return: 0; 1: nothing is known there: no block of user code, or no anchor before it; errors of
 * ntrace_cursor_next(). After an error nothing is known.
 */
NTRACE_EXPERIMENTAL int ntrace_values_seek(struct ntrace_values *values,
					   const struct ntrace_cursor_mark *mark, uint32_t index);

/**
 * ntrace_values_register - a register at the place
 * @values: the values
 * @id: as of ntrace_exec_get()
 * @value: set; bits that cannot be known are unknown
 *
 * Executes more of the trace before the place, if the value is not known yet.
 *
 * Return: 0; NTRACE_ERR_INVALID: no such register; errors of ntrace_cursor_next().
 */
NTRACE_EXPERIMENTAL int ntrace_values_register(struct ntrace_values *values, unsigned int id,
					       struct ntrace_exec_value *value);

/**
 * ntrace_values_likely - a register at the place, if all stores to unknown addresses were to other memory
 * @values: the values
 * @id: NTRACE_EXEC_X + n or NTRACE_EXEC_F + n
 * @value: set; bits that not even then can be known are unknown
 *
 * Only what follows from a core dump can be likely.
 *
 * Return: 0; NTRACE_ERR_INVALID: no such register.
 */
NTRACE_EXPERIMENTAL int ntrace_values_likely(struct ntrace_values *values, unsigned int id,
					     struct ntrace_exec_value *value);

/**
 * ntrace_values_memory - memory at the place
 * @values: the values
 * @address: first address
 * @bytes: 1 to 8
 * @value: set; bits that cannot be known are unknown
 *
 * As ntrace_values_register().
 *
 * Return: 0 or errors of ntrace_cursor_next().
 */
NTRACE_EXPERIMENTAL int ntrace_values_memory(struct ntrace_values *values, uint64_t address,
					     unsigned int bytes, struct ntrace_exec_value *value);

/**
 * ntrace_values_find_change - find where memory gets another value
 * @values: the values, at a place; they stay there
 * @back: find the last change before the place, else the first one after it
 * @here: only of the instruction before the place, or at it
 * @first: first address
 * @last: last address
 * @mark: set, with @index, to the place after the change, or with @back false before it
 * @index: the instruction
 *
 * A store of the same value is none. Changes that are not known are not found.
 *
 * Return: 0; 1: no change is known; errors of ntrace_cursor_next().
 */
NTRACE_EXPERIMENTAL int ntrace_values_find_change(struct ntrace_values *values, bool back,
						  bool here, uint64_t first, uint64_t last,
						  struct ntrace_cursor_mark *mark, uint32_t *index);

/* In struct ntrace_values_origin. */
enum ntrace_values_source {
	NTRACE_VALUES_NONE,
	NTRACE_VALUES_RECORDED,		/* the recording has it: an anchor, or memory after a system call */
	NTRACE_VALUES_EXECUTED,		/* an instruction has computed it */
	NTRACE_VALUES_STORED,		/* an instruction has stored it */
	NTRACE_VALUES_MAPPED,		/* a file or zeros, as they were mapped */
};

/* In place of the number of a system call: a core dump, at the end; exec(); a signal or something else that is not known */
#define NTRACE_VALUES_CORE    (UINT64_MAX - 2)
#define NTRACE_VALUES_EXEC    (UINT64_MAX - 1)
#define NTRACE_VALUES_NO_CALL UINT64_MAX

/**
 * struct ntrace_values_origin - where the value of a register comes from
 * @size: sizeof(struct ntrace_values_origin) of the caller
 * @kind: NTRACE_VALUES_EXECUTED: instruction @number of user code, at @address; NTRACE_VALUES_RECORDED: the anchor after
 *        @number instructions
 * @source: what @kind EXECUTED has loaded from memory: NTRACE_VALUES_STORED by instruction @source_number,
 *          RECORDED after @source_number instructions, MAPPED; NONE: it is no load, or that is not
 *          known
 * @bytes: size of this memory
 * @reserved: 0
 * @number: see @kind
 * @address: likewise
 * @memory: address of the memory
 * @source_number: see @source
 * @source_call: number of the system call that has written the memory, if it is RECORDED
 * @anchor: instructions of user code before the anchor from which the value follows
 * @call: number of its system call
 */
struct ntrace_values_origin {
	size_t size;
	uint8_t kind;
	uint8_t source;
	uint16_t bytes;
	uint32_t reserved;
	uint64_t number;
	uint64_t address;
	uint64_t memory;
	uint64_t source_number;
	uint64_t source_call;
	uint64_t anchor;
	uint64_t call;
};

/**
 * ntrace_values_origin - where the value of a register at the place comes from
 * @values: the values, at a place; they stay there
 * @id: NTRACE_EXEC_X + n or NTRACE_EXEC_F + n, not x0
 * @origin: filled in, as far as its size reaches
 *
 * Return: 0; 1: the register is not known; NTRACE_ERR_INVALID; errors of ntrace_cursor_next().
 */
NTRACE_EXPERIMENTAL int ntrace_values_origin(struct ntrace_values *values, unsigned int id,
					     struct ntrace_values_origin *origin);

/**
 * struct ntrace_values_counts - how much is known
 * @size: sizeof(struct ntrace_values_counts) of the caller
 * @instructions: instructions of user code
 * @reads: registers that they read
 * @known: of these, known
 * @calls: returns of system calls
 * @anchors: of these, with the registers at this place
 * @compared: registers that were known before an anchor, and compared with it
 * @decided: branches and jumps whose way was known before, and compared with the trace
 * @wrong: registers, branches and jumps that were not as they should be
 */
struct ntrace_values_counts {
	size_t size;
	uint64_t instructions;
	uint64_t reads;
	uint64_t known;
	uint64_t calls;
	uint64_t anchors;
	uint64_t compared;
	uint64_t decided;
	uint64_t wrong;
};

/**
 * ntrace_values_count - execute all of the thread and count
 * @values: the values, which lose their place
 * @counts: filled in, as far as its size reaches
 *
 * Return: 0 or errors of ntrace_cursor_next().
 */
NTRACE_EXPERIMENTAL int ntrace_values_count(struct ntrace_values *values,
					    struct ntrace_values_counts *counts);

/**
 * struct ntrace_values_core_counts - how much follows from a core dump
 * @size: sizeof(struct ntrace_values_core_counts) of the caller
 * @reads: registers that instructions read
 * @known: of these, known
 * @likely: of the others, likely
 * @compared: of @known, those that the anchors of the recording tell as well
 * @wrong: of these, not the same
 * @compared_likely: the same of @likely
 * @wrong_likely: likewise
 */
struct ntrace_values_core_counts {
	size_t size;
	uint64_t reads;
	uint64_t known;
	uint64_t likely;
	uint64_t compared;
	uint64_t wrong;
	uint64_t compared_likely;
	uint64_t wrong_likely;
};

/**
 * ntrace_values_count_core - count what follows from the core dump alone
 * @values: the values, which lose their place
 * @within: only of so many instructions before the end
 * @counts: filled in, as far as its size reaches
 *
 * Return: 0; 1: nothing follows; errors of ntrace_cursor_next().
 */
NTRACE_EXPERIMENTAL int ntrace_values_count_core(struct ntrace_values *values, uint64_t within,
						 struct ntrace_values_core_counts *counts);

/**
 * struct ntrace_values_visit - a state of the thread, passed to a caller
 * @when: 2n: before instruction n of its user code, counted from 0; 2n + 1: after it, before a system
 *        call or a signal changes anything
 * @address: of instruction n
 * @insn_class: enum ntrace_insn_class of it
 * @reserved: 0
 * @flow: its block; borrowed
 * @exec: the registers, for ntrace_exec_get(); borrowed
 *
 * New fields are added at the end.
 */
struct ntrace_values_visit {
	uint64_t when;
	uint64_t address;
	uint8_t insn_class;
	uint8_t reserved[7];
	const struct ntrace_flow_event *flow;
	const struct ntrace_exec *exec;
};

/**
 * ntrace_values_walk - execute all of the thread once, and pass on states in it
 * @values: the values, which lose their place
 * @first: when to call @visit first, as @when of struct ntrace_values_visit
 * @visit: called with the state. Return: when to call it next, later than this one; UINT64_MAX: never
 * @data: for @visit
 *
 * Of memory only the present state is kept, however long the thread is.
 *
 * Return: 0 or errors of ntrace_cursor_next().
 */
NTRACE_EXPERIMENTAL int
ntrace_values_walk(struct ntrace_values *values, uint64_t first,
		   uint64_t (*visit)(void *data, const struct ntrace_values_visit *visit),
		   void *data);

#ifdef __cplusplus
}
#endif

#endif /* NTRACE_VALUES_H */
