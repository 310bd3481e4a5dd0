// SPDX-License-Identifier: GPL-2.0-only
/* Stream parameters as text and back; error texts. */
#include <stddef.h>
#include <stdlib.h>

#include <ntrace/isa.h>
#include <ntrace/params.h>

#include "tap.h"

static void test_good(void)
{
	static const char text[] = "srcbits=12,xlen=32,extaddr=1,alljumps=1,mode=htm,"
				   "dialect=sifive-v0,tsbits=40,tshz=1000000000,"
				   "tsdelta=xor,impret=2,keepstack=1,isa=rv32imac_zba,"
				   "jvt=0x80001000,addrbits=48,atid=111,owner=stored,"
				   "repeat=message,vendorts=1";
	struct ntrace_params params;
	const char *bad = text;
	struct ntrace_isa isa;
	char back[320];

	ntrace_params_init(&params);
	is_u64(params.xlen, 64, "default XLEN");
	is_u64(params.src_bits, 0, "default SRC width");
	is_u64(ntrace_params_parse(&params, text, &bad), 0, "every key");
	ok(!bad, "nothing bad");
	is_u64(params.src_bits, 12, "srcbits");
	is_u64(params.xlen, 32, "xlen");
	ok(params.extend_address && params.all_jumps, "booleans");
	is_u64(params.mode, NTRACE_MODE_HISTORY, "mode");
	is_u64(params.dialect, NTRACE_DIALECT_SIFIVE_V0, "dialect");
	is_u64(params.timestamp_bits, 40, "tsbits");
	is_u64(params.timestamp_hz, 1000000000, "tshz");
	ok(params.timestamp_delta == NTRACE_TIME_DELTA_XOR, "tsdelta");
	is_u64(params.implicit_return, 2, "impret");
	ok(params.keep_stack, "keepstack");
	ok(params.isa == strstr(text, "rv32imac_zba"), "isa is borrowed");
	is_u64(ntrace_isa_parse(&isa, params.isa), 0, "and can be parsed in place");
	ok(isa.xlen == 32 && isa.compressed, "up to the comma");
	ok(params.jvt_known && params.jvt == 0x80001000, "jvt");
	is_u64(params.address_bits, 48, "addrbits");
	is_u64(params.atid, 0x6f, "atid");
	is_u64(params.owner, NTRACE_OWNER_STORED, "owner");
	ok(params.repeat_message, "repeat");
	ok(params.vendor_timestamps, "vendorts");
	is_u64(ntrace_params_format(&params, back, sizeof(back)), strlen(text),
	       "length of the text");
	is_str(back, text, "the same text");
	is_u64(ntrace_params_parse(&params, "xlen=64", NULL), 0, "one key");
	is_u64(params.src_bits, 12, "leaves the others alone");
	is_u64(ntrace_params_parse(&params, "", NULL), 0, "no key");
	is_u64(ntrace_params_parse(&params, "isa=", NULL), 0, "empty ISA");
	is_str(params.isa, "", "is unknown ISA");
	is_u64(ntrace_params_format(&params, back, 10), strlen(text) - 17, "length without room");
	is_str(back, "srcbits=1", "cut and ended");
}

