// SPDX-License-Identifier: GPL-2.0-only
/* Questions that a stream without its program leaves open, from streams written by hand. */
#include <ntrace/detect.h>

#include "stream_text.h"
#include "tap.h"

static struct ntrace_detect_result result;

/* Return: the open questions of the most likely parameters; UINT32_MAX: not a trace. */
static uint32_t open_with(const char *sent, const char *text, const struct ntrace_params *known)
{
	const struct ntrace_params params = params_of(sent);
	struct ntrace_detect_config config;
	static uint8_t data[1 << 14];

	ntrace_detect_config_init(&config);
	config.data = data;
	config.bytes = stream_of(text, &params, data, sizeof(data));
	if (known)
		config.params = known;
	config.xlen_known = known;
	if (ntrace_detect(&config, &result) || !result.count)
		return UINT32_MAX;
	return result.candidate[0].open;
}

static uint32_t open_of(const char *text, const struct ntrace_params *known)
{
	return open_with("", text, known);
}

#define AT(address) "ProgTraceSync SYNC=5 ICNT=0 FADDR=" #address ">>1; x20 DirectBranch ICNT=3;"

static void test_addresses(void)
{
	const uint32_t questions = NTRACE_DETECT_OPEN_XLEN | NTRACE_DETECT_OPEN_EXTADDR |
				   NTRACE_DETECT_OPEN_ADDRBITS;
	struct ntrace_params wide;

	ntrace_params_init(&wide);
	is_hex(open_of(AT(0x80001000) AT(0x80002000) AT(0x80003000), NULL) & questions,
	       NTRACE_DETECT_OPEN_XLEN, "addresses of 32 bits: XLEN");
	is_hex(open_of(AT(0x80001000) AT(0x80002000) AT(0x80003000), &wide) & questions, 0,
	       "addresses of 32 bits, XLEN is known");
	/* The highest of 36 bits that are sent. */
	is_hex(open_of(AT(0x1800001000) AT(0x1800002000) AT(0x1800003000), &wide) & questions,
	       NTRACE_DETECT_OPEN_EXTADDR, "the top bit of an address, or its sign");
}

/* Syncs at 0xffffffff8000n000 with 6 bytes of F-ADDR or with 7, whose last one has only copies of the sign. */
static void test_copies(void)
{
	char text[4096] = "";
	size_t size = 0;

	for (unsigned int i = 0; i < 40; i++)
		size += (size_t)snprintf(text + size, sizeof(text) - size,
					 "[24 15 00 80 %02x 00 00 %s]; DirectBranch ICNT=3;",
					 i << 2 & 0xfc, i % 3 ? "F3" : "F0 FF");
	ok(open_of(text, NULL) & NTRACE_DETECT_OPEN_EXTADDR ||
		   result.candidate[0].params.extend_address,
	   "copies of the sign do not exclude one");
}

/* The trace begins long after the last sync. */
static void test_orphans(void)
{
	const uint32_t open =
		open_with("srcbits=4",
			  "x40 IndirectBranch SRC=12 BTYPE=0 ICNT=2 UADDR=0x39; x40 ResourceFull "
			  "SRC=12 RCODE=0 ICNT=9; x40 IndirectBranch SRC=12 BTYPE=0 ICNT=5 "
			  "UADDR=0x28; ProgTraceSync SRC=12 SYNC=2 ICNT=2 FADDR=0x80; x10 "
			  "DirectBranch SRC=12 ICNT=3",
			  NULL);

	ok(result.candidate[0].params.src_bits == 4 || open & NTRACE_DETECT_OPEN_SRC,
	   "no sync for a long time: SRC");
}

#define SYNC_AT(time) "ProgTraceSync SYNC=5 ICNT=0 FADDR=0x80 TSTAMP=" #time ";"
#define STEP(time) "DirectBranch ICNT=3 TSTAMP=" #time ";"
/* Sums of the differences exceed the next time twice, so the differences are XORed. */
#define XORED SYNC_AT(8) STEP(24) SYNC_AT(20) STEP(44) SYNC_AT(50) STEP(50) SYNC_AT(60)

/* Two contradictions may be damage, if there is any. */
static void test_damage(void)
{
	is_hex(open_of(XORED, NULL) & NTRACE_DETECT_OPEN_DELTA, 0, "differences are XORed");
	is_hex(open_of(XORED "[C0 07];", NULL) & NTRACE_DETECT_OPEN_DELTA, NTRACE_DETECT_OPEN_DELTA,
	       "not with a message of a reserved TCODE");
}

static void test_vendor(void)
{
	is_hex(open_of(SYNC_AT(8) "[E4 05 07];" STEP(24) SYNC_AT(40), NULL) &
		       NTRACE_DETECT_OPEN_VENDOR,
	       NTRACE_DETECT_OPEN_VENDOR, "a vendor's message may end with a timestamp");
	is_hex(open_of(SYNC_AT(8) "[E4 07];" STEP(24) SYNC_AT(40), NULL) &
		       NTRACE_DETECT_OPEN_VENDOR,
	       0, "one with a single field has none");
}

int main(void)
{
	test_addresses();
	test_copies();
	test_orphans();
	test_damage();
	test_vendor();
	return done_testing();
}
