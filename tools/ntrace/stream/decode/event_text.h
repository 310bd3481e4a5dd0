/* SPDX-License-Identifier: GPL-2.0-only */
/* Words and properties of decoded events that text and JSON share. */
#ifndef NTRACE_TOOL_STREAM_DECODE_EVENT_TEXT_H
#define NTRACE_TOOL_STREAM_DECODE_EVENT_TEXT_H

#include <stdbool.h>

#include <ntrace/encode.h>
#include <ntrace/flow.h>

/** event_code_field - the message field that the event's code is a value of, or NTRACE_FIELD_COUNT */
enum ntrace_field event_code_field(const struct ntrace_flow_event *event);

/** event_detail - the meaning of the event's code, or ""; not for blocks */
const char *event_detail(const struct ntrace_flow_event *event);

/** event_has_address - true if the event's address is valid; not for blocks */
bool event_has_address(const struct ntrace_flow_event *event);

#endif /* NTRACE_TOOL_STREAM_DECODE_EVENT_TEXT_H */
