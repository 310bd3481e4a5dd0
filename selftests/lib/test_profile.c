// SPDX-License-Identifier: GPL-2.0-only
/*
 * lib/profile with hand-made events: the traces and samples of a flow with traps, other threads,
 * losses and unknown targets. selftests/consumers/export.sh compares real recordings with the
 * instructions logged by QEMU.
 */
#include <stdlib.h>

#include <ntrace/encode.h>
#include <ntrace/profile.h>
#include <ntrace/sample.h>

#include "tap.h"

#define CODE 0x1000		/* link address of the program */
#define SIZE 0x1000
#define BIAS 0x40000000
#define OTHER 0x20000		/* link address of another program */
#define KERNEL 0x9000		/* unknown code */
#define NOP 0x00000013
#define ECALL 0x00000073
#define ECALL_AT 0x80		/* address of a system call in the program */

static struct ntrace_object *object;
static struct ntrace_space *space;
static const struct ntrace_isa isa = { .xlen = 64, .compressed = true };
static struct ntrace_profile *profile;
static struct ntrace_sampler *sampler;
static int32_t process = 7, thread = 7;
static unsigned int privilege = NTRACE_PRIV_U;

static void setup(void)
{
	uint32_t code[SIZE / 4];
	size_t i;

	for (i = 0; i < SIZE / 4; i++)
		code[i] = i == ECALL_AT / 4 ? ECALL : NOP;
	ntrace_object_from_bytes(&object, "program", code, sizeof(code), CODE);
	ntrace_space_new(&space, "test", NULL);
	ntrace_space_map_linked(space, object, BIAS);
}

static void tell(struct ntrace_flow_event flow)
{
	struct ntrace_session_event event = { .flow = &flow,
					      .pid = process,
					      .tid = thread,
					      .comm = "program",
					      .privilege = privilege };

	flow.space = space;
	flow.isa = &isa;
	if (profile)
		ntrace_profile_event(profile, &event);
	if (sampler)
		ntrace_sampler_event(sampler, &event);
}

/* Instructions from offset @start to @last; @to: target of the last one, 0 = straight on. */
static void block_of(unsigned int kind, uint64_t start, uint64_t last, uint64_t to, bool known)
{
	tell((struct ntrace_flow_event){ .type = NTRACE_FLOW_BLOCK,
					 .insn_class = (uint8_t)kind,
					 .taken = to,
					 .interrupted = !to,
					 .last_size = 4,
					 .instructions = (uint32_t)((last - start) / 4 + 1),
					 .address = BIAS + CODE + start,
					 .last = BIAS + CODE + last,
					 .next = to ? BIAS + CODE + to : BIAS + CODE + last + 4,
					 .next_known = known });
}

static void block(uint64_t start, uint64_t last, uint64_t to)
{
	block_of(to ? NTRACE_INSN_JUMP : NTRACE_INSN_PLAIN, start, last, to, true);
}

/* @known: the trace gives the address of the trap */
static void trap_of(uint64_t next, bool known)
{
	tell((struct ntrace_flow_event){ .type = NTRACE_FLOW_TRAP,
					 .code = NTRACE_BTYPE_EXCEPTION,
					 .address = BIAS + CODE + KERNEL,
					 .value = known ? BIAS + CODE + next : 0,
					 .next_known = known });
}

static void trap(uint64_t next)
{
	trap_of(next, true);
}

/* A handler in the kernel, which returns to @to. */
static void handler(uint64_t to)
{
	privilege = NTRACE_PRIV_S;
	block_of(NTRACE_INSN_TRAP_RETURN, KERNEL, KERNEL + 4, to, true);
	privilege = NTRACE_PRIV_U;
}

static void event_of(enum ntrace_flow_type type, unsigned int code)
{
	tell((struct ntrace_flow_event){ .type = (uint8_t)type, .code = (uint8_t)code });
}

static void begin(void)
{
	const struct ntrace_profile_options options = { .size = sizeof(options),
							.privileges = 1u << NTRACE_PRIV_U };

	thread = 7;
	ntrace_profile_new(&profile, &options);
}

