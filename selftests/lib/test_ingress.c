// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * The ingress port: all signals of a cycle (E-Trace, chapter 4), and the file format of its input.
 * Streams are compared with those of the same blocks passed one by one, which other tests compare
 * with the specification.
 */
#include <stdlib.h>

#include "test_encode.h"

static struct ntrace_encoder encoder;
static struct ntrace_encoder_config config;
static struct ntrace_params given;

/* A cycle of M-mode code with one block, or none if @iretire is 0. */
static struct ntrace_ingress_cycle one(uint64_t iaddr, uint32_t iretire, unsigned int itype)
{
	struct ntrace_ingress_cycle cycle = { .priv = NTRACE_PRIV_M, .groups = iretire > 0 };

	cycle.group[0].iaddr = iaddr;
	cycle.group[0].iretire = iretire;
	cycle.group[0].itype = (uint8_t)itype;
	return cycle;
}

static void give(struct ntrace_ingress_cycle cycle)
{
	if (ntrace_encoder_cycle(&encoder, &cycle) < 0)
		ok(false, "cycle refused");
}

static void fresh(void)
{
	ntrace_encoder_config_init(&config);
	ntrace_params_init(&given);
	given.mode = NTRACE_MODE_HISTORY;
	config.params = &given;
	begin(&encoder, &config);
}

/* Ingress example 1 again, retired in one cycle of a port with four groups. */
static void many_groups(void)
{
	struct ntrace_ingress_cycle cycle = {
		.priv = NTRACE_PRIV_M,
		.groups = 4,
		.group = { { 0x1000, 7, NTRACE_ITYPE_INDIRECT_CALL, 0, 0, 0 },
			   { 0x940, 3, NTRACE_ITYPE_BRANCH_NOT_TAKEN, 0, 0, 0 },
			   { 0x946, 1, NTRACE_ITYPE_BRANCH_TAKEN, 0, 0, 0 },
			   { 0x988, 4, NTRACE_ITYPE_NONE, 1, 0, 0 } },
	};

	fresh();
	ntrace_encoder_start(&encoder, NTRACE_SYNC_RESET_EXIT);
	give(cycle);
	ntrace_encoder_stop(&encoder, NTRACE_EVCODE_DEBUG_ENTRY);
	is_bytes("24 05 00 83 10 71 80 CB 84 40 21 17",
		 "ingress example 1: four groups in one cycle");

	/* SR: each instruction is a group; ilastsize gives the sizes. */
	config.single_retire = true;
	begin(&encoder, &config);
	ntrace_encoder_start(&encoder, NTRACE_SYNC_RESET_EXIT);
	cycle.group[0] = (struct ntrace_ingress_group){ 0x1000, 1, 0, 1, 0, 0 };
	cycle.group[1] = (struct ntrace_ingress_group){ 0x1004, 1, 0, 1, 0, 0 };
	cycle.group[2] = (struct ntrace_ingress_group){ 0x1008, 1, 0, 1, 0, 0 };
	cycle.group[3] = (struct ntrace_ingress_group){ 0x100c, 1, 8, 0, 0, 0 };
	give(cycle);
	cycle.group[0] = (struct ntrace_ingress_group){ 0x940, 1, 0, 1, 0, 0 };
	cycle.group[1] = (struct ntrace_ingress_group){ 0x944, 1, 4, 0, 0, 0 };
	cycle.group[2] = (struct ntrace_ingress_group){ 0x946, 1, 5, 0, 0, 0 };
	cycle.group[3] = (struct ntrace_ingress_group){ 0x988, 1, 0, 1, 0, 0 };
	give(cycle);
	cycle.groups = 1;
	cycle.group[0] = (struct ntrace_ingress_group){ 0x98c, 1, 0, 1, 0, 0 };
	give(cycle);
	ntrace_encoder_stop(&encoder, NTRACE_EVCODE_DEBUG_ENTRY);
	is_bytes("24 05 00 83 10 71 80 CB 84 40 21 17",
		 "ingress port: the same from a single-instruction port");
}

