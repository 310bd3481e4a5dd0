// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Functions and totals of a profile.
 *
 * Instructions, calls and branches of a function are sums over the traces: the run of a trace is code of
 * one function, or of several that follow one another, and its transfer may call the function where the
 * run begins. So a profile with functions counts traces of each privilege, and with by_process of each
 * process, and makes the functions when the profile ends. Only totals, problems and PC samples are
 * counted event by event.
 */
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include <ntrace/encode.h>

#include "functions.h"
#include "grow.h"
#include "parts.h"
#include "saturate.h"
#include "select.h"
#include "state.h"

/* A process under one name. @number: 1 for the first one */
struct process {
	int32_t pid;
	uint32_t number;
	char comm[];
};

/*
 * @functions: made from the traces
 * @pc_samples: functions with their PC samples
 * @problem_objects: names that the totals point to; owned
 * @processes: by number, from 1 on; @tree: of tsearch(), by pid and name; @last: the one found last
 */
struct function_sums {
	bool by_process;
	struct function_table functions;
	struct function_table pc_samples;
	struct ntrace_profile_totals totals;
	char *problem_objects[2 * NTRACE_PROFILE_PROBLEMS];
	size_t problem_object_count;
	struct ntrace_locator *locator;
	struct process **processes;
	size_t process_count, process_room;
	void *tree;
	const struct process *last;
};

static const struct ntrace_profile_totals no_totals;

unsigned int ntrace_domain_of(unsigned int privilege)
{
	switch (privilege) {
	case NTRACE_PRIV_U:
		return NTRACE_DOMAIN_USER;
	case NTRACE_PRIV_S:
		return NTRACE_DOMAIN_KERNEL;
	case NTRACE_PRIV_M:
		return NTRACE_DOMAIN_FIRMWARE;
	/* Guests are counted separately from this machine's user programs and kernel. */
	default:
		return NTRACE_DOMAIN_OTHER;
	}
}

const char *ntrace_domain_name(unsigned int domain)
{
	static const char *const names[NTRACE_DOMAINS] = {
		[NTRACE_DOMAIN_USER] = "user",
		[NTRACE_DOMAIN_KERNEL] = "kernel",
		[NTRACE_DOMAIN_FIRMWARE] = "firmware",
		[NTRACE_DOMAIN_OTHER] = "other",
	};

	return domain < NTRACE_DOMAINS ? names[domain] : NULL;
}

struct function_sums *function_sums_new(const struct ntrace_profile_options *options)
{
	struct function_sums *sums = calloc(1, sizeof(*sums));

	if (!sums)
		return NULL;
	sums->by_process = options->by_process;
	sums->locator = ntrace_locator_new();
	if (!sums->locator) {
		function_sums_free(sums);
		return NULL;
	}
	return sums;
}

void function_sums_free(struct function_sums *sums)
{
	if (!sums)
		return;
	function_table_free(&sums->functions);
	function_table_free(&sums->pc_samples);
	while (sums->problem_object_count)
		free(sums->problem_objects[--sums->problem_object_count]);
	tdestroy(sums->tree, free);
	free(sums->processes);
	ntrace_locator_free(sums->locator);
	free(sums);
}

/* ---- processes ---- */

static bool is_process(const struct process *process, int32_t pid, const char *comm)
{
	return process && process->pid == pid && !strcmp(process->comm, comm);
}

static int compare_processes(const void *left, const void *right)
{
	const struct process *a = left, *b = right;

	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	return strcmp(a->comm, b->comm);
}

int function_sums_process(struct function_sums *sums, int32_t pid, const char *comm,
			  uint32_t *number)
{
	struct process *process, **found;

	*number = 0;
	if (!sums->by_process || pid < 0)
		return 0;
	if (!is_process(sums->last, pid, comm)) {
		size_t size = strlen(comm) + 1;

		process = malloc(sizeof(*process) + size);
		if (!process || grow((void **)&sums->processes, sums->process_count,
				     &sums->process_room, sizeof(struct process *))) {
			free(process);
			return NTRACE_ERR_NOMEM;
		}
		process->pid = pid;
		process->number = (uint32_t)sums->process_count + 1;
		memcpy(process->comm, comm, size);
		found = tsearch(process, &sums->tree, compare_processes);
		sums->last = found ? *found : NULL;
		if (sums->last == process)
			sums->processes[sums->process_count++] = process;
		else
			free(process);
		if (!found)
			return NTRACE_ERR_NOMEM;
	}
	*number = sums->last->number;
	return 0;
}

/* ---- events ---- */

static int name_problem(struct function_sums *sums, struct ntrace_profile_problem *problem,
			const char *object)
{
	char *name = strdup(object);

	if (!name)
		return NTRACE_ERR_NOMEM;
	sums->problem_objects[sums->problem_object_count++] = name;
	problem->object = name;
	return 0;
}