/* "FROM>START-END*COUNT[~] ..." in offsets; "?" unknown; "~": not ended by a transfer. */
static const char *traces_of(struct ntrace_profile *of)
{
	static char text[1024];
	const struct ntrace_profile_trace *traces;
	size_t count, used = 0, i;

	text[0] = '\0';
	traces = ntrace_profile_traces(of, &count);
	for (i = 0; i < count && used < sizeof(text); i++) {
		char from[20] = "?";

		if (traces[i].from_object)
			snprintf(from, sizeof(from), "%x", (unsigned int)(traces[i].from - CODE));
		if (traces[i].instructions)
			used += (size_t)snprintf(text + used, sizeof(text) - used,
						 "%s%s>%x-%x*%u%s", i ? " " : "", from,
						 (unsigned int)(traces[i].start - CODE),
						 (unsigned int)(traces[i].end - CODE),
						 (unsigned int)traces[i].count,
						 traces[i].taken ? "" : "~");
		else
			used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s>%x*%u",
						 i ? " " : "", from,
						 (unsigned int)(traces[i].start - CODE),
						 (unsigned int)traces[i].count);
	}
	return text;
}

static void expect(const char *want, const char *name)
{
	ntrace_profile_end(profile);
	is_str(traces_of(profile), want, name);
	ntrace_profile_free(profile);
	profile = NULL;
}

static void test_runs(void)
{
	begin();
	block(0, 8, 0x20);
	block(0x20, 0x24, 0);	/* a branch not taken ends a block, but no run */
	block(0x28, 0x2c, 0x20);
	block(0x20, 0x2c, 0x20);
	block(0x20, 0x24, 0);
	expect("?>0-8*1 2c>20-24*1~ 8>20-2c*1 2c>20-2c*1", "runs end at transfers, and at the end");

	begin();
	block_of(NTRACE_INSN_RETURN, 0, 8, 0x20, false);
	block(0x40, 0x44, 0x60);
	event_of(NTRACE_FLOW_GAP, 0);
	block(0x60, 0x64, 0x68);
	expect("?>0-8*1 8>40-44*1 44>60*1 ?>60-64*1 64>68*1",
	       "an unknown target is the next block; after a loss the transfer is unknown");
}

static void test_traps(void)
{
	begin();
	block(0, 8, 0x20);
	block(0x20, 0x24, 0);
	trap(0x28);
	handler(0x28);
	block(0x28, 0x2c, 0x20);
	expect("?>0-8*1 2c>20*1 8>20-2c*1", "an interrupt leaves no mark");

	begin();
	block(0, 8, 0x20);
	trap(0x20);
	handler(0x20);
	block(0x20, 0x2c, 0x40);
	expect("?>0-8*1 8>20-2c*1 2c>40*1", "nor does an interrupt at the target of a transfer");

	begin();
	block(0x70, ECALL_AT - 4, 0);
	trap(ECALL_AT);
	handler(ECALL_AT + 4);
	block(ECALL_AT + 4, ECALL_AT + 8, 0x20);
	expect("88>20*1 ?>70-7c*1~ ?>84-88*1", "a system call is in no run: it does not retire");

	begin();
	block(0x70, 0x74, 0);
	trap(0x78);
	handler(0x7c);
	block(0x7c, 0x7c, 0x20);
	expect("7c>20*1 ?>70-74*1~ ?>7c-7c*1", "any other trap does not");

	begin();
	block(0x20, 0x24, 0);
	trap(0x28);
	handler(0x28);
	thread = 8;
	block(0x28, 0x2c, 0x20);
	thread = 7;
	block(0x28, 0x30, 0x20);
	expect("2c>20*1 30>20*1 ?>20-30*1 ?>28-2c*1",
	       "another thread does not continue this thread's run");

	begin();
	block(0x20, 0x24, 0);
	event_of(NTRACE_FLOW_TRACE_OFF, NTRACE_EVCODE_TRACE_DISABLE);
	event_of(NTRACE_FLOW_SYNC, 0);
	block(0x28, 0x2c, 0x20);
	expect("2c>20*1 ?>20-2c*1", "trace may be off in between");
}

/*
 * A jump to the handler itself is interrupted before it retires an instruction: the handler does not
 * continue it, because a trap leads there. If the trace was off after the trap, the next block at
 * that address may continue the jump.
 */
static void test_handler(void)
{
	begin();
	block(0, 8, KERNEL);
	trap(KERNEL);
	block(KERNEL, KERNEL + 4, 0x20);
	expect("8>40009000*1 ?>40009000-40009004*1 ?>0-8*1 ?>20*1",
	       "a handler begins anew where an interrupted run would continue");
	begin();
	block(0, 8, KERNEL);
	trap(KERNEL);
	event_of(NTRACE_FLOW_TRACE_OFF, NTRACE_EVCODE_TRACE_DISABLE);
	block(KERNEL, KERNEL + 4, 0x20);
	expect("8>40009000-40009004*1 ?>0-8*1 ?>20*1", "unless the trace was off since the trap");
}

