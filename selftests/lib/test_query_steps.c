// SPDX-License-Identifier: GPL-2.0-only
/*
 * Queries of short streams, call by call: what each call returns at the end of a message, in
 * history, in repeated messages, and after contradictions. test_query.c walks whole programs.
 */
#include <ntrace/query.h>

#include "stream_text.h"

#define START "ProgTraceSync SYNC=5 ICNT=0 FADDR=0x40; "

static char log_text[400];
static size_t used;
static uint64_t offset;		/* of the last event: it never decreases */

__attribute__((format(printf, 1, 2))) static void note(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	used += (size_t)vsnprintf(log_text + used, sizeof(log_text) - used, format, args);
	va_end(args);
}

static void note_event(struct ntrace_query *query)
{
	struct ntrace_query_event event = { 0 };
	int got = ntrace_query_event(query, &event);

	if (got) {
		note("%d", got);
		return;
	}
	switch (event.type) {
	case NTRACE_QUERY_SYNC:
		note("sync %u %" PRIx64, event.code, event.address);
		break;
	case NTRACE_QUERY_TRAP:
		note("trap %u %" PRIx64, event.btype, event.address);
		break;
	case NTRACE_QUERY_TARGET:
		note("target %" PRIx64, event.address);
		break;
	case NTRACE_QUERY_TRACE_OFF:
		note("off %u", event.code);
		break;
	case NTRACE_QUERY_OWNERSHIP:
		note("owner %" PRIx64, event.value);
		break;
	case NTRACE_QUERY_LOSS:
		note("loss %u", event.code);
		break;
	case NTRACE_QUERY_END:
		note("end %" PRIu64, event.value);
		break;
	}
	if (event.time_known)
		note(" at %" PRIu64, event.time);
	else if (event.time)
		note(" at unknown %" PRIu64, event.time);
	if (event.offset < offset)
		note(" from offset %" PRIu64 " after %" PRIu64, event.offset, offset);
	offset = event.offset;
}

/*
 * Makes the calls of @script: l left, 1..9 retire so many parcels, b branch, t target, e event. Return:
 * their results.
 */
static const char *results_of(const char *settings, const char *stream, const char *script)
{
	const struct ntrace_params params = params_of(settings);
	static uint8_t data[4096];
	size_t size = stream_of(stream, &params, data, sizeof(data));
	struct ntrace_query *query;
	uint64_t number;
	bool taken;
	int got;

	used = 0;
	offset = 0;
	log_text[0] = '\0';
	if (ntrace_query_new(&query, &params, 0, data, size))
		return "no query";
	for (; *script; script++) {
		note("%s", used ? ", " : "");
		switch (*script) {
		case 'l':
			got = ntrace_query_left(query, &number);
			if (got)
				note("%d", got);
			else
				note(number == UINT64_MAX ? "bits" : "%" PRIu64, number);
			break;
		case 'b':
			got = ntrace_query_branch(query, &taken);
			note(got == 1 ? "?" : got ? "wrong" : taken ? "taken" : "not");
			break;
		case 't':
			got = ntrace_query_target(query, &number);
			note(got ? "none" : "to %" PRIx64, number);
			break;
		case 'e':
			note_event(query);
			break;
		default:
			got = ntrace_query_retire(query, (unsigned int)(*script - '0'));
			note("%s", got == 1		    ? "last" :
				   got == NTRACE_ERR_FORMAT ? "wrong" :
				   got			    ? "refused" :
							      "more");
		}
	}
	ntrace_query_free(query);
	return log_text;
}

static void check(const char *what, const char *settings, const char *stream, const char *script,
		  const char *want)
{
	is_str(results_of(settings, stream, script), want, "%s", what);
}

