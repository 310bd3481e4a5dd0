/* SPDX-License-Identifier: GPL-2.0-only */
/* Tracepoints of the driver. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM ntrace

#if !defined(NTRACE_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define NTRACE_TRACE_H

#include <linux/tracepoint.h>

/*
 * The drain reads the memory of a sink, with interrupts off. Found: bytes that were waiting;
 * copies: how often the bytes are read.
 */
/* clang-format off */
TRACE_EVENT(ntrace_drain,
	TP_PROTO(const char *sink, u32 found, u32 bytes, u32 copies),

	TP_ARGS(sink, found, bytes, copies),

	TP_STRUCT__entry(
		__string(sink, sink)
		__field(u32, found)
		__field(u32, bytes)
		__field(u32, copies)
	),

	TP_fast_assign(
		__assign_str(sink);
		__entry->found = found;
		__entry->bytes = bytes;
		__entry->copies = copies;
	),

	TP_printk("%s found=%u bytes=%u copies=%u", __get_str(sink), __entry->found,
		  __entry->bytes, __entry->copies)
);
/* clang-format on */

#endif /* NTRACE_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
