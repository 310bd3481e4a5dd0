// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Names of what the flow reports. */
#include <ntrace/flow.h>

const char *ntrace_flow_error_text(unsigned int error)
{
	static const char *const texts[] = {
		[NTRACE_FLOW_ERROR_NONE] = "no error",
		[NTRACE_FLOW_ERROR_WIRE] = "reserved MSEO code",
		[NTRACE_FLOW_ERROR_MESSAGE] = "malformed message",
		[NTRACE_FLOW_ERROR_LOST] = "the encoder lost trace",
		[NTRACE_FLOW_ERROR_NOMAP] = "no memory is known at this address",
		[NTRACE_FLOW_ERROR_BADINSN] = "no valid instruction at this address",
		[NTRACE_FLOW_ERROR_SPLIT] = "I-CNT ends inside an instruction",
		[NTRACE_FLOW_ERROR_INDIRECT] =
			"I-CNT goes on behind a transfer with unknown target",
		[NTRACE_FLOW_ERROR_HISTORY] = "HIST does not fit the code",
		[NTRACE_FLOW_ERROR_NO_HISTORY] = "branch without a HIST bit",
		[NTRACE_FLOW_ERROR_ICNT] = "I-CNT is smaller than what HIST needed",
		[NTRACE_FLOW_ERROR_REPEAT] = "RepeatBranch without a branch to repeat",
		[NTRACE_FLOW_ERROR_ADDRESS] = "F-ADDR contradicts the flow",
		[NTRACE_FLOW_ERROR_UNCERTAIN] = "code that changed while it was traced",
		[NTRACE_FLOW_ERROR_UNKNOWN] = "unknown message",
		[NTRACE_FLOW_ERROR_CUT] = "the stream ends inside a message",
		[NTRACE_FLOW_ERROR_ENDLESS] = "endless loop without HIST or I-CNT",
		[NTRACE_FLOW_ERROR_TRANSFER] = "transfer reported where the code has none",
	};

	return error < sizeof(texts) / sizeof(texts[0]) ? texts[error] : "unknown error";
}

const char *ntrace_flow_type_name(unsigned int type)
{
	static const char *const names[] = {
		[NTRACE_FLOW_BLOCK] = "block",
		[NTRACE_FLOW_SYNC] = "sync",
		[NTRACE_FLOW_TRAP] = "trap",
		[NTRACE_FLOW_TRACE_OFF] = "trace off",
		[NTRACE_FLOW_OWNERSHIP] = "ownership",
		[NTRACE_FLOW_ERROR] = "error",
		[NTRACE_FLOW_GAP] = "gap",
		[NTRACE_FLOW_WARNING] = "warning",
	};

	return type < sizeof(names) / sizeof(names[0]) ? names[type] : "?";
}
