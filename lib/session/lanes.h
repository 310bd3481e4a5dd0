/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Decodes streams at the same time, so that each receiver gets their code in an order that depends on the
 * recording only.
 *
 * Each stream has a lane, with a thread of its own that decodes it. Lanes are divided among receivers (jobs).
 * Of the lanes of a receiver, one delivers at a time. With NTRACE_NEEDS_TURNS there is one receiver, and a
 * lane stops delivering where its hart enters a turn (turns.h) whose thread still has an earlier turn to be
 * delivered by another lane:
 *
 *     stream 0   A 1 ===> B 1 ===> A 3 (waits)            ===> A 3 ===>
 *     stream 1                          C 1 ===> A 2 ===> B 2 (goes on: B 1 is over)
 *
 * If several threads may decode, other lanes run ahead meanwhile: what they decode waits in the lane
 * (backlog.h), up to BACKLOG_MAX bytes, until the lane may deliver:
 *
 *     WAITS <--- backlog is full --- AHEAD <--- there are fewer than jobs - 1 --- READY
 *       |                              |                                            |
 *       +------------------------------+----> DELIVERS, when no other lane does <---+
 *                                                |
 *               a turn has to wait, or the QUANTUM is over: READY; WAITS, if the backlog is full
 *
 * - All that precedes a turn in its stream has been delivered when the lane delivers the turn, and all of the
 *   thread's earlier turns.
 * - A lane delivers until it has to wait, or for a QUANTUM. Then that lane of the receiver goes on which has
 *   delivered least, of those that can. This counts what was delivered, never what was decoded. So with one
 *   receiver, the order of all callbacks does not depend on the number of threads either.
 */
#ifndef NTRACE_SESSION_LANES_H
#define NTRACE_SESSION_LANES_H

#include <ntrace/session.h>

struct session_lane;

/*
 * The hart of @lane is in turn @index of its stream, or, if not @certain, in that one or a later one: those
 * before it are over. What follows is not delivered until the previous turn of the thread is over. @event: gets
 * the turn and the origin. Return: 0, or the result with which decoding stops.
 */
int session_lane_enter(struct session_lane *lane, size_t index, bool certain,
		       struct ntrace_session_event *event);

/* Delivers all that @lane has decoded, before it changes what that refers to. Return: likewise. */
int session_lane_flush(struct session_lane *lane);

#endif
