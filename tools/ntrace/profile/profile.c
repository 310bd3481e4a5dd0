// SPDX-License-Identifier: GPL-2.0-only
/* Adds up instructions and calls per function. */
#include <stdlib.h>
#include <string.h>

#include <ntrace/encode.h>

#include "profile.h"

#define MEMO_ENTRIES (1u << 16)
#define TABLE_SIZE_MIN 4096

/* Cache: a block seen before is in the same function again. */
struct profile_memo {
	uint64_t address;
	uint64_t last;
	uint64_t generation;
	int32_t pid;
	unsigned int privilege;
	struct function *function;	/* NULL: the block spans several functions */
};

const char *const profile_part_names[PARTS] = {
	[PART_USER] = "user",
	[PART_KERNEL] = "kernel",
	[PART_FIRMWARE] = "firmware",
	[PART_OTHER] = "other",
};

enum profile_part profile_part(unsigned int privilege)
{
	switch (privilege) {
	case NTRACE_PRIV_U:
		return PART_USER;
	case NTRACE_PRIV_S:
		return PART_KERNEL;
	case NTRACE_PRIV_M:
		return PART_FIRMWARE;
	/* Guests are counted apart from this machine's user programs and kernel. */
	default:
		return PART_OTHER;
	}
}

bool profile_init(struct profile *profile)
{
	memset(profile, 0, sizeof(*profile));
	profile->only_pid = -1;
	profile->table_size = TABLE_SIZE_MIN;
	profile->table = calloc(profile->table_size, sizeof(*profile->table));
	profile->memo = calloc(MEMO_ENTRIES, sizeof(*profile->memo));
	profile->places = ntrace_locator_new();
	if (profile->table && profile->memo && profile->places)
		return true;
	profile_free(profile);
	return false;
}

void profile_free(struct profile *profile)
{
	size_t i;

	for (i = 0; i < profile->function_count; i++) {
		if (profile->functions[i]->object)
			ntrace_object_put(profile->functions[i]->object);
		free(profile->functions[i]->name);
		free(profile->functions[i]->demangled);
		free(profile->functions[i]->comm);
		free(profile->functions[i]);
	}
	for (i = 0; i < PROBLEM_KINDS; i++) {
		free(profile->errors[i].object);
		free(profile->warnings[i].object);
	}
	free(profile->functions);
	free(profile->table);
	free(profile->memo);
	ntrace_locator_free(profile->places);
	memset(profile, 0, sizeof(*profile));
}

static uint64_t hash(const struct ntrace_object *object, uint64_t start, unsigned int privilege,
		     int32_t pid)
{
	uint64_t value = (uint64_t)(uintptr_t)object ^ start * UINT64_C(0x9e3779b97f4a7c15);

	value ^= ((uint64_t)(uint32_t)pid << 8 | privilege) * UINT64_C(0xc2b2ae3d27d4eb4f);
	return value ^ value >> 29;
}

static bool grow_table(struct profile *profile)
{
	size_t size = profile->table_size * 2, i, slot;
	struct function **table = calloc(size, sizeof(*table));
	struct function **list = calloc(size / 2, sizeof(*list)), *function;

	if (!table || !list) {
		free(table);
		free(list);
		return false;
	}
	if (profile->functions)
		memcpy(list, profile->functions, profile->function_count * sizeof(*list));
	free(profile->functions);
	profile->functions = list;
	for (i = 0; i < profile->table_size; i++) {
		function = profile->table[i];
		if (!function)
			continue;
		slot = hash(function->object, function->start, function->privilege, function->pid) %
		       size;
		while (table[slot])
			slot = (slot + 1) % size;
		table[slot] = function;
	}
	free(profile->table);
	profile->table = table;
	profile->table_size = size;
	return true;
}

