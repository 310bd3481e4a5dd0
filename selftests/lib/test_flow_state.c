// SPDX-License-Identifier: GPL-2.0-only
/* The state besides the program flow: time, context, errors; and their text. */
#include "test_flow.h"

#define SYNC_1000 "24 15 00 83 "	/* ProgTraceSync SYNC 5 PC 0x1000 */

static struct flow_log flow_log;

/* 1000 jal x1, 1100; 1004 c.add; 1006 c.add; 1100 c.add; 1102 c.ret */
static struct ntrace_space *program(void)
{
	struct ntrace_space *space = new_space("program");
	struct code at_1000 = { .start = 0x1000 }, at_1100 = { .start = 0x1100 };

	put_jal(&at_1000, 1, 0x1100);
	put(&at_1000, C_ADD);
	put(&at_1000, C_ADD);
	put(&at_1100, C_ADD);
	put(&at_1100, C_RET);
	add_code(space, &at_1000);
	add_code(space, &at_1100);
	return space;
}

static void check(const char *what, struct ntrace_space *space, const char *params,
		  const char *bytes, const char *flow)
{
	is_str(flow_text(&flow_log, params, bytes, space), flow, "%s: %s", what, bytes);
}

/* The time of every event except blocks. */
static int log_time(void *data, const struct ntrace_flow_event *event)
{
	if (event->type == NTRACE_FLOW_BLOCK)
		return 0;
	if (event->time_known)
		log_add(data, "%" PRIu64 " ", event->time);
	else
		log_add(data, "? ");
	return 0;
}

/* Every event with its text line. */
static int log_line(void *data, const struct ntrace_flow_event *event)
{
	char text[400];

	ntrace_flow_describe(event, text, sizeof(text));
	log_add(data, "%s|", text);
	return 0;
}

static bool any_src;

/* Feeds hex. Return: the log of @callback. */
static const char *feed(struct ntrace_space *space, const char *settings, const char *hex,
			ntrace_flow_callback *callback, const struct ntrace_contexts *contexts)
{
	struct ntrace_flow_config config = { .size = sizeof(config),
					     .params = params_at(settings) };
	struct ntrace_flow *flow;
	uint8_t data[512];
	size_t size = from_hex(hex, data, sizeof(data));

	config.event = callback;
	config.data = &flow_log;
	config.space = space;
	config.contexts = contexts;
	config.src = any_src ? NTRACE_SRC_ANY : config.params->src_bits ? 1 : 0;
	flow_log.at = 0;
	flow_log.text[0] = '\0';
	if (ntrace_flow_new(&flow, &config))
		return "no flow";
	feed_flow(flow, config.params, data, size, size, true);
	ntrace_flow_free(flow);
	return flow_log.text;
}

/* ProgTraceSync SYNC 5 PC 0x1000 TSTAMP n; Ownership PROCESS 0xC TSTAMP n, two digits each. */
#define SYNC_AT(n) "24 15 00 81 " n " "
#define OWN_AT(n) "08 31 " n " "

