/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Filters and comparators of an encoder (Trace Control Interface 1.0,
 * trTeFilter and trTeComp registers). This file depends on no emulator.
 */
#ifndef VSOC_MODEL_FILTERS_H
#define VSOC_MODEL_FILTERS_H

#include <ntrace/trace_control.h>

#include <ntrace/ingress.h>

/**
 * struct filters - the registers, and the state that follows the hart
 * @count: number of filters, 1..TR_TE_FILTER_MAX
 * @comparators: number of comparators, 0..TR_TE_COMPARATOR_MAX
 * @contexts: comparators can compare the context
 * @selected: trTeInstFilters
 * @depth: per filter: number of nested traps from the one that matched on,
 *         saturating; 0: no trap has matched. A trap return decrements it
 * @latch: per comparator: latch of mode 3
 *
 * A filter can match privilege, ecause, interrupt and up to three comparators;
 * a comparator's inputs are iaddr and context. Fields of the specification's
 * other inputs (tval, data, implementation-defined values) read 0. Comparators
 * look at the first instruction of a block.
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

/* trTeInstFilters, and the registers from TR_TE_FILTER_BASE on */
void filters_reset(struct filters *filters);
uint32_t filters_read(const struct filters *filters, uint32_t offset);
void filters_write(struct filters *filters, uint32_t offset, uint32_t value);

/**
 * filters_privileges - whether the filters depend on privilege alone
 * @mask: set to the privileges that are traced
 *
 * Return: false if the caller must call filters_match() for each block.
 */
bool filters_privileges(const struct filters *filters, uint32_t *mask);

/* Result of filters_match(): a comparator asks for a sync message. */
#define FILTERS_NOTIFY 2

/**
 * filters_match - decide whether a block is traced; to be called for each
 * block, in order
 * @cause: cause of the trap, if the block ends in one
 * Return: 1 if the block is traced, else 0, plus FILTERS_NOTIFY if a sync
 * message (SYNC 6) precedes it.
 */
unsigned int filters_match(struct filters *filters, const struct ntrace_ingress *block,
			   uint64_t cause, uint64_t context);

#endif /* VSOC_MODEL_FILTERS_H */
