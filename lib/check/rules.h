/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The rules as one macro list: RULE(name, id, section, severity, flow, text).
 * selftests/lib/test_check.c violates each of them in a good stream.
 * @section names the specification and the topic.
 */
#ifndef NTRACE_CHECK_RULES_H
#define NTRACE_CHECK_RULES_H

#include <ntrace/check.h>

#define N_TRACE "N-Trace 1.0, "

/* clang-format off */
#define NTRACE_CHECK_RULES(RULE)									\
/* framing */												\
RULE(MSEO_RESERVED, "mseo-reserved", N_TRACE "framing", ERROR, false,					\
     "inside a message MSEO is 00, 01 or 11, never 10")							\
RULE(MSEO_IDLE, "mseo-idle", N_TRACE "framing", ERROR, false,						\
     "between messages MSEO is 11 (idle) or 00 (a message begins)")					\
RULE(IDLE_BYTE, "idle-byte", N_TRACE "framing", WARNING, false,						\
     "an idle byte is 0xFF")										\
RULE(MESSAGE_CUT, "message-cut", N_TRACE "framing", WARNING, false,					\
     "a stream ends with a whole message")								\
/* layout */												\
RULE(TCODE_RESERVED, "tcode-reserved", N_TRACE "messages", ERROR, false,				\
     "TCODE is in the message table, data trace, or 56 to 62 (vendor)")						\
RULE(DATA_TRACE, "data-trace", "IEEE-ISTO 5001, data trace", INFO, false,				\
     "TCODE 5, 6, 7, 13 and 14 are data trace, which is no part of N-Trace 1.0")			\
RULE(FIELD_MISSING, "field-missing", N_TRACE "messages", ERROR, false,					\
     "a message has all fields of its row in the message table")					\
RULE(FIELD_EMPTY, "field-empty", N_TRACE "framing", ERROR, false,					\
     "a variable field has at least one bit; without it, it is read as 0; told once for each SRC and TCODE")	\
RULE(FIELD_EXTRA, "field-extra", N_TRACE "messages", ERROR, false,					\
     "after the fields of its row in the message table, a message has at most TSTAMP")			\
RULE(FIELD_OVERSIZE, "field-oversize", N_TRACE "framing", ERROR, false,					\
     "no field but PROCESS and counters in CKDATA0 has more than 64 significant bits")			\
RULE(SRC_UNDECLARED, "src-undeclared", N_TRACE "messages", ERROR, false,				\
     "SRC is the number of one of the encoders")							\
/* values */												\
RULE(SYNC_RESERVED, "sync-reserved", N_TRACE "synchronization", ERROR, false,				\
     "SYNC is 0 to 7, 9, or 14 to 15 (vendor)")								\
RULE(BTYPE_MIXED, "btype-mixed", N_TRACE "messages", ERROR, false,					\
     "an encoder sends BTYPE 1 for all traps, or 2 for exceptions and 3 for interrupts")		\
RULE(ETYPE_RESERVED, "etype-reserved", N_TRACE "messages", ERROR, false,				\
     "ETYPE is 0, or 8 to 15 (vendor)")									\
RULE(ECODE_RESERVED, "ecode-reserved", N_TRACE "messages", ERROR, false,				\
     "ECODE has only the bits 1, 2, 3, 5 and 7")							\
RULE(RCODE_RESERVED, "rcode-reserved", N_TRACE "messages", ERROR, false,				\
     "RCODE is 0 to 2, or 8 to 15 (vendor)")								\
RULE(EVCODE_RESERVED, "evcode-reserved", N_TRACE "messages", ERROR, false,				\
     "EVCODE is 0, 1 or 4, or 8 to 15 (vendor)")							\
RULE(CDF_RESERVED, "cdf-reserved", N_TRACE "messages", ERROR, false,					\
     "CDF is 0 or 1")											\
RULE(CKSRC_UNKNOWN, "cksrc-unknown", "SiFive version 0, InCircuitTrace", WARNING, false,		\
     "CKSRC of InCircuitTrace is 0, 8, 9, 12, 14 or 15; the fields of others are unknown")		\
RULE(CKDF_RESERVED, "ckdf-reserved", "SiFive version 0, InCircuitTrace", ERROR, false,			\
     "CKDF of InCircuitTrace is 0 or 1")								\
RULE(PROCESS_FORMAT, "process-format", N_TRACE "messages", ERROR, false,				\
     "FORMAT of PROCESS is 0, 2 or 3")									\