static void triggers(void)
{
	struct ntrace_ingress_cycle cycle;

	fresh();
	give(one(0x100, 1, 0));
	cycle = one(0x102, 1, 0);
	cycle.trace_on = true;
	give(cycle);
	cycle = one(0x104, 1, 0);
	cycle.trace_off = true;
	give(cycle);
	give(one(0x106, 1, 0));
	is_messages(
		"ProgTraceSync SYNC=5 ICNT=0 FADDR=81; "
		"ProgTraceCorrelation EVCODE=4 CDF=1 ICNT=2 HIST=1",
		"ingress port: on from the oldest instruction of a cycle, off after the newest");

	cycle = one(0x108, 1, 0);
	cycle.trace_on = true;
	cycle.trace_off = true;
	give(cycle);
	give(one(0x10a, 1, 0));
	is_messages("ProgTraceSync SYNC=5 ICNT=0 FADDR=84; "
		    "ProgTraceCorrelation EVCODE=4 CDF=1 ICNT=1 HIST=1",
		    "ingress port: on and off together while off: this cycle alone");

	cycle = one(0x10c, 1, 0);
	cycle.trace_on = true;
	give(cycle);
	cycle = one(0x10e, 1, 0);
	cycle.trace_off = true;
	give(cycle);
	cycle = one(0x110, 1, 0);
	cycle.trace_on = true;
	give(cycle);
	ntrace_encoder_stop(&encoder, NTRACE_EVCODE_DEBUG_ENTRY);
	is_messages("ProgTraceSync SYNC=5 ICNT=0 FADDR=86; "
		    "ProgTraceCorrelation EVCODE=0 CDF=1 ICNT=3 HIST=1",
		    "ingress port: off, and on in the next cycle: not interrupted");

	cycle = one(0x10c, 1, 0);
	cycle.trace_on = true;
	give(cycle);
	cycle = one(0x10e, 1, 0);
	cycle.trace_off = true;
	give(cycle);
	cycle = one(0x110, 1, 0);
	cycle.trace_on = true;
	cycle.idle = 1;
	give(cycle);
	ntrace_encoder_stop(&encoder, NTRACE_EVCODE_DEBUG_ENTRY);
	is_messages("ProgTraceSync SYNC=5 ICNT=0 FADDR=86; "
		    "ProgTraceCorrelation EVCODE=4 CDF=1 ICNT=2 HIST=1; "
		    "ProgTraceSync SYNC=5 ICNT=0 FADDR=88; "
		    "ProgTraceCorrelation EVCODE=0 CDF=1 ICNT=1 HIST=1",
		    "ingress port: on after a cycle in between: interrupted");

	ntrace_encoder_start(&encoder, NTRACE_SYNC_TRACE_ENABLE);
	cycle = one(0x100, 1, NTRACE_ITYPE_BRANCH_TAKEN);
	cycle.groups = 3;
	cycle.group[1] = (struct ntrace_ingress_group){ 0x200, 1, 5, 0, 0, 0 };
	cycle.group[2] = (struct ntrace_ingress_group){ 0x300, 1, 5, 0, 0, 0 };
	cycle.notify = 4;
	give(cycle);
	cycle = one(0x400, 1, 0);
	cycle.external = true;
	give(cycle);
	is_messages("ProgTraceSync SYNC=5 ICNT=0 FADDR=80; "
		    "IndirectBranchHistSync SYNC=6 BTYPE=0 ICNT=2 FADDR=180 HIST=7; "
		    "IndirectBranchHistSync SYNC=0 BTYPE=0 ICNT=1 FADDR=200 HIST=3",
		    "ingress port: notify names its group, an external trigger means the oldest");
}

