/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The clock of a stream: from the ticks of its timestamps to CLOCK_MONOTONIC, with a bound of the error.
 *
 * Nothing but the difference of the two clocks (the offset) is to be found: the frequency is known. Each
 * task switch limits it. The kernel records a time before the switch (OUT) and one after it (IN), and the
 * trace has a timestamp before it and one after it:
 *
 *     monotonic   ----OUT------------------IN----        OUT - after  <=  offset  <=  IN - before
 *     ticks       --------before--after----------
 *
 * So does the start of the trace, whose time the driver reports.
 *
 * - The offset lies between @low and @high: what all limits so far have in common, widened by what the two
 *   clocks may have drifted since. If they have nothing in common, the counter has been set, or the
 *   machine has slept: the last limit counts alone.
 * - The time of an event lies in the turn of its thread, whatever the ticks say. So times never contradict
 *   the order of the turns (turns.h).
 * - Times of one stream never go back.
 * - If there is neither a switch nor a start with a time, the offset is taken to be 0.
 */
#ifndef NTRACE_SESSION_CLOCK_H
#define NTRACE_SESSION_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include <ntrace/recording.h>

struct codec;

/**
 * struct stream_clock - the clock of a stream
 * @hz: frequency of the ticks; 0: not known, then nothing is
 * @low, @high: limits of the offset, if @known
 * @limited: time of the last limit
 * @last: the last timestamp, @before: the one before it; valid if @stamps is 1 or 2 at least
 * @left, @came: limits of a switch that has no timestamp after it yet, if @pending: times of the records
 *               OUT and IN, 0 = not known; @earlier: the timestamp before it, if @has_earlier
 * @first, @end: the present turn: times lie between
 * @ns: the last time
 * @assumed: the offset is not known, and taken to be 0
 * @in_pieces: the stream is trace of tasks
 */
struct stream_clock {
	uint64_t hz;
	int64_t low, high;
	uint64_t limited;
	uint64_t last, before;
	unsigned int stamps;
	uint64_t left, came, earlier;
	uint64_t first, end;
	uint64_t ns;
	bool known;
	bool pending;
	bool has_earlier;
	bool assumed;
	bool in_pieces;
};

/*
 * @start_ns: the time of the first timestamp; 0: not known. @in_pieces: the stream is trace of tasks, see
 * stream_clock_piece()
 */
void stream_clock_init(struct stream_clock *clock, const struct ntrace_params *params,
		       uint64_t start_ns, bool in_pieces);

/*
 * Nothing will limit the offset, because the recording has no times: it is taken to be 0. Durations are
 * right; the bound of the error is UINT64_MAX.
 */
void stream_clock_assume(struct stream_clock *clock);

/* The hart is in a turn between @first and @end: times of the sideband. */
void stream_clock_turn(struct stream_clock *clock, uint64_t first, uint64_t end);

/* A switch has been executed: @left and @came as in struct stream_clock. */
void stream_clock_switch(struct stream_clock *clock, uint64_t left, uint64_t came);

/*
 * Trace of another piece comes, recorded between @start and @end. @came: its first timestamp is not later; 0: not
 * known. @last_end: end of the piece before, which has the last timestamp.
 */
void stream_clock_piece(struct stream_clock *clock, uint64_t start, uint64_t came, uint64_t end,
			uint64_t last_end);

/*
 * The time of @tick, which is the timestamp of the present message or an earlier one. @error: set to the
 * bound of the error in nanoseconds. Return: false: not known.
 */
bool stream_clock_read(struct stream_clock *clock, uint64_t tick, uint64_t *ns, uint64_t *error);

/* For the index of a recording: writes the state of @clock, or reads that of a clock of the same stream. */
void stream_clock_code(struct stream_clock *clock, struct codec *codec);

#endif
