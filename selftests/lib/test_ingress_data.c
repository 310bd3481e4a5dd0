// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * The data interface of the ingress port (E-Trace, chapter 4) in ingress files: each kind of access
 * in both directions, what a port cannot carry, random cycles of random ports, and filters.
 */
#include <stdlib.h>

#include "test_encode.h"

#define RECORDS 64

static const struct ntrace_ingress_port unified = {
	.xlen = 64,
	.itype_bits = 4,
	.groups = 2,
	.data = NTRACE_INGRESS_DATA_UNIFIED,
	.retires = 8,
	.accesses = 2,
	.dtype_bits = 4,
	.iaddr_lsbs_bits = 5,
};
static const char unified_line[] = "ntrace-ingress 2 xlen=64 itype=4 groups=2 port=block "
				   "data=unified retires=8 accesses=2 dtype=4 lsbs=5\n";
static const struct ntrace_ingress_port split = {
	.xlen = 64,
	.itype_bits = 4,
	.groups = 1,
	.data = NTRACE_INGRESS_DATA_SPLIT,
	.retires = 4,
	.accesses = 4,
	.dtype_bits = 4,
	.iaddr_lsbs_bits = 4,
	.lrid_bits = 3,
};
static const char split_line[] = "ntrace-ingress 2 xlen=64 itype=4 groups=1 port=block "
				 "data=split retires=4 accesses=4 dtype=4 lsbs=4 lrid=3\n";

/* Reads @text. Return: the number of records, or -1 after an error. */
static int read_text(const char *text, size_t size, size_t chunk,
		     struct ntrace_ingress_reader *reader, struct ntrace_ingress_record *records,
		     int most)
{
	int count = 0, result = NTRACE_ERR_AGAIN;

	for (size_t at = 0; at < size; at += chunk) {
		ntrace_ingress_reader_feed(reader, text + at,
					   size - at < chunk ? size - at : chunk);
		while (count < most &&
		       !(result = ntrace_ingress_reader_next(reader, &records[count])))
			count++;
	}
	return result == NTRACE_ERR_FORMAT ? -1 : count;
}

/* The line of a cycle in a file of @port, as it is read and as it is written. */
static void both_ways(const struct ntrace_ingress_port *port, const char *first_line,
		      const char *line, const struct ntrace_ingress_cycle *cycle, const char *name)
{
	static struct ntrace_ingress_reader reader;
	struct ntrace_ingress_record record = { .type = NTRACE_INGRESS_CYCLE, .cycle = *cycle };
	struct ntrace_ingress_writer writer;
	char text[2 * NTRACE_INGRESS_LINE_MAX], out[NTRACE_INGRESS_LINE_MAX];
	struct ntrace_ingress_record back;
	int length = snprintf(text, sizeof(text), "%s%s\n", first_line, line);

	memset(&back, 0, sizeof(back));
	ntrace_ingress_reader_init(&reader);
	is_u64((uint64_t)read_text(text, (size_t)length, 7, &reader, &back, 1), 1, "%s: read: %s",
	       name, reader.error ? reader.error : "no error");
	ok(!memcmp(&back.cycle, cycle, sizeof(back.cycle)), "%s: the signals of the line", name);
	ok(!memcmp(&reader.port, port, sizeof(*port)), "%s: the port of the first line", name);
	length = ntrace_ingress_writer_init(&writer, port, out);
	out[length > 0 ? length : 0] = '\0';
	is_str(out, first_line, "%s: the first line", name);
	length = ntrace_ingress_write(&writer, &record, out);
	out[length > 1 ? length - 1 : 0] = '\0';
	is_str(out, line, "%s: written", name);
}

/* A cycle of two instructions of four bytes at 0x1000, and one access of the second. */
static struct ntrace_ingress_cycle with_access(struct ntrace_ingress_access access)
{
	struct ntrace_ingress_cycle cycle = { .priv = NTRACE_PRIV_M, .groups = 1, .accesses = 1 };

	cycle.group[0].iaddr = 0x1000;
	cycle.group[0].iretire = 4;
	cycle.group[0].ilastsize = 1;
	access.iaddr_lsbs = 4;
	cycle.access[0] = access;
	return cycle;
}