static void levels(void)
{
	struct ntrace_ingress_cycle cycle;

	fresh();
	ntrace_encoder_start(&encoder, NTRACE_SYNC_TRACE_ENABLE);
	give(one(0x100, 1, 0));
	cycle = one(0, 0, 0);
	cycle.halted = true;
	give(cycle);
	give(cycle);
	give(one(0x102, 1, 0));
	cycle.halted = false;
	cycle.reset = true;
	give(cycle);
	give(one(0x80, 1, 0));
	is_messages("ProgTraceSync SYNC=5 ICNT=0 FADDR=80; "
		    "ProgTraceCorrelation EVCODE=0 CDF=1 ICNT=1 HIST=1; "
		    "ProgTraceSync SYNC=3 ICNT=0 FADDR=81; ProgTraceSync SYNC=1 ICNT=1 FADDR=40",
		    "ingress port: halted and reset are levels");
	/* A clock that stops while the queue is full loses nothing. */
	config.fifo_bytes = NTRACE_ENCODER_FIFO_MIN;
	config.fifo_drain = 0x8000;
	config.stall = true;
	given.mode = NTRACE_MODE_BRANCH;
	begin(&encoder, &config);
	ntrace_encoder_start(&encoder, NTRACE_SYNC_TRACE_ENABLE);
	unsigned int stalls = 0;

	for (int i = 0; i < 500; i++) {
		cycle = one(0x100, 1, NTRACE_ITYPE_BRANCH_TAKEN);
		while (ntrace_encoder_cycle(&encoder, &cycle) == NTRACE_ENCODER_STALL) {
			cycle.groups = 0;
			stalls++;
		}
	}
	ok(stalls && !encoder.stall_cycles && !encoder.dropped,
	   "ingress port: stall comes before the queue is full: %u cycles", stalls);
	is_u64(encoder.messages, 501, "and nothing is lost");
}

