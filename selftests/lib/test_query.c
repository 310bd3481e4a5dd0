// SPDX-License-Identifier: GPL-2.0-only
/*
 * Queries of a stream: a walker of its own, which knows the code, gets the instructions that the flow
 * decodes. Streams of another encoder and written ones, in BTM and HTM.
 */
#include <ntrace/query.h>

#include "stream_text.h"
#include "test_flow.h"

#define PCS_MAX 200000

struct pcs {
	uint64_t pc[PCS_MAX];
	size_t count;
};

static struct pcs by_flow, by_query;

static void add_pc(struct pcs *pcs, uint64_t pc)
{
	if (pcs->count < PCS_MAX)
		pcs->pc[pcs->count++] = pc;
}

static int take_pc(void *data, uint64_t address, const uint8_t *bytes,
		   const struct ntrace_insn *insn)
{
	(void)bytes;
	(void)insn;
	add_pc(data, address);
	return 0;
}

static int take_event(void *data, const struct ntrace_flow_event *event)
{
	return event->type == NTRACE_FLOW_BLOCK ? ntrace_flow_instructions(event, take_pc, data) :
						  0;
}

static void walk_flow(const struct ntrace_params *params, const uint8_t *data, size_t size,
		      struct ntrace_space *space)
{
	struct ntrace_flow_config config = { .size = sizeof(config),
					     .params = params,
					     .event = take_event,
					     .space = space,
					     .data = &by_flow };
	struct ntrace_message message;
	struct ntrace_reader reader;
	struct ntrace_flow *flow;
	int got;

	by_flow.count = 0;
	if (ntrace_flow_new(&flow, &config))
		abort();
	ntrace_reader_init(&reader, params, true);
	ntrace_reader_feed(&reader, data, size);
	while ((got = ntrace_reader_next(&reader, &message)) != NTRACE_ERR_AGAIN) {
		if (got == NTRACE_WIRE_MESSAGE)
			ntrace_flow_message(flow, &message);
		else
			ntrace_flow_wire_error(flow, message.offset);
	}
	ntrace_flow_end(flow, ntrace_reader_pending(&reader));
	ntrace_flow_free(flow);
}

/* The walker: a program counter, and return addresses for encoders that infer returns. */
struct walker {
	struct ntrace_query *query;
	const struct ntrace_space *space;
	struct ntrace_isa isa;
	uint64_t pc, stack[1024];
	size_t depth;
	unsigned int events[NTRACE_QUERY_END + 1], decided;
	uint64_t mask;
};

static bool fetch(const struct walker *walker, struct ntrace_insn *insn)
{
	const uint8_t *bytes;
	size_t available;

	return !ntrace_space_read(walker->space, walker->pc, &bytes, &available) &&
	       !ntrace_insn_decode(&walker->isa, bytes, available, walker->pc, insn);
}

static void take_transfer(struct walker *walker, const struct ntrace_insn *insn)
{
	uint64_t next = walker->pc + insn->size, target;
	bool taken;

	walker->pc = next;
	if (insn->insn_class == NTRACE_INSN_BRANCH) {
		if (ntrace_query_branch(walker->query, &taken) == 1)
			walker->decided++;
		else if (taken)
			walker->pc = insn->target;
		return;
	}
	if (ntrace_insn_is_call(insn->insn_class) && walker->depth < 1024)
		walker->stack[walker->depth++] = next;
	if (!ntrace_insn_is_uninferable(insn->insn_class)) {
		if (insn->insn_class != NTRACE_INSN_PLAIN && insn->insn_class != NTRACE_INSN_TRAP)
			walker->pc = insn->target;
		return;
	}
	if (!ntrace_query_target(walker->query, &target))
		walker->pc = target;
	else if (insn->insn_class == NTRACE_INSN_RETURN && walker->depth)
		walker->pc = walker->stack[walker->depth - 1];
	if (insn->insn_class == NTRACE_INSN_RETURN && walker->depth)
		walker->depth--;
}

static void take_query_event(struct walker *walker)
{
	struct ntrace_query_event event;

	if (ntrace_query_event(walker->query, &event))
		return;
	walker->events[event.type]++;
	if (event.type == NTRACE_QUERY_SYNC)
		walker->depth = 0;
	if (event.type <= NTRACE_QUERY_TARGET)
		walker->pc = event.address;
}

static void walk_query(struct walker *walker, const struct ntrace_params *params,
		       const uint8_t *data, size_t size)
{
	uint64_t parcels;
	int got;

	by_query.count = 0;
	if (ntrace_query_new(&walker->query, params, 0, data, size))
		abort();
	while ((got = ntrace_query_left(walker->query, &parcels)) >= 0 &&
	       by_query.count < PCS_MAX) {
		struct ntrace_insn insn;

		if (got) {
			take_query_event(walker);
			continue;
		}
		if (!fetch(walker, &insn))
			break;
		/* Else I-CNT ends inside the instruction. */
		if (ntrace_query_retire(walker->query, insn.size / 2u) < 0)
			continue;
		add_pc(&by_query, walker->pc);
		take_transfer(walker, &insn);
		walker->pc &= walker->mask;
	}
	ntrace_query_free(walker->query);
}