static void test_time(void)
{
	static const struct {
		const char *what;
		const char *params;
		const char *bytes;
		const char *times;
	} cases[] = {
		{ "timestamps: absolute at a sync, added elsewhere", "", SYNC_AT("2B") OWN_AT("17"),
		  "10 15 " },
		{ "timestamps: the difference is to the last one reported", "",
		  SYNC_AT("2B") OWN_AT("17") "08 33 " OWN_AT("0F"), "10 15 15 18 " },
		{ "timestamps: XOR, where the encoder does so", "tsdelta=xor",
		  SYNC_AT("2B") OWN_AT("0F") OWN_AT("0F"), "10 9 10 " },
		{ "timestamps: XOR of 64 bits", "tsbits=64,tsdelta=xor", SYNC_AT("2B") OWN_AT("0F"),
		  "10 9 " },
		{ "timestamps: SiFive always does", "dialect=sifive-v0", SYNC_AT("2B") OWN_AT("0F"),
		  "10 9 " },
		{ "timestamps: a narrow counter that wraps, absolute", "tsbits=4",
		  SYNC_AT("3B") SYNC_AT("0B") SYNC_AT("07"), "14 18 33 " },
		{ "timestamps: a narrow counter that wraps, XOR", "tsbits=4,tsdelta=xor",
		  SYNC_AT("3B") OWN_AT("33") OWN_AT("0F"), "14 18 33 " },
		{ "timestamps: a difference goes across a wrap", "tsbits=4",
		  SYNC_AT("3B") OWN_AT("13"), "14 18 " },
		{ "timestamps: two syncs at the same time", "tsbits=4", SYNC_AT("3B") SYNC_AT("3B"),
		  "14 14 " },
		{ "more bits than the counter has are taken unchanged", "tsbits=4",
		  SYNC_AT("6F") SYNC_AT("AF"), "27 43 " },
		{ "timestamps: a counter of 64 bits", "tsbits=64",
		  SYNC_AT("2B") OWN_AT("17") SYNC_AT("17"), "10 15 5 " },
		{ "no time before the first sync that has one", "", SYNC_1000 OWN_AT("17"),
		  "? ? " },
		{ "timestamps: after an Error the next sync anchors anew", "",
		  SYNC_AT("2B") "20 01 07 24 1D 00 83 " OWN_AT("07") SYNC_AT("53"),
		  "10 11 11 ? ? 20 " },
		/* SYNC 2 ICNT 0 PC 0x1100, which the flow has not reached, TSTAMP 20 */
		{ "timestamps: a sync has its time even if the earlier flow does not lead there",
		  "", SYNC_AT("2B") "24 09 00 89 53 " OWN_AT("07"), "10 20 20 20 21 " },
		{ "a vendor's message with one variable field has no timestamp", "tsbits=40",
		  SYNC_AT("2B") "E0 07 " OWN_AT("07"), "10 10 11 " },
		{ "one with several may have had one, up to the next sync", "tsbits=40",
		  SYNC_AT("2B") "E0 05 07 " OWN_AT("07") SYNC_AT("53"), "10 ? ? 20 " },
		{ "one with several, where the width of the counter is not known", "",
		  SYNC_AT("2B") "E0 05 07 " OWN_AT("07") SYNC_AT("53"), "10 ? ? 20 " },
		{ "timestamps: whole ones in every message", "tsbits=8,tsdelta=abs",
		  SYNC_AT("2B") OWN_AT("53") OWN_AT("7B") SYNC_AT("7B") OWN_AT("07"),
		  "10 20 30 30 257 " },
		{ "timestamps: a vendor's message ends with one", "tsbits=40,vendorts=1",
		  SYNC_AT("2B") "E0 05 07 " OWN_AT("07") SYNC_AT("53"), "10 11 12 20 " },
		{ "an unknown message may be a damaged one, with a timestamp", "tsbits=40",
		  SYNC_AT("2B") "FC 03 " OWN_AT("07"), "10 ? ? " },
	};
	struct ntrace_space *space = program();

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *got = feed(space, cases[i].params, cases[i].bytes, log_time, NULL);

		is_str(got, cases[i].times, "%s: %s", cases[i].what, cases[i].bytes);
	}
	ntrace_space_put(space);
}

static int log_context(void *data, const struct ntrace_flow_event *event)
{
	const struct ntrace_context *context = event->context;

	log_add(data, "%s:%s", ntrace_flow_type_name(event->type),
		event->space ? ntrace_space_name(event->space) : "none");
	if (context->prv_known)
		log_add(data, " %u%u", context->prv, context->v);
	if (context->scontext_known)
		log_add(data, " s%" PRIx64, context->scontext);
	if (context->hcontext_known)
		log_add(data, " h%" PRIx64, context->hcontext);
	log_add(data, "; ");
	return 0;
}

/* Ownerships and warnings, and the addresses to which they apply. */
static int log_where(void *data, const struct ntrace_flow_event *event)
{
	if (event->type != NTRACE_FLOW_OWNERSHIP && event->type != NTRACE_FLOW_WARNING)
		return 0;
	log_add(data, "%s ", ntrace_flow_type_name(event->type));
	log_place(data, event->next_known, event->address);
	return 0;
}

