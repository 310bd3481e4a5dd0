// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* The order of the turns of each thread: see turns.h. */
#include <stdlib.h>
#include <string.h>

#include "bisect.h"
#include "follow_parts.h"
#include "grow.h"
#include "turns.h"

/**
 * struct listed - a turn that is to be ordered
 * @stream: stream that contains it; TURN_NO_STREAM: no stream does
 * @index: in the stream
 * @enters: the thread may have executed something before, in the same scheduling interval
 * @goes_on: likewise afterwards
 * @number: of the turn
 * @seen: the last earlier turn of the thread that a stream contains, NULL: none
 * @was: number that the thread had before exec, with which the turn begins; 0: none
 * @birth: the thread began before this turn; NULL: before another one
 * @births: number of threads that it made in the turn
 * @made: and before
 */
struct listed {
	int32_t tid;
	int32_t was;
	uint32_t stream;
	size_t index;
	uint64_t start;
	uint64_t end;
	bool enters;
	bool goes_on;
	uint64_t number;
	const struct listed *seen;
	const struct birth *birth;
	uint64_t births;
	uint64_t made;
};

/* A time in which records of a CPU were lost: any thread may have run there. */
struct loss {
	uint64_t begin;
	uint64_t end; /* of this loss, and of those that began earlier */
};

struct ordering {
	struct listed *items;
	size_t count, room;
	size_t renamed; /* number of items with @was */
	struct loss *losses;
	size_t loss_count, loss_room;
};

static int add_turn(struct ordering *ordering, const struct listed *item)
{
	int error;

	/* The idle thread of a CPU never moves. */
	if (item->tid <= 0)
		return 0;
	error = grow((void **)&ordering->items, ordering->count, &ordering->room, sizeof(*item));
	if (!error)
		ordering->items[ordering->count++] = *item;
	return error;
}

/*
 * Adds a turn that begins on @cpu at @since, or two: exec there makes another thread than the first of
 * process @pid the first.
 */
static int add_task(struct ordering *ordering, const struct machine *machine, struct listed item,
		    int32_t pid, uint32_t cpu, uint64_t since)
{
	const struct program *program =
		item.tid > 0 && item.tid != pid ? machine_program(machine, pid, since) : NULL;
	struct listed after = item;
	int error;

	program = program ? program->next : NULL;
	if (!program || program->cpu != cpu || program->start >= item.end)
		return add_turn(ordering, &item);
	after.tid = pid;
	after.was = item.tid;
	after.index++;
	after.enters = false;
	if (after.start < program->start)
		after.start = program->start;
	item.end = after.start;
	item.goes_on = false;
	ordering->renamed++;
	error = add_turn(ordering, &after);
	return error ? error : add_turn(ordering, &item);
}

static int add_loss(struct ordering *ordering, uint64_t begin, uint64_t end)
{
	int error = grow((void **)&ordering->losses, ordering->loss_count, &ordering->loss_room,
			 sizeof(*ordering->losses));

	if (!error)
		ordering->losses[ordering->loss_count++] = (struct loss){ begin, end };
	return error;
}

/* Adds the scheduling intervals of a CPU from @first to @last. */
static int add_intervals(struct ordering *ordering, const struct follower *follower, uint32_t cpu,
			 size_t first, size_t last, uint32_t stream)
{
	const struct ntrace_session *session = follower->session;
	uint64_t stop = stream == TURN_NO_STREAM ? 0 : session->streams[stream].stop_ns;
	int error = 0;
	int32_t pid;

	for (size_t i = first; i <= last && !error; i++) {
		const struct switch_place place = { .interval = i };
		struct listed item = { .stream = stream,
				       .index = 2 * (i - first),
				       .start = i ? follower->cpu->switches[i - 1].time : 0,
				       .end = interval_end(follower, &place) };
		uint64_t since = item.start;

		interval_task(follower, &place, &pid, &item.tid);
		if (stream != TURN_NO_STREAM && item.start < follower->start_ns) {
			item.start = follower->start_ns;
			item.enters = true;
		}
		if (stop && item.end > stop) {
			item.end = stop;
			item.goes_on = true;
		}
		error = add_task(ordering, &session->machine, item, pid, cpu, since);
	}
	return error;
}

