/* SPDX-License-Identifier: GPL-2.0-only */
/* Decoded events as JSON lines. */
#ifndef NTRACE_TOOL_STREAM_DECODE_PRINTER_JSON_H
#define NTRACE_TOOL_STREAM_DECODE_PRINTER_JSON_H

#include "printer_state.h"

/** printer_json - write one event as JSON; printer_event() calls it if printer->json is set */
void printer_json(struct printer *printer, const struct ntrace_flow_event *event);

#endif /* NTRACE_TOOL_STREAM_DECODE_PRINTER_JSON_H */
