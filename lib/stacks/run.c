// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Counts effects at stacks instead of walking their blocks.
 *
 * What an effect does to a stack depends on the frames only. So stacks have numbers (states), and the
 * first time an effect comes at a state, its blocks are walked as usual; the next state and what was
 * counted in which node are remembered. Each further time is one lookup and one increment; the frames
 * themselves are brought up to date when something else needs them. The counts go into the nodes at
 * the end, or when there is no more room. The stacks of handlers (upper.c) are the same states above all
 * code; what was counted above one node goes into the nodes before the next one.
 *
 * Only effects that call, return to the frame that waits, and jump are remembered: not those that
 * change layers, set stacks aside, unwind several frames, or end setjmp().
 */
#include <stdlib.h>
#include <string.h>

#include "grow.h"
#include "large.h"
#include "profile/select.h"
#include "run.h"
#include "states.h"
#include "upper.h"

#define ENTRIES_FIRST (1u << 6)
#define ENTRIES_MAX (1u << 20) /* numbers of entries are smaller */
#define PROBES 16
#define STATES_MAX (1u << 20)
#define COUNTS_MAX (1u << 23)
#define UPPER_MAX (1u << 20) /* upper nodes */

/*
 * What an effect does at a state.
 * @effect: its unique id
 * @next: state afterwards; 0: the effect must be walked here
 * @arrives: the space becomes that of the thread
 * @after: number of the entry that came next the last time; 0 = none yet
 * @times: executions that are not in the nodes yet
 */
struct entry {
	uint64_t effect;
	uint32_t state;
	uint32_t next;
	uint32_t instructions : 31;
	uint32_t arrives : 1;
	uint32_t after;
	uint64_t times;
};

/*
 * The rest of an entry.
 * @return_address, @pending, @class: as in struct ntrace_stacks, before the effect
 * @first, @count: what one execution counts
 * @first_change, @change_count: the changes that it reports, if they are wanted
 * @shown, @calls, @returns: what one execution adds to the statistics
 */
struct rest {
	uint64_t return_address;
	uint32_t first;
	uint32_t count;
	uint32_t first_change;
	uint32_t change_count;
	uint32_t shown;
	uint32_t calls;
	uint32_t returns;
	uint8_t class;
	bool pending;
};

/* Instructions and calls of a node. */
struct node_count {
	uint32_t node;
	uint32_t calls;
	uint32_t instructions;
};

/* Statistics of executions that are in the nodes already. */
struct taken {
	uint64_t instructions;
	uint64_t calls;
	uint64_t returns;
};

/* A change, @instructions after the begin of an effect. */
struct noted_change {
	uint32_t function;
	uint32_t instructions;
	uint32_t depth : 29;
	uint32_t leaves : 1;
	uint32_t seen : 2;
};

/*
 * @entries, @rests: in the order in which they were made, so that entries which come one after the
 *                   other are near each other in memory; entry 0 is unused. @used: their number
 * @slots: numbers of entries with their tags, by hash; 0 = free
 * @counts, @changes: of all entries; during a recording also those of the new one, from @first and
 *                    @first_change on
 * @begin: position of the clock at the begin of the recording
 * @touched: entries with upper nodes that have executions
 * @taken: not in the statistics of the stacks yet. A flush may come during a recording, which takes what the
 *         statistics gain
 */
struct stack_runs {
	struct entry *entries;
	struct rest *rests;
	uint32_t *slots;
	uint32_t mask, used;
	uint32_t *touched, touched_count;
	struct stack_states states;
	struct node_count *counts;
	size_t count_count, count_room;
	size_t first;
	struct noted_change *changes;
	size_t change_count, change_room;
	size_t first_change;
	uint64_t begin;
	struct taken taken;
};

