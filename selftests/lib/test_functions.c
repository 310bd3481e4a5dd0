// SPDX-License-Identifier: GPL-2.0-only
/*
 * Functions, edges, occupancy and coverage of a profile, from hand-made events. selftests/tools and
 * selftests/consumers compare the sums of real recordings with the executed instructions.
 */
#include <stdlib.h>

#include <ntrace/coverage.h>
#include <ntrace/encode.h>
#include <ntrace/functions.h>
#include <ntrace/occupancy.h>
#include <ntrace/stacks.h>
#include <ntrace/transfer.h>

#include "image/object.h"
#include "profile/functions.h"
#include "session/session.h"

#include "tap.h"

#define CODE 0x1000		/* link address of the program */
#define SIZE 0x1000
#define BIAS 0x40000000
#define NOP 0x00000013
/* Functions, as offsets. "alpha" is split: its cold part is last. */
#define ALPHA 0x100
#define BETA 0x200
#define GAMMA 0x300
#define COLD 0x400
#define NAMELESS 0x20		/* no symbol */

static struct ntrace_object *object;
static struct ntrace_space *space;
static const struct ntrace_isa isa = { .xlen = 64, .compressed = true };
static struct ntrace_profile *profile;
static struct ntrace_stacks *stacks;
static int32_t process = 7;
static unsigned int privilege, cpu;
static uint64_t offset, stamp;
static bool stamped;

/* Stream 0 has timestamps, unless a test removes them. */
static struct ntrace_params params = { .size = sizeof(params) };
static struct ntrace_stream streams[2] = { { .params = &params }, { .params = &params } };
static struct ntrace_recording recording = { .streams = streams, .stream_count = 1 };
static struct ntrace_session session = { .recording = &recording, .streams = streams };

static void setup(void)
{
	uint32_t code[SIZE / 4];
	size_t i;

	for (i = 0; i < SIZE / 4; i++)
		code[i] = NOP;
	ntrace_object_from_bytes(&object, "/bin/program", code, sizeof(code), CODE);
	ntrace_object_add_symbol(object, "alpha", CODE + ALPHA, 0x100);
	ntrace_object_add_symbol(object, "_Z4betai", CODE + BETA, 0x100);
	ntrace_object_add_symbol(object, "gamma", CODE + GAMMA, 0x100);
	ntrace_object_add_symbol(object, "alpha.cold", CODE + COLD, 0x100);
	ntrace_space_new(&space, "test", NULL);
	ntrace_space_map_linked(space, object, BIAS);
}

static void tell(struct ntrace_flow_event flow)
{
	struct ntrace_session_event event = { .flow = &flow,
					      .cpu = cpu,
					      .pid = process,
					      .tid = process,
					      .comm = process == 7 ? "seven" : "other",
					      .privilege = privilege,
					      .time = stamp,
					      .time_unit = stamped ? NTRACE_TIME_NANOSECONDS :
								     NTRACE_TIME_NONE };

	flow.space = space;
	flow.isa = &isa;
	flow.offset = offset;
	flow.time = stamp;
	flow.time_known = stamped;
	if (ntrace_profile_event(profile, &event))
		ok(false, "an event is taken");
	if (stacks)
		ntrace_stacks_event(stacks, &event);
}

/* Instructions from offset @start to @last; @to: target of the last one, 0 = straight on. */
static void block_of(unsigned int kind, uint64_t start, uint64_t last, uint64_t to, bool known)
{
	tell((struct ntrace_flow_event){ .type = NTRACE_FLOW_BLOCK,
					 .insn_class = (uint8_t)kind,
					 .taken = to,
					 .last_size = 4,
					 .instructions = (uint32_t)((last - start) / 4 + 1),
					 .address = BIAS + CODE + start,
					 .last = BIAS + CODE + last,
					 .next = to ? BIAS + CODE + to : BIAS + CODE + last + 4,
					 .next_known = known });
}

static void block(unsigned int kind, uint64_t start, uint64_t last, uint64_t to)
{
	block_of(kind, start, last, to, true);
}

static void plain(uint64_t start, uint64_t last)
{
	block(NTRACE_INSN_PLAIN, start, last, 0);
}

static void event_of(enum ntrace_flow_type type, unsigned int code)
{
	tell((struct ntrace_flow_event){
		.type = (uint8_t)type, .code = (uint8_t)code, .address = BIAS + CODE + ALPHA });
}

