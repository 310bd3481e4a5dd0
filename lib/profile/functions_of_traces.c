// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Functions of a profile made from branch stacks, summed up from its traces. */
#include "functions.h"
#include "saturate.h"

/* @space: @object mapped at its link addresses, if a run needed a walk through its instructions */
struct trace_sums {
	struct function_table *table;
	struct ntrace_profile_totals *totals;
	struct ntrace_object *object;
	struct ntrace_space *space;
};

static void add_to(uint64_t *sum, uint64_t count)
{
	*sum = add_counts(*sum, count);
}

static int function_of(struct trace_sums *sums, const struct ntrace_location *place, size_t *index)
{
	const struct function_key key = {
		.object = place->object,
		.name = place->function,
		.comm = "",
		.start = place->function_start,
		.privilege = NTRACE_PRIV_U,
		.pid = -1,
	};

	return function_table_find(sums->table, &key, index);
}

static int add_instructions(struct trace_sums *sums, const struct ntrace_location *place,
			    uint64_t count)
{
	size_t function;
	int error = function_of(sums, place, &function);

	if (!error)
		add_to(&sums->table->items[function].instructions, count);
	return error;
}

/* Traces are sorted by object, so that each object is mapped once. */
static int map_object(struct trace_sums *sums, struct ntrace_object *object)
{
	int error;

	if (sums->object == object)
		return 0;
	ntrace_space_put(sums->space);
	sums->space = NULL;
	sums->object = NULL;
	error = ntrace_space_new(&sums->space, "", NULL);
	if (!error)
		error = ntrace_space_map_linked(sums->space, object, 0);
	if (!error)
		sums->object = object;
	return error;
}

static int split_run(struct trace_sums *sums, const struct ntrace_profile_trace *trace)
{
	const struct ntrace_isa *isa = ntrace_object_isa(trace->object);
	struct ntrace_location place;
	struct ntrace_insn insn;
	const uint8_t *bytes;
	uint64_t address;
	size_t size;
	int error = map_object(sums, trace->object);

	for (address = trace->start; !error && address - trace->start <= trace->end - trace->start;
	     address += insn.size) {
		if (ntrace_space_read(sums->space, address, &bytes, &size) ||
		    ntrace_insn_decode(isa, bytes, size, address, &insn))
			break;
		ntrace_object_locate(trace->object, address, &place);
		error = add_instructions(sums, &place, trace->count);
	}
	return error;
}

/* Most runs lie in one function; a run that spans several is split. */
static int add_run(struct trace_sums *sums, const struct ntrace_profile_trace *trace,
		   const struct ntrace_location *start)
{
	uint64_t instructions = multiply_counts(trace->count, trace->instructions);
	struct ntrace_location end;

	if (!instructions)
		return 0;
	add_to(&sums->totals->selected, instructions);
	add_to(&sums->totals->instructions[NTRACE_DOMAIN_USER], instructions);
	ntrace_object_locate(trace->object, trace->end, &end);
	if (ntrace_location_same_function(start, &end))
		return add_instructions(sums, start, instructions);
	return split_run(sums, trace);
}

static int add_trace(struct trace_sums *sums, const struct ntrace_profile_trace *trace)
{
	struct ntrace_location from = { 0 }, to = { 0 };
	size_t function;
	int error = 0;

	if (trace->from_object) {
		ntrace_object_locate(trace->from_object, trace->from, &from);
		error = function_of(sums, &from, &function);
		if (!error)
			add_to(&sums->table->items[function].branches, trace->count);
	}
	if (error || !trace->object)
		return error;
	ntrace_object_locate(trace->object, trace->start, &to);
	error = add_run(sums, trace, &to);
	if (error || !trace->from_object || !transfer_calls(trace->from_class, &from, &to))
		return error;
	error = function_of(sums, &to, &function);
	if (!error)
		add_to(&sums->table->items[function].calls, trace->count);
	return error;
}

int functions_of_traces(struct function_table *table, struct ntrace_profile_totals *totals,
			struct ntrace_profile *profile)
{
	const struct ntrace_profile_trace *all;
	struct trace_sums sums = { .table = table, .totals = totals };
	size_t count, i;
	int error = 0;

	all = ntrace_profile_traces(profile, &count);
	for (i = 0; i < count && !error; i++)
		error = add_trace(&sums, &all[i]);
	ntrace_space_put(sums.space);
	return error;
}