/* Makes an empty table of @number slots. */
static bool make_entries(struct stack_runs *runs, uint32_t number)
{
	struct entry *entries = large_alloc((number + (size_t)1) * sizeof(*entries));
	struct rest *rests = large_alloc((number + (size_t)1) * sizeof(*rests));
	uint32_t *slots = large_zalloc(number * sizeof(*slots));
	uint32_t *touched = malloc((number + (size_t)1) * sizeof(*touched));

	if (!entries || !rests || !slots || !touched) {
		free(entries);
		free(rests);
		free(slots);
		free(touched);
		return false;
	}
	runs->touched = touched;
	runs->entries = entries;
	runs->rests = rests;
	runs->slots = slots;
	runs->mask = number - 1;
	runs->used = 1;
	return true;
}

void run_free(struct ntrace_stacks *stacks)
{
	struct stack_runs *runs = stacks->runs;

	if (!runs)
		return;
	free(runs->entries);
	free(runs->rests);
	free(runs->slots);
	free(runs->touched);
	states_free(&runs->states);
	free(runs->counts);
	free(runs->changes);
	free(runs);
	stacks->runs = NULL;
}

static int make_runs(struct ntrace_stacks *stacks)
{
	struct stack_runs *runs = calloc(1, sizeof(*runs));

	if (!runs)
		return NTRACE_ERR_NOMEM;
	stacks->runs = runs;
	return make_entries(runs, ENTRIES_FIRST) ? states_init(&runs->states) : NTRACE_ERR_NOMEM;
}

/* ---- recording ---- */

int run_note(struct ntrace_stacks *stacks, uint32_t node, uint32_t instructions, uint32_t calls)
{
	struct stack_runs *runs = stacks->runs;
	struct node_count *last;
	int error;

	for (size_t i = runs->count_count; i-- > runs->first;) {
		last = &runs->counts[i];
		if (last->node == node &&
		    last->instructions + (uint64_t)instructions <= UINT32_MAX) {
			last->instructions += instructions;
			last->calls += calls;
			return 0;
		}
	}
	error = grow((void **)&runs->counts, runs->count_count, &runs->count_room,
		     sizeof(*runs->counts));
	if (!error)
		runs->counts[runs->count_count++] =
			(struct node_count){ node, calls, instructions };
	return error;
}

int run_note_change(struct ntrace_stacks *stacks, const struct queued *change)
{
	struct stack_runs *runs = stacks->runs;
	uint64_t instructions = stacks->hart.clock.position - runs->begin;
	int error = grow((void **)&runs->changes, runs->change_count, &runs->change_room,
			 sizeof(*runs->changes));

	if (!error)
		runs->changes[runs->change_count++] = (struct noted_change){
			.function = change->function,
			.depth = (change->depth - stacks->recording.bottom) & (UINT32_MAX >> 3),
			.instructions = (uint32_t)instructions,
			.leaves = change->type == NTRACE_STACK_LEAVE,
			.seen = change->seen & 3,
		};
	return error;
}

/* ---- adding up ---- */

/* The executions of an entry, which go into the nodes now. */
static uint64_t remove_times(struct stack_runs *runs, uint32_t entry)
{
	const struct rest *rest = &runs->rests[entry];
	uint64_t times = runs->entries[entry].times;

	runs->entries[entry].times = 0;
	runs->taken.instructions += times * rest->shown;
	runs->taken.calls += times * rest->calls;
	runs->taken.returns += times * rest->returns;
	return times;
}

int run_flush(struct ntrace_stacks *stacks)
{
	struct stack_runs *runs = stacks->runs;
	int error = 0;

	for (uint32_t i = 0; runs && i < runs->touched_count && !error; i++) {
		const struct rest *rest = &runs->rests[runs->touched[i]];
		uint64_t times = remove_times(runs, runs->touched[i]);
		const struct node_count *count = runs->counts + rest->first, *end;

		for (end = count + rest->count; count < end && !error; count++)
			error = upper_add(stacks, count->node, times * count->instructions,
					  times * count->calls);
	}
	if (runs)
		runs->touched_count = 0;
	return error;
}