/* Walks in both ways. Return: the walker, for its counts. */
static struct walker check_same(const char *what, const char *text, const uint8_t *data,
				size_t size, struct ntrace_space *space)
{
	struct ntrace_params params = params_of(text);
	struct walker walker = { .space = space,
				 .isa = { .xlen = (uint8_t)params.xlen, .compressed = true },
				 .mask = params.xlen == 32 ? UINT32_MAX : UINT64_MAX };
	size_t same = 0;

	walk_flow(&params, data, size, space);
	walk_query(&walker, &params, data, size);
	while (same < by_flow.count && same < by_query.count &&
	       by_flow.pc[same] == by_query.pc[same])
		same++;
	ok(by_flow.count && by_flow.count == by_query.count && same == by_flow.count,
	   "%s: %zu instructions of the flow, %zu of the walker, %zu the same", what, by_flow.count,
	   by_query.count, same);
	return walker;
}

static void test_xrle(void)
{
	const char *stream = shared_file("xrle.nex"), *elf = shared_file("xrle.elf");
	struct ntrace_object *object;
	struct ntrace_space *space;
	struct walker walker;
	uint8_t *data;
	size_t size;

	if (!stream || !elf)
		return;
	data = read_file(stream, &size);
	space = new_space("xrle");
	is_u64(ntrace_object_open_elf(&object, elf), 0, "open xrle.elf");
	ntrace_space_map_linked(space, object, 0);
	walker = check_same("xrle.nex", "xlen=32", data, size, space);
	ok(by_query.count > 10000 && walker.events[NTRACE_QUERY_SYNC] &&
		   walker.events[NTRACE_QUERY_END] == 1,
	   "xrle.nex: whole");
	ntrace_object_put(object);
	ntrace_space_put(space);
	free(data);
}

/* 1000 c.add; 1002 b 1002; 1006 jal 2000; 100a j 1000; 2000 c.add; 2002 ret */
static struct ntrace_space *program(void)
{
	struct ntrace_space *space = new_space("program");
	struct code code = { .start = 0x1000 }, callee = { .start = 0x2000 };

	put(&code, C_ADD);
	put_branch(&code, 0x1002);
	put_jal(&code, 1, 0x2000);
	put_jal(&code, 0, 0x1000);
	add_code(space, &code);
	put(&callee, C_ADD);
	put(&callee, C_RET);
	add_code(space, &callee);
	return space;
}

#define SYNC "ProgTraceSync SYNC=5 ICNT=0 FADDR=0x1000>>1;"

static struct walker check_text(const char *what, const char *params_text, const char *text)
{
	struct ntrace_params params = params_of(params_text);
	static uint8_t data[1 << 14];
	size_t size = stream_of(text, &params, data, sizeof(data));
	struct ntrace_space *space = program();
	struct walker walker = check_same(what, params_text, data, size, space);

	ntrace_space_put(space);
	return walker;
}

static void test_written(void)
{
	struct walker walker;

	check_text("BTM", "",
		   SYNC "DirectBranch ICNT=3; x5 DirectBranch ICNT=2;"
			"IndirectBranch BTYPE=0 ICNT=6 UADDR=5; DirectBranch ICNT=5;");
	walker = check_text("I-CNT inside an instruction", "",
			    SYNC
			    "x3 DirectBranch ICNT=3; ProgTraceSync SYNC=2 ICNT=1 FADDR=0x1002>>1;"
			    "DirectBranch ICNT=2; ProgTraceSync SYNC=2 ICNT=1 FADDR=0x1002>>1;"
			    "DirectBranch ICNT=2;");
	ok(walker.events[NTRACE_QUERY_LOSS] == 2 && walker.events[NTRACE_QUERY_SYNC] == 3,
	   "two losses, and the sync after each");
	check_text("BTM, repeated", "",
		   SYNC "DirectBranch ICNT=3; DirectBranch ICNT=2;"
			"RepeatBranch BCNT=500; DirectBranch ICNT=2;");
	check_text("HTM", "",
		   SYNC "ResourceFull RCODE=1 HIST=0x1f; ResourceFull RCODE=2 HIST=0xf HREPEAT=40;"
			"IndirectBranchHist BTYPE=0 ICNT=255 UADDR=0 HIST=2;");
	check_text("HTM, implicit return", "impret=3",
		   SYNC "x30 ResourceFull RCODE=1 HIST=0x5a; ResourceFull RCODE=1 HIST=0x7ff;");
	walker = check_text("trap, trace off, a message that is damaged", "",
			    SYNC
			    "DirectBranch ICNT=3; IndirectBranch BTYPE=2 ICNT=2 UADDR=0x1800;"
			    "IndirectBranch BTYPE=0 ICNT=2 UADDR=0x1800;"
			    "ProgTraceCorrelation EVCODE=4 CDF=0 ICNT=1; Ownership PROCESS=0x26;"
			    "[70 D0 1D];" SYNC "DirectBranch ICNT=3; Error ETYPE=0 ECODE=3;" SYNC
			    "DirectBranch ICNT=3; [02];" SYNC "x3 DirectBranch ICNT=3;");
	ok(walker.events[NTRACE_QUERY_TRAP] == 1 && walker.events[NTRACE_QUERY_TRACE_OFF] == 1 &&
		   walker.events[NTRACE_QUERY_OWNERSHIP] == 1 &&
		   walker.events[NTRACE_QUERY_LOSS] >= 2,
	   "events: %u trap, %u off, %u owners, %u losses", walker.events[NTRACE_QUERY_TRAP],
	   walker.events[NTRACE_QUERY_TRACE_OFF], walker.events[NTRACE_QUERY_OWNERSHIP],
	   walker.events[NTRACE_QUERY_LOSS]);
}