/* Messages that somebody has separated by encoder, and that tell which one it was. */
static void test_sources(void)
{
	struct ntrace_space *space = program();
	const char *two = "24 54 01 00 83 24 58 01 00 83";

	is_str(feed(space, "srcbits=2", two, log_context, NULL), "sync:program; ",
	       "SRC 1: the message of SRC 2 is another hart's");
	any_src = true;
	is_str(feed(space, "srcbits=2", two, log_context, NULL), "sync:program; sync:program; ",
	       "any SRC: both are taken");
	any_src = false;
	ntrace_space_put(space);
}

static void test_ownership(void)
{
	struct ntrace_context_match match = { .size = sizeof(match),
					      .scontext_mask = ~UINT64_C(0) };
	struct ntrace_space *space = program(), *other = new_space("other");
	struct ntrace_contexts *contexts;

	is_str(feed(space, "", SYNC_1000 "08 C8 3B 08 F3", log_context, NULL),
	       "sync:program; ownership:program 01 s1d; ownership:program 31 s1d; ",
	       "messages: FORMAT 2 reports scontext, FORMAT 0 keeps it");
	is_str(feed(space, "", SYNC_1000 "08 C8 3B", log_context, NULL),
	       "sync:program; ownership:program 01 s1d; ",
	       "messages: an Ownership may be the last message");
	is_str(feed(space, "", SYNC_1000 "08 1C 0F 08 C8 3B", log_context, NULL),
	       "sync:program; ownership:program 10 h6; ownership:program 01 s1d h6; ",
	       "synchronization: hcontext (FORMAT 3), then scontext (FORMAT 2)");
	is_str(feed(space, "", SYNC_1000 "08 07", log_context, NULL),
	       "sync:program; warning:program; ownership:program; ",
	       "messages: FORMAT 1 is reserved");
	is_str(feed(space, "", "08 C8 3B " SYNC_1000, log_context, NULL), "sync:program; ",
	       "framing: Ownership before a sync is dropped");
	is_str(feed(space, "", SYNC_1000 "08 C8 3B 20 03 24 1D 00 83", log_context, NULL),
	       "sync:program; ownership:program 01 s1d; error:program 01 s1d; "
	       "gap:program 01 s1d; sync:program; ",
	       "decoding: after an Error no context is known");
	is_str(feed(space, "", SYNC_1000 "08 C8 3B 24 09 00 83", log_context, NULL),
	       "sync:program; ownership:program 01 s1d; sync:program 01 s1d; ",
	       "a periodic sync does");
	is_str(feed(space, "", SYNC_1000 "08 1C 0F 08 C8 3B 24 09 00 83 08 C8 3B", log_context,
		    NULL),
	       "sync:program; ownership:program 10 h6; ownership:program 01 s1d h6; "
	       "sync:program 01 s1d h6; ownership:program 01 s1d; ",
	       "synchronization: the Ownership after a sync reports the whole context");
	/* A jump to 5000, which is unmapped, and a message that shows it. */
	is_str(feed(space, "", SYNC_1000 "08 C8 3B 08 07 10 41 00 00 0B 0C 0F 08 C8 3B 08 07",
		    log_where, NULL),
	       "ownership 1000 warning 1000 ownership 1000 ownership ? warning ? ownership ? ",
	       "messages: Ownership applies at the current position, if there is one");
	is_str(feed(space, "", SYNC_1000 "08 C8 3B 84 00 03 " SYNC_1000, log_context, NULL),
	       "sync:program; ownership:program 01 s1d; trace off:program 01 s1d; sync:program; ",
	       "synchronization: after trace is enabled again, the context follows the sync");
	is_str(feed(space, "", SYNC_1000 "08 C8 3B 24 15 00 8B", log_context, NULL),
	       "sync:program; ownership:program 01 s1d; gap:program; sync:program; ",
	       "synchronization: SYNC 5 at another place: trace was off, the owner is unknown");
	is_str(feed(space, "", SYNC_1000 "08 C8 3B 24 05 00 8B", log_context, NULL),
	       "sync:program; ownership:program 01 s1d; sync:program; ",
	       "synchronization: a context from before a reset is not the owner after it");
	is_str(feed(space, "dialect=sifive-v0,owner=stored", SYNC_1000 "08 C8 3B 08 33",
		    log_context, NULL),
	       "sync:program; ownership:program s3b2; ownership:program sc; ",
	       "P14 SiFive v0: PROCESS is an id that software stored, and nothing else");
	is_str(feed(space, "dialect=sifive-v0,owner=context", SYNC_1000 "08 13 08 C8 3B 08 F3",
		    log_context, NULL),
	       "sync:program; ownership:program 10; ownership:program 01 s1d; "
	       "ownership:program 31 s1d; ",
	       "P14 SiFive v0: or a context, as in N-Trace 1.0");
	/* As in captures of Linux, but for SRC: FORMAT 3 and 2, then 0 for each privilege. */
	is_str(feed(space, "dialect=sifive-v0", SYNC_1000 "08 1F 08 9B 08 03 08 13", log_context,
		    NULL),
	       "sync:program; ownership:program 10 h0; ownership:program 10 s1 h0; "
	       "ownership:program 00 s1 h0; ownership:program 10 s1 h0; ",
	       "P14 SiFive v0: contexts directly follow the sync");
	is_str(feed(space, "dialect=sifive-v0", SYNC_1000 "08 13 08 C8 3B 08 33", log_context,
		    NULL),
	       "sync:program; ownership:program s4; ownership:program s3b2; "
	       "ownership:program sc; ",
	       "P14 SiFive v0: or what software stores comes at any time");
	is_str(feed(space, "dialect=sifive-v0", SYNC_1000 "08 C8 3B 08 07 08 C8 3B", log_context,
		    NULL),
	       "sync:program; ownership:program 01 s1d; ownership:program s1; "
	       "ownership:program s3b2; ",
	       "P14 SiFive v0: with FORMAT 1, the first one was a number as well");
	is_str(feed(space, "dialect=sifive-v0",
		    SYNC_1000 "08 C8 3B 24 09 00 83 24 09 00 83 08 C8 3B", log_context, NULL),
	       "sync:program; ownership:program 01 s1d; sync:program 01 s1d; sync:program; "
	       "ownership:program s3b2; ",
	       "P14 SiFive v0: and where none follows the next sync");
	is_str(feed(space, "owner=stored", SYNC_1000 "08 C8 3B 08 33", log_context, NULL),
	       "sync:program; ownership:program s3b2; ownership:program sc; ",
	       "P14: the parameter counts in each dialect");
	ok(!ntrace_contexts_new(&contexts), "registry");
	match.scontext = 5;
	is_u64(ntrace_contexts_add(contexts, other, &match), 0, "space of scontext 5");
	/* PROCESS 5 << 5 | 2 = 0xa2, and 6 << 5 | 2 = 0xc2 */
	feed(space, "", SYNC_1000 "08 88 0B 08 08 0F", log_context, contexts);
	is_str(flow_log.text, "sync:program; ownership:other 00 s5; ownership:program 00 s6; ",
	       "a registry of contexts chooses the space");
	ntrace_contexts_free(contexts);
	ntrace_space_put(space);
	ntrace_space_put(other);
}

