/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The rules as one macro list: RULE(name, id, section, severity, flow, text).
 * Sections are those of the protocol digest. A test mutates a good stream for
 * each of them.
 */
#ifndef NTRACE_CHECK_RULES_H
#define NTRACE_CHECK_RULES_H

#include <ntrace/check.h>

/* clang-format off */
#define NTRACE_CHECK_RULES(RULE)									\
/* framing */												\
RULE(MSEO_RESERVED, "mseo-reserved", "1", ERROR, false,							\
     "inside a message MSEO is 00, 01 or 11, never 10")							\
RULE(MSEO_IDLE, "mseo-idle", "1", ERROR, false,								\
     "between messages MSEO is 11 (idle) or 00 (a message begins)")					\
RULE(IDLE_BYTE, "idle-byte", "1", WARNING, false,							\
     "an idle byte is 0xFF")										\
RULE(MESSAGE_CUT, "message-cut", "1", WARNING, false,							\
     "a stream ends with a whole message")								\
/* layout */												\
RULE(TCODE_RESERVED, "tcode-reserved", "2", ERROR, false,						\
     "TCODE is one of the message table, or 56 to 62 of a vendor")					\
RULE(FIELD_MISSING, "field-missing", "2", ERROR, false,							\
     "a message has all fields of its row in the message table")					\
RULE(FIELD_EXTRA, "field-extra", "2", ERROR, false,							\
     "behind the fields of its row a message has TSTAMP at most")					\
RULE(FIELD_OVERSIZE, "field-oversize", "1", ERROR, false,						\
     "no field but PROCESS and counters in CKDATA0 has more than 64 significant bits")						\
RULE(SRC_UNDECLARED, "src-undeclared", "2", ERROR, false,						\
     "SRC is that of one of the encoders")								\
/* values */												\
RULE(SYNC_RESERVED, "sync-reserved", "3", ERROR, false,							\
     "SYNC is 0 to 7, 9, or 14 and 15 of a vendor")							\
RULE(BTYPE_MIXED, "btype-mixed", "2", ERROR, false,							\
     "an encoder calls all traps BTYPE 1, or tells exceptions (2) from interrupts (3)")			\
RULE(ETYPE_RESERVED, "etype-reserved", "2", ERROR, false,						\
     "ETYPE is 0, or 8 to 15 of a vendor")								\
RULE(ECODE_RESERVED, "ecode-reserved", "2", ERROR, false,						\
     "of ECODE only bits 1, 2, 3, 5 and 7 may be set")							\
RULE(RCODE_RESERVED, "rcode-reserved", "2", ERROR, false,						\
     "RCODE is 0 to 2, or 8 to 15 of a vendor")								\
RULE(EVCODE_RESERVED, "evcode-reserved", "2", ERROR, false,						\
     "EVCODE is 0, 1 or 4, or 8 to 15 of a vendor")							\
RULE(CDF_RESERVED, "cdf-reserved", "2", ERROR, false,							\
     "CDF is 0 or 1")											\
RULE(CKSRC_UNKNOWN, "cksrc-unknown", "14", WARNING, false,						\
     "CKSRC of InCircuitTrace is 0, 8, 9, 12, 14 or 15: what others bring is not known")		\
RULE(CKDF_RESERVED, "ckdf-reserved", "14", ERROR, false,						\
     "CKDF of InCircuitTrace is 0 or 1")								\
RULE(PROCESS_FORMAT, "process-format", "2", ERROR, false,						\
     "FORMAT of PROCESS is 0, 2 or 3")									\
RULE(PROCESS_PRIVILEGE, "process-privilege", "2", ERROR, false,						\
     "V and PRV of PROCESS are 0,0 0,1 0,3 1,0 or 1,1")							\
RULE(PROCESS_CONTEXT, "process-context", "2", ERROR, false,						\
     "PROCESS with FORMAT 0 has no CONTEXT")								\
RULE(ICNT_WIDTH, "icnt-width", "1", ERROR, false,							\
     "I-CNT has at most 22 bits, or as many as were declared")						\
RULE(HIST_STOP_BIT, "hist-stop-bit", "6", ERROR, false,							\
     "HIST has a stop bit: it is never 0")								\
RULE(HIST_WIDTH, "hist-width", "1", ERROR, false,							\
     "HIST has at most 32 bits, the stop bit included")							\
RULE(HIST_EMPTY, "hist-empty", "6", ERROR, false,							\
     "ResourceFull with HIST reports at least one branch")						\
RULE(HREPEAT_ZERO, "hrepeat-zero", "6", ERROR, false,							\
     "HREPEAT counts all occurrences of the pattern: it is never 0")					\
RULE(HREPEAT_WIDTH, "hrepeat-width", "1", ERROR, false,							\
     "HREPEAT has at most 18 bits")									\
RULE(BCNT_ZERO, "bcnt-zero", "7", ERROR, false,								\
     "RepeatBranch repeats at least once")								\
RULE(BCNT_WIDTH, "bcnt-width", "1", ERROR, false,							\
     "B-CNT has at most 18 bits")									\
RULE(ADDRESS_WIDTH, "address-width", "5", ERROR, false,							\
     "F-ADDR and U-ADDR have at most 63 bits in 11 bytes; 31 bits in 6 bytes on RV32")			\
/* synchronization */											\
RULE(START_WITHOUT_SYNC, "start-without-sync", "3", ERROR, false,					\
     "trace begins with a message that has SYNC")							\
RULE(UADDR_REFERENCE, "uaddr-reference", "5", ERROR, false,						\
     "before U-ADDR there is a message with F-ADDR to count from")					\
