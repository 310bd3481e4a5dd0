// SPDX-License-Identifier: GPL-2.0-only
/*
 * The traces of a profile, without a stream: sums and order of many traces, what edges and counts make
 * of them, compared with sums over all traces, and traces from branch stacks.
 */
#include <stdlib.h>

#include <ntrace/counts.h>
#include <ntrace/functions.h>
#include <ntrace/perf.h>
#include <ntrace/profile.h>

#include "scratch.h"
#include "tap.h"

#define NOP 0x00000013
#define RET 0x00008067
#define JUMP_BACK 0xff1ff06f	/* jal x0, -16 */
#define BRANCH 0x00000863	/* beq x0, x0, +16 */
#define CODE 0x1000
#define SIZE 0x100
#define OBJECTS 20

static struct ntrace_object *objects[OBJECTS];
static struct ntrace_profile *profile;
static uint64_t state = 1;

static uint64_t draw(uint64_t below)
{
	state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return (state >> 33) % below;
}

static struct ntrace_object *object_of(const char *name)
{
	uint32_t code[SIZE / 4];
	struct ntrace_object *object;

	for (size_t i = 0; i < SIZE / 4; i++)
		code[i] = NOP;
	ntrace_object_from_bytes(&object, name, code, sizeof(code), CODE);
	return object;
}

static void begin(bool by_privilege)
{
	struct ntrace_profile_options options = { .size = sizeof(options),
						  .by_privilege = by_privilege };

	if (ntrace_profile_new(&profile, &options))
		ok(false, "a profile");
}

static void add(struct ntrace_profile_trace trace)
{
	if (ntrace_profile_add_trace(profile, &trace))
		ok(false, "a trace is added");
}

/* ---- sums ---- */

#define MODEL_MAX 6000

static struct ntrace_profile_trace model[MODEL_MAX];
static size_t model_count;

static bool is_same(const struct ntrace_profile_trace *a, const struct ntrace_profile_trace *b)
{
	return a->object == b->object && a->from_object == b->from_object && a->start == b->start &&
	       a->end == b->end && a->from == b->from && a->instructions == b->instructions &&
	       a->taken == b->taken && a->privilege == b->privilege;
}

static void add_to_model(const struct ntrace_profile_trace *trace)
{
	for (size_t i = 0; i < model_count; i++) {
		if (is_same(&model[i], trace)) {
			model[i].count += trace->count;
			return;
		}
	}
	model[model_count++] = *trace;
}

/* A straight run of NOPs with a transfer to its start; one in 16 has no instructions. */
static struct ntrace_profile_trace any_trace(unsigned int places)
{
	struct ntrace_object *from = objects[draw(4)], *object = objects[draw(3)];
	uint64_t start = CODE + 4 * draw(places), instructions = draw(16);
	struct ntrace_profile_trace trace = {
		.from_object = draw(8) ? from : NULL,
		.object = draw(32) ? object : NULL,
		.from = CODE + 4 * draw(places),
		.start = start,
		.end = start + (instructions ? 4 * (instructions - 1) : 0),
		.count = draw(1000) + 1,
		.instructions = (uint32_t)instructions,
		.taken = draw(4),
	};

	if (!trace.from_object)
		trace.from = 0;
	if (!trace.object)
		trace.instructions = 0;
	if (!trace.instructions) {
		trace.taken = false;
		trace.end = trace.start;
	}
	return trace;
}

static void make_model(size_t traces, unsigned int places)
{
	model_count = 0;
	begin(false);
	for (size_t i = 0; i < traces; i++) {
		struct ntrace_profile_trace trace = any_trace(places);

		add_to_model(&trace);
		/* Ignored: the profile does not distinguish privileges. */
		trace.privilege = (uint8_t)draw(4);
		add(trace);
	}
}

static const char *name_of(const struct ntrace_object *object)
{
	return object ? ntrace_object_name(object) : "";
}

static int order_of(const struct ntrace_profile_trace *a, const struct ntrace_profile_trace *b)
{
	int order = strcmp(name_of(a->object), name_of(b->object));

	if (!order)
		order = a->start < b->start ? -1 : a->start > b->start;
	if (!order)
		order = a->end < b->end ? -1 : a->end > b->end;
	if (!order)
		order = strcmp(name_of(a->from_object), name_of(b->from_object));
	if (!order)
		order = a->from < b->from ? -1 : a->from > b->from;
	return order;
}

