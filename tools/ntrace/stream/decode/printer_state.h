/* SPDX-License-Identifier: GPL-2.0-only */
/* The state that the text printer and the JSON printer share. */
#ifndef NTRACE_TOOL_STREAM_DECODE_PRINTER_STATE_H
#define NTRACE_TOOL_STREAM_DECODE_PRINTER_STATE_H

#include <ntrace/session.h>
#include <ntrace/transfer.h>

#include "common/output.h"
#include "instruction_text.h"
#include "itc.h"

enum printer_level {
	LEVEL_BLOCK,
	LEVEL_INSTRUCTION,
	LEVEL_PC,
	LEVEL_BRANCH,
	LEVEL_ITC,
};

#define WARNING_KINDS 32

/**
 * struct printer - state
 * @attributed: events come from a session: CPU, process and privilege are known
 * @json: write JSON lines
 * @timed: a timestamp occurred
 * @src: SRC of the events, -1 = not shown
 * @address_digits: hexadecimal digits of addresses in columns
 * @transfers: tracker of the current stream or SRC
 * @text: names and lines of instructions
 * @itc: LEVEL_ITC: incomplete lines
 * @gaps, @errors: number of events of these types
 * @warnings: number per enum ntrace_flow_error
 * @source: prefix of lines on stderr, "stream 0" or a file name
 */
struct printer {
	struct output *output;
	struct ntrace_locator *places;
	enum printer_level level;
	bool attributed;
	bool json;
	bool timed;
	int src;
	unsigned int address_digits;
	const char *source;
	uint64_t gaps;
	uint64_t errors;
	uint64_t warnings[WARNING_KINDS];
	struct ntrace_transfer_tracker *transfers;
	struct instruction_text text;
	struct itc itc;
	struct ntrace_session_event current;
};

#endif /* NTRACE_TOOL_STREAM_DECODE_PRINTER_STATE_H */
