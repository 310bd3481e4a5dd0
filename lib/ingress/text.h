/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The words of an ingress file (Documentation/trace/ingress-file.md) as one list, in the order
 * within a line.
 *
 *  LEVEL(field, HEX|DECIMAL|BIT)   keeps its value in the lines that follow
 *  VALUE(field, HEX|DECIMAL)       0 if the line lacks it
 *  PULSE(field)                    present or not
 *
 * and those at the end of the first line of version 3, each optional:
 *
 *  WIDTH(field, most)              @field_bits of struct ntrace_ingress_port, at most @most
 */
#ifndef NTRACE_INGRESS_TEXT_H
#define NTRACE_INGRESS_TEXT_H

#include <ntrace/ingress.h>

/* clang-format off */
#define NTRACE_INGRESS_WORDS(LEVEL, VALUE, PULSE)	\
	VALUE(idle, DECIMAL)				\
	LEVEL(time, DECIMAL)				\
	LEVEL(priv, DECIMAL)				\
	LEVEL(halted, BIT)				\
	LEVEL(reset, BIT)				\
	LEVEL(scontext, HEX)				\
	LEVEL(hcontext, HEX)				\
	VALUE(ctype, DECIMAL)				\
	VALUE(cause, HEX)				\
	VALUE(tval, HEX)				\
	PULSE(trace_on)					\
	PULSE(trace_off)				\
	PULSE(external)					\
	VALUE(notify, HEX)				\
	VALUE(impdef, HEX)

#define NTRACE_INGRESS_WIDTHS(WIDTH)			\
	WIDTH(priv, 3)					\
	WIDTH(ctype, 2)					\
	WIDTH(cause, 64)				\
	WIDTH(iaddr, 64)				\
	WIDTH(scontext, 64)				\
	WIDTH(hcontext, 64)				\
	WIDTH(impdef, 64)
/* clang-format on */

#endif /* NTRACE_INGRESS_TEXT_H */