static void test_counts(void)
{
	check("a sync, then the end", "", "ProgTraceSync SYNC=5 ICNT=0 FADDR=0x40", "lelele",
	      "1, sync 5 80, 1, end 0, -4, -4");
	check("no event before its code", "", START "DirectBranch ICNT=4", "elee1l",
	      "sync 5 80, 4, 1, 1, more, 3");
	check("a taken branch ends the count", "", START "DirectBranch ICNT=4", "e2b2bl",
	      "sync 5 80, more, not, last, taken, 1");
	check("an instruction that reaches beyond the count", "", START "DirectBranch ICNT=3",
	      "e22ele", "sync 5 80, more, wrong, loss 3, 1, end 0");
	check("nothing retires at an event, nor an instruction of no size", "",
	      START "DirectBranch ICNT=4", "2e0l", "refused, sync 5 80, refused, 4");
	check("counts of ResourceFull are added", "",
	      START "ResourceFull RCODE=0 ICNT=100; ResourceFull RCODE=0 ICNT=20; "
		    "DirectBranch ICNT=3; DirectBranch ICNT=2",
	      "el9", "sync 5 80, 123, more");
	check("and are used up", "",
	      START "ResourceFull RCODE=0 ICNT=2; DirectBranch ICNT=2; "
		    "DirectBranch ICNT=2",
	      "e22l", "sync 5 80, more, last, 2");
}

static void test_targets(void)
{
	check("an indirect branch", "", START "IndirectBranch BTYPE=0 ICNT=2 UADDR=0x10", "e2tle",
	      "sync 5 80, last, to a0, 1, end 0");
	check("a target before its time", "", START "IndirectBranch BTYPE=0 ICNT=4 UADDR=0x10",
	      "et2t2t", "sync 5 80, none, more, none, last, to a0");
	check("a target that nobody asks for", "", START "IndirectBranch BTYPE=0 ICNT=2 UADDR=0x10",
	      "e2le", "sync 5 80, last, 1, target a0");
	check("a branch whose address decides", "",
	      START "IndirectBranch BTYPE=0 ICNT=2 UADDR=0x10", "e2be",
	      "sync 5 80, last, ?, target a0");
	check("a trap", "", START "IndirectBranch BTYPE=2 ICNT=2 UADDR=0x10", "e2tble",
	      "sync 5 80, last, none, not, 1, trap 2 a0");
	check("an address counts from the last one", "",
	      START "IndirectBranch BTYPE=0 ICNT=2 UADDR=0x10; IndirectBranch BTYPE=0 ICNT=2 "
		    "UADDR=0x1",
	      "e2t2t", "sync 5 80, last, to a0, last, to a2");
	check("a sync with code", "", START "IndirectBranchSync SYNC=2 BTYPE=0 ICNT=2 FADDR=0x80",
	      "e2tle", "sync 5 80, last, none, 1, sync 2 100");
	check("a branch before a periodic sync", "", START "ProgTraceSync SYNC=2 ICNT=2 FADDR=0x80",
	      "e2b", "sync 5 80, last, ?");
	check("a branch before an exit from debug mode", "",
	      START "ProgTraceSync SYNC=3 ICNT=2 FADDR=0x80", "e2b", "sync 5 80, last, not");
	check("before an external trigger", "", START "ProgTraceSync SYNC=0 ICNT=2 FADDR=0x80",
	      "e2b", "sync 5 80, last, ?");
	check("before a full I-CNT", "", START "ProgTraceSync SYNC=4 ICNT=2 FADDR=0x80", "e2b",
	      "sync 5 80, last, ?");
	check("before an event of the trace", "", START "ProgTraceSync SYNC=6 ICNT=2 FADDR=0x80",
	      "e2b", "sync 5 80, last, ?");
	check("before an overrun", "", START "ProgTraceSync SYNC=7 ICNT=2 FADDR=0x80", "e2b",
	      "sync 5 80, last, not");
	check("before a trap with a sync", "",
	      START "IndirectBranchSync SYNC=2 BTYPE=2 ICNT=2 FADDR=0x80", "e2be",
	      "sync 5 80, last, not, sync 2 100");
	check("trace off", "",
	      START "ProgTraceCorrelation EVCODE=4 CDF=0 ICNT=2; DirectBranch "
		    "ICNT=9; ProgTraceSync SYNC=5 ICNT=7 FADDR=0x80",
	      "e2lele", "sync 5 80, last, 1, off 4, 1, sync 5 100");
	check("trace off with history", "",
	      START "ProgTraceCorrelation EVCODE=4 CDF=1 ICNT=4 HIST=2", "e2b2be",
	      "sync 5 80, more, not, last, wrong, loss 3");
}

