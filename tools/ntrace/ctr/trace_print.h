/* SPDX-License-Identifier: GPL-2.0-only */
/* ntrace ctr trace: prints hits as text or JSON. */
#ifndef NTRACE_TOOL_CTR_TRACE_PRINT_H
#define NTRACE_TOOL_CTR_TRACE_PRINT_H

#include <stdbool.h>

#include "common/kernel_symbols.h"
#include "common/output.h"
#include "trace_bpf.h"

/**
 * struct ctr_trace_printer - how to print hits
 * @entries: maximum number of transfers of a hit
 * @raw: do not remove transfers of probes
 * @json: one JSON object a line
 */
struct ctr_trace_printer {
	struct output *output;
	const struct ctr_trace *trace;
	const struct kernel_symbols *symbols;
	unsigned int entries;
	bool raw;
	bool json;
};

void ctr_trace_print(const struct ctr_trace_printer *printer, const struct ctr_trace_hit *hit);

#endif /* NTRACE_TOOL_CTR_TRACE_PRINT_H */
