// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * The checker of the ingress port (E-Trace, chapter 4): for each rule signals that obey it, and
 * signals with one mistake, which must violate that rule and no other.
 */
#include <stdlib.h>

#include <ntrace/ingress_check.h>

#include "tap.h"

#define BLOCKS	"ntrace-ingress 1 xlen=64 itype=4 groups=3 port=block\n"
#define NARROW	"ntrace-ingress 1 xlen=32 itype=3 groups=3 port=block\n"
#define STATED                                                                                     \
	"ntrace-ingress 3 xlen=64 itype=4 groups=3 port=block retires=2 hart=5 priv=2 ctype=1 "    \
	"cause=5 iaddr=40 scontext=16 hcontext=8 impdef=4\n"
#define HART                                                                                       \
	"ntrace-ingress 3 xlen=64 itype=4 groups=2 port=block data=unified retires=4 accesses=2 "  \
	"dtype=4 lsbs=5 hart=18\n"
#define SINGLES "ntrace-ingress 1 xlen=64 itype=4 groups=3 port=single\n"
#define UNIFIED                                                                                    \
	"ntrace-ingress 2 xlen=64 itype=4 groups=2 port=block data=unified retires=4 accesses=2 "  \
	"dtype=4 lsbs=5\n"
#define UNIFIED32                                                                                  \
	"ntrace-ingress 2 xlen=32 itype=4 groups=1 port=block data=unified retires=4 accesses=2 "  \
	"dtype=3 lsbs=5\n"
#define SPLIT                                                                                      \
	"ntrace-ingress 2 xlen=64 itype=4 groups=2 port=block data=split retires=4 accesses=2 "    \
	"dtype=4 lsbs=5 lrid=2\n"

struct found {
	const char *id;		/* of the first finding */
	struct ntrace_ingress_finding first;
	unsigned int count;
	unsigned int others;	/* findings of another rule than the first */
	unsigned int stop;	/* the callback ends the check at this finding; 0 = never */
};

static int take_finding(void *data, const struct ntrace_ingress_finding *finding)
{
	struct found *found = data;

	if (!found->count++) {
		found->id = finding->rule->id;
		found->first = *finding;
	}
	found->others += strcmp(found->id, finding->rule->id) != 0;
	return found->count == found->stop ? 77 : 0;
}

static struct ntrace_ingress_checker checker;

/* The program that the core of the rows below PROGRAM executes, from 0x100 on. */
static const uint8_t code[] = {
	0x01, 0x00,		/* 100: c.nop */
	0x13, 0x00, 0x00, 0x00, /* 102: nop */
	0x63, 0x04, 0x00, 0x00, /* 106: beqz zero, 10e */
	0xef, 0x00, 0x00, 0x01, /* 10a: jal 11a */
	0x17, 0x03, 0x00, 0x00, /* 10e: auipc t1, 0 */
	0x67, 0x00, 0x03, 0x00, /* 112: jr t1 */
	0x73, 0x00, 0x00, 0x00, /* 116: ecall */
	0x03, 0xa5, 0x05, 0x00, /* 11a: lw a0, 0(a1) */
	0x82, 0x80,		/* 11e: ret */
	0x23, 0xa0, 0xa5, 0x00, /* 120: sw a0, 0(a1) */
	0x2f, 0xa5, 0xa5, 0x00, /* 124: amoadd.w a0, a0, (a1) */
	0x73, 0x00, 0x20, 0x30, /* 128: mret */
};
static bool has_program;

static int fetch(void *data, uint64_t address, void *bytes, size_t size)
{
	if (data != code || address < 0x100 || address - 0x100 + size > sizeof(code))
		return NTRACE_ERR_NOMAP;
	memcpy(bytes, code + (address - 0x100), size);
	return 0;
}

static void set_program(void)
{
	const struct ntrace_isa isa = { .xlen = 64, .compressed = true };

	if (has_program)
		ntrace_ingress_checker_program(&checker, &isa, fetch, (void *)(uintptr_t)code);
}

