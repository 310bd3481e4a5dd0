// SPDX-License-Identifier: GPL-2.0-only
/*
 * Samples with their transfers, and transfers with their targets, from events made by hand: where a
 * period ends, and what a transfer leads to after traps, losses and code that is not selected.
 */
#include <ntrace/functions.h>
#include <ntrace/profile.h>
#include <ntrace/sample.h>
#include <ntrace/transfer.h>

#include "tap.h"

#define CODE 0x1000
#define SIZE 0x400
#define KERNEL 0x8000
#define NOP 0x00000013
#define ECALL 0x00000073
#define ECALL_AT 0x80	/* offset of a system call */

static struct ntrace_object *object;
static struct ntrace_space *space;
static const struct ntrace_isa isa = { .xlen = 64, .compressed = true };
static struct ntrace_sampler *sampler;
static struct ntrace_profile *profile;	/* gets the same events; may be NULL */
static int32_t process, thread;
static unsigned int privilege;
static char seen[1024];
static int stop_with;

static void log_text(const char *format, uint64_t a, uint64_t b)
{
	size_t at = strlen(seen);

	snprintf(seen + at, sizeof(seen) - at, format, a, b);
}

static uint64_t offset_of(uint64_t address)
{
	return address >= CODE ? address - CODE : address;
}

static void log_transfer(const struct ntrace_sample_branch *branch)
{
	log_text("%" PRIx64 ">%" PRIx64, offset_of(branch->from), offset_of(branch->to));
	if (branch->insn_class == NTRACE_INSN_TRAP)
		log_text(branch->exception ? "!" : "*", 0, 0);
}

/* "S20(8>20 4>0) ": a sample at 20 with two transfers. */
static int take_sample(void *data, const struct ntrace_sample *sample)
{
	log_text("S%" PRIx64 "(", offset_of(sample->address), 0);
	for (size_t i = 0; i < sample->count; i++) {
		log_text(i ? " " : "", 0, 0);
		log_transfer(&sample->branches[i]);
	}
	log_text(") ", 0, 0);
	if (data != seen || sample->address < sample->event->flow->address ||
	    sample->address > sample->event->flow->last)
		log_text("wrong ", 0, 0);
	return stop_with;
}

/* "8>20@0 ": a transfer, and the block that tells its target: the one it ends, or the next one. */
static int take_branch(void *data, const struct ntrace_sample_branch *branch,
		       const struct ntrace_session_event *event)
{
	if (data != seen)
		log_text("wrong ", 0, 0);
	log_transfer(branch);
	log_text(event->flow->type == NTRACE_FLOW_BLOCK ? "@%" PRIx64 " " : "@trap ",
		 offset_of(event->flow->address), 0);
	return stop_with;
}

static int result;

static void tell(struct ntrace_flow_event flow)
{
	const struct ntrace_session_event event = { .flow = &flow,
						    .pid = process,
						    .tid = thread,
						    .comm = "program",
						    .privilege = privilege };

	flow.space = space;
	flow.isa = &isa;
	result |= ntrace_sampler_event(sampler, &event);
	if (profile)
		result |= ntrace_profile_event(profile, &event);
}

/* Instructions from @start to @last; @to: target of the last one, 0 = straight on. */
static struct ntrace_flow_event block_at(uint64_t start, uint64_t last, uint64_t to)
{
	return (struct ntrace_flow_event){
		.type = NTRACE_FLOW_BLOCK,
		.insn_class = to ? NTRACE_INSN_JUMP : NTRACE_INSN_PLAIN,
		.taken = to,
		.interrupted = !to,
		.last_size = 4,
		.instructions = (uint32_t)((last - start) / 4 + 1),
		.address = CODE + start,
		.last = CODE + last,
		.next = CODE + (to ? to : last + 4),
		.next_known = true,
	};
}

static void block(uint64_t start, uint64_t last, uint64_t to)
{
	tell(block_at(start, last, to));
}