static struct function *new_function(const struct ntrace_location *place,
				     const struct ntrace_session_event *event, int32_t pid)
{
	struct function *function = calloc(1, sizeof(*function));

	if (!function)
		return NULL;
	function->name = place->symbol ? strdup(place->symbol) : NULL;
	function->comm = strdup(pid < 0 ? "" : event->comm);
	if (!function->comm || (place->symbol && !function->name)) {
		free(function->name);
		free(function->comm);
		free(function);
		return NULL;
	}
	function->demangled = function->name ? ntrace_demangle(function->name) : NULL;
	function->object = place->object ? ntrace_object_get(place->object) : NULL;
	function->start = place->symbol ? place->symbol_start : 0;
	function->privilege = event->privilege;
	function->pid = pid;
	return function;
}

/* Finds or adds the function at a place; NULL when out of memory. */
static struct function *function_at(struct profile *profile, const struct ntrace_location *place,
				    const struct ntrace_session_event *event)
{
	int32_t pid = profile->by_process ? event->pid : -1;
	uint64_t start = place->symbol ? place->symbol_start : 0;
	struct function *function;
	size_t slot;

	/* The list is always half as long as the table: one check covers both. */
	if ((!profile->functions || profile->function_count == profile->table_size / 2) &&
	    !grow_table(profile)) {
		profile->failed = true;
		return NULL;
	}
	slot = hash(place->object, start, event->privilege, pid) % profile->table_size;
	for (; (function = profile->table[slot]); slot = (slot + 1) % profile->table_size)
		if (function->object == place->object && function->start == start &&
		    function->privilege == event->privilege && function->pid == pid &&
		    !function->name == !place->symbol)
			return function;
	function = new_function(place, event, pid);
	if (!function) {
		profile->failed = true;
		return NULL;
	}
	profile->table[slot] = function;
	profile->functions[profile->function_count++] = function;
	return function;
}

struct walk {
	struct profile *profile;
	const struct ntrace_session_event *event;
	uint64_t counted;
};

static int count_instruction(void *data, uint64_t address, const uint8_t *bytes,
			     const struct ntrace_insn *insn)
{
	struct walk *walk = data;
	struct function *function;

	(void)bytes;
	(void)insn;
	function = function_at(walk->profile,
			       ntrace_locator_find(walk->profile->places, walk->event->flow->space,
						   address),
			       walk->event);
	if (!function)
		return 1;
	function->instructions++;
	walk->counted++;
	return 0;
}

static void count_block(struct profile *profile, const struct ntrace_session_event *event)
{
	const struct ntrace_flow_event *flow = event->flow;
	struct walk walk = { .profile = profile, .event = event };
	struct ntrace_location first;
	struct profile_memo *memo;
	uint64_t generation;

	first = *ntrace_locator_find(profile->places, flow->space, flow->address);
	generation = ntrace_locator_generation(profile->places);
	memo = &profile->memo[(flow->address >> 1 ^ flow->address >> 17) % MEMO_ENTRIES];
	if (memo->address != flow->address || memo->last != flow->last ||
	    memo->generation != generation || memo->pid != event->pid ||
	    memo->privilege != event->privilege) {
		*memo = (struct profile_memo){
			.address = flow->address,
			.last = flow->last,
			.generation = generation,
			.pid = event->pid,
			.privilege = event->privilege,
		};
		if (place_same_function(&first, ntrace_locator_find(profile->places, flow->space,
								    flow->last)))
			memo->function = function_at(profile, &first, event);
	}
	if (memo->function)
		memo->function->instructions += flow->instructions;
	else
		ntrace_flow_instructions(flow, count_instruction, &walk);
	profile->selected += memo->function ? flow->instructions : walk.counted;
}

static void count_call(struct profile *profile, const struct ntrace_session_event *event,
		       const struct transfer *transfer)
{
	struct ntrace_space *space = event->flow->space;
	struct ntrace_location to;
	struct function *function;

	if (transfer->insn_class == NTRACE_INSN_RETURN ||
	    transfer->insn_class == NTRACE_INSN_TRAP_RETURN)
		return;
	to = *ntrace_locator_find(profile->places, space, transfer->to);
	if (!to.symbol || to.link_address != to.symbol_start)
		return;
	if (!ntrace_insn_is_call(transfer->insn_class) &&
	    place_same_function(&to, ntrace_locator_find(profile->places, space, transfer->from)))
		return;
	function = function_at(profile, &to, event);
	if (function)
		function->calls++;
}