/* The address of a sync decides a branch that no bit reports. */
static void test_decided(void)
{
	struct walker walker = check_text(
		"a branch before a sync", "",
		SYNC "ProgTraceSync SYNC=2 ICNT=3 FADDR=0x1002>>1; DirectBranch ICNT=2;");

	is_u64(walker.decided, 1, "one branch was decided by an address");
}

static void test_refusals(void)
{
	const uint8_t nothing[1] = { 0 };
	struct ntrace_query_event event;
	struct ntrace_query *query;
	struct ntrace_params params;
	uint64_t parcels;

	ntrace_params_init(&params);
	params.xlen = 16;
	is_u64(ntrace_query_new(&query, &params, 0, nothing, 0), NTRACE_ERR_INVALID, "xlen 16");
	is_u64(ntrace_query_new(&query, NULL, 0, nothing, 0), 0, "an empty stream");
	is_u64(ntrace_query_retire(query, 1), NTRACE_ERR_INVALID, "no instruction was executed");
	is_u64(ntrace_query_left(query, &parcels), 1, "an event is next");
	is_u64(ntrace_query_event(query, &event), 0, "it comes");
	is_u64(event.type, NTRACE_QUERY_END, "the end");
	is_u64(ntrace_query_event(query, &event), NTRACE_ERR_EOS, "and nothing after it");
	ntrace_query_free(query);
}

/* The event after the sync of @text, without the code before it; @bits: history bits before it. */
static struct ntrace_query_event event_of(const char *text, uint64_t *bits)
{
	struct ntrace_query_event event = { 0 };
	struct ntrace_params params = params_of("");
	struct ntrace_query *query;
	uint8_t data[256];
	size_t size = stream_of(text, &params, data, sizeof(data));
	uint64_t parcels;
	bool taken;

	*bits = 0;
	if (ntrace_query_new(&query, &params, 0, data, size))
		abort();
	ntrace_query_left(query, &parcels);
	ntrace_query_event(query, &event);
	is_u64(event.type, NTRACE_QUERY_SYNC, "%s: a sync", text);
	while (!ntrace_query_left(query, &parcels) && !ntrace_query_branch(query, &taken))
		++*bits;
	ntrace_query_event(query, &event);
	ntrace_query_free(query);
	return event;
}

/* More than an encoder can have counted. */
static void test_limits(void)
{
	struct ntrace_query_event event;
	uint64_t bits;

	event = event_of(SYNC "ResourceFull RCODE=2 HIST=2 HREPEAT=0x1000000;", &bits);
	ok(event.type == NTRACE_QUERY_END && bits == 0x1000000, "2^24 repetitions: %" PRIu64, bits);
	event = event_of(SYNC "ResourceFull RCODE=2 HIST=2 HREPEAT=0x1000001;", &bits);
	ok(event.type == NTRACE_QUERY_LOSS && event.code == NTRACE_QUERY_LOSS_MESSAGE && !bits,
	   "one more is a loss");
	event = event_of(SYNC "x2 ResourceFull RCODE=0 ICNT=0x2000000000000000;", &bits);
	is_u64(event.type, NTRACE_QUERY_END, "2^62 parcels in two messages");
	event = event_of(SYNC "ResourceFull RCODE=0 ICNT=0x4000000000000000;"
			      "ResourceFull RCODE=0 ICNT=1;",
			 &bits);
	ok(event.type == NTRACE_QUERY_LOSS && event.code == NTRACE_QUERY_LOSS_MESSAGE,
	   "one more is a loss");
}

int main(void)
{
	test_refusals();
	test_limits();
	test_written();
	test_decided();
	test_xrle();
	return done_testing();
}
