// SPDX-License-Identifier: GPL-2.0-only
/*
 * What profiles, call stacks and samplers make of a stream, from an event for each block and from
 * blocks in batches: all results must be equal, entry by entry. The same holds for profiles and call
 * stacks of counted messages.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ntrace/counts.h>
#include <ntrace/functions.h>
#include <ntrace/profile.h>
#include <ntrace/sample.h>
#include <ntrace/stacks.h>

#include "check.h"
#include "profiles.h"

/*
 * Selects what the consumers count. @changes: call stacks report their changes. @rounds: the stream
 * comes that many times.
 */
struct choice {
	struct ntrace_thread_filter threads;
	uint32_t privileges;
	bool by_process;
	bool changes;
	unsigned int rounds;
};

/*
 * One way to pass the flow. There is no sideband: threads and privileges change at traps and other
 * events, which both ways have at the same places.
 */
struct way {
	bool batches, counts;
	struct ntrace_flow *flow;
	FILE *told, *samples, *profiled;
	char *text, *sampled, *sums;
	size_t size, sampled_size, sums_size;
	uint64_t hits;
	struct ntrace_profile *profile;
	struct ntrace_stacks *stacks;
	struct ntrace_sampler *sampler;
	int32_t tid;
	unsigned int privilege;
	unsigned int turns;
	char misplaced[160];
};

static int take_session_event(struct way *way, const struct ntrace_session_event *event)
{
	int error = ntrace_profile_event(way->profile, event);

	if (!error)
		error = ntrace_stacks_event(way->stacks, event);
	return error || way->counts ? error : ntrace_sampler_event(way->sampler, event);
}

static int take_event(void *data, const struct ntrace_flow_event *flow)
{
	struct way *way = data;
	struct ntrace_session_event event = {
		.flow = flow,
		.pid = way->tid / 2,
		.tid = way->tid,
		.comm = way->tid & 1 ? "odd" : "even",
		.privilege = way->privilege,
	};
	int error = take_session_event(way, &event);

	if (flow->type == NTRACE_FLOW_BLOCK)
		return error;
	/* The attributes change now: effects from before have the earlier ones. */
	if (way->counts && !error) {
		error = ntrace_flow_flush(way->flow);
		ntrace_flow_separate(way->flow);
	}
	if (flow->type == NTRACE_FLOW_TRAP)
		way->privilege = flow->value & 2 ? NTRACE_PRIV_S : NTRACE_PRIV_U;
	if (flow->type == NTRACE_FLOW_OWNERSHIP || !(++way->turns % 16))
		way->tid = way->tid % 5 + (int32_t)(way->turns & 1);
	return error;
}

/* The blocks of a batch, with the task that executes them. */
static struct ntrace_segment segment_of(const struct way *way)
{
	return (struct ntrace_segment){
		.at.pid = way->tid / 2,
		.at.tid = way->tid,
		.at.comm = way->tid & 1 ? "odd" : "even",
		.at.privilege = way->privilege,
	};
}

static int take_blocks(void *data, const struct ntrace_block_batch *batch)
{
	struct way *way = data;
	struct ntrace_segment segment = segment_of(way);
	int error;

	segment.batch = batch;
	error = ntrace_profile_segment(way->profile, &segment);
	if (!error)
		error = ntrace_stacks_segment(way->stacks, &segment);
	return error || way->counts ? error : ntrace_sampler_segment(way->sampler, &segment);
}

static int take_effect(void *data, const struct ntrace_flow_effect *effect)
{
	struct way *way = data;
	struct ntrace_segment segment = segment_of(way);

	segment.type = NTRACE_SEGMENT_SUM;
	segment.batch = effect->batch;
	segment.lead = effect->lead;
	segment.times = effect->times;
	return ntrace_profile_segment(way->profile, &segment);
}

static int take_run(void *data, const struct ntrace_flow_run *run)
{
	struct way *way = data;
	struct ntrace_segment segment = segment_of(way);
	int error;

	segment.type = NTRACE_SEGMENT_RUN;
	segment.run = run;
	error = ntrace_profile_segment(way->profile, &segment);
	return error ? error : ntrace_stacks_segment(way->stacks, &segment);
}

static int tell_sample(void *data, const struct ntrace_sample *sample)
{
	struct way *way = data;

	fprintf(way->samples, "sample %" PRIx64 " of tid %d, %zu:", sample->address,
		sample->event->tid, sample->count);
	for (size_t i = 0; i < sample->count; i++)
		fprintf(way->samples, " %" PRIx64 ">%" PRIx64, sample->branches[i].from,
			sample->branches[i].to);
	fputc('\n', way->samples);
	return 0;
}

static int tell_change(void *data, const struct ntrace_stack_change *change)
{
	struct way *way = data;

	fprintf(way->told, "change %u %u %s tid %d depth %u at %" PRIu64 " time %" PRIu64 " %u\n",
		change->type, change->called, change->name, change->tid, change->depth,
		change->instructions, change->time, change->time_kind);
	return 0;
}

