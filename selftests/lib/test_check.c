/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The rules of the checker: for each rule a good stream, and the same stream with one mistake,
 * which must violate that rule and no other.
 */
#include <ntrace/check.h>

#include "stream_text.h"
#include "test_flow.h"

/* The specification's example program A, and code for other rules. */
static struct ntrace_space *program(void)
{
	struct code code = { .start = 0x100 }, loop = { .start = 0x1000 },
		    calls = { .start = 0x3000 };
	static struct code longest;
	struct ntrace_space *space = new_space("program");

	longest.size = 0;
	put(&code, C_ADD);		/* 100 */
	put_branch(&code, 0x200);	/* 102 */
	put(&code, ADD);		/* 106 */
	put_branch(&code, 0x300);	/* 10a */
	put(&code, C_ADD);		/* 10e */
	put(&code, C_JR_A0);		/* 110 */
	put_jal(&code, 1, 0x118);	/* 112: a call */
	put(&code, C_ADD);		/* 116 */
	put(&code, C_RET);		/* 118 */
	while (code.start + code.size < 0x200)
		put(&code, C_ADD);
	put_jal(&code, 0, 0x200);	/* 200: a loop that no message reports */
	put(&code, ADD);		/* 204 */
	put(&code, CUSTOM);		/* 208 */
	put(&code, C_ADD);		/* 20c */
	put(&code, 0);			/* 20e: no instruction */
	while (code.start + code.size < 0x300)
		put(&code, C_ADD);
	put(&code, C_ADD);		/* 300 */
	put(&code, C_ADD);		/* 302 */
	add_code(space, &code);
	while (loop.size < 40)
		put(&loop, C_ADD);
	put_branch(&loop, 0x1000);	/* 1028: a long loop */
	add_code(space, &loop);
	put(&calls, C_ADD);		/* 3000 */
	put(&calls, C_JALR_A0);		/* 3002 */
	put(&calls, C_ADD);		/* 3004 */
	put(&calls, C_JR_A0);		/* 3006 */
	put(&calls, C_ADD);		/* 3008 */
	put(&calls, 0xa00e);		/* 300a: cm.jt 3 */
	put(&calls, C_RET);		/* 300c */
	add_code(space, &calls);
	longest.start = 0x4000;
	while (longest.size < sizeof(longest.bytes) - 4)
		put(&longest, C_ADD);
	put_branch(&longest, 0x4000);	/* 4ffc: a loop that no I-CNT could count for long */
	add_code(space, &longest);
	return space;
}

struct found {
	char text[2048];
	size_t at;
	unsigned int count;
	unsigned int other;
	const char *expected;
	uint64_t offset;
};

static int take_finding(void *data, const struct ntrace_check_finding *finding)
{
	struct found *found = data;

	if (!found->count++)
		found->offset = finding->offset;
	if (!found->expected || strcmp(found->expected, finding->rule->id))
		found->other++;
	if (found->at < sizeof(found->text) - 100)
		found->at += (size_t)snprintf(found->text + found->at,
					      sizeof(found->text) - found->at, " %s@%" PRIu64,
					      finding->rule->id, finding->offset);
	return 0;
}

/* Passes one stream through a checker, in chunks of @chunk bytes. */
/* @missing: bytes are missing after this many; 0: none */
static void check_broken(struct found *found, const struct ntrace_check_config *wanted,
			 const uint8_t *data, size_t size, size_t chunk, size_t missing)
{
	struct ntrace_check_config config = *wanted;
	struct ntrace_check *check;
	int ret = 0;

	config.finding = take_finding;
	config.data = found;
	found->at = 0;
	found->text[0] = '\0';
	found->count = 0;
	found->other = 0;
	if (ntrace_check_new(&check, &config)) {
		ok(false, "checker for the test");
		return;
	}
	for (size_t done = 0; done < size && !ret; done += chunk) {
		if (done && done == missing)
			ret = ntrace_check_break(check);
		if (!ret)
			ret = ntrace_check_feed(check, data + done,
						size - done < chunk ? size - done : chunk);
	}
	if (ret || ntrace_check_end(check))
		ok(false, "checker fed");
	ntrace_check_free(check);
}

static void check_stream(struct found *found, const struct ntrace_check_config *wanted,
			 const uint8_t *data, size_t size, size_t chunk)
{
	check_broken(found, wanted, data, size, chunk, 0);
}

#define START "ProgTraceSync SYNC=5 ICNT=0 FADDR=0x80;"
#define TSTART "ProgTraceSync SYNC=5 ICNT=0 FADDR=0x80 TSTAMP=1000;"
#define LATER "ProgTraceSync SYNC=2 ICNT=3 FADDR=0x80 TSTAMP=2000;"
#define OFF "ProgTraceCorrelation EVCODE=4 CDF=0 ICNT=5;"
#define JUMP "IndirectBranch BTYPE=0 ICNT=3 UADDR=0x10;"

