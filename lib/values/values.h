/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Definitions shared by the files of lib/values. */
#ifndef NTRACE_VALUES_INTERNAL_H
#define NTRACE_VALUES_INTERNAL_H

#include <ntrace/values.h>

#include "anchors.h"
#include "core.h"
#include "syscalls.h"

struct infer;
struct infer_counts;

/* Instructions by which a window grows at once, instead of a new one. */
#define VALUES_GROW (UINT64_C(1) << 20)

/**
 * struct stop - where the state of the thread may have changed without its instructions
 * @mark: the block of user code after it
 * @number: instructions of user code before it
 * @address: of the block
 * @call: address of the ecall before it; 0: none
 * @anchor: index of the anchor with the registers after it, -1: none
 * @lost: an unknown number of calls has been before it
 * @restarted: the call was interrupted, and is executed next
 * @merged: after the call, which went there, the one before @address was made, too
 */
struct stop {
	struct ntrace_cursor_mark mark;
	uint64_t number;
	uint64_t address;
	uint64_t call;
	int64_t anchor;
	bool lost;
	bool restarted;
	bool merged;
};

/**
 * struct survey - what a thread executed
 * @stop: in order
 * @instructions: of user code
 * @next: where user code goes on after the last of them, if @next_known
 * @cpu: that executed the last of them
 * @lost: trace is missing after them
 * @at_call: a system call is at @next
 */
struct survey {
	struct stop *stop;
	size_t stops, room;
	uint64_t instructions;
	uint64_t next;
	unsigned int cpu;
	bool next_known, lost, at_call;
};

/** survey_thread - find the stops of all that @cursor moves over. Return: 0 or an error */
int survey_thread(struct survey *survey, struct ntrace_cursor *cursor,
		  const struct anchors *anchors);
/** survey_pair - give each stop its anchor, where it is certain which one that is */
void survey_pair(struct survey *survey, const struct anchors *anchors);
void survey_free(struct survey *survey);

/*
 * A range whose content changed before instruction @number. @reset: nothing from before is known of any;
 * @object, @offset: file, and place of @first in it, with SYSCALL_FILE
 */
struct values_range {
	uint64_t number;
	uint64_t first;
	uint64_t last;
	enum syscall_content content;
	bool reset;
	const struct ntrace_object *object;
	uint64_t offset;
};

/* A file with executed code, at @code among others. */
struct values_module {
	struct ntrace_object *object;
	uint64_t bias;
	uint64_t code;
};

/* Registers x0 to x31, f0 to f31 and fcsr before the block at @mark. */
struct snapshot {
	uint64_t number;
	uint64_t brk;
	struct ntrace_cursor_mark mark;
	struct ntrace_exec_value value[65];
};

/**
 * struct values_origin - what wrote a register last
 * @register_bit: the register, as in @written of struct ntrace_exec_effects
 * @address, @number, @effects: of the instruction, with @stop NULL
 * @stop: it was written there
 */
struct values_origin {
	unsigned int register_bit;
	uint64_t address;
	uint64_t number;
	struct ntrace_exec_effects effects;
	const struct stop *stop;
};

/**
 * struct ntrace_values - see <ntrace/values.h>
 * @number: instructions of user code before the state of @exec
 * @limit: number at which to stop
 * @first_program: number of the first instruction after an exec(), UINT64_MAX: there is none
 * @brk: end of the heap, 0: unknown
 * @space: of the last block; referenced
 * @near_first, @near_last: addresses near the last block, whose file is among the modules
 * @file: data files that are mapped
 * @logs: stores go to @log
 * @volatiles: some ranges may change at any time
 * @windowed: there is a window, from stop @window_stop to instruction @end_index of the block at
 *            @end_mark, whose number is @end
 * @last_mark, @last_index: the last block that was executed, and its length
 * @at_place: @exec has the state before instruction @index of the block at @mark
 * @reached: instructions before the place that were executed at least
 * @conditional: an sc whose result is not known, if @bytes; it is in x@conditional_result
 * @exhausted: windows that begin earlier tell no more
 * @origin: writes of a register are noted there; NULL: none is asked for
 * @core, @core_thread: of the configuration, and this thread in it; NULL: there is none
 * @infer: what follows from it; NULL: not asked for so far, or nothing (@uncored)
 * @inferred: the place is entry @entry of it
 * @within, @core_counts: reads by instructions so near to the end are counted there
 * @visit, @visit_data: of ntrace_values_walk(), called @next_visit; UINT64_MAX: never
 */
struct ntrace_values {
	struct ntrace_session *session;
	int32_t pid;
	struct anchors anchors;
	struct survey survey;
	struct ntrace_cursor *cursor;
	struct ntrace_exec *exec;
	struct ntrace_value_log *log;
	uint64_t number, first_program, limit, brk, reach;
	struct ntrace_space *space;
	struct values_module *module;
	size_t modules, module_room;
	struct ntrace_object **file;
	size_t files, file_room;
	uint64_t near_first, near_last;
	struct values_range *range;
	size_t ranges, range_room;
	struct snapshot *snapshot;
	size_t snapshots, snapshot_room;
	size_t window_stop;
	uint64_t end;
	struct ntrace_cursor_mark mark, end_mark, last_mark;
	uint32_t index, end_index, last_index;
	uint64_t reached;
	struct ntrace_exec_effects conditional;
	unsigned int conditional_result;
	bool logs, volatiles, windowed, at_place, exhausted, counting;
	struct ntrace_values_counts counts;
	struct values_origin *origin;
	struct ntrace_isa isa;
	const struct ntrace_core *core;
	const struct core_thread *core_thread;
	struct infer *infer;
	size_t entry;
	bool inferred, uncored;
	uint64_t within;
	struct infer_counts *core_counts;
	uint64_t next_visit;
	uint64_t (*visit)(void *data, const struct ntrace_values_visit *visit);
	void *visit_data;
};