static const struct ntrace_thread_filter process_8 = { .pid = 8, .tid = -1 };

static void begin(struct ntrace_profile_options options)
{
	options.size = sizeof(options);
	if (!options.parts)
		options.parts = NTRACE_PROFILE_TRACES | NTRACE_PROFILE_FUNCTIONS;
	is_u64(ntrace_profile_new(&profile, &options), 0, "a profile");
}

/* "NAME INSTRUCTIONS/CALLS/BRANCHES ..." */
static const char *text_of(const struct ntrace_profile_function *functions, size_t count)
{
	static char text[1024];
	size_t used = 0, i;

	text[0] = '\0';
	for (i = 0; i < count && used < sizeof(text); i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used,
					 "%s%s%s%s %llu/%llu/%llu", i ? " " : "", functions[i].comm,
					 *functions[i].comm ? ":" : "",
					 functions[i].name ? functions[i].name : "?",
					 (unsigned long long)functions[i].instructions,
					 (unsigned long long)functions[i].calls,
					 (unsigned long long)functions[i].branches);
	return text;
}

static void expect(unsigned int order, const char *want, const char *name)
{
	const struct ntrace_profile_function *functions;
	size_t count;

	ntrace_profile_end(profile);
	functions = ntrace_profile_functions(profile, order, &count);
	is_str(text_of(functions, count), want, name);
}

static void end(void)
{
	ntrace_profile_free(profile);
	profile = NULL;
}

static void test_functions(void)
{
	const struct ntrace_profile_function *functions;
	size_t count, i;

	begin((struct ntrace_profile_options){ 0 });
	plain(ALPHA, ALPHA + 8);
	block(NTRACE_INSN_CALL, ALPHA + 0xc, ALPHA + 0xc, BETA);
	block(NTRACE_INSN_RETURN, BETA, BETA + 4, ALPHA + 0x10);
	block(NTRACE_INSN_BRANCH, ALPHA + 0x10, ALPHA + 0x10, ALPHA);
	block(NTRACE_INSN_JUMP, ALPHA, ALPHA, COLD);
	block(NTRACE_INSN_JUMP, COLD, COLD, BETA);
	plain(BETA, BETA);
	expect(NTRACE_PROFILE_BY_INSTRUCTIONS, "alpha 7/0/4 _Z4betai 3/2/1",
	       "calls and tail calls count, jumps within a function do not");
	functions = ntrace_profile_functions(profile, NTRACE_PROFILE_BY_NAME, &count);
	is_str(text_of(functions, count), "alpha 7/0/4 _Z4betai 3/2/1",
	       "in order of demangled names");
	is_str(functions[1].demangled, "beta(int)", "a name as a programmer wrote it");
	is_u64(functions[1].start, CODE + BETA, "the link address");
	is_u64(functions[1].object == object, 1, "the object");
	for (i = 0; i < NTRACE_PROFILE_ORDERS; i++) {
		ntrace_profile_functions(profile, (unsigned int)i, &count);
		is_u64(count, 2, "order %u has all functions", (unsigned int)i);
	}
	/* This order differs from the order of first execution. */
	ntrace_profile_functions(profile, NTRACE_PROFILE_BY_NAME, &count);
	plain(BETA, BETA);
	expect(NTRACE_PROFILE_BY_CALLS, "_Z4betai 4/2/1 alpha 7/0/4",
	       "counting continues after sorting");
	end();

	begin((struct ntrace_profile_options){ 0 });
	plain(BETA + 0xf0, GAMMA + 4);
	block(NTRACE_INSN_JUMP, NAMELESS, NAMELESS + 4, GAMMA);
	plain(GAMMA, GAMMA);
	expect(NTRACE_PROFILE_BY_INSTRUCTIONS, "_Z4betai 4/0/0 gamma 3/1/0 ? 2/0/1",
	       "a block of two functions is split; code without a symbol");
	end();

	begin((struct ntrace_profile_options){ .parts = NTRACE_PROFILE_FUNCTIONS });
	block_of(NTRACE_INSN_INDIRECT_CALL, ALPHA, ALPHA, BETA, false);
	event_of(NTRACE_FLOW_SYNC, 0);
	plain(GAMMA, GAMMA);
	block_of(NTRACE_INSN_INDIRECT_CALL, ALPHA, ALPHA, BETA, false);
	event_of(NTRACE_FLOW_GAP, 0);
	plain(GAMMA, GAMMA);
	block_of(NTRACE_INSN_INDIRECT_CALL, ALPHA, ALPHA, BETA, false);
	ntrace_profile_end(profile);
	plain(GAMMA, GAMMA);
	expect(NTRACE_PROFILE_BY_NAME, "alpha 3/0/3 gamma 3/1/0",
	       "the next block gives an unknown target, unless a loss or the end is in between");
	end();
}