/*
 * A jump from code without an object to the program, interrupted before its target retires: the event of the trap, or
 * of the trace's end, has the space in which the target is.
 */
static void test_other_space(void)
{
	struct ntrace_space *program = space, *nowhere;

	ntrace_space_new(&nowhere, "nowhere", NULL);
	for (int off = 0; off < 2; off++) {
		begin();
		space = nowhere;
		block_of(NTRACE_INSN_JUMP, 0, 8, 0x40, true);
		space = program;
		if (off)
			event_of(NTRACE_FLOW_TRACE_OFF, NTRACE_EVCODE_TRACE_DISABLE);
		else
			trap(0x40);
		block(0x40, 0x44, 0x60);
		ntrace_profile_end(profile);
		ok(strstr(traces_of(profile), "?>40-44*1"), "the target in another space, %s: %s",
		   off ? "the trace ends" : "a trap", traces_of(profile));
		ntrace_profile_free(profile);
		profile = NULL;
	}
	ntrace_space_put(nowhere);
}

/* An interrupted run continues only in its own thread, which must be known. */
static void test_suspended(void)
{
	unsigned int i;

	begin();
	thread = -1;
	block(0x20, 0x24, 0);
	trap(0x28);
	handler(0x28);
	block(0x28, 0x2c, 0x20);
	expect("2c>20*1 ?>20-24*1~ ?>28-2c*1", "an unknown thread may be any other one");

	begin();
	thread = 0;
	block(0x20, 0x24, 0);
	trap(0x28);
	handler(0x28);
	block(0x28, 0x2c, 0x20);
	expect("2c>20*1 ?>20-2c*1", "the idle task has number 0, and its run continues");

	begin();
	block(0x20, 0x24, 0);
	trap(0x28);
	privilege = NTRACE_PRIV_S;
	block(0x28, 0x2c, 0x60);
	privilege = NTRACE_PRIV_U;
	block(0x28, 0x30, 0x20);
	expect("30>20*1 ?>20-30*1", "code of another privilege at its address is not its own");

	begin();
	block(0x20, 0x24, 0);
	trap(0x28);
	handler(0x20);
	block(0x20, 0x24, 0);
	trap(0x28);
	handler(0x28);
	block(0x28, 0x2c, 0x40);
	expect("?>20-24*1~ ?>20-2c*1 2c>40*1",
	       "of two runs interrupted at the same place the first one went elsewhere");

	begin();
	block(0x20, 0x24, 0);
	trap(0x28);
	handler(0x60);
	block(0x60, 0x64, 0);	/* a signal handler, which is interrupted too */
	trap(0x68);
	handler(0x68);
	block(0x68, 0x6c, 0);
	trap(0x70);
	handler(0x28);
	block(0x28, 0x2c, 0x40);
	expect("?>20-2c*1 2c>40*1 ?>60-6c*1~",
	       "a thread may have several interrupted runs, at several places");

	begin();
	block(0x20, 0x24, 0);
	trap(0x28);
	privilege = NTRACE_PRIV_S;
	block(0x20, 0x24, 0);
	trap(0x28);
	privilege = NTRACE_PRIV_U;
	block(0x28, 0x2c, 0x40);
	expect("?>20-2c*1 2c>40*1", "and at one place, if their privileges differ");

	begin();
	block(0x20, 0x24, 0);
	trap(0x28);
	process = 8;
	block(0x28, 0x2c, 0);
	process = 7;
	expect("?>20-24*1~ ?>28-2c*1~", "another process has reused the thread's number");

	begin();
	block(0x20, 0x24, 0);
	trap(0x28);
	event_of(NTRACE_FLOW_GAP, 0);
	block(0x28, 0x2c, 0x40);
	expect("?>20-24*1~ ?>28-2c*1 2c>40*1",
	       "after a loss no run continues, and each counts once");

	/* One more than fits: the oldest run is counted as far as it got. */
	begin();
	for (i = 1; i <= 257; i++) {
		thread = (int32_t)i;
		block(0x20, 0x24, 0);
		trap(0x28);
	}
	for (i = 257; i >= 1; i--) {
		thread = (int32_t)i;
		block(0x28, 0x2c, 0);
	}
	expect("?>20-24*1~ ?>20-2c*256~ ?>28-2c*1~", "256 runs may be interrupted at a time");
}