/* Each dtype of a unified port: stores have one value, loads one, the others both. */
static void kinds(void)
{
	static const struct {
		struct ntrace_ingress_access access;
		const char *text;
	} all[] = {
		{ { .dtype = 0, .daddr = 0x80001000, .dsize = 3, .load = { 0x1122334455667788 } },
		  "d=0,0x80001000,3,l0x1122334455667788" },
		{ { .dtype = 1, .daddr = 0x80001001, .dsize = 0, .store = { 0xff } },
		  "d=1,0x80001001,0,s0xff" },
		{ { .dtype = 4, .daddr = 0x300, .dsize = 3, .store = { 8 }, .load = { 0x1800 } },
		  "d=4,0x300,3,s0x8,l0x1800" },
		{ { .dtype = 5, .daddr = 0x304, .dsize = 3, .store = { 0x80 } },
		  "d=5,0x304,3,s0x80" },
		{ { .dtype = 6, .daddr = 0xc00, .dsize = 3, .load = { 77 } }, "d=6,0xc00,3,l0x4d" },
		{ { .dtype = 8, .daddr = 0x40, .dsize = 2, .store = { 1 }, .load = { 2 } },
		  "d=8,0x40,2,s0x1,l0x2" },
		{ { .dtype = 9, .daddr = 0x40, .dsize = 3, .store = { 3 }, .load = { 1 } },
		  "d=9,0x40,3,s0x3,l0x1" },
		{ { .dtype = 10, .daddr = 0x40, .dsize = 2, .load = { 5 } }, "d=10,0x40,2,l0x5" },
		{ { .dtype = 11, .daddr = 0x40, .dsize = 2, .store = { 7 } }, "d=11,0x40,2,s0x7" },
		{ { .dtype = 12, .daddr = 0x40, .dsize = 2, .store = { 0xffffffff } },
		  "d=12,0x40,2,s0xffffffff" },
		{ { .dtype = 13, .daddr = 0x40, .dsize = 2 }, "d=13,0x40,2" },
		{ { .dtype = 14,
		    .daddr = 0x40,
		    .dsize = 4,
		    .store = { 0x1, 0x2 },
		    .load = { UINT64_MAX, UINT64_MAX } },
		  "d=14,0x40,4,s0x20000000000000001,l0xffffffffffffffffffffffffffffffff" },
		{ { .dtype = 15, .daddr = 0x40, .dsize = 2 }, "d=15,0x40,2" },
	};
	char line[200];

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		const struct ntrace_ingress_cycle cycle = with_access(all[i].access);

		snprintf(line, sizeof(line), "c priv=3 0x1000,4,0,1 %s,i0x4", all[i].text);
		both_ways(&unified, unified_line, line, &cycle,
			  ntrace_dtype_name(all[i].access.dtype));
	}
	is_str(ntrace_dtype_name(2), "?", "a reserved dtype has no name");
	is_str(ntrace_dtype_name(16), "?", "nor has one beyond 4 bits");
}

/* Two blocks, an access in each; dblock names the block. */
static void two_blocks(void)
{
	struct ntrace_ingress_cycle cycle = {
		.priv = NTRACE_PRIV_M,
		.groups = 2,
		.accesses = 2,
		.group = { { 0x100, 3, NTRACE_ITYPE_BRANCH_TAKEN, 0, 0, 0 },
			   { 0x200, 5, NTRACE_ITYPE_NONE, 0, 0, 0 } },
	};

	cycle.access[0] = (struct ntrace_ingress_access){ .dsize = 2, .daddr = 0x8000 };
	cycle.access[1] = (struct ntrace_ingress_access){
		.dtype = 1, .dsize = 1, .daddr = 0x9000, .iaddr_lsbs = 8, .dblock = 1
	};
	both_ways(&unified, unified_line,
		  "c priv=3 0x100,3,5 0x200,5,0 d=0,0x8000,2 d=1,0x9000,1,i0x8,b1", &cycle,
		  "dblock and iaddr_lsbs");
}