static int count_problem(struct function_sums *sums, struct ntrace_profile_problem *kinds,
			 const struct ntrace_session_event *event)
{
	const struct ntrace_flow_event *flow = event->flow;
	struct ntrace_profile_problem *problem = &kinds[flow->code % NTRACE_PROFILE_PROBLEMS];
	const struct ntrace_location *place;

	if (problem->count++)
		return 0;
	problem->address = flow->address;
	problem->offset = flow->offset;
	problem->stream = event->stream;
	place = ntrace_locator_find(sums->locator, flow->space, flow->address);
	return place->object ? name_problem(sums, problem, ntrace_object_name(place->object)) : 0;
}

/* Counts a PC sample for the function where it was taken. */
static int count_pc_sample(struct function_sums *sums, struct ntrace_profile *profile,
			   const struct ntrace_session_event *event, bool selected)
{
	const struct ntrace_flow_event *flow = event->flow;
	struct function_key key = { .comm = "", .privilege = event->privilege, .pid = -1 };
	const struct ntrace_location *place;
	size_t function;
	int error;

	if (!flow->next_known) {
		sums->totals.unplaced_samples++;
		return 0;
	}
	if (!selected)
		return 0;
	if (sums->by_process && event->pid >= 0) {
		key.pid = event->pid;
		key.comm = event->comm;
	}
	place = ntrace_locator_find(sums->locator, flow->space, flow->address);
	key.name = place->function;
	key.start = place->function_start;
	error = profile_find_object(profile, place->object, &key.object);
	if (!error)
		error = function_table_find(&sums->pc_samples, &key, &function);
	if (error)
		return error;
	sums->pc_samples.items[function].instructions++;
	sums->totals.samples++;
	return 0;
}

static int count_other(struct function_sums *sums, struct ntrace_profile *profile,
		       const struct ntrace_session_event *event, bool selected)
{
	struct ntrace_profile_totals *totals = &sums->totals;

	switch (event->flow->type) {
	case NTRACE_FLOW_TRAP:
		totals->traps++;
		totals->exceptions += event->flow->code == NTRACE_BTYPE_EXCEPTION;
		totals->interrupts += event->flow->code == NTRACE_BTYPE_INTERRUPT;
		return 0;
	case NTRACE_FLOW_TRACE_OFF:
		totals->trace_off++;
		totals->hardware_ends += event->flow->code != NTRACE_EVCODE_TRACE_DISABLE;
		return 0;
	case NTRACE_FLOW_GAP:
		totals->gaps++;
		return 0;
	case NTRACE_FLOW_ERROR:
		return count_problem(sums, totals->errors, event);
	case NTRACE_FLOW_WARNING:
		return count_problem(sums, totals->warnings, event);
	case NTRACE_FLOW_CIRCUIT:
		return event->flow->code == NTRACE_CKSRC_PC_SAMPLE ?
			       count_pc_sample(sums, profile, event, selected) :
			       0;
	default:
		return 0;
	}
}

static void count_instructions(struct function_sums *sums, const struct ntrace_session_event *at,
			       uint64_t instructions, bool selected)
{
	sums->totals.instructions[ntrace_domain_of(at->privilege)] += instructions;
	if (selected)
		sums->totals.selected += instructions;
}

int function_sums_event(struct function_sums *sums, struct ntrace_profile *profile,
			const struct ntrace_session_event *event)
{
	if (event->flow->type != NTRACE_FLOW_BLOCK)
		return count_other(sums, profile, event, profile->counted);
	count_instructions(sums, event, event->flow->instructions, profile->counted);
	return 0;
}

void function_sums_segment(struct function_sums *sums, const struct ntrace_profile *profile,
			   const struct ntrace_segment *segment)
{
	bool sum = segment->type == NTRACE_SEGMENT_SUM;
	uint64_t instructions = 0;

	for (size_t i = sum ? segment->lead : 0; i < segment->batch->count; i++)
		instructions += segment->batch->blocks[i].instructions;
	count_instructions(sums, &segment->at, sum ? segment->times * instructions : instructions,
			   profile->counted);
}

/* ---- functions of traces ---- */

static bool is_return(unsigned int insn_class)
{
	return insn_class == NTRACE_INSN_RETURN || insn_class == NTRACE_INSN_TRAP_RETURN;
}

/*
 * Whether a transfer calls the function at @to. A call of a function to its own part is none, but a part that calls itself
 * does what its function would do.
 */
static bool transfer_calls(unsigned int insn_class, const struct ntrace_location *from,
			   const struct ntrace_location *to)
{
	if (is_return(insn_class) || !to->symbol || to->link_address != to->symbol_start)
		return false;
	if (!ntrace_insn_is_call(insn_class))
		return ntrace_location_is_entry(to) && !ntrace_location_same_function(from, to);
	return to->symbol_start == to->function_start || to->symbol_start == from->symbol_start ||
	       !ntrace_location_same_function(from, to);
}