/* Starts trace of 8 and of 64 SRC: numbers are octal. */
#define SRC(n) "ProgTraceSync SRC=" #n " SYNC=5 ICNT=0 FADDR=0x80;"
#define SRC8(n) SRC(n##0) SRC(n##1) SRC(n##2) SRC(n##3) SRC(n##4) SRC(n##5) SRC(n##6) SRC(n##7)
#define SRC64 SRC8(00) SRC8(01) SRC8(02) SRC8(03) SRC8(04) SRC8(05) SRC8(06) SRC8(07)

/* "flow" before the parameters: with the program. A stream without finding has bad NULL. */
static const struct mutation {
	const char *rule;
	const char *params;
	const char *good;
	const char *bad;
} mutations[] = {
	{ "mseo-reserved", "", START OFF "[24 15 00 83];" JUMP,
	  START OFF "[24 15 00 82 03];" START JUMP },
	{ "mseo-idle", "", "[FF];" START JUMP, "[FE FF];" START JUMP },
	{ "mseo-idle", "", "[FF];" START JUMP, START "[01 FF];" JUMP },
	{ "idle-byte", "", "[FF FF];" START "[FF];" JUMP, "[FF FF];" START "[FF F7 FF F3];" JUMP },
	{ "idle-byte", "", START JUMP "[FF];", START JUMP "[FF 03];" },
	{ "message-cut", "", START JUMP, START "[10 71 D8]" },
	{ "tcode-reserved", "", START "[E0 03];" JUMP, START "[94 03];" JUMP },
	{ "field-missing", "", START "[10 71 D8 7B];" JUMP, START "[10 73];" JUMP },
	{ "field-empty", "", START "[84 00 03];", START "[84 03];" },
	{ "field-empty", "", "[30 08 01 83];" JUMP, "[30 09 83];" JUMP },
	{ "field-empty", "", START "[84 00 03];" START "[84 00 03];",
	  START "[84 03];" START "[84 03];" },
	{ "field-empty", "tsbits=40", TSTART "[84 00 01 47];", TSTART "[84 01 47];" },
	{ "field-extra", "", START "DirectBranch ICNT=3; ProgTraceSync SYNC=2 ICNT=3 FADDR=0x80;",
	  START "[0C 0D 05 07]; ProgTraceSync SYNC=2 ICNT=3 FADDR=0x80;" },
	{ "field-extra", "", TSTART "[0C 0D 07];", TSTART "[0C 0D 05 07];" },
	{ "field-oversize", "tsbits=64", TSTART "[24 09 00 41 00 x9 2B];",
	  TSTART "[24 09 00 41 FC x11 2B];" },
	{ "src-undeclared", "srcbits=4",
	  "ProgTraceSync SRC=3 SYNC=5 ICNT=0 FADDR=0x80; ProgTraceSync SRC=5 SYNC=5 ICNT=0 "
	  "FADDR=0x80",
	  "ProgTraceSync SRC=3 SYNC=5 ICNT=0 FADDR=0x80; ProgTraceSync SRC=6 SYNC=5 ICNT=0 "
	  "FADDR=0x80" },
	{ "sync-reserved", "", START "ProgTraceSync SYNC=14 ICNT=3 FADDR=0x80",
	  START "ProgTraceSync SYNC=8 ICNT=3 FADDR=0x80" },
	{ "sync-reserved", "dialect=sifive-v0", START "ProgTraceSync SYNC=11 ICNT=3 FADDR=0x80",
	  START "ProgTraceSync SYNC=13 ICNT=3 FADDR=0x80" },
	{ "btype-mixed", "",
	  START "IndirectBranch BTYPE=2 ICNT=0 UADDR=1; IndirectBranch BTYPE=3 ICNT=0 UADDR=1;",
	  START "IndirectBranch BTYPE=2 ICNT=0 UADDR=1; IndirectBranch BTYPE=1 ICNT=0 UADDR=1;" },
	{ "btype-mixed", "",
	  START "IndirectBranch BTYPE=2 ICNT=0 UADDR=1; IndirectBranch BTYPE=2 ICNT=0 UADDR=1; "
		"IndirectBranch BTYPE=3 ICNT=0 UADDR=1;",
	  START "IndirectBranch BTYPE=2 ICNT=0 UADDR=1; IndirectBranch BTYPE=1 ICNT=0 UADDR=1; "
		"IndirectBranch BTYPE=3 ICNT=0 UADDR=1;" },
	{ "etype-reserved", "", START "Error ETYPE=8 ECODE=4;", START "Error ETYPE=1 ECODE=4;" },
	{ "ecode-reserved", "", START "Error ETYPE=0 ECODE=0xae;",
	  START "Error ETYPE=0 ECODE=0x14;" },
	{ "rcode-reserved", "", START "ResourceFull RCODE=8 RDATA=1;",
	  START "ResourceFull RCODE=3 RDATA=1;" },
	{ "evcode-reserved", "", START "ProgTraceCorrelation EVCODE=1 CDF=0 ICNT=3",
	  START "ProgTraceCorrelation EVCODE=2 CDF=0 ICNT=3" },
	{ "cdf-reserved", "", START "ProgTraceCorrelation EVCODE=4 CDF=1 ICNT=3 HIST=2",
	  START "ProgTraceCorrelation EVCODE=4 CDF=2 ICNT=3" },
	{ "cksrc-unknown", "dialect=sifive-v0",
	  START "InCircuitTrace CKSRC=15 CKDF=0 CKDATA0=0;" JUMP,
	  START "InCircuitTrace CKSRC=11 CKDF=0 CKDATA0=0;" JUMP },
	{ "ckdf-reserved", "dialect=sifive-v0",
	  "InCircuitTraceWS CKSRC=0 CKDF=1 CKDATA0=0 CKDATA1=3;" START JUMP,
	  "InCircuitTraceWS CKSRC=0 CKDF=2 CKDATA0=0;" START JUMP },
	{ "field-oversize", "dialect=sifive-v0", "[88 30 00 x12 07];" START,
	  "[88 3C 00 x12 07];" START },
	{ "tcode-reserved", "", START JUMP, START "[88 3C 03];" JUMP },
	{ "data-trace", "", START JUMP, START "DataWrite DSZ=2 DADDR=0x40 DATA=1;" JUMP },
	{ "data-trace", "dialect=sifive-v0", START "DataAcquisition IDTAG=4 DQDATA=65;" JUMP,
	  START "DataReadSync DSZ=2 DADDR=0x40 DATA=1;" JUMP },
	{ "data-trace", "dialect=rc7", START JUMP,
	  START "DataAcquisition IDTAG=4 DQDATA=65;" JUMP },
	{ "start-without-sync", "dialect=sifive-v0",
	  "DataAcquisition IDTAG=4 DQDATA=65;" START "DataAcquisition IDTAG=4 DQDATA=65;" JUMP,
	  "DataAcquisition IDTAG=4 DQDATA=65; InCircuitTraceWS CKSRC=15 CKDF=0 CKDATA0=0x80; "
	  "DirectBranch ICNT=3;" },
	{ "tstamp-reference", "dialect=sifive-v0",
	  "InCircuitTraceWS CKSRC=15 CKDF=0 CKDATA0=0x80 TSTAMP=9; InCircuitTrace CKSRC=15 CKDF=0 "
	  "CKDATA0=0 TSTAMP=1;",
	  "InCircuitTrace CKSRC=15 CKDF=0 CKDATA0=0x80 TSTAMP=9;" },
	{ "process-format", "", START "Ownership PROCESS=0x3b2;",
	  START "Ownership PROCESS=0x3b1;" },
	{ "process-privilege", "", START "Ownership PROCESS=0xc;", START "Ownership PROCESS=0x8;" },
	{ "process-privilege", "", START "Ownership PROCESS=0x14;",
	  START "Ownership PROCESS=0x1c;" },
	{ "process-context", "", START "Ownership PROCESS=0x4;", START "Ownership PROCESS=0x24;" },
	{ "icnt-width", "", START "ResourceFull RCODE=0 ICNT=0x3fffff;",
	  START "ResourceFull RCODE=0 ICNT=0x400000;" },
	{ "hist-stop-bit", "", START "ResourceFull RCODE=1 HIST=2;",
	  START "ResourceFull RCODE=1 HIST=0;" },
	{ "hist-width", "", START "ResourceFull RCODE=1 HIST=0x80000000;",
	  START "ResourceFull RCODE=1 HIST=0x100000000;" },
	{ "hist-empty", "", START "IndirectBranchHist BTYPE=0 ICNT=3 UADDR=1 HIST=1;",
	  START "ResourceFull RCODE=1 HIST=1;" },
	{ "hrepeat-zero", "", START "ResourceFull RCODE=2 HIST=2 HREPEAT=1;",
	  START "ResourceFull RCODE=2 HIST=2 HREPEAT=0;" },
	{ "hrepeat-width", "", START "ResourceFull RCODE=2 HIST=2 HREPEAT=0x3ffff;",
	  START "ResourceFull RCODE=2 HIST=2 HREPEAT=0x40000;" },
	{ "bcnt-zero", "", START JUMP "RepeatBranch BCNT=1", START JUMP "RepeatBranch BCNT=0" },
	{ "bcnt-width", "", START JUMP "RepeatBranch BCNT=0x3ffff",
	  START JUMP "RepeatBranch BCNT=0x40000" },
	{ "address-width", "xlen=32", START "IndirectBranch BTYPE=0 ICNT=2 UADDR=0x7fffffff;",
	  START "[10 21 00 00 00 00 00 0B];" },
	{ "address-width", "", START "[10 21 00 x10 1F];", START "[10 21 00 x11 03];" },
	{ "start-without-sync", "", START "DirectBranch ICNT=3;",
	  "DirectBranch ICNT=3; DirectBranch ICNT=3;" },
	{ "start-without-sync", "",
	  "ProgTraceCorrelation EVCODE=4 CDF=0 ICNT=0; Error ETYPE=0 ECODE=4;" START,
	  "ProgTraceCorrelation EVCODE=4 CDF=0 ICNT=2;" START },
	{ "uaddr-reference", "", START JUMP, JUMP JUMP },
	{ "sync-after-correlation", "", START OFF START "DirectBranch ICNT=3;",
	  START OFF "DirectBranch ICNT=3;" },
	{ "sync-after-correlation", "",
	  START OFF "ProgTraceCorrelation EVCODE=0 CDF=0 ICNT=0;" START, START OFF OFF },
	{ "sync-after-error", "", START "Error ETYPE=0 ECODE=4;",
	  START "Error ETYPE=0 ECODE=4; DirectBranch ICNT=3; DirectBranch ICNT=3;" },
	{ "sync-after-error", "",
	  START
	  "Error ETYPE=0 ECODE=4; ProgTraceSync SYNC=7 ICNT=0 FADDR=0x80; Ownership PROCESS=4;",
	  START
	  "Error ETYPE=0 ECODE=4; Ownership PROCESS=4; ProgTraceSync SYNC=2 ICNT=0 FADDR=0x80;" },
	{ "error-sync-code", "",
	  START "Error ETYPE=0 ECODE=4; ProgTraceSync SYNC=7 ICNT=0 FADDR=0x80;",
	  START "Error ETYPE=0 ECODE=4; ProgTraceSync SYNC=2 ICNT=0 FADDR=0x80;" },
	{ "overrun-without-error", "", START "ProgTraceSync SYNC=2 ICNT=3 FADDR=0x80;",
	  START "ProgTraceSync SYNC=7 ICNT=3 FADDR=0x80;" },
	{ "restart-icnt", "", START OFF START,
	  START OFF "ProgTraceSync SYNC=5 ICNT=4 FADDR=0x80;" },
	{ "debug-entry-missing", "",
	  START
	  "ProgTraceCorrelation EVCODE=0 CDF=0 ICNT=3; ProgTraceSync SYNC=3 ICNT=0 FADDR=0x80;",
	  START "ProgTraceSync SYNC=3 ICNT=0 FADDR=0x80;" },
	{ "sync-icnt-full", "",
	  START "DirectBranch ICNT=3; ProgTraceSync SYNC=4 ICNT=3 FADDR=0x80;",
	  START "IndirectBranchHistSync SYNC=4 BTYPE=0 ICNT=8 FADDR=0x88 HIST=2;" },
	{ "sync-icnt-full", "dialect=rc7",
	  START "IndirectBranchHistSync SYNC=4 BTYPE=0 ICNT=8 FADDR=0x88 HIST=2;", NULL },
	{ "periodic-sync", "", START "x524287 DirectBranch ICNT=3;",
	  START "x524288 DirectBranch ICNT=3;" },
	{ "ownership-missing", "",
	  START "Ownership PROCESS=0x22; ProgTraceSync SYNC=2 ICNT=3 FADDR=0x80;"
		"Ownership PROCESS=0x22; DirectBranch ICNT=3;",
	  START "Ownership PROCESS=0x22; ProgTraceSync SYNC=2 ICNT=3 FADDR=0x80;"
		"DirectBranch ICNT=3; Ownership PROCESS=0x22;" },
	{ "ownership-missing", "",
	  START
	  "Ownership PROCESS=0x22; ProgTraceSync SYNC=2 ICNT=3 FADDR=0x80; Error ETYPE=0 ECODE=8;",
	  NULL },
	{ "ownership-missing", "dialect=sifive-v0",
	  START "Ownership PROCESS=0x22; ProgTraceSync SYNC=2 ICNT=3 FADDR=0x80;"
		"DirectBranch ICNT=3; Ownership PROCESS=0x22;",
	  NULL },
	{ "process-format", "dialect=sifive-v0",
	  START "Ownership PROCESS=1; Ownership PROCESS=0x48;", NULL },
	{ "process-format", "dialect=sifive-v0,owner=context", START "Ownership PROCESS=0x22;",
	  START "Ownership PROCESS=0x21;" },
	{ "ownership-order", "", START "Ownership PROCESS=0x33; Ownership PROCESS=0x22;",
	  START "Ownership PROCESS=0x22; Ownership PROCESS=0x33;" },
	{ "mode-mixed", "", START "DirectBranch ICNT=3;" OFF START "ResourceFull RCODE=1 HIST=2;",
	  START "DirectBranch ICNT=3; ResourceFull RCODE=1 HIST=2;" },
	{ "mode-mixed", "mode=btm", START "DirectBranch ICNT=3;" OFF,
	  START "ResourceFull RCODE=1 HIST=2;" },
	{ "mode-mixed", "mode=htm", START "ResourceFull RCODE=1 HIST=2;",
	  START "DirectBranch ICNT=3;" },
	{ "transfer-icnt", "", START "ResourceFull RCODE=0 ICNT=3; DirectBranch ICNT=0;",
	  START "DirectBranch ICNT=0;" },
	/* On linear code, a sync in any message may follow another one at once. */
	{ "transfer-icnt", "",
	  START "DirectBranchSync SYNC=2 ICNT=0 FADDR=0x80; IndirectBranchSync SYNC=2 BTYPE=0 "
		"ICNT=0 FADDR=0x80;",
	  START "DirectBranch ICNT=0;" },
	{ "transfer-icnt", "", START "IndirectBranch BTYPE=2 ICNT=0 UADDR=1;",
	  START "IndirectBranch BTYPE=0 ICNT=0 UADDR=1;" },
	{ "hist-exceeds-icnt", "",
	  START "ResourceFull RCODE=1 HIST=8; IndirectBranchHist BTYPE=0 ICNT=4 UADDR=1 HIST=2;",
	  START "ResourceFull RCODE=1 HIST=8; IndirectBranchHist BTYPE=0 ICNT=3 UADDR=1 HIST=2;" },
	{ "repeat-without-branch", "", START JUMP "RepeatBranch BCNT=2; RepeatBranch BCNT=2;",
	  START "RepeatBranch BCNT=2;" },
	{ "repeat-without-branch", "", START JUMP "Ownership PROCESS=4; RepeatBranch BCNT=2;",
	  START JUMP "ResourceFull RCODE=0 ICNT=3; RepeatBranch BCNT=2;" },
	{ "tstamp-sync-missing", "",
	  TSTART "DirectBranch ICNT=3; ProgTraceSync SYNC=2 ICNT=3 FADDR=0x80 TSTAMP=2000;",
	  TSTART "DirectBranch ICNT=3; ProgTraceSync SYNC=2 ICNT=3 FADDR=0x80;" },
	{ "tstamp-sync-missing", "tsbits=40", TSTART, START },
	/* Later differences have nothing to count from: the same mistake. */
	{ "tstamp-sync-missing", "tsbits=40",
	  TSTART "DirectBranch ICNT=3 TSTAMP=5;DirectBranch ICNT=3 TSTAMP=5;" LATER,
	  START "DirectBranch ICNT=3 TSTAMP=5;DirectBranch ICNT=3 TSTAMP=5;" LATER },
	/* An I-CNT that was left out: F-ADDR is read as I-CNT, and TSTAMP as F-ADDR. */
	{ "tstamp-sync-missing", "tsbits=40",
	  TSTART "DirectBranch ICNT=3 TSTAMP=5;DirectBranch ICNT=3 TSTAMP=5;" LATER,
	  "ProgTraceSync SYNC=2 ICNT=0x80 FADDR=1000;"
	  "DirectBranch ICNT=3 TSTAMP=5;DirectBranch ICNT=3 TSTAMP=5;" LATER },
	{ "tstamp-reference", "", TSTART "DirectBranch ICNT=3 TSTAMP=5;" LATER,
	  START "DirectBranch ICNT=3 TSTAMP=5;DirectBranch ICNT=3 TSTAMP=5;" LATER },
	{ "tstamp-reference", "", TSTART "DirectBranch ICNT=3 TSTAMP=5;",
	  START "DirectBranch ICNT=3 TSTAMP=5;" },
	{ "tstamp-width", "tsbits=12", TSTART "DirectBranch ICNT=3 TSTAMP=4095;",
	  TSTART "DirectBranch ICNT=3 TSTAMP=4096;" },
	{ "tstamp-backwards", "",
	  TSTART
	  "DirectBranch ICNT=3 TSTAMP=5; ProgTraceSync SYNC=2 ICNT=3 FADDR=0x80 TSTAMP=1005;",
	  TSTART
	  "DirectBranch ICNT=3 TSTAMP=5; ProgTraceSync SYNC=2 ICNT=3 FADDR=0x80 TSTAMP=1004;" },
	{ "tstamp-backwards", "tsbits=10",
	  TSTART "ProgTraceSync SYNC=2 ICNT=3 FADDR=0x80 TSTAMP=7;",
	  TSTART "ProgTraceSync SYNC=2 ICNT=3 FADDR=0x80 TSTAMP=900;" },
	/* More than half a round ahead, without a wrap. */
	{ "tstamp-backwards", "tsbits=16",
	  TSTART "ProgTraceSync SYNC=2 ICNT=3 FADDR=0x80 TSTAMP=0xfff0;",
	  TSTART "ProgTraceSync SYNC=2 ICNT=3 FADDR=0x80 TSTAMP=999;" },
	{ "tstamp-backwards", "tsdelta=xor",
	  TSTART
	  "DirectBranch ICNT=3 TSTAMP=0x3e8; ProgTraceSync SYNC=2 ICNT=3 FADDR=0x80 TSTAMP=5;",
	  TSTART
	  "DirectBranch ICNT=3 TSTAMP=16; ProgTraceSync SYNC=2 ICNT=3 FADDR=0x80 TSTAMP=999;" },
	/* Cases with the program. */
	{ "flow-icnt-split", "flow", START "ProgTraceCorrelation EVCODE=4 CDF=1 ICNT=3 HIST=2;",
	  START "ProgTraceCorrelation EVCODE=4 CDF=1 ICNT=2 HIST=1;" },
	{ "flow-indirect", "flow",
	  "ProgTraceSync SYNC=5 ICNT=0 FADDR=0x87; IndirectBranch BTYPE=0 ICNT=2 UADDR=0x107;",
	  "ProgTraceSync SYNC=5 ICNT=0 FADDR=0x87; IndirectBranch BTYPE=0 ICNT=3 UADDR=0x107;" },
	{ "flow-hist-left", "flow", START "IndirectBranchHist BTYPE=2 ICNT=3 UADDR=1 HIST=2;",
	  START "IndirectBranchHist BTYPE=2 ICNT=3 UADDR=1 HIST=4;" },
	{ "flow-hist-missing", "flow", START "IndirectBranchHist BTYPE=2 ICNT=7 UADDR=1 HIST=4;",
	  START "IndirectBranchHist BTYPE=2 ICNT=7 UADDR=1 HIST=2;" },
	{ "flow-hist-missing", "flow,mode=htm",
	  START "IndirectBranchHistSync SYNC=2 BTYPE=0 ICNT=5 FADDR=0x85 HIST=2;",
	  START "ProgTraceSync SYNC=2 ICNT=5 FADDR=0x85;" },
	{ "flow-icnt-short", "flow",
	  START "ResourceFull RCODE=1 HIST=4; IndirectBranch BTYPE=2 ICNT=7 UADDR=1;",
	  START "ResourceFull RCODE=1 HIST=4; IndirectBranch BTYPE=2 ICNT=5 UADDR=1;" },
	{ "flow-address", "flow",
	  START "IndirectBranchHistSync SYNC=2 BTYPE=0 ICNT=3 FADDR=0x83 HIST=2;",
	  START "IndirectBranchHistSync SYNC=2 BTYPE=0 ICNT=3 FADDR=0x85 HIST=2;" },
	/* What follows from one mistake: at the same message, or up to the next sync. */
	{ "flow-hist-missing", "flow", START "IndirectBranchHist BTYPE=0 ICNT=9 UADDR=1 HIST=4;",
	  START "IndirectBranchHist BTYPE=0 ICNT=9 UADDR=1 HIST=2;" },
	{ "flow-address", "flow",
	  START "IndirectBranchHistSync SYNC=2 BTYPE=0 ICNT=3 FADDR=0x83 HIST=2; "
		"IndirectBranchHistSync SYNC=2 BTYPE=0 ICNT=2 FADDR=0x85 HIST=1; "
		"IndirectBranchHist BTYPE=2 ICNT=2 UADDR=1 HIST=2;",
	  START "IndirectBranchHistSync SYNC=2 BTYPE=0 ICNT=3 FADDR=0x84 HIST=2; "
		"IndirectBranchHistSync SYNC=2 BTYPE=0 ICNT=2 FADDR=0x85 HIST=1; "
		"IndirectBranchHist BTYPE=2 ICNT=2 UADDR=1 HIST=2;" },
	/* The call at 0x3002 is not counted, so that its return address is not known. */
	{ "flow-custom-transfer", "flow",
	  "ProgTraceSync SYNC=5 ICNT=0 FADDR=0x1800; IndirectBranch BTYPE=0 ICNT=2 UADDR=6; "
	  "IndirectBranch BTYPE=0 ICNT=3 UADDR=6;",
	  "ProgTraceSync SYNC=5 ICNT=0 FADDR=0x1800; IndirectBranch BTYPE=0 ICNT=1 UADDR=6; "
	  "IndirectBranch BTYPE=0 ICNT=3 UADDR=6;" },
	{ "flow-transfer", "flow", START "DirectBranch ICNT=3;", START "DirectBranch ICNT=1;" },
	{ "flow-custom-transfer", "flow",
	  "ProgTraceSync SYNC=5 ICNT=0 FADDR=0x102; IndirectBranch BTYPE=2 ICNT=4 UADDR=0x82;",
	  "ProgTraceSync SYNC=5 ICNT=0 FADDR=0x102; IndirectBranch BTYPE=0 ICNT=4 UADDR=0x82;" },
	{ "flow-no-instruction", "flow",
	  "ProgTraceSync SYNC=5 ICNT=0 FADDR=0x106; ProgTraceCorrelation EVCODE=4 CDF=0 ICNT=1;",
	  "ProgTraceSync SYNC=5 ICNT=0 FADDR=0x106; ProgTraceCorrelation EVCODE=4 CDF=0 ICNT=2;" },
	{ "flow-no-memory", "flow",
	  "ProgTraceSync SYNC=5 ICNT=0 FADDR=0x180; ProgTraceCorrelation EVCODE=4 CDF=0 ICNT=2;",
	  "ProgTraceSync SYNC=5 ICNT=0 FADDR=0x180; ProgTraceCorrelation EVCODE=4 CDF=0 ICNT=3;" },
	{ "flow-no-memory", "flow",
	  "ProgTraceSync SYNC=5 ICNT=0 FADDR=0x180; ProgTraceCorrelation EVCODE=4 CDF=0 ICNT=2;",
	  "x3 ProgTraceSync SYNC=2 ICNT=3 FADDR=0x180; ProgTraceCorrelation EVCODE=4 CDF=0 "
	  "ICNT=2;" },
	{ "flow-no-table", "flow,isa=rv64imac_zcmt",
	  "ProgTraceSync SYNC=5 ICNT=0 FADDR=0x1804; ProgTraceCorrelation EVCODE=4 CDF=0 ICNT=1;",
	  "x3 ProgTraceSync SYNC=5 ICNT=0 FADDR=0x1804; ProgTraceCorrelation EVCODE=4 CDF=0 "
	  "ICNT=2;" },
	/* Occurs twice, reported once. */
	{ "flow-source-limit", "flow,srcbits=12", SRC64 SRC64, SRC64 SRC(0100) SRC(0100) },
	/*
	 * N-Trace 1.0, "implicit return": an inferred return of modes 1 and 2 is no violation,
	 * though the flow warns of it.
	 */
	{ "flow-indirect", "flow,impret=1",
	  "ProgTraceSync SYNC=5 ICNT=0 FADDR=0x89; ProgTraceCorrelation EVCODE=4 CDF=0 ICNT=4;",
	  "ProgTraceSync SYNC=5 ICNT=0 FADDR=0x8c; ProgTraceCorrelation EVCODE=4 CDF=0 ICNT=4;" },
	{ "flow-endless", "flow", START "ResourceFull RCODE=1 HIST=4;",
	  START "ResourceFull RCODE=1 HIST=7;" },
	{ "flow-excess", "flow",
	  "ProgTraceSync SYNC=5 ICNT=0 FADDR=0x2000; ResourceFull RCODE=2 HIST=3 HREPEAT=0x3ffff;",
	  "ProgTraceSync SYNC=5 ICNT=0 FADDR=0x2000; ResourceFull RCODE=2 HIST=0xffffffff "
	  "HREPEAT=0x3ffff;" },
	{ "flow-tail", "flow", START "ResourceFull RCODE=0 ICNT=3;",
	  START "ResourceFull RCODE=0 ICNT=5;" },
};

