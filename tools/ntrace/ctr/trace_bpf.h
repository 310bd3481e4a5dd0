/* SPDX-License-Identifier: GPL-2.0-only */
/* ntrace ctr trace: setup in the kernel. */
#ifndef NTRACE_TOOL_CTR_TRACE_BPF_H
#define NTRACE_TOOL_CTR_TRACE_BPF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace.h"

/* More than these are no question that somebody reads the answer to. */
#define CTR_TRACE_FUNCTIONS 512

/**
 * struct ctr_trace_request - functions and hits to trace
 * @patterns: names of functions, with wildcards * and ?
 * @count: number of @patterns
 * @at_entry: show entries of functions
 * @at_return: show returns
 * @user: record user mode too
 * @config: for the BPF programs
 */
struct ctr_trace_request {
	char **patterns;
	int count;
	bool at_entry;
	bool at_return;
	bool user;
	struct ctr_trace_config config;
};

/* What a function returns. */
enum ctr_trace_value {
	CTR_TRACE_VOID,
	CTR_TRACE_POINTER,
	CTR_TRACE_SIGNED,
	CTR_TRACE_UNSIGNED,
};

/**
 * struct ctr_trace_function - a function that is traced
 * @name: as BTF has it
 * @module: "" for the kernel itself
 * @btf: id of the BTF object that describes it, 0 for the kernel's
 * @id: of the function in there
 * @value: kind of what it returns
 * @bits: its size
 * @named: asked for by its name, and not by a pattern
 */
struct ctr_trace_function {
	char *name;
	char *module;
	uint32_t btf;
	uint32_t id;
	enum ctr_trace_value value;
	unsigned int bits;
	bool named;
};

struct ctr_trace;

/**
 * ctr_trace_prepare - record on all CPUs, find the functions, load the programs
 *
 * Return: EXIT_OK, or EXIT_FAILED after a complaint.
 */
int ctr_trace_prepare(struct ctr_trace **trace, const struct ctr_trace_request *request);

/** ctr_trace_start - run the programs at the functions. Return: as ctr_trace_prepare() */
int ctr_trace_start(struct ctr_trace *trace, const struct ctr_trace_request *request);

/** ctr_trace_stop - nothing of it is left in the kernel; NULL is allowed */
void ctr_trace_stop(struct ctr_trace *trace);

/**
 * ctr_trace_poll - call back for each hit; stops when that returns non-zero
 * @timeout: milliseconds to wait if there is none
 *
 * Return: 0, what @hit returned, or a negative errno.
 */
int ctr_trace_poll(struct ctr_trace *trace, int timeout);

/** ctr_trace_on_hit - before the first poll; hits may be shorter, see CTR_TRACE_HEAD */
void ctr_trace_on_hit(struct ctr_trace *trace,
		      int (*hit)(void *data, const struct ctr_trace_hit *hit), void *data);

/** ctr_trace_functions - those that match; @barred: of these, those that cannot be traced */
size_t ctr_trace_functions(const struct ctr_trace *trace, size_t *barred);
const struct ctr_trace_function *ctr_trace_function(const struct ctr_trace *trace, size_t index);

/** ctr_trace_cpus - number of CPUs that are recorded */
size_t ctr_trace_cpus(const struct ctr_trace *trace);

/** ctr_trace_own - @address lies in one of our programs */
bool ctr_trace_own(const struct ctr_trace *trace, uint64_t address);

/** ctr_trace_lost - hits that were not handed over */
uint64_t ctr_trace_lost(const struct ctr_trace *trace);

#endif /* NTRACE_TOOL_CTR_TRACE_BPF_H */
