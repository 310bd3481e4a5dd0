// SPDX-License-Identifier: GPL-2.0-only
/*
 * stacks [--section N] [--privilege us] [--forget N] SYMBOLS LOG
 *
 * Call stacks as the witness saw them, from a log with stacks=on (log.h). SYMBOLS has lines
 * "ADDRESS NAME", ascending: a function reaches to the next one. Prints "A;B;C INSTRUCTIONS"
 * for each stack, from the outermost frame, as far as it is known.
 *
 * A frame is known by the stack pointer at its first instruction: it is gone as soon as
 * a return, of whatever kind, leaves the stack pointer at or above that. Return addresses
 * are never looked at, nor is anything shared with the library, which has nothing but them.
 * A trap puts a layer of frames on top, which SRET and MRET take off again. Where they do not
 * lead back to what was interrupted, with the stack pointer of then, but to the start of a function,
 * it is a signal's handler. What that returns to asks the kernel for its end: it is gone when
 * the kernel goes elsewhere. Frames that began before the log did have no stack pointer.
 *
 * An alternate stack for signals is expected below the stacks that are interrupted.
 *
 * --forget leaves the Nth return in those privileges undone: who compares must see it.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "log.h"
#include "log_read.h"

#define FRAMES_MAX (1u << 20)
#define NODES_MAX (1u << 24)
#define TASKS_MAX 4096
#define NO_STACKS "no calls and returns: the log was written without stacks=on"
#define KERNEL (1ull << 63)
#define KERNEL_STACK_SHIFT 14	/* THREAD_SIZE of Linux, to which its stacks are aligned */

struct symbol {
	uint64_t start;
	char *name;
};

/* A function below its callers; the root is node 0. */
struct node {
	uint32_t parent;
	uint32_t function;
	uint64_t instructions;
};

/*
 * @stack: at its first instruction, 0 = not known
 * @signal: a signal's handler
 * @ends: what that returned to, which asks for its end
 * @resume, @interrupted: of both: where what they interrupt goes on, and its stack pointer then
 * @shown: of a privilege that is wanted
 */
struct frame {
	uint32_t function;
	uint32_t node;
	uint64_t stack;
	uint64_t resume;
	uint64_t interrupted;
	bool signal;
	bool ends;
	bool shown;
};

/*
 * Frames from @base on are those of a trap's handler; @resume and @stack are of what it interrupts.
 * @asked: by an ECALL of a program
 */
struct layer {
	uint32_t base;
	bool asked;
	uint64_t resume;
	uint64_t stack;
};

#define LAYERS_MAX 16

struct task {
	uint64_t id;
	struct frame *frames;
	uint32_t count, room;
	struct layer layers[LAYERS_MAX];
	unsigned int layer_count;
};

/*
 * @pending: layers on top whose handler has not begun
 * @arrivals: in the log
 * @low, @high: of the function that was looked up last
 * @after: behind the last instruction
 */
struct stacks {
	struct symbol *symbols;
	size_t symbol_count;
	struct node *nodes;
	uint32_t node_count, node_room;
	uint32_t *hash;
	uint32_t hash_size;
	struct task tasks[TASKS_MAX];
	unsigned int task_count;
	struct task *task;
	unsigned int pending;
	unsigned int privileges;
	uint64_t forget, arrivals;
	uint64_t low, high, after;
	uint32_t function;
};

static struct stacks stacks = { .privileges = 3 };

static void die(const char *what, const char *why)
{
	fprintf(stderr, "stacks: %s: %s\n", what, why);
	exit(1);
}

static void *grow(void *array, uint32_t *room, size_t size, uint32_t max, const char *what)
{
	*room = *room ? 2 * *room : 1024;
	array = *room > max ? NULL : realloc(array, *room * size);
	if (!array)
		die(what, "too many");
	return array;
}

/* ---- functions ---- */