static void compare_with_model(const char *what)
{
	const struct ntrace_profile_trace *traces;
	size_t count, wrong = 0, unordered = 0;

	ntrace_profile_end(profile);
	is_u64(ntrace_profile_trace_count(profile), model_count, "%s: distinct traces", what);
	traces = ntrace_profile_traces(profile, &count);
	is_u64(count, model_count, "%s: all are in the array", what);
	for (size_t i = 0; i < count; i++) {
		size_t k = 0;

		while (k < model_count && !is_same(&model[k], &traces[i]))
			k++;
		wrong += k == model_count || model[k].count != traces[i].count;
		unordered += i && order_of(&traces[i - 1], &traces[i]) > 0;
	}
	is_u64(wrong, 0, "%s: each with the sum of its counts", what);
	is_u64(unordered, 0, "%s: in order of object, start, end and source", what);
}

static void test_sums(void)
{
	struct ntrace_profile *first, *second;

	make_model(100, 4);
	compare_with_model("a few traces");
	ntrace_profile_free(profile);
	make_model(MODEL_MAX, 48);
	compare_with_model("many traces");
	first = profile;
	begin(false);
	second = profile;
	is_u64(ntrace_profile_merge(second, first), 0, "merged into an empty profile");
	compare_with_model("merged");
	is_u64(ntrace_profile_merge(second, first), 0, "merged a second time");
	for (size_t i = 0; i < model_count; i++)
		model[i].count *= 2;
	compare_with_model("merged twice");
	ntrace_profile_forget_traces(second);
	is_u64(ntrace_profile_trace_count(second), 0, "no traces after they are forgotten");
	is_u64(ntrace_profile_merge(second, first), 0, "merged after that");
	for (size_t i = 0; i < model_count; i++)
		model[i].count /= 2;
	compare_with_model("merged into a profile that forgot its traces");
	ntrace_profile_free(first);
	ntrace_profile_free(second);
}

static void test_limits(void)
{
	struct ntrace_profile_trace trace = { .object = objects[0],
					      .start = CODE,
					      .end = CODE + 4,
					      .count = UINT64_MAX - 1,
					      .instructions = 2 };
	const struct ntrace_profile_trace *traces;
	size_t count;

	begin(true);
	add(trace);
	trace.count = 1;
	add(trace);
	traces = ntrace_profile_traces(profile, &count);
	is_u64(traces[0].count, UINT64_MAX, "the largest count");
	add(trace);
	traces = ntrace_profile_traces(profile, &count);
	is_u64(count * (traces[0].count == UINT64_MAX), 1, "the count does not wrap");
	trace.start = CODE + 4;
	trace.count = 0;
	add(trace);
	trace.count = 5;
	add(trace);
	traces = ntrace_profile_traces(profile, &count);
	is_u64(traces[1].count, 5, "a count of 0 does not either");
	ntrace_profile_forget_traces(profile);
	trace.start = CODE;
	add(trace);
	trace.count = 5;
	trace.privilege = NTRACE_PRIV_S;
	add(trace);
	traces = ntrace_profile_traces(profile, &count);
	is_u64(count, 2, "with by_privilege, privileges are separate");
	ok(traces[0].privilege == 0 && traces[1].privilege == NTRACE_PRIV_S && traces[1].count == 5,
	   "in order of privileges");
	trace.taken = true;
	add(trace);
	trace.instructions = 1;
	add(trace);
	traces = ntrace_profile_traces(profile, &count);
	is_u64(count, 4, "so are runs with another end or number of instructions");
	ok(traces[0].instructions == 1 && !traces[1].taken && !traces[2].taken && traces[3].taken,
	   "in order of both");
	ntrace_profile_free(profile);
}

/* Functions are merged only if both profiles have them. */
static void test_other_parts(void)
{
	const struct ntrace_profile_options both = {
		.size = sizeof(both), .parts = NTRACE_PROFILE_TRACES | NTRACE_PROFILE_FUNCTIONS
	};
	struct ntrace_profile *plain, *full;

	make_model(10, 4);
	plain = profile;
	if (ntrace_profile_new(&full, &both))
		ok(false, "a profile with functions");
	is_u64(ntrace_profile_merge(full, plain), 0, "without functions, into one with them");
	profile = full;
	compare_with_model("traces merged without functions");
	ntrace_profile_forget_traces(plain);
	is_u64(ntrace_profile_merge(plain, full), 0, "with functions, into one without them");
	profile = plain;
	compare_with_model("traces merged from a profile with functions");
	ntrace_profile_free(plain);
	ntrace_profile_free(full);
}