static void test_returns(void)
{
	struct ntrace_space *space = program();
	/* jal 2, c.add 1, c.ret 1, c.add 1, c.add 1 */
	const char *twice = SYNC_1000 "84 00 17 " SYNC_1000 "84 00 17";

	check("implicit return: mode 1 may infer a wrong address, one warning", space, "impret=1",
	      twice,
	      "sync5@1000 1000 W18@1102 1100 1102 1004 ! off0@1006 "
	      "sync5@1000 1000 1100 1102 1004 ! off0@1006");
	check("implicit return: mode 2 may infer a wrong address", space, "impret=2",
	      SYNC_1000 "84 00 17", "sync5@1000 1000 W18@1102 1100 1102 1004 ! off0@1006");
	/* IndirectBranch ICNT 4 to 1004 */
	check("implicit return: a reported return is right", space, "impret=1",
	      SYNC_1000 "10 41 0B 84 00 07", "sync5@1000 1000 1100 1102 1004 ! off0@1006");
	check("implicit return: a return where trace stops is not inferred", space, "impret=1",
	      SYNC_1000 "84 00 13", "sync5@1000 1000 1100 1102 off0@1004");
	check("implicit return: mode 3 compares all", space, "impret=3", SYNC_1000 "84 00 17",
	      "sync5@1000 1000 1100 1102 1004 ! off0@1006");
	/* SYNC 0 at 0x1100, after the call */
	for (unsigned int sync = 0; sync < 16; sync++) {
		bool marker = sync == 0 || sync == 4 || sync == 6;
		char hex[64], expected[100];

		/* At the target of the call, so that no gap clears the stack. */
		snprintf(hex, sizeof(hex), SYNC_1000 "24 %02X 00 8B 84 00 0F",
			 (sync | 0x20) << 2 | 1);
		snprintf(expected, sizeof(expected), "sync5@1000 1000 sync%u@1100 %s", sync,
			 marker ? "1100 1102 1004 ! off0@1006" : "E7@1102 gap off0@?");
		check("synchronization: every sync but a marker clears the stack", space, "", hex,
		      expected);
	}
	ntrace_space_put(space);
}

