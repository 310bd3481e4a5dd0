// SPDX-License-Identifier: GPL-2.0-only
/*
 * InCircuitTrace of SiFive: each CKSRC, in both directions, and the reported addresses; unknown in other dialects.
 * DataAcquisition and data trace of IEEE-ISTO 5001, in all of them.
 */
#include "test_wire.h"

#define V0 "dialect=sifive-v0"
#define REFERENCE UINT64_C(0x80001000)

/* @address, @next: 0 = none */
static const struct vector {
	const char *what;
	const char *params;
	const char *bytes;
	const char *text;
	uint64_t address;
	uint64_t next;
} vectors[] = {
	{ "control", V0, "88 00 0F", "InCircuitTrace CKSRC=0x0 CKDF=0x0 CKDATA0=0x3", 0, 0 },
	{ "control with address", V0, "88 40 15 0B",
	  "InCircuitTrace CKSRC=0x0 CKDF=0x1 CKDATA0=0x5 CKDATA1=0x2", 0x8000100a, 0x8000100a },
	{ "external trigger", V0, "88 20 FF", "InCircuitTrace CKSRC=0x8 CKDF=0x0 CKDATA0=0x3f",
	  0x8000107e, 0x8000107e },
	{ "inferable call", V0, "88 24 07", "InCircuitTrace CKSRC=0x9 CKDF=0x0 CKDATA0=0x1",
	  0x80001002, 0x80001002 },
	{ "call with destination", V0, "88 64 09 00 13",
	  "InCircuitTrace CKSRC=0x9 CKDF=0x1 CKDATA0=0x2 CKDATA1=0x100", 0x80001004, 0x80001204 },
	{ "counters", V0, "88 30 08 00 C3", "InCircuitTrace CKSRC=0xc CKDF=0x0 CKDATA0=0x30002", 0,
	  0 },
	{ "watchpoint", V0, "88 78 29 0F",
	  "InCircuitTrace CKSRC=0xe CKDF=0x1 CKDATA0=0xa CKDATA1=0x3", 0x80001014, 0x80001014 },
	{ "PC sample", V0, "88 3C 43", "InCircuitTrace CKSRC=0xf CKDF=0x0 CKDATA0=0x10", 0x80001020,
	  0x80001020 },
	{ "a reason of which nothing is known", V0, "88 2C 43",
	  "InCircuitTrace CKSRC=0xb CKDF=0x0 CKDATA0=0x10", 0x80001020, 0x80001020 },
	{ "with sync: control", V0, "8C 00 0F", "InCircuitTraceWS CKSRC=0x0 CKDF=0x0 CKDATA0=0x3",
	  0, 0 },
	{ "with sync: counters", V0, "8C 30 08 00 C3",
	  "InCircuitTraceWS CKSRC=0xc CKDF=0x0 CKDATA0=0x30002", 0, 0 },
	{ "with sync: PC sample", V0, "8C 3C 00 07",
	  "InCircuitTraceWS CKSRC=0xf CKDF=0x0 CKDATA0=0x40", 0x80, 0x80 },
	{ "with sync: call with destination", V0, "8C 64 00 05 13",
	  "InCircuitTraceWS CKSRC=0x9 CKDF=0x1 CKDATA0=0x40 CKDATA1=0x4", 0x80, 0x88 },
	{ "TSTAMP after CKDATA0", V0, "8C 3C 00 05 17",
	  "InCircuitTraceWS CKSRC=0xf CKDF=0x0 CKDATA0=0x40 TSTAMP=0x5", 0x80, 0x80 },
	{ "TSTAMP after CKDATA1", V0, "88 78 29 0D 17",
	  "InCircuitTrace CKSRC=0xe CKDF=0x1 CKDATA0=0xa CKDATA1=0x3 TSTAMP=0x5", 0x80001014,
	  0x80001014 },
	{ "SRC, and CKDATA0 in the rest of a byte", V0 ",srcbits=2", "88 F4 33",
	  "InCircuitTrace SRC=0x1 CKSRC=0xf CKDF=0x0 CKDATA0=0x3", 0x80001006, 0x80001006 },
	{ "a reserved CKDF has no CKDATA1", V0, "88 BC 43",
	  "InCircuitTrace CKSRC=0xf CKDF=0x2 CKDATA0=0x10", 0x80001020, 0x80001020 },
	{ "RV32", V0 ",xlen=32", "8C 3C 00 00 00 00 00 07",
	  "InCircuitTraceWS CKSRC=0xf CKDF=0x0 CKDATA0=0x40000000", 0x80000000, 0x80000000 },
	{ "a store of a byte", V0, "1C 3D BC 07", "DataAcquisition IDTAG=0xf DQDATA=0x6f", 0, 0 },
	{ "a store of zero", V0, "1C 01 03", "DataAcquisition IDTAG=0x0 DQDATA=0x0", 0, 0 },
	{ "a store with SRC", V0 ",srcbits=2", "1C C9 07",
	  "DataAcquisition SRC=0x2 IDTAG=0xc DQDATA=0x1", 0, 0 },
	{ "a store with TSTAMP", V0, "1C 3D BC 05 0B",
	  "DataAcquisition IDTAG=0xf DQDATA=0x6f TSTAMP=0x2", 0, 0 },
	{ "a store in the ratified text", "", "1C 3D BC 07",
	  "DataAcquisition IDTAG=0xf DQDATA=0x6f", 0, 0 },
	{ "data is written", "", "14 A9 FF", "DataWrite DSZ=0x2 DADDR=0x5 DATA=0x3f", 0, 0 },
	{ "data is read, with SRC and TSTAMP", "srcbits=3", "18 50 01 05 0B",
	  "DataRead SRC=0x4 DSZ=0x2 DADDR=0x0 DATA=0x1 TSTAMP=0x2", 0, 0 },
	{ "data is written, with sync", V0, "34 19 07", "DataWriteSync DSZ=0x6 DADDR=0x0 DATA=0x1",
	  0, 0 },
	{ "data is read, with sync", "dialect=rc7", "38 0D 03",
	  "DataReadSync DSZ=0x3 DADDR=0x0 DATA=0x0", 0, 0 },
};