/** values_trusts - whether others cannot have written memory before the state, but by what is known */
static inline bool values_trusts(const struct ntrace_values *values)
{
	return !values->anchors.uncertain &&
	       (values->anchors.inherited || values->number >= values->first_program);
}

/** values_time - the time in the log of the state before instruction @number */
static inline uint64_t values_time(const struct ntrace_values *values)
{
	return 2 * values->number + 1;
}

/** values_read_memory, values_write_memory - functions of the executor */
int values_read_memory(void *user, uint64_t address, unsigned int bytes,
		       struct ntrace_exec_value *value);
int values_write_memory(void *user, uint64_t address, unsigned int bytes,
			const struct ntrace_exec_value *value);

/**
 * values_run - execute
 *
 * Executes from instruction @from of the block of the cursor, whose stop was passed, to instruction
 * @index of the block at @mark. With @mark NULL, up to the first block that begins with at least @limit
 * instructions before it; then the result is 1 at the end of the thread, with the cursor behind it.
 */
int values_run(struct ntrace_values *values, uint32_t from, const struct ntrace_cursor_mark *mark,
	       uint32_t index);

/** values_is_user - whether it is a block of user code */
static inline bool values_is_user(const struct ntrace_cursor_place *place)
{
	return place->type == NTRACE_FLOW_BLOCK && place->privilege == NTRACE_PRIV_U;
}

/** values_execute_all - execute all of the thread, and count. Return: 0 or errors of ntrace_cursor_next() */
int values_execute_all(struct ntrace_values *values);

/** values_seek_core - the place in what follows from the core; moves the cursor. Return: 0; 1: nothing follows; errors */
int values_seek_core(struct ntrace_values *values);

/** values_extend_core - begin the window of what follows earlier. Return: 0; 1: it cannot; errors */
int values_extend_core(struct ntrace_values *values);

/** values_read_core - memory at @what, or with @bytes 0 register @what (infer_register()). Return: 0 or errors */
int values_read_core(struct ntrace_values *values, uint64_t what, unsigned int bytes,
		     struct ntrace_exec_value *value);

/** values_find_counted - whether reads of the block where the cursor is are counted for the core */
void values_find_counted(struct ntrace_values *values);

/** core_refusal - why the registers of a core dump are not those at the end of a thread. Return: NULL: they are */
const char *core_refusal(const struct core_thread *thread, const struct survey *survey);

/** values_note_module - keep the file of the code of a block, for its constants */
void values_note_module(struct ntrace_values *values, const struct ntrace_flow_event *flow);

/** values_file_constant - a byte of a file that is mapped, and that a program cannot change there */
bool values_file_constant(const struct ntrace_values *values, uint64_t address, uint8_t *byte);

/** values_snapshot_before - the last one of the window up to a block */
size_t values_snapshot_before(const struct ntrace_values *values,
			      const struct ntrace_cursor_mark *mark);

/** values_replay - go from a snapshot to an instruction in the window */
int values_replay(struct ntrace_values *values, size_t snapshot,
		  const struct ntrace_cursor_mark *mark, uint32_t index);

/** values_revisit - go to an instruction in the window */
int values_revisit(struct ntrace_values *values, const struct ntrace_cursor_mark *mark,
		   uint32_t index);

/** values_reach_deeper - begin the window earlier. Return: 0; 1: it does not go back further */
int values_reach_deeper(struct ntrace_values *values);

/** values_forget_range - bytes may have any value from @time on. Return: 0 or NTRACE_ERR_NOMEM */
int values_forget_range(struct ntrace_values *values, uint64_t time, uint64_t first, uint64_t last);

/** values_forget_memory - the same for all of memory */
int values_forget_memory(struct ntrace_values *values, uint64_t time);

/** values_change_range - the kernel has changed a range; as syscall_writes() calls it */
int values_change_range(void *user, uint64_t first, uint64_t last, enum syscall_content content);

/** values_add_range - a range has another content; the log has forgotten it. Return: 0 or NTRACE_ERR_NOMEM */
int values_add_range(struct ntrace_values *values, const struct values_range *range);

/** values_begin_mappings - what a new program has mapped. Return: 0 or NTRACE_ERR_NOMEM */
int values_begin_mappings(struct ntrace_values *values, const struct anchor *anchor);

/** values_map_file - the content of a mapping of a file that the call before @anchor has made */
int values_map_file(struct ntrace_values *values, const struct anchor *anchor, uint64_t first);

/** values_read_file - bytes of a file that is known, which a call has read. Return: 0 or NTRACE_ERR_NOMEM */
int values_read_file(struct ntrace_values *values, const struct anchor *anchor,
		     const struct syscall *call);

/** values_file_byte - a byte of a range with SYSCALL_FILE */
uint8_t values_file_byte(const struct values_range *range, uint64_t address);

/** values_change_brk - brk() has returned @end: what it adds to the heap is zero */
int values_change_brk(struct ntrace_values *values, uint64_t end);

/** values_forget_registers - @count registers from @from on are unknown */
void values_forget_registers(struct ntrace_values *values, unsigned int from, unsigned int count);

/** values_forget_floats - so are f0 to f31 and fcsr */
void values_forget_floats(struct ntrace_values *values);

/** values_forget_all - registers and memory may have any value from @time on. Return: 0 or NTRACE_ERR_NOMEM */
int values_forget_all(struct ntrace_values *values, uint64_t time);

/** values_pass_stop - the state after a stop, before the first instruction behind it */
int values_pass_stop(struct ntrace_values *values, const struct stop *stop);

#endif