/* Blocks of a batch in the kernel, each ends with a transfer to the next, the last one to @to. */
static void kernel_batch(const uint64_t *starts, size_t count, size_t trap_return, uint64_t to)
{
	struct ntrace_block blocks[8] = { 0 };
	const struct ntrace_block_batch batch = {
		.blocks = blocks, .count = count, .space = space, .isa = &isa
	};
	size_t i;

	for (i = 0; i < count; i++) {
		blocks[i].address = BIAS + CODE + starts[i];
		blocks[i].next = BIAS + CODE + (i + 1 < count ? starts[i + 1] : to);
		blocks[i].instructions = 2;
		blocks[i].bytes = 8;
		blocks[i].id = (uint32_t)i + 1;
		blocks[i].insn_class = i == trap_return ? NTRACE_INSN_TRAP_RETURN :
							  NTRACE_INSN_JUMP;
		blocks[i].last_size = 4;
		blocks[i].flags = NTRACE_BLOCK_TAKEN | NTRACE_BLOCK_NEXT_KNOWN;
	}
	ntrace_profile_segment(profile, &(struct ntrace_segment){ .batch = &batch,
								  .at.pid = process,
								  .at.tid = thread,
								  .at.comm = "program",
								  .at.privilege = NTRACE_PRIV_S });
}

/*
 * Runs of a batch that is not counted are skipped, but not a return to an interrupted run: the list
 * of those would fill up, and a run that counts would leave it too early.
 */
static void test_not_counted(void)
{
	unsigned int i;

	begin();
	block(0x20, 0x24, 0);
	trap(0x28);
	for (i = 0; i < 300; i++) {
		uint64_t at = KERNEL + 0x1000 + 0x20 * i;
		const uint64_t starts[] = { KERNEL, KERNEL + 0x20, KERNEL + 0x40, at + 8,
					    KERNEL + 0x60 };

		privilege = NTRACE_PRIV_S;
		block(at, at + 4, 0);
		trap(at + 8);
		privilege = NTRACE_PRIV_U;
		kernel_batch(starts, 5, 2, at + 0x20);
	}
	handler(0x28);
	block(0x28, 0x2c, 0x40);
	expect("?>20-2c*1 2c>40*1", "runs that are not counted go on after their interrupts, too");
}

/* A trap comes at the target of a transfer, which the transfer itself did not report. */
static void test_targets(void)
{
	begin();
	block_of(NTRACE_INSN_RETURN, 0, 8, 0x20, false);
	trap(0x40);
	handler(0x40);
	block(0x40, 0x44, 0x60);
	expect("?>0-8*1 8>40-44*1 44>60*1", "the address of the trap is the target");

	begin();
	block_of(NTRACE_INSN_RETURN, 0, 8, 0x20, false);
	trap_of(0, false);
	handler(0x40);
	block(0x40, 0x44, 0x60);
	expect("?>0-8*1 ?>40-44*1 44>60*1", "a trap without an address gives no target");

	begin();
	block_of(NTRACE_INSN_RETURN, 0, 8, 0x20, false);
	expect("?>0-8*1", "the end of the trace gives no target either");

	begin();
	block(0, 8, 0x20);
	block(0x40, 0x44, 0x60);
	expect("?>0-8*1 8>20*1 ?>40-44*1 44>60*1", "a block at another address is not the target");

	begin();
	block(0, 8, 0x20);
	thread = 8;
	block(0x20, 0x24, 0x60);
	expect("?>0-8*1 8>20*1 ?>20-24*1 24>60*1", "nor is a block of another thread");
}

static void test_merge(void)
{
	struct ntrace_profile *other;
	const struct ntrace_profile_object *objects;
	size_t count;

	begin();
	other = profile;
	block(0x20, 0x2c, 0x20);
	block(0x20, 0x2c, 0x40);
	ntrace_profile_end(other);
	begin();
	block(0, 8, 0x20);
	block(0x20, 0x2c, 0x20);
	block(0x20, 0x2c, 0x20);
	ntrace_profile_end(profile);
	ntrace_profile_merge(profile, other);
	objects = ntrace_profile_objects(profile, &count);
	is_u64(count, 1, "one object");
	is_u64(objects[0].instructions, 3 + 4 * 4, "and its instructions");
	ntrace_profile_free(other);
	expect("?>0-8*1 2c>20*1 ?>20-2c*1 8>20-2c*1 2c>20-2c*2 2c>40*1", "counts of two profiles");
}

