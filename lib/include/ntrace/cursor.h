/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Cursor: a place in a decoded trace that moves forwards and backwards.
 *
 * A flow pushes the events of a stream to a callback, once and in order. A cursor has the same
 * events, but the caller pulls them: the next one, the one before, the one at an offset, a time or a
 * function. Debuggers and browsers need this.
 *
 * A trace can be decoded forwards only. So a cursor keeps checkpoints, which hold the state of the
 * decoder between two messages, and decodes a window again from the last checkpoint before it. Moves
 * within a window cost nothing; moves to another window decode it. The number of windows and
 * checkpoints is bounded, whatever the stream contains. Checkpoints are dense near the cursor and
 * sparse elsewhere.
 *
 * Cursors of one session share windows, checkpoints and the list of threads, so a caller may have
 * one cursor for each thread. They belong to the session: use all of them in the thread that uses
 * the session, and free them before ntrace_session_close(). ntrace_session_decode() may be called
 * between two moves of a cursor.
 */
#ifndef NTRACE_CURSOR_H
#define NTRACE_CURSOR_H

#include <ntrace/session.h>

#ifdef __cplusplus
extern "C" {
#endif

struct ntrace_cursor;

/**
 * enum ntrace_cursor_step - what one step moves over
 * @NTRACE_CURSOR_INSTRUCTIONS: one instruction, or one other event
 * @NTRACE_CURSOR_BLOCKS: one block, or one other event
 */
enum ntrace_cursor_step {
	NTRACE_CURSOR_INSTRUCTIONS,
	NTRACE_CURSOR_BLOCKS,
};

/* Value of ntrace_cursor_config.pid and tid: any. */
#define NTRACE_CURSOR_ANY INT32_MIN

/**
 * struct ntrace_cursor_config - the trace that a cursor moves over
 * @size: sizeof(struct ntrace_cursor_config) of the caller
 * @step: enum ntrace_cursor_step
 * @session: a recording; borrowed for the life of the cursor. NULL: a raw stream, see @params
 * @stream: with @session: index of the stream, if @pid and @tid are NTRACE_CURSOR_ANY
 * @pid: with @session: moves only over what this process executed, in any stream; the threads of a
 *       process are ordered by the ends of their scheduling intervals. NTRACE_CURSOR_ANY: all
 * @tid: with @session: moves only over what this thread executed, in any stream; may be combined
 *       with @pid. -1 for what is attributed to no thread. NTRACE_CURSOR_ANY: all. A loss of another
 *       thread directly before what this thread executed is a place, too
 * @privileges: set of 1 << enum ntrace_priv: skips blocks of other privileges; 0 = no block is
 *              skipped. Other events are never skipped. Blocks of unknown privilege (raw streams
 *              without Ownership messages) are never skipped
 * @params: raw stream: its parameters, copied; NULL: those of ntrace_params_init()
 * @src: raw stream: moves over the messages of this SRC (if @params has src_bits)
 * @data: raw stream in memory: its bytes; borrowed for the life of the cursor
 * @data_size: number of bytes at @data
 * @fd: raw stream in a file, if @data is NULL: a file descriptor that can be read at any offset;
 *      borrowed for the life of the cursor. The file must not change meanwhile
 * @cut: raw stream: its first byte may be inside a message (a wrapped buffer)
 * @reserved: 0
 * @space: raw stream: the code; NULL = none. Cloned
 * @window: maximum number of blocks and events decoded at once, 16 to 1048576; 0 = 16384. Only a long
 *          message may exceed it, up to twice. Up to 8 windows are kept, with 24 bytes for each block
 *          and 32 bytes for each message. Cursors of one session have the window of the first
 * @reserved32: 0
 * @stop: called while a move decodes, at least once for 64 KiB of trace, with the index of the stream
 *        and the position in it. Must not use cursors of the session. The result true stops the
 *        move, which returns NTRACE_CURSOR_STOPPED. Cursors of one session have that of the last one
 *        that was made with one. NULL = none
 * @stop_data: passed to @stop. With @session it must be valid as long as one of its cursors moves, not
 *             only this one
 *
 * Set up by ntrace_cursor_config_init().
 */
struct ntrace_cursor_config {
	size_t size;
	unsigned int step;
	unsigned int stream;
	struct ntrace_session *session;
	int32_t pid;
	int32_t tid;
	uint32_t privileges;
	unsigned int src;
	const struct ntrace_params *params;
	const uint8_t *data;
	uint64_t data_size;
	int fd;
	bool cut;
	uint8_t reserved[3];
	struct ntrace_space *space;
	uint32_t window;
	uint32_t reserved32;
	bool (*stop)(void *data, unsigned int stream, uint64_t position);
	void *stop_data;
};

/*
 * Result of functions that decode, besides those that they list: ntrace_cursor_config.stop stopped
 * them. The cursor has not moved; what was decoded is not decoded again. No enum ntrace_error has
 * this value.
 */
#define NTRACE_CURSOR_STOPPED (-1000)

/**
 * enum ntrace_cursor_time - how ntrace_cursor_place.time is known
 * @NTRACE_CURSOR_TIME_NONE: no timestamp applies; the time is 0
 * @NTRACE_CURSOR_TIME_REPORTED: the message that reports the place has this timestamp, which is the
 *                               time of its end
 * @NTRACE_CURSOR_TIME_EARLIER: the last timestamp before the message: a lower bound
 */
enum ntrace_cursor_time {
	NTRACE_CURSOR_TIME_NONE,
	NTRACE_CURSOR_TIME_REPORTED,
	NTRACE_CURSOR_TIME_EARLIER,
};

/* ntrace_cursor_place.privilege of a raw stream without Ownership messages */
#define NTRACE_CURSOR_NO_PRIVILEGE UINT32_MAX

/**
 * struct ntrace_cursor_place - where a cursor is
 * @type: enum ntrace_flow_type; NTRACE_FLOW_BLOCK for instructions and blocks
 * @time_kind: enum ntrace_cursor_time
 * @size: bytes of the instruction; 0 for other events and if the code is unknown
 * @insn_class: enum ntrace_insn_class of the instruction, which is PLAIN for all but the last one of
 *              a block; with block steps that of the last one
 * @bytes: instruction in memory order; @size bytes are valid, the others are 0
 * @address: address of the instruction (with block steps: of the first one of the block); for other
 *           events that of @flow
 * @index: number of the instruction within its block, from 0; with block steps 0
 * @instructions: instructions of the block; 0 for other events
 * @offset: position in the stream of the message that caused the block or the event
 * @time: in ticks of params.timestamp_hz of the stream, see @time_kind
 * @flow: the block, or the other event, as the flow delivered it; context is the state by
 *        Ownership messages, and space shows the mappings of that time. Borrowed
 * @stream: index of the stream; 0 for raw streams
 * @cpu: Linux number of the hart; 0 for raw streams
 * @pid: process, -1 = unknown, 0 = idle; -1 for raw streams
 * @tid: thread; -1 for raw streams
 * @comm: name of the thread at that time, "" for raw streams
 * @privilege: enum ntrace_priv, or NTRACE_CURSOR_NO_PRIVILEGE
 * @sideband_ns: as in struct ntrace_session_event; 0 for raw streams
 *
 * All pointers are valid until the cursor moves. New fields are added at the end.
 */
struct ntrace_cursor_place {
	uint8_t type;
	uint8_t time_kind;
	uint8_t size;
	uint8_t insn_class;
	uint8_t bytes[8];
	uint64_t address;
	uint32_t index;
	uint32_t instructions;
	uint64_t offset;
	uint64_t time;
	const struct ntrace_flow_event *flow;
	unsigned int stream;
	unsigned int cpu;
	int32_t pid;
	int32_t tid;
	const char *comm;
	uint32_t privilege;
	uint64_t sideband_ns;
};

/**
 * ntrace_cursor_config_init - defaults: instruction steps, any process and thread, fd -1
 * @config: filled in, with its size
 */
NTRACE_EXPERIMENTAL void ntrace_cursor_config_init(struct ntrace_cursor_config *config);

/**
 * ntrace_cursor_new - a cursor before the first place
 * @cursor: the new cursor, to be freed with ntrace_cursor_free()
 * @config: copied
 *
 * Decodes nothing, except with a pid or tid: then the first cursor of a session decodes all streams
 * once to find the scheduling intervals of the threads. This takes as long as
 * ntrace_session_decode() with blocks.
 *
 * Return: 0, NTRACE_ERR_INVALID (no such stream, a session without streams, step, window or
 * parameters out of range, neither session nor data nor fd), NTRACE_ERR_NOMEM, NTRACE_ERR_IO (errno
 * is kept), NTRACE_ERR_FORMAT (the compressed trace is damaged).
 */
NTRACE_EXPERIMENTAL int ntrace_cursor_new(struct ntrace_cursor **cursor,
					  const struct ntrace_cursor_config *config);

/**
 * ntrace_cursor_free - free a cursor
 * @cursor: cursor made by ntrace_cursor_new(); NULL is allowed
 */
NTRACE_EXPERIMENTAL void ntrace_cursor_free(struct ntrace_cursor *cursor);

/**
 * ntrace_cursor_place - where a cursor is
 * @cursor: cursor made by ntrace_cursor_new()
 *
 * Return: the place, owned by the cursor, valid until it moves; NULL before the first and after the
 * last place.
 */
NTRACE_EXPERIMENTAL const struct ntrace_cursor_place *
ntrace_cursor_place(const struct ntrace_cursor *cursor);

/**
 * ntrace_cursor_next - move to the next place
 * @cursor: cursor made by ntrace_cursor_new()
 *
 * After the last place the cursor stays there until it moves back.
 *
 * Return: 0: at a place; 1: after the last place; NTRACE_ERR_NOMEM, NTRACE_ERR_IO (errno is kept)
 * or NTRACE_ERR_FORMAT: the cursor has not moved. Errors of the stream are places, never return
 * values.
 */
NTRACE_EXPERIMENTAL int ntrace_cursor_next(struct ntrace_cursor *cursor);

/**
 * ntrace_cursor_prev - move to the place before
 * @cursor: cursor made by ntrace_cursor_new()
 *
 * Return: 0: at a place; 1: before the first place; errors as ntrace_cursor_next().
 */
NTRACE_EXPERIMENTAL int ntrace_cursor_prev(struct ntrace_cursor *cursor);

/**
 * ntrace_cursor_first - move to the first place
 * @cursor: cursor made by ntrace_cursor_new()
 *
 * Return: 0; 1: the trace has no place, and the cursor is after the last one; errors as
 * ntrace_cursor_next().
 */
NTRACE_EXPERIMENTAL int ntrace_cursor_first(struct ntrace_cursor *cursor);

/**
 * ntrace_cursor_last - move to the last place
 * @cursor: cursor made by ntrace_cursor_new()
 *
 * Decodes what has not been decoded so far.
 *
 * Return: 0; 1: the trace has no place, and the cursor is before the first one; errors as
 * ntrace_cursor_next().
 */
NTRACE_EXPERIMENTAL int ntrace_cursor_last(struct ntrace_cursor *cursor);

/**
 * ntrace_cursor_seek_time - move to the first place that is not before a time
 * @cursor: cursor made by ntrace_cursor_new()
 * @time: in ticks of params.timestamp_hz
 *
 * Finds the first place, in the order
 * of the cursor, whose flow has a known time of at least @time.
 *
 * Return: 0; 1: there is no such place (or no timestamps), and the cursor is after the last place;
 * errors as ntrace_cursor_next().
 */
NTRACE_EXPERIMENTAL int ntrace_cursor_seek_time(struct ntrace_cursor *cursor, uint64_t time);

/**
 * ntrace_cursor_seek_address - move to the next execution of an address
 * @cursor: cursor made by ntrace_cursor_new()
 * @address: address of an instruction; with block steps any instruction of the block
 * @backwards: search before the place of the cursor, instead of after it
 *
 * The place of the cursor itself is no match.
 *
 * Return: 0; 1: no match, and the cursor has not moved; errors as ntrace_cursor_next().
 */
NTRACE_EXPERIMENTAL int ntrace_cursor_seek_address(struct ntrace_cursor *cursor, uint64_t address,
						   bool backwards);

/**
 * ntrace_cursor_seek_function - move to the next execution of a function's first instruction
 * @cursor: cursor made by ntrace_cursor_new()
 * @name: name of the function, see ntrace_symbol_matches()
 * @backwards: search before the place of the cursor, instead of after it
 *
 * The place of the cursor itself is no match, so that repeated calls find all calls.
 *
 * Return: 0; 1: no match, and the cursor has not moved; errors as ntrace_cursor_next().
 */
NTRACE_EXPERIMENTAL int ntrace_cursor_seek_function(struct ntrace_cursor *cursor, const char *name,
						    bool backwards);

/**
 * ntrace_cursor_seek_type - move to the next event of a type
 * @cursor: cursor made by ntrace_cursor_new()
 * @type: enum ntrace_flow_type, such as NTRACE_FLOW_GAP
 * @backwards: search before the place of the cursor, instead of after it
 *
 * Return: 0; 1: no match, and the cursor has not moved; errors as ntrace_cursor_next().
 */
NTRACE_EXPERIMENTAL int ntrace_cursor_seek_type(struct ntrace_cursor *cursor, unsigned int type,
						bool backwards);

/**
 * struct ntrace_cursor_mark - a saved position
 *
 * Valid for all cursors with the same configuration but for step, privileges and window. Needs no
 * freeing.
 */
struct ntrace_cursor_mark {
	/* private: */
	uint64_t run;
	uint64_t item;
	uint64_t index;
};

/**
 * ntrace_cursor_save - save the position of a cursor
 * @cursor: cursor made by ntrace_cursor_new()
 * @mark: set; also valid before the first and after the last place
 */
NTRACE_EXPERIMENTAL void ntrace_cursor_save(const struct ntrace_cursor *cursor,
					    struct ntrace_cursor_mark *mark);

/**
 * ntrace_cursor_restore - move to a saved position
 * @cursor: cursor made by ntrace_cursor_new()
 * @mark: set by ntrace_cursor_save() for a cursor of the same trace
 *
 * Return: 0; 1: the position is before the first or after the last place; NTRACE_ERR_INVALID: not
 * a position of this trace; other errors as ntrace_cursor_next(). After an error the cursor has not
 * moved.
 */
NTRACE_EXPERIMENTAL int ntrace_cursor_restore(struct ntrace_cursor *cursor,
					      const struct ntrace_cursor_mark *mark);

/**
 * ntrace_cursor_compare - order of two positions of one trace
 * @a: a position
 * @b: another position
 *
 * Return: less than 0, 0 or more than 0 if @a is before, at or after @b.
 */
NTRACE_EXPERIMENTAL int ntrace_cursor_compare(const struct ntrace_cursor_mark *a,
					      const struct ntrace_cursor_mark *b);

/**
 * struct ntrace_cursor_extent - how much of a trace has been decoded
 * @size: sizeof(struct ntrace_cursor_extent) of the caller
 * @complete: the whole trace has been decoded: all values are final
 * @time_known: @first_time and @last_time are valid
 * @reserved: 0
 * @items: blocks and other events so far
 * @instructions: instructions of these blocks
 * @bytes: bytes of the streams decoded so far
 * @first_time: earliest timestamp in ticks
 * @last_time: latest timestamp in ticks
 *
 * A cursor over processes or threads counts only theirs, except for @bytes; it is always complete.
 * Blocks that the privileges of the cursor skip are counted.
 */
struct ntrace_cursor_extent {
	size_t size;
	bool complete;
	bool time_known;
	uint8_t reserved[6];
	uint64_t items;
	uint64_t instructions;
	uint64_t bytes;
	uint64_t first_time;
	uint64_t last_time;
};

/**
 * ntrace_cursor_extent - how much of the trace has been decoded so far
 * @cursor: cursor made by ntrace_cursor_new()
 * @extent: filled in, as far as its size reaches
 *
 * Decodes nothing; after ntrace_cursor_last() the extent is complete.
 */
NTRACE_EXPERIMENTAL void ntrace_cursor_extent(const struct ntrace_cursor *cursor,
					      struct ntrace_cursor_extent *extent);

/**
 * struct ntrace_cursor_thread - a thread of a recording
 * @pid: process; -1 = unknown, 0 = idle
 * @tid: thread; -1 = unknown
 * @time_known: @first_time and @last_time are valid
 * @reserved: 0
 * @comm: the last name of the thread in the trace
 * @instructions: instructions it executed in all streams
 * @runs: number of times it was found running: stretches of a stream without another thread
 * @first_ns: sideband_ns of its first event (CLOCK_MONOTONIC), see struct ntrace_session_event
 * @last_ns: sideband_ns of its last event
 * @first_time: first timestamp while it ran, in ticks of params.timestamp_hz
 * @last_time: last timestamp while it ran
 */
struct ntrace_cursor_thread {
	int32_t pid;
	int32_t tid;
	bool time_known;
	uint8_t reserved[7];
	const char *comm;
	uint64_t instructions;
	uint64_t runs;
	uint64_t first_ns;
	uint64_t last_ns;
	uint64_t first_time;
	uint64_t last_time;
};

/**
 * ntrace_cursor_threads - list the threads that a recording shows running
 * @session: session opened by ntrace_session_open()
 * @threads: set to an array sorted by pid and tid, owned by the session, valid until it is closed
 * @count: set to the number of threads
 *
 * The first call decodes all streams once, as the first cursor of a thread does; both share the
 * result.
 *
 * Return: 0, NTRACE_ERR_INVALID (a session without streams), NTRACE_ERR_NOMEM, NTRACE_ERR_IO (errno
 * is kept), NTRACE_ERR_FORMAT.
 */
NTRACE_EXPERIMENTAL int ntrace_cursor_threads(struct ntrace_session *session,
					      const struct ntrace_cursor_thread **threads,
					      size_t *count);

#ifdef __cplusplus
}
#endif

#endif /* NTRACE_CURSOR_H */
