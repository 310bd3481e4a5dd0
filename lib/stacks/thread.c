// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Threads, and how their frames, layers and stacks begin and end; thread.h has the picture. */
#include <stdlib.h>
#include <string.h>

#include "grow.h"
#include "profile/select.h"
#include "run.h"
#include "upper.h"

#define BUCKETS 1024

void stack_drop(struct stack *stack)
{
	free(stack->frames);
	memset(stack, 0, sizeof(*stack));
}

void stacks_forget_aside(struct thread *thread)
{
	while (thread->aside_count)
		stack_drop(&thread->aside[--thread->aside_count]);
}

static void free_thread(struct thread *thread)
{
	stacks_forget_aside(thread);
	free(thread->aside);
	forks_forget(thread);
	free(thread->forks);
	stack_drop(&thread->stack);
	ntrace_space_put(thread->space);
	free(thread);
}

/* No hart runs @thread any more; NULL: any thread. */
static void forget_current(struct ntrace_stacks *stacks, const struct thread *thread)
{
	for (unsigned int i = 0; i <= stacks->hart_count; i++) {
		struct hart *hart = i < stacks->hart_count ? &stacks->harts[i] : &stacks->hart;

		if (!thread || hart->current == thread)
			hart->current = NULL;
		if (!thread || hart->reported_thread == thread)
			hart->reported_thread = NULL;
	}
}

void threads_free(struct ntrace_stacks *stacks)
{
	struct thread *thread, *chain;
	size_t i;

	for (i = 0; stacks->threads && i < BUCKETS; i++) {
		for (thread = stacks->threads[i]; thread; thread = chain) {
			chain = thread->chain;
			free_thread(thread);
		}
	}
	free(stacks->threads);
	stacks->threads = NULL;
	stacks->newest = stacks->oldest = NULL;
	stacks->thread_count = 0;
	forget_current(stacks, NULL);
}

int threads_each_stack(struct ntrace_stacks *stacks,
		       int (*visit)(struct ntrace_stacks *stacks, struct stack *stack))
{
	int error = 0;

	for (size_t i = 0; stacks->threads && i < BUCKETS; i++) {
		for (struct thread *thread = stacks->threads[i]; thread; thread = thread->chain) {
			error = visit(stacks, &thread->stack);
			for (size_t k = 0; k < thread->aside_count && !error; k++)
				error = visit(stacks, &thread->aside[k]);
			if (error)
				return error;
		}
	}
	return error;
}

static struct thread **bucket_of(const struct ntrace_stacks *stacks, int32_t tid)
{
	return &stacks->threads[(uint32_t)tid % BUCKETS];
}

static void remove_used(struct ntrace_stacks *stacks, struct thread *thread)
{
	if (thread->newer)
		thread->newer->older = thread->older;
	else
		stacks->newest = thread->older;
	if (thread->older)
		thread->older->newer = thread->newer;
	else
		stacks->oldest = thread->newer;
}

static void add_used(struct ntrace_stacks *stacks, struct thread *thread)
{
	thread->older = stacks->newest;
	thread->newer = NULL;
	if (stacks->newest)
		stacks->newest->newer = thread;
	else
		stacks->oldest = thread;
	stacks->newest = thread;
}

static void remove_thread(struct ntrace_stacks *stacks, const struct thread *thread)
{
	struct thread **at = bucket_of(stacks, thread->tid);

	while (*at != thread)
		at = &(*at)->chain;
	*at = thread->chain;
}

static void add_thread(struct ntrace_stacks *stacks, struct thread *thread)
{
	struct thread **bucket = bucket_of(stacks, thread->tid);

	thread->chain = *bucket;
	*bucket = thread;
}

void threads_drop(struct ntrace_stacks *stacks, struct thread *thread)
{
	remove_thread(stacks, thread);
	remove_used(stacks, thread);
	forget_current(stacks, thread);
	free_thread(thread);
	stacks->thread_count--;
}

/* Drops the thread that ran longest ago. Its frames do not end, since the time is unknown. */
static void forget_oldest(struct ntrace_stacks *stacks)
{
	struct thread *thread = stacks->oldest;

	if (thread && thread == stacks->hart.current)
		thread = thread->newer;
	if (thread)
		threads_drop(stacks, thread);
}