static void test_history(void)
{
#define HIST "IndirectBranchHist BTYPE=0 ICNT=6 UADDR=0x10 HIST=0x6"
	check("bits of history, the oldest first", "", START HIST, "e2b2b2t",
	      "sync 5 80, more, taken, more, not, last, to a0");
	check("a branch without a bit", "", START HIST, "e2b2b1be",
	      "sync 5 80, more, taken, more, not, more, wrong, loss 3");
	check("a bit that no branch has used", "", START HIST, "e2b22e",
	      "sync 5 80, more, taken, more, last, loss 3");
	check("history of ResourceFull", "", START "ResourceFull RCODE=1 HIST=0x6; " HIST,
	      "el2bl2bl2b", "sync 5 80, bits, more, taken, bits, more, not, 2, last, taken");
	check("its parcels are part of the next count", "",
	      START "ResourceFull RCODE=1 HIST=0x6; IndirectBranchHist BTYPE=0 ICNT=4 UADDR=0x10 "
		    "HIST=1",
	      "e2b2ble", "sync 5 80, more, taken, more, not, 1, target a0");
	check("a count that is smaller", "",
	      START "ResourceFull RCODE=1 HIST=0x6; IndirectBranchHist BTYPE=0 ICNT=3 UADDR=0x10 "
		    "HIST=1",
	      "e2b2ble", "sync 5 80, more, taken, more, not, 1, loss 3");
	check("repeated history", "",
	      START "ResourceFull RCODE=2 HIST=0x6 HREPEAT=2; DirectBranch ICNT=9", "e1b1b1b1bl",
	      "sync 5 80, more, taken, more, not, more, taken, more, not, 5");
	check("history without a stop bit", "", START "ResourceFull RCODE=1 HIST=0", "ele",
	      "sync 5 80, 1, loss 1");
	check("an unknown reason is ignored", "",
	      START "ResourceFull RCODE=8 RDATA=3; DirectBranch ICNT=5", "el", "sync 5 80, 5");
	check("SiFive: branches not taken", "dialect=sifive-v0",
	      START "ResourceFull RCODE=8 RDATA=2; DirectBranch ICNT=5", "el1b1bl",
	      "sync 5 80, bits, more, not, more, not, 3");
	check("SiFive: branches taken", "dialect=sifive-v0",
	      START "ResourceFull RCODE=9 RDATA=1; DirectBranch ICNT=5", "e1bl",
	      "sync 5 80, more, taken, 4");
#undef HIST
}

static void test_repeats(void)
{
	check("a repeated branch", "",
	      START "DirectBranch ICNT=2; RepeatBranch BCNT=2; "
		    "DirectBranch ICNT=5",
	      "e2b2b2bl", "sync 5 80, last, taken, last, taken, last, taken, 5");
	check("a repeated indirect one", "",
	      START "IndirectBranchHist BTYPE=0 ICNT=2 UADDR=0x10 HIST=1; RepeatBranch BCNT=1",
	      "e2t2te", "sync 5 80, last, to a0, last, to a0, end 0");
	check("an owner before the repetition", "",
	      START "IndirectBranchHist BTYPE=0 ICNT=2 UADDR=0x10 HIST=1; Ownership PROCESS=0x12; "
		    "RepeatBranch BCNT=1; Ownership PROCESS=0x13",
	      "e2ee2ee", "sync 5 80, last, target a0, owner 12, last, target a0, owner 13");
	check("nothing to repeat", "", START "RepeatBranch BCNT=2", "ele", "sync 5 80, 1, loss 1");
	check("not after ResourceFull", "",
	      START "DirectBranch ICNT=2; ResourceFull RCODE=0 ICNT=3; RepeatBranch BCNT=2", "e2le",
	      "sync 5 80, last, 1, loss 1");
	check("not after a sync", "",
	      START
	      "DirectBranch ICNT=2; ProgTraceSync SYNC=2 ICNT=0 FADDR=0x80; RepeatBranch BCNT=2",
	      "e2ele", "sync 5 80, last, sync 2 100, 1, loss 1");
	check("a wrong count ends repeating", "",
	      START "DirectBranch ICNT=2; RepeatBranch BCNT=5; DirectBranch ICNT=9", "e23ele",
	      "sync 5 80, last, wrong, loss 3, 1, end 0");
}

