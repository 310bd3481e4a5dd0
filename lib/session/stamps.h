/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * When the execution of a stream happened, for those who consume its events. A message has one timestamp, that of its
 * end, and the events of it come before. So execution waits for the next timestamp; it happened between that and the
 * one before, the anchor:
 *
 *     message     message     trace off    turn ends   message of another turn
 *    ----+-----------+------------+............|...........+----
 *      anchor ------ time
 *                  anchor ------------------ turn_end    (no anchor)
 *
 * Where the trace is off and the thread's turn ends, what waits happened until that end, and the time up to the next
 * message belongs to no thread of the hart. Of two equal timestamps the first one counts.
 */
#ifndef NTRACE_SESSION_STAMPS_H
#define NTRACE_SESSION_STAMPS_H

#include <ntrace/session.h>

/*
 * @offset: of the present message, UINT64_MAX: none yet; @time: its timestamp, if @time_known
 * @anchor: time of the last timestamp, if @anchored
 * @turn_end: end of the present turn, 0 = not known
 * @off: the trace of the present turn was switched off: what follows may be another turn
 * @cut: the stream may end within a turn
 * @count: timestamps so far
 */
struct stamps {
	uint64_t offset;
	uint64_t time;
	uint64_t anchor;
	uint64_t turn_end;
	uint64_t count;
	bool time_known;
	bool anchored;
	bool off;
	bool cut;
};

/* All that waits happened between the anchor, if there is one, and @until. Return: 0 or an error, which ends the call */
typedef int stamps_release_fn(void *data, uint64_t until);

/* Whether the present message has a new timestamp. */
static inline bool stamps_has_new(const struct stamps *stamps)
{
	return stamps->time_known && (!stamps->anchored || stamps->time != stamps->anchor);
}

/* What waits happened until the end of the turn, in which the trace was off. */
static inline int stamps_end_turn(struct stamps *stamps, stamps_release_fn *release, void *data)
{
	uint64_t end = stamps->turn_end > stamps->anchor ? stamps->turn_end : stamps->anchor;
	int error;

	stamps->off = false;
	if (!stamps->anchored || !stamps->turn_end)
		return 0;
	error = release(data, end);
	stamps->anchored = false;
	return error;
}

/* The message at @offset begins, unless it is the present one: what the present one reports has its time. */
static inline int stamps_next(struct stamps *stamps, uint64_t offset,
			      const struct ntrace_session_event *at, stamps_release_fn *release,
			      void *data)
{
	int error = 0;

	if (offset == stamps->offset) {
		stamps->turn_end = at->turn_end;
		return 0;
	}
	if (stamps_has_new(stamps)) {
		error = release(data, stamps->time);
		stamps->anchor = stamps->time;
		stamps->anchored = true;
		stamps->count++;
	}
	if (!error && stamps->off && at->turn_end != stamps->turn_end)
		error = stamps_end_turn(stamps, release, data);
	stamps->off = false;
	stamps->cut = at->cut;
	stamps->turn_end = at->turn_end;
	stamps->offset = offset;
	stamps->time = at->time;
	stamps->time_known = at->time_unit != NTRACE_TIME_NONE;
	return error;
}

/* No events of the stream follow: if it may end within a turn, the time of that one is not known. */
static inline void stamps_cut(struct stamps *stamps)
{
	if (stamps->cut) {
		stamps->off = false;
		stamps->turn_end = 0;
	}
}

/* The last message of the stream is complete. */
static inline int stamps_end(struct stamps *stamps, stamps_release_fn *release, void *data)
{
	stamps_cut(stamps);
	return stamps_next(stamps, ~stamps->offset, &(struct ntrace_session_event){ 0 }, release,
			   data);
}

#endif