/* All executions of effects at states without upper nodes. */
static void add_to_nodes(struct ntrace_stacks *stacks)
{
	struct stack_runs *runs = stacks->runs;

	for (uint32_t i = 1; i < runs->used; i++) {
		const struct rest *rest = &runs->rests[i];
		uint64_t times;

		if (!runs->entries[i].times)
			continue;
		times = remove_times(runs, i);
		for (uint32_t k = rest->first; k < rest->first + rest->count; k++) {
			struct tree_node *node = &stacks->tree.nodes[runs->counts[k].node];

			node->instructions += times * runs->counts[k].instructions;
			node->calls += times * runs->counts[k].calls;
		}
	}
	stacks->stats.instructions += runs->taken.instructions;
	stacks->stats.calls += runs->taken.calls;
	stacks->stats.returns += runs->taken.returns;
	runs->taken = (struct taken){ 0 };
}

static int forget_states(struct ntrace_stacks *stacks, struct stack *stack)
{
	for (uint32_t i = 0; i < stack->count; i++)
		stack->frames[i].state = 0;
	return upper_attach(stacks, stack);
}

int run_forget(struct ntrace_stacks *stacks)
{
	struct stack_runs *runs = stacks->runs;
	int error;

	if (!runs)
		return 0;
	error = upper_flush(stacks);
	add_to_nodes(stacks);
	memset(runs->slots, 0, (runs->mask + (size_t)1) * sizeof(*runs->slots));
	states_forget(&runs->states);
	runs->used = 1;
	runs->count_count = 0;
	runs->change_count = 0;
	if (!error)
		error = threads_each_stack(stacks, forget_states);
	if (!error)
		upper_free(stacks);
	return error;
}

/* ---- entries ---- */

static uint64_t hash_of(uint32_t state, uint64_t effect)
{
	uint64_t hash = (((uint64_t)state << 32) ^ effect) * UINT64_C(0x9e3779b97f4a7c15);

	return (hash ^ hash >> 32) * UINT64_C(0x9e3779b97f4a7c15);
}

/* The bits of a slot above the number: most other entries have others, and are not compared. */
static uint32_t tag_of(uint64_t hash)
{
	return (uint32_t)hash / ENTRIES_MAX;
}

static uint32_t slot_of(const struct stack_runs *runs, uint64_t hash)
{
	return (uint32_t)(hash >> 40) & runs->mask;
}

static inline bool is_entry(const struct entry *entry, uint32_t state, uint64_t effect)
{
	return entry->effect == effect && entry->state == state;
}

/* The number of an entry; 0: there is none. */
static uint32_t find_entry(const struct stack_runs *runs, uint32_t state, uint64_t effect)
{
	uint64_t hash = hash_of(state, effect);
	uint32_t at = slot_of(runs, hash), tag = tag_of(hash);

	for (unsigned int i = 0; i < PROBES; i++) {
		uint32_t slot = runs->slots[(at + i) & runs->mask];
		uint32_t number = slot % ENTRIES_MAX;

		if (!slot)
			break;
		if (slot / ENTRIES_MAX == tag && is_entry(&runs->entries[number], state, effect))
			return number;
	}
	return 0;
}

/* Takes a free slot for an entry. Return: false: there is none near the slot of the hash. */
static bool claim_slot(const struct stack_runs *runs, uint32_t number)
{
	const struct entry *entry = &runs->entries[number];
	uint64_t hash = hash_of(entry->state, entry->effect);
	uint32_t at = slot_of(runs, hash);

	for (unsigned int i = 0; i < PROBES; i++) {
		uint32_t *slot = &runs->slots[(at + i) & runs->mask];

		if (!*slot) {
			*slot = number + tag_of(hash) * ENTRIES_MAX;
			return true;
		}
	}
	return false;
}

