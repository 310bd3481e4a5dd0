// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which records a line of the ingress format can hold: the largest value of each signal, and the first
 * one beyond it. A lenient writer takes what breaks the rules of the port, but not what no line says.
 */
#include <ntrace/ingress.h>

#include "tap.h"

static const struct ntrace_ingress_port split = {
	.xlen = 64,
	.itype_bits = 4,
	.groups = 2,
	.data = NTRACE_INGRESS_DATA_SPLIT,
	.retires = 8,
	.accesses = 2,
	.dtype_bits = 4,
	.iaddr_lsbs_bits = 4,
	.lrid_bits = 2,
};

static struct ntrace_ingress_port port;
static struct ntrace_ingress_record record;
static char line[NTRACE_INGRESS_LINE_MAX];

static void ready(void)
{
	port = split;
	memset(&record, 0, sizeof(record));
	record.type = NTRACE_INGRESS_CYCLE;
}

static int write_line(void)
{
	struct ntrace_ingress_writer writer;
	int length;

	if (ntrace_ingress_writer_init(&writer, &port, line) < 0)
		ok(false, "a port");
	writer.lenient = true;
	length = ntrace_ingress_write(&writer, &record, line);
	line[length > 0 ? length - 1 : 0] = '\0';
	return length;
}

static void writes(const char *expected, const char *what)
{
	is_u64(write_line(), strlen(expected) + 1, "%s: its length", what);
	is_str(line, expected, "%s", what);
}

static void refuses(const char *what)
{
	is_u64(write_line(), (uint64_t)NTRACE_ERR_INVALID, "%s is refused", what);
}

static void test_groups(void)
{
	struct ntrace_ingress_group *group = record.cycle.group;

	ready();
	record.cycle.groups = 2;
	group[0] = (struct ntrace_ingress_group){ .iaddr = 0x10, .iretire = 1 };
	group[1] = (struct ntrace_ingress_group){
		.iaddr = UINT64_MAX, .iretire = UINT32_MAX, .itype = 15, .ilastsize = 3, .sijump = 1
	};
	writes("c 0x10,1,0 0xffffffffffffffff,4294967295,15,3,s", "the largest group");
	group[1].ilastsize = 0;
	writes("c 0x10,1,0 0xffffffffffffffff,4294967295,15,0,s", "sijump without ilastsize");
	group[1].sijump = 0;
	writes("c 0x10,1,0 0xffffffffffffffff,4294967295,15", "neither of them");
	group[1].itype = 16;
	refuses("an itype of 16");
	group[1].itype = 0;
	group[1].ilastsize = 4;
	refuses("an ilastsize of 4");
	group[1].ilastsize = 0;
	group[1].sijump = 2;
	refuses("a sijump of 2");
	group[1].sijump = 0;
	record.cycle.groups = 3;
	refuses("a group more than the port has");
	record.cycle.groups = 1;
	group[1].itype = 16;
	writes("c 0x10,1,0", "a group that is not used");
}

static void test_accesses(void)
{
	struct ntrace_ingress_access *access = record.cycle.access;

	ready();
	record.cycle.accesses = 2;
	access[1] = (struct ntrace_ingress_access){ .daddr = UINT64_MAX,
						    .store = { UINT64_MAX, 1 },
						    .load = { 2, 0 },
						    .iaddr_lsbs = UINT16_MAX,
						    .dtype = 15,
						    .dsize = 7,
						    .dblock = NTRACE_INGRESS_GROUPS_MAX - 1,
						    .lrid = 255,
						    .request = true };
	writes("c d=0,0x0,0 d=15,0xffffffffffffffff,7,s0x1ffffffffffffffff,l0x2,i0xffff,b7,r255",
	       "the largest access");
	access[1].dtype = 16;
	refuses("a dtype of 16");
	access[1].dtype = 0;
	access[1].dsize = 8;
	refuses("a dsize of 8");
	access[1].dsize = 0;
	access[1].dblock = NTRACE_INGRESS_GROUPS_MAX;
	refuses("a dblock that no port has");
	access[1].dblock = 0;
	access[1].request = false;
	refuses("a request id without a request");
	access[1].lrid = 0;
	access[1].request = true;
	writes("c d=0,0x0,0 d=0,0xffffffffffffffff,0,s0x1ffffffffffffffff,l0x2,i0xffff,r0",
	       "a request with id 0");
	record.cycle.accesses = 3;
	refuses("an access more than the port has");
	record.cycle.accesses = 1;
	access[1].dtype = 16;
	writes("c d=0,0x0,0", "an access that is not used");
}

