// SPDX-License-Identifier: GPL-2.0-only
/* The text of each flow event, and the names of its values (N-Trace 1.0, "messages"). */
#include <ntrace/flow.h>

#include "tap.h"

static struct ntrace_context context;
static char text[400];

static const char *describe(struct ntrace_flow_event event)
{
	ntrace_flow_describe(&event, text, sizeof(text));
	return text;
}

static void test_types(void)
{
	static const struct {
		struct ntrace_flow_event event;
		const char *text;
	} cases[] = {
		{ { .type = NTRACE_FLOW_BLOCK,
		    .instructions = 3,
		    .address = 0x1000,
		    .last = 0x1008,
		    .insn_class = NTRACE_INSN_PLAIN,
		    .offset = 0x20 },
		  "block: 3 instructions to 0x1008, plain, offset 0x20, SRC 0, PC 0x1000" },
		{ { .type = NTRACE_FLOW_BLOCK,
		    .instructions = 1,
		    .address = 0x1000,
		    .last = 0x1000,
		    .insn_class = NTRACE_INSN_BRANCH,
		    .taken = true,
		    .src = 5 },
		  "block: 1 instructions to 0x1000, branch, taken, offset 0x0, SRC 5, PC 0x1000" },
		{ { .type = NTRACE_FLOW_BLOCK,
		    .instructions = 1,
		    .address = 0x1000,
		    .last = 0x1000,
		    .insn_class = NTRACE_INSN_RETURN,
		    .provisional = true },
		  "block: 1 instructions to 0x1000, return, provisional, offset 0x0, SRC 0, PC "
		  "0x1000" },
		{ { .type = NTRACE_FLOW_SYNC, .code = 5, .address = 0x80 },
		  "sync: trace enable (SYNC 5), offset 0x0, SRC 0, PC 0x80" },
		{ { .type = NTRACE_FLOW_SYNC, .code = 8, .address = 0x80 },
		  "sync: reserved (SYNC 8), offset 0x0, SRC 0, PC 0x80" },
		{ { .type = NTRACE_FLOW_SYNC,
		    .code = 15,
		    .address = 0x80,
		    .dialect = NTRACE_DIALECT_SIFIVE_V0 },
		  "sync: PC sample (SYNC 15), offset 0x0, SRC 0, PC 0x80" },
		{ { .type = NTRACE_FLOW_TRAP, .code = 3, .address = 0x80 },
		  "trap: interrupt (BTYPE 3), offset 0x0, SRC 0, PC 0x80" },
		{ { .type = NTRACE_FLOW_TRACE_OFF, .code = 4, .address = 0x80 },
		  "trace off: trace disable (EVCODE 4), offset 0x0, SRC 0" },
		{ { .type = NTRACE_FLOW_TRACE_OFF, .code = 0, .address = 0x80, .next_known = true },
		  "trace off: debug entry (EVCODE 0), offset 0x0, SRC 0, PC 0x80" },
		{ { .type = NTRACE_FLOW_OWNERSHIP, .value = 0x1c },
		  "ownership: privilege (PROCESS 0x1c), offset 0x0, SRC 0" },
		{ { .type = NTRACE_FLOW_OWNERSHIP, .value = 0x1d },
		  "ownership: reserved (PROCESS 0x1d), offset 0x0, SRC 0" },
		{ { .type = NTRACE_FLOW_OWNERSHIP, .value = 0x12345 * 32 + 2 },
		  "ownership: scontext 0x12345 (PROCESS 0x2468a2), offset 0x0, SRC 0" },
		{ { .type = NTRACE_FLOW_OWNERSHIP, .value = 0x12345 * 32 + 3 },
		  "ownership: hcontext 0x12345 (PROCESS 0x2468a3), offset 0x0, SRC 0" },
		{ { .type = NTRACE_FLOW_DATA, .address = 0x16, .value = 0xab },
		  "data: channel 5, 0xab (IDTAG 0x16), offset 0x0, SRC 0" },
		{ { .type = NTRACE_FLOW_GAP }, "gap, offset 0x0, SRC 0" },
		{ { .type = NTRACE_FLOW_GAP, .next_known = true, .address = 0x80 },
		  "gap, offset 0x0, SRC 0, PC 0x80" },
		{ { .type = NTRACE_FLOW_ERROR, .code = NTRACE_FLOW_ERROR_CUT },
		  "error: the stream is cut off, offset 0x0, SRC 0" },
		{ { .type = NTRACE_FLOW_ERROR, .code = NTRACE_FLOW_ERROR_LOST, .value = 0x12 },
		  "error: the encoder lost trace: queue overrun (ETYPE 0) ECODE 0x12, offset 0x0, "
		  "SRC 0" },
		{ { .type = NTRACE_FLOW_ERROR, .code = NTRACE_FLOW_ERROR_LOST, .etype = 8 },
		  "error: the encoder lost trace: vendor (ETYPE 8) ECODE 0x0, offset 0x0, SRC 0" },
		{ { .type = NTRACE_FLOW_WARNING, .code = NTRACE_FLOW_ERROR_UNKNOWN, .value = 60 },
		  "warning: unknown message (60), offset 0x0, SRC 0" },
		{ { .type = NTRACE_FLOW_WARNING, .code = NTRACE_FLOW_ERROR_SOURCE, .value = 12 },
		  "warning: a SRC that is not decoded (12), offset 0x0, SRC 0" },
		{ { .type = NTRACE_FLOW_ERROR, .code = NTRACE_FLOW_ERROR_ADDRESS, .value = 0x12 },
		  "error: F-ADDR contradicts the flow (0x12), offset 0x0, SRC 0" },
		{ { .type = NTRACE_FLOW_ERROR, .code = NTRACE_FLOW_ERROR_TRANSFER, .value = 0x12 },
		  "error: transfer reported where the code has none (0x12), offset 0x0, SRC 0" },
		{ { .type = NTRACE_FLOW_ERROR, .code = NTRACE_FLOW_ERROR_EXCESS, .value = 12 },
		  "error: more code than the stream can stand for (12), offset 0x0, SRC 0" },
		{ { .type = NTRACE_FLOW_ERROR, .code = NTRACE_FLOW_ERROR_TAIL, .value = 5 },
		  "error: the stream ends before it tells where this branch went; at least 3 more "
		  "instructions retired, offset 0x0, SRC 0" },
		{ { .type = NTRACE_FLOW_CIRCUIT, .code = NTRACE_CKSRC_CONTROL, .value = 0x12 },
		  "circuit: control (CKSRC 0) 0x12, offset 0x0, SRC 0" },
		{ { .type = NTRACE_FLOW_CIRCUIT, .code = NTRACE_CKSRC_COUNTERS, .value = 0x12 },
		  "circuit: compressed PC counters (CKSRC 12), counters 0x12, offset 0x0, SRC 0" },
		{ { .type = NTRACE_FLOW_CIRCUIT,
		    .code = NTRACE_CKSRC_CALL,
		    .value = 0x12,
		    .etype = 1,
		    .address = 0x80,
		    .next_known = true },
		  "circuit: call (CKSRC 9), to 0x12, offset 0x0, SRC 0, PC 0x80" },
		{ { .type = NTRACE_FLOW_CIRCUIT,
		    .code = NTRACE_CKSRC_CALL,
		    .value = 0x12,
		    .etype = 1 },
		  "circuit: call (CKSRC 9), offset 0x0, SRC 0" },
		{ { .type = NTRACE_FLOW_CIRCUIT,
		    .code = NTRACE_CKSRC_CALL,
		    .value = 0x12,
		    .next_known = true },
		  "circuit: call (CKSRC 9), offset 0x0, SRC 0, PC 0x0" },
		{ { .type = NTRACE_FLOW_CIRCUIT,
		    .code = NTRACE_CKSRC_WATCHPOINT,
		    .value = 12,
		    .etype = 1 },
		  "circuit: watchpoint (CKSRC 14), trigger 12, offset 0x0, SRC 0" },
		{ { .type = NTRACE_FLOW_CIRCUIT, .code = NTRACE_CKSRC_WATCHPOINT, .value = 12 },
		  "circuit: watchpoint (CKSRC 14), offset 0x0, SRC 0" },
		{ { .type = NTRACE_FLOW_CIRCUIT,
		    .code = NTRACE_CKSRC_CONTEXT,
		    .value = 12,
		    .etype = 1 },
		  "circuit: context (CKSRC 13), data 0xc, offset 0x0, SRC 0" },
		{ { .type = 99 }, "?, offset 0x0, SRC 0" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		is_str(describe(cases[i].event), cases[i].text, "event %zu", i);
	for (unsigned int i = 0; i < NTRACE_FLOW_ERROR_COUNT; i++)
		ok(*ntrace_flow_error_text(i) && strcmp(ntrace_flow_error_text(i), "unknown error"),
		   "error %u has a text", i);
	is_str(ntrace_flow_error_text(NTRACE_FLOW_ERROR_COUNT), "unknown error", "others have not");
	for (unsigned int i = 0; i <= NTRACE_FLOW_DATA; i++)
		ok(strcmp(ntrace_flow_type_name(i), "?"), "type %u has a name", i);
	is_str(ntrace_flow_type_name(NTRACE_FLOW_DATA + 1), "?", "others have not");
}

/* What follows the address. */
static void test_places(void)
{
	struct ntrace_flow_event event = { .type = NTRACE_FLOW_SYNC, .code = 2 };
	struct ntrace_object *object;
	struct ntrace_space *space;
	char small[12] = "abcdefghijk";
	int length;

	event.context = &context;
	is_str(describe(event), "sync: periodic (SYNC 2), offset 0x0, SRC 0, PC 0x0",
	       "nothing is known of the hart");
	context = (struct ntrace_context){ .prv_known = true, .prv = 1 };
	is_str(describe(event), "sync: periodic (SYNC 2), offset 0x0, SRC 0, PC 0x0, privilege S",
	       "its privilege");
	context = (struct ntrace_context){ .scontext_known = true, .scontext = 0x12 };
	is_str(describe(event), "sync: periodic (SYNC 2), offset 0x0, SRC 0, PC 0x0, scontext 0x12",
	       "scontext");
	context = (struct ntrace_context){ .hcontext_known = true, .hcontext = 0x13 };
	event.time_known = true;
	event.time = 77;
	is_str(describe(event),
	       "sync: periodic (SYNC 2), offset 0x0, SRC 0, PC 0x0, hcontext 0x13, time 77",
	       "hcontext and time");
	event.context = NULL;
	event.time_known = false;
	ntrace_object_from_bytes(&object, "program", "\x13\0\0", 4, 0x1000);
	ntrace_space_new(&space, "test", NULL);
	ntrace_space_map_linked(space, object, 0);
	event.space = space;
	event.address = 0x1000;
	is_str(describe(event),
	       "sync: periodic (SYNC 2), offset 0x0, SRC 0, PC 0x1000 of program, space test",
	       "the object of the address");
	event.address = 0x9000;
	is_str(describe(event), "sync: periodic (SYNC 2), offset 0x0, SRC 0, PC 0x9000, space test",
	       "none");
	event.space = NULL;
	length = ntrace_flow_describe(&event, small, sizeof(small));
	is_str(small, "sync: perio", "a text that does not fit is cut");
	is_u64(length, strlen(describe(event)), "the result is the length of the whole");
	is_u64(ntrace_flow_describe(&event, NULL, 0), length, "without room, too");
	is_u64(ntrace_flow_describe(&event, text, (size_t)length), length, "one byte too small");
	is_u64(strlen(text), length - 1, "lacks one character");
	ntrace_space_put(space);
	ntrace_object_put(object);
}

static void test_privileges(void)
{
	static const char *const names[] = { "U",  "S",	 "reserved", "M",
					     "VU", "VS", "reserved", "reserved" };

	for (unsigned int i = 0; i < 8; i++) {
		const struct ntrace_context of = { .prv = i & 3, .v = i >> 2 };

		is_str(ntrace_context_privilege(&of), names[i], "privilege %u", i);
	}
}

/* Values 0 to 15 of each field; NULL: none. */
static void test_values(void)
{
#define R "reserved"
#define V "vendor"
	static const struct {
		enum ntrace_field field;
		enum ntrace_dialect dialect;
		const char *names[16];
	} cases[] = {
		{ NTRACE_FIELD_SYNC,
		  NTRACE_DIALECT_RATIFIED,
		  { "external trigger", "reset exit", "periodic", "debug exit", "I-CNT full",
		    "trace enable", "trace event", "FIFO overrun", R, "power-down exit", R, R, R, R,
		    V, V } },
		{ NTRACE_FIELD_SYNC,
		  NTRACE_DIALECT_SIFIVE_V0,
		  { "external trigger", "reset exit", "periodic", "debug exit", "I-CNT full",
		    "trace enable", "trace event", "FIFO overrun", R, "power-down exit", R,
		    "message contention", R, R, V, "PC sample" } },
		{ NTRACE_FIELD_BTYPE,
		  NTRACE_DIALECT_RATIFIED,
		  { "jump", "trap", "exception", "interrupt" } },
		{ NTRACE_FIELD_BTYPE,
		  NTRACE_DIALECT_SIFIVE_V0,
		  { "jump", "trap", "hardware", "interrupt" } },
		{ NTRACE_FIELD_ETYPE,
		  NTRACE_DIALECT_RATIFIED,
		  { "queue overrun", R, R, R, R, R, R, R, V, V, V, V, V, V, V, V } },
		{ NTRACE_FIELD_EVCODE,
		  NTRACE_DIALECT_RATIFIED,
		  { "debug entry", "low power", R, R, "trace disable", R, R, R, V, V, V, V, V, V, V,
		    V } },
		{ NTRACE_FIELD_EVCODE,
		  NTRACE_DIALECT_SIFIVE_V0,
		  { "debug entry", "low power", R, R, "trace disable", R, R, R, "reset entry", V, V,
		    V, V, V, V, V } },
		{ NTRACE_FIELD_RCODE,
		  NTRACE_DIALECT_RATIFIED,
		  { "I-CNT", "HIST", "repeated HIST", R, R, R, R, R, V, V, V, V, V, V, V, V } },
		{ NTRACE_FIELD_RCODE,
		  NTRACE_DIALECT_SIFIVE_V0,
		  { "I-CNT", "HIST", "repeated HIST", R, R, R, R, R, "not taken", "taken", V, V, V,
		    V, V, V } },
		{ NTRACE_FIELD_CKSRC,
		  NTRACE_DIALECT_SIFIVE_V0,
		  { "control", R, R, R, R, R, R, R, "external trigger", "call", "exception",
		    "interrupt", "compressed PC counters", "context", "watchpoint", "PC sample" } },
		{ NTRACE_FIELD_ICNT, NTRACE_DIALECT_RATIFIED, { 0 } },
		{ NTRACE_FIELD_ICNT, NTRACE_DIALECT_SIFIVE_V0, { 0 } },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		for (unsigned int value = 0; value < 17; value++) {
			const char *name =
				ntrace_value_name(cases[i].field, value, cases[i].dialect);
			const char *want = value < 16 ? cases[i].names[value] : NULL;

			is_str(name ? name : "-", want ? want : "-", "%s %u, case %zu",
			       ntrace_field_name(cases[i].field), value, i);
		}
}

/* The bytes of a store to a stimulus register. */
static void test_data(void)
{
	static const struct {
		uint64_t tag, value;
		unsigned int count;
	} cases[] = {
		{ 0x14, 0x44332211, 4 }, { 0x14, 0x144332211, 0 }, { 0x15, 0x11, 0 },
		{ 0x16, 0x2211, 2 },	 { 0x16, 0x12211, 0 },	   { 0x17, 0x11, 1 },
		{ 0x17, 0x111, 0 },	 { 0x14, 0x11, 4 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct ntrace_flow_event event = { .type = NTRACE_FLOW_DATA,
							 .address = cases[i].tag,
							 .value = cases[i].value };
		uint8_t bytes[5] = { 0xee, 0xee, 0xee, 0xee, 0xee };
		uint32_t value = (uint32_t)cases[i].value;

		is_u64(ntrace_flow_data_bytes(&event, bytes), cases[i].count, "bytes of case %zu",
		       i);
		ok(!memcmp(bytes, &value, cases[i].count) && bytes[cases[i].count] == 0xee,
		   "lowest first, no more");
	}
}

int main(void)
{
	test_types();
	test_places();
	test_privileges();
	test_values();
	test_data();
	return done_testing();
}