/* Enlarges the table. Entries without a slot there are not found any more. */
static void grow_entries(struct stack_runs *runs)
{
	const struct stack_runs old = *runs;

	if (!make_entries(runs, 4 * (runs->mask + 1)))
		return;
	memcpy(runs->entries, old.entries, old.used * sizeof(*old.entries));
	memcpy(runs->rests, old.rests, old.used * sizeof(*old.rests));
	memcpy(runs->touched, old.touched, old.touched_count * sizeof(*old.touched));
	runs->used = old.used;
	for (uint32_t i = 1; i < runs->used; i++)
		claim_slot(runs, i);
	free(old.entries);
	free(old.rests);
	free(old.slots);
	free(old.touched);
}

/* A new entry. NULL: there is no room near its slot. */
static struct entry *new_entry(struct stack_runs *runs, uint32_t state, uint64_t effect)
{
	struct entry *entry;

	if (runs->used > runs->mask / 2 && runs->mask + 1 < ENTRIES_MAX)
		grow_entries(runs);
	if (runs->used > runs->mask)
		return NULL;
	entry = &runs->entries[runs->used];
	*entry = (struct entry){ .state = state, .effect = effect };
	if (!claim_slot(runs, runs->used))
		return NULL;
	runs->used++;
	return entry;
}

/* ---- runs ---- */

/* What effects do not change if they are remembered. */
struct before {
	struct ntrace_stacks_stats stats;
	unsigned int layers;
	unsigned int aside;
	uint32_t bottom;
	uint64_t return_address;
	uint64_t position;
	bool pending;
	uint8_t class;
};

static bool is_plain(const struct ntrace_stacks *stacks, const struct thread *thread,
		     const struct before *before)
{
	const struct ntrace_stacks_stats *one = &before->stats, *other = &stacks->stats;

	return !stacks->recording.spoilt && stacks->hart.current == thread &&
	       thread->state == THREAD_RUNNING && thread->stack.layer_count == before->layers &&
	       thread->stack.bottom == before->bottom && thread->aside_count == before->aside &&
	       one->unwound == other->unwound && one->switched == other->switched &&
	       one->below == other->below && one->unmatched == other->unmatched &&
	       one->signals == other->signals && one->gaps == other->gaps && one->cut == other->cut;
}

/* Walks a step. */
static int walk_step(struct ntrace_stacks *stacks, const struct ntrace_segment *run, size_t index)
{
	struct ntrace_segment blocks;
	struct ntrace_block_batch batch;

	ntrace_segment_step(run, index, &batch, &blocks);
	return batch.count ? stacks_execute_blocks(stacks, &blocks) : 0;
}

/* Forgets what was noted during the recording. */
static void drop_notes(struct stack_runs *runs)
{
	runs->count_count = runs->first;
	runs->change_count = runs->first_change;
}

/* Walks a step and remembers what it does at @state, if possible. */
static int record_step(struct ntrace_stacks *stacks, const struct ntrace_segment *run, size_t index,
		       struct thread *thread, uint32_t state)
{
	const struct before before = { .stats = stacks->stats,
				       .layers = thread->stack.layer_count,
				       .aside = thread->aside_count,
				       .bottom = thread->stack.bottom,
				       .return_address = stacks->hart.return_address,
				       .position = stacks->hart.clock.position,
				       .pending = stacks->hart.pending,
				       .class = stacks->hart.class };
	struct stack_runs *runs = stacks->runs;
	struct entry *entry;
	uint32_t next = 0;
	int error;