/* Finds the parent node of frames without a shown frame below them. */
static int find_root(struct ntrace_stacks *stacks, struct thread *thread)
{
	return thread->root ? 0 : tree_child(&stacks->tree, TREE_ROOT, thread->task, &thread->root);
}

static int find_node(struct ntrace_stacks *stacks, struct thread *thread, struct frame *frame,
		     uint32_t below)
{
	struct stack *stack = &thread->stack;
	uint32_t parent = 0;
	int error;

	/* The root of the upper nodes stands for the node below. */
	if (below && below != stack->bottom)
		parent = frame->inside ? stack->frames[below - 1].node :
					 stack->frames[below - 1].inner;
	frame->node = frame->inner = parent;
	if (!frame->shown || frame->inside)
		return 0;
	if (!parent && !stack->bottom) {
		error = find_root(stacks, thread);
		if (error)
			return error;
		parent = thread->root;
	}
	error = tree_child(tree_of(stacks, stack), parent, frame->function, &frame->node);
	frame->inner = frame->node;
	return error;
}

/* Whether what the thread executes in @layer is wanted. */
static bool is_shown(const struct ntrace_stacks *stacks, const struct thread *thread,
		     const struct layer *layer)
{
	const struct ntrace_session_event at = { .pid = thread->pid,
						 .tid = thread->tid,
						 .comm = thread->comm };

	return is_selected(stacks->options.threads, stacks->options.privileges, &at,
			   layer->privilege);
}

/* The frames of a thread with a new name go on below that name. Their calls have been counted below the former one. */
static int rename_frames(struct ntrace_stacks *stacks, struct thread *thread)
{
	struct stack *stack = &thread->stack;
	const struct layer *layer = stack->layers;
	int error = upper_attach(stacks, stack);

	for (uint32_t i = 0; i < stack->count && !error; i++) {
		struct frame *frame = &stack->frames[i];

		while (layer + 1 < stack->layers + stack->layer_count && layer[1].base <= i)
			layer++;
		frame->shown = is_shown(stacks, thread, layer);
		frame->chain = 0;
		frame->state = 0;
		error = find_node(stacks, thread, frame, i);
	}
	return error;
}

/* The name of a thread can change at any time, not only by exec. */
static int name_thread(struct ntrace_stacks *stacks, struct thread *thread, const char *comm)
{
	struct tree_function task = { .name = (char *)comm,
				      .kind = NTRACE_STACK_TASK,
				      .pid = thread->pid,
				      .tid = thread->tid };

	if (thread->comm && !strcmp(thread->comm, comm))
		return 0;
	if (stacks->options.merge_threads)
		task.pid = task.tid = -1;
	if (tree_function(&stacks->tree, &task, &thread->task))
		return NTRACE_ERR_NOMEM;
	thread->comm = stacks->tree.functions[thread->task].name;
	thread->root = 0;
	thread->renamed = true;
	return rename_frames(stacks, thread);
}

int thread_renumber(struct ntrace_stacks *stacks, struct thread *thread, int32_t tid,
		    const char *comm)
{
	remove_thread(stacks, thread);
	thread->tid = tid;
	add_thread(stacks, thread);
	/* The task of the tree has the number, too. */
	thread->comm = NULL;
	return name_thread(stacks, thread, comm);
}

/* Each hart has an idle thread, and an unknown one. */
static bool is_thread(const struct ntrace_stacks *stacks, const struct thread *thread, int32_t pid,
		      int32_t tid)
{
	return thread->tid == tid && thread->pid == pid &&
	       (tid > 0 || thread->stream == stacks->hart.stream);
}

struct thread *threads_known(const struct ntrace_stacks *stacks, int32_t pid, int32_t tid)
{
	struct thread *thread = *bucket_of(stacks, tid);

	while (thread && !is_thread(stacks, thread, pid, tid))
		thread = thread->chain;
	return thread;
}

struct thread *threads_earlier(const struct ntrace_stacks *stacks, const struct thread *thread)
{
	struct thread *other = thread->tid > 0 ? *bucket_of(stacks, thread->tid) : NULL;