/* Checks a file without its "end". Return: the last result of the checker. */
static int check_text(const char *first_line, const char *lines, struct found *found)
{
	static struct ntrace_ingress_reader reader;
	struct ntrace_ingress_record record;
	char text[4096];
	int length = snprintf(text, sizeof(text), "%s%send\n", first_line, lines);
	bool begun = false;
	int result, last = 0;

	ntrace_ingress_reader_init(&reader);
	reader.lenient = true;
	ntrace_ingress_reader_feed(&reader, text, (size_t)length);
	while (!(result = ntrace_ingress_reader_next(&reader, &record))) {
		if (!begun) {
			ntrace_ingress_checker_init(&checker, &reader.port, take_finding, found);
			set_program();
		}
		begun = true;
		last = ntrace_ingress_checker_record(&checker, &record);
	}
	if (result != NTRACE_ERR_EOS)
		ok(false, "%s in: %s", reader.error ? reader.error : "?", lines);
	return last ? last : ntrace_ingress_checker_end(&checker);
}

/* One row: @good obeys the rule, @bad breaks it once. */
static const struct {
	const char *id;
	const char *port;
	const char *good;
	const char *bad;
} cases[] = {
	{ "trap-twice", BLOCKS, "c priv=3 cause=0x7 0x100,0,2\nc cause=0x3 0x100,0,2\n",
	  "c priv=3 cause=0x7 0x100,0,2\nc cause=0x7 0x100,0,2\n" },
	/* The handler raises the exception again; it does not, because it is elsewhere. */
	{ "trap-twice", BLOCKS, "c priv=3 cause=0x2 0x100,0,1\nc cause=0x2 0x100,0,1\n",
	  "c priv=3 cause=0x2 0x100,0,1\nc cause=0x2 0x100,0,1\nc 0x200,1,0\n" },
	{ "trap-continues", BLOCKS, "c priv=3 cause=0x2 0x100,0,1\nc 0x200,1,0\n",
	  "c priv=3 cause=0x2 0x100,0,1\nc 0x100,1,0\n" },
	{ "trap-continues", BLOCKS, "c priv=3 cause=0x7 0x100,1,2\nc 0x200,1,0\n",
	  "c priv=3 cause=0x7 0x100,1,2\nc 0x102,1,0\n" },
	{ "trap-continues", BLOCKS, "c priv=3 cause=0x7 0x100,0,2\nc 0x100,1,0\n",
	  "c priv=3 cause=0x7 0x100,1,1\nc 0x102,1,0\n" },
	{ "notify-group", BLOCKS, "c notify=0x1 0x100,1,0\n", "c notify=0x2 0x100,1,0\n" },
	{ "ctype-reserved", BLOCKS, "c ctype=3\n", "c ctype=4\n" },
	{ "priv-reserved", BLOCKS, "c priv=6\n", "c priv=2\n" },
	{ "stopped-retires", BLOCKS, "c halted=1\nc halted=0 0x100,1,0\n",
	  "c halted=1 0x100,1,0\n" },
	{ "stopped-retires", BLOCKS, "c reset=1\nc reset=0 0x100,1,0\n", "c reset=1 0x100,1,0\n" },
	{ "itype-reserved", BLOCKS, "c 0x100,1,8\n", "c 0x100,1,6\n" },
	{ "itype-reserved", NARROW, "c 0x100,1,6\n", "c 0x100,1,8\n" },
	{ "ilastsize-range", BLOCKS, "c 0x100,8,0,2\n", "c 0x100,8,0,3\n" },
	{ "iaddr-odd", BLOCKS, "c 0x100,1,0\n", "c 0x101,1,0\n" },
	{ "iaddr-width", NARROW, "c 0xfffffffe,1,0\n", "c 0x100000000,1,0\n" },
	{ "iaddr-width", STATED, "c 0xfffffffffe,1,0 0x0,1,0\n", "c 0x10000000000,1,0\n" },
	{ "priv-width", STATED, "c priv=3\n", "c priv=4\n" },
	{ "ctype-width", STATED, "c ctype=1\n", "c ctype=2\n" },
	{ "cause-width", STATED, "c priv=3 cause=0x1f 0x100,0,2\n",
	  "c priv=3 cause=0x20 0x100,0,2\n" },
	{ "context-width", STATED, "c scontext=0xffff\n", "c scontext=0x10000\n" },
	{ "context-width", STATED, "c hcontext=0xff\n", "c hcontext=0x100\nc hcontext=0x0\n" },
	{ "impdef-width", STATED, "c impdef=0xf\n", "c impdef=0x10\n" },
	{ "impdef-width", BLOCKS, "c\n", "c impdef=0x1\n" },
	{ "retires", STATED, "c 0x100,4,0,1\n", "c 0x100,2,4 0x104,1,0\n" },
	{ "trap-not-newest", BLOCKS, "c 0x100,1,0 0x102,1,1\n", "c 0x100,1,1 0x200,1,0\n" },
	{ "group-empty", BLOCKS, "c 0x100,1,0 0x102,1,0\n", "c 0x100,1,0 0x0,0,0 0x102,1,0\n" },
	{ "single-many", SINGLES, "c 0x100,1,0\n", "c 0x100,2,0\n" },
	{ "block-long", BLOCKS, "c 0x100,65535,0\n", "c 0x100,65536,0\n" },
	{ "block-short", BLOCKS, "c 0x100,2,0,1\n", "c 0x100,1,0,1\n" },
	{ "dtype-reserved", UNIFIED, "c 0x100,1,0 d=8,0x0,2\n", "c 0x100,1,0 d=7,0x0,2\n" },
	{ "dtype-reserved", UNIFIED32, "c 0x100,1,0 d=4,0x0,2\n", "c 0x100,1,0 d=8,0x0,2\n" },
	{ "dsize-range", UNIFIED, "c 0x100,1,0 d=0,0x0,4\n", "c 0x100,1,0 d=0,0x0,5\n" },
	{ "daddr-width", UNIFIED32, "c 0x100,1,0 d=0,0xffffffff,0\n",
	  "c 0x100,1,0 d=0,0x100000000,0\n" },
	{ "csr-number", UNIFIED, "c 0x100,1,0 d=4,0xfff,3\n", "c 0x100,1,0 d=4,0x1000,3\n" },
	{ "data-kind", UNIFIED, "c 0x100,1,0 d=0,0x0,2,l0x1\n", "c 0x100,1,0 d=0,0x0,2,s0x1\n" },
	{ "data-kind", SPLIT, "c 0x100,1,0 d=0,0x0,2,r0 r=2,0,0x1\n",
	  "c 0x100,1,0 d=0,0x0,2,l0x1,r0 r=2,0\n" },
	{ "data-width", UNIFIED, "c 0x100,1,0 d=1,0x0,2,s0xffffffff\n",
	  "c 0x100,1,0 d=1,0x0,2,s0x100000000\n" },
	{ "lrid-missing", SPLIT, "c 0x100,1,0 d=9,0x0,2,s0x1,r1 r=2,1\n",
	  "c 0x100,1,0 d=9,0x0,2,s0x1\n" },
	{ "lrid-unexpected", SPLIT, "c 0x100,1,0 d=1,0x0,2,s0x1\n",
	  "c 0x100,1,0 d=1,0x0,2,s0x1,r1 r=2,1\n" },
	{ "lrid-width", SPLIT, "c 0x100,1,0 d=0,0x0,2,r3 r=2,3\n",
	  "c 0x100,1,0 d=0,0x0,2,r4\nc r=2,0\nc 0x102,0,1\noverrun\n" },
	{ "dblock-unused", UNIFIED, "c 0x100,1,0 0x102,1,0 d=0,0x0,2,i0x2,b1\n",
	  "c 0x100,1,0 d=0,0x0,2,b1\n" },
	{ "dblock-unused", UNIFIED, "c 0x100,1,0 0x102,1,1 d=0,0x0,2,i0x2,b1\n",
	  "c 0x100,1,0 0x102,0,1 d=0,0x0,2,i0x2,b1\n" },
	{ "iaddr-lsbs", UNIFIED, "c 0x100,2,0 d=0,0x0,2,i0x2\n", "c 0x100,2,0 d=0,0x0,2,i0x4\n" },
	{ "access-transfer", UNIFIED, "c 0x100,2,4 d=0,0x0,2\n", "c 0x100,2,4 d=0,0x0,2,i0x2\n" },
	{ "access-transfer", UNIFIED, "c 0x100,2,13 d=0,0x0,2,i0x2\n",
	  "c 0x100,2,13 d=1,0x0,2,i0x2\n" },
	{ "lresp-reserved", SPLIT, "c r=2,0\n", "c r=1,0\n" },
	{ "response-data", SPLIT, "c r=3,0\n", "c r=3,0,0x1\n" },
	{ "not-contiguous", BLOCKS, "c 0x100,3,0\nc idle=9 0x106,1,0\n",
	  "c 0x100,3,0\nc 0x108,1,0\n" },
	{ "not-contiguous", BLOCKS, "c 0x100,3,4 0x106,1,0\n", "c 0x100,3,4 0x104,1,0\n" },
	{ "not-contiguous", BLOCKS, "c 0x100,3,5 0x200,1,0\n", "c 0x100,3,0 0x200,1,0\n" },
	{ "not-contiguous", SINGLES, "c 0x100,1,0,1 0x104,1,0\n", "c 0x100,1,0,1 0x102,1,0\n" },
	/* A 3-bit port does not report direct jumps. */
	{ "not-contiguous", NARROW, "c 0x100,3,0 0x200,1,4 0x202,1,0\n",
	  "c 0x100,3,4 0x200,1,0\n" },
	{ "not-contiguous", UNIFIED32, "c 0xfffffffc,2,0 d=0,0x0,2,i0x1c\nc 0x0,1,0\n",
	  "c 0xfffffffc,2,0 d=0,0x0,2,i0x1c\nc 0x2,1,0\n" },
	/* Only a 16-bit instruction with an access is reported again. */
	{ "not-contiguous", UNIFIED, "c 0x100,3,0 d=1,0x8,3,i0x4\nc 0x104,1,0 d=1,0x0,3,i0x4\n",
	  "c 0x100,3,0\nc 0x104,1,0 d=1,0x0,3,i0x4\n" },
	{ "not-contiguous", UNIFIED, "c 0x100,3,0 d=1,0x8,3,i0x4\nc 0x104,1,0 d=1,0x0,3,i0x4\n",
	  "c 0x100,3,0 d=1,0x8,3,i0x4\nc 0x104,1,0\n" },
	{ "exception-address", BLOCKS, "c 0x100,3,0\nc cause=0x2 0x106,0,1\n",
	  "c 0x100,3,0\nc cause=0x2 0x104,0,1\n" },
	{ "exception-address", UNIFIED, "c 0x100,3,0 d=1,0x8,3,i0x4\nc cause=0x7 0x104,0,1\n",
	  "c 0x100,3,0 d=1,0x8,3,i0x4\nc cause=0x7 0x102,0,1\n" },
	{ "priv-change", BLOCKS, "c priv=3 0x100,1,3\nc priv=1 0x200,1,0\n",
	  "c priv=3 0x100,1,13\nc priv=1 0x200,1,0\n" },
	{ "priv-change", BLOCKS, "c priv=3 0x100,1,0\nc priv=4 0x800,1,3\nc priv=0 0x300,1,0\n",
	  "c priv=3 0x100,1,0\nc priv=0 0x102,1,0\n" },
	{ "trap-priv", BLOCKS, "c priv=1 0x100,1,2\nc priv=3 0x200,1,0\n",
	  "c priv=1 0x100,1,2\nc priv=0 0x200,1,0\n" },
	{ "trap-priv", BLOCKS, "c priv=5 0x100,1,1\nc priv=6 0x200,1,0\n",
	  "c priv=1 0x100,1,1\nc priv=6 0x200,1,0\n" },
	{ "return-priv", BLOCKS, "c priv=1 0x100,1,3\nc priv=6 0x200,1,0\n",
	  "c priv=1 0x100,1,3\nc priv=3 0x200,1,0\n" },
	{ "return-user", BLOCKS, "c priv=1 0x100,1,3\n", "c priv=0 0x100,1,3\n" },
	{ "ecall-priv", BLOCKS, "c priv=0 cause=0x8 0x100,0,1\n",
	  "c priv=0 cause=0xb 0x100,0,1\n" },
	{ "ecall-priv", BLOCKS, "c priv=6 cause=0xa 0x100,0,1\n",
	  "c priv=6 cause=0x9 0x100,0,1\n" },
	/* An interrupt with the same code. */
	{ "ecall-priv", BLOCKS, "c priv=0 cause=0xb 0x100,0,2\n",
	  "c priv=1 cause=0x8 0x100,0,1\n" },
	{ "retires", UNIFIED, "c 0x100,13,0\n", "c 0x100,14,0\n" },
	{ "retires", UNIFIED, "c 0x100,9,0,1 0x112,4,0,2\n", "c 0x100,11,0,1 0x116,4,0,2\n" },
	{ "time-back", BLOCKS, "c time=5\nc time=5\n", "c time=5\nc time=4\n" },
	{ "time-back", BLOCKS, "c time=5\nc time=0 reset=1\nc time=1 reset=0\n",
	  "c time=5\nc\nc time=1\n" },
	{ "csr-size", UNIFIED, "c 0x100,1,0 d=4,0x300,3\n", "c 0x100,1,0 d=4,0x300,2\n" },
	{ "csr-size", UNIFIED32, "c 0x100,1,0 d=6,0x300,2\n", "c 0x100,1,0 d=6,0x300,3\n" },
	{ "hart-id", HART, "c 0x100,1,0 d=5,0xf14,3,l0x12\nc 0x102,1,0 d=4,0xf15,3,l0x1,i0x2\n",
	  "c 0x100,1,0 d=5,0xf14,3,l0x1\n" },
	{ "atomic-size", UNIFIED, "c 0x100,1,0 d=8,0x10,2\n", "c 0x100,1,0 d=8,0x10,1\n" },
	{ "atomic-aligned", UNIFIED, "c 0x100,1,0 d=9,0x18,3\n", "c 0x100,1,0 d=9,0x14,3\n" },
	{ "lrid-reused", SPLIT,
	  "c 0x100,1,0 d=0,0x0,2,r1\nc 0x102,1,0 d=0,0x4,2,i0x2,r2\nc r=2,2 r=2,1\n",
	  "c 0x100,1,0 d=0,0x0,2,r1\nc 0x102,1,0 d=0,0x4,2,i0x2,r1\nc r=2,1\n" },
	/* A response and the next load with its id may share a cycle. */
	{ "lrid-reused", SPLIT,
	  "c 0x100,1,0 d=0,0x0,2,r1\nc 0x102,1,0 d=0,0x4,2,i0x2,r1 r=2,1\nc r=2,1\n",
	  "c 0x100,2,0 d=0,0x0,2,r1 d=0,0x4,2,i0x2,r1\nc r=2,1\n" },
	{ "lid-unknown", SPLIT, "c reset=1\nc reset=0 0x100,1,0 d=0,0x0,2,r1\nc r=2,1\n",
	  "c reset=1\nc reset=0 0x100,1,0 d=0,0x0,2,r1 r=2,0\nc r=2,1\n" },
	{ "lid-unknown", SPLIT, "c r=2,1\noverrun\nc r=2,1\n", "c r=2,1\nc r=2,1\n" },
	{ "response-width", SPLIT, "c 0x100,1,0 d=0,0x0,1,r1\nc r=2,1,0xffff\n",
	  "c 0x100,1,0 d=0,0x0,1,r1\nc r=2,1,0x10000\n" },
	{ "response-width", SPLIT, "c 0x100,1,0 d=0,0x0,3,r1 r=2,1,0xffffffffffffffff\n",
	  "c 0x100,1,0 d=0,0x0,3,r1 r=2,1,0x10000000000000000\n" },
	{ "load-unanswered", SPLIT, "c 0x100,1,0 d=0,0x0,1,r1\noverrun\n",
	  "c 0x100,1,0 d=0,0x0,1,r1\n" },
	{ "load-unanswered", SPLIT, "c 0x100,1,0 d=0,0x0,1,r1\nc r=3,1\nc reset=1\n",
	  "c 0x100,1,0 d=0,0x0,1,r1\nc reset=1\nc reset=0\n" },
};

