/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The turns of all threads. A turn is one scheduling interval of a thread on a CPU or, in trace from
 * perf, one piece. exec() by a thread that is not the first of its process divides it: the thread gets the
 * number of the process, whose first thread has ended, and has another turn with this number. The
 * sideband orders the turns of each thread number by time, over all CPUs:
 *
 *     CPU 0   |---A 1---|---B 1---|-----A 3-----|
 *     CPU 1   |------C 1------|--A 2--|---B 2---|
 *
 * - The numbers of a thread grow with time; they begin with 1.
 * - Between turns n and n + 1 the thread executed nothing. Where it may have executed something that
 *   no stream contains (a CPU that was not traced, lost records, the time before the start of a
 *   stream), or where another thread got the thread number, a number is left out.
 * - The first turn of a thread has an origin, and comes after the turn of that: of the thread that made it, or
 *   of the thread that it was before exec().
 * - A turn never begins before the previous one of its thread has ended, nor before that of another thread with
 *   its number has begun, so that decoding in this order cannot wait in a circle.
 */
#ifndef NTRACE_SESSION_TURNS_H
#define NTRACE_SESSION_TURNS_H

#include "follow.h"

#define TURN_NO_STREAM UINT32_MAX

/**
 * struct turn - a turn
 * @start: CLOCK_MONOTONIC
 * @number: 0: the thread is not known
 * @before_stream: stream with the previous turn of the thread, or with that of its origin;
 *                 TURN_NO_STREAM: none
 * @before: its index there
 * @origin: of the first turn of a thread; NULL: not known
 * @made: number of threads that the thread has made before it
 */
struct turn {
	uint64_t start;
	uint64_t number;
	uint32_t before_stream;
	size_t before;
	const struct ntrace_origin *origin;
	uint64_t made;
};

/**
 * struct turns - the turns of all streams
 * @streams: one array for each stream, with two turns for each interval or piece; follower_turn() is the index
 * @counts: their lengths
 * @origins: of all threads
 */
struct turns {
	struct turn **streams;
	size_t *counts;
	unsigned int count;
	struct ntrace_origin *origins;
};

/*
 * Orders the turns of @count streams. @followers: of the streams; NULL: the stream is not decoded.
 * Return: 0 or NTRACE_ERR_NOMEM.
 */
int turns_make(struct turns *turns, struct follower *const *followers, unsigned int count);
void turns_free(struct turns *turns);

#endif
