// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Stops of a thread, and which anchor belongs to each.
 *
 * An ecall does not retire: a trap, or the end of the trace, is at its address, and user code goes on
 * behind it, at the start of a new program, or in a signal handler. Each call but exit() has one
 * anchor, in the same order. So one pair decides all others, up to the next loss:
 *
 *	stops:    first    call    call    loss   ?      call    call
 *	anchors:     0       1       2             ...     7       8
 *
 * The first pair of a thread that begins in the recording is that of exec() or of clone(). After a
 * loss, and where the trace begins later, anchors are only assigned if there is one way to do so in
 * which the addresses agree, and no other one in which half as many do: in a loop of one call, the
 * addresses are right one anchor too early or too late. Times do not decide, as they are those of other
 * records.
 */
#include <string.h>

#include "grow.h"
#include "syscalls.h"
#include "values.h"

#define ECALL 0x00000073u

/*
 * The stops that decide on the way to assign anchors to a part, and all that is done for a thread: if not all ways
 * can be tried, none is certain.
 */
#define DECIDING 512
#define EFFORT (UINT64_C(1) << 27)

#define A0 10
#define A7 17

/*
 * @trapped: user code was left at @trap, if that is known; @next: of the last block, if @next_known; @space:
 * of that block, referenced
 */
struct walk {
	struct survey *survey;
	uint64_t number;
	uint64_t next, trap;
	struct ntrace_space *space;
	bool next_known, trap_known, trapped, lost;
};

static bool is_ecall(const struct walk *walk)
{
	const uint8_t *data;
	uint32_t word;
	size_t available;

	if (!walk->trap_known || !walk->space ||
	    ntrace_space_read(walk->space, walk->trap, &data, &available) ||
	    available < sizeof(word))
		return false;
	memcpy(&word, data, sizeof(word));
	return word == ECALL;
}

static int add_stop(struct walk *walk, const struct ntrace_cursor *cursor,
		    const struct ntrace_cursor_place *at, uint64_t call)
{
	struct survey *survey = walk->survey;
	struct stop *stop;

	if (grow((void **)&survey->stop, survey->stops, &survey->room, sizeof(*stop)))
		return NTRACE_ERR_NOMEM;
	stop = &survey->stop[survey->stops++];
	*stop = (struct stop){
		.number = walk->number,
		.address = at->address,
		.call = call,
		.anchor = -1,
		.lost = walk->lost || survey->stops == 1,
		/* Or an interrupt came just before the call: survey_pair() decides. */
		.restarted = call && call == at->address,
	};
	ntrace_cursor_save(cursor, &stop->mark);
	return 0;
}

static int visit_block(struct walk *walk, const struct ntrace_cursor *cursor,
		       const struct ntrace_cursor_place *at)
{
	bool first = !walk->survey->stops;
	int error = 0;

	if (at->privilege != NTRACE_PRIV_U) {
		if (!walk->trapped) {
			walk->trap = walk->next;
			walk->trap_known = walk->next_known;
		}
		walk->trapped = true;
		return 0;
	}
	if (first || walk->lost)
		error = add_stop(walk, cursor, at, 0);
	else if (walk->trapped && is_ecall(walk))
		error = add_stop(walk, cursor, at, walk->trap);
	else if (walk->trapped && !(walk->trap_known && at->address == walk->trap))
		error = add_stop(walk, cursor, at, 0);
	else if (walk->next_known && at->address != walk->next)
		error = add_stop(walk, cursor, at, 0);
	walk->number += at->instructions;
	walk->survey->cpu = at->cpu;
	walk->next = at->flow->next;
	walk->next_known = at->flow->next_known;
	if (walk->space != at->flow->space) {
		ntrace_space_put(walk->space);
		walk->space = ntrace_space_get(at->flow->space);
	}
	walk->trapped = false;
	walk->lost = false;
	return error;
}

static void note_trap(struct walk *walk, uint64_t address, bool known)
{
	if (walk->trapped)
		return;
	walk->trapped = true;
	walk->trap = address;
	walk->trap_known = known;
}

static int visit_place(struct walk *walk, const struct ntrace_cursor *cursor,
		       const struct ntrace_cursor_place *at)
{
	switch (at->type) {
	case NTRACE_FLOW_BLOCK:
		return visit_block(walk, cursor, at);
	case NTRACE_FLOW_TRAP:
		note_trap(walk, at->flow->value, at->flow->next_known);
		return 0;
	case NTRACE_FLOW_TRACE_OFF:
		note_trap(walk, at->flow->address, at->flow->next_known);
		return 0;
	case NTRACE_FLOW_GAP:
	case NTRACE_FLOW_ERROR:
		walk->lost = true;
		return 0;
	default:
		return 0;
	}
}

/* ---- anchors ---- */

/* An assignment: @next is the next anchor. */
struct way {
	const struct anchors *anchors;
	size_t next;
	size_t right, wrong;
};

/*
 * Whether two calls are one stop, as no instruction retires between them: sigreturn() went to the ecall that the
 * signal had interrupted, which was made again.
 */
static bool is_merged(const struct way *way, const struct stop *stop)
{
	const struct anchor *anchor = &way->anchors->anchor[way->next];

	return stop->call && way->anchors->count - way->next > 1 &&
	       anchor_register(anchor, 0) + 4 == stop->address &&
	       anchor_register(anchor + 1, 0) == stop->address;
}