/* ---- objects ---- */

static void test_objects(void)
{
	struct ntrace_profile_trace trace = {
		.count = 2, .start = CODE, .end = CODE + 8, .instructions = 3
	};
	struct ntrace_object *again = object_of("object 3");
	const struct ntrace_profile_object *all;
	size_t count, wrong = 0;

	begin(false);
	for (size_t i = 0; i < OBJECTS; i++) {
		trace.object = objects[i];
		trace.count = 2 + i / 2;
		add(trace);
	}
	trace.object = again;
	trace.count = 100;
	trace.from_object = objects[0];
	add(trace);
	all = ntrace_profile_objects(profile, &count);
	is_u64(count, OBJECTS, "an object with the same name is the same");
	ok(all[0].object == objects[3] && all[0].instructions == 3 * 103,
	   "the one with most instructions is first, with those of both");
	for (size_t i = 2; i < count; i++) {
		wrong += all[i - 1].instructions < all[i].instructions;
		wrong += all[i - 1].instructions == all[i].instructions &&
			 strcmp(name_of(all[i - 1].object), name_of(all[i].object)) >= 0;
	}
	is_u64(wrong, 0, "the others in order of instructions, then of names");
	is_u64(all[count - 1].instructions, 3 * 2, "the last one");
	ntrace_profile_free(profile);
	begin(false);
	trace.object = objects[5];
	add(trace);
	trace.object = NULL;
	trace.instructions = 0;
	add(trace);
	all = ntrace_profile_objects(profile, &count);
	is_u64(count, 1, "a mere source of transfers is not among them, nor unknown code");
	ok(all[0].object == objects[5] && all[0].instructions == 300, "only executed code");
	ntrace_profile_free(profile);
	begin(false);
	ntrace_profile_objects(profile, &count);
	is_u64(count, 0, "an empty profile has none");
	ntrace_profile_free(profile);
	ntrace_object_put(again);
}

/* ---- edges ---- */

/* Executions of the instruction at @address, from all traces. */
static uint64_t executed_at(const struct ntrace_object *object, uint64_t address)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < model_count; i++) {
		if (model[i].object == object && model[i].instructions &&
		    model[i].start <= address && address <= model[i].end)
			sum += model[i].count;
	}
	return sum;
}

static void test_edges(void)
{
	const struct ntrace_profile_edge *edges;
	uint64_t all = 0, taken_of_all = 0;
	size_t count, wrong = 0, unordered = 0;

	make_model(3000, 40);
	is_u64(ntrace_profile_edges(profile, &edges, &count), 0, "edges");
	for (size_t i = 0; i < count; i++) {
		const struct ntrace_profile_edge *edge = &edges[i], *before = edge - 1;
		uint64_t taken = 0, executed = executed_at(edge->from_object, edge->from);

		for (size_t k = 0; k < model_count; k++) {
			if (model[k].from_object == edge->from_object &&
			    model[k].from == edge->from && model[k].object == edge->object &&
			    model[k].start == edge->to)
				taken += model[k].count;
		}
		wrong += edge->taken != taken;
		wrong += edge->executed != (executed > taken ? executed : taken);
		taken_of_all += edge->taken;
		if (!i)
			continue;
		unordered += before->taken < edge->taken;
		unordered += before->taken == edge->taken &&
			     strcmp(name_of(before->from_object), name_of(edge->from_object)) > 0;
	}
	for (size_t i = 0; i < model_count; i++)
		all += model[i].from_object ? model[i].count : 0;
	is_u64(wrong, 0,
	       "each has the transfers from its source to its target, and the "
	       "executions of its source");
	is_u64(taken_of_all, all, "together they are all transfers from known code");
	is_u64(unordered, 0, "the most frequent first");
	ntrace_profile_free(profile);
	begin(false);
	is_u64(ntrace_profile_edges(profile, &edges, &count) + (int)count, 0,
	       "an empty profile has no edges");
	ntrace_profile_free(profile);
}