	while (other && (other == thread || other->tid != thread->tid))
		other = other->chain;
	return other;
}

bool thread_continues(const struct ntrace_stacks *stacks, const struct thread *thread,
		      uint64_t turn)
{
	const struct hart *hart = &stacks->hart;

	/* In the same turn, or in one whose order is not known. */
	if (thread->stream == hart->stream && (thread->turn == turn || !turn || !thread->turn))
		return thread->epoch == hart->epoch;
	/* A loss at the end of the last turn has cut its stack off: stack_cut_off(). */
	return turn && thread->turn && turn == thread->turn + 1 && hart->seen == hart->epoch;
}

void thread_runs(struct ntrace_stacks *stacks, struct thread *thread, uint64_t turn)
{
	struct hart *hart = &stacks->hart;

	thread->turn = turn;
	thread->turn_end = hart->clock.stamps.turn_end;
	thread->stream = hart->stream;
	thread->epoch = hart->epoch;
	hart->seen = hart->epoch;
	hart->current = thread;
}

/* Makes the thread of @event if it is a new one. Return: NULL: out of memory. */
static struct thread *find_or_make(struct ntrace_stacks *stacks,
				   const struct ntrace_session_event *event)
{
	struct thread *thread;

	if (!stacks->threads)
		stacks->threads = calloc(BUCKETS, sizeof(struct thread *));
	if (!stacks->threads)
		return NULL;
	thread = threads_known(stacks, event->pid, event->tid);
	if (thread)
		return thread;
	if (stacks->thread_count == THREADS_MAX)
		forget_oldest(stacks);
	thread = calloc(1, sizeof(*thread));
	if (!thread)
		return NULL;
	thread->pid = event->pid;
	thread->tid = event->tid;
	thread->stream = stacks->hart.stream;
	add_thread(stacks, thread);
	stacks->thread_count++;
	add_used(stacks, thread);
	return thread;
}

struct thread *threads_find(struct ntrace_stacks *stacks, const struct ntrace_session_event *event)
{
	struct thread *thread = stacks->hart.current;

	if (!thread || !is_thread(stacks, thread, event->pid, event->tid))
		thread = find_or_make(stacks, event);
	if (!thread || name_thread(stacks, thread, event->comm))
		return NULL;
	if (thread != stacks->newest) {
		remove_used(stacks, thread);
		add_used(stacks, thread);
	}
	return thread;
}

int threads_leave(struct ntrace_stacks *stacks, uint32_t stream)
{
	struct thread *thread;
	int error = 0;
	size_t i;

	stacks->cutting = stacks->ending = true;
	for (i = 0; stacks->threads && i < BUCKETS; i++)
		for (thread = stacks->threads[i]; thread && !error; thread = thread->chain)
			if (thread->stream == stream)
				error = frames_unwind(stacks, thread, 0);
	stacks->cutting = stacks->ending = false;
	return error;
}

static int locate_code(struct ntrace_stacks *stacks, struct ntrace_space *space, uint64_t address,
		       struct code_place *place)
{
	struct ntrace_location at = { 0 };
	struct tree_function like = { .kind = NTRACE_STACK_FUNCTION };
	uint64_t entry, offset;
	int error;

	memset(place, 0, sizeof(*place));
	place->function = stacks->unknown;
	if (!space || ntrace_space_locate(space, address, &at))
		return 0;
	like.object = at.object;
	/* The object may have no symbol at the address. */
	place->begins = !ntrace_object_entry(at.object, &entry, &offset) &&
			at.link_address == entry;
	place->entry = place->begins;
	if (!at.symbol) {
		like.name = (char *)ntrace_object_short_name(at.object);
		like.kind = NTRACE_STACK_OBJECT;
		return tree_function(&stacks->tree, &like, &place->function);
	}
	like.name = (char *)at.function;
	like.start = at.function_start;
	place->low = address - (at.link_address - at.symbol_start);
	place->high = at.symbol_size ? place->low + at.symbol_size : address + 1;
	place->entry = place->entry || ntrace_location_is_entry(&at);
	place->part = at.link_address == at.symbol_start && at.symbol_start != at.function_start;
	error = tree_function(&stacks->tree, &like, &place->function);
	if (!error && stacks->options.inlined)
		error = inline_chain_at(stacks, at.object, at.link_address, &place->chain);
	return error;
}