/*
 * Blocks as their address, with T if the branch at their end was taken; other events as
 * log_event().
 */
static int log_taken(void *data, const struct ntrace_flow_event *event)
{
	if (event->type != NTRACE_FLOW_BLOCK)
		return log_event(data, event);
	log_add(data, "%" PRIx64 "%s ", event->address, event->taken ? "T" : "");
	return 0;
}

/*
 * A ProgTraceSync whose I-CNT ends at a branch (N-Trace 1.0, "synchronization" and "decoding").
 * F-ADDR gives the branch target only if the hart continued to run; after a reset or a gap it does
 * not.
 */
static void test_sync_at_branch(void)
{
	/* By SYNC: hart continued, reset or power-down, trace was off, reserved or vendor. */
	static const char kinds[] = "CRCOCOCOXRXXXXXX";
	struct ntrace_space *space = new_space("branch");
	struct code code = { .start = 0x1000 }, next = { .start = 0x2000 };

	put(&code, C_ADD);
	put_branch(&code, 0x1100);
	add_code(space, &code);
	put(&next, C_ADD);
	put_branch(&next, 0x2006);
	add_code(space, &next);
	for (unsigned int sync = 0; sync < 16; sync++) {
		char target[64], elsewhere[64], expected[100];
		char kind = kinds[sync];

		/* SYNC, ICNT 3, F-ADDR 0x1100 and 0x1200 */
		snprintf(target, sizeof(target), SYNC_1000 "24 %02X 00 8B", (sync | 0x30) << 2 | 1);
		snprintf(elsewhere, sizeof(elsewhere), SYNC_1000 "24 %02X 00 93",
			 (sync | 0x30) << 2 | 1);
		snprintf(expected, sizeof(expected), "sync5@1000 1000%s %ssync%u@1100 ",
			 kind == 'C' || kind == 'X' ? "T" : "", kind == 'O' ? "gap " : "", sync);
		is_str(feed(space, "", target, log_taken, NULL), expected,
		       "SYNC %u at the target of the branch", sync);
		snprintf(expected, sizeof(expected), "sync5@1000 1000 %s%ssync%u@1200 ",
			 kind == 'C' ? "E12@1006 " : "", kind == 'R' ? "" : "gap ", sync);
		is_str(feed(space, "", elsewhere, log_taken, NULL), expected,
		       "SYNC %u at neither end of the branch", sync);
	}
	/* SYNC 5 PC 0x2000; SYNC 2 ICNT 3 PC 0x2006 */
	is_str(feed(space, "mode=btm", "24 15 00 00 07 24 C9 0C 00 07", log_taken, NULL),
	       "sync5@2000 2000 sync2@2006 ",
	       "decoding: a branch to the next instruction is not taken without DirectBranch");
	ntrace_space_put(space);
}