/* Loads in flight on a split port: requests, and responses in any order. */
static void split_loads(void)
{
	struct ntrace_ingress_cycle cycle = { .priv = NTRACE_PRIV_M, .groups = 1, .accesses = 3 };

	cycle.group[0].iaddr = 0x100;
	cycle.group[0].iretire = 4;
	for (unsigned int i = 0; i < 3; i++) {
		cycle.access[i].daddr = 0x8000 + 8 * i;
		cycle.access[i].dsize = 3;
		cycle.access[i].iaddr_lsbs = (uint16_t)(2 * i);
		cycle.access[i].request = true;
		cycle.access[i].lrid = (uint8_t)i;
	}
	cycle.access[1].dtype = NTRACE_DTYPE_ADD;
	cycle.access[1].store[0] = 1;
	cycle.access[2].dtype = NTRACE_DTYPE_STORE;
	cycle.access[2].store[0] = 0xabc;
	cycle.access[2].request = false;
	cycle.access[2].lrid = 0;
	both_ways(&split, split_line,
		  "c priv=3 0x100,4,0 d=0,0x8000,3,r0 d=9,0x8008,3,s0x1,i0x2,r1 "
		  "d=1,0x8010,3,s0xabc,i0x4",
		  &cycle, "split: requests");

	memset(&cycle, 0, sizeof(cycle));
	cycle.responses = 2;
	cycle.response[0].lresp = NTRACE_LRESP_OKAY;
	cycle.response[0].lid = 1;
	cycle.response[0].load[0] = 0x55;
	cycle.response[1].lresp = NTRACE_LRESP_ERROR;
	both_ways(&split, split_line, "c r=2,1,0x55 r=3,0", &cycle, "split: responses");

	memset(&cycle, 0, sizeof(cycle));
	cycle.priv = NTRACE_PRIV_M;
	cycle.groups = cycle.accesses = cycle.responses = 1;
	cycle.group[0].iaddr = 0x100;
	cycle.group[0].iretire = 1;
	cycle.access[0].dtype = NTRACE_DTYPE_CSR_SET;
	cycle.access[0].daddr = 0x342;
	cycle.access[0].dsize = 3;
	cycle.response[0].lresp = NTRACE_LRESP_OKAY;
	cycle.response[0].lid = 7;
	both_ways(&split, split_line, "c priv=3 0x100,1,0 d=5,0x342,3 r=2,7", &cycle,
		  "split: a CSR access without a response, beside one");
}

/*
 * Examples 2 and 3 of the ingress port: a push and a pop with return of four registers, one access in
 * a cycle. The file goes to the encoder, which counts each of them once.
 */
static void repeated(void)
{
	static const char text[] =
		"ntrace-ingress 2 xlen=32 itype=4 groups=1 port=block data=unified retires=4 "
		"accesses=1 dtype=1 lsbs=4\n"
		"start 5\n"
		"c priv=3 0x1000,3,0 d=1,0x7ffc,2,s0x11,i0x4\n"
		"c 0x1004,1,0 d=1,0x7ff8,2,s0x12,i0x4\n"
		"c 0x1004,1,0 d=1,0x7ff4,2,s0x13,i0x4\n"
		"c 0x1004,3,0 d=1,0x7ff0,2,s0x14,i0x4\n"
		"c 0x100a,2,0 d=0,0x7ffc,2,l0x11,i0xc\n"
		"c 0x100c,1,0 d=0,0x7ff8,2,l0x12,i0xc\n"
		"c 0x100c,1,0 d=0,0x7ff4,2,l0x13,i0xc\n"
		"c 0x100c,1,13 d=0,0x7ff0,2,l0x14,i0xc\n"
		"c 0x2000,1,0\n"
		"stop 0\n"
		"end\n";
	static struct ntrace_ingress_reader reader;
	static struct ntrace_ingress_record records[RECORDS];
	static struct ntrace_encoder encoder;
	struct ntrace_encoder_config config;
	struct ntrace_ingress_writer writer;
	char again[sizeof(text) + NTRACE_INGRESS_LINE_MAX];
	int count, length;

	ntrace_ingress_reader_init(&reader);
	count = read_text(text, sizeof(text) - 1, 50, &reader, records, RECORDS);
	is_u64((uint64_t)count, 11, "ingress examples 2 and 3: read");
	length = ntrace_ingress_writer_init(&writer, &reader.port, again);
	default_config(&config);
	given.xlen = 32;
	config.zc_accesses = true;
	begin(&encoder, &config);
	for (int i = 0; i < count; i++) {
		length += ntrace_ingress_write(&writer, &records[i], again + length);
		ok(ntrace_encoder_play(&encoder, &records[i]) >= 0, "the encoder takes line %d",
		   i + 2);
	}
	length += ntrace_ingress_write_end(&writer, again + length);
	again[length] = '\0';
	is_str(again, text, "ingress examples 2 and 3: written");
	/* 2 + 1 + 2 parcels with the push, 1 + 1 with the return. */
	is_messages("ProgTraceSync SYNC=5 ICNT=0 FADDR=800; "
		    "IndirectBranch BTYPE=0 ICNT=7 UADDR=1800; "
		    "ProgTraceCorrelation EVCODE=0 CDF=1 ICNT=1 HIST=1",
		    "ingress examples 2 and 3: repeated reports count once");
}