#define MUTATIONS (sizeof(mutations) / sizeof(mutations[0]))
#define ROOM (2u << 20)

static void config_of(struct ntrace_check_config *config, const struct mutation *mutation,
		      struct ntrace_space *space)
{
	bool flow = !strncmp(mutation->params, "flow", 4);
	const char *params = mutation->params + (flow ? 4 : 0);

	ntrace_check_config_init(config);
	config->params = params_at(params + (*params == ','));
	config->space = flow ? space : NULL;
	/* SRC 3 and 5 are declared if any is, and there is no program. */
	if (config->params->src_bits && !flow)
		config->sources[0] = 1u << 3 | 1u << 5;
}

static void test_mutations(struct ntrace_space *space, uint8_t *data)
{
	for (unsigned int i = 0; i < MUTATIONS; i++) {
		const struct mutation *mutation = &mutations[i];
		struct ntrace_check_config config;
		struct found found = { 0 };
		size_t size, chunk;

		config_of(&config, mutation, space);
		size = stream_of(mutation->good, config.params, data, ROOM);
		check_stream(&found, &config, data, size, size);
		ok(!found.count, "%s: no finding in the good stream", mutation->rule);
		if (found.count)
			diag("%s:%s", mutation->good, found.text);
		if (!mutation->bad)
			continue;
		size = stream_of(mutation->bad, config.params, data, ROOM);
		found.expected = mutation->rule;
		for (chunk = size; chunk; chunk = chunk == 1 || size > 1000 ? 0 : 1) {
			check_stream(&found, &config, data, size, chunk);
			ok(found.count == 1 && !found.other, "%s: the only finding%s",
			   mutation->rule, chunk == 1 ? ", byte by byte" : "");
			if (found.count != 1 || found.other)
				diag("%s:%s", mutation->bad, found.text);
		}
	}
}

