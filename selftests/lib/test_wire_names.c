// SPDX-License-Identifier: GPL-2.0-only
/*
 * The names of TCODEs and field values, each value in each dialect (N-Trace 1.0, "messages"), and
 * the address that a message reports.
 */
#include <ntrace/wire.h>

#include "tap.h"

#define R "reserved"
#define V "vendor"

static const struct {
	enum ntrace_field field;
	unsigned int count;
	const char *names[16];
} ratified[] = {
	{ NTRACE_FIELD_SYNC,
	  16,
	  { "external trigger", "reset exit", "periodic", "debug exit", "I-CNT full",
	    "trace enable", "trace event", "FIFO overrun", R, "power-down exit", R, R, R, R, V,
	    V } },
	{ NTRACE_FIELD_BTYPE, 4, { "jump", "trap", "exception", "interrupt" } },
	{ NTRACE_FIELD_ETYPE, 16, { "queue overrun", R, R, R, R, R, R, R, V, V, V, V, V, V, V, V } },
	{ NTRACE_FIELD_EVCODE,
	  16,
	  { "debug entry", "low power", R, R, "trace disable", R, R, R, V, V, V, V, V, V, V, V } },
	{ NTRACE_FIELD_RCODE,
	  16,
	  { "I-CNT", "HIST", "repeated HIST", R, R, R, R, R, V, V, V, V, V, V, V, V } },
};

/* The names that pre-ratification SiFive encoders have instead. */
static const struct {
	enum ntrace_field field;
	uint64_t value;
	const char *name;
} sifive[] = {
	{ NTRACE_FIELD_SYNC, 11, "message contention" }, { NTRACE_FIELD_SYNC, 15, "PC sample" },
	{ NTRACE_FIELD_BTYPE, 2, "hardware" },		 { NTRACE_FIELD_EVCODE, 8, "reset entry" },
	{ NTRACE_FIELD_RCODE, 8, "not taken" },		 { NTRACE_FIELD_RCODE, 9, "taken" },
};

static const char *sifive_name(enum ntrace_field field, uint64_t value, const char *other)
{
	for (size_t i = 0; i < sizeof(sifive) / sizeof(sifive[0]); i++) {
		if (sifive[i].field == field && sifive[i].value == value)
			return sifive[i].name;
	}
	return other;
}

static void test_values(void)
{
	for (size_t i = 0; i < sizeof(ratified) / sizeof(ratified[0]); i++) {
		enum ntrace_field field = ratified[i].field;
		unsigned int count = ratified[i].count;

		for (unsigned int k = 0; k < count; k++) {
			const char *name = ratified[i].names[k];

			is_str(ntrace_value_name(field, k, NTRACE_DIALECT_RATIFIED), name, "%s %u",
			       ntrace_field_name(field), k);
			is_str(ntrace_value_name(field, k, NTRACE_DIALECT_SIFIVE_V0),
			       sifive_name(field, k, name), "%s %u of SiFive",
			       ntrace_field_name(field), k);
		}
		ok(!ntrace_value_name(field, count, NTRACE_DIALECT_RATIFIED) &&
			   !ntrace_value_name(field, count, NTRACE_DIALECT_SIFIVE_V0),
		   "%s has no value %u", ntrace_field_name(field), count);
	}
}

/* N-Trace 1.0, "messages": 56 to 62 are for vendors. */
static void test_tcodes(void)
{
	for (unsigned int i = 0; i < 70; i++) {
		const char *name = ntrace_tcode_name(i);
		bool unknown = !strcmp(name, "Vendor") || !strcmp(name, "Reserved");

		if (i >= 56 && i <= 62)
			is_str(name, "Vendor", "TCODE %u is a vendor's", i);
		else if (i == 55 || i >= 63)
			is_str(name, "Reserved", "TCODE %u is reserved", i);
		for (unsigned int k = 0; k < i && !unknown; k++) {
			if (!strcmp(name, ntrace_tcode_name(k)))
				ok(false, "TCODEs %u and %u have the same name", k, i);
		}
	}
	is_str(ntrace_tcode_name(34), "Reserved", "TCODE 34 is reserved");
	is_str(ntrace_tcode_dialect_name(34, NTRACE_DIALECT_SIFIVE_V0), "InCircuitTrace",
	       "but of SiFive");
	is_str(ntrace_tcode_dialect_name(64, NTRACE_DIALECT_SIFIVE_V0), "Reserved",
	       "a TCODE has 6 bits");
	is_str(ntrace_field_name(NTRACE_FIELD_TSTAMP), "TSTAMP", "the last field");
	is_str(ntrace_field_name(NTRACE_FIELD_COUNT), "?", "the number after it");
}

static struct ntrace_message message_of(enum ntrace_field field, uint64_t value, uint8_t bytes,
					bool msb)
{
	struct ntrace_message message = { .present = 1u << field,
					  .address_bytes = bytes,
					  .address_msb = msb };

	message.field[field] = value;
	return message;
}