static int add_executed(void *data, uint64_t address, const uint8_t *bytes,
			const struct ntrace_insn *insn, uint64_t executed)
{
	uint64_t *sum = data;

	(void)address, (void)bytes, (void)insn;
	*sum += executed;
	return 0;
}

/* The executions of all places of an object are its executed instructions: tells where they are not. */
static void tell_places(struct way *way)
{
	const struct ntrace_profile_object *objects;
	struct ntrace_counts *counts;
	size_t count, i;

	objects = ntrace_profile_objects(way->profile, &count);
	for (i = 0; i < count; i++) {
		uint64_t placed = 0;

		if (ntrace_counts_new(&counts, way->profile, objects[i].object))
			continue;
		ntrace_counts_walk_executed(counts, add_executed, &placed);
		ntrace_counts_free(counts);
		if (placed != objects[i].instructions)
			snprintf(way->misplaced, sizeof(way->misplaced),
				 "%s: %" PRIu64 " instructions executed, %" PRIu64
				 " at their places",
				 ntrace_object_name(objects[i].object), objects[i].instructions,
				 placed);
	}
}

static const char *name_of(const struct ntrace_object *object)
{
	return object ? ntrace_object_name(object) : "-";
}

static void tell_profile(struct way *way)
{
	const struct ntrace_profile_totals *totals = ntrace_profile_totals(way->profile);
	const struct ntrace_profile_function *functions;
	const struct ntrace_profile_trace *traces;
	size_t count, i;

	traces = ntrace_profile_traces(way->profile, &count);
	for (i = 0; i < count; i++)
		fprintf(way->profiled,
			"trace %s %" PRIx64 " to %s %" PRIx64 "-%" PRIx64 " x%" PRIu64
			": %u %u %u %u\n",
			name_of(traces[i].from_object), traces[i].from, name_of(traces[i].object),
			traces[i].start, traces[i].end, traces[i].count, traces[i].instructions,
			traces[i].from_class, traces[i].end_class, traces[i].taken);
	functions = ntrace_profile_functions(way->profile, NTRACE_PROFILE_BY_NAME, &count);
	for (i = 0; i < count; i++)
		fprintf(way->profiled,
			"function %s %s %s %" PRIx64 " %u: %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
			name_of(functions[i].object), functions[i].name ? functions[i].name : "-",
			functions[i].comm, functions[i].start, functions[i].privilege,
			functions[i].instructions, functions[i].calls, functions[i].branches);
	fprintf(way->profiled, "totals %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", totals->selected,
		totals->instructions[NTRACE_DOMAIN_USER],
		totals->instructions[NTRACE_DOMAIN_KERNEL]);
}

static void tell_stacks(struct way *way)
{
	const struct ntrace_stack_function *functions;
	const struct ntrace_stack_node *nodes;
	struct ntrace_stacks_stats stats;
	size_t count, i;

	functions = ntrace_stacks_functions(way->stacks, &count);
	nodes = ntrace_stacks_nodes(way->stacks, &count);
	for (i = 0; i < count; i++)
		fprintf(way->told,
			"node %zu below %u: %s %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
			i, nodes[i].parent, functions[nodes[i].function].name, nodes[i].calls,
			nodes[i].instructions, nodes[i].total, nodes[i].ticks);
	ntrace_stacks_get_stats(way->stacks, &stats);
	for (i = 0; i < sizeof(stats) / sizeof(uint64_t); i++)
		fprintf(way->told, "%" PRIu64 " ", ((const uint64_t *)&stats)[i]);
	fputc('\n', way->told);
}

static bool begin(struct way *way, const struct choice *choice)
{
	const struct ntrace_profile_options profile = {
		.size = sizeof(profile),
		.threads = &choice->threads,
		.privileges = choice->privileges,
		.parts = NTRACE_PROFILE_TRACES | NTRACE_PROFILE_FUNCTIONS,
		.by_process = choice->by_process,
	};
	const struct ntrace_stacks_options stacks = {
		.size = sizeof(stacks),
		.threads = &choice->threads,
		.privileges = choice->privileges,
		.merge_threads = !choice->by_process,
		.change = choice->changes ? tell_change : NULL,
		.data = way,
	};
	const struct ntrace_sampler_options sampler = {
		.size = sizeof(sampler),
		.period = 7,
		.depth = 4,
		.threads = &choice->threads,
		.privileges = choice->privileges,
		.sample = tell_sample,
		.data = way,
	};

	way->told = open_memstream(&way->text, &way->size);
	way->samples = open_memstream(&way->sampled, &way->sampled_size);
	way->profiled = open_memstream(&way->sums, &way->sums_size);
	return way->told && way->samples && way->profiled &&
	       !ntrace_profile_new(&way->profile, &profile) &&
	       !ntrace_stacks_new(&way->stacks, &stacks) &&
	       !ntrace_sampler_new(&way->sampler, &sampler);
}