/* What a port cannot carry, by the reason that the reader gives; a lenient reader takes it. */
static void refused(void)
{
	static const struct {
		const char *line;
		const char *reason;
	} bad[] = {
		{ "c 0x100,4,0 d=2,0x0,2", "dtype is reserved" },
		{ "c 0x100,4,0 d=3,0x0,2", "dtype is reserved" },
		{ "c 0x100,4,0 d=7,0x0,2", "dtype is reserved" },
		{ "c 0x100,4,0 d=1,0x0,5", "dsize is above 4" },
		{ "c 0x100,4,0 d=4,0x1000,3", "daddr of a CSR access is not the number of a CSR" },
		{ "c 0x100,4,0 d=0,0x0,2,s0x1,r0",
		  "an access has data that its dtype does not have" },
		{ "c 0x100,4,0 d=0,0x0,2,l0x1,r0",
		  "an access has data that its dtype does not have" },
		{ "c 0x100,4,0 d=15,0x0,2,s0x1",
		  "an access has data that its dtype does not have" },
		{ "c 0x100,4,0 d=1,0x0,1,s0x10000", "data has more than 2^dsize bytes" },
		{ "c 0x100,4,0 d=1,0x0,3,s0x10000000000000000",
		  "data has more than 2^dsize bytes" },
		{ "c 0x100,4,0 d=0,0x0,2", "a load or atomic of a split port has no lrid" },
		{ "c 0x100,4,0 d=8,0x0,2", "a load or atomic of a split port has no lrid" },
		{ "c 0x100,4,0 d=1,0x0,2,r1", "an access that has no response has an lrid" },
		{ "c 0x100,4,0 d=15,0x0,2,r1", "an access that has no response has an lrid" },
		{ "c 0x100,4,0 d=0,0x0,2,r8", "lrid or lid is wider than the port's" },
		{ "c r=2,8", "lrid or lid is wider than the port's" },
		{ "c d=1,0x0,2", "a data access belongs to no instruction of its cycle" },
		{ "c 0x100,0,1 d=1,0x0,2", "a data access belongs to no instruction of its cycle" },
		{ "c 0x100,4,0 d=1,0x0,2,b1",
		  "a data access belongs to no instruction of its cycle" },
		{ "c 0x100,4,0 d=1,0x0,2,i0x1",
		  "iaddr_lsbs is the place of no instruction of its block" },
		{ "c 0x100,4,0 d=1,0x0,2,i0x8",
		  "iaddr_lsbs is the place of no instruction of its block" },
		{ "c 0x100,4,0,1 d=1,0x0,2,i0x6",
		  "iaddr_lsbs is the place of no instruction of its block" },
		{ "c 0x100,4,0 d=1,0x0,2,i0x10",
		  "iaddr_lsbs is the place of no instruction of its block" },
		{ "c 0x100,4,5 d=1,0x0,2,i0x6",
		  "a branch, a jump or a trap return makes a data access" },
		{ "c 0x100,4,3,1 d=1,0x0,2,i0x4",
		  "a branch, a jump or a trap return makes a data access" },
		{ "c 0x100,4,13 d=1,0x0,2,i0x6",
		  "a branch, a jump or a trap return makes a data access" },
		{ "c 0x100,4,13,1 d=0,0x0,2,i0x4,r0",
		  "a branch, a jump or a trap return makes a data access" },
		{ "c r=0,1", "lresp is reserved" },
		{ "c r=1,1", "lresp is reserved" },
		{ "c r=3,1,0x1", "a response with an error has data" },
	};
	static const struct {
		const char *line;
		unsigned int column;
		const char *reason;
	} unreadable[] = {
		{ "c 0x100,4,0 d=16,0x0,2", 15, "the number is too large" },
		{ "c 0x100,4,0 d=1", 16,
		  "expected an access "
		  "d=DTYPE,DADDR,DSIZE[,sDATA][,lDATA][,iLSBS][,bDBLOCK][,rLRID]" },
		{ "c 0x100,4,0 d=1,0x0", 20,
		  "expected an access "
		  "d=DTYPE,DADDR,DSIZE[,sDATA][,lDATA][,iLSBS][,bDBLOCK][,rLRID]" },
		{ "c 0x100,4,0 d=1,0x0,8", 21, "the number is too large" },
		{ "c 0x100,4,0 d=1,0x0,2,s1", 24, "expected 0x" },
		{ "c 0x100,4,0 d=1,0x0,2,s0x", 26, "expected lower-case hex digits" },
		{ "c 0x100,4,0 d=1,0x0,4,s0x100000000000000000000000000000000", 26,
		  "the number is too large" },
		{ "c 0x100,4,0 d=1,0x0,2,i0x10000", 26, "the number is too large" },
		{ "c 0x100,4,0 d=1,0x0,2,b8", 24, "the number is too large" },
		{ "c 0x100,4,0 d=0,0x0,2,r256", 24, "the number is too large" },
		{ "c 0x100,4,0 d=0,0x0,2,r0,s0x1", 25, "unexpected text at the end of the line" },
		{ "c 0x100,4,0 d=1,0x0,2 0x200,4,0", 23, "unknown or misplaced word in a cycle" },
		{ "c 0x100,4,0 r=2,1 d=1,0x0,2", 19, "unknown or misplaced word in a cycle" },
		{ "c r=2", 6, "expected a response r=LRESP,LID[,LDATA]" },
		{ "c r=4,1", 5, "the number is too large" },
		{ "c r=2,1,5", 9, "expected 0x" },
		{ "c r=2,1 r=2,2 r=2,3 r=2,4 r=2,5", 29, "more responses than the port has" },
		{ "c 0x100,4,0 d=1,0x0,0 d=1,0x0,0 d=1,0x0,0 d=1,0x0,0 d=1,0x0,0", 55,
		  "more data accesses than the port has" },
	};
	static struct ntrace_ingress_reader reader;
	struct ntrace_ingress_writer writer;
	struct ntrace_ingress_record record;
	char text[2 * NTRACE_INGRESS_LINE_MAX], out[NTRACE_INGRESS_LINE_MAX];
	int length;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		length = snprintf(text, sizeof(text), "%s%s\n", split_line, bad[i].line);
		ntrace_ingress_reader_init(&reader);
		is_u64((uint64_t)read_text(text, (size_t)length, 99, &reader, &record, 1),
		       UINT64_MAX, "refused: %s", bad[i].line);
		is_str(reader.error, bad[i].reason, "and why");
		ntrace_ingress_reader_init(&reader);
		reader.lenient = true;
		is_u64((uint64_t)read_text(text, (size_t)length, 99, &reader, &record, 1), 1,
		       "lenient: read");
		ntrace_ingress_writer_init(&writer, &reader.port, out);
		ok(ntrace_ingress_write(&writer, &record, out) == NTRACE_ERR_INVALID,
		   "a strict writer refuses it");
		writer.lenient = true;
		length = ntrace_ingress_write(&writer, &record, out);
		out[length > 1 ? length - 1 : 0] = '\0';
		is_str(out, bad[i].line, "lenient: written");
	}
	for (size_t i = 0; i < sizeof(unreadable) / sizeof(unreadable[0]); i++) {
		length = snprintf(text, sizeof(text), "%s%s\n", split_line, unreadable[i].line);
		ntrace_ingress_reader_init(&reader);
		reader.lenient = true;
		ok(read_text(text, (size_t)length, 99, &reader, &record, 1) < 0 && reader.line == 2,
		   "not the format: %s", unreadable[i].line);
		is_str(reader.error, unreadable[i].reason, "and why");
		is_u64(reader.column, unreadable[i].column, "and where");
	}
}

