/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Filters and comparators of an encoder (digest trace-control.md section 8).
 * Knows no emulator.
 */
#ifndef VSOC_MODEL_FILTERS_H
#define VSOC_MODEL_FILTERS_H

#include <ntrace/trace_control.h>

#include <ntrace/ingress.h>

/**
 * struct filters - registers, and what they have seen of the hart
 * @count: filters that are there, 1..TR_TE_FILTER_MAX
 * @comparators: comparators that are there, 0..TR_TE_COMPARATOR_MAX
 * @contexts: comparators may look at the context
 * @selected: trTeInstFilters
 * @depth: per filter: traps since, and with, the one that matched; 0: none has.
 *         A trap return takes one off; it saturates
 * @latch: per comparator, for mode 3
 *
 * A filter can match privilege, ecause, interrupt and up to three comparators; a
 * comparator's inputs are iaddr and context. Nothing else of section 8: tval,
 * data, implementation-defined values; those fields read 0. A block counts as
 * its first instruction.
 */
struct filters {
	unsigned int count;
	unsigned int comparators;
	bool contexts;
	uint32_t selected;
	struct {
		uint32_t control;
		uint32_t match_inst;
		uint64_t ecause;
		uint8_t depth;
	} filter[TR_TE_FILTER_MAX];
	struct {
		uint32_t control;
		uint64_t p;
		uint64_t s;
		bool latch;
		bool release;
	} comparator[TR_TE_COMPARATOR_MAX];
};

/* Registers from TR_TE_FILTER_BASE on, and trTeInstFilters */
void filters_reset(struct filters *filters);
uint32_t filters_read(const struct filters *filters, uint32_t offset);
void filters_write(struct filters *filters, uint32_t offset, uint32_t value);

/**
 * filters_privileges - can privilege alone decide?
 * @mask: the privileges that are traced
 *
 * Return: false if each block must be shown to filters_match().
 */
bool filters_privileges(const struct filters *filters, uint32_t *mask);

/* What a comparator asks for beside filtering. */
#define FILTERS_NOTIFY 2

/**
 * filters_match - is a block traced? Each block must be shown, in order.
 * @cause: of a trap
 * Return: 0 or 1, and FILTERS_NOTIFY for a sync message (SYNC 6) before it.
 */
unsigned int filters_match(struct filters *filters, const struct ntrace_ingress *block,
			   uint64_t cause, uint64_t context);

#endif /* VSOC_MODEL_FILTERS_H */