static void test_every_rule_is_tested(void)
{
	size_t count, missing = 0;
	const struct ntrace_check_rule *rules = ntrace_check_rules(&count);

	for (size_t i = 0; i < count; i++) {
		unsigned int streams = 0;

		for (unsigned int j = 0; j < MUTATIONS; j++)
			streams += mutations[j].bad && !strcmp(mutations[j].rule, rules[i].id);
		if (!streams) {
			diag("no mutation for %s", rules[i].id);
			missing++;
		}
		for (size_t j = 0; j < i; j++) {
			if (!strcmp(rules[i].id, rules[j].id))
				diag("two rules are called %s", rules[i].id);
			missing += !strcmp(rules[i].id, rules[j].id);
		}
	}
	ok(!missing, "each of %zu rules has a mutated stream", count);
}

/* Streams of the reference encoder must have no finding, without and with their program. */
static void test_reference_stream(void)
{
	const char *trace = shared_file("xrle.nex"), *elf = shared_file("xrle.elf");
	struct ntrace_check_config config;
	struct ntrace_object *object;
	struct found found = { 0 };
	uint8_t *data;
	size_t size;

	if (!trace || !elf)
		return;
	data = read_file(trace, &size);
	ntrace_check_config_init(&config);
	config.params = params_at("xlen=32,mode=htm");
	check_stream(&found, &config, data, size, 4096);
	is_str(found.text, "", "xrle: no finding");
	config.space = new_space("xrle");
	if (ntrace_object_open_elf(&object, elf) ||
	    ntrace_space_map_linked(config.space, object, 0))
		ok(false, "xrle.elf");
	check_stream(&found, &config, data, size, 7);
	is_str(found.text, "", "xrle: no finding with its program");
	/* Changes one bit of the history. */
	data[1010] ^= 4;
	check_stream(&found, &config, data, size, size);
	ok(found.count > 0, "xrle: a wrong bit is found with the program:%s", found.text);
	ntrace_object_put(object);
	ntrace_space_put(config.space);
	free(data);
}