static void test_losses(void)
{
	check("nothing before the first sync", "",
	      "DirectBranch ICNT=2; Ownership PROCESS=0x12; "
	      "ProgTraceSync SYNC=5 ICNT=0 FADDR=0x40",
	      "lee", "1, owner 12, sync 5 80");
	check("a loss of the encoder", "",
	      START
	      "Error ETYPE=0 ECODE=9; DirectBranch ICNT=2; ProgTraceSync SYNC=7 ICNT=3 FADDR=0x80; "
	      "DirectBranch ICNT=4",
	      "elelel", "sync 5 80, 1, loss 2, 1, sync 7 100, 4");
	check("a reserved MSEO code", "", START "[02 07]", "ele", "sync 5 80, 1, loss 0");
	check("a sync whose code is wrong is right all the same", "",
	      START
	      "DirectBranch ICNT=2; ProgTraceSync SYNC=2 ICNT=2 FADDR=0x80; DirectBranch ICNT=4",
	      "e23elel", "sync 5 80, last, wrong, loss 3, 1, sync 2 100, 4");
	check("so is the end of the trace", "",
	      START "ProgTraceCorrelation EVCODE=4 CDF=0 ICNT=2; DirectBranch ICNT=4; "
		    "ProgTraceSync SYNC=5 ICNT=0 FADDR=0x40",
	      "e3elele", "sync 5 80, wrong, loss 3, 1, off 4, 1, sync 5 80");
	check("an unfinished message", "", START "[0c]", "ele", "sync 5 80, 1, end 1");
	check("messages of other harts are skipped", "srcbits=2",
	      "ProgTraceSync SRC=0 SYNC=5 ICNT=0 FADDR=0x40; DirectBranch SRC=1 ICNT=9; "
	      "DirectBranch "
	      "SRC=0 ICNT=4",
	      "el", "sync 5 80, 4");
}