/* Edges with equal numbers: by source, then by target. */
static void test_equal_edges(void)
{
	static const struct {
		unsigned int from_object;
		unsigned int object;
		uint64_t from;
		uint64_t to;
	} order[] = { { 0, 0, 0x10, 0x20 },
		      { 0, 0, 0x10, 0x24 },
		      { 0, 1, 0x10, 0x20 },
		      { 0, 0, 0x14, 0x20 },
		      { 1, 0, 0x10, 0x20 } };
	const size_t count = sizeof(order) / sizeof(order[0]);
	const struct ntrace_profile_edge *edges;
	size_t made, right = 0;

	begin(false);
	for (size_t i = count; i--;)
		add((struct ntrace_profile_trace){ .from_object = objects[order[i].from_object],
						   .object = objects[order[i].object],
						   .from = CODE + order[i].from,
						   .start = CODE + order[i].to,
						   .end = CODE + order[i].to,
						   .from_class = NTRACE_INSN_CALL,
						   .count = 7 });
	is_u64(ntrace_profile_edges(profile, &edges, &made), 0, "edges with equal numbers");
	for (size_t i = 0; i < made && i < count; i++)
		right += edges[i].from_object == objects[order[i].from_object] &&
			 edges[i].object == objects[order[i].object] &&
			 edges[i].from == CODE + order[i].from &&
			 edges[i].to == CODE + order[i].to &&
			 edges[i].from_class == NTRACE_INSN_CALL && edges[i].executed == 7;
	is_u64(right, count, "are in order of source and target");
	ntrace_profile_free(profile);
}

/* ---- counts ---- */

struct walk {
	struct ntrace_counts *counts;
	uint64_t next;
	unsigned int visits;
	unsigned int wrong;
	unsigned int stop;
};

static int visit(void *data, uint64_t address, const uint8_t *bytes, const struct ntrace_insn *insn,
		 uint64_t executed)
{
	struct walk *walk = data;
	uint32_t code;

	memcpy(&code, bytes, sizeof(code));
	walk->wrong += address != walk->next || code != NOP || insn->size != 4 ||
		       executed != executed_at(objects[0], address);
	walk->next = address + insn->size;
	return ++walk->visits == walk->stop ? 42 : 0;
}

struct executed {
	uint64_t next, executed;
	unsigned int visits, wrong, stop;
};

static int visit_executed(void *data, uint64_t address, const uint8_t *bytes,
			  const struct ntrace_insn *insn, uint64_t executed)
{
	struct executed *sum = data;

	(void)bytes;
	sum->wrong += address < sum->next || executed != executed_at(objects[0], address);
	sum->next = address + insn->size;
	sum->executed += executed;
	return ++sum->visits == sum->stop ? 42 : 0;
}

static void test_counts(void)
{
	struct walk walk = { .next = CODE };
	struct executed sum = { 0 };
	uint64_t executed = 0, places = 0;
	size_t wrong = 0;

	make_model(2000, 40);
	is_u64(ntrace_counts_new(&walk.counts, profile, objects[0]), 0, "counts");
	for (uint64_t at = CODE - 8; at <= CODE + SIZE; at += 4) {
		uint64_t taken = 0;

		for (size_t i = 0; i < model_count; i++) {
			if (model[i].object == objects[0] && model[i].taken && model[i].end == at)
				taken += model[i].count;
		}
		wrong += ntrace_counts_executed(walk.counts, at) != executed_at(objects[0], at);
		wrong += ntrace_counts_taken(walk.counts, at) != taken;
		wrong += ntrace_counts_taken(walk.counts, at + 2) != 0;
	}
	is_u64(wrong, 0, "of each instruction: the runs through it, and those that end in it");
	is_u64(ntrace_counts_walk(walk.counts, CODE, CODE + SIZE, visit, &walk), 0, "all code");
	is_u64(walk.visits, SIZE / 4, "each instruction is visited");
	is_u64(walk.wrong, 0, "in order, with its bytes and executions");
	walk = (struct walk){ .counts = walk.counts, .next = CODE + 8, .stop = 3 };
	is_u64(ntrace_counts_walk(walk.counts, CODE + 8, CODE + SIZE, visit, &walk), 42,
	       "a visitor can stop");
	is_u64(walk.visits, 3, "and is not called again");
	walk = (struct walk){ .counts = walk.counts, .next = CODE + SIZE - 4 };
	is_u64(ntrace_counts_walk(walk.counts, CODE + SIZE - 4, CODE + SIZE + 4, visit, &walk),
	       (uint64_t)NTRACE_ERR_NOMAP, "there is no code after the end");
	is_u64(walk.visits, 1, "up to it there is");
	walk.visits = 0;
	is_u64(ntrace_counts_walk(walk.counts, CODE, CODE, visit, &walk) + (int)walk.visits, 0,
	       "an empty range");
	for (uint64_t at = CODE; at < CODE + SIZE; at += 4) {
		executed += executed_at(objects[0], at);
		places += executed_at(objects[0], at) != 0;
	}
	is_u64(ntrace_counts_walk_executed(walk.counts, visit_executed, &sum) + (int)sum.wrong, 0,
	       "each executed instruction, in order");
	is_u64(sum.visits, places, "is visited once");
	is_u64(sum.executed, executed, "with all its executions");
	sum = (struct executed){ .stop = 2 };
	is_u64(ntrace_counts_walk_executed(walk.counts, visit_executed, &sum), 42,
	       "a visitor can stop");
	ntrace_counts_free(walk.counts);
	ntrace_profile_free(profile);
	ntrace_counts_free(NULL);
}

