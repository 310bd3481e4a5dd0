/* SPDX-License-Identifier: GPL-2.0-only */
/* ntrace ctr trace: setup in the kernel. */
#ifndef NTRACE_TOOL_CTR_TRACE_BPF_H
#define NTRACE_TOOL_CTR_TRACE_BPF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace.h"

/* More functions than anyone would read the output of. */
#define CTR_TRACE_FUNCTIONS 512

/**
 * struct ctr_trace_request - functions and hits to trace
 * @patterns: names of functions, with wildcards * and ?
 * @count: number of @patterns
 * @at_entry: show entries of functions
 * @at_return: show returns
 * @user: record user mode too
 * @config: constants of the BPF programs
 */
struct ctr_trace_request {
	char **patterns;
	int count;
	bool at_entry;
	bool at_return;
	bool user;
	struct ctr_trace_config config;
};

/* Kinds of return values. */
enum ctr_trace_value {
	CTR_TRACE_VOID,
	CTR_TRACE_POINTER,
	CTR_TRACE_SIGNED,
	CTR_TRACE_UNSIGNED,
};

/**
 * struct ctr_trace_function - a function to trace
 * @name: name in BTF
 * @module: "" for the kernel itself
 * @btf: id of the BTF object that describes it, 0 for the kernel's
 * @id: type id of the function in that BTF object
 * @value: kind of the return value
 * @bits: size of the return value
 * @named: given by its full name, not by a pattern
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
 * Return: EXIT_OK, or EXIT_FAILED after an error message.
 */
int ctr_trace_prepare(struct ctr_trace **trace, const struct ctr_trace_request *request);

/** ctr_trace_start - attach the programs to the functions. Return: as ctr_trace_prepare() */
int ctr_trace_start(struct ctr_trace *trace, const struct ctr_trace_request *request);

/** ctr_trace_stop - detach and unload everything; NULL is allowed */
void ctr_trace_stop(struct ctr_trace *trace);

/**
 * ctr_trace_poll - call back for each hit; stops when that returns non-zero
 * @timeout: milliseconds to wait for the first hit
 *
 * Return: 0, what @hit returned, or a negative errno.
 */
int ctr_trace_poll(struct ctr_trace *trace, int timeout);

/**
 * ctr_trace_on_hit - set the callback, before the first poll; a hit may be shorter than the struct,
 * see CTR_TRACE_HEAD
 */
void ctr_trace_on_hit(struct ctr_trace *trace,
		      int (*hit)(void *data, const struct ctr_trace_hit *hit), void *data);

/**
 * ctr_trace_functions - number of matching functions; @barred: set to the number of those that
 * cannot be traced
 */
size_t ctr_trace_functions(const struct ctr_trace *trace, size_t *barred);
const struct ctr_trace_function *ctr_trace_function(const struct ctr_trace *trace, size_t index);

/** ctr_trace_cpus - number of CPUs that record */
size_t ctr_trace_cpus(const struct ctr_trace *trace);

/** ctr_trace_own - tell whether @address is in one of the BPF programs */
bool ctr_trace_own(const struct ctr_trace *trace, uint64_t address);

/** ctr_trace_lost - number of hits that were not delivered */
uint64_t ctr_trace_lost(const struct ctr_trace *trace);

#endif /* NTRACE_TOOL_CTR_TRACE_BPF_H */