/* The same for the rules of the program. */
#define SHORT "ntrace-ingress 1 xlen=64 itype=3 groups=3 port=block\n"
static const struct {
	const char *id;
	const char *port;
	const char *good;
	const char *bad;
} programs[] = {
	{ "no-code", BLOCKS, "c 0x100,1,0\n", "c 0x200,1,0\n" },
	{ "insn-split", BLOCKS, "c 0x100,3,0,1\n", "c 0x100,2,0\n" },
	{ "insn-size", BLOCKS, "c 0x100,3,0,1\n", "c 0x100,3,0\n" },
	{ "insn-size", SINGLES, "c 0x100,1,0 0x102,1,0,1\n", "c 0x100,1,0,1\n" },
	{ "insn-inside", BLOCKS, "c 0x102,4,5,1\n", "c 0x106,4,9,1\n" },
	{ "insn-itype", BLOCKS, "c 0x10a,2,9,1\n", "c 0x10a,2,15,1\n" },
	{ "insn-itype", BLOCKS, "c 0x11e,1,13\n", "c 0x11e,1,14\n" },
	{ "insn-itype", BLOCKS, "c 0x106,2,4,1\n", "c 0x106,2,0,1\n" },
	{ "insn-itype", SHORT, "c 0x10a,2,0,1\n", "c 0x10a,2,6,1\n" },
	{ "insn-itype", SHORT, "c 0x11e,1,6\n", "c 0x11e,1,0\n" },
	{ "insn-itype", BLOCKS, "c 0x102,2,2,1\n", "c 0x106,2,2,1\n" },
	{ "insn-traps", BLOCKS, "c 0x11a,2,0,1\n", "c 0x116,2,0,1\n" },
	{ "insn-sijump", BLOCKS, "c 0x10e,4,10,1,s\nc 0x10e,2,0,1\n", "c 0x112,2,10,1,s\n" },
	/* Of a branch, sijump is ignored. */
	{ "insn-sijump", BLOCKS, "c 0x106,2,5,1,s\n", "c 0x112,2,10,1,s\n" },
	{ "return-user", BLOCKS, "c priv=3 0x128,2,3,1\n", "c priv=1 0x128,2,3,1\n" },
	{ "insn-target", BLOCKS, "c 0x106,2,5,1 0x10e,2,0,1\n", "c 0x106,2,5,1\nc 0x11a,2,0,1\n" },
	{ "insn-target", BLOCKS, "c 0x10a,2,9,1\nc 0x11a,3,13\n", "c 0x10a,2,9,1\nc 0x11e,1,13\n" },
	{ "insn-target", BLOCKS, "c 0x10a,2,9,1\noverrun\nc 0x11e,1,13\n",
	  "c 0x10e,4,10,1,s\nc 0x102,2,0,1\n" },
	{ "insn-cause", BLOCKS, "c priv=0 cause=0x8 0x116,0,1\n",
	  "c priv=0 cause=0x8 0x11a,0,1\n" },
	{ "insn-cause", BLOCKS, "c cause=0x5 0x11a,0,1\n", "c cause=0x5 0x102,0,1\n" },
	{ "insn-cause", BLOCKS, "c cause=0xd 0x11a,0,1\n", "c cause=0x6 0x11a,0,1\n" },
	{ "insn-cause", BLOCKS, "c cause=0x7 0x120,0,1\n", "c cause=0x5 0x120,0,1\n" },
	/* Atomics raise exceptions of stores. */
	{ "insn-cause", BLOCKS, "c cause=0x6 0x124,0,1\n", "c cause=0xd 0x124,0,1\n" },
	{ "insn-cause", BLOCKS, "c cause=0x2 0x124,0,1\n", "c cause=0x2 0x102,0,1\n" },
	{ "insn-cause", BLOCKS, "c cause=0x1 0x102,0,1\n", "c cause=0x15 0x102,0,1\n" },
	{ "insn-cause", BLOCKS, "c cause=0x18 0x102,0,1\n", "c cause=0xe 0x102,0,1\n" },
	/* With C, each target is aligned. A port without cause has 0. */
	{ "insn-cause", STATED, "c priv=3 cause=0x1 0x112,0,1\n",
	  "c priv=3 cause=0x0 0x112,0,1\n" },
	{ "insn-cause", BLOCKS, "c cause=0x0 0x112,0,1\n", "c cause=0x4 0x112,0,1\n" },
	{ "insn-cause", BLOCKS, "c cause=0x5 0x11a,0,1\nc cause=0x1 0x112,0,1\n",
	  "c cause=0x5 0x11a,0,1\nc 0x112,0,1\n" },
	{ "insn-cause", BLOCKS, "c cause=0xc 0x11a,0,1\n", "c cause=0x2 0x116,0,1\n" },
};