static int add_pieces(struct ordering *ordering, const struct follower *follower, uint32_t stream)
{
	int error = 0;

	for (size_t i = 0; i < follower->piece_count && !error; i++) {
		const struct piece *piece = &follower->pieces[i];
		const struct listed item = { .tid = piece_thread(piece),
					     .stream = stream,
					     .index = 2 * i,
					     .start = piece->start,
					     .end = piece->end };

		error = add_task(ordering, &follower->session->machine, item, piece->pid,
				 piece->cpu, piece->start);
	}
	return error;
}

static bool is_decoded(struct follower *const *followers, unsigned int count, uint32_t cpu,
		       size_t interval)
{
	for (unsigned int i = 0; i < count; i++) {
		const struct follower *follower = followers[i];

		if (follower && !follower->by_piece && follower->session->streams[i].cpu == cpu &&
		    interval >= follower->first && interval <= follower->last)
			return true;
	}
	return false;
}

/*
 * Adds what is known about CPUs, and times, of which there is no trace. Trace from perf follows its tasks to
 * all CPUs: @pieces.
 */
static int add_unseen(struct ordering *ordering, struct follower *const *followers,
		      unsigned int count, struct ntrace_session *session, bool pieces)
{
	const struct machine *machine = &session->machine;
	int error = 0;

	for (uint32_t cpu = 0; cpu < machine->cpu_count && !error; cpu++) {
		const struct cpu_switches *switches = &machine->cpus[cpu];
		const struct follower like = { .session = session, .cpu = switches };

		for (size_t i = 0; switches->count && i <= switches->count && !error; i++) {
			if (!pieces && !is_decoded(followers, count, cpu, i))
				error = add_intervals(ordering, &like, cpu, i, i, TURN_NO_STREAM);
			if (!error && i < switches->count && switches->switches[i].lost)
				error = add_loss(ordering, i ? switches->switches[i - 1].time : 0,
						 switches->switches[i].time);
		}
		if (!error && switches->lost)
			error = add_loss(
				ordering,
				switches->count ? switches->switches[switches->count - 1].time : 0,
				UINT64_MAX);
	}
	return error;
}

static int compare_turns(const void *left, const void *right)
{
	const struct listed *a = left, *b = right;

	if (a->tid != b->tid)
		return a->tid < b->tid ? -1 : 1;
	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	if (a->end != b->end)
		return a->end < b->end ? -1 : 1;
	if (a->stream != b->stream)
		return a->stream < b->stream ? -1 : 1;
	return a->index < b->index ? -1 : a->index > b->index;
}

static int compare_losses(const void *left, const void *right)
{
	const struct loss *a = left, *b = right;

	return a->begin < b->begin ? -1 : a->begin > b->begin;
}

/* Whether records were lost between @since and @until. */
static bool any_lost(const struct ordering *ordering, uint64_t since, uint64_t until)
{
	size_t low = 0;

	BISECT(low, ordering->loss_count, middle, ordering->losses[middle].begin < until);
	return low && ordering->losses[low - 1].end > since;
}

static void sort_turns(struct ordering *ordering)
{
	if (ordering->count)
		qsort(ordering->items, ordering->count, sizeof(*ordering->items), compare_turns);
	if (ordering->loss_count)
		qsort(ordering->losses, ordering->loss_count, sizeof(*ordering->losses),
		      compare_losses);
	for (size_t i = 1; i < ordering->loss_count; i++)
		if (ordering->losses[i].end < ordering->losses[i - 1].end)
			ordering->losses[i].end = ordering->losses[i - 1].end;
}