/* A block whose target the trace does not report. */
static void block_to_unknown(uint64_t start, uint64_t last)
{
	struct ntrace_flow_event event = block_at(start, last, 4);

	event.next = 0;
	event.next_known = false;
	tell(event);
}

/* The event has the privilege of the handler. */
static void trap(uint64_t next, unsigned int code)
{
	unsigned int before = privilege;

	privilege = NTRACE_PRIV_S;
	tell((struct ntrace_flow_event){ .type = NTRACE_FLOW_TRAP,
					 .code = (uint8_t)code,
					 .address = KERNEL,
					 .value = next ? CODE + next : 0,
					 .next_known = next });
	privilege = before;
}

/* A handler of the kernel, which returns to @to. */
static void handler(uint64_t to)
{
	privilege = NTRACE_PRIV_S;
	tell((struct ntrace_flow_event){ .type = NTRACE_FLOW_BLOCK,
					 .insn_class = NTRACE_INSN_TRAP_RETURN,
					 .taken = true,
					 .last_size = 4,
					 .instructions = 2,
					 .address = KERNEL,
					 .last = KERNEL + 4,
					 .next = CODE + to,
					 .next_known = true });
	privilege = NTRACE_PRIV_U;
}

static void event_of(unsigned int type)
{
	tell((struct ntrace_flow_event){ .type = (uint8_t)type });
}

static const struct ntrace_thread_filter process_8 = { .pid = 8, .tid = -1 };

static void begin(struct ntrace_sampler_options options)
{
	options.size = sizeof(options);
	options.data = seen;
	process = thread = 7;
	privilege = NTRACE_PRIV_U;
	stop_with = result = 0;
	seen[0] = '\0';
	if (ntrace_sampler_new(&sampler, &options))
		ok(false, "a sampler");
}

static void expect(const char *want, const char *what)
{
	is_str(seen, want, "%s", what);
	ntrace_sampler_free(sampler);
}

/* ---- periods ---- */

static void begin_periods(uint64_t period, uint32_t depth)
{
	begin((struct ntrace_sampler_options){
		.period = period, .depth = depth, .sample = take_sample });
}

static void test_periods(void)
{
	begin_periods(1, 0);
	block(0, 8, 0);
	expect("S0() S4() S8() ", "a period of 1 samples each instruction");
	begin_periods(3, 0);
	block(0, 4, 0);
	block(8, 8, 0);
	block(0xc, 0x20, 0);
	expect("S8() S14() S20() ", "periods go on in the next block, and end at its last "
				    "instruction");
	begin_periods(4, 0);
	block(0, 8, 0);
	block(0xc, 0x10, 0);
	block(0x14, 0x14, 0);
	expect("Sc() ", "and at its first one");
	begin_periods(3, 0);
	privilege = NTRACE_PRIV_S;
	block(0, 4, 0);
	privilege = NTRACE_PRIV_U;
	block(8, 8, 0);
	expect("S8() ", "without a selection all privileges count");
	begin((struct ntrace_sampler_options){
		.period = 2, .sample = take_sample, .privileges = 1u << NTRACE_PRIV_U });
	block(0, 0, 0);
	privilege = NTRACE_PRIV_S;
	block(4, 0x20, 0);
	privilege = NTRACE_PRIV_U;
	block(0x24, 0x28, 0);
	expect("S24() ", "only selected privileges count");
	begin((struct ntrace_sampler_options){
		.period = 2, .sample = take_sample, .threads = &process_8 });
	block(0, 0x10, 0);
	process = 8;
	block(0x20, 0x24, 0);
	expect("S24() ", "only the selected process counts");
}