int code_place_at(struct ntrace_stacks *stacks, struct ntrace_space *space, uint64_t address,
		  struct code_place *place)
{
	uint64_t version = space ? ntrace_space_version(space) : 0;
	struct memo *memo = &stacks->memo[(address >> 1 ^ address >> 17) % MEMO_ENTRIES];
	int error = 0;

	if (!space || memo->version != version || memo->address != address) {
		error = locate_code(stacks, space, address, &memo->place);
		memo->version = space && !error ? version : 0;
		memo->address = address;
	}
	*place = memo->place;
	return error;
}

bool place_is_outermost(const struct ntrace_stacks *stacks, const struct code_place *place)
{
	const char *name = stacks->tree.functions[place->function].name;

	return place->begins ||
	       (place->entry && (!strcmp(name, "_start") ||
				 !strncmp(name, "ret_from_fork", strlen("ret_from_fork"))));
}

int thread_report(struct ntrace_stacks *stacks, const struct thread *thread, unsigned int type,
		  uint32_t function, uint32_t depth, unsigned int seen)
{
	const struct queued change = {
		.type = (uint8_t)type,
		.seen = (uint8_t)seen,
		.cpu = stacks->hart.cpu,
		.pid = thread->pid,
		.tid = thread->tid,
		.comm = thread->comm,
		.function = function,
		.depth = depth,
		.instructions = thread->instructions,
	};
	int error = stacks->recording.on ? run_note_change(stacks, &change) : 0;

	if (stacks->ending)
		return clock_leave(stacks, thread, &change);
	return error ? error : clock_change(stacks, &change);
}

int frames_show(struct ntrace_stacks *stacks, const struct thread *thread, uint32_t from)
{
	const struct stack *stack = &thread->stack;
	int error = 0;

	for (uint32_t i = from; i < stack->count && !error; i++)
		error = frame_report(stacks, thread, NTRACE_STACK_ENTER, &stack->frames[i], i,
				     FRAME_THERE);
	return error;
}

int frame_report(struct ntrace_stacks *stacks, const struct thread *thread, unsigned int type,
		 const struct frame *frame, uint32_t depth, unsigned int seen)
{
	if (!stacks->options.change || !frame->shown || frame->inside)
		return 0;
	return thread_report(stacks, thread, type, frame->function, depth, seen);
}

/*
 * The outer half of a stack that is too deep becomes unknown. Nodes stay unchanged. The changes are balanced: all frames
 * are removed, and the inner half is there again.
 */
static int cut_stack(struct ntrace_stacks *stacks, struct thread *thread)
{
	struct stack *stack = &thread->stack;
	uint32_t half = stack->count / 2;
	unsigned int i, kept = 0;
	int error = upper_attach(stacks, stack);

	for (i = stack->count; i-- > 0 && !error;)
		error = frame_report(stacks, thread, NTRACE_STACK_LEAVE, &stack->frames[i], i,
				     false);
	if (error)
		return error;
	memmove(stack->frames, stack->frames + half,
		(stack->count - half) * sizeof(*stack->frames));
	stack->count -= half;
	for (i = 0; i < stack->layer_count; i++) {
		/* The last layer of the dropped half now begins with the first kept frame. */
		if (i + 1 < stack->layer_count && stack->layers[i + 1].base <= half)
			continue;
		stack->layers[kept] = stack->layers[i];
		stack->layers[kept].base -= stack->layers[i].base < half ? stack->layers[i].base :
									   half;
		kept++;
	}
	stack->layer_count = kept;
	stack->frames[0].returns = false;
	for (i = 0; i < stack->count; i++)
		stack->frames[i].state = 0;
	stacks->stats.cut++;
	return frames_show(stacks, thread, 0);
}