/* Number of turns before those of @tid that begin at @time or later. */
static size_t turns_before(const struct ordering *ordering, int32_t tid, uint64_t time)
{
	size_t low = 0;

	BISECT(low, ordering->count, middle,
	       ordering->items[middle].tid < tid || (ordering->items[middle].tid == tid &&
						     ordering->items[middle].start < time));
	return low;
}

/* The first turn of @tid that begins at @time or later; NULL: none. */
static struct listed *first_after(const struct ordering *ordering, int32_t tid, uint64_t time)
{
	size_t at = turns_before(ordering, tid, time);

	return at < ordering->count && ordering->items[at].tid == tid ? &ordering->items[at] : NULL;
}

/* The turn of @tid at @time; NULL: it has none. */
static struct listed *turn_at(const struct ordering *ordering, int32_t tid, uint64_t time)
{
	size_t after = turns_before(ordering, tid, time + 1);
	struct listed *found = after ? &ordering->items[after - 1] : NULL;

	return found && found->tid == tid && time < found->end ? found : NULL;
}

/* Marks the first turn of each thread that began in the recording. */
static void find_births(struct ordering *ordering, const struct machine *machine)
{
	for (size_t i = 0; i < machine->birth_count; i++) {
		const struct birth *birth = &machine->births[i];
		struct listed *first = first_after(ordering, birth->tid, birth->time);

		if (first)
			first->birth = birth;
	}
}

/* @turn waits for @before, if there is one. */
static void link_turn(struct turn *turn, const struct listed *before)
{
	if (!before)
		return;
	turn->before_stream = before->stream;
	turn->before = before->index;
}

/* Numbers the turns of each thread, and links them. */
static void number_turns(struct turns *turns, struct ordering *ordering)
{
	uint64_t last = 0, end = 0; /* @end: of all earlier turns of the thread */

	for (size_t i = 0; i < ordering->count; i++) {
		struct listed *item = &ordering->items[i];
		const struct listed *before = i && item[-1].tid == item->tid ? item - 1 : NULL;
		bool begins = item->birth || item->was;

		/* An earlier thread with the number is still on its CPU for a moment after its end. */
		if (!before)
			end = 0;
		else if (begins)
			end = before->start + 1;
		last = before ? last + 1 : 1;
		if (item->was ||
		    (before && (item->enters || before->goes_on || item->start < end || begins ||
				any_lost(ordering, before->end, item->start))))
			last++;
		item->number = last;
		if (before)
			item->seen = before->stream == TURN_NO_STREAM ? before->seen : before;
		if (item->stream != TURN_NO_STREAM) {
			struct turn *turn = &turns->streams[item->stream][item->index];

			turn->start = item->start;
			turn->number = last;
			/* Times that contradict each other give no order. */
			if (item->start >= end)
				link_turn(turn, item->seen);
		}
		if (item->end > end)
			end = item->end;
	}
}

/* Counts the threads that each thread has made before each of its turns. */
static void count_births(struct turns *turns, struct ordering *ordering,
			 const struct machine *machine)
{
	for (size_t i = 0; i < machine->birth_count; i++) {
		const struct birth *birth = &machine->births[i];
		struct listed *parent = turn_at(ordering, birth->parent_tid, birth->time);

		if (parent)
			parent->births++;
	}
	for (size_t i = 0; i < ordering->count; i++) {
		struct listed *item = &ordering->items[i];

		if (i && item[-1].tid == item->tid)
			item->made = item[-1].made + item[-1].births;
		if (item->stream != TURN_NO_STREAM)
			turns->streams[item->stream][item->index].made = item->made;
	}
}

/* A thread that has got another number comes from the turn in which it did. */
static void link_renamed(struct turns *turns, const struct ordering *ordering,
			 struct ntrace_origin *origins)
{
	for (size_t i = 0; i < ordering->count; i++) {
		const struct listed *item = &ordering->items[i];
		struct turn *turn;

		if (!item->was || item->stream == TURN_NO_STREAM)
			continue;
		turn = &turns->streams[item->stream][item->index];
		*origins = (struct ntrace_origin){ .pid = item->tid,
						   .tid = item->was,
						   .turn = turn[-1].number };
		turn->origin = origins++;
	}
}