static void each_program(void)
{
	has_program = true;
	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
		struct found good = { .id = "none" }, bad = { .id = "none" };

		check_text(programs[i].port, programs[i].good, &good);
		is_str(good.id, "none", "%s: obeyed", programs[i].id);
		check_text(programs[i].port, programs[i].bad, &bad);
		is_str(bad.id, programs[i].id, "%s: violated", programs[i].id);
		ok(bad.count == 1 && !bad.others, "%s: one finding, got %u", programs[i].id,
		   bad.count);
	}
	has_program = false;
}

static void each_rule(void)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct found good = { .id = "none" }, bad = { .id = "none" };

		check_text(cases[i].port, cases[i].good, &good);
		is_str(good.id, "none", "%s: obeyed", cases[i].id);
		check_text(cases[i].port, cases[i].bad, &bad);
		is_str(bad.id, cases[i].id, "%s: violated", cases[i].id);
		ok(bad.count == 1 && !bad.others, "%s: one finding, got %u", cases[i].id,
		   bad.count);
	}
}

/* Counts beyond the port, and a bit of two values, which no file can hold. */
static void no_file(void)
{
	static const char *const ids[] = { "group-count", "access-count", "response-count",
					   "sijump-range" };

	for (unsigned int i = 0; i < 4; i++) {
		struct ntrace_ingress_record record = { .type = NTRACE_INGRESS_CYCLE };
		struct ntrace_ingress_port port = {
			.xlen = 64,
			.itype_bits = 4,
			.groups = 1,
			.data = 2,
			.retires = 4,
			.accesses = 1,
			.dtype_bits = 4,
			.iaddr_lsbs_bits = 4,
			.lrid_bits = 1,
		};
		struct ntrace_ingress_cycle *cycle = &record.cycle;
		struct found found = { .id = "none" };

		ntrace_ingress_checker_init(&checker, &port, take_finding, &found);
		cycle->groups = i ? 1 : 2;
		cycle->group[0].iretire = cycle->group[1].iretire = 1;
		cycle->group[1].iaddr = 2;
		cycle->accesses = i == 1 ? 2 : 0;
		cycle->access[0].dtype = cycle->access[1].dtype = NTRACE_DTYPE_STORE;
		cycle->responses = i == 2 ? 2 : 0;
		cycle->response[0].lresp = cycle->response[1].lresp = NTRACE_LRESP_OKAY;
		cycle->response[1].lid = 1;
		cycle->group[0].sijump = i == 3 ? 2 : 0;
		ntrace_ingress_checker_record(&checker, &record);
		is_str(found.id, ids[i], "%s: violated", ids[i]);
		is_u64(found.count, 1, "%s: one finding", ids[i]);
	}
}