static int grow_stack(struct ntrace_stacks *stacks, struct thread *thread)
{
	struct stack *stack = &thread->stack;
	uint32_t room = stack->room ? 2 * stack->room : 64;
	struct frame *frames;

	if (stack->count < stack->room)
		return 0;
	if (room > FRAMES_MAX)
		return cut_stack(stacks, thread);
	frames = realloc(stack->frames, room * sizeof(*frames));
	if (!frames)
		return NTRACE_ERR_NOMEM;
	stack->frames = frames;
	stack->room = room;
	return 0;
}

int frame_enter(struct ntrace_stacks *stacks, struct thread *thread, const struct code_place *place,
		const uint64_t *ret, enum frame_begin begin)
{
	struct stack *stack = &thread->stack;
	struct frame frame = { .function = place->function,
			       .low = place->low,
			       .high = place->high,
			       .ret = ret ? *ret : 0,
			       .returns = ret,
			       .inside = place->inside };
	bool called = begin == FRAME_CALLED && !frame.inside;
	int error = grow_stack(stacks, thread);

	if (error)
		return error;
	frame.shown = is_shown(stacks, thread, top_layer(thread));
	frame.in_setjmp = stacks->tree.functions[frame.function].setjmp;
	if (stacks->runs && top_layer(thread)->base == stack->count)
		error = upper_enter(stacks, stack);
	if (!error)
		error = find_node(stacks, thread, &frame, stack->count);
	/* An upper node without any count is also one of the tree. */
	if (!error && frame.shown && (called || stack->bottom)) {
		error = node_add(stacks, stack, frame.node, 0, called);
		stacks->stats.calls += called;
		if (!error)
			error = run_count(stacks, frame.node, 0, called);
	}
	if (error)
		return error;
	stack->frames[stack->count++] = frame;
	return frame_report(stacks, thread, NTRACE_STACK_ENTER, &frame, stack->count - 1, begin);
}

int frame_call(struct ntrace_stacks *stacks, struct thread *thread, const struct code_place *place,
	       uint64_t ret)
{
	const struct frame *top = stack_top(thread);
	struct code_place to = *place;

	/* A function calls its part f.part.N where its own beginning is inlined. */
	to.inside = to.part && to.function == top->function && to.low != top->low;
	return frame_enter(stacks, thread, &to, &ret, FRAME_CALLED);
}

int frame_leave(struct ntrace_stacks *stacks, struct thread *thread)
{
	struct stack *stack = &thread->stack;
	const struct frame *frame = &stack->frames[--stack->count];

	while (stack->layer_count > 1 && top_layer(thread)->base > stack->count)
		stack->layer_count--;
	if (stack->bottom && stack->count <= stack->bottom)
		upper_leave(stack);
	return frame_report(stacks, thread, NTRACE_STACK_LEAVE, frame, stack->count,
			    !stacks->cutting);
}

int frame_replace(struct ntrace_stacks *stacks, struct thread *thread,
		  const struct code_place *place, enum frame_begin begin)
{
	struct frame was = *stack_top(thread);
	int error = frame_leave(stacks, thread);

	if (!error)
		error = frame_enter(stacks, thread, place, was.returns ? &was.ret : NULL, begin);
	if (!error && was.in_setjmp) {
		stack_top(thread)->in_setjmp = true;
		stack_top(thread)->state = 0;
	}
	return error;
}

int frames_unwind(struct ntrace_stacks *stacks, struct thread *thread, uint32_t count)
{
	int error = 0;

	while (thread->stack.count > count && !error)
		error = frame_leave(stacks, thread);
	return error;
}

int layer_enter(struct ntrace_stacks *stacks, struct thread *thread, unsigned int privilege,
		bool signal)
{
	struct stack *stack = &thread->stack;
	int error = 0;

	if (stack->layer_count == LAYERS_MAX)
		error = stack_set_aside(stacks, thread);
	if (error)
		return error;
	if (!stack->layer_count)
		stack->number = ++stacks->begun;
	stack->layers[stack->layer_count++] = (struct layer){
		.base = stack->count,
		.privilege = privilege,
		.resume = stack->next,
		.skip = stack->skip,
		.resumes = stack->goes_on,
		.signal = signal,
	};
	return 0;
}

