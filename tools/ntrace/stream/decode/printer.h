/* SPDX-License-Identifier: GPL-2.0-only */
/* Decoded events as text or JSON, at the levels of `ntrace decode`. */
#ifndef NTRACE_TOOL_STREAM_DECODE_PRINTER_H
#define NTRACE_TOOL_STREAM_DECODE_PRINTER_H

#include "printer_state.h"

/** printer_event - write one event; a callback for sessions. Return: 0, or 1 if output failed */
int printer_event(void *printer, const struct ntrace_session_event *event);

/** printer_end - end of a stream: write incomplete lines. Call it before printer_warnings() */
void printer_end(struct printer *printer);

/** printer_warnings - print a line on stderr for each kind of warning */
void printer_warnings(const struct printer *printer);

#endif /* NTRACE_TOOL_STREAM_DECODE_PRINTER_H */