RULE(PROCESS_PRIVILEGE, "process-privilege", N_TRACE "messages", ERROR, false,				\
     "V and PRV of PROCESS are 0,0 0,1 0,3 1,0 or 1,1")							\
RULE(PROCESS_CONTEXT, "process-context", N_TRACE "messages", ERROR, false,				\
     "PROCESS with FORMAT 0 has no CONTEXT")								\
RULE(ICNT_WIDTH, "icnt-width", N_TRACE "framing", ERROR, false,						\
     "I-CNT has at most 22 bits, or the declared number of bits")					\
RULE(HIST_STOP_BIT, "hist-stop-bit", N_TRACE "history", ERROR, false,					\
     "HIST has a stop bit: it is never 0")								\
RULE(HIST_WIDTH, "hist-width", N_TRACE "framing", ERROR, false,						\
     "HIST has at most 32 bits, the stop bit included")							\
RULE(HIST_EMPTY, "hist-empty", N_TRACE "history", ERROR, false,						\
     "ResourceFull with HIST reports at least one branch")						\
RULE(HREPEAT_ZERO, "hrepeat-zero", N_TRACE "history", ERROR, false,					\
     "HREPEAT counts all occurrences of the pattern: it is never 0")					\
RULE(HREPEAT_WIDTH, "hrepeat-width", N_TRACE "framing", ERROR, false,					\
     "HREPEAT has at most 18 bits")									\
RULE(BCNT_ZERO, "bcnt-zero", N_TRACE "program flow", ERROR, false,					\
     "RepeatBranch repeats at least once")								\
RULE(BCNT_WIDTH, "bcnt-width", N_TRACE "framing", ERROR, false,						\
     "B-CNT has at most 18 bits")									\
RULE(ADDRESS_WIDTH, "address-width", N_TRACE "addresses", ERROR, false,					\
     "F-ADDR and U-ADDR have at most 63 bits in 11 bytes; 31 bits in 6 bytes on RV32")			\
/* synchronization */											\
RULE(START_WITHOUT_SYNC, "start-without-sync", N_TRACE "synchronization", ERROR, false,			\
     "trace starts with a message that has SYNC")							\
RULE(UADDR_REFERENCE, "uaddr-reference", N_TRACE "addresses", ERROR, false,				\
     "a message with F-ADDR precedes the first U-ADDR")							\
RULE(SYNC_AFTER_OFF, "sync-after-correlation", N_TRACE "synchronization", ERROR, false,			\
     "after ProgTraceCorrelation, trace resumes with a message that has SYNC")				\
RULE(SYNC_AFTER_ERROR, "sync-after-error", N_TRACE "errors", ERROR, false,				\
     "Error is followed immediately by a message that has SYNC, or is the last message")		\
RULE(ERROR_SYNC_CODE, "error-sync-code", N_TRACE "errors", ERROR, false,				\
     "SYNC after Error is 7 (FIFO overrun), or another start of trace (1, 3, 5, 9)")			\
RULE(OVERRUN_WITHOUT_ERROR, "overrun-without-error", N_TRACE "synchronization", ERROR, false,		\
     "SYNC 7 follows an Error message")									\
RULE(RESTART_ICNT, "restart-icnt", N_TRACE "synchronization", ERROR, false,				\
     "at a start of trace (SYNC 3, 5, 7) nothing is pending: I-CNT is 0")				\
RULE(DEBUG_ENTRY_MISSING, "debug-entry-missing", N_TRACE "synchronization", ERROR, false,		\
     "before SYNC 3, exit from Debug Mode, ProgTraceCorrelation reported the entry")			\
RULE(SYNC_ICNT_FULL, "sync-icnt-full", N_TRACE "I-CNT", ERROR, false,					\
     "SYNC 4 is for BTM; in HTM, a full I-CNT is reported by ResourceFull")				\
RULE(PERIODIC_SYNC, "periodic-sync", N_TRACE "synchronization", INFO, false,				\
     "the longest interval of periodic synchronization is 2^19 messages")				\
RULE(OWNERSHIP_MISSING, "ownership-missing", N_TRACE "synchronization", WARNING, false,			\
     "with trTeContext an Ownership message follows every message that has SYNC")			\
RULE(OWNERSHIP_ORDER, "ownership-order", N_TRACE "synchronization", ERROR, false,			\
     "after a sync, hcontext (FORMAT 3) precedes scontext (FORMAT 2)")					\