static void bad_cycles(void)
{
	const struct ntrace_ingress_port port = { .xlen = 32, .itype_bits = 4, .groups = 2 },
					 three = { .xlen = 64, .itype_bits = 3, .groups = 2 },
					 single = { .xlen = 64,
						    .itype_bits = 4,
						    .groups = 2,
						    .single = true };
	struct ntrace_ingress_cycle cycle, good = one(0x100, 2, NTRACE_ITYPE_RETURN);

#define BAD(which, text, change)                                                                   \
	do {                                                                                       \
		cycle = good;                                                                      \
		change;                                                                            \
		is_str(ntrace_ingress_check(&which, &cycle), text, "ingress port: " #change);      \
	} while (0)

	ok(!ntrace_ingress_check(&port, &good), "a valid cycle");
	BAD(port, "more groups than the port has", cycle.groups = 3);
	BAD(port, "trace notify for a group that does not exist", cycle.notify = 2);
	BAD(port, "ctype is above 3", cycle.ctype = 4);
	BAD(port, "priv is reserved", cycle.priv = 2);
	BAD(port, "priv is reserved", cycle.priv = 7);
	BAD(port, "priv is reserved", cycle.priv = 8);
	BAD(port, "a halted hart, or one in reset, cannot retire instructions",
	    cycle.halted = true);
	BAD(port, "a halted hart, or one in reset, cannot retire instructions", cycle.reset = true);
	BAD(port, "itype is reserved", cycle.group[0].itype = 6);
	BAD(port, "itype is reserved", cycle.group[0].itype = 7);
	BAD(port, "itype is reserved", cycle.group[0].itype = 16);
	BAD(three, "itype is reserved", cycle.group[0].itype = 8);
	BAD(port, "ilastsize is above 2", cycle.group[0].ilastsize = 3);
	BAD(port, "iaddr is odd", cycle.group[0].iaddr = 1);
	BAD(port, "iaddr has more bits than the port's", cycle.group[0].iaddr = UINT64_C(1) << 32);
	BAD(port, "sijump is neither 0 nor 1", cycle.group[0].sijump = 2);
	BAD(port, "a block is shorter than its last instruction", cycle.group[0].ilastsize = 2);
	BAD(port, "a group retires nothing and is not a trap", cycle.group[0].iretire = 0);
	BAD(port, "a group retires nothing and is not a trap", cycle.groups = 2);
	BAD(port, "a block has more than 65,535 parcels", cycle.group[0].iretire = 65536);
	BAD(single, "a group has more than one instruction", cycle.group[0].itype = 13);
	BAD(port, "a trap is not in the newest group",
	    (cycle.groups = 2, cycle.group[0].itype = 1, cycle.group[1] = good.group[0]));

	fresh();
	ntrace_encoder_start(&encoder, NTRACE_SYNC_TRACE_ENABLE);
	give(one(0x100, 1, 0));
	cycle = one(0x102, 1, 7);
	cycle.trace_off = true;
	ok(ntrace_encoder_cycle(&encoder, &cycle) == NTRACE_ERR_INVALID, "a bad cycle: refused");
	give(one(0x102, 1, 0));
	ntrace_encoder_stop(&encoder, NTRACE_EVCODE_DEBUG_ENTRY);
	is_messages("ProgTraceSync SYNC=5 ICNT=0 FADDR=80; "
		    "ProgTraceCorrelation EVCODE=0 CDF=1 ICNT=2 HIST=1",
		    "and changes nothing");

	struct ntrace_ingress block = { .iaddr = 0x100, .iretire = 1, .priv = 2 };

	ntrace_encoder_start(&encoder, NTRACE_SYNC_TRACE_ENABLE);
	ok(ntrace_encoder_retire(&encoder, &block) == NTRACE_ERR_INVALID,
	   "ingress port: priv 2 is reserved for single blocks too");
	block.priv = NTRACE_PRIV_M;
	block.itype = NTRACE_ITYPE_INDIRECT_JUMP_3BIT;
	ok(ntrace_encoder_retire(&encoder, &block) == NTRACE_ERR_INVALID,
	   "itype: itype 6 is reserved with 4 bits");
}

/* Reads a file in memory in chunks of @chunk bytes. Return: the last result. */
static int read_file(const char *text, size_t size, size_t chunk,
		     struct ntrace_ingress_reader *reader, uint64_t *records)
{
	struct ntrace_ingress_record record;
	int result = NTRACE_ERR_AGAIN;

	*records = 0;
	ntrace_ingress_reader_init(reader);
	for (size_t at = 0; at < size; at += chunk) {
		ntrace_ingress_reader_feed(reader, text + at,
					   size - at < chunk ? size - at : chunk);
		while (!(result = ntrace_ingress_reader_next(reader, &record)))
			++*records;
	}
	return result;
}

static const char file_text[] =
	"# what a hart did\n"
	"ntrace-ingress 1 xlen=64 itype=4 groups=2 port=block\n"
	"start 5\n"
	"c time=100 priv=3 scontext=0x1f 0x80000000,3,4,1 0x80000006,2,10,1,s\n"
	"c idle=7 time=108 ctype=2 cause=0xb tval=0xffffffffffffffff external notify=0x1 "
	"0xfffffffffffffffe,0,1\n"
	"c halted=1 trace_on trace_off\n"
	"c halted=0 reset=1\n"
	"overrun\n"
	"c time=18446744073709551615 reset=0 hcontext=0x2\n"
	"stop 0\n"
	"end\n";

static void file_form(void)
{
	static char again[sizeof(file_text) + 2 * NTRACE_INGRESS_LINE_MAX];
	const char *first_line = strchr(file_text, '\n') + 1;
	struct ntrace_ingress_reader reader;
	struct ntrace_ingress_writer writer;
	struct ntrace_ingress_record record;
	uint64_t records;
	int length = 0, wrong = 0;

	for (size_t chunk = 1; chunk <= sizeof(file_text); chunk++) {
		if (read_file(file_text, sizeof(file_text) - 1, chunk, &reader, &records) !=
			    NTRACE_ERR_EOS ||
		    records != 8)
			wrong++;
	}
	is_u64((uint64_t)wrong, 0, "a file reads the same for all chunk sizes");
	wrong = 0;
	for (size_t size = 0; size < sizeof(file_text) - 1; size++) {
		if (read_file(file_text, size, 64, &reader, &records) != NTRACE_ERR_AGAIN)
			wrong++;
	}
	is_u64((uint64_t)wrong, 0, "a truncated file is detected at any length");

	ntrace_ingress_reader_init(&reader);
	ntrace_ingress_reader_feed(&reader, file_text, sizeof(file_text) - 1);
	while (!ntrace_ingress_reader_next(&reader, &record)) {
		if (!length)
			length = ntrace_ingress_writer_init(&writer, &reader.port, again);
		length += ntrace_ingress_write(&writer, &record, again + length);
	}
	length += ntrace_ingress_write_end(&writer, again + length);
	again[length] = 0;
	is_str(again, first_line, "the records are written as they were read");
	is_u64(reader.line, 11, "the number of the last line");

	record.type = NTRACE_INGRESS_CYCLE;
	record.cycle = one(0x100, 1, 7);
	ok(ntrace_ingress_write(&writer, &record, again) == NTRACE_ERR_INVALID,
	   "a cycle that the port cannot carry is not written");
	record.type = 9;
	ok(ntrace_ingress_write(&writer, &record, again) == NTRACE_ERR_INVALID,
	   "nor is an unknown record");
	reader.port.groups = 9;
	ok(ntrace_ingress_writer_init(&writer, &reader.port, again) == NTRACE_ERR_INVALID,
	   "nor a port with nine groups");
}

/* One line after a good beginning; the place and reason of its refusal. */
static void bad_files(void)
{
	static const struct {
		const char *line;
		unsigned int column;
		const char *error;
	} bad[] = {
		{ "", 1, "expected c, start, stop, overrun or end" },
		{ "x", 1, "expected c, start, stop, overrun or end" },
		{ "start", 1, "expected c, start, stop, overrun or end" },
		{ "start 16", 7, "the number is too large" },
		{ "start -1", 7, "expected a decimal number" },
		{ "stop 0 ", 7, "unexpected text at the end of the line" },
		{ "end of it", 4, "unexpected text at the end of the line" },
		{ "overrun\r", 8, "unexpected text at the end of the line" },
		{ "cc", 2, "unexpected text at the end of the line" },
		{ "c ", 3, "unknown or misplaced word in a cycle" },
		{ "c colour=1", 3, "unknown or misplaced word in a cycle" },
		{ "c  time=1", 3, "unknown or misplaced word in a cycle" },
		{ "c time=1 time=2", 10, "unknown or misplaced word in a cycle" },
		{ "c priv=1 time=2", 10, "unknown or misplaced word in a cycle" },
		{ "c time=0x1", 9, "unexpected text at the end of the line" },
		{ "c time=18446744073709551616", 8, "the number is too large" },
		{ "c priv=256", 8, "the number is too large" },
		{ "c halted=2", 10, "the number is too large" },
		{ "c priv=2", 9, "priv is reserved" },
		{ "c ctype=4", 10, "ctype is above 3" },
		{ "c scontext=1", 12, "expected 0x" },
		{ "c scontext=0x", 14, "expected lower-case hex digits" },
		{ "c scontext=0xA", 14, "expected lower-case hex digits" },
		{ "c scontext=0x10000000000000000", 14, "the number is too large" },
		{ "c 0x100", 8, "expected a group IADDR,IRETIRE,ITYPE[,ILASTSIZE[,s]]" },
		{ "c 0x100,1", 10, "expected a group IADDR,IRETIRE,ITYPE[,ILASTSIZE[,s]]" },
		{ "c 0x100,1,0,3", 14, "ilastsize is above 2" },
		{ "c 0x100,1,0,4", 13, "the number is too large" },
		{ "c 0x100,1,0 d=0,0x10,2", 13, "unknown or misplaced word in a cycle" },
		{ "c r=2,0", 3, "unknown or misplaced word in a cycle" },
		{ "c 0x100,1,0,s", 13, "expected a decimal number" },
		{ "c 0x100,1,0 0x102,1,0 0x104,1,0", 23, "more groups than the port has" },
		{ "c 0x100,1,7", 12, "itype is reserved" },
		{ "c 0x100,1,0 notify=0x1", 13, "unknown or misplaced word in a cycle" },
		{ "ntrace-ingress 1 xlen=64 itype=4 groups=2 port=block", 1,
		  "expected c, start, stop, overrun or end" },
	};
	static const struct {
		const char *line;
		unsigned int column;
		const char *error;
	} bad_port[] = {
		{ "start 1", 1, "not an ingress file: it does not begin with 'ntrace-ingress'" },
		{ "ntrace-ingress 4 xlen=64 itype=4 groups=2 port=block", 16,
		  "the supported versions of the format are 1, 2 and 3" },
		{ "ntrace-ingress 0 xlen=64 itype=4 groups=2 port=block", 16,
		  "the supported versions of the format are 1, 2 and 3" },
		{ "ntrace-ingress 1 xlen=64 itype=4 groups=2 port=block priv=2", 53,
		  "unexpected text at the end of the line" },
		{ "ntrace-ingress 3 xlen=64 itype=4 groups=2 port=block ctype=1 priv=2", 61,
		  "unexpected text at the end of the line" },
		{ "ntrace-ingress 3 xlen=64 itype=4 groups=2 port=block priv=4", 59,
		  "the number is too large" },
		{ "ntrace-ingress 3 xlen=64 itype=4 groups=2 port=block priv=1", 60,
		  "priv must be 2 or 3, ctype 1 or 2" },
		{ "ntrace-ingress 3 xlen=32 itype=4 groups=2 port=block iaddr=33", 62,
		  "iaddr must be 8 to xlen" },
		{ "ntrace-ingress 2 xlen=64 itype=4 groups=2 port=block", 53,
		  "expected data=unified or data=split" },
		{ "ntrace-ingress 1 xlen=16 itype=4 groups=2 port=block", 53,
		  "xlen must be 32 or 64, itype 3 or 4, groups 1 to 8" },
		{ "ntrace-ingress 1 xlen=65 itype=4 groups=2 port=block", 23,
		  "the number is too large" },
		{ "ntrace-ingress 1 xlen=64 itype=4 groups=0 port=block", 53,
		  "xlen must be 32 or 64, itype 3 or 4, groups 1 to 8" },
		{ "ntrace-ingress 1 xlen=64 groups=2 port=block", 25,
		  "expected xlen=, itype=, groups= and port=" },
		{ "ntrace-ingress 1 xlen=64 itype=4 groups=2", 42,
		  "expected port=block or port=single" },
		{ "\x7f"
		  "ELF",
		  1, "not an ingress file: it does not begin with 'ntrace-ingress'" },
	};
	struct ntrace_ingress_reader reader;
	char text[4096];
	uint64_t records;
	int length, result;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		length = snprintf(text, sizeof(text),
				  "ntrace-ingress 1 xlen=64 itype=4 groups=2 port=block\n"
				  "start 5\n%s\nend\n",
				  bad[i].line);
		result = read_file(text, (size_t)length, 5, &reader, &records);
		ok(result == NTRACE_ERR_FORMAT && reader.line == 3 && reader.offset == 61 &&
			   reader.column == bad[i].column && records == 1,
		   "refused: '%s' in line %u, column %u", bad[i].line, (unsigned int)reader.line,
		   reader.column);
		is_str(reader.error, bad[i].error, "and why");
	}
	for (size_t i = 0; i < sizeof(bad_port) / sizeof(bad_port[0]); i++) {
		length = snprintf(text, sizeof(text), "%s\nend\n", bad_port[i].line);
		result = read_file(text, (size_t)length, 1000, &reader, &records);
		ok(result == NTRACE_ERR_FORMAT && reader.line == 1 &&
			   reader.column == bad_port[i].column,
		   "refused: '%s' in line %u, column %u", bad_port[i].line,
		   (unsigned int)reader.line, reader.column);
		is_str(reader.error, bad_port[i].error, "and why");
	}
	ok(read_file("ntrace-ingress 1 xlen=64 itype=4 groups=2 port=block\nend\nend\n", 61, 9,
		     &reader, &records) == NTRACE_ERR_FORMAT &&
		   !strcmp(reader.error, "unexpected text after 'end'"),
	   "refused: a line after 'end'");
	memset(text, '#', sizeof(text));
	ok(read_file(text, sizeof(text), 100, &reader, &records) == NTRACE_ERR_FORMAT &&
		   !strcmp(reader.error, "a line has more than 2047 bytes"),
	   "refused: a line without end");
	ok(read_file("#a\0b\n", 5, 5, &reader, &records) == NTRACE_ERR_FORMAT && reader.column == 3,
	   "refused: a byte of 0");
}