static const struct vector damaged[] = {
	{ "no bits of CKDATA0", V0, "88 3F", "InCircuitTrace CKSRC=0xf CKDF=0x0 CKDATA0=0x0",
	  0x80001000, 0x80001000 },
	{ "no CKDATA1", V0, "88 40 17", "InCircuitTrace CKSRC=0x0 CKDF=0x1 CKDATA0=0x5 flags=2", 0,
	  0 },
	{ "no DQDATA", V0, "1C 3F", "DataAcquisition IDTAG=0xf flags=2", 0, 0 },
	{ "one field more", V0, "88 00 05 09 0F",
	  "InCircuitTrace CKSRC=0x0 CKDF=0x0 CKDATA0=0x1 TSTAMP=0x2 flags=4", 0, 0 },
	{ "five counters", V0, "88 30 08 00 x10 0F",
	  "InCircuitTrace CKSRC=0xc CKDF=0x0 CKDATA0=0x2 flags=8", 0, 0 },
	{ "of the ratified text: 34", "", "88 3C 43", "Reserved flags=1", 0, 0 },
	{ "of the ratified text: 35", "", "8C 3C 43", "Reserved flags=1", 0, 0 },
	{ "no DATA", "", "14 4B", "DataWrite DSZ=0x2 DADDR=0x2 flags=2", 0, 0 },
	{ "of rc7: 34", "dialect=rc7,srcbits=2", "88 F4 33", "Reserved SRC=0x1 flags=1", 0, 0 },
};

static const char *text_of(const struct ntrace_message *message, const struct ntrace_params *params)
{
	static char text[600];
	const char *fields = strchr(message_text(message), ' ');

	snprintf(text, sizeof(text), "%s%s",
		 ntrace_tcode_dialect_name(message->tcode, params->dialect), fields ? fields : "");
	return text;
}

/* Read whole, followed by idle bytes, or byte by byte: the reader has a path for each. */
static void read_it(const struct ntrace_params *params, const uint8_t *data, size_t size,
		    size_t chunk, struct ntrace_message *message)
{
	struct ntrace_reader reader;
	int event = NTRACE_ERR_AGAIN;

	ntrace_reader_init(&reader, params, true);
	for (size_t at = 0; at < size && event == NTRACE_ERR_AGAIN; at += chunk) {
		ntrace_reader_feed(&reader, data + at, size - at < chunk ? size - at : chunk);
		event = ntrace_reader_next(&reader, message);
	}
	if (event != NTRACE_WIRE_MESSAGE)
		memset(message, 0, sizeof(*message));
}

static void check_address(const struct vector *vector, const struct ntrace_message *message,
			  const struct ntrace_params *params)
{
	uint64_t address = 0, next = 0;
	bool has = ntrace_message_circuit_address(message, params, REFERENCE, &address, &next);

	ok(has == !!vector->address, "%s: %s address", vector->what, has ? "an" : "no");
	is_hex(address, vector->address, "%s: the address", vector->what);
	is_hex(next, vector->next, "%s: reference of the next address", vector->what);
}