/* state */												\
RULE(MODE_MIXED, "mode-mixed", N_TRACE "messages", ERROR, false,					\
     "BTM has DirectBranch and no HIST, HTM has HIST and no DirectBranch; the mode changes only while trace is off")	\
RULE(TRANSFER_ICNT, "transfer-icnt", N_TRACE "I-CNT", ERROR, false,					\
     "I-CNT includes the instruction that transferred control: it is not 0")				\
RULE(HIST_EXCEEDS_ICNT, "hist-exceeds-icnt", N_TRACE "I-CNT", ERROR, false,				\
     "every branch of HIST is counted in I-CNT")							\
RULE(REPEAT_WITHOUT_BRANCH, "repeat-without-branch", N_TRACE "program flow", ERROR, false,		\
     "RepeatBranch follows a branch message without SYNC")						\
/* time */												\
RULE(TSTAMP_SYNC_MISSING, "tstamp-sync-missing", N_TRACE "timestamps", ERROR, false,			\
     "if messages have timestamps, every message with SYNC has an absolute one")			\
RULE(TSTAMP_REFERENCE, "tstamp-reference", N_TRACE "timestamps", ERROR, false,				\
     "an absolute TSTAMP precedes the first relative one")						\
RULE(TSTAMP_WIDTH, "tstamp-width", N_TRACE "timestamps", ERROR, false,					\
     "TSTAMP has no more bits than trTsWidth")								\
RULE(TSTAMP_BACKWARDS, "tstamp-backwards", N_TRACE "timestamps", ERROR, false,				\
     "an absolute TSTAMP is not earlier than the previous one, except after a reset")			\
/* the code */												\
RULE(FLOW_SPLIT, "flow-icnt-split", N_TRACE "I-CNT", ERROR, true,					\
     "I-CNT ends at the end of an instruction")								\
RULE(FLOW_INDIRECT, "flow-indirect", N_TRACE "program flow", ERROR, true,				\
     "I-CNT continues after an indirect transfer only if its target can be inferred")			\
RULE(FLOW_HISTORY, "flow-hist-left", N_TRACE "program flow", ERROR, true,				\
     "HIST has exactly one bit for each executed branch")						\
RULE(FLOW_NO_HISTORY, "flow-hist-missing", N_TRACE "program flow", ERROR, true,				\
     "in HTM, every executed branch has a bit")								\
RULE(FLOW_ICNT, "flow-icnt-short", N_TRACE "program flow", ERROR, true,					\
     "I-CNT covers the instructions that HIST implies")							\
RULE(FLOW_ADDRESS, "flow-address", N_TRACE "synchronization", ERROR, true,				\
     "F-ADDR of a sync in running code is the next address of the program flow")			\
RULE(FLOW_TRANSFER, "flow-transfer", N_TRACE "program flow", ERROR, true,				\
     "DirectBranch reports a branch or direct jump; other messages report a retired jump")		\
RULE(FLOW_CUSTOM, "flow-custom-transfer", N_TRACE "program flow", WARNING, true,			\
     "the instruction before a reported address can transfer control, unless it is custom")		\
RULE(FLOW_BADINSN, "flow-no-instruction", N_TRACE "program flow", ERROR, true,				\
     "the executed code consists of instructions")							\
RULE(FLOW_NOMAP, "flow-no-memory", N_TRACE "program flow", INFO, true,					\
     "the executed code is in the given programs")							\
RULE(FLOW_TABLE, "flow-no-table", N_TRACE "program flow", INFO, true,					\
     "the jump table of CM.JT and CM.JALT is known and in the given programs (--params jvt=ADDRESS)")	\
RULE(FLOW_SOURCE, "flow-source-limit", N_TRACE "messages", INFO, true,					\
     "the code is followed for the first 64 SRC; for this SRC only the messages are checked")		\
RULE(FLOW_ENDLESS, "flow-endless", N_TRACE "program flow", ERROR, true,					\
     "an executed loop has branches or transfers that are reported")					\
RULE(FLOW_EXCESS, "flow-excess", N_TRACE "program flow", ERROR, true,					\
     "I-CNT, HIST, HREPEAT and B-CNT describe no more code than a hart can execute")			\
RULE(FLOW_TAIL, "flow-tail", N_TRACE "program flow", WARNING, true,					\
     "the stream reports the outcome of every retired branch before it ends")
/* clang-format on */

enum check_rule {
#define RULE(name, id, section, severity, flow, text) RULE_##name,
	NTRACE_CHECK_RULES(RULE)
#undef RULE
		RULE_COUNT,
};

#endif /* NTRACE_CHECK_RULES_H */