/* N-Trace 1.0, "timestamps" */
static void test_times(void)
{
#define AT_7 "ProgTraceSync SYNC=5 ICNT=0 FADDR=0x40 TSTAMP=7"
	check("differences are added", "",
	      AT_7 "; Ownership PROCESS=0x12 TSTAMP=3; Ownership PROCESS=0x13; "
		   "Ownership PROCESS=0x14 TSTAMP=4",
	      "eeeee",
	      "sync 5 80 at 7, owner 12 at 10, owner 13 at 10, owner 14 at 14, end 0 at 14");
	check("those of messages without an event as well", "",
	      AT_7 "; DirectBranch ICNT=2 TSTAMP=100; ResourceFull RCODE=0 ICNT=2 TSTAMP=10; "
		   "IndirectBranch BTYPE=0 ICNT=2 UADDR=0x10 TSTAMP=1",
	      "e222e", "sync 5 80 at 7, last, more, last, target a0 at 118");
	check("and that of a target taken as such", "",
	      AT_7 "; IndirectBranch BTYPE=0 ICNT=2 UADDR=0x10 TSTAMP=1; Ownership PROCESS=0x12",
	      "e2te", "sync 5 80 at 7, last, to a0, owner 12 at 8");
	check("repeated events have the time of RepeatBranch", "",
	      AT_7 "; IndirectBranchHist BTYPE=0 ICNT=2 UADDR=0x10 HIST=1 TSTAMP=3; "
		   "RepeatBranch BCNT=2 TSTAMP=5; RepeatBranch BCNT=1",
	      "e2e2e2e2e",
	      "sync 5 80 at 7, last, target a0 at 10, last, target a0 at 15, last, target a0 at "
	      "15, last, target a0 at 15");
	check("a sync says the time anew", "",
	      AT_7 "; ProgTraceSync SYNC=2 ICNT=0 FADDR=0x80 TSTAMP=2", "ee",
	      "sync 5 80 at 7, sync 2 100 at 2");
	check("a counter of 8 bits starts over", "tsbits=8",
	      AT_7 "; ProgTraceSync SYNC=2 ICNT=0 FADDR=0x80 TSTAMP=2", "ee",
	      "sync 5 80 at 7, sync 2 100 at 258");
	check("SiFive: times change by exclusive or", "dialect=sifive-v0",
	      AT_7 "; DirectBranch ICNT=2 TSTAMP=2; Ownership PROCESS=0x12 TSTAMP=8", "e2e",
	      "sync 5 80 at 7, last, owner 12 at 13");
	check("no time before a sync", "", "Ownership PROCESS=0x12 TSTAMP=3; " AT_7, "ee",
	      "owner 12, sync 5 80 at 7");
	check("nor after a loss", "",
	      AT_7 "; Error ETYPE=0 ECODE=9 TSTAMP=3; Ownership PROCESS=0x12 TSTAMP=3; " AT_7,
	      "eeee", "sync 5 80 at 7, loss 2 at 10, owner 12, sync 5 80 at 7");
	check("nor after a reserved MSEO code", "",
	      AT_7 "; [02 07]; Ownership PROCESS=0x12 TSTAMP=3", "eee",
	      "sync 5 80 at 7, loss 0 at 7, owner 12");
	check("a sync whose code is wrong has its time, and what follows", "",
	      AT_7 "; ProgTraceSync SYNC=2 ICNT=2 FADDR=0x80 TSTAMP=9; Ownership PROCESS=0x12 "
		   "TSTAMP=3",
	      "e3eee", "sync 5 80 at 7, wrong, loss 3 at 9, sync 2 100 at 9, owner 12 at 12");
	check("so has the end of trace, but nothing that follows", "",
	      AT_7 "; ProgTraceCorrelation EVCODE=4 CDF=0 ICNT=2 TSTAMP=3; Ownership PROCESS=0x12 "
		   "TSTAMP=3",
	      "e3eee", "sync 5 80 at 7, wrong, loss 3 at 10, off 4 at 10, owner 12");
#undef AT_7
}

static void test_new(void)
{
	struct ntrace_params params = params_of("");
	struct ntrace_query *query;

	params.xlen = 48;
	is_u64((uint64_t)ntrace_query_new(&query, &params, 0, NULL, 0),
	       (uint64_t)NTRACE_ERR_INVALID, "an XLEN of 48");
	params.xlen = 32;
	is_u64((uint64_t)ntrace_query_new(&query, &params, 0, NULL, 0), 0, "of 32");
	ntrace_query_free(query);
	params.src_bits = 99;
	is_u64((uint64_t)ntrace_query_new(&query, &params, 0, NULL, 0),
	       (uint64_t)NTRACE_ERR_INVALID, "a SRC of 99 bits");
	is_u64((uint64_t)ntrace_query_new(&query, NULL, 0, NULL, 0), 0, "default parameters");
	ntrace_query_free(query);
	ntrace_query_free(NULL);
}

int main(void)
{
	test_counts();
	test_targets();
	test_history();
	test_repeats();
	test_losses();
	test_times();
	test_new();
	return done_testing();
}