/* Decodes the stream @rounds times, one after the other: then most messages are known. */
static void decode(struct way *way, const struct ntrace_params *params, const uint8_t *stream,
		   size_t size, unsigned int rounds)
{
	struct ntrace_message message;
	struct ntrace_reader reader;
	int event;

	while (rounds--) {
		ntrace_reader_init(&reader, params, true);
		ntrace_reader_feed(&reader, stream, size);
		for (;;) {
			if (way->counts) {
				uint64_t before = reader.offset;

				ntrace_flow_count(way->flow, &reader);
				way->hits += reader.offset - before;
			}
			event = ntrace_reader_next(&reader, &message);
			if (event < 0)
				break;
			if (event == NTRACE_WIRE_ERROR)
				ntrace_flow_wire_error(way->flow, message.offset);
			else
				ntrace_flow_message(way->flow, &message);
		}
		ntrace_flow_end(way->flow, ntrace_reader_pending(&reader));
	}
}

static bool pass(struct way *way, const struct ntrace_flow_config *given,
		 const struct choice *choice, const uint8_t *stream, size_t size)
{
	struct ntrace_flow_config config = *given;
	bool good = begin(way, choice);

	config.event = take_event;
	config.blocks = way->batches ? take_blocks : NULL;
	config.effect = way->counts ? take_effect : NULL;
	config.run = way->counts ? take_run : NULL;
	config.data = way;
	way->privilege = NTRACE_PRIV_U;
	if (good && !ntrace_flow_new(&way->flow, &config)) {
		decode(way, config.params, stream, size, choice->rounds);
		ntrace_flow_free(way->flow);
		good = !ntrace_profile_end(way->profile) && !ntrace_stacks_end(way->stacks);
		tell_profile(way);
		tell_places(way);
		tell_stacks(way);
	}
	if (way->told)
		fclose(way->told);
	if (way->samples)
		fclose(way->samples);
	if (way->profiled)
		fclose(way->profiled);
	ntrace_profile_free(way->profile);
	ntrace_stacks_free(way->stacks);
	ntrace_sampler_free(way->sampler);
	return good;
}

/* The program with a symbol for each function, without which there are no calls. */
static struct ntrace_space *space_with_names(const struct program *program)
{
	struct ntrace_space *space;

	if (ntrace_space_new(&space, "names", NULL))
		return NULL;
	for (unsigned int i = 0; i < REGIONS; i++) {
		const struct region *region = &program->region[i];
		struct ntrace_object *object;
		char name[16];

		if (ntrace_object_from_bytes(&object, i ? "handlers" : "program", region->bytes,
					     region->size, region->address))
			continue;
		for (uint32_t f = 0; f < program->functions; f++) {
			uint64_t first = program->insn[program->function[f].first].address;

			snprintf(name, sizeof(name), "f%u", f);
			if (first - region->address < region->size)
				ntrace_object_add_symbol(object, name, first, 0);
		}
		ntrace_space_map_linked(space, object, 0);
		ntrace_object_put(object);
	}
	return space;
}

/* Return: NULL, or the first lines that differ. */
static const char *compare_texts(const char *one, const char *many, const char *how)
{
	static char text[512];
	size_t at = 0;

	while (one[at] && one[at] == many[at])
		at++;
	if (one[at] == many[at])
		return NULL;
	while (at && one[at - 1] != '\n')
		at--;
	snprintf(text, sizeof(text), "'%.*s', %s '%.*s'", (int)strcspn(one + at, "\n"), one + at,
		 how, (int)strcspn(many + at, "\n"), many + at);
	return text;
}

const char *profiles_mismatch(const struct ntrace_flow_config *given, const struct program *program,
			      struct random *random, const uint8_t *stream, size_t size,
			      uint64_t *counted_again)
{
	const struct choice choice = { { one_in(random, 4) ? 1 : -1, one_in(random, 6) ? 3 : -1,
					 one_in(random, 4) ? "odd" : NULL },
				       random_below(random, 3),
				       one_in(random, 2),
				       one_in(random, 2),
				       one_in(random, 3) ? 4 : 1 };
	struct ntrace_flow_config config = *given;
	struct way one = { .batches = false }, many = { .batches = true };
	struct way counted = { .batches = true, .counts = true };
	static char misplaced[sizeof(one.misplaced)];
	const char *difference = "no memory";

	config.contexts = NULL;
	config.space = space_with_names(program);
	if (config.space && pass(&one, &config, &choice, stream, size) &&
	    pass(&many, &config, &choice, stream, size) &&
	    pass(&counted, &config, &choice, stream, size)) {
		difference = compare_texts(one.text, many.text, "in batches");
		if (!difference)
			difference = compare_texts(one.sums, many.sums, "in batches");
		if (!difference)
			difference = compare_texts(one.sampled, many.sampled, "in batches");
		if (!difference)
			difference = compare_texts(one.sums, counted.sums, "counted");
		if (!difference)
			difference = compare_texts(one.text, counted.text, "counted");
		if (!difference && *one.misplaced)
			difference = strcpy(misplaced, one.misplaced);
	}
	*counted_again += counted.hits;
	ntrace_space_put(config.space);
	free(one.text);
	free(one.sampled);
	free(one.sums);
	free(many.text);
	free(many.sampled);
	free(many.sums);
	free(counted.text);
	free(counted.sampled);
	free(counted.sums);
	return difference;
}