	runs->first = runs->count_count;
	runs->first_change = runs->change_count;
	runs->begin = stacks->hart.clock.position;
	stacks->recording = (struct runs_recording){ .on = true, .bottom = before.bottom };
	error = walk_step(stacks, run, index);
	stacks->recording.on = false;
	if (!error && is_plain(stacks, thread, &before))
		error = states_find(&runs->states, &thread->stack, &next);
	else
		drop_notes(runs);
	entry = error ? NULL : new_entry(runs, state, stacks->hart.ids + run->run->steps[index].id);
	if (!entry) {
		drop_notes(runs);
		return error;
	}
	/* Without frames of the layer, too, the effect must be walked. */
	entry->next = next == STATE_UPPER ? 0 : next;
	entry->instructions = (stacks->hart.clock.position - before.position) & INT32_MAX;
	entry->arrives = stacks->recording.arrives;
	runs->rests[entry - runs->entries] = (struct rest){
		.return_address = before.return_address,
		.first = (uint32_t)runs->first,
		.count = (uint32_t)(runs->count_count - runs->first),
		.first_change = (uint32_t)runs->first_change,
		.change_count = (uint32_t)(runs->change_count - runs->first_change),
		.shown = (uint32_t)(stacks->stats.instructions - before.stats.instructions),
		.calls = (uint32_t)(stacks->stats.calls - before.stats.calls),
		.returns = (uint32_t)(stacks->stats.returns - before.stats.returns),
		.class = before.class,
		.pending = before.pending,
	};
	return 0;
}

/* Whether the step comes from where it came when it was recorded. */
static bool comes_from(const struct ntrace_stacks *stacks, const struct entry *entry)
{
	const struct rest *rest = &stacks->runs->rests[entry - stacks->runs->entries];

	return rest->pending == stacks->hart.pending &&
	       rest->return_address == stacks->hart.return_address &&
	       (!rest->pending || rest->class == stacks->hart.class);
}

/* Whether the frames decide what the next step does. */
static bool is_ready(const struct ntrace_stacks *stacks, const struct ntrace_segment *run,
		     struct thread *thread)
{
	return !stacks->hold.count && thread == stacks->hart.current &&
	       thread->state == THREAD_RUNNING && thread->stream == stacks->hart.stream &&
	       thread->turn == run->at.turn &&
	       (!run->at.program || thread->program == run->at.program) &&
	       thread->epoch == stacks->hart.epoch && thread->stack.count &&
	       thread->stack.goes_on && thread->stack.next == stacks->hart.return_address &&
	       !thread->stack.skip && top_layer(thread)->privilege == run->at.privilege;
}

/* Tells the changes of an effect, which begins at the position of the clock. */
static int report_changes(struct ntrace_stacks *stacks, struct thread *thread, uint32_t entry)
{
	const struct rest *rest = &stacks->runs->rests[entry];
	const uint64_t begin = stacks->hart.clock.position, before = thread->instructions;
	int error = 0;

	for (uint32_t i = 0; i < rest->change_count && !error; i++) {
		const struct noted_change *change = &stacks->runs->changes[rest->first_change + i];

		stacks->hart.clock.position = begin + change->instructions;
		/* All frames of a layer are selected, or none is. */
		thread->instructions = before + change->instructions;
		error = thread_report(stacks, thread,
				      change->leaves ? NTRACE_STACK_LEAVE : NTRACE_STACK_ENTER,
				      change->function, thread->stack.bottom + change->depth,
				      change->seen);
	}
	stacks->hart.clock.position = begin;
	thread->instructions = before + rest->shown;
	return error;
}

/* Counts steps as long as they are known; *@next becomes the first step that is not. */
static int count_steps(struct ntrace_stacks *stacks, const struct ntrace_segment *run,
		       struct thread *thread, size_t *next, uint32_t *state, bool *arrives)
{
	const struct ntrace_flow_step *steps = run->run->steps;
	struct stack_runs *runs = stacks->runs;
	const size_t first = *next, count = run->run->count;
	const bool reports = stacks->options.change, upper = thread->stack.bottom;
	const uint64_t ids = stacks->hart.ids;
	uint32_t now = *state, number = 0;
	size_t at = first;
	int error = 0;

	for (; at < count && !error; at++) {
		struct entry *last = &runs->entries[number], *entry;
		uint64_t effect = ids + steps[at].id;

		number = number ? last->after : 0;
		entry = &runs->entries[number];
		if (!number || !is_entry(entry, now, effect)) {
			number = find_entry(runs, now, effect);
			entry = &runs->entries[number];
			if (at > first)
				last->after = number;
		}
		if (!number || !entry->next || (at == first && !comes_from(stacks, entry)))
			break;
		if (upper && !entry->times)
			runs->touched[runs->touched_count++] = number;
		entry->times++;
		if (reports)
			error = report_changes(stacks, thread, number);
		stacks->hart.clock.position += entry->instructions;
		now = entry->next;
		*arrives |= entry->arrives;
	}
	*state = now;
	*next = at;
	return error;
}

