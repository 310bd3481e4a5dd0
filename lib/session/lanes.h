/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Decodes streams, at the same time or one after the other, so that each thread is delivered in its own
 * order over all CPUs.
 *
 * Each stream has a lane, with a thread of its own that decodes it. Lanes are divided among jobs. Only one
 * lane of a job runs at a time. With NTRACE_NEEDS_TURNS there is one job, and a lane waits where its hart
 * enters a turn (turns.h) whose thread still has an earlier turn to be decoded in another lane:
 *
 *     stream 0   A 1 ===> B 1 ===> A 3 (waits)            ===> A 3 ===>
 *     stream 1                          C 1 ===> A 2 ===> B 2 (goes on: B 1 is over)
 *
 * - All that precedes a turn in its stream has been delivered when the lane enters it, and all of the
 *   thread's earlier turns.
 * - A lane runs until it has to wait; of several of its job that could go on, the one of the lowest stream
 *   does. So with one job, the order of all callbacks depends on the recording only.
 */
#ifndef NTRACE_SESSION_LANES_H
#define NTRACE_SESSION_LANES_H

#include <ntrace/session.h>

struct session_lane;

/*
 * The hart of @lane is in turn @index of its stream, or, if not @certain, in that one or a later one: those
 * before it are over. Waits until the previous turn of the thread is over. @event: gets the turn and the
 * origin. Return: 0, or the result with which decoding stops.
 */
int session_lane_enter(struct session_lane *lane, size_t index, bool certain,
		       struct ntrace_session_event *event);

#endif