static void test_depth(void)
{
	begin_periods(8, 3);
	block(0, 0, 0x10);
	block(0x10, 0x10, 0x20);
	block(0x20, 0x20, 0x30);
	block(0x30, 0x30, 0x40);
	block(0x40, 0x4c, 0);
	expect("S4c(30>40 20>30 10>20) ", "a sample has the last transfers, newest first");
	begin_periods(2, 3);
	block(0, 0, 0x10);
	block(0x10, 0x10, 0x20);
	block(0x20, 0x20, 0x30);
	block(0x30, 0x30, 0x40);
	block(0x40, 0x40, 0x50);
	block(0x50, 0x50, 0);
	expect("S10(0>10) S30(20>30 10>20 0>10) S50(40>50 30>40 20>30) ",
	       "there are as many as there were, up to the depth");
	begin_periods(2, 0);
	block(0, 0, 0x10);
	block(0x10, 0x10, 0);
	expect("S10() ", "a depth of 0");
}

static void test_results(void)
{
	begin((struct ntrace_sampler_options){
		.period = 1, .depth = 2, .sample = take_sample, .branch = take_branch });
	stop_with = 9;
	block(0, 8, 0x10);
	is_u64(result, 9, "the result of the callback for samples");
	is_str(seen, "S0() ", "no other sample is taken of the block");
	stop_with = 5;
	result = 0;
	seen[0] = '\0';
	block_to_unknown(0x10, 0x14);
	block(0x20, 0x24, 0);
	is_u64(result, 5, "the result of the callback for transfers");
	expect("14>20@20 ", "no sample is taken after it");
}

static void test_options(void)
{
	struct ntrace_sampler_options options = { .size = sizeof(options),
						  .period = 1,
						  .depth = NTRACE_SAMPLE_DEPTH_MAX,
						  .sample = take_sample };

	is_u64(ntrace_sampler_new(&sampler, &options), 0, "the largest depth");
	ntrace_sampler_free(sampler);
	options.depth++;
	is_u64(ntrace_sampler_new(&sampler, &options), (uint64_t)NTRACE_ERR_INVALID,
	       "more than that");
	options.depth = 1;
	options.sample = NULL;
	options.branch = take_branch;
	is_u64(ntrace_sampler_new(&sampler, &options), (uint64_t)NTRACE_ERR_INVALID,
	       "a period without a callback for samples");
	options.period = 0;
	is_u64(ntrace_sampler_new(&sampler, &options), 0, "transfers without samples");
	ntrace_sampler_free(sampler);
	options.branch = NULL;
	is_u64(ntrace_sampler_new(&sampler, &options), (uint64_t)NTRACE_ERR_INVALID,
	       "neither transfers nor samples");
	ntrace_sampler_free(NULL);
}

/* ---- transfers ---- */

static void begin_transfers(uint32_t privileges)
{
	begin((struct ntrace_sampler_options){ .branch = take_branch, .privileges = privileges });
}

#define USER (1u << NTRACE_PRIV_U)

static void test_transfers(void)
{
	begin_transfers(0);
	block(0, 8, 0x20);
	block(0x20, 0x24, 0);
	block(0x28, 0x28, 0x40);
	block_to_unknown(0x40, 0x44);
	block(0x60, 0x60, 0);
	expect("8>20@0 28>40@28 44>60@60 ",
	       "a transfer has a known target, or the address of the next block");
	begin_transfers(0);
	block_to_unknown(0, 8);
	event_of(NTRACE_FLOW_GAP);
	block_to_unknown(0x20, 0x24);
	ntrace_sampler_end(sampler, 0);
	block(0x40, 0x40, 0);
	expect("",
	       "a loss and the end of a stream drop a transfer before them to an unknown place");
	begin_transfers(0);
	block_to_unknown(0, 8);
	event_of(NTRACE_FLOW_SYNC);
	event_of(NTRACE_FLOW_OWNERSHIP);
	block(0x20, 0x24, 0);
	expect("8>20@20 ", "other events do not");
	begin_transfers(0);
	process = thread = 0;
	block_to_unknown(0, 8);
	block(0x20, 0x24, 0);
	expect("8>20@20 ", "the idle thread has transfers");
	begin_transfers(0);
	block_to_unknown(0, 8);
	thread = 8;
	block_to_unknown(0x20, 0x24);
	process = 8;
	block_to_unknown(0x40, 0x44);
	thread = process = -1;
	block_to_unknown(0x60, 0x64);
	block(0x80, 0x84, 0);
	expect("",
	       "no transfer leads to another thread, another process, or from code of no thread");
}