static void test_addresses(void)
{
	static const struct {
		const char *what;
		uint8_t xlen;
		uint8_t address_bits;
		bool extend;
		enum ntrace_field field;
		uint64_t value;
		uint8_t bytes;
		bool msb;
		uint64_t address;
	} cases[] = {
		{ "F-ADDR is the address", 64, 0, false, NTRACE_FIELD_FADDR, 0x800, 2, false,
		  0x1000 },
		{ "U-ADDR is the difference to the reference", 64, 0, false, NTRACE_FIELD_UADDR,
		  0x800, 2, false, 0x1000 ^ 0x123456 },
		{ "sign extension only where the encoder does so", 64, 0, false, NTRACE_FIELD_FADDR,
		  0x800, 2, true, 0x1000 },
		{ "the highest sent bit is the sign", 64, 0, true, NTRACE_FIELD_FADDR, 0x800, 2,
		  true, 0xfffffffffffff000 },
		{ "without it the address is low", 64, 0, true, NTRACE_FIELD_FADDR, 0x800, 2, false,
		  0x1000 },
		{ "the difference has a sign, too", 64, 0, true, NTRACE_FIELD_UADDR, 0x800, 2, true,
		  0xfffffffffffff000 ^ 0x123456 },
		{ "10 bytes of 6 bits leave 3 bits above", 64, 0, true, NTRACE_FIELD_FADDR,
		  UINT64_C(1) << 59, 10, true, 0xf000000000000000 },
		{ "11 bytes leave none", 64, 0, true, NTRACE_FIELD_FADDR, UINT64_C(1) << 62, 11,
		  true, 0x8000000000000000 },
		{ "39 bits of an address of Sv39", 64, 38, false, NTRACE_FIELD_FADDR, 0x2000000000,
		  7, false, 0xffffffc000000000 },
		{ "and the highest low one", 64, 38, false, NTRACE_FIELD_FADDR, 0x1fffffffff, 7,
		  false, 0x3ffffffffe },
		{ "62 of 63 bits", 64, 62, false, NTRACE_FIELD_FADDR, UINT64_C(1) << 61, 11, false,
		  0xc000000000000000 },
		{ "all 63 bits need no extension", 64, 63, false, NTRACE_FIELD_FADDR,
		  UINT64_C(1) << 61, 11, false, 0x4000000000000000 },
		{ "a hart of 32 bits has no more", 32, 0, true, NTRACE_FIELD_FADDR, 0x40000000, 6,
		  true, 0x80000000 },
		{ "nor a difference", 32, 0, false, NTRACE_FIELD_UADDR, 0x140000000, 6, false,
		  0x80000000 ^ 0x123456 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct ntrace_message message =
			message_of(cases[i].field, cases[i].value, cases[i].bytes, cases[i].msb);
		struct ntrace_params params;

		ntrace_params_init(&params);
		params.xlen = cases[i].xlen;
		params.address_bits = cases[i].address_bits;
		params.extend_address = cases[i].extend;
		is_hex(ntrace_message_address(&message, &params, 0x123456), cases[i].address, "%s",
		       cases[i].what);
	}
}

/* With addrbits, the bits above are not sent: they must all equal the highest sent one, or be 0. */
static void test_narrow(void)
{
	static const struct {
		uint64_t field;
		uint64_t sent;
		bool good;
	} cases[] = {
		{ 0x1000, 0x1000, true },
		{ 0x1fffffffff, 0x1fffffffff, true },
		{ 0x2000000000, 0x2000000000, true },
		{ UINT64_C(0x7fffffe000000000), 0x2000000000, true },
		{ UINT64_C(0x7fffffffffffffff), 0x3fffffffff, true },
		{ 0x4000000000, 0, false },
		{ UINT64_C(0x7fffffc000000000), 0, false },
		{ UINT64_C(0x3fffffe000000000), 0, false },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct ntrace_message message = { .tcode = NTRACE_TCODE_PROG_TRACE_SYNC,
						  .present = 1u << NTRACE_FIELD_SYNC |
							     1u << NTRACE_FIELD_ICNT |
							     1u << NTRACE_FIELD_FADDR },
				      again;
		uint8_t bytes[NTRACE_MESSAGE_BYTES_MAX];
		struct ntrace_reader reader;
		struct ntrace_params params;
		int size;

		ntrace_params_init(&params);
		params.address_bits = 38;
		message.field[NTRACE_FIELD_SYNC] = NTRACE_SYNC_TRACE_ENABLE;
		message.field[NTRACE_FIELD_FADDR] = cases[i].field;
		size = ntrace_message_write(&message, &params, bytes);
		if (!ok((size > 0) == cases[i].good, "F-ADDR 0x%" PRIx64 " of 38 bits",
			cases[i].field) ||
		    size <= 0)
			continue;
		ntrace_reader_init(&reader, &params, true);
		ntrace_reader_feed(&reader, bytes, (size_t)size);
		if (ntrace_reader_next(&reader, &again) != NTRACE_WIRE_MESSAGE)
			ok(false, "is a message");
		is_hex(again.field[NTRACE_FIELD_FADDR], cases[i].sent, "only they are sent");
	}
}

int main(void)
{
	test_values();
	test_tcodes();
	test_addresses();
	test_narrow();
	return done_testing();
}