static void test_selection(void)
{
	const struct ntrace_profile_totals *totals;

	begin((struct ntrace_profile_options){ .privileges = 1u << NTRACE_PRIV_U });
	plain(ALPHA, ALPHA + 4);
	privilege = NTRACE_PRIV_S;
	plain(BETA, BETA + 8);
	privilege = NTRACE_PRIV_M;
	plain(BETA, BETA);
	privilege = NTRACE_PRIV_VU;
	plain(BETA, BETA);
	privilege = NTRACE_PRIV_U;
	tell((struct ntrace_flow_event){ .type = NTRACE_FLOW_TRAP,
					 .code = NTRACE_BTYPE_EXCEPTION });
	tell((struct ntrace_flow_event){ .type = NTRACE_FLOW_TRAP,
					 .code = NTRACE_BTYPE_INTERRUPT });
	tell((struct ntrace_flow_event){ .type = NTRACE_FLOW_TRAP, .code = NTRACE_BTYPE_TRAP });
	event_of(NTRACE_FLOW_TRACE_OFF, NTRACE_EVCODE_LOW_POWER);
	event_of(NTRACE_FLOW_TRACE_OFF, NTRACE_EVCODE_TRACE_DISABLE);
	event_of(NTRACE_FLOW_GAP, 0);
	event_of(NTRACE_FLOW_ERROR, NTRACE_FLOW_ERROR_UNCERTAIN);
	event_of(NTRACE_FLOW_ERROR, NTRACE_FLOW_ERROR_UNCERTAIN);
	event_of(NTRACE_FLOW_WARNING, NTRACE_FLOW_ERROR_UNCERTAIN);
	expect(NTRACE_PROFILE_BY_NAME, "alpha 2/0/0", "functions of selected privileges only");
	totals = ntrace_profile_totals(profile);
	is_u64(totals->selected, 2, "selected instructions");
	is_u64(totals->instructions[NTRACE_DOMAIN_USER], 2, "totals have all: user space");
	is_u64(totals->instructions[NTRACE_DOMAIN_KERNEL], 3, "the kernel");
	is_u64(totals->instructions[NTRACE_DOMAIN_FIRMWARE], 1, "firmware");
	is_u64(totals->instructions[NTRACE_DOMAIN_OTHER], 1, "guests");
	is_u64(totals->traps * 100 + totals->exceptions * 10 + totals->interrupts, 311, "traps");
	is_u64(totals->trace_off * 10 + totals->gaps, 21, "ends of tracing, and losses");
	is_u64(totals->hardware_ends, 1, "the hardware made one of these ends itself");
	is_u64(totals->errors[NTRACE_FLOW_ERROR_UNCERTAIN].count, 2, "errors");
	is_u64(totals->warnings[NTRACE_FLOW_ERROR_UNCERTAIN].count, 1, "warnings");
	is_str(totals->errors[NTRACE_FLOW_ERROR_UNCERTAIN].object, "/bin/program",
	       "and the place of the first one");
	end();

	begin((struct ntrace_profile_options){ .by_process = true });
	plain(ALPHA, ALPHA + 4);
	process = 8;
	plain(ALPHA, ALPHA);
	process = 7;
	expect(NTRACE_PROFILE_BY_INSTRUCTIONS, "seven:alpha 2/0/0 other:alpha 1/0/0",
	       "an entry for each process");
	end();

	begin((struct ntrace_profile_options){ .threads = &process_8 });
	plain(ALPHA, ALPHA + 4);
	process = 8;
	plain(ALPHA, ALPHA);
	process = 7;
	expect(NTRACE_PROFILE_BY_INSTRUCTIONS, "alpha 1/0/0", "one process only");
	end();
}