static void test_bad(void)
{
	static const struct {
		const char *text;
		size_t at;
	} cases[] = {
		{ "srcbits=13", 0 },
		{ "srcbits=-1", 0 },
		{ "srcbits=", 0 },
		{ "srcbits", 0 },
		{ "srcbits=2x", 0 },
		{ "srcbits= 2", 0 },
		{ "srcbits=99999999999999999999", 0 },
		{ "srcbits=2,xlen=128", 10 },
		{ "srcbits=2,xlen=0", 10 },
		{ "xlen=32,nonsense=1", 8 },
		{ "extaddr=2", 0 },
		{ "alljumps=yes", 0 },
		{ "mode=both", 0 },
		{ "dialect=v2", 0 },
		{ "tsbits=65", 0 },
		{ "tsdelta=sub", 0 },
		{ "impret=4", 0 },
		{ "keepstack=2", 0 },
		{ "atid=0x70", 0 },
		{ "addrbits=65", 0 },
		{ "jvt=", 0 },
		{ "jvt=top", 0 },
		{ "jvt=0x10000000000000000", 0 },
		{ "srcbits=2,", 10 },
		{ ",srcbits=2", 0 },
		{ "srcbits=2,,xlen=64", 10 },
		{ "isa=rv64 gc", 0 },
		{ "isa=rv64\tgc", 0 },
		{ "=1", 0 },
		{ "=", 0 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct ntrace_params params, before;
		const char *bad = NULL;

		ntrace_params_init(&params);
		params.timestamp_bits = 17;
		before = params;
		is_u64(ntrace_params_parse(&params, cases[i].text, &bad), NTRACE_ERR_INVALID,
		       "refused: %s", cases[i].text);
		ok(bad == cases[i].text + cases[i].at, "the bad setting is reported");
		ok(!memcmp(&params, &before, sizeof(params)), "nothing is changed");
	}
}

/* The description of each key must match its behaviour. */
static void test_keys(void)
{
	const struct ntrace_params_key *keys;
	struct ntrace_params params;
	char text[1024];
	size_t count;

	ntrace_params_init(&params);
	params.isa = "rv64gc";
	params.jvt_known = true;
	params.address_bits = 40;
	params.atid = 1;
	params.owner = NTRACE_OWNER_CONTEXT;
	params.repeat_message = true;
	params.vendor_timestamps = true;
	ntrace_params_format(&params, text, sizeof(text));
	keys = ntrace_params_keys(&count);
	ok(count > 10, "there are keys");
	for (size_t i = 0; i < count; i++) {
		unsigned long first = strtoul(keys[i].values, NULL, 10), last = first;
		const char *range = strstr(keys[i].values, " to ");
		char setting[64];
		bool takes;

		snprintf(setting, sizeof(setting), "%s=", keys[i].name);
		ok(strstr(text, setting), "%s is written as well", keys[i].name);
		if (!range)
			continue;
		last = strtoul(range + 4, NULL, 10);
		snprintf(setting, sizeof(setting), "%s=%lu", keys[i].name, last);
		takes = !ntrace_params_parse(&params, setting, NULL);
		snprintf(setting, sizeof(setting), "%s=%lu", keys[i].name, last + 1);
		ok(takes && ntrace_params_parse(&params, setting, NULL), "%s: %s", keys[i].name,
		   keys[i].values);
	}
	ntrace_params_parse(&params, "addrbits=64", NULL);
	is_u64(params.address_bits, 0, "64 bits are all there are");
}

/* RISC-V profiles make ISA strings long. */
static void test_long_isa(void)
{
	struct ntrace_params params;
	static char text[10000] = "isa=", back[sizeof(text) + 512];
	int length;

	ntrace_params_init(&params);
	memset(text + 4, 'x', sizeof(text) - 5);
	is_u64(ntrace_params_parse(&params, text, NULL), 0, "a long ISA string");
	is_str(params.isa, text + 4, "is kept whole");
	length = ntrace_params_format(&params, back, sizeof(back));
	ok(length > (int)sizeof(text) - 5 && length < (int)sizeof(back) &&
		   !strcmp(back + length - sizeof(text) + 1, text),
	   "and written whole");
}

/* Of a caller that was compiled with fewer fields, the others have their defaults. */
static void test_fewer_fields(void)
{
	struct ntrace_params params;
	char text[512];

	ntrace_params_init(&params);
	params.src_bits = 9;
	params.address_bits = 40;
	params.atid = 5;
	params.size = offsetof(struct ntrace_params, address_bits);
	ok(ntrace_params_format(&params, text, sizeof(text)) > 0, "text of fewer fields");
	ok(strstr(text, "srcbits=9,") == text && !strstr(text, "addrbits") && !strstr(text, "atid"),
	   "only theirs: %s", text);
	params.size = 0;
	is_u64(ntrace_params_format(&params, text, sizeof(text)), (uint64_t)NTRACE_ERR_INVALID,
	       "parameters without a size");
}

static void test_pointers(void)
{
	struct ntrace_params params;
	const char *bad = "";

	ntrace_params_init(&params);
	is_u64(ntrace_params_parse(&params, NULL, &bad), (uint64_t)NTRACE_ERR_INVALID, "no text");
	ok(!bad, "no setting is to blame");
	is_u64(ntrace_params_parse(NULL, "xlen=32", &bad), (uint64_t)NTRACE_ERR_INVALID,
	       "no parameters");
}

/* Each digit begins a number; 0x and 0 begin others than decimal ones. */
static void test_numbers(void)
{
	struct ntrace_params params;
	char text[32];

	ntrace_params_init(&params);
	for (unsigned int i = 0; i < 10; i++) {
		snprintf(text, sizeof(text), "srcbits=%u", i);
		ok(!ntrace_params_parse(&params, text, NULL) && params.src_bits == i, "%s", text);
	}
	ok(!ntrace_params_parse(&params, "srcbits=0xa", NULL) && params.src_bits == 10, "in hex");
}

static void test_errors(void)
{
	bool named = true;

	for (int error = NTRACE_ERR_INVALID; error >= NTRACE_ERR_NOSPACE; error--)
		named = named && strcmp(ntrace_strerror(error), "unknown error");
	ok(named, "every error has a text");
	is_str(ntrace_strerror(0), "no error", "no error");
	is_str(ntrace_strerror(-1000), "unknown error", "unknown error");
}

int main(void)
{
	test_good();
	test_bad();
	test_keys();
	test_long_isa();
	test_fewer_fields();
	test_pointers();
	test_numbers();
	test_errors();
	return done_testing();
}