/* First lines that describe no port. */
static void bad_ports(void)
{
	static const char *const bad[][2] = {
		{ "data=both retires=1 accesses=1 dtype=1 lsbs=0",
		  "expected data=unified or data=split" },
		{ "data=unified accesses=1", "expected retires=, accesses=, dtype= and lsbs=" },
		{ "data=unified retires=0 accesses=1 dtype=1 lsbs=0",
		  "retires must be 1 to 65535, accesses 1 to 8" },
		{ "data=unified retires=1 accesses=0 dtype=1 lsbs=0",
		  "retires must be 1 to 65535, accesses 1 to 8" },
		{ "data=unified retires=1 accesses=9 dtype=1 lsbs=0", "the number is too large" },
		{ "data=unified retires=1 accesses=1 dtype=2 lsbs=0", "dtype must be 1, 3 or 4" },
		{ "data=unified retires=1 accesses=1 dtype=1 lsbs=1", "lsbs must be 0 or 2 to 16" },
		{ "data=unified retires=2 accesses=1 dtype=1 lsbs=0",
		  "a port that retires several instructions in a cycle needs lsbs" },
		{ "data=split retires=1 accesses=1 dtype=1 lsbs=0",
		  "lrid must be 1 to 8 for data=split, and is not for data=unified" },
		{ "data=unified retires=1 accesses=1 dtype=1 lsbs=0 lrid=2",
		  "lrid must be 1 to 8 for data=split, and is not for data=unified" },
		{ "data=split retires=1 accesses=1 dtype=1 lsbs=0 lrid=9",
		  "the number is too large" },
	};
	static struct ntrace_ingress_reader reader;
	struct ntrace_ingress_record record;
	struct ntrace_ingress_port port = unified;
	char text[NTRACE_INGRESS_LINE_MAX];

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		int length = snprintf(text, sizeof(text),
				      "ntrace-ingress 2 xlen=64 itype=4 groups=1 port=block %s\n",
				      bad[i][0]);

		ntrace_ingress_reader_init(&reader);
		ok(read_text(text, (size_t)length, 99, &reader, &record, 1) < 0, "no port: %s",
		   bad[i][0]);
		is_str(reader.error, bad[i][1], "and why");
	}
	port.data = NTRACE_INGRESS_DATA_NONE;
	is_str(ntrace_ingress_port_refusal(&port),
	       "a port without a data interface has none of its properties",
	       "properties without a data interface");
	port.data = 3;
	is_str(ntrace_ingress_port_refusal(&port), "data must be unified or split",
	       "a data interface of a third kind");
	ok(!ntrace_ingress_port_refusal(&unified) && !ntrace_ingress_port_refusal(&split),
	   "valid ports");
}

