/* SPDX-License-Identifier: GPL-2.0-only */
/* Reports of a verification: differences with what led to them, and which rules were judged. */
#ifndef NTRACE_TOOL_TANDEM_REPORT_H
#define NTRACE_TOOL_TANDEM_REPORT_H

#include <ntrace/lines.h>

#include "tandem.h"

#define REPORT_CHANGES_MAX 8

struct report_change {
	uint16_t id;
	uint64_t value;
};

/**
 * struct report_passed - one of the last groups
 * @changes: registers that it changed, the first of them
 * @change_count: all of them, which may be more
 */
struct report_passed {
	uint64_t group, offset, pc, insn;
	unsigned int insn_bytes;
	unsigned int change_count;
	struct report_change changes[REPORT_CHANGES_MAX];
};

/**
 * struct report - a report
 * @groups: groups that have passed
 * @passed: ring of the last of them, with the current one
 * @reg: registers before the current group, and @known: those that the trace has told
 * @pending: what the current group changed, @pending_count
 * @object: the program, or NULL
 * @lines: its source lines, or NULL
 */
struct report {
	const struct tandem_options *options;
	uint64_t groups;
	struct report_passed *passed;
	uint64_t reg[NTRACE_TANDEM_STATE_REGISTERS];
	uint64_t known[NTRACE_TANDEM_BITMAP_WORDS];
	struct report_change pending[NTRACE_TANDEM_STATE_REGISTERS];
	unsigned int pending_count;
	struct ntrace_object *object;
	struct ntrace_lines *lines;
};

/** report_open - begin. Return: EXIT_OK, or EXIT_FAILED after an error message */
int report_open(struct report *report, const struct tandem_options *options);

void report_close(struct report *report);

/** report_group - a group ended; its differences follow */
void report_group(struct report *report, const struct ntrace_tandem_state *state);

/** report_mismatch - print a difference; @first: of its group */
void report_mismatch(struct report *report, const struct ntrace_tandem_mismatch *mismatch,
		     bool first);

/** report_totals - print the counts, and the rules; @builtin: the model of the library, or NULL */
void report_totals(struct report *report, const struct ntrace_tandem_verifier *verifier,
		   const struct ntrace_tandem_builtin *builtin);

#endif /* NTRACE_TOOL_TANDEM_REPORT_H */