static void read_symbols(const char *path)
{
	FILE *file = fopen(path, "r");
	char name[4096];
	uint64_t start;
	uint32_t room = 0;

	if (!file)
		die(path, strerror(errno));
	while (fscanf(file, "%" SCNx64 " %4095s", &start, name) == 2) {
		if (stacks.symbol_count == room)
			stacks.symbols = grow(stacks.symbols, &room, sizeof(*stacks.symbols),
					      NODES_MAX, "symbols");
		if (stacks.symbol_count && stacks.symbols[stacks.symbol_count - 1].start >= start)
			die(path, "not ascending");
		stacks.symbols[stacks.symbol_count].start = start;
		stacks.symbols[stacks.symbol_count++].name = strdup(name);
	}
	if (!feof(file) || stacks.symbol_count < 2 || stacks.symbols[0].start)
		die(path, "not lines of ADDRESS NAME from 0 on");
	fclose(file);
}

static uint32_t function_at(uint64_t address)
{
	size_t low = 0, high = stacks.symbol_count;

	if (address >= stacks.low && address < stacks.high)
		return stacks.function;
	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (stacks.symbols[middle].start <= address)
			low = middle;
		else
			high = middle;
	}
	stacks.function = (uint32_t)low;
	stacks.low = stacks.symbols[low].start;
	stacks.high = high < stacks.symbol_count ? stacks.symbols[high].start : UINT64_MAX;
	return stacks.function;
}

/* ---- nodes ---- */

static uint32_t *hash_place(uint32_t parent, uint32_t function)
{
	uint64_t key = ((uint64_t)parent << 32 | function) * 0x9e3779b97f4a7c15;
	uint32_t at = (uint32_t)(key >> 32) & (stacks.hash_size - 1);

	while (stacks.hash[at] && (stacks.nodes[stacks.hash[at]].parent != parent ||
				   stacks.nodes[stacks.hash[at]].function != function))
		at = (at + 1) & (stacks.hash_size - 1);
	return &stacks.hash[at];
}

static void grow_nodes(void)
{
	stacks.nodes = grow(stacks.nodes, &stacks.node_room, sizeof(*stacks.nodes), NODES_MAX,
			    "different stacks");
	free(stacks.hash);
	stacks.hash_size = 4 * stacks.node_room;
	stacks.hash = calloc(stacks.hash_size, sizeof(*stacks.hash));
	if (!stacks.hash)
		die("memory", strerror(ENOMEM));
	for (uint32_t i = 1; i < stacks.node_count; i++)
		*hash_place(stacks.nodes[i].parent, stacks.nodes[i].function) = i;
}

static uint32_t node_of(uint32_t parent, uint32_t function)
{
	uint32_t *place = hash_place(parent, function);

	if (*place)
		return *place;
	if (stacks.node_count == stacks.node_room) {
		grow_nodes();
		place = hash_place(parent, function);
	}
	stacks.nodes[stacks.node_count] = (struct node){ .parent = parent, .function = function };
	*place = stacks.node_count;
	return stacks.node_count++;
}

/* ---- frames ---- */

static uint32_t floor_of(const struct task *task)
{
	return task->layer_count ? task->layers[task->layer_count - 1].base : 0;
}

static struct frame *push(uint64_t address, unsigned int priv, uint64_t stack)
{
	struct task *task = stacks.task;
	struct frame *frame;
	uint32_t below = 0;

	if (task->count == task->room)
		task->frames = grow(task->frames, &task->room, sizeof(*task->frames), FRAMES_MAX,
				    "frames of a task");
	if (task->count)
		below = task->frames[task->count - 1].node;
	frame = &task->frames[task->count++];
	*frame = (struct frame){ .function = function_at(address),
				 .stack = stack,
				 .shown = stacks.privileges >> priv & 1 };
	frame->node = frame->shown ? node_of(below, frame->function) : below;
	return frame;
}

/* The frame on top is one of another function: a tail call, or straight on. */
static void replace(uint32_t function)
{
	struct task *task = stacks.task;
	struct frame *top = &task->frames[task->count - 1];

	top->function = function;
	if (top->shown)
		top->node = node_of(task->count > 1 ? top[-1].node : 0, function);
}

/* A task has one stack in the kernel, beside which there are those of interrupts. */
static bool same_stack(uint64_t one, uint64_t other)
{
	if (!((one | other) & KERNEL))
		return true;
	return (one - 1) >> KERNEL_STACK_SHIFT == (other - 1) >> KERNEL_STACK_SHIFT;
}