int layers_unwind(struct ntrace_stacks *stacks, struct thread *thread, unsigned int count)
{
	struct stack *stack = &thread->stack;
	int error = frames_unwind(stacks, thread, count ? stack->layers[count].base : 0);

	if (stack->layer_count > count)
		stack->layer_count = count;
	return error;
}

/* Makes a place for one more stack and drops the one set aside longest ago if necessary. NULL: no memory. */
static struct stack *make_room_aside(struct thread *thread)
{
	if (thread->aside_count == ASIDE_MAX) {
		stack_drop(&thread->aside[0]);
		memmove(&thread->aside[0], &thread->aside[1],
			(ASIDE_MAX - 1) * sizeof(thread->aside[0]));
		thread->aside_count--;
	}
	if (thread->aside_count == thread->aside_room) {
		size_t room = thread->aside_room ? 2 * thread->aside_room : 4;
		struct stack *aside = realloc(thread->aside, room * sizeof(*aside));

		if (!aside)
			return NULL;
		thread->aside = aside;
		thread->aside_room = room;
	}
	return &thread->aside[thread->aside_count++];
}

int stack_copy(struct stack *copy, const struct stack *stack)
{
	*copy = *stack;
	copy->frames = malloc((copy->count ? copy->count : 1) * sizeof(*copy->frames));
	copy->room = copy->count;
	if (!copy->frames) {
		memset(copy, 0, sizeof(*copy));
		return NTRACE_ERR_NOMEM;
	}
	memcpy(copy->frames, stack->frames, copy->count * sizeof(*copy->frames));
	return 0;
}

int stack_keep_copy(struct thread *thread)
{
	struct stack *place = make_room_aside(thread);
	int error = place ? stack_copy(place, &thread->stack) : NTRACE_ERR_NOMEM;

	if (place && error)
		thread->aside_count--;
	return error;
}

/* Keeps the stack, unless it has only an unknown base, which is of no use later. */
static int keep_aside(struct ntrace_stacks *stacks, struct thread *thread)
{
	run_spoil(stacks);
	return thread->stack.count > 1 ? stack_keep_copy(thread) : 0;
}

/* Pops frames whose end was not seen until @count are left. */
static int frames_cut(struct ntrace_stacks *stacks, struct thread *thread, uint32_t count)
{
	int error;

	stacks->cutting = true;
	error = frames_unwind(stacks, thread, count);
	stacks->cutting = false;
	return error;
}

int stack_set_aside(struct ntrace_stacks *stacks, struct thread *thread)
{
	int error = keep_aside(stacks, thread);

	if (!error)
		error = frames_cut(stacks, thread, 0);
	thread->stack.layer_count = 0;
	thread->stack.goes_on = false;
	thread->stack.open = false;
	return error;
}

/* How many of the first @count frames of a stack set aside the present one has, too. */
static uint32_t shared_frames(const struct thread *thread, const struct stack *stack,
			      uint32_t count)
{
	const struct stack *now = &thread->stack;
	uint32_t shared = 0;

	while (now->number == stack->number && shared < count && shared < now->count &&
	       now->frames[shared].function == stack->frames[shared].function &&
	       now->frames[shared].ret == stack->frames[shared].ret)
		shared++;
	return shared;
}

int stack_restore(struct ntrace_stacks *stacks, struct thread *thread, size_t index, uint32_t count)
{
	struct stack stack = thread->aside[index];
	uint32_t shared = shared_frames(thread, &stack, count);
	int error = 0;

	thread->aside_count--;
	memmove(&thread->aside[index], &thread->aside[index + 1],
		(thread->aside_count - index) * sizeof(stack));
	memset(&thread->aside[thread->aside_count], 0, sizeof(stack));
	/* What differs in the top layer alone will not be wanted again. */
	if (thread->stack.layer_count < 2 || shared < top_layer(thread)->base)
		error = keep_aside(stacks, thread);
	if (!error)
		error = frames_cut(stacks, thread, shared);
	free(thread->stack.frames);
	thread->stack = stack;
	thread->stack.count = count;
	while (thread->stack.layer_count > 1 && top_layer(thread)->base >= count)
		thread->stack.layer_count--;
	upper_leave(&thread->stack);
	return error ? error : frames_show(stacks, thread, shared);
}
