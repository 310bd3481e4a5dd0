/* SPDX-License-Identifier: GPL-2.0-only */
/* Moves in a trace: instructions, lines, calls, searches; in both directions. */
#ifndef NTRACE_TOOL_BROWSE_WALK_H
#define NTRACE_TOOL_BROWSE_WALK_H

#include <ntrace/values.h>

#include "code.h"

/* Frames of a call stack that are looked for. */
#define WALK_FRAMES 64

/**
 * enum walk_result - how a move ended
 * @WALK_OK: at the wanted instruction
 * @WALK_END: at the end of the trace, or at its beginning
 * @WALK_NONE: it is not in the trace; nothing has moved
 * @WALK_LOST: at the first instruction after lost trace: what follows is unknown
 * @WALK_STOPPED: the user wanted no more
 * @WALK_FAILED: see the error of the walk
 */
enum walk_result {
	WALK_OK,
	WALK_END,
	WALK_NONE,
	WALK_LOST,
	WALK_STOPPED,
	WALK_FAILED,
};

/**
 * struct walk - a hart or a thread, and a place in its trace
 * @core: a core dump of the end of the recording, NULL = none; borrowed
 * @config: of the cursor; session, stream, pid, tid and so on are set by the caller, @stop must be set
 * @code: borrowed
 * @hz: ticks of its timestamps in a second, 0 = unknown
 * @error: enum ntrace_error, with WALK_FAILED
 * @gap: why code is missing where a move has passed, "" = none is missing; the caller clears it
 * @gaps: number of these places; the caller clears it
 *
 * The other fields are private.
 */
struct walk {
	struct ntrace_cursor_config config;
	struct ntrace_cursor *cursor;
	struct ntrace_cursor *whole;	/* of all privileges; NULL = so is @cursor */
	struct ntrace_values *values;
	const struct ntrace_core *core;	/* NULL = not asked for so far */
	struct code *code;
	uint64_t hz;
	int error;
	char gap[400];
	uint64_t gaps;
	uint64_t steps;
	bool trapped;
	bool unmapped;
	bool lost;
};

/**
 * walk_open - open the trace that @config names, at its first instruction
 *
 * A trace that is open is closed, except if the new one cannot be opened.
 * Return: WALK_OK, WALK_END: it has no instruction, WALK_STOPPED or WALK_FAILED.
 */
enum walk_result walk_open(struct walk *walk, const struct ntrace_cursor_config *config);
void walk_close(struct walk *walk);

/** walk_place - where the walk is; NULL if the trace is empty */
const struct ntrace_cursor_place *walk_place(const struct walk *walk);

/**
 * walk_values - registers and memory before the instruction
 * @why: set to the reason if there are none
 *
 * The first call reads the recorded values of the thread. Return: owned by the walk; NULL: there are none.
 */
struct ntrace_values *walk_values(struct walk *walk, const char **why);

/** walk_step - to the next or previous instruction */
enum walk_result walk_step(struct walk *walk, bool back);

/** walk_over - the same, but over what a call or a trap executes */
enum walk_result walk_over(struct walk *walk, bool back);

/** walk_out - to where the function returns, or back to the instruction that called it */
enum walk_result walk_out(struct walk *walk, bool back);

/**
 * walk_line - to the first instruction of another source line, or of the line before
 * @over: over calls and traps
 *
 * Code without line numbers is passed.
 */
enum walk_result walk_line(struct walk *walk, bool back, bool over);

/** walk_first, walk_last - to the first or last instruction */
enum walk_result walk_first(struct walk *walk);
enum walk_result walk_last(struct walk *walk);

/**
 * walk_find - to the next or previous execution
 * @what: a function, 0xADDRESS, or FILE:LINE
 *
 * Return: also WALK_NONE.
 */
enum walk_result walk_find(struct walk *walk, const char *what, bool back);

/** walk_gap - to the first instruction after the next gap, or the last one before the previous gap */
enum walk_result walk_gap(struct walk *walk, bool back);

/**
 * walk_time - to the first instruction that is reported at @ticks or later
 *
 * Return: as other moves; WALK_END if there is none, with the last instruction as the place.
 */
enum walk_result walk_time(struct walk *walk, uint64_t ticks);

/**
 * struct walk_frame - a frame of a call stack
 * @address: of the instruction that calls the frame before; of the first frame: the current one
 * @text: function and source line
 */
struct walk_frame {
	uint64_t address;
	char text[400];
};

/**
 * walk_stack - the calls that lead to the place, innermost first
 * @frames: room for WALK_FRAMES
 * @why: set to why there are no more frames
 *
 * Looks at a limited number of instructions before the place. Return: number of frames.
 */
size_t walk_stack(struct walk *walk, struct walk_frame *frames, const char **why);

#endif /* NTRACE_TOOL_BROWSE_WALK_H */