/* A flow run by the caller: which events are findings and which are not. */
static void test_flow_events(void)
{
	static const struct {
		uint8_t type;
		uint8_t code;
		const char *found;
	} cases[] = {
		{ NTRACE_FLOW_WARNING, NTRACE_FLOW_ERROR_SOURCE, " flow-source-limit@7" },
		{ NTRACE_FLOW_WARNING, NTRACE_FLOW_ERROR_INFERRED, "" },
		{ NTRACE_FLOW_ERROR, NTRACE_FLOW_ERROR_LOST, "" },
		{ NTRACE_FLOW_GAP, NTRACE_FLOW_ERROR_SPLIT, "" },
		{ NTRACE_FLOW_ERROR, NTRACE_FLOW_ERROR_SPLIT, " flow-icnt-split@7" },
		{ NTRACE_FLOW_ERROR, NTRACE_FLOW_ERROR_TRANSFER, " flow-transfer@7" },
		{ NTRACE_FLOW_WARNING, NTRACE_FLOW_ERROR_TRANSFER, " flow-custom-transfer@7" },
	};

	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct ntrace_flow_event event = { .type = cases[i].type,
						   .code = cases[i].code,
						   .offset = 7 };
		struct ntrace_check_config config;
		struct ntrace_check *check;
		struct found found = { 0 };

		ntrace_check_config_init(&config);
		config.finding = take_finding;
		config.data = &found;
		is_u64((uint64_t)ntrace_check_new(&check, &config), 0, "checker");
		ntrace_check_flow_event(check, -1, &event);
		is_str(found.text, cases[i].found, "%s: %s", ntrace_flow_type_name(event.type),
		       ntrace_flow_error_text(event.code));
		ntrace_check_free(check);
	}
}