static void check_vector(const struct vector *vector, bool writes)
{
	struct ntrace_params params = params_of(vector->params);
	uint8_t data[64], back[NTRACE_MESSAGE_BYTES_MAX];
	size_t size = from_hex(vector->bytes, data, 40);
	struct ntrace_message message;
	int written;

	memset(data + size, 0xff, sizeof(data) - size);
	for (size_t chunk = 1; chunk <= sizeof(data); chunk += sizeof(data) - 1) {
		read_it(&params, data, sizeof(data), chunk, &message);
		is_str(text_of(&message, &params), vector->text, "%s, %zu bytes at a time",
		       vector->what, chunk);
		is_u64(message.length, size, "and its length");
		check_address(vector, &message, &params);
	}
	if (!writes)
		return;
	written = ntrace_message_write(&message, &params, back);
	ok(written == (int)size && !memcmp(back, data, size), "%s: written", vector->what);
	ok(ntrace_message_is_beside(&message), "%s: of this kind", vector->what);
}

/* The sign extension comes after shift and XOR. */
static void test_address_bits(void)
{
	static const struct {
		uint8_t tcode;
		uint64_t data;
		uint64_t reference;
		uint64_t address;
	} cases[] = {
		{ 35, 0x1ffff80bb1884 >> 1, 0, 0xffffffff80bb1884 },
		{ 35, 0x413fc >> 1, 0, 0x413fc },
		{ 34, (0x80bb1884 ^ 0x80bb1000) >> 1, 0xffffffff80bb1000, 0xffffffff80bb1884 },
		{ 34, (0x1ffff80bb1884 ^ 0x413fc) >> 1, 0x413fc, 0xffffffff80bb1884 },
		{ 34, (0x1ffff80bb1884 ^ 0x413fc) >> 1, 0xffffffff80bb1884, 0x413fc },
	};
	struct ntrace_params params = params_of(V0 ",addrbits=48");

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct ntrace_message message = { .tcode = cases[i].tcode };
		uint64_t address = 0, next = 0;

		message.present = 1u << NTRACE_FIELD_CKSRC | 1u << NTRACE_FIELD_CKDF |
				  1u << NTRACE_FIELD_CKDATA0;
		message.field[NTRACE_FIELD_CKSRC] = NTRACE_CKSRC_PC_SAMPLE;
		message.field[NTRACE_FIELD_CKDATA0] = cases[i].data;
		ok(ntrace_message_circuit_address(&message, &params, cases[i].reference, &address,
						  &next),
		   "addrbits=48: an address");
		is_hex(address, cases[i].address, "TCODE %u with 48 bits", cases[i].tcode);
	}
}

static void test_names(void)
{
	static const char *const names[16] = {
		[0] = "control",    [8] = "external trigger", [9] = "call",
		[10] = "exception", [11] = "interrupt",	      [12] = "compressed PC counters",
		[13] = "context",   [14] = "watchpoint",      [15] = "PC sample",
	};

	for (unsigned int i = 0; i < 16; i++)
		is_str(ntrace_value_name(NTRACE_FIELD_CKSRC, i, NTRACE_DIALECT_SIFIVE_V0),
		       names[i] ? names[i] : "reserved", "CKSRC %u", i);
	ok(!ntrace_value_name(NTRACE_FIELD_CKSRC, 16, NTRACE_DIALECT_SIFIVE_V0), "no CKSRC 16");
}

/* InCircuitTraceWS is the sync form, so its time is absolute. */
static void test_times(void)
{
	static const struct {
		const char *params;
		const char *bytes;
		bool absolute;
	} cases[] = {
		{ V0, "88 3C 41 17", false },	 { V0, "8C 3C 00 05 17", true },
		{ V0, "1C 3D BC 05 0B", false }, { V0, "24 15 00 81 17", true },
		{ "", "8C 3C 00 05 17", false },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct ntrace_params params = params_of(cases[i].params);
		struct ntrace_message message;
		uint8_t data[16];

		read_it(&params, data, from_hex(cases[i].bytes, data, sizeof(data)), sizeof(data),
			&message);
		ok(ntrace_message_time_is_absolute(&message) == cases[i].absolute, "%s: time is %s",
		   cases[i].bytes, cases[i].absolute ? "absolute" : "relative");
	}
}

int main(void)
{
	for (size_t i = 0; i < sizeof(vectors) / sizeof(vectors[0]); i++)
		check_vector(&vectors[i], true);
	for (size_t i = 0; i < sizeof(damaged) / sizeof(damaged[0]); i++)
		check_vector(&damaged[i], false);
	test_address_bits();
	test_names();
	test_times();
	return done_testing();
}