static void count_problem(struct profile *profile, struct problem *kinds,
			  const struct ntrace_session_event *event)
{
	const struct ntrace_flow_event *flow = event->flow;
	struct problem *problem = &kinds[flow->code % PROBLEM_KINDS];
	const struct ntrace_location *place;

	if (problem->count++)
		return;
	problem->address = flow->address;
	problem->offset = flow->offset;
	problem->stream = event->stream;
	place = ntrace_locator_find(profile->places, flow->space, flow->address);
	if (place->object)
		problem->object = strdup(ntrace_object_name(place->object));
}

static void count_other(struct profile *profile, const struct ntrace_session_event *event)
{
	switch (event->flow->type) {
	case NTRACE_FLOW_TRAP:
		profile->traps++;
		profile->exceptions += event->flow->code == NTRACE_BTYPE_EXCEPTION;
		profile->interrupts += event->flow->code == NTRACE_BTYPE_INTERRUPT;
		break;
	case NTRACE_FLOW_TRACE_OFF:
		profile->trace_off++;
		break;
	case NTRACE_FLOW_GAP:
		profile->gaps++;
		break;
	case NTRACE_FLOW_ERROR:
		count_problem(profile, profile->errors, event);
		break;
	case NTRACE_FLOW_WARNING:
		count_problem(profile, profile->warnings, event);
		break;
	default:
		break;
	}
}

static bool is_selected(const struct profile *profile, const struct ntrace_session_event *event)
{
	return (profile->only_pid < 0 || profile->only_pid == event->pid) &&
	       (!profile->only_privileges || profile->only_privileges >> event->privilege & 1);
}

int profile_sample(struct profile *profile, const struct ntrace_session_event *event)
{
	const struct ntrace_flow_event *flow = event->flow;
	struct function *function;

	if (flow->type != NTRACE_FLOW_CIRCUIT || flow->code != NTRACE_CKSRC_PC_SAMPLE)
		return 0;
	if (!flow->next_known) {
		profile->unplaced++;
		return 0;
	}
	if (!is_selected(profile, event))
		return 0;
	function = function_at(
		profile, ntrace_locator_find(profile->places, flow->space, flow->address), event);
	if (!function)
		return 1;
	function->instructions++;
	profile->selected++;
	return 0;
}

int profile_event(struct profile *profile, const struct ntrace_session_event *event)
{
	enum profile_part part = profile_part(event->privilege);
	bool selected = is_selected(profile, event);
	struct transfer transfer;

	if (transfer_resolve(&profile->transfers, event->flow, &transfer) && selected)
		count_call(profile, event, &transfer);
	if (event->flow->type == NTRACE_FLOW_BLOCK) {
		profile->instructions[part] += event->flow->instructions;
		if (selected)
			count_block(profile, event);
	} else {
		count_other(profile, event);
	}
	if (transfer_start(&profile->transfers, event->flow, &transfer) && selected)
		count_call(profile, event, &transfer);
	return profile->failed;
}

void profile_stream(struct profile *profile)
{
	profile->transfers.pending = false;
}

static const char *object_name(const struct function *function)
{
	return function->object ? ntrace_object_short_name(function->object) : "";
}

static int compare_names(const struct function *a, const struct function *b)
{
	int order = strcmp(function_shown(a), function_shown(b));

	if (!order)
		order = strcmp(object_name(a), object_name(b));
	if (order)
		return order;
	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return a->pid < b->pid ? -1 : a->pid > b->pid;
}

/* Sort order; qsort() passes no context. */
static enum profile_order wanted_order;

