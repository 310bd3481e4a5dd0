/* SPDX-License-Identifier: GPL-2.0-only */
/* Decoded events as text or JSON, at the levels of `ntrace decode`. */
#ifndef NTRACE_TOOL_STREAM_DECODE_PRINTER_H
#define NTRACE_TOOL_STREAM_DECODE_PRINTER_H

#include "printer_state.h"

/** printer_event - write one event; the callback of a session. Return: 0, or 1 if output failed */
int printer_event(void *printer, const struct ntrace_session_event *event);

/** printer_end - a stream has ended: write what waits. Before printer_warnings() */
void printer_end(struct printer *printer);

/** printer_warnings - one line on stderr for each kind of warning */
void printer_warnings(const struct printer *printer);

#endif /* NTRACE_TOOL_STREAM_DECODE_PRINTER_H */