/* Every rule of the table has a case above. */
static void table(void)
{
	static const char *const elsewhere[] = { "group-count", "access-count", "response-count",
						 "sijump-range" };
	const struct ntrace_ingress_rule *rules;
	size_t count;

	rules = ntrace_ingress_rules(&count);
	ok(count >= 45, "%zu rules", count);
	for (size_t i = 0; i < count; i++) {
		bool seen = false;

		for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++)
			seen |= !strcmp(cases[k].id, rules[i].id);
		for (size_t k = 0; k < sizeof(programs) / sizeof(programs[0]); k++)
			seen |= !strcmp(programs[k].id, rules[i].id);
		for (size_t k = 0; k < 4; k++)
			seen |= !strcmp(elsewhere[k], rules[i].id);
		ok(seen && rules[i].text && rules[i].section && rules[i].severity <= 1,
		   "rule %s has a test", rules[i].id);
	}
}

static void details(void)
{
	struct ntrace_ingress_record record = { .type = 9 };
	struct ntrace_ingress_port port = { .xlen = 64, .itype_bits = 4 };
	struct found found = { .id = "none" };

	check_text(BLOCKS, "c 0x100,3,0\nc idle=9 0x106,1,0 0x200,1,0\n", &found);
	is_u64(found.first.cycle, 10, "finding: the number of the cycle, with idle cycles");
	is_u64(found.first.place, NTRACE_INGRESS_PLACE_GROUP, "finding: about a group");
	is_u64(found.first.index, 1, "finding: which group");
	is_u64(found.first.value, 0x200, "finding: the value");
	is_u64(found.first.expected, 0x108, "finding: and the expected one");
	is_u64(checker.cycles, 11, "cycles are counted");
	is_u64(checker.blocks, 3, "blocks are counted");
	is_u64(checker.parcels, 5, "parcels are counted");

	memset(&found, 0, sizeof(found));
	check_text(SPLIT, "c 0x100,2,0 d=0,0x0,2,r0 d=0,0x4,2,i0x2,r1\nc r=2,1 r=2,0\n", &found);
	is_u64(found.count, 0, "two loads in flight, answered in another order");
	is_u64(checker.accesses, 2, "accesses are counted");
	is_u64(checker.in_flight_most, 2, "loads in flight are counted");
	is_u64(checker.in_flight, 0, "none is left");

	/*
	 * What was in flight at the beginning is not known: the response may be that of an earlier
	 * load, or of the load in its cycle.
	 */
	memset(&found, 0, sizeof(found));
	check_text(SPLIT, "c 0x100,1,0 d=0,0x0,2,r0 r=2,0\nc r=2,0\n", &found);
	is_u64(found.count, 0, "a response beside a load with the same id");

	/* One mistake, one finding: the checker goes on from what the port reports. */
	memset(&found, 0, sizeof(found));
	check_text(BLOCKS,
		   "c priv=3 0x100,3,0\nc 0x200,1,0\nc 0x202,1,0\nc 0x204,1,13\nc 0x8,1,0\n",
		   &found);
	is_u64(found.count, 1, "the checker goes on after a violation");

	/* Where the flow is not known, nothing is compared. */
	memset(&found, 0, sizeof(found));
	check_text(BLOCKS,
		   "c priv=3 0x100,3,0\noverrun\nc priv=0 0x900,1,0\nc halted=1\n"
		   "c priv=1 halted=0 0x300,1,0\nc reset=1\nc priv=3 reset=0 0x0,1,0\n",
		   &found);
	is_u64(found.count, 0, "an overrun, Debug Mode and a reset end the flow");

	memset(&found, 0, sizeof(found));
	found.stop = 1;
	is_u64((uint64_t)check_text(BLOCKS, "c priv=3 0x100,1,0 0x200,1,0 0x300,1,0\nc 0x400,1,0\n",
				    &found),
	       77, "the callback stops the check");
	is_u64(found.count, 1, "at once");

	ok(ntrace_ingress_checker_init(&checker, &port, take_finding, &found) == NTRACE_ERR_INVALID,
	   "a port without groups is refused");
	port.groups = 1;
	ntrace_ingress_checker_init(&checker, &port, take_finding, &found);
	ok(ntrace_ingress_checker_record(&checker, &record) == NTRACE_ERR_INVALID,
	   "a record of an unknown type is refused");
}

int main(void)
{
	each_rule();
	each_program();
	no_file();
	table();
	details();
	return done_testing();
}