/*
 * Leaves the frames that have no room above @stack, of those above the last trap.
 * @at: also the innermost that began with just this stack pointer, and none below that: what calls
 * without a frame of its own, through another link register, began with the same, and a handler
 * may have interrupted longjmp(). Return: a signal's handler returned, @left.
 */
static bool pop(uint64_t stack, bool at, struct frame *left)
{
	struct task *task = stacks.task;
	uint32_t low = floor_of(task);

	while (task->count > low) {
		const struct frame *top = &task->frames[task->count - 1];

		if (!top->stack || !same_stack(top->stack, stack) || top->stack > stack ||
		    (!at && top->stack == stack))
			break;
		task->count--;
		if (top->stack == stack) {
			*left = *top;
			return top->signal;
		}
	}
	return false;
}

/* ---- what comes from the log ---- */

/* Before the first switch nobody knows whose stack it is; then it is the first one's. */
static void switch_task(const struct oracle_arrival *to)
{
	unsigned int i;

	if (to->priv == 3 || !(to->task & KERNEL) || to->task == stacks.task->id)
		return;
	if (!stacks.task->id) {
		stacks.task->id = to->task;
		return;
	}
	for (i = 0; i < stacks.task_count && stacks.tasks[i].id != to->task; i++)
		;
	if (i == TASKS_MAX)
		die("tasks", "too many");
	stacks.task = &stacks.tasks[i];
	stacks.task->id = to->task;
	if (i == stacks.task_count)
		stacks.task_count++;
}

static void on_trap(const struct oracle_arrival *trap)
{
	struct task *task = stacks.task;

	/* The handler of the last trap was itself interrupted, before its first instruction. */
	if (stacks.pending)
		push(trap->address, 1, 0);
	/* A jump to another function was taken, and nothing there was executed yet. */
	else if (task->count > floor_of(task) &&
		 task->frames[task->count - 1].function != function_at(trap->address))
		replace(function_at(trap->address));
	if (task->layer_count == LAYERS_MAX)
		die("traps in traps", stacks.arrivals ? "too many" : NO_STACKS);
	task->layers[task->layer_count++] = (struct layer){ .base = task->count,
							    .resume = trap->address,
							    .asked = trap->cause == 8 << 1 };
	stacks.pending++;
}

static void on_handler(const struct oracle_arrival *to)
{
	struct task *task = stacks.task;

	for (; stacks.pending; stacks.pending--)
		task->layers[task->layer_count - stacks.pending].stack = to->stack;
	push(to->address, to->priv, 0);
}

static void on_return(const struct oracle_arrival *to)
{
	struct task *task = stacks.task;
	const struct symbol *symbol = &stacks.symbols[function_at(to->address)];
	struct frame handler, *frame;

	/* A task that is new has nothing below, and may have the pointer of one that ended. */
	if (symbol->start == to->address && !strncmp(symbol->name, "ret_from_fork", 13)) {
		task->count = 0;
		task->layer_count = 0;
	}
	if (stacks.forget && stacks.privileges >> to->priv & 1 && !--stacks.forget)
		return;
	/* Behind a signal's handler is the code that asks for its end. */
	if (pop(to->stack, true, &handler)) {
		frame = push(to->address, to->priv, to->stack);
		frame->ends = true;
		frame->resume = handler.resume;
		frame->interrupted = handler.interrupted;
	}
}

static bool goes_on(const struct oracle_arrival *to, uint64_t resume, uint64_t stack)
{
	/* An instruction that traps to ask for something is skipped. */
	return to->stack == stack && to->address - resume <= 4;
}

