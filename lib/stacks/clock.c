// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Times of frames. A message has one timestamp, of its end, for all instructions that it reports.
 * So changes wait until the next timestamp is known; between two timestamps, time is interpolated
 * by instructions.
 */
#include <stdlib.h>
#include <string.h>

#include "run.h"
#include "thread.h"

/* Ticks from the last timestamp to @position, if @span instructions took @ticks. */
static uint64_t share_of(uint64_t ticks, uint64_t position, uint64_t span)
{
	return span && ticks ? (uint64_t)((unsigned __int128)ticks * position / span) : 0;
}

static struct queued *entry_at(const struct stack_clock *clock, size_t index)
{
	return &clock->queue[(clock->first + index) % QUEUE_MAX];
}

/* Passes a change on. */
static int report_change(struct ntrace_stacks *stacks, const struct queued *queued, uint64_t time,
			 enum ntrace_stack_time kind)
{
	bool of_hart = queued->function == NO_FUNCTION;
	struct ntrace_stack_change change = {
		.type = queued->type,
		.time_kind = (uint8_t)kind,
		.called = queued->type == NTRACE_STACK_ENTER && queued->seen == FRAME_CALLED,
		.begins = queued->type == NTRACE_STACK_ENTER && queued->seen,
		.ended = queued->type == NTRACE_STACK_LEAVE && queued->seen,
		.stream = stacks->hart.stream,
		.cpu = queued->cpu,
		.pid = queued->pid,
		.tid = queued->tid,
		.kind = queued->kind,
		.comm = queued->comm,
		.name = "",
		.depth = queued->depth,
		.instructions = of_hart ? queued->position : queued->instructions,
		.time = time,
		.time_error = stacks->stats.time_error,
	};

	if (!of_hart) {
		const struct tree_function *function = &stacks->tree.functions[queued->function];

		change.kind = function->kind;
		change.name = function->name;
		change.object = function->object;
	}
	return stacks->options.change(stacks->options.data, &change);
}

/* The hart runs another thread from @time on; the last one has not run longer than its turn. */
static void note_stop(struct ntrace_stacks *stacks, const struct queued *queued, uint64_t time,
		      enum ntrace_stack_time kind)
{
	struct hart *hart = &stacks->hart;
	struct thread *last = hart->reported_thread;

	if (last && last->stream == hart->stream) {
		last->stop_time = last->turn_end && last->turn_end < time ? last->turn_end : time;
		last->stop_kind = (uint8_t)kind;
	}
	hart->reported_thread = queued->kind == NTRACE_STACK_TASK ?
					threads_known(stacks, queued->pid, queued->tid) :
					NULL;
}

/*
 * Releases the first @count waiting entries. @known: @time is the time at the current position;
 * else only the last timestamp is known.
 */
static int release_entries(struct ntrace_stacks *stacks, size_t count, uint64_t time, bool known)
{
	struct stack_clock *clock = &stacks->hart.clock;
	uint64_t span = clock->position - clock->anchor_position;
	/* If the clock was set back, the elapsed time is unknown. */
	uint64_t ticks = known && clock->stamps.anchored && time > clock->stamps.anchor ?
				 time - clock->stamps.anchor :
				 0;
	size_t i;
	int result = 0;

	for (i = 0; i < count && !result; i++) {
		const struct queued *queued = entry_at(clock, i);
		uint64_t at = queued->position - clock->anchor_position;
		uint64_t passed = share_of(ticks, at, span);
		enum ntrace_stack_time kind;
		uint64_t when;

		if (!queued->is_change) {
			stacks->tree.nodes[queued->node].ticks +=
				passed -
				share_of(ticks, queued->from - clock->anchor_position, span);
			continue;
		}
		if (!clock->stamps.anchored && !known)
			kind = NTRACE_STACK_TIME_NONE;
		else if (!known || (!clock->stamps.anchored && at != span))
			kind = NTRACE_STACK_TIME_OUTSIDE;
		else
			kind = at == 0 || at == span ? NTRACE_STACK_TIME_EXACT :
						       NTRACE_STACK_TIME_INTERPOLATED;
		if (kind == NTRACE_STACK_TIME_NONE)
			when = stacks->elsewhere + queued->position;
		else
			when = clock->stamps.anchored ? clock->stamps.anchor + passed : time;
		/* No frame ends before it began: if the clock was set back, time stands still. */
		if (kind != NTRACE_STACK_TIME_NONE && when < clock->latest) {
			kind = NTRACE_STACK_TIME_OUTSIDE;
			when = clock->latest;
		}
		clock->latest = when;
		if (queued->type == NTRACE_STACK_RUN)
			note_stop(stacks, queued, when, kind);
		result = report_change(stacks, queued, when, kind);
	}
	clock->count -= count;
	clock->first = (clock->first + count) % QUEUE_MAX;
	return result;
}

static int make_room(struct ntrace_stacks *stacks)
{
	struct stack_clock *clock = &stacks->hart.clock;

	if (!clock->queue)
		clock->queue = malloc(QUEUE_MAX * sizeof(*clock->queue));
	if (!clock->queue)
		return NTRACE_ERR_NOMEM;
	return clock->count == QUEUE_MAX ? release_entries(stacks, QUEUE_MAX / 2, 0, false) : 0;
}