/* A jump out of code that is not selected: the object has no counts. */
static void test_outside(void)
{
	const uint32_t code[4] = { NOP, NOP, NOP, NOP };
	const struct ntrace_profile_object *objects;
	struct ntrace_object *other;
	size_t count;

	ntrace_object_from_bytes(&other, "other", code, sizeof(code), OTHER);
	ntrace_space_map_linked(space, other, BIAS);
	begin();
	privilege = NTRACE_PRIV_S;
	block(OTHER - CODE, OTHER - CODE + 4, 0x20);
	privilege = NTRACE_PRIV_U;
	block(0x20, 0x2c, 0x20);
	ntrace_profile_end(profile);
	objects = ntrace_profile_objects(profile, &count);
	is_u64(count, 1,
	       "an object that was only the source of a transfer is not among the executed ones");
	is_u64(objects[0].object == object, 1, "but the target's object is");
	ntrace_profile_free(profile);
	profile = NULL;
	ntrace_object_put(other);
}

struct taken {
	uint64_t address;
	size_t count;
	uint64_t newest_to;
	unsigned int samples;
};

static int take_sample(void *data, const struct ntrace_sample *sample)
{
	struct taken *taken = data;

	taken->samples++;
	taken->address = sample->address - BIAS - CODE;
	taken->count = sample->count;
	taken->newest_to = sample->count ? sample->branches[0].to - BIAS - CODE : 0;
	return 0;
}

static void test_samples(void)
{
	struct taken taken = { 0 };
	struct ntrace_sampler_options options = { .size = sizeof(options),
						  .period = 7,
						  .depth = 2,
						  .privileges = 1u << NTRACE_PRIV_U,
						  .sample = take_sample,
						  .data = &taken };
	unsigned int i;

	thread = 7;
	ntrace_sampler_new(&sampler, &options);
	block(0, 8, 0x20);		/* 3 instructions */
	block(0x20, 0x2c, 0x40);	/* 7 */
	is_u64(taken.address, 0x2c, "a sample is taken where its period ends");
	is_u64(taken.newest_to, 0x20, "the newest transfer led there");
	is_u64(taken.count, 1, "there was no other transfer");
	trap(0x40);
	handler(0x40);
	for (i = 0; i < 3; i++)
		block(0x40, 0x48, 0x40);
	is_u64(taken.samples, 2, "instructions of the kernel do not count");
	is_u64(taken.count, 2, "an interrupt drops no transfers, and depth is the limit");
	is_u64(taken.address, 0x40, "the third block's first");
	thread = 8;
	block(0x60, 0x78, 0x80);
	is_u64(taken.count, 0, "another thread has none of these transfers");
	event_of(NTRACE_FLOW_GAP, 0);
	block(0x60, 0x78, 0x80);
	is_u64(taken.count, 0, "nor has a sample after a loss");
	ntrace_sampler_free(sampler);
	options.period = 0;
	is_u64(ntrace_sampler_new(&sampler, &options), NTRACE_ERR_INVALID,
	       "a sampler without callbacks");
	sampler = NULL;
}

static int take_branches(void *data, const struct ntrace_sample *sample)
{
	char *text = data;

	text[0] = 0;
	for (size_t i = 0; i < sample->count; i++)
		sprintf(text + strlen(text), "%llx>%llx ",
			(unsigned long long)(sample->branches[i].from - BIAS - CODE),
			(unsigned long long)(sample->branches[i].to - BIAS - CODE));
	return 0;
}

/* The jump to the trapped instruction was taken. */
static void test_sampled_trap(void)
{
	char text[256] = "", expected[64];
	struct ntrace_sampler_options options = { .size = sizeof(options),
						  .period = 8,
						  .depth = 4,
						  .privileges = 1u << NTRACE_PRIV_U |
								1u << NTRACE_PRIV_S,
						  .sample = take_branches,
						  .data = text };

	thread = 7;
	ntrace_sampler_new(&sampler, &options);
	block(0, 8, 0x20);
	trap(0x20);
	handler(0x20);
	block(0x20, 0x2c, 0x40);
	ntrace_sampler_free(sampler);
	sampler = NULL;
	snprintf(expected, sizeof(expected), "%x>20 20>%x 8>20 ", KERNEL + 4, KERNEL);
	is_str(text, expected, "a trap at the target of a jump: both, and the way back");
}

int main(void)
{
	setup();
	test_runs();
	test_traps();
	test_handler();
	test_other_space();
	test_suspended();
	test_not_counted();
	test_targets();
	test_merge();
	test_outside();
	test_samples();
	test_sampled_trap();
	ntrace_space_put(space);
	ntrace_object_put(object);
	return done_testing();
}