static uint64_t random64(void)
{
	return (uint64_t)rand() << 62 ^ (uint64_t)rand() << 31 ^ (uint64_t)rand();
}

static void random_port(struct ntrace_ingress_port *port)
{
	memset(port, 0, sizeof(*port));
	port->xlen = rand() % 2 ? 64 : 32;
	port->itype_bits = rand() % 2 ? 4 : 3;
	port->groups = 1 + (unsigned int)rand() % 8;
	port->single = rand() % 3 == 0;
	port->data = (uint8_t)(rand() % 3);
	if (!port->data)
		return;
	port->retires = (uint16_t)(1 + rand() % 200);
	port->accesses = (uint8_t)(1 + rand() % 8);
	port->dtype_bits = (uint8_t[]){ 1, 3, 4 }[rand() % 3];
	port->iaddr_lsbs_bits = (uint8_t)(2 + rand() % 15);
	if (port->data == NTRACE_INGRESS_DATA_SPLIT)
		port->lrid_bits = (uint8_t)(1 + rand() % 8);
}

/* Signals of any value within the fields of a file. */
static void random_cycle(const struct ntrace_ingress_port *port, struct ntrace_ingress_cycle *cycle)
{
	bool wild = rand() % 2;

	memset(cycle, 0, sizeof(*cycle));
	cycle->time = random64() >> rand() % 64;
	cycle->priv = wild ? (uint8_t)rand() : (uint8_t[]){ 0, 1, 3, 5, 6 }[rand() % 5];
	cycle->idle = (uint32_t)random64() >> rand() % 32;
	cycle->groups = (uint8_t)((unsigned int)rand() % (port->groups + 1));
	cycle->accesses = port->data ? (uint8_t)(rand() % (port->accesses + 1)) : 0;
	if (port->data == NTRACE_INGRESS_DATA_SPLIT)
		cycle->responses = (uint8_t)(rand() % (port->accesses + 1));
	for (unsigned int i = 0; i < cycle->groups; i++) {
		struct ntrace_ingress_group *group = &cycle->group[i];

		group->iaddr = random64() >> rand() % 64;
		group->iretire = wild ? (uint32_t)random64() : 1 + (uint32_t)rand() % 20;
		if (port->single && !wild)
			group->iretire = 1;
		group->itype = wild ? rand() % 16 : 0;
		group->ilastsize = wild ? rand() % 4 : 0;
		if (!wild)
			group->iaddr &= port->xlen == 32 ? 0xfffffffe : ~UINT64_C(1);
	}
	for (unsigned int i = 0; i < cycle->accesses; i++) {
		struct ntrace_ingress_access *access = &cycle->access[i];
		unsigned int group = cycle->groups ? (unsigned int)rand() % cycle->groups : 0;

		access->daddr = random64() >> rand() % 64;
		access->dtype = wild ? rand() % 16 : NTRACE_DTYPE_STORE;
		access->dsize = wild ? rand() % 8 : rand() % 5;
		access->dblock = wild ? rand() % 8 : (uint8_t)group;
		access->store[0] = random64() >> rand() % 64;
		access->store[1] = wild ? random64() : 0;
		if (!wild) {
			access->daddr &= port->xlen == 32 ? UINT32_MAX : UINT64_MAX;
			access->store[0] &= access->dsize < 3 ?
						    (1u << (8 << access->dsize) % 32) - 1 :
						    UINT64_MAX;
			access->iaddr_lsbs = (uint16_t)(cycle->group[group].iaddr &
							((1u << port->iaddr_lsbs_bits) - 1));
			continue;
		}
		access->iaddr_lsbs = (uint16_t)rand();
		access->load[0] = random64() >> rand() % 64;
		access->load[1] = rand() % 2 ? random64() : 0;
		access->request = rand() % 2;
		access->lrid = access->request ? (uint8_t)rand() : 0;
	}
	for (unsigned int i = 0; i < cycle->responses; i++) {
		struct ntrace_ingress_response *response = &cycle->response[i];

		response->lresp = wild ? rand() % 4 : NTRACE_LRESP_OKAY;
		response->lid = wild ? (uint8_t)rand() : 0;
		response->load[0] = random64();
	}
}