/* A gap in the straight run forgets the earlier transfers. */
static void test_straight(void)
{
	begin_periods(5, 4);
	block(0, 0, 0x10);
	block(0x10, 0x14, 0);
	block(0x18, 0x1c, 0);
	expect("S1c(0>10) ", "a straight run keeps its transfers");
	begin_periods(5, 4);
	block(0, 0, 0x10);
	block(0x10, 0x14, 0);
	block(0x1c, 0x20, 0);
	expect("S20() ", "a block elsewhere does not");
	begin_periods(5, 4);
	block(0, 0, ECALL_AT - 4);
	block(ECALL_AT - 4, ECALL_AT - 4, 0);
	block(ECALL_AT + 4, ECALL_AT + 0xc, 0);
	expect("S8c(0>7c) ", "a system call comes back after its instruction");
	begin_periods(5, 4);
	block(0, 0, ECALL_AT - 4);
	block(ECALL_AT - 4, ECALL_AT - 4, 0);
	block(ECALL_AT, ECALL_AT + 8, 0);
	expect("S88(0>7c) ", "or to it");
	begin_periods(5, 4);
	block(0, 0, ECALL_AT - 4);
	block(ECALL_AT - 4, ECALL_AT - 4, 0);
	block(ECALL_AT + 8, ECALL_AT + 0x10, 0);
	expect("S90() ", "but not further on");
}

static void test_traps(void)
{
	begin_transfers(0);
	block(0, 8, 0);
	trap(0xc, NTRACE_BTYPE_EXCEPTION);
	handler(0xc);
	block(0xc, 0x10, 0);
	trap(0x14, NTRACE_BTYPE_INTERRUPT);
	handler(0x14);
	block(0x14, 0x14, 0);
	expect("c>7000!@7000 7004>c@c 14>7000*@7000 7004>14@14 ",
	       "a trap is a transfer from the instruction that did not retire, and the way back");
	begin_transfers(0);
	block(0, 8, 0x20);
	trap(0x20, NTRACE_BTYPE_EXCEPTION);
	handler(0x20);
	expect("8>20@0 20>7000!@7000 ", "a trap at the target of a jump: both");
	begin_transfers(0);
	block_to_unknown(0, 8);
	trap(0, NTRACE_BTYPE_EXCEPTION);
	handler(0x20);
	block(0x20, 0x20, 0);
	expect("7004>20@20 ", "a trap at an unknown place drops the transfers before it");
	begin_transfers(0);
	trap(0x20, NTRACE_BTYPE_EXCEPTION);
	handler(0x20);
	expect("", "a trap before any block comes from nowhere");
}

