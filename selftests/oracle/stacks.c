// SPDX-License-Identifier: GPL-2.0-only
/*
 * stacks [--section N] [--privilege us] [--forget N] SYMBOLS LOG
 *
 * Prints the call stacks in a log written with stacks=on (log.h). SYMBOLS has lines "ADDRESS NAME",
 * ascending; a function reaches up to the next one. The output is "A;B;C INSTRUCTIONS" for each
 * stack, from the outermost known frame.
 *
 * The stack pointer at its first instruction identifies a frame: the frame ends when a return of
 * any kind leaves the stack pointer at or above that value. This program ignores return addresses
 * and shares no code with the library, which unwinds by return addresses only. A trap pushes a
 * layer of frames, and SRET or MRET pops it. If SRET or MRET leads to the start of a function, not
 * to the interrupted place with its stack pointer, that function is a signal handler. It returns to
 * the sigreturn trampoline, whose frame ends when the kernel leaves for another place. Frames that
 * began before the log have no stack pointer.
 *
 * An alternate signal stack must lie below the stacks that signals interrupt.
 *
 * --forget ignores the Nth return in the given privileges: a comparison must notice it.
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

/* A node of the call tree; the root is node 0. */
struct node {
	uint32_t parent;
	uint32_t function;
	uint64_t instructions;
};

/*
 * @stack: stack pointer at the frame's first instruction, 0 = unknown
 * @signal: frame of a signal handler
 * @ends: frame of the sigreturn trampoline that a signal handler returned to
 * @resume, @interrupted: for both: address and stack pointer at which the interrupted code resumes
 * @shown: the frame's privilege is to be printed
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
 * Frames from @base on belong to a trap handler. @resume, @stack: those of the interrupted code.
 * @asked: the trap is an ECALL from U-mode
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
 * @pending: topmost layers whose handler has not begun
 * @arrivals: number of arrivals in the log
 * @low, @high: bounds of the function looked up last
 * @after: address after the last instruction
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

/* The top frame moved to another function, by a tail call or sequentially. */
static void replace(uint32_t function)
{
	struct task *task = stacks.task;
	struct frame *top = &task->frames[task->count - 1];

	top->function = function;
	if (top->shown)
		top->node = node_of(task->count > 1 ? top[-1].node : 0, function);
}

/* A task has one kernel stack; interrupts run on further stacks. */
static bool same_stack(uint64_t one, uint64_t other)
{
	if (!((one | other) & KERNEL))
		return true;
	return (one - 1) >> KERNEL_STACK_SHIFT == (other - 1) >> KERNEL_STACK_SHIFT;
}

/*
 * Pops the frames above the last trap that lie below @stack. With @at, also pops the innermost
 * frame that began at exactly @stack, but none further out: a caller without a frame of its own
 * (it calls through another link register) began at the same stack pointer, and a handler may have
 * interrupted longjmp(). Return: true if a signal handler returned; @left is its frame.
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

/* ---- tokens of the log ---- */

/* The task is unknown before the first switch; frames up to then belong to the first task. */
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

	/* The handler of the last trap was itself interrupted at its first instruction. */
	if (stacks.pending)
		push(trap->address, 1, 0);
	/* A jump to another function retired, and none of that function's instructions did. */
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

	/* A new task has an empty stack, and may reuse the task pointer of one that ended. */
	if (symbol->start == to->address && !strncmp(symbol->name, "ret_from_fork", 13)) {
		task->count = 0;
		task->layer_count = 0;
	}
	if (stacks.forget && stacks.privileges >> to->priv & 1 && !--stacks.forget)
		return;
	/* A signal handler returns to the sigreturn trampoline. */
	if (pop(to->stack, true, &handler)) {
		frame = push(to->address, to->priv, to->stack);
		frame->ends = true;
		frame->resume = handler.resume;
		frame->interrupted = handler.interrupted;
	}
}

static bool goes_on(const struct oracle_arrival *to, uint64_t resume, uint64_t stack)
{
	/* An ECALL is skipped on return: the return address is that of the next instruction. */
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
		/*
		 * Return to the interrupted code, or entry of the next handler at the same stack
		 * pointer.
		 */
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
	/* A call to the instruction after it only reads pc and makes no frame. */
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