/* Random cycles of random ports are read as they were written, however the file is cut. */
static void round_trips(void)
{
	static char text[RECORDS * NTRACE_INGRESS_LINE_MAX];
	static struct ntrace_ingress_record in[RECORDS], out[RECORDS];
	static struct ntrace_ingress_reader reader;
	unsigned int wrong = 0, strict = 0, loose = 0;

	srand(7);
	for (unsigned int round = 0; round < 400; round++) {
		struct ntrace_ingress_port port;
		struct ntrace_ingress_writer writer;
		int length, count;

		random_port(&port);
		length = ntrace_ingress_writer_init(&writer, &port, text);
		wrong += length < 0;
		writer.lenient = true;
		for (unsigned int i = 0; i < RECORDS; i++) {
			int more;
			bool valid;

			memset(&in[i], 0, sizeof(in[i]));
			random_cycle(&port, &in[i].cycle);
			valid = !ntrace_ingress_check(&port, &in[i].cycle);
			strict += valid;
			loose += !valid;
			writer.lenient = !valid;
			more = ntrace_ingress_write(&writer, &in[i], text + length);
			if (more < 0 || more > NTRACE_INGRESS_LINE_MAX)
				wrong++;
			else
				length += more;
		}
		length += ntrace_ingress_write_end(&writer, text + length);
		memset(out, 0, sizeof(out));
		ntrace_ingress_reader_init(&reader);
		reader.lenient = true;
		count = read_text(text, (size_t)length, 1 + (size_t)rand() % 5000, &reader, out,
				  RECORDS);
		if (count != RECORDS || memcmp(in, out, sizeof(in)) ||
		    memcmp(&reader.port, &port, sizeof(port)))
			wrong++;
	}
	is_u64(wrong, 0, "random cycles are read as they were written");
	ok(strict > 3000 && loose > 3000, "%u of them valid, %u not", strict, loose);
}

