/* SPDX-License-Identifier: GPL-2.0-only */
/* Decoded events as text or JSON, at the levels of `ntrace decode`. */
#ifndef NTRACE_TOOL_STREAM_DECODE_PRINTER_H
#define NTRACE_TOOL_STREAM_DECODE_PRINTER_H

#include <ntrace/session.h>

#include "common/output.h"
#include "instruction_text.h"
#include "itc.h"
#include "profile/place.h"

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
 * @json: one JSON object a line
 * @timed: there was a time stamp
 * @src: SRC that events are of, -1 = not told
 * @address_digits: hexadecimal digits of a column of addresses
 * @transfers: of the stream or SRC that events are of
 * @text: names and lines of instructions
 * @itc: LEVEL_ITC: lines in progress
 * @gaps, @errors: events of these types so far
 * @warnings: per enum ntrace_flow_error
 * @source: start of the lines on stderr, "stream 0" or a file name
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
	struct transfer_tracker *transfers;
	struct instruction_text text;
	struct itc itc;
	struct ntrace_session_event current;
};

/** printer_event - write one event; the callback of a session. Return: 0, or 1 if output failed */
int printer_event(void *printer, const struct ntrace_session_event *event);

/** printer_json - one event at its level as JSON; what printer_event() does with @json */
void printer_json(struct printer *printer, const struct ntrace_flow_event *event);

/** printer_end - a stream has ended: write what waits. Before printer_warnings() */
void printer_end(struct printer *printer);

/** printer_detail - what the code of an event that is no block says, "" if nothing */
const char *printer_detail(const struct ntrace_flow_event *event);

/** printer_has_place - true if the address of an event that is no block is known */
bool printer_has_place(const struct ntrace_flow_event *event);

/** printer_warnings - one line on stderr for each kind of warning */
void printer_warnings(const struct printer *printer);

/** privilege_name - "U", "S", "M", "VU", "VS" or "?" */
const char *privilege_name(unsigned int privilege);

#endif /* NTRACE_TOOL_STREAM_DECODE_PRINTER_H */