/* Only user code is selected: the kernel is outside. */
static void test_selected_traps(void)
{
	begin_transfers(USER);
	block(0, 8, 0x20);
	trap(0x20, NTRACE_BTYPE_EXCEPTION);
	handler(0x20);
	block(0x20, 0x24, 0x40);
	block(0x40, 0x40, 0);
	expect("8>20@0 24>40@20 ", "a trap at the target of a jump does not hide the jump");
	begin_transfers(USER);
	block(0, 8, 0x20);
	trap(0x20, NTRACE_BTYPE_EXCEPTION);
	handler(0x60);
	block(0x60, 0x64, 0x80);
	block(0x80, 0x80, 0);
	expect("8>20@0 64>80@60 ", "nor if the kernel comes back elsewhere");
	begin((struct ntrace_sampler_options){
		.period = 4, .depth = 2, .sample = take_sample, .privileges = USER });
	block(0, 0, 0x10);
	block(0x10, 0x10, 0x20);
	trap(0x20, NTRACE_BTYPE_EXCEPTION);
	handler(0x60);
	block(0x60, 0x64, 0);
	expect("S64() ", "which ends the transfers of a sample");
	begin((struct ntrace_sampler_options){
		.period = 4, .depth = 2, .sample = take_sample, .privileges = USER });
	block(0, 0, ECALL_AT);
	trap(ECALL_AT, NTRACE_BTYPE_EXCEPTION);
	handler(ECALL_AT + 4);
	block(ECALL_AT + 4, ECALL_AT + 0xc, 0);
	expect("S8c(0>80) ", "a system call at the target of a jump does not");
	begin_transfers(USER);
	block_to_unknown(0, 8);
	trap(0x20, NTRACE_BTYPE_EXCEPTION);
	handler(0x20);
	block(0x20, 0x20, 0);
	expect("8>20@trap ", "the trap tells the target of a jump that is not reported");
	begin_transfers(USER);
	block_to_unknown(0, 8);
	event_of(NTRACE_FLOW_TRACE_OFF);
	block(0x20, 0x24, 0);
	expect("", "a trace that is switched off does not");
	begin_transfers(USER);
	block_to_unknown(0, 8);
	trap(0x20, NTRACE_BTYPE_EXCEPTION);
	trap(KERNEL - CODE, NTRACE_BTYPE_EXCEPTION);
	handler(0x20);
	block(0x20, 0x20, 0);
	expect("8>20@trap ", "a trap inside the kernel does not change the target");
	begin_transfers(USER);
	block_to_unknown(0, 8);
	handler(0x40);
	block(0x40, 0x40, 0);
	expect("", "without the trap, code that is not selected hides the target as well");
	begin_transfers(USER);
	block_to_unknown(0, 8);
	trap(0, NTRACE_BTYPE_EXCEPTION);
	block(0x40, 0x40, 0);
	expect("", "so does a trap at an unknown place");
	begin_transfers(USER);
	block(0, 8, 0x20);
	trap(0x20, NTRACE_BTYPE_EXCEPTION);
	handler(0x20);
	block_to_unknown(0x20, 0x24);
	block(0x40, 0x40, 0);
	expect("8>20@0 24>40@40 ", "after the return, the next block is the target again");
	begin_transfers(USER | 1u << NTRACE_PRIV_S);
	privilege = NTRACE_PRIV_M;
	block(0, 0, 0x10);
	privilege = NTRACE_PRIV_S;
	trap(0x10, NTRACE_BTYPE_EXCEPTION);
	handler(0x10);
	expect("", "a trap from code that is not selected comes from nowhere");
}

/* ---- the same transfers as a profile ---- */

#define THREADS 3
#define STEPS 20000
#define PLACES (SIZE / 4)

/*
 * Threads of user code, of which each goes on where it was interrupted. Counts of transfers by source and target:
 * executed by construction, sampled, and of a profile.
 */
static struct {
	uint64_t at[THREADS];
	uint32_t executed[PLACES][PLACES];
	uint32_t sampled[PLACES][PLACES];
	uint32_t profiled[PLACES][PLACES];
} run;

static uint32_t draw(uint32_t below)
{
	static uint32_t state = 1;

	state = state * 1664525 + 1013904223;
	return (state >> 8) % below;
}

static int count_sampled(void *data, const struct ntrace_sample_branch *branch,
			 const struct ntrace_session_event *event)
{
	if (data != seen || event->privilege != NTRACE_PRIV_U || event->tid != thread)
		return 1;
	run.sampled[offset_of(branch->from) / 4][offset_of(branch->to) / 4]++;
	return 0;
}

static void interrupt(uint64_t at, bool filtered)
{
	if (filtered)
		tell((struct ntrace_flow_event){
			.type = NTRACE_FLOW_TRACE_OFF, .address = CODE + at, .next_known = true });
	else
		trap(at, NTRACE_BTYPE_INTERRUPT);
}