/* The addresses of an access, against a search of all parcels. */
static void places(void)
{
	unsigned int wrong = 0, found = 0, exact = 0;

	srand(9);
	for (unsigned int round = 0; round < 20000; round++) {
		struct ntrace_ingress_port port = unified;
		struct ntrace_ingress_cycle cycle = { .groups = 1, .accesses = 1 };
		struct ntrace_ingress_group *group = &cycle.group[0];
		uint64_t first = 0, last = 0, lowest = 0, highest = 0;
		unsigned int count = 0;
		bool result;

		port.iaddr_lsbs_bits = (uint8_t)(2 + rand() % 5);
		group->iaddr = random64() & ~UINT64_C(1);
		group->ilastsize = rand() % 3;
		group->iretire = (1u << group->ilastsize) + (uint32_t)rand() % 40;
		cycle.access[0].iaddr_lsbs = (uint16_t)rand() & ((1u << port.iaddr_lsbs_bits) - 1);
		for (uint32_t p = 0; p + (1u << group->ilastsize) <= group->iretire; p++) {
			uint64_t address = group->iaddr + UINT64_C(2) * p;

			if ((address & ((1u << port.iaddr_lsbs_bits) - 1)) !=
			    cycle.access[0].iaddr_lsbs)
				continue;
			lowest = count++ ? lowest : address;
			highest = address;
		}
		result = ntrace_ingress_access_iaddr(&port, &cycle, 0, &first, &last);
		if (result != (count > 0) || (count && (first != lowest || last != highest)))
			wrong++;
		found += count > 0;
		exact += count == 1;
	}
	is_u64(wrong, 0, "the place of an access is that of a search");
	ok(found > 2000 && exact > 500, "%u have a place, %u of them one", found, exact);
}

static void filters(void)
{
	struct ntrace_ingress_cycle cycle = with_access((struct ntrace_ingress_access){
		.dtype = NTRACE_DTYPE_STORE, .daddr = 0x8000, .dsize = 2 });
	struct ntrace_data_filter filter;

#define FILTER(expected, text, change)                                                             \
	do {                                                                                       \
		ntrace_data_filter_init(&filter);                                                  \
		change;                                                                            \
		ok(ntrace_data_filter_match(&filter, &unified, &cycle, 0) == (expected), text);    \
	} while (0)

	FILTER(true, "a new filter selects every access", (void)0);
	FILTER(true, "filter: dtype", filter.dtypes = NTRACE_DTYPES_STORES);
	FILTER(false, "filter: another dtype", filter.dtypes = NTRACE_DTYPES_LOADS);
	FILTER(true, "filter: dsize", filter.dsizes = 1 << 2);
	FILTER(false, "filter: another dsize", filter.dsizes = 1 << 3);
	FILTER(true, "filter: privilege", filter.privs = 1 << NTRACE_PRIV_M);
	FILTER(false, "filter: another privilege", filter.privs = 1 << NTRACE_PRIV_U);
	FILTER(true, "filter: range of daddr",
	       (filter.daddr_first = 0x8000, filter.daddr_last = 0x8000));
	FILTER(false, "filter: daddr below the range", filter.daddr_first = 0x8001);
	FILTER(false, "filter: daddr above the range", filter.daddr_last = 0x7fff);
	FILTER(true, "filter: range of iaddr",
	       (filter.iaddr_first = 0x1004, filter.iaddr_last = 0x1004));
	FILTER(false, "filter: iaddr below the range", filter.iaddr_first = 0x1005);
	FILTER(false, "filter: iaddr above the range", filter.iaddr_last = 0x1003);
	FILTER(false, "filter: without its size", filter.size = 0);
	FILTER(true, "filter: of an older header, which has no ranges",
	       (filter.size = offsetof(struct ntrace_data_filter, iaddr_first),
		filter.daddr_first = UINT64_MAX, filter.iaddr_first = UINT64_MAX));
	FILTER(false, "filter: all conditions must hold",
	       (filter.dtypes = NTRACE_DTYPES_STORES, filter.dsizes = 1));
	ntrace_data_filter_init(&filter);
	ok(!ntrace_data_filter_match(&filter, &unified, &cycle, 1),
	   "filter: an access that the cycle does not have");
	/* A block that is longer than the low bits tell apart: any of its instructions. */
	cycle.group[0].iretire = 40;
	FILTER(true, "filter: a range with the first possible instruction",
	       filter.iaddr_last = 0x1004);
	FILTER(true, "filter: a range with the last possible instruction",
	       filter.iaddr_first = 0x1044);
	FILTER(false, "filter: a range after it", filter.iaddr_first = 0x1045);
}

int main(void)
{
	kinds();
	two_blocks();
	split_loads();
	repeated();
	refused();
	bad_ports();
	round_trips();
	places();
	filters();
	return done_testing();
}