/* The last bytes of all addresses: none is after them. */
static void test_last_code(void)
{
	const uint32_t code[] = { NOP, NOP };
	struct walk walk = { .next = UINT64_MAX - 7 };
	struct ntrace_object *object;

	model_count = 0;
	ntrace_object_from_bytes(&object, "last code", code, sizeof(code), walk.next);
	begin(false);
	is_u64(ntrace_counts_new(&walk.counts, profile, object), 0, "counts of the last code");
	is_u64(ntrace_counts_walk(walk.counts, walk.next, UINT64_MAX, visit, &walk), 0,
	       "a walk ends with the last address");
	is_u64(walk.visits, 2, "after both instructions");
	is_u64(ntrace_counts_walk(walk.counts, UINT64_MAX - 3, 8, visit, &walk) + (int)walk.visits,
	       2, "a range that ends before it begins");
	ntrace_counts_free(walk.counts);
	ntrace_profile_free(profile);
	ntrace_object_put(object);
}

static void test_no_code(void)
{
	const uint32_t code[] = { NOP, 0, NOP };
	struct walk walk = { .next = CODE };
	struct ntrace_object *object;

	model_count = 0;
	ntrace_object_from_bytes(&object, "partly code", code, sizeof(code), CODE);
	begin(false);
	is_u64(ntrace_counts_new(&walk.counts, profile, object), 0, "counts of unexecuted code");
	is_u64(ntrace_counts_executed(walk.counts, CODE) + ntrace_counts_taken(walk.counts, CODE),
	       0, "all are 0");
	is_u64(ntrace_counts_walk(walk.counts, CODE, CODE + 12, visit, &walk), 0,
	       "bytes that are no instruction end a walk");
	is_u64(walk.visits, 1, "after the instruction before them");
	ntrace_counts_free(walk.counts);
	ntrace_profile_free(profile);
	ntrace_object_put(object);
}

/* ---- branch stacks ---- */

/*
 * The code of objects[0] at 0x20000 and that of a second object at 0x30000:
 * 1000 nop, nop, nop, nop, 1010 branch +16, 1014 nop, 1018 ret, 101c jump back, 1020 nop ...
 */
static struct ntrace_object *sampled;
static struct ntrace_space *space;

#define AT(offset) (UINT64_C(0x20000) + (offset))
#define OTHER(offset) (UINT64_C(0x30000) + (offset))
#define NOWHERE UINT64_C(0x90000)

static struct ntrace_profile_sample_counts sums;