/* One thread runs for some blocks until an interrupt, which may come directly after a transfer. */
static void run_thread(unsigned int number, bool filtered)
{
	uint64_t *at = &run.at[number];

	process = 7;
	thread = 7 + (int32_t)number;
	for (unsigned int blocks = draw(4); blocks; blocks--) {
		uint64_t last = *at + 4 * draw(3), to = 4 * (1 + draw(PLACES - 8));
		bool taken = draw(4);

		if (taken) {
			run.executed[last / 4][to / 4]++;
			if (draw(2))
				block(*at, last, to);
			else
				block_to_unknown(*at, last);
		} else {
			block(*at, last, 0);
			if (last / 4 < PLACES - 4)
				to = last + 4;
			else
				event_of(NTRACE_FLOW_GAP);
		}
		*at = to;
	}
	interrupt(*at, filtered);
	if (!filtered)
		handler(*at);
}

static void test_same_as_profile(void)
{
	const struct ntrace_profile_options options = { .size = sizeof(options),
							.privileges = USER };
	const struct ntrace_profile_edge *edges;
	size_t count;

	begin((struct ntrace_sampler_options){ .branch = count_sampled, .privileges = USER });
	if (ntrace_profile_new(&profile, &options))
		ok(false, "a profile");
	for (unsigned int step = 0; step < STEPS; step++)
		run_thread(draw(THREADS), step >= STEPS / 2);
	is_u64((uint64_t)result, 0, "each transfer comes with its own thread and privilege");
	ntrace_profile_end(profile);
	ntrace_profile_edges(profile, &edges, &count);
	for (size_t i = 0; i < count; i++)
		run.profiled[offset_of(edges[i].from) / 4][offset_of(edges[i].to) / 4] =
			(uint32_t)edges[i].taken;
	ok(!memcmp(run.executed, run.sampled, sizeof(run.executed)),
	   "all transfers are sampled, although other threads come after interrupts");
	ok(!memcmp(run.executed, run.profiled, sizeof(run.executed)), "as a profile counts them");
	ntrace_profile_free(profile);
	profile = NULL;
	ntrace_sampler_free(sampler);
}

/* ---- batches ---- */

static void test_batches(void)
{
	const struct ntrace_block blocks[] = {
		{ CODE, CODE + 0x20, 3, 12, 1, NTRACE_INSN_JUMP, 4,
		  NTRACE_BLOCK_TAKEN | NTRACE_BLOCK_NEXT_KNOWN, 0 },
		{ CODE + 0x20, CODE + 0x40, 2, 8, 2, NTRACE_INSN_JUMP, 4,
		  NTRACE_BLOCK_TAKEN | NTRACE_BLOCK_NEXT_KNOWN, 0 },
		{ CODE + 0x40, CODE + 0x44, 1, 4, 3, NTRACE_INSN_PLAIN, 4, NTRACE_BLOCK_NEXT_KNOWN,
		  0 },
	};
	const struct ntrace_block_batch batch = {
		.blocks = blocks, .count = 3, .space = space, .isa = &isa
	};
	const struct ntrace_segment given = { .batch = &batch,
					      .at.pid = 7,
					      .at.tid = 7,
					      .at.comm = "program",
					      .at.privilege = NTRACE_PRIV_U };

	begin((struct ntrace_sampler_options){
		.period = 5, .depth = 2, .sample = take_sample, .branch = take_branch });
	is_u64(ntrace_sampler_segment(sampler, &given), 0, "a batch");
	expect("8>20@0 S24(8>20) 24>40@20 ", "as each of its blocks");
	begin((struct ntrace_sampler_options){
		.period = 5, .depth = 2, .sample = take_sample, .branch = take_branch });
	stop_with = 3;
	is_u64(ntrace_sampler_segment(sampler, &given), 3, "a callback stops a batch");
	expect("8>20@0 ", "at once");
}

/* ---- tracker ---- */