/* Reserved and vendor codes are reported unchanged. */
static void test_codes(void)
{
	struct ntrace_space *space = program();

	for (unsigned int code = 0; code < 16; code++) {
		char hex[64], expected[64];

		snprintf(hex, sizeof(hex), "24 %02X 00 83", code << 2 | 1);
		snprintf(expected, sizeof(expected), "sync%u@1000", code);
		check("synchronization: every SYNC is reported", space, "", hex, expected);
		snprintf(hex, sizeof(hex), SYNC_1000 "84 %02X 0B", code << 2);
		snprintf(expected, sizeof(expected), "sync5@1000 1000 off%u@1100", code);
		check("messages: every EVCODE is reported", space, "", hex, expected);
	}
	check("messages: CDF 2 is reserved", space, "", SYNC_1000 "84 80 0B",
	      "sync5@1000 1000 W2@1100 off0@1100");
	check("messages: CDF 3 is reserved", space, "", SYNC_1000 "84 C0 0B",
	      "sync5@1000 1000 W2@1100 off0@1100");
	ntrace_space_put(space);
}

static void test_describe(void)
{
	struct ntrace_space *space = program();

	is_str(feed(space, "srcbits=2", "24 54 01 00 81 2B 20 04 11 07 24 54 01 00 00 07 84 04 23",
		    log_line, NULL),
	       "sync: trace enable (SYNC 5), offset 0x0, SRC 1, PC 0x1000 of code, "
	       "space program, time 10|"
	       "error: the encoder lost trace: queue overrun (ETYPE 0) ECODE 0x4, offset 0x6, "
	       "SRC 1, PC 0x1000 of code, space program, time 11|"
	       "gap, offset 0x6, SRC 1, PC 0x1000 of code, space program, time 11|"
	       "sync: trace enable (SYNC 5), offset 0xa, SRC 1, PC 0x2000, "
	       "space program|"
	       "error: no memory is known at this address, offset 0x10, SRC 1, PC 0x2000, "
	       "space program|"
	       "gap, offset 0x10, SRC 1, PC 0x2000, space program|"
	       "trace off: debug entry (EVCODE 0), offset 0x10, SRC 1|",
	       "decoding: a line names offset, SRC, PC, reason, image, space, time");
	is_str(feed(space, "", SYNC_1000 "20 03 20 03 84 10 07 0C 07", log_line, NULL),
	       "sync: trace enable (SYNC 5), offset 0x0, SRC 0, PC 0x1000 of code, space program|"
	       "error: the encoder lost trace: queue overrun (ETYPE 0) ECODE 0x0, offset 0x4, "
	       "SRC 0, PC 0x1000 of code, space program|"
	       "gap, offset 0x4, SRC 0, PC 0x1000 of code, space program|"
	       "error: the encoder lost trace: queue overrun (ETYPE 0) ECODE 0x0, offset 0x6, "
	       "SRC 0|"
	       "trace off: trace disable (EVCODE 4), offset 0x8, SRC 0|"
	       "gap, offset 0xb, SRC 0|",
	       "no PC where the flow is lost");
	is_str(feed(space, "", SYNC_1000 "FF 02", log_line, NULL),
	       "sync: trace enable (SYNC 5), offset 0x0, SRC 0, PC 0x1000 of code, space program|"
	       "error: reserved MSEO code, offset 0x5, SRC 0, PC 0x1000 of code, space program|"
	       "gap, offset 0x5, SRC 0, PC 0x1000 of code, space program|",
	       "framing: where the reserved code is");
	is_str(feed(space, "dialect=sifive-v0", "24 2D 00 83", log_line, NULL),
	       "sync: message contention (SYNC 11), offset 0x0, SRC 0, PC 0x1000 of code, "
	       "space program|",
	       "dialects: names are those of the dialect");
	ntrace_space_put(space);
}

int main(void)
{
	test_time();
	test_sources();
	test_ownership();
	test_returns();
	test_sync_at_branch();
	test_codes();
	test_describe();
	return done_testing();
}