/* Adds a stack of up to 4 entries, newest first, 0 ends it. Return: the traces. */
static const struct ntrace_profile_trace *sample(const uint64_t (*entries)[2], size_t *count)
{
	uint64_t branches[4][3] = { 0 };
	struct ntrace_perf_sample stack = { .pid = 7,
					    .has_branches = true,
					    .branches = (const uint8_t *)branches };
	const struct ntrace_session_sample given = { .sample = &stack,
						     .space = space,
						     .comm = "seven" };

	while (stack.branch_count < 4 && entries[stack.branch_count][0]) {
		branches[stack.branch_count][0] = entries[stack.branch_count][0];
		branches[stack.branch_count][1] = entries[stack.branch_count][1];
		stack.branch_count++;
	}
	if (ntrace_profile_sample(profile, &given, &sums))
		ok(false, "a sample is taken");
	return ntrace_profile_traces(profile, count);
}

static void map_code(void)
{
	uint32_t code[SIZE / 4];

	for (size_t i = 0; i < SIZE / 4; i++)
		code[i] = NOP;
	code[4] = BRANCH;
	code[6] = RET;
	code[7] = JUMP_BACK;
	ntrace_object_from_bytes(&sampled, "sampled", code, sizeof(code), CODE);
	ntrace_space_new(&space, "space", NULL);
	ntrace_space_map_linked(space, sampled, AT(0) - CODE);
	ntrace_space_map_linked(space, objects[1], OTHER(0) - CODE);
}

static void test_stack(void)
{
	const uint64_t entries[4][2] = { { AT(0x18), OTHER(8) }, { AT(0x1c), AT(0xc) } };
	const struct ntrace_profile_trace *traces;
	size_t count;

	begin(false);
	sums = (struct ntrace_profile_sample_counts){ 0 };
	traces = sample(entries, &count);
	is_u64(count, 2, "a trace for each entry of a branch stack");
	ok(traces[0].object == objects[1] && traces[0].from_object == sampled &&
		   traces[0].from == CODE + 0x18 && traces[0].start == CODE + 8 &&
		   traces[0].end == CODE + 8 && !traces[0].instructions && !traces[0].taken &&
		   traces[0].from_class == NTRACE_INSN_RETURN && traces[0].count == 1,
	   "of the newest one only the transfer is known");
	ok(traces[1].object == sampled && traces[1].from == CODE + 0x1c &&
		   traces[1].from_class == NTRACE_INSN_JUMP && traces[1].start == CODE + 0xc &&
		   traces[1].end == CODE + 0x18 && traces[1].instructions == 4 && traces[1].taken &&
		   traces[1].end_class == NTRACE_INSN_RETURN,
	   "the other one is followed by the run to the newer one, past a branch not taken");
	ok(sums.transfers == 2 && !sums.outside && !sums.broken, "two transfers");
	traces = sample(entries, &count);
	ok(count == 2 && traces[0].count == 2 && sums.transfers == 4, "samples add up");
	ntrace_profile_free(profile);
}

