// SPDX-License-Identifier: GPL-2.0-only
/*
 * lib/session with effects, and a process that maps another file in place of the one that it
 * executed. The session reports an effect later than its blocks were executed, with the code that
 * was mapped when they were. No code is reported where the records do not tell which one it was.
 */
#include "test_session.h"

/* After the loop of each program, a function that jumps to itself by a register. */
#define JUMPS (CODE + 6)
#define JUMP_PARCELS 3

/* For the function of each file: the executed instructions, and those of them in effects. */
static struct {
	const char *name;
	uint64_t instructions;
	uint64_t counted;
} files[] = { { "steps", 0, 0 }, { "leaps", 0, 0 } };

static bool make(const char *name)
{
	return !run(
		"cd %s/root && printf 'loop: c.nop\\nc.nop\\nj loop\\n"
		".globl %s\\n.type %s,@function\\n%s: c.nop\\nc.nop\\njr a0\\n.size %s,.-%s\\n' "
		"> %s.s && riscv64-linux-gnu-as -march=rv64gc %s.s -o %s.o && "
		"riscv64-linux-gnu-ld --build-id -Ttext=0x%x -e %s %s.o -o %s",
		directory, name, name, name, name, name, name, name, name, CODE, name, name, name);
}

/* The hart returns to the function, jumps @turns - 1 times there, and then to the loop. */
static void jump(unsigned int turns)
{
	hart_trap(&hart, NOTHING, NOTHING, JUMPS);
	while (turns--)
		hart_block(&hart, JUMPS, JUMP_PARCELS, NTRACE_ITYPE_INDIRECT_JUMP, 0,
			   NTRACE_PRIV_U);
	hart.loop = CODE;
	hart_loop(&hart, 3);
}

static void add(struct ntrace_space *space, const struct ntrace_block *block, uint64_t times,
		bool counted)
{
	struct ntrace_location location = { 0 };

	ntrace_space_locate(space, block->address, &location);
	for (unsigned int i = 0; location.symbol && i < 2; i++) {
		if (strcmp(location.symbol, files[i].name))
			continue;
		files[i].instructions += times * block->instructions;
		files[i].counted += counted ? times * block->instructions : 0;
	}
}

static int no_block(void *data, const struct ntrace_session_event *event)
{
	unsigned int *blocks = data;

	*blocks += event->flow->type == NTRACE_FLOW_BLOCK;
	return 0;
}

static int add_segment(void *data, const struct ntrace_segment *segment)
{
	const struct ntrace_block_batch *batch = segment->batch;
	bool sum = segment->type == NTRACE_SEGMENT_SUM;

	(void)data;
	for (size_t i = segment->lead; i < batch->count; i++)
		add(batch->space, &batch->blocks[i], sum ? segment->times : 1, sum);
	return 0;
}

static void count(const char *name, bool effects)
{
	struct ntrace_session_options options = { .size = sizeof(options), .sysroot = in("root") };
	unsigned int blocks = 0;
	struct ntrace_decode_options decoding = { .size = sizeof(decoding),
						  .needs = effects ? NTRACE_NEEDS_SUMS : 0,
						  .event = no_block,
						  .segment = add_segment,
						  .data = &blocks };
	struct ntrace_session *session;

	for (unsigned int i = 0; i < 2; i++)
		files[i].instructions = files[i].counted = 0;
	if (ntrace_session_open(&session, in(name), &options)) {
		ok(false, "%s opens", name);
		return;
	}
	is_u64(ntrace_session_decode(session, &decoding), 0, "%s decodes", name);
	is_u64(blocks, 0, "no block comes as an event");
	ntrace_session_close(session);
}