/*
 * @sampled: the traces come from branch stacks
 * @by_source: as in struct ntrace_profile
 * @space: @object mapped at its link addresses, if a run needed a walk through its instructions
 */
struct trace_sums {
	struct function_sums *sums;
	bool sampled;
	bool by_source;
	struct ntrace_object *object;
	struct ntrace_space *space;
};

static void add_to(uint64_t *sum, uint64_t count)
{
	*sum = add_counts(*sum, count);
}

/* The function at @place in the entry of the process and privilege of @trace. */
static int function_of(struct trace_sums *of, const struct ntrace_profile_trace *trace,
		       const struct ntrace_location *place,
		       struct ntrace_profile_function **function)
{
	struct function_sums *sums = of->sums;
	const struct process *process = trace->process ? sums->processes[trace->process - 1] : NULL;
	const struct function_key key = {
		.object = place->object,
		.name = place->function,
		.comm = process ? process->comm : "",
		.start = place->function_start,
		.privilege = trace->privilege,
		.pid = process ? process->pid : -1,
	};
	size_t index;
	int error = function_table_find(&sums->functions, &key, &index);

	*function = error ? NULL : &sums->functions.items[index];
	return error;
}

static int add_instructions(struct trace_sums *of, const struct ntrace_profile_trace *trace,
			    const struct ntrace_location *place, uint64_t count)
{
	struct ntrace_profile_function *function;
	int error = function_of(of, trace, place, &function);

	if (!error)
		add_to(&function->instructions, count);
	return error;
}

/* Runs that are split are rare, and often come from the same object. */
static int map_object(struct trace_sums *of, struct ntrace_object *object)
{
	int error;

	if (of->object == object)
		return 0;
	ntrace_space_put(of->space);
	of->space = NULL;
	of->object = NULL;
	error = ntrace_space_new(&of->space, "", NULL);
	if (!error)
		error = ntrace_space_map_linked(of->space, object, 0);
	if (!error)
		of->object = object;
	return error;
}

static int split_run(struct trace_sums *of, const struct ntrace_profile_trace *trace)
{
	const struct ntrace_isa *isa = ntrace_object_isa(trace->object);
	struct ntrace_location place;
	struct ntrace_insn insn;
	const uint8_t *bytes;
	uint64_t address;
	size_t size;
	int error = map_object(of, trace->object);

	for (address = trace->start; !error && address - trace->start <= trace->end - trace->start;
	     address += insn.size) {
		if (ntrace_space_read(of->space, address, &bytes, &size) ||
		    ntrace_insn_decode(isa, bytes, size, address, &insn))
			break;
		ntrace_object_locate(trace->object, address, &place);
		error = add_instructions(of, trace, &place, trace->count);
	}
	return error;
}

/* Most runs lie in one function; a run that spans several is split. */
static int add_run(struct trace_sums *of, const struct ntrace_profile_trace *trace,
		   const struct ntrace_location *start, const struct ntrace_location *end)
{
	uint64_t instructions = multiply_counts(trace->count, trace->instructions);

	if (!instructions)
		return 0;
	if (of->sampled) {
		add_to(&of->sums->totals.selected, instructions);
		add_to(&of->sums->totals.instructions[NTRACE_DOMAIN_USER], instructions);
	}
	if (!ntrace_location_same_function(start, end))
		return split_run(of, trace);
	return add_instructions(of, trace, start, instructions);
}

static int add_trace(struct trace_sums *of, const struct ntrace_profile_trace *trace)
{
	struct ntrace_location from = { 0 }, start = { 0 }, end = { 0 };
	const struct ntrace_location *source = of->by_source ? &from : &end;
	struct ntrace_profile_function *function;
	int error;

	if (trace->from_object)
		ntrace_object_locate(trace->from_object, trace->from, &from);
	if (trace->object) {
		ntrace_object_locate(trace->object, trace->start, &start);
		ntrace_object_locate(trace->object, trace->end, &end);
	}
	error = add_run(of, trace, &start, &end);
	if (!error && (of->by_source ? trace->from_object != NULL : trace->taken)) {
		error = function_of(of, trace, source, &function);
		if (!error)
			add_to(&function->branches, trace->count);
	}
	/* PLAIN: no transfer led to the run, or from code that is not known. */
	if (error || (!trace->from_object && trace->from_class == NTRACE_INSN_PLAIN) ||
	    !transfer_calls(trace->from_class, &from, &start))
		return error;
	error = function_of(of, trace, &start, &function);
	if (!error)
		add_to(&function->calls, trace->count);
	return error;
}