/* The anchor of a stop, -1: it has none. */
static int64_t next_anchor(struct way *way, const struct stop *stop)
{
	const struct anchor *anchor =
		way->next < way->anchors->count ? &way->anchors->anchor[way->next] : NULL;
	uint64_t pc = anchor ? anchor_register(anchor, 0) : 0;

	if (stop->restarted && !(anchor && pc == stop->call + 4 &&
				 syscall_restarts((int64_t)anchor_register(anchor, A0))))
		return -1;
	if (!stop->call) {
		/* A thread begins with the end of exec() or clone(); other code is in a handler. */
		if (!stop->lost || !anchor || pc != stop->address ||
		    !(anchor->exec || (anchor_register(anchor, A0) == 0 &&
				       (anchor_register(anchor, A7) == SYSCALL_CLONE ||
					anchor_register(anchor, A7) == SYSCALL_CLONE3))))
			return -1;
	}
	if (!anchor) {
		way->wrong++;
		return -1;
	}
	if (is_merged(way, stop)) {
		way->next++;
		pc = stop->address;
	}
	if (pc == (stop->restarted ? stop->call + 4 : stop->address))
		way->right++;
	else
		way->wrong++;
	return (int64_t)way->next++;
}

/* Whether almost all addresses agree: signal handlers run after some calls. */
static bool is_likely(const struct way *way)
{
	return way->right && way->wrong * 8 <= way->right;
}

static struct way try_way(const struct anchors *anchors, size_t first, const struct stop *stop,
			  size_t count, uint64_t *effort)
{
	struct way way = { .anchors = anchors, .next = first };
	size_t i;

	for (i = 0; i < count && i < DECIDING; i++)
		next_anchor(&way, &stop[i]);
	*effort += i;
	return way;
}

/* Whether the trace has the beginning of the thread, too: the first stop is where exec() or clone() ended. */
static bool begins_with(const struct anchors *anchors, size_t first, const struct stop *stop)
{
	struct way way = { .anchors = anchors, .next = first };

	return !stop->call && next_anchor(&way, stop) >= 0;
}

/* Finds the anchor of the first stop of a part without losses. Return: false: it is not certain */
static bool find_way(const struct anchors *anchors, size_t from, bool born, const struct stop *stop,
		     size_t count, size_t *found, uint64_t *effort)
{
	size_t ways = 0, right = 0, rival = 0;

	if (born && begins_with(anchors, from, stop)) {
		struct way way = try_way(anchors, from, stop, count, effort);

		*found = from;
		return is_likely(&way);
	}
	for (size_t i = from; i < anchors->count && *effort < EFFORT; i++) {
		struct way way = try_way(anchors, i, stop, count, effort);

		if (!is_likely(&way)) {
			rival = way.right > rival ? way.right : rival;
			continue;
		}
		*found = i;
		right = way.right;
		if (++ways > 1)
			return false;
	}
	return ways == 1 && 2 * rival < right && *effort < EFFORT;
}

void survey_pair(struct survey *survey, const struct anchors *anchors)
{
	size_t next = 0, end;
	uint64_t effort = 0;

	for (size_t i = 0; i < survey->stops; i = end) {
		struct way way = { .anchors = anchors };
		bool born = !i && (anchors->born || (anchors->count && anchors->anchor->exec));

		for (end = i + 1; end < survey->stops && !survey->stop[end].lost; end++)
			;
		if (!find_way(anchors, next, born, &survey->stop[i], end - i, &way.next, &effort)) {
			for (size_t k = i; k < end; k++)
				survey->stop[k].restarted = false;
			continue;
		}
		for (size_t k = i; k < end; k++) {
			next = way.next;
			survey->stop[k].anchor = next_anchor(&way, &survey->stop[k]);
			survey->stop[k].merged = way.next - next > 1;
		}
		next = way.next;
	}
}

/* Stops that are none: an interrupt came just before a call, so that nothing has changed. */
static void drop_interrupts(struct survey *survey)
{
	size_t kept = 0;

	for (size_t i = 0; i < survey->stops; i++) {
		const struct stop *stop = &survey->stop[i];

		if (stop->restarted && stop->anchor < 0)
			continue;
		survey->stop[kept++] = *stop;
	}
	survey->stops = kept;
}

int survey_thread(struct survey *survey, struct ntrace_cursor *cursor,
		  const struct anchors *anchors)
{
	struct walk walk = { .survey = survey };
	int error = ntrace_cursor_first(cursor);

	while (!error) {
		error = visit_place(&walk, cursor, ntrace_cursor_place(cursor));
		if (!error)
			error = ntrace_cursor_next(cursor);
	}
	walk.trap = walk.next;
	walk.trap_known = walk.next_known;
	survey->at_call = is_ecall(&walk);
	ntrace_space_put(walk.space);
	if (error < 0)
		return error;
	survey->instructions = walk.number;
	survey->next = walk.next;
	survey->next_known = walk.next_known;
	survey->lost = walk.lost;
	survey_pair(survey, anchors);
	drop_interrupts(survey);
	return 0;
}

void survey_free(struct survey *survey)
{
	free(survey->stop);
	*survey = (struct survey){ 0 };
}