static uint64_t value_of(const struct function *function)
{
	switch (wanted_order) {
	case PROFILE_BY_TOTAL:
		return function->total;
	case PROFILE_BY_CALLS:
		return function->calls;
	case PROFILE_BY_TIME:
		return function->ticks;
	case PROFILE_BY_TOTAL_TIME:
		return function->total_ticks;
	default:
		return function->instructions;
	}
}

static int compare(const void *left, const void *right)
{
	const struct function *a = *(struct function *const *)left;
	const struct function *b = *(struct function *const *)right;
	int order = 0;

	if (wanted_order == PROFILE_BY_NAME)
		order = compare_names(a, b);
	if (wanted_order == PROFILE_BY_OBJECT)
		order = strcmp(object_name(a), object_name(b));
	if (order)
		return order;
	if (value_of(a) != value_of(b))
		return value_of(a) < value_of(b) ? 1 : -1;
	if (a->instructions != b->instructions)
		return a->instructions < b->instructions ? 1 : -1;
	return compare_names(a, b);
}

void profile_sort(struct profile *profile, enum profile_order order)
{
	wanted_order = order;
	if (profile->function_count)
		qsort(profile->functions, profile->function_count, sizeof(*profile->functions),
		      compare);
}

static int by_place(const void *left, const void *right)
{
	const struct ntrace_stack_function *a = *(const struct ntrace_stack_function *const *)left;
	const struct ntrace_stack_function *b = *(const struct ntrace_stack_function *const *)right;

	if (a->object != b->object)
		return (uintptr_t)a->object < (uintptr_t)b->object ? -1 : 1;
	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	return a->start < b->start ? -1 : a->start > b->start;
}

/* Time of each function including inlined code. Return: to be freed; NULL when out of memory. */
static uint64_t *own_ticks(struct ntrace_stacks *stacks, size_t function_count)
{
	const struct ntrace_stack_function *functions;
	const struct ntrace_stack_node *nodes;
	uint64_t *ticks = calloc(function_count + 1, sizeof(*ticks));
	size_t count, i;
	uint32_t *within;

	nodes = ntrace_stacks_nodes(stacks, &count);
	functions = ntrace_stacks_functions(stacks, &function_count);
	within = calloc(count + 1, sizeof(*within));
	/* Parents come first. */
	for (i = 0; ticks && within && i < count; i++) {
		within[i] = functions[nodes[i].function].inlined ? within[nodes[i].parent] :
								   nodes[i].function;
		ticks[within[i]] += nodes[i].ticks;
	}
	if (!within) {
		free(ticks);
		ticks = NULL;
	}
	free(within);
	return ticks;
}

int profile_add_stacks(struct profile *profile, struct ntrace_stacks *stacks)
{
	const struct ntrace_stack_function *functions, **sorted, **found;
	struct ntrace_stack_function key = { 0 };
	const struct ntrace_stack_function *wanted = &key;
	size_t count, used = 0, i;
	uint64_t *ticks;

	functions = ntrace_stacks_functions(stacks, &count);
	sorted = functions ? malloc((count + 1) * sizeof(*sorted)) : NULL;
	ticks = sorted ? own_ticks(stacks, count) : NULL;
	if (!ticks) {
		free(sorted);
		return 1;
	}
	/* Nested recursive calls are part of the outer row. */
	for (i = 0; i < count; i++) {
		if (!functions[i].inlined)
			sorted[used++] = &functions[i];
	}
	qsort(sorted, used, sizeof(*sorted), by_place);
	for (i = 0; i < profile->function_count; i++) {
		struct function *function = profile->functions[i];

		key.object = function->object;
		key.start = function->start;
		key.kind = function->name ? NTRACE_STACK_FUNCTION : NTRACE_STACK_OBJECT;
		found = bsearch(&wanted, sorted, used, sizeof(*sorted), by_place);
		if (!found)
			continue;
		function->total = (*found)->total;
		function->ticks = ticks[*found - functions];
		function->total_ticks = (*found)->total_ticks;
	}
	free(sorted);
	free(ticks);
	return 0;
}