RULE(SYNC_AFTER_OFF, "sync-after-correlation", "3", ERROR, false,					\
     "behind ProgTraceCorrelation trace goes on with a message that has SYNC")				\
RULE(SYNC_AFTER_ERROR, "sync-after-error", "11", ERROR, false,						\
     "Error stands immediately before a message that has SYNC, or trace ends with it")			\
RULE(ERROR_SYNC_CODE, "error-sync-code", "11", ERROR, false,						\
     "the sync behind Error says FIFO overrun (7), or another start of trace (1, 3, 5, 9)")		\
RULE(OVERRUN_WITHOUT_ERROR, "overrun-without-error", "3", ERROR, false,					\
     "SYNC 7 stands behind an Error message")								\
RULE(RESTART_ICNT, "restart-icnt", "3", ERROR, false,							\
     "where trace starts (SYNC 3, 5, 7) nothing is pending: I-CNT is 0")				\
RULE(DEBUG_ENTRY_MISSING, "debug-entry-missing", "3", ERROR, false,					\
     "before SYNC 3, exit from Debug Mode, ProgTraceCorrelation reported the entry")			\
RULE(SYNC_ICNT_FULL, "sync-icnt-full", "4", ERROR, false,						\
     "SYNC 4 is for BTM; in HTM a full I-CNT is ResourceFull")						\
RULE(PERIODIC_SYNC, "periodic-sync", "3", INFO, false,							\
     "the longest interval of periodic synchronization is 2^19 messages")				\
RULE(OWNERSHIP_MISSING, "ownership-missing", "3", WARNING, false,					\
     "with trTeContext an Ownership message follows every message that has SYNC")			\
RULE(OWNERSHIP_ORDER, "ownership-order", "3", ERROR, false,						\
     "behind a sync hcontext (FORMAT 3) comes before scontext (FORMAT 2)")				\
/* state */												\
RULE(MODE_MIXED, "mode-mixed", "2", ERROR, false,							\
     "BTM has DirectBranch and no HIST, HTM the other way; the mode changes while trace is off")	\
RULE(TRANSFER_ICNT, "transfer-icnt", "4", ERROR, false,							\
     "I-CNT counts the instruction that transferred control: it is not 0 there")			\
RULE(HIST_EXCEEDS_ICNT, "hist-exceeds-icnt", "4", ERROR, false,						\
     "every branch of HIST is counted in I-CNT")							\
RULE(REPEAT_WITHOUT_BRANCH, "repeat-without-branch", "7", ERROR, false,					\
     "RepeatBranch stands behind a branch message that has no SYNC")					\
/* time */												\
RULE(TSTAMP_SYNC_MISSING, "tstamp-sync-missing", "10", ERROR, false,					\
     "where there are time stamps every message with SYNC has an absolute one")				\
RULE(TSTAMP_REFERENCE, "tstamp-reference", "10", ERROR, false,						\
     "before a relative TSTAMP there is an absolute one")						\
RULE(TSTAMP_WIDTH, "tstamp-width", "10", ERROR, false,							\
     "TSTAMP has no more bits than trTsWidth")								\
RULE(TSTAMP_BACKWARDS, "tstamp-backwards", "10", ERROR, false,						\
     "an absolute TSTAMP is not before the last one, but after a reset")				\
/* the code */												\
RULE(FLOW_SPLIT, "flow-icnt-split", "4", ERROR, true,							\
     "I-CNT ends at the end of an instruction")								\
RULE(FLOW_INDIRECT, "flow-indirect", "7", ERROR, true,							\
     "I-CNT goes past an indirect transfer only if its target can be inferred")				\
RULE(FLOW_HISTORY, "flow-hist-left", "7", ERROR, true,							\
     "HIST has a bit for each branch that was executed, and no other")					\
RULE(FLOW_NO_HISTORY, "flow-hist-missing", "7", ERROR, true,						\
     "in HTM every branch that was executed has a bit")							\
RULE(FLOW_ICNT, "flow-icnt-short", "7", ERROR, true,							\
     "I-CNT covers the instructions that HIST led through")						\
RULE(FLOW_ADDRESS, "flow-address", "3", ERROR, true,							\
     "F-ADDR of a sync on running code is where the code leads")					\
RULE(FLOW_TRANSFER, "flow-transfer", "7", ERROR, true,							\
     "DirectBranch reports a branch or direct jump; other messages a jump that retired")		\
RULE(FLOW_CUSTOM, "flow-custom-transfer", "7", WARNING, true,						\
     "the instruction before a reported address can transfer control, if it is not a custom one")	\
RULE(FLOW_BADINSN, "flow-no-instruction", "7", ERROR, true,						\
     "what was executed is an instruction")								\
RULE(FLOW_NOMAP, "flow-no-memory", "7", INFO, true,							\
     "what was executed lies in the programs that were given")						\
RULE(FLOW_SOURCE, "flow-source-limit", "2", INFO, true,							\
     "the code is followed for the first 64 SRC: of this one only the messages are judged")		\
RULE(FLOW_ENDLESS, "flow-endless", "7", ERROR, true,							\
     "a loop that was executed has branches or transfers that are reported")				\
RULE(FLOW_EXCESS, "flow-excess", "7", ERROR, true,							\
     "I-CNT, HIST, HREPEAT and B-CNT stand for no more code than a hart can execute")			\
RULE(FLOW_TAIL, "flow-tail", "7", WARNING, true,							\
     "the stream tells where every branch that retired went, before it ends")
/* clang-format on */

enum check_rule {
#define RULE(name, id, section, severity, flow, text) RULE_##name,
	NTRACE_CHECK_RULES(RULE)
#undef RULE
		RULE_COUNT,
};

#endif /* NTRACE_CHECK_RULES_H */