/* Links the first turn of each thread with the turn of the thread that made it. */
static int link_births(struct turns *turns, struct ordering *ordering,
		       const struct machine *machine)
{
	turns->origins =
		calloc(machine->birth_count + ordering->renamed + 1, sizeof(*turns->origins));
	if (!turns->origins)
		return NTRACE_ERR_NOMEM;
	link_renamed(turns, ordering, turns->origins + machine->birth_count);
	for (size_t i = 0; i < machine->birth_count; i++) {
		const struct birth *birth = &machine->births[i];
		struct listed *first = first_after(ordering, birth->tid, birth->time);
		struct listed *parent = turn_at(ordering, birth->parent_tid, birth->time);
		struct turn *turn;

		turns->origins[i] = (struct ntrace_origin){ .pid = birth->parent_pid,
							    .tid = birth->parent_tid };
		if (parent) {
			turns->origins[i].turn = parent->number;
			turns->origins[i].number = parent->made++;
		}
		if (!first || first->birth != birth || first->stream == TURN_NO_STREAM)
			continue;
		turn = &turns->streams[first->stream][first->index];
		turn->origin = &turns->origins[i];
		if (parent && parent->start < first->start)
			link_turn(turn, parent->stream == TURN_NO_STREAM ? parent->seen : parent);
	}
	return 0;
}

static int list_stream(struct turns *turns, struct ordering *ordering,
		       const struct follower *follower, unsigned int stream)
{
	size_t count = 2 * (follower->by_piece ? follower->piece_count :
						 follower->last - follower->first + 1);

	turns->streams[stream] = calloc(count + 1, sizeof(**turns->streams));
	if (!turns->streams[stream])
		return NTRACE_ERR_NOMEM;
	turns->counts[stream] = count;
	for (size_t i = 0; i < count; i++)
		turns->streams[stream][i].before_stream = TURN_NO_STREAM;
	return follower->by_piece ?
		       add_pieces(ordering, follower, stream) :
		       add_intervals(ordering, follower, follower->session->streams[stream].cpu,
				     follower->first, follower->last, stream);
}

int turns_make(struct turns *turns, struct follower *const *followers, unsigned int count)
{
	struct ntrace_session *session = NULL;
	struct ordering ordering = { 0 };
	bool pieces = false;
	int error = 0;

	*turns = (struct turns){ .streams = calloc(count + 1u, sizeof(*turns->streams)),
				 .counts = calloc(count + 1u, sizeof(*turns->counts)),
				 .count = count };
	if (!turns->streams || !turns->counts)
		error = NTRACE_ERR_NOMEM;
	for (unsigned int i = 0; i < count && !error; i++) {
		if (!followers[i])
			continue;
		error = list_stream(turns, &ordering, followers[i], i);
		session = followers[i]->session;
		pieces = followers[i]->by_piece;
	}
	if (!error && session)
		error = add_unseen(&ordering, followers, count, session, pieces);
	if (!error) {
		sort_turns(&ordering);
		if (session)
			find_births(&ordering, &session->machine);
		number_turns(turns, &ordering);
	}
	if (!error && session)
		count_births(turns, &ordering, &session->machine);
	if (!error && session)
		error = link_births(turns, &ordering, &session->machine);
	if (error)
		turns_free(turns);
	free(ordering.items);
	free(ordering.losses);
	return error;
}

void turns_free(struct turns *turns)
{
	for (unsigned int i = 0; turns->streams && i < turns->count; i++)
		free(turns->streams[i]);
	free(turns->streams);
	free(turns->counts);
	free(turns->origins);
	*turns = (struct turns){ 0 };
}