/* Between the target of the older entry and the source of the newer one there must be a run. */
static void test_broken_stacks(void)
{
	static const struct {
		const char *what;
		uint64_t entries[4][2];
		unsigned int broken;
		unsigned int outside;
		unsigned int runs;
	} cases[] = {
		{ "a run of one instruction",
		  { { AT(0x18), AT(0) }, { AT(0x1c), AT(0x18) } },
		  0,
		  0,
		  1 },
		{ "a run that ends with an instruction that does not transfer control",
		  { { AT(0x14), AT(0) }, { AT(0x1c), AT(0) } },
		  0,
		  0,
		  1 },
		{ "the source is before the target",
		  { { AT(0x10), AT(0) }, { AT(0x1c), AT(0x14) } },
		  1,
		  0,
		  0 },
		{ "a return is between them",
		  { { AT(0x1c), AT(0) }, { AT(0x10), AT(0x14) } },
		  1,
		  0,
		  0 },
		{ "a jump is between them",
		  { { AT(0x20), AT(0) }, { AT(0x10), AT(0x1c) } },
		  1,
		  0,
		  0 },
		{ "the source is inside an instruction",
		  { { AT(0x12), AT(0) }, { AT(0x1c), AT(8) } },
		  1,
		  0,
		  0 },
		{ "they are in different objects",
		  { { OTHER(8), AT(0) }, { AT(0x1c), AT(0) } },
		  1,
		  0,
		  0 },
		{ "the newer one is in unknown code",
		  { { NOWHERE, AT(0) }, { AT(0x1c), AT(0) } },
		  1,
		  0,
		  0 },
		{ "the older one leads to unknown code",
		  { { AT(0x18), AT(0) }, { AT(0x1c), NOWHERE } },
		  0,
		  0,
		  0 },
		{ "unknown code on both sides",
		  { { NOWHERE, NOWHERE + 4 }, { NOWHERE + 8, NOWHERE } },
		  0,
		  2,
		  0 },
		{ "an unknown source with a known target", { { NOWHERE, AT(0) } }, 0, 0, 0 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct ntrace_profile_trace *traces;
		size_t count, runs = 0;
		uint64_t transfers = 0, entries = 0;

		begin(false);
		sums = (struct ntrace_profile_sample_counts){ 0 };
		traces = sample(cases[i].entries, &count);
		for (size_t k = 0; k < count; k++) {
			runs += traces[k].instructions != 0;
			transfers += traces[k].count;
		}
		while (entries < 4 && cases[i].entries[entries][0])
			entries++;
		ok(sums.transfers == entries && sums.broken == cases[i].broken &&
			   sums.outside == cases[i].outside && runs == cases[i].runs &&
			   transfers == entries - sums.outside,
		   "%s: %zu runs, %" PRIu64 " broken, %" PRIu64 " outside", cases[i].what, runs,
		   sums.broken, sums.outside);
		ntrace_profile_free(profile);
	}
}

/* ---- build-ids ---- */

static struct ntrace_object *program_of(const char *file, const char *id)
{
	struct ntrace_object *object = NULL;
	char bytes[8192];
	size_t size;
	FILE *stream;

	if (run("cd %s && riscv64-linux-gnu-ld --build-id=0x%s -Ttext=0x10000 -e 0 prog.o -o %s",
		directory, id, file))
		return NULL;
	stream = fopen(in(file), "r");
	if (!stream)
		return NULL;
	size = fread(bytes, 1, sizeof(bytes), stream);
	fclose(stream);
	ntrace_object_open_elf_memory(&object, "same name", bytes, size);
	return object;
}

static void test_build_ids(void)
{
	static const char *const ids[] = { "01ff", "020304", "020305", "020304" };
	struct ntrace_profile_trace trace = {
		.start = 0x10000, .end = 0x10000, .instructions = 1, .count = 1
	};
	const struct ntrace_profile_trace *traces;
	struct ntrace_object *programs[5] = { NULL };
	size_t count, i;

	if (run("cd %s && echo nop > prog.s && riscv64-linux-gnu-as prog.s -o prog.o", directory))
		ok(false, "assembles a program");
	for (i = 0; i < 4; i++) {
		programs[i] = program_of(i == 3 ? "again" : ids[i], ids[i]);
		if (!ok(programs[i], "a program with build-id %s", ids[i]))
			return;
	}
	programs[4] = object_of("same name");
	begin(false);
	/* In reverse, so that the order is not that of the calls. */
	for (i = 5; i--;) {
		trace.object = programs[i];
		add(trace);
	}
	traces = ntrace_profile_traces(profile, &count);
	is_u64(count, 4,
	       "objects with the same name and other build-ids are different, those with "
	       "the same one are not");
	ok(traces[0].object == programs[4] && traces[1].object == programs[0] &&
		   traces[2].object == programs[3] && traces[3].object == programs[2],
	   "in order of the lengths of their build-ids, then of the build-ids");
	is_u64(traces[2].count, 2, "equal build-ids add up");
	ntrace_profile_free(profile);
	for (i = 0; i < 5; i++)
		ntrace_object_put(programs[i]);
}

int main(void)
{
	char name[32];

	for (size_t i = 0; i < OBJECTS; i++) {
		snprintf(name, sizeof(name), "object %zu", i);
		objects[i] = object_of(name);
	}
	map_code();
	test_sums();
	test_limits();
	test_other_parts();
	test_objects();
	test_edges();
	test_equal_edges();
	test_counts();
	test_last_code();
	test_no_code();
	test_stack();
	test_broken_stacks();
	if (run("command -v riscv64-linux-gnu-as > /dev/null"))
		skip("build-ids", "riscv64-linux-gnu-as is not installed");
	else if (ok(scratch_make(), "temporary directory"))
		test_build_ids();
	scratch_remove();
	ntrace_space_put(space);
	ntrace_object_put(sampled);
	for (size_t i = 0; i < OBJECTS; i++)
		ntrace_object_put(objects[i]);
	return done_testing();
}