static void test_pc_samples(void)
{
	const struct ntrace_profile_function *functions;
	struct ntrace_flow_event sample = { .type = NTRACE_FLOW_CIRCUIT,
					    .code = NTRACE_CKSRC_PC_SAMPLE,
					    .address = BIAS + CODE + GAMMA,
					    .next_known = true };
	size_t count;

	begin((struct ntrace_profile_options){ .privileges = 1u << NTRACE_PRIV_U });
	tell(sample);
	tell(sample);
	privilege = NTRACE_PRIV_S;
	tell(sample);
	privilege = NTRACE_PRIV_U;
	sample.next_known = false;
	tell(sample);
	functions = ntrace_profile_pc_samples(profile, NTRACE_PROFILE_BY_INSTRUCTIONS, &count);
	is_str(text_of(functions, count), "gamma 2/0/0", "selected PC samples by function");
	is_u64(ntrace_profile_totals(profile)->samples, 2, "their sum");
	is_u64(ntrace_profile_totals(profile)->unplaced_samples, 1, "samples without an address");
	expect(NTRACE_PROFILE_BY_NAME, "", "are no executed instructions");
	end();
}

static void test_merge(void)
{
	struct ntrace_profile *other;

	begin((struct ntrace_profile_options){ 0 });
	block(NTRACE_INSN_CALL, ALPHA, ALPHA, BETA);
	plain(BETA, BETA);
	event_of(NTRACE_FLOW_ERROR, NTRACE_FLOW_ERROR_UNCERTAIN);
	ntrace_profile_end(profile);
	other = profile;
	begin((struct ntrace_profile_options){ 0 });
	plain(GAMMA, GAMMA);
	plain(ALPHA, ALPHA);
	is_u64(ntrace_profile_merge(profile, other), 0, "profiles add up");
	ntrace_profile_free(other);
	expect(NTRACE_PROFILE_BY_NAME, "alpha 2/0/1 _Z4betai 1/1/0 gamma 1/0/0",
	       "with their functions");
	is_u64(ntrace_profile_totals(profile)->selected, 4, "and totals");
	is_str(ntrace_profile_totals(profile)->errors[NTRACE_FLOW_ERROR_UNCERTAIN].object,
	       "/bin/program", "and problems");
	end();
}