static void test_responses(void)
{
	struct ntrace_ingress_response *response = record.cycle.response;

	ready();
	record.cycle.responses = 2;
	response[1] = (struct ntrace_ingress_response){ .load = { 0, UINT64_MAX },
							.lresp = 3,
							.lid = 255 };
	writes("c r=0,0 r=3,255,0xffffffffffffffff0000000000000000", "the largest response");
	response[1].lresp = 4;
	refuses("an lresp of 4");
	record.cycle.responses = 1;
	writes("c r=0,0", "a response that is not used");
	record.cycle.responses = 3;
	refuses("a response more than the port has");
	record.cycle.responses = 1;
	port.data = NTRACE_INGRESS_DATA_UNIFIED;
	port.lrid_bits = 0;
	refuses("a response at a port with unified data");
	record.cycle.responses = 0;
	record.cycle.accesses = 1;
	writes("c d=0,0x0,0", "an access at it");
	port = (struct ntrace_ingress_port){ .xlen = 64, .itype_bits = 4, .groups = 2 };
	refuses("an access at a port without data");
}

static void test_records(void)
{
	ready();
	record.type = NTRACE_INGRESS_START;
	record.value = 15;
	writes("start 15", "the largest SYNC");
	record.value = 16;
	refuses("a SYNC of 16");
	record.type = NTRACE_INGRESS_STOP;
	refuses("an EVCODE of 16");
	record.value = 15;
	writes("stop 15", "the largest EVCODE");
	record.value = 0;
	writes("stop 0", "the smallest one");
	record.type = NTRACE_INGRESS_OVERRUN;
	writes("overrun", "an overrun");
	record.type = 99;
	refuses("a record of no type");
}

/* Levels are written when they change, other signals when they are not 0. */
static void test_levels(void)
{
	struct ntrace_ingress_writer writer;
	char text[4 * NTRACE_INGRESS_LINE_MAX];
	int length = 0;

	ready();
	ntrace_ingress_writer_init(&writer, &port, text);
	record.cycle.priv = 3;
	record.cycle.time = 100;
	record.cycle.trace_on = true;
	for (unsigned int i = 0; i < 2; i++)
		length += ntrace_ingress_write(&writer, &record, text + length);
	record.cycle.priv = 0;
	record.cycle.trace_on = false;
	length += ntrace_ingress_write(&writer, &record, text + length);
	length += ntrace_ingress_write_end(&writer, text + length);
	text[length] = '\0';
	is_str(text, "c time=100 priv=3 trace_on\nc trace_on\nc priv=0\nend\n",
	       "levels when they change, pulses each time");
}

/* The first line has the least version that can say what the port states. */
static void test_port(void)
{
	struct ntrace_ingress_writer writer;
	struct ntrace_ingress_reader reader;

	ready();
	port.hart = UINT64_MAX;
	port.priv_bits = 3;
	port.iaddr_bits = 64;
	line[ntrace_ingress_writer_init(&writer, &port, line)] = '\0';
	is_str(line,
	       "ntrace-ingress 3 xlen=64 itype=4 groups=2 port=block data=split retires=8 "
	       "accesses=2 "
	       "dtype=4 lsbs=4 lrid=2 hart=18446744073709551615 priv=3 iaddr=64\n",
	       "a port with data accesses, a hart id and widths");
	ntrace_ingress_reader_init(&reader);
	ntrace_ingress_reader_feed(&reader, line, strlen(line));
	ok(ntrace_ingress_reader_next(&reader, &record) == NTRACE_ERR_AGAIN &&
		   !memcmp(&reader.port, &port, sizeof(port)),
	   "it is read as it was written");
	memset(&port, 0, sizeof(port));
	port.xlen = 32;
	port.itype_bits = 3;
	port.groups = 1;
	line[ntrace_ingress_writer_init(&writer, &port, line)] = '\0';
	is_str(line, "ntrace-ingress 1 xlen=32 itype=3 groups=1 port=block\n",
	       "a port that states nothing");
	port.retires = 65535;
	port.ctype_bits = 2;
	port.cause_bits = 64;
	port.scontext_bits = 1;
	port.hcontext_bits = 64;
	port.impdef_bits = 64;
	line[ntrace_ingress_writer_init(&writer, &port, line)] = '\0';
	is_str(line,
	       "ntrace-ingress 3 xlen=32 itype=3 groups=1 port=block retires=65535 ctype=2 "
	       "cause=64 "
	       "scontext=1 hcontext=64 impdef=64\n",
	       "a port of instructions with the other properties");
	port.impdef_bits = 65;
	ok(ntrace_ingress_writer_init(&writer, &port, line) == NTRACE_ERR_INVALID,
	   "a width of more than 64 bits is refused");
}

int main(void)
{
	test_port();
	test_groups();
	test_accesses();
	test_responses();
	test_records();
	test_levels();
	return done_testing();
}
