/* SPDX-License-Identifier: GPL-2.0-only */
/* ntrace ctr trace: functions in the BTF of the running kernel and its modules. */
#ifndef NTRACE_TOOL_CTR_TRACE_FIND_H
#define NTRACE_TOOL_CTR_TRACE_FIND_H

#include <stddef.h>

#include "trace_bpf.h"

/**
 * struct ctr_trace_found - matching functions
 * @snapshot: id of the BTF object of riscv_ctr, which has the function that reads the ring
 */
struct ctr_trace_found {
	struct ctr_trace_function *function;
	size_t count;
	uint32_t snapshot;
};

/**
 * ctr_trace_find - find the functions that the patterns match
 *
 * Return: EXIT_OK, or EXIT_FAILED after an error message. In both cases the caller calls
 * ctr_trace_found_free().
 */
int ctr_trace_find(struct ctr_trace_found *found, const struct ctr_trace_request *request);
void ctr_trace_found_free(struct ctr_trace_found *found);

#endif /* NTRACE_TOOL_CTR_TRACE_FIND_H */