/* Process 100 sleeps, and has another file at the same address when it runs again. */
static void test_replaced(void)
{
	start("replaced", CODE, UINT32_MAX);
	named(100, 0, false, "a");
	maps(100, 0, CODE, "/steps");
	named(200, 0, false, "b");
	maps(200, 0, OTHER_CODE, "/ccc");
	jump(200);
	switches(100, 200, OTHER_CODE);
	maps(100, now + 5, CODE, "/leaps");
	switches(200, 100, CODE);
	jump(300);
	stop("replaced", 3);
	for (int effects = 0; effects < 2; effects++) {
		count("replaced", effects);
		is_u64(files[0].instructions, 200 * JUMP_PARCELS, "the file that was replaced");
		is_u64(files[1].instructions, 300 * JUMP_PARCELS, "the file in its place");
		ok(effects ? files[0].counted && files[1].counted : !files[0].counted, "%s",
		   effects ? "effects tell some of both" : "without effects");
	}
}

/*
 * Process 100 maps another file in place of one while it runs: nothing tells when, so the code of neither is certain in
 * this scheduling interval, but other code is, and so are the intervals before and after it.
 */
static void test_replaced_meanwhile(void)
{
	start("meanwhile", CODE, UINT32_MAX);
	named(100, 0, false, "a");
	maps(100, 0, CODE, "/steps");
	maps(100, 0, OTHER_CODE, "/ccc");
	named(200, 0, false, "b");
	maps(200, 0, OTHER_CODE, "/ccc");
	jump(200);
	switches(100, 200, OTHER_CODE);
	switches(200, 100, CODE);
	jump(300);
	now += 10;
	maps(100, now, CODE, "/leaps");
	now += 10;
	jump(500);
	hart.loop = OTHER_CODE;
	work(OTHER_CODE, 5);
	switches(100, 200, OTHER_CODE);
	switches(200, 100, CODE);
	jump(700);
	stop("meanwhile", 3);
	for (int effects = 0; effects < 2; effects++) {
		count("meanwhile", effects);
		is_u64(files[0].instructions, 200 * JUMP_PARCELS,
		       "the file in the interval before");
		is_u64(files[1].instructions, 700 * JUMP_PARCELS, "the other one in the next");
	}
	decode("meanwhile", NULL);
	ok(strstr(notes,
		  "/leaps: a process mapped it over /steps, and the trace does not tell when"),
	   "a note names both: %s", notes);
}

/* The same where only user space is traced, and no switch is seen. */
static void test_replaced_unseen(void)
{
	start("unseen", CODE, 1u << NTRACE_PRIV_U);
	named(100, 0, false, "a");
	maps(100, 0, CODE, "/steps");
	named(200, 0, false, "b");
	maps(200, 0, OTHER_CODE, "/ccc");
	jump(300);
	now += 10;
	maps(100, now, CODE, "/leaps");
	now += 10;
	jump(500);
	switches(100, 200, OTHER_CODE);
	stop("unseen", 1);
	count("unseen", false);
	is_u64(files[0].instructions + files[1].instructions, 0, "neither file is certain");
	decode("unseen", NULL);
	ok(strstr(told, "200 b ccc"), "other code is: %s", told);
	ok(strstr(notes, "/leaps: a process mapped it over /steps"), "a note names both: %s",
	   notes);
}

/*
 * Process 100 forks 300, and one of them maps another file in place of one. With vfork() and clone(CLONE_VM) both have the
 * new file from then on, and no record tells those from a fork.
 */
enum sharing {
	CHILD_MAPS,		/* and the parent executes */
	PARENT_MAPS,		/* and the child executes */
	BROTHER_MAPS,		/* and another child executes */
	CHILD_MAPS_OWN,		/* what it replaces was mapped after the fork */
	CHILD_EXECS,		/* before it maps: the memory is not shared any more */
	PARENT_EXECS,
	SAME_CODE,		/* the same file again */
	SHARINGS,
};