/* Random cycles to the encoder and to a file; replaying the file gives the same bytes. */
static void replay(void)
{
	static char text[4 << 20];
	static uint8_t first[sizeof(stream)];
	struct ntrace_ingress_port port = { .xlen = 64, .itype_bits = 4, .groups = 2 };
	struct ntrace_ingress_reader reader;
	struct ntrace_ingress_writer writer;
	struct ntrace_ingress_record record = { .type = NTRACE_INGRESS_START, .value = 5 };
	size_t first_size, length;
	unsigned int wrong = 0;

	srand(5);
	ntrace_encoder_config_init(&config);
	ntrace_params_init(&given);
	given.mode = NTRACE_MODE_HISTORY;
	config.params = &given;
	given.implicit_return = 3;
	given.timestamp_bits = 32;
	config.timestamps = NTRACE_TIMESTAMPS_BRANCH;
	config.sync_mode = 2;
	config.sync_max = 3;
	config.context = true;
	config.repeated_history = true;
	config.repeat_branch = true;
	config.sequential_jumps = true;
	config.fifo_bytes = 256;
	config.fifo_drain = 0x8000;
	begin(&encoder, &config);
	length = (size_t)ntrace_ingress_writer_init(&writer, &port, text);
	for (int i = 0; i < 20000; i++) {
		wrong += ntrace_encoder_play(&encoder, &record) < 0;
		length += (size_t)ntrace_ingress_write(&writer, &record, text + length);
		memset(&record, 0, sizeof(record));
		record.cycle.time = (uint64_t)i * 3;
		record.cycle.idle = rand() % 4 ? 0 : (uint32_t)rand() % 20;
		record.cycle.priv = rand() % 50 ? 1 : (uint8_t[]){ 0, 1, 3, 4 }[rand() % 4];
		record.cycle.scontext = (uint64_t)i / 500;
		record.cycle.ctype = rand() % 100 ? 0 : (uint8_t)(rand() % 4);
		record.cycle.trace_on = !(rand() % 60);
		record.cycle.trace_off = !(rand() % 300);
		record.cycle.external = !(rand() % 300);
		record.cycle.halted = !(rand() % 400);
		record.cycle.reset = !(rand() % 400);
		if (record.cycle.halted || record.cycle.reset)
			continue;
		record.cycle.groups = (uint8_t)(rand() % 3);
		record.cycle.notify = rand() % 100 ? 0 : (1u << record.cycle.groups) - 1;
		for (unsigned int g = 0; g < record.cycle.groups; g++) {
			struct ntrace_ingress_group *group = &record.cycle.group[g];

			group->iaddr = 0x80000000 + 2 * (uint64_t)(rand() % 64);
			group->iretire = 4 + (uint32_t)rand() % 8;
			group->ilastsize = (uint8_t)(rand() % 2);
			group->sijump = !(rand() % 10);
			do
				group->itype = (uint8_t)(rand() % 16);
			while (group->itype == 6 || group->itype == 7 ||
			       (g + 1 < record.cycle.groups &&
				(group->itype == 1 || group->itype == 2)));
		}
	}
	record.type = NTRACE_INGRESS_STOP;
	record.value = 4;
	ntrace_encoder_play(&encoder, &record);
	length += (size_t)ntrace_ingress_write(&writer, &record, text + length);
	length += (size_t)ntrace_ingress_write_end(&writer, text + length);
	is_u64(wrong, 0, "20000 random cycles are taken");
	is_u64(rewrite_errors, 0, "every message as the table has it");
	ok(encoder.dropped && encoder.messages > 1000, "%" PRIu64 " messages, %" PRIu64 " lost",
	   encoder.messages, encoder.dropped);
	first_size = stream_size;
	memcpy(first, stream, first_size);

	begin(&encoder, &config);
	ntrace_ingress_reader_init(&reader);
	ntrace_ingress_reader_feed(&reader, text, length);
	while (!ntrace_ingress_reader_next(&reader, &record))
		ntrace_encoder_play(&encoder, &record);
	is_str(reader.error ? reader.error : "none", "none", "the file is read without error");
	ok(stream_size == first_size && !memcmp(stream, first, first_size),
	   "recorded input replays to the same %zu bytes", first_size);
}

int main(void)
{
	many_groups();
	triggers();
	levels();
	bad_cycles();
	file_form();
	bad_files();
	replay();
	return done_testing();
}