int clock_change(struct ntrace_stacks *stacks, const struct queued *change)
{
	struct stack_clock *clock = &stacks->hart.clock;
	int result = make_room(stacks);
	struct queued *queued;

	if (result)
		return result;
	queued = entry_at(clock, clock->count++);
	*queued = *change;
	queued->position = clock->position;
	queued->is_change = true;
	return 0;
}

int clock_report(struct ntrace_stacks *stacks, const struct thread *thread, unsigned int type)
{
	struct queued change = { .type = (uint8_t)type,
				 .cpu = stacks->hart.cpu,
				 .pid = thread ? thread->pid : -1,
				 .tid = thread ? thread->tid : -1,
				 .comm = thread ? thread->comm : "",
				 .function = NO_FUNCTION,
				 .kind = thread ? NTRACE_STACK_TASK : NTRACE_STACK_ALL };

	run_spoil(stacks);
	return stacks->options.change ? clock_change(stacks, &change) : 0;
}

int clock_turn_over(struct ntrace_stacks *stacks)
{
	struct hart *hart = &stacks->hart;

	if (!hart->clock.stamps.off || !hart->clock.stamps.turn_end || hart->paused)
		return 0;
	hart->paused = true;
	return clock_report(stacks, NULL, NTRACE_STACK_RUN);
}

int clock_leave(struct ntrace_stacks *stacks, const struct thread *thread,
		const struct queued *change)
{
	return report_change(stacks, change, thread->stop_time, thread->stop_kind);
}

int clock_count(struct ntrace_stacks *stacks, uint32_t node, uint32_t instructions)
{
	struct stack_clock *clock = &stacks->hart.clock;
	struct queued *last = clock->count ? entry_at(clock, clock->count - 1) : NULL;
	uint64_t from = clock->position;
	int result;

	clock->position += instructions;
	if (!clock->stamps.time_known || !node)
		return 0;
	if (last && !last->is_change && last->node == node && last->position == from) {
		last->position = clock->position;
		return 0;
	}
	result = make_room(stacks);
	if (!result)
		*entry_at(clock, clock->count++) =
			(struct queued){ .from = from, .position = clock->position, .node = node };
	return result;
}

/* What waits happened until @until, which is the time of the present position. */
static int release_all(void *data, uint64_t until)
{
	struct ntrace_stacks *stacks = data;
	struct stack_clock *clock = &stacks->hart.clock;
	int result = release_entries(stacks, clock->count, until, true);

	clock->anchor_position = clock->position;
	return result;
}

int clock_event(struct ntrace_stacks *stacks, uint64_t offset,
		const struct ntrace_session_event *at)
{
	return stamps_next(&stacks->hart.clock.stamps, offset, at, release_all, stacks);
}

int clock_pass(struct ntrace_stacks *stacks)
{
	struct stack_clock *clock = &stacks->hart.clock;
	struct stamps *stamps = &clock->stamps;
	bool known = stamps_has_new(stamps);
	uint64_t time = stamps->time;
	int result;

	if (stamps->off && !known && stamps->anchored && stamps->turn_end)
		return stamps_end_turn(stamps, release_all, stacks);
	/* Counts can wait for the next timestamp of the stream. */
	if (!clock->count || !stacks->options.change)
		return 0;
	/* Without a new timestamp, the turn has an end. */
	if (!known && stamps->anchored && stamps->turn_end > stamps->anchor) {
		time = stamps->turn_end;
		known = true;
	}
	if (!known)
		return release_entries(stacks, clock->count, 0, false);
	result = release_all(stacks, time);
	stamps->anchor = time;
	stamps->anchored = true;
	return result;
}

/* Whether the hart is certainly in another turn than before: the thread of that one may go on elsewhere. */
static bool is_other_turn(const struct hart *hart, const struct ntrace_session_event *at)
{
	return hart->turn && at->tid >= 0 &&
	       (hart->tid != at->tid || (at->turn && hart->turn != at->turn));
}

int clock_turn(struct ntrace_stacks *stacks, const struct ntrace_session_event *at)
{
	struct hart *hart = &stacks->hart;
	bool other = is_other_turn(hart, at);
	int error = 0;

	if (at->turn_end != hart->clock.stamps.turn_end)
		error = clock_turn_over(stacks);
	if (other && !error)
		error = clock_pass(stacks);
	if (other || !hart->turn) {
		hart->turn = at->turn;
		hart->tid = at->tid;
	}
	return error;
}

int clock_end(struct ntrace_stacks *stacks)
{
	struct stack_clock *clock = &stacks->hart.clock;
	int result = stamps_end(&clock->stamps, release_all, stacks);

	if (!result && clock->count)
		result = release_entries(stacks, clock->count, 0, false);
	stacks->elsewhere += clock->position;
	*clock = (struct stack_clock){ .queue = clock->queue, .stamps.offset = UINT64_MAX };
	return result;
}