static void test_tracker(void)
{
	static const struct {
		const char *what;
		unsigned int type;
		bool next_known;
		bool complete;
		bool pending;
	} cases[] = {
		{ "a block completes a transfer", NTRACE_FLOW_BLOCK, true, true, false },
		{ "a trap at a known place completes it", NTRACE_FLOW_TRAP, true, true, false },
		{ "one at an unknown place does not", NTRACE_FLOW_TRAP, false, false, true },
		{ "it outlasts Ownership", NTRACE_FLOW_OWNERSHIP, true, false, true },
		{ "it outlasts a warning", NTRACE_FLOW_WARNING, true, false, true },
		{ "it outlasts a sync", NTRACE_FLOW_SYNC, true, false, true },
		{ "it outlasts InCircuitTrace", NTRACE_FLOW_CIRCUIT, true, false, true },
		{ "it outlasts DataAcquisition", NTRACE_FLOW_DATA, true, false, true },
		{ "an error ends it", NTRACE_FLOW_ERROR, true, false, false },
		{ "a gap ends it", NTRACE_FLOW_GAP, true, false, false },
		{ "the end of the trace at a known place completes it", NTRACE_FLOW_TRACE_OFF, true,
		  true, false },
		{ "at an unknown place the end of the trace ends it", NTRACE_FLOW_TRACE_OFF, false,
		  false, false },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct ntrace_transfer_tracker tracker = { 0 };
		struct ntrace_transfer transfer = { .from = 1 };
		struct ntrace_flow_event first = block_at(0, 8, 0x20);
		const struct ntrace_flow_event next = { .type = (uint8_t)cases[i].type,
							.address = 0x5000,
							.value = 0x5000,
							.next_known = cases[i].next_known };
		bool complete;

		first.next_known = false;
		ok(!ntrace_transfer_resolve(&tracker, &next, &transfer) &&
			   !ntrace_transfer_start(&tracker, &first, &transfer) && tracker.pending &&
			   transfer.from == 1,
		   "a transfer waits for its target");
		complete = ntrace_transfer_resolve(&tracker, &next, &transfer);
		ok(complete == cases[i].complete && tracker.pending == cases[i].pending, "%s",
		   cases[i].what);
		if (complete)
			ok(transfer.from == CODE + 8 && transfer.to == 0x5000 &&
				   transfer.insn_class == NTRACE_INSN_JUMP,
			   "with source and target");
	}
}

static void test_tracker_start(void)
{
	struct ntrace_transfer_tracker tracker = { 0 };
	struct ntrace_transfer transfer = { 0 };
	struct ntrace_flow_event event = block_at(0, 8, 0x20);

	ok(ntrace_transfer_start(&tracker, &event, &transfer) && transfer.from == CODE + 8 &&
		   transfer.to == CODE + 0x20 && transfer.insn_class == NTRACE_INSN_JUMP,
	   "a known target completes a transfer at once");
	ok(!tracker.pending, "none waits");
	event.taken = false;
	ok(!ntrace_transfer_start(&tracker, &event, &transfer) && !tracker.pending,
	   "a block without a transfer");
	event.next_known = false;
	ok(!ntrace_transfer_start(&tracker, &event, &transfer) && !tracker.pending,
	   "nor does one without a known next block wait");
	event.type = NTRACE_FLOW_SYNC;
	event.taken = true;
	ok(!ntrace_transfer_start(&tracker, &event, &transfer) && !tracker.pending,
	   "another event starts none");
}

int main(void)
{
	uint32_t code[SIZE / 4];

	for (size_t i = 0; i < SIZE / 4; i++)
		code[i] = i == ECALL_AT / 4 ? ECALL : NOP;
	ntrace_object_from_bytes(&object, "program", code, sizeof(code), CODE);
	ntrace_space_new(&space, "test", NULL);
	ntrace_space_map_linked(space, object, 0);
	test_periods();
	test_depth();
	test_results();
	test_options();
	test_transfers();
	test_straight();
	test_traps();
	test_selected_traps();
	test_same_as_profile();
	test_batches();
	test_tracker();
	test_tracker_start();
	ntrace_space_put(space);
	ntrace_object_put(object);
	return done_testing();
}