void profile_count_by_source(struct ntrace_profile *profile)
{
	profile->by_source = true;
}

void function_sums_add(struct function_sums *sums, const struct ntrace_profile_trace *trace)
{
	uint64_t instructions = multiply_counts(trace->count, trace->instructions);

	add_to(&sums->totals.instructions[ntrace_domain_of(trace->privilege)], instructions);
	add_to(&sums->totals.selected, instructions);
}

int function_sums_make(struct function_sums *sums, const struct ntrace_profile *profile)
{
	struct trace_sums of = {
		.sums = sums,
		.sampled = profile->sampled,
		.by_source = profile->by_source,
	};
	int error = 0;

	function_table_free(&sums->functions);
	if (of.sampled) {
		sums->totals.selected = 0;
		sums->totals.instructions[NTRACE_DOMAIN_USER] = 0;
	}
	for (size_t i = 0; i < profile->table.count && !error; i++)
		error = add_trace(&of, &profile->table.traces[i]);
	ntrace_space_put(of.space);
	return error;
}

/* ---- merging ---- */

static int merge_pc_samples(struct function_table *into, struct ntrace_profile *profile,
			    const struct function_table *from)
{
	size_t i, index;
	int error = 0;

	for (i = 0; i < from->count && !error; i++) {
		const struct ntrace_profile_function *item = &from->items[i];
		struct function_key key = { .name = item->name,
					    .comm = item->comm,
					    .start = item->start,
					    .privilege = item->privilege,
					    .pid = item->pid };

		error = profile_find_object(profile, item->object, &key.object);
		if (!error)
			error = function_table_find(into, &key, &index);
		if (!error)
			into->items[index].instructions += item->instructions;
	}
	return error;
}

/* The number in @sums of the process that has @number in @from. */
int function_sums_join_process(struct function_sums *sums, const struct function_sums *from,
			       uint32_t *number)
{
	const struct process *process = *number && from ? from->processes[*number - 1] : NULL;

	*number = 0;
	return process && sums ? function_sums_process(sums, process->pid, process->comm, number) :
				 0;
}

static int merge_problems(struct function_sums *sums, struct ntrace_profile_problem *into,
			  const struct ntrace_profile_problem *from)
{
	unsigned int i;
	int error = 0;

	for (i = 0; i < NTRACE_PROFILE_PROBLEMS && !error; i++) {
		uint64_t count = into[i].count + from[i].count;

		if (!into[i].count) {
			into[i] = from[i];
			into[i].object = NULL;
			if (from[i].object)
				error = name_problem(sums, &into[i], from[i].object);
		}
		into[i].count = count;
	}
	return error;
}

int function_sums_merge(struct function_sums *sums, struct ntrace_profile *profile,
			const struct function_sums *from)
{
	struct ntrace_profile_totals *into = &sums->totals;
	unsigned int i;
	int error;

	for (i = 0; i < NTRACE_DOMAINS; i++)
		into->instructions[i] += from->totals.instructions[i];
	into->selected += from->totals.selected;
	into->exceptions += from->totals.exceptions;
	into->interrupts += from->totals.interrupts;
	into->traps += from->totals.traps;
	into->trace_off += from->totals.trace_off;
	into->hardware_ends += from->totals.hardware_ends;
	into->gaps += from->totals.gaps;
	into->samples += from->totals.samples;
	into->unplaced_samples += from->totals.unplaced_samples;
	error = merge_problems(sums, into->errors, from->totals.errors);
	if (!error)
		error = merge_problems(sums, into->warnings, from->totals.warnings);
	return error ? error : merge_pc_samples(&sums->pc_samples, profile, &from->pc_samples);
}

/* ---- results ---- */

struct function_table *profile_function_table(struct ntrace_profile *profile)
{
	struct function_sums *sums = profile->functions;

	return sums ? &sums->functions : NULL;
}

const struct ntrace_profile_function *ntrace_profile_functions(struct ntrace_profile *profile,
							       unsigned int order, size_t *count)
{
	struct function_sums *sums = profile->functions;

	*count = 0;
	if (!sums)
		return NULL;
	function_table_sort(&sums->functions, order);
	*count = sums->functions.count;
	return sums->functions.items;
}

const struct ntrace_profile_function *ntrace_profile_pc_samples(struct ntrace_profile *profile,
								unsigned int order, size_t *count)
{
	struct function_sums *sums = profile->functions;

	*count = 0;
	if (!sums)
		return NULL;
	function_table_sort(&sums->pc_samples, order);
	*count = sums->pc_samples.count;
	return sums->pc_samples.items;
}

const struct ntrace_profile_totals *ntrace_profile_totals(const struct ntrace_profile *profile)
{
	const struct function_sums *sums = profile->functions;

	return sums ? &sums->totals : &no_totals;
}