static void test_shared(enum sharing sharing, uint32_t traced)
{
	static const char *const names[SHARINGS] = { "child",	   "parent",	   "brother",
						     "own",	   "child-execs", "parent-execs",
						     "same-code" };
	static const bool certain[SHARINGS] = {
		[CHILD_MAPS_OWN] = true, [CHILD_EXECS] = true, [PARENT_EXECS] = true, [SAME_CODE] = true
	};
	bool of_child = sharing == PARENT_MAPS || sharing == BROTHER_MAPS ||
			sharing == PARENT_EXECS;
	int32_t mapper = sharing == PARENT_MAPS ? 100 : sharing == BROTHER_MAPS ? 400 : 300;
	int32_t other = of_child ? 300 : 100;
	char name[64];

	snprintf(name, sizeof(name), "%s-%x", names[sharing], traced);
	start(name, OTHER_CODE, traced);
	named(100, 0, false, "a");
	named(200, 0, false, "b");
	maps(200, 0, OTHER_CODE, "/ccc");
	maps(100, 0, OTHER_CODE, "/ccc");
	if (sharing != CHILD_MAPS_OWN)
		maps(100, 0, CODE, "/steps");
	switches(100, 200, OTHER_CODE);
	forks(100, 300, now + 1);
	forks(100, 400, now + 2);
	if (sharing == CHILD_MAPS_OWN) {
		maps(100, now + 3, CODE, "/steps");
		maps(300, now + 3, CODE, "/aaa");
	}
	if (sharing == CHILD_EXECS) {
		named(300, now + 3, true, "new");
		maps(300, now + 4, CODE, "/steps");
	}
	if (sharing == PARENT_EXECS) {
		named(100, now + 3, true, "new");
		maps(100, now + 4, CODE, "/steps");
		mapper = 100;
	}
	maps(mapper, now + 5, CODE, sharing == SAME_CODE ? "/steps" : "/leaps");
	now += 10;
	switches(200, other, CODE);
	jump(300);
	hart.loop = OTHER_CODE;
	work(OTHER_CODE, 5);
	switches(other, 200, OTHER_CODE);
	stop(name, traced == UINT32_MAX ? 3 : 1);
	count(name, false);
	is_u64(files[0].instructions, certain[sharing] ? 300 * JUMP_PARCELS : 0,
	       "%s: the file of both", name);
	is_u64(files[1].instructions, 0, "%s: never the file of the other process", name);
	decode(name, NULL);
	ok(strstr(told, "ccc"), "%s: other code is decoded: %s", name, told);
	ok(!strstr(notes, "/leaps: a process mapped it over /steps, and may share its memory") ==
		   certain[sharing],
	   "%s: the note: %s", name, notes);
}

/*
 * A program that is packed behind another one, as in bundles: its offset in the file is an address of the first one, whose
 * names are not those of its code.
 */
static void test_packed(void)
{
	if (!ok(!run("cd %s/root && cp steps packed && truncate -s %d packed && cat leaps >>packed",
		     directory, CODE - 0x1000),
		"packs a program behind another one"))
		return;
	start("packed", CODE, UINT32_MAX);
	named(100, 0, false, "a");
	put((struct ntrace_sideband){ .type = NTRACE_SIDEBAND_MMAP2,
				      .pid = 100,
				      .tid = 100,
				      .executable = true,
				      .address = CODE,
				      .length = 0x1000,
				      .offset = CODE,
				      .name = "/packed" });
	named(200, 0, false, "b");
	maps(200, 0, OTHER_CODE, "/ccc");
	jump(300);
	switches(100, 200, OTHER_CODE);
	stop("packed", 3);
	count("packed", false);
	is_u64(files[0].instructions + files[1].instructions, 0, "the code has no names");
	decode("packed", NULL);
	is_u64(errors, 0, "and all of it is decoded: %s", notes);
}

static void tests(void)
{
	if (!ok(make("steps") && make("leaps"), "makes two programs"))
		return;
	test_replaced();
	test_replaced_meanwhile();
	test_replaced_unseen();
	test_packed();
	for (enum sharing sharing = 0; sharing < SHARINGS; sharing++) {
		test_shared(sharing, UINT32_MAX);
		test_shared(sharing, 1u << NTRACE_PRIV_U);
	}
}

int main(void)
{
	return test_sessions(tests);
}