/* Brings everything up to date after steps that were counted; @last: their last block. */
static int update_stack(struct ntrace_stacks *stacks, const struct ntrace_segment *run,
			struct thread *thread, uint32_t state, const struct ntrace_block *last,
			struct ntrace_space *space, const struct ntrace_isa *isa, bool arrives)
{
	int error = states_apply(&stacks->runs->states, &thread->stack, state);

	keep_space(&stacks->hart.space, space);
	stacks->hart.isa = *isa;
	if (arrives && run->at.privilege == NTRACE_PRIV_U)
		keep_space(&thread->space, space);
	stacks_note_last_block(stacks, thread, last);
	return error;
}

/* Settles before step @at, which is not known. */
static int update_stack_before(struct ntrace_stacks *stacks, const struct ntrace_segment *run,
			       struct thread *thread, uint32_t state, size_t at, bool arrives)
{
	struct ntrace_block_batch batch;
	size_t lead;

	do
		ntrace_flow_run_step(run->run, --at, &batch, &lead);
	while (batch.count == lead && at);
	if (!batch.count)
		return states_apply(&stacks->runs->states, &thread->stack, state);
	return update_stack(stacks, run, thread, state, &batch.blocks[batch.count - 1], batch.space,
			    batch.isa, arrives);
}

/* Takes steps from @at on, up to one that is not known, and that one. */
static int execute_steps(struct ntrace_stacks *stacks, const struct ntrace_segment *run,
			 struct thread *thread, size_t *at)
{
	struct stack_runs *runs = stacks->runs;
	bool arrives = false;
	uint32_t state;
	size_t first = *at;
	int error = states_find(&runs->states, &thread->stack, &state);

	if (!error && thread->stack.bottom)
		error = upper_begin(stacks, thread->stack.on);
	if (error)
		return error;
	error = count_steps(stacks, run, thread, at, &state, &arrives);
	if (error)
		return error;
	if (*at == run->run->count)
		return update_stack(stacks, run, thread, state, run->run->last, run->run->space,
				    run->run->isa, arrives);
	if (*at > first)
		error = update_stack_before(stacks, run, thread, state, *at, arrives);
	if (error)
		return error;
	error = find_entry(runs, state, stacks->hart.ids + run->run->steps[*at].id) ?
			walk_step(stacks, run, *at) :
			record_step(stacks, run, *at, thread, state);
	++*at;
	return error;
}

static bool is_full(const struct ntrace_stacks *stacks)
{
	const struct stack_runs *runs = stacks->runs;

	return stacks->upper.tree.node_count > UPPER_MAX || runs->states.count > STATES_MAX ||
	       runs->count_count > COUNTS_MAX || runs->change_count > COUNTS_MAX ||
	       (runs->mask + 1 >= ENTRIES_MAX && runs->used > runs->mask / 4 * 3);
}

int stacks_execute_run(struct ntrace_stacks *stacks, const struct ntrace_segment *run)
{
	struct thread *thread;
	int error = stacks->runs ? 0 : make_runs(stacks);
	size_t at = 0;

	while (at < run->run->count && !error) {
		/* A step may make another thread the one with this number. */
		thread = threads_find(stacks, &run->at);
		if (!thread)
			return NTRACE_ERR_NOMEM;
		/* Times need the order of all blocks. */
		if (run->run->time_known || !is_ready(stacks, run, thread)) {
			error = walk_step(stacks, run, at++);
			continue;
		}
		if (is_full(stacks))
			error = run_forget(stacks);
		if (error)
			break;
		error = execute_steps(stacks, run, thread, &at);
	}
	return error;
}