/* A wrapped buffer: the start is not judged; invalid configurations are refused. */
static void test_config(struct ntrace_space *space, uint8_t *data)
{
	struct ntrace_check_config config;
	struct ntrace_check *check;
	struct found found = { 0 };
	size_t size;

	ntrace_check_config_init(&config);
	size = stream_of("[12 44 28 43];" JUMP "DirectBranch ICNT=0;" START JUMP, params_at(""),
			 data, ROOM);
	config.wrapped = true;
	check_stream(&found, &config, data, size, 1);
	is_str(found.text, "", "wrapped: messages before the first sync are not judged");
	size = stream_of("[12 44 28 43];" START "DirectBranch ICNT=0;", params_at(""), data, ROOM);
	check_stream(&found, &config, data, size, 1);
	is_str(found.text, " transfer-icnt@8", "wrapped: messages after the first sync are judged");
	ntrace_check_config_init(&config);
	size = stream_of(START JUMP JUMP OFF JUMP, params_at(""), data, ROOM);
	check_stream(&found, &config, data, size, 1);
	is_str(found.text, " sync-after-correlation@13",
	       "normally: messages after the end are judged");
	check_broken(&found, &config, data, size, 1, 11);
	is_str(found.text, "", "missing bytes: messages before the next sync are not judged");
	check_stream(&found, &config, data, 12, 1);
	is_str(found.text, " message-cut@10", "normally: a stream that ends inside a message");
	check_broken(&found, &config, data, 12, 1, 11);
	is_str(found.text, "",
	       "missing bytes: the message in progress is not reported as truncated");
	is_u64((uint64_t)ntrace_check_new(&check, &config), (uint64_t)NTRACE_ERR_INVALID,
	       "no callback");
	config.finding = take_finding;
	config.space = space;
	config.params = params_at("isa=nonsense");
	is_u64((uint64_t)ntrace_check_new(&check, &config), (uint64_t)NTRACE_ERR_INVALID,
	       "no such instruction set");
	ntrace_check_free(NULL);
}

int main(void)
{
	struct ntrace_space *space = program();
	uint8_t *data = malloc(ROOM);

	if (!data)
		return 1;
	test_mutations(space, data);
	test_every_rule_is_tested();
	test_reference_stream();
	test_flow_events();
	test_config(space, data);
	ntrace_space_put(space);
	free(data);
	return done_testing();
}