/* Events of each kind, a different number of each. */
static void begin_with_all(void)
{
	static const struct {
		unsigned int type, code;
	} kinds[] = {
		{ NTRACE_FLOW_TRAP, NTRACE_BTYPE_EXCEPTION },
		{ NTRACE_FLOW_TRAP, NTRACE_BTYPE_INTERRUPT },
		{ NTRACE_FLOW_TRAP, NTRACE_BTYPE_TRAP },
		{ NTRACE_FLOW_TRACE_OFF, NTRACE_EVCODE_TRACE_DISABLE },
		{ NTRACE_FLOW_GAP, 0 },
		{ NTRACE_FLOW_ERROR, NTRACE_FLOW_ERROR_CUT },
		{ NTRACE_FLOW_WARNING, NTRACE_FLOW_ERROR_UNKNOWN },
		{ NTRACE_FLOW_CIRCUIT, NTRACE_CKSRC_PC_SAMPLE },
	};

	begin((struct ntrace_profile_options){ .privileges = 1u << NTRACE_PRIV_U });
	for (unsigned int i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		for (unsigned int k = 0; k <= i; k++)
			event_of((enum ntrace_flow_type)kinds[i].type, kinds[i].code);
	plain(GAMMA, GAMMA + 4);
	privilege = NTRACE_PRIV_S;
	plain(GAMMA, GAMMA + 8);
	privilege = NTRACE_PRIV_U;
	ntrace_profile_end(profile);
}

/* The sums of two profiles. */
static void test_sums(void)
{
	const struct ntrace_profile_totals *totals;
	struct ntrace_profile *other;

	begin_with_all();
	other = profile;
	begin_with_all();
	for (unsigned int times = 1; times <= 2; times++) {
		totals = ntrace_profile_totals(profile);
		ok(totals->instructions[NTRACE_DOMAIN_USER] == 2 * times &&
			   totals->instructions[NTRACE_DOMAIN_KERNEL] == 3 * times &&
			   totals->selected == 2 * times,
		   "instructions, %u times", times);
		ok(totals->exceptions == times && totals->interrupts == 2 * times &&
			   totals->traps == 6 * times,
		   "exceptions, interrupts, and all traps");
		ok(totals->trace_off == 4 * times && totals->gaps == 5 * times, "gaps");
		ok(totals->errors[NTRACE_FLOW_ERROR_CUT].count == 6 * times &&
			   totals->warnings[NTRACE_FLOW_ERROR_UNKNOWN].count == 7 * times,
		   "errors and warnings");
		is_u64(totals->unplaced_samples, 8 * times, "samples");
		if (times == 1)
			is_u64(ntrace_profile_merge(profile, other), 0, "all of them add up");
	}
	ntrace_profile_free(other);
	end();
}

static void test_edges(void)
{
	const struct ntrace_profile_edge *edges;
	size_t count;

	begin((struct ntrace_profile_options){ .parts = NTRACE_PROFILE_TRACES });
	block(NTRACE_INSN_JUMP, ALPHA, ALPHA + 8, BETA);
	block(NTRACE_INSN_BRANCH, BETA, BETA + 8, BETA);
	block(NTRACE_INSN_BRANCH, BETA, BETA + 8, BETA);
	plain(BETA, BETA + 0xc);
	ntrace_profile_end(profile);
	is_u64(ntrace_profile_edges(profile, &edges, &count), 0, "edges");
	is_u64(count, 2, "one for each source and target");
	is_u64(edges[0].from, CODE + BETA + 8, "the most frequent one first");
	is_u64(edges[0].to, CODE + BETA, "its target");
	is_u64(edges[0].taken, 2, "transfers");
	is_u64(edges[0].executed, 3, "out of this many executions");
	is_u64(edges[0].from_class, NTRACE_INSN_BRANCH, "of a branch");
	is_u64(edges[1].executed, 1, "the other branch is always taken");
	is_u64(ntrace_profile_totals(profile)->selected, 0,
	       "without functions there are no totals");
	is_u64(ntrace_profile_functions(profile, 0, &count) == NULL && !count, 1,
	       "and no functions");
	is_u64(ntrace_profile_occupancy(profile) == NULL, 1, "and no occupancy");
	end();
}

static void test_totals(void)
{
	const struct ntrace_stacks_options options = { .size = sizeof(options) };
	const struct ntrace_profile_function *functions;
	size_t count;

	ntrace_stacks_new(&stacks, &options);
	begin((struct ntrace_profile_options){ 0 });
	block(NTRACE_INSN_CALL, ALPHA, ALPHA + 4, BETA);
	block(NTRACE_INSN_RETURN, BETA, BETA + 8, ALPHA + 8);
	plain(ALPHA + 8, ALPHA + 8);
	ntrace_profile_end(profile);
	ntrace_stacks_end(stacks);
	is_u64(ntrace_stacks_add_totals(stacks, profile), 0, "call stacks give totals");
	functions = ntrace_profile_functions(profile, NTRACE_PROFILE_BY_TOTAL, &count);
	is_str(text_of(functions, count), "alpha 3/0/1 _Z4betai 3/1/1", "in order of them");
	is_u64(functions[0].total, 6, "with callees");
	is_u64(functions[1].total, 3, "and without stacks");
	ntrace_stacks_free(stacks);
	stacks = NULL;
	end();
}

/* The next message, with a timestamp. */
static void message(uint64_t time)
{
	offset++;
	stamp = time;
	stamped = true;
}

static void test_occupancy(void)
{
	const struct ntrace_profile_options wrong = { .size = sizeof(wrong),
						      .parts = NTRACE_PROFILE_OCCUPANCY };
	const struct ntrace_occupancy *occupancy;

	is_u64((uint64_t)ntrace_profile_new(&profile, &wrong), (uint64_t)NTRACE_ERR_INVALID,
	       "occupancy needs a session");
	begin((struct ntrace_profile_options){ .parts = NTRACE_PROFILE_OCCUPANCY,
					       .session = &session });
	cpu = 3;
	plain(ALPHA, ALPHA + 0x24);
	cpu = 1;
	process = 8;
	plain(ALPHA, ALPHA + 0x10);
	privilege = NTRACE_PRIV_S;
	plain(ALPHA, ALPHA + 4);
	privilege = NTRACE_PRIV_U;
	process = 7;
	cpu = 5;
	plain(ALPHA, ALPHA);
	ntrace_profile_end(profile);
	occupancy = ntrace_profile_occupancy(profile);
	is_u64(occupancy->timed, 0, "without timestamps");
	is_u64(occupancy->cpu_count, 3, "three CPUs");
	is_u64(occupancy->cpus[0]->number * 100 + occupancy->cpus[1]->number * 10 +
		       occupancy->cpus[2]->number,
	       135, "in their order");
	is_u64(occupancy->task_count, 3, "two threads, and the entry for all others");
	is_str(occupancy->tasks[2].comm, "other", "by name");
	is_u64(occupancy->cpus[0]->tasks[2].instructions, 7, "instructions of a thread");
	is_u64(occupancy->cpus[0]->tasks[2].kernel, 2, "of the kernel for it");
	is_u64(occupancy->sum.instructions, 18, "all instructions");
	is_u64(occupancy->cpus[1]->used, 10, "a cell for each instruction");
	end();
	cpu = 0;

	params.timestamp_bits = 40;
	params.timestamp_hz = 1000;
	begin((struct ntrace_profile_options){ .parts = NTRACE_PROFILE_OCCUPANCY,
					       .session = &session });
	message(100);
	plain(ALPHA, ALPHA + 4);
	message(200);
	plain(ALPHA, ALPHA + 8);
	process = 8;
	plain(ALPHA, ALPHA);
	process = 7;
	offset++;
	stamped = false;
	plain(ALPHA, ALPHA);
	ntrace_profile_end(profile);
	occupancy = ntrace_profile_occupancy(profile);
	is_u64(occupancy->timed, 1, "with timestamps");
	is_u64(occupancy->hz, 1000000000, "their unit: nanoseconds");
	is_u64(occupancy->stamps, 2, "their number");
	is_u64(occupancy->sum.ticks, 100, "time between them");
	is_u64(occupancy->cpus[0]->tasks[1].ticks, 75, "passes with instructions");
	is_u64(occupancy->cpus[0]->tasks[2].ticks, 25, "of both threads");
	is_u64(occupancy->untimed, 3,
	       "instructions before the first and after the last timestamp have no time");
	is_u64(occupancy->cpus[0]->begin, 100, "cells begin with the first timestamp");
	end();
}

static void count_without(void *data, const struct ntrace_profile_object *without, int error)
{
	unsigned int *calls = data;

	*calls += 1;
	is_u64(without->object == object, 1, "the object without lines");
	is_u64(without->instructions, 2, "its instructions");
	is_u64((uint64_t)error, (uint64_t)NTRACE_ERR_UNSUPPORTED, "and why");
}

static void test_coverage(void)
{
	unsigned int calls = 0;
	const struct ntrace_coverage_options options = { .size = sizeof(options),
							 .without = count_without,
							 .data = &calls };
	struct ntrace_coverage *coverage;
	size_t count;

	begin((struct ntrace_profile_options){ 0 });
	plain(ALPHA, ALPHA + 4);
	ntrace_profile_end(profile);
	is_u64(ntrace_coverage_make(&coverage, profile, &options), 0, "coverage");
	is_u64(calls, 1, "reports objects without lines");
	ntrace_coverage_lines(coverage, &count);
	is_u64(count, 0, "and is empty then");
	ntrace_coverage_free(coverage);
	end();
}

/* A profile of branch stacks has traces only; its functions are summed up from them. */
static void test_functions_of_traces(void)
{
	struct ntrace_object *library;
	uint32_t code[SIZE / 4];

	for (size_t i = 0; i < SIZE / 4; i++)
		code[i] = NOP;
	ntrace_object_from_bytes(&library, "/lib/other", code, sizeof(code), CODE + SIZE);
	ntrace_object_add_symbol(library, "delta", CODE + SIZE + ALPHA, 0x100);
	ntrace_object_add_symbol(library, "epsilon", CODE + SIZE + BETA, 0x100);
	ntrace_space_map_linked(space, library, BIAS);
	ntrace_object_put(library);
	begin((struct ntrace_profile_options){ 0 });
	block(NTRACE_INSN_CALL, ALPHA, ALPHA + 0xc, BETA);
	block(NTRACE_INSN_RETURN, BETA, BETA + 4, ALPHA + 0x10);
	block(NTRACE_INSN_JUMP, ALPHA + 0x10, ALPHA + 0x10, COLD);
	block(NTRACE_INSN_JUMP, COLD, COLD, BETA);
	block(NTRACE_INSN_RETURN, BETA, BETA, GAMMA);
	block(NTRACE_INSN_JUMP, GAMMA, GAMMA + 8, BETA + 0xf0);
	block(NTRACE_INSN_CALL, BETA + 0xf0, GAMMA + 4, NAMELESS);
	block(NTRACE_INSN_JUMP, NAMELESS, NAMELESS + 4, NAMELESS);
	block(NTRACE_INSN_CALL, NAMELESS, NAMELESS, ALPHA);
	event_of(NTRACE_FLOW_TRAP, NTRACE_BTYPE_EXCEPTION);
	/* To code that is in no object. */
	block(NTRACE_INSN_JUMP, GAMMA, GAMMA, 3 * SIZE);
	plain(3 * SIZE, 3 * SIZE);
	event_of(NTRACE_FLOW_GAP, 0);
	plain(SIZE + ALPHA + 0xf0, SIZE + BETA + 4);
	expect(NTRACE_PROFILE_BY_INSTRUCTIONS,
	       "_Z4betai 7/2/2 alpha 6/1/3 gamma 6/0/3 delta 4/0/0 ? 3/0/2 epsilon 2/0/0 ? 1/0/0",
	       "a run of two functions is split, and tail calls count");
	is_u64(ntrace_profile_totals(profile)->selected, 29, "all instructions");
	ntrace_space_unmap(space, BIAS + CODE + SIZE, SIZE);
	end();
}

/* A run up to the last address does not go on at address 0, where the object has code as well. */
static void test_last_trace(void)
{
	struct ntrace_profile_trace trace = {
		.start = UINT64_MAX - 7, .end = UINT64_MAX - 3, .count = 1, .instructions = 2
	};
	struct ntrace_object *both;
	uint32_t code[4] = { NOP, NOP, NOP, NOP };
	struct segment segments[2] = {
		{ .address = UINT64_MAX - 7, .size = 8, .executable = true },
		{ .address = 0, .offset = 8, .size = 8, .executable = true },
	}, *own;

	ntrace_object_from_bytes(&both, "/lib/both", code, sizeof(code), 0);
	own = both->segments;
	both->segments = segments;
	both->segment_count = 2;
	ntrace_object_add_symbol(both, "first", 0, 8);
	ntrace_object_add_symbol(both, "before", UINT64_MAX - 7, 4);
	ntrace_object_add_symbol(both, "last", UINT64_MAX - 3, 4);
	begin((struct ntrace_profile_options){ 0 });
	trace.object = both;
	is_u64(ntrace_profile_add_trace(profile, &trace), 0, "a run up to the last address");
	expect(NTRACE_PROFILE_BY_NAME, "before 1/0/0 last 1/0/0", "its functions");
	end();
	both->segments = own;
	ntrace_object_put(both);
}

static void test_names(void)
{
	struct ntrace_location a, b;

	is_u64((uint64_t)ntrace_object_locate(object, CODE + ALPHA + 4, &a), 0, "a link address");
	is_str(a.symbol, "alpha", "is in a function");
	is_u64((uint64_t)ntrace_object_locate(object, CODE + COLD, &b), 0, "another one");
	is_u64(ntrace_location_same_function(&a, &b), 1,
	       "is in the cold part of the same function");
	ntrace_object_locate(object, CODE + BETA, &b);
	is_u64(ntrace_location_same_function(&a, &b), 0, "that of another function is not");
	is_u64((uint64_t)ntrace_object_locate(object, CODE - 4, &b), (uint64_t)NTRACE_ERR_NOMAP,
	       "an address that is not in the object");
	is_u64(b.object == object && !b.symbol, 1, "has no symbol");
	is_u64(ntrace_symbol_matches("_Z4betai", "beta"), 1, "a name without parameters");
	is_u64(ntrace_symbol_matches("_Z4betai", "beta(int)"), 1, "with parameters");
	is_u64(ntrace_symbol_matches("_Z4betai", "bet"), 0, "a part of a name");
	is_u64(ntrace_symbol_matches("f [module]", "f"), 1, "without the kernel module");
	is_u64(ntrace_symbol_matches("f@@V2", "f"), 1, "without the version");
	is_u64(ntrace_symbol_matches("_Z4betai@@V2", "beta(int)"), 1, "of C++, too");
	is_u64(ntrace_symbol_matches("f@plt", "f"), 0, "what calls the function is not it");
	is_u64(ntrace_symbol_matches("_Z4betai@plt", "beta"), 0, "nor in C++");
	is_u64(ntrace_symbol_matches("_Z4betai [resolver]", "beta"), 0, "nor what chooses it");
	is_u64(ntrace_symbol_matches("f [resolver]", "f"), 0, "nor in C");
	is_u64(ntrace_symbol_matches("_Z4betai@plt", "beta(int)@plt"), 1, "unless it is meant");
	is_str(ntrace_domain_name(NTRACE_DOMAIN_FIRMWARE), "firmware", "domains have names");
	is_u64(ntrace_domain_name(NTRACE_DOMAINS) == NULL, 1, "other values have no name");
}

/* The function of each symbol: parts belong to the function with the longest name that there is. */
static void test_parts(void)
{
	static const struct {
		const char *symbol;
		const char *function;
		bool entry;
	} parts[] = {
		{ "f", "f", true },
		{ "f.cold", "f", false },
		{ "f.cold.0", "f", false },
		{ "f.warm", "f", false },
		{ "f.__part.12", "f", false },
		{ "f.part.0", "f", true },
		{ "f.part.0.cold", "f", false },
		{ "f.part.1.constprop.0", "f", true },
		/* Clones are functions of their own, and have parts. */
		{ "f.constprop.0", "f.constprop.0", true },
		{ "f.constprop.0.cold", "f.constprop.0", false },
		{ "f.isra.0.part.0", "f.isra.0.part.0", true },
		/* Without the whole function. */
		{ "gone.part.0", "gone.part.0", true },
		{ "gone.part.0.cold", "gone.part.0", false },
		{ "lost.cold", "lost.cold", false },
		/* Other names that look similar. */
		{ "f.colder", "f.colder", true },
		{ "f.part", "f.part", true },
		{ ".cold", ".cold", true },
		/* In kernel modules. */
		{ "f [m]", "f [m]", true },
		{ "f.cold [m]", "f [m]", false },
		{ "f.part.0.cold [m]", "f [m]", false },
		{ "f.cold [n]", "f.cold [n]", false },
		/* Two functions of one name. */
		{ "two", "two", true },
		{ "two", "two", true },
		{ "two.cold", "two.cold", false },
		/* The function has another, better name at the same address. */
		{ "_alias", "longer_alias", true },
		{ "_alias.cold", "longer_alias", false },
	};
	uint32_t code[256] = { 0 };
	struct ntrace_object *made;
	struct ntrace_location at;

	ntrace_object_from_bytes(&made, "/lib/parts", code, sizeof(code), CODE);
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		ntrace_object_add_symbol(made, parts[i].symbol, CODE + 8 * i, 8);
	ntrace_object_add_symbol(made, "longer_alias",
				 CODE + 8 * (sizeof(parts) / sizeof(parts[0]) - 2), 8);
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		ntrace_object_locate(made, CODE + 8 * i, &at);
		is_str(at.function, parts[i].function, "the function of %s", parts[i].symbol);
		is_u64(ntrace_location_is_entry(&at), parts[i].entry, "an entry: %s",
		       parts[i].symbol);
		ntrace_object_locate(made, CODE + 8 * i + 4, &at);
		is_u64(ntrace_location_is_entry(&at), false, "after its start");
	}
	ntrace_object_put(made);
	/* A linker has folded f with the cold part of g, and g with that of f. */
	ntrace_object_from_bytes(&made, "/lib/folded", code, sizeof(code), CODE);
	ntrace_object_add_symbol(made, "f", CODE, 8);
	ntrace_object_add_symbol(made, "g.cold", CODE, 8);
	ntrace_object_add_symbol(made, "g", CODE + 8, 8);
	ntrace_object_add_symbol(made, "f.cold", CODE + 8, 8);
	ntrace_object_locate(made, CODE, &at);
	is_str(at.function, "g.cold", "parts of each other");
	ntrace_object_put(made);
}

int main(void)
{
	test_parts();
	privilege = NTRACE_PRIV_U;
	setup();
	test_functions();
	test_selection();
	test_pc_samples();
	test_merge();
	test_sums();
	test_edges();
	test_totals();
	test_occupancy();
	test_coverage();
	test_functions_of_traces();
	test_last_trace();
	test_names();
	ntrace_space_put(space);
	ntrace_object_put(object);
	return done_testing();
}