static void on_trap_return(const struct oracle_arrival *to)
{
	struct task *task = stacks.task;
	const struct frame *ends;
	struct frame *handler;
	struct layer layer;
	bool back = false;

	if (!task->layer_count) {
		task->count = 0;
		return;
	}
	layer = task->layers[--task->layer_count];
	task->count = layer.base;
	if (goes_on(to, layer.resume, layer.stack))
		return;
	ends = task->count ? &task->frames[task->count - 1] : NULL;
	if (layer.asked && ends && ends->ends) {
		/* Back, or to the next handler, whose frame may be just where that of this one was. */
		layer.resume = ends->resume;
		layer.stack = ends->interrupted;
		back = goes_on(to, layer.resume, layer.stack);
		task->count--;
	}
	if (back)
		return;
	if (to->priv || stacks.symbols[function_at(to->address)].start != to->address) {
		pop(to->stack, false, NULL);
		return;
	}
	handler = push(to->address, to->priv, to->stack);
	handler->signal = true;
	handler->resume = layer.resume;
	handler->interrupted = layer.stack;
}

static int on_arrival(void *data, const struct oracle_arrival *to)
{
	(void)data;
	if (to->token == ORACLE_TRAP) {
		on_trap(to);
		return 0;
	}
	stacks.arrivals++;
	if (to->token == ORACLE_HANDLER) {
		on_handler(to);
		return 0;
	}
	switch_task(to);
	/* A call to what is behind it only asks where it is. */
	if (to->token == ORACLE_CALL && to->address != stacks.after)
		push(to->address, to->priv, to->stack);
	else if (to->token == ORACLE_RETURN)
		on_return(to);
	else if (to->token == ORACLE_TRAP_RETURN)
		on_trap_return(to);
	return 0;
}

static void on_instruction(const struct oracle_insn *insn)
{
	uint32_t function = function_at(insn->address);
	struct frame *top;

	if (stacks.task->count == floor_of(stacks.task))
		push(insn->address, insn->priv, 0);
	top = &stacks.task->frames[stacks.task->count - 1];
	if (top->function != function)
		replace(function);
	if (top->shown)
		stacks.nodes[top->node].instructions++;
	stacks.after = insn->address + insn->size;
}

static void print_path(uint32_t node)
{
	if (stacks.nodes[node].parent) {
		print_path(stacks.nodes[node].parent);
		putchar(';');
	}
	fputs(stacks.symbols[stacks.nodes[node].function].name, stdout);
}

static unsigned int privileges_of(const char *letters)
{
	unsigned int mask = 0;

	for (; *letters; letters++)
		mask |= *letters == 'u' ? 1u : *letters == 's' ? 2u : 0;
	return mask;
}

static unsigned int read_options(int argc, char **argv)
{
	static const struct option options[] = { { "section", required_argument, NULL, 's' },
						 { "privilege", required_argument, NULL, 'p' },
						 { "forget", required_argument, NULL, 'f' },
						 { NULL, 0, NULL, 0 } };
	unsigned int section = 0;
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (option == 's')
			section = (unsigned int)strtoul(optarg, NULL, 0);
		else if (option == 'p')
			stacks.privileges = privileges_of(optarg);
		else if (option == 'f')
			stacks.forget = strtoull(optarg, NULL, 0);
		else
			exit(2);
	}
	if (argc - optind != 2) {
		fprintf(stderr, "usage: stacks [--section N] [--privilege us] [--forget N] "
				"SYMBOLS LOG\n");
		exit(2);
	}
	return section;
}

int main(int argc, char **argv)
{
	unsigned int section = read_options(argc, argv);
	struct oracle_log log;
	struct oracle_insn insn;
	int result;

	read_symbols(argv[optind]);
	grow_nodes();
	stacks.node_count = 1;
	stacks.task = &stacks.tasks[stacks.task_count++];
	if (oracle_log_open(&log, argv[optind + 1], section))
		die(argv[optind + 1], log.error);
	log.arrive = on_arrival;
	while ((result = oracle_log_next(&log, &insn)) == 1)
		on_instruction(&insn);
	if (result < 0 || !log.closed)
		die(argv[optind + 1], log.error ? log.error : "the section is not closed");
	oracle_log_close(&log);
	if (!stacks.arrivals)
		die(argv[optind + 1], NO_STACKS);
	for (uint32_t i = 1; i < stacks.node_count; i++) {
		if (stacks.nodes[i].instructions) {
			print_path(i);
			printf(" %" PRIu64 "\n", stacks.nodes[i].instructions);
		}
	}
	return 0;
}
