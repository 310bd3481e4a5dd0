/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * How the page of a block answers on the bus, apart from the values of its registers. The glue asks
 * before each access of software, and passes each value that software reads from tr??Control. This
 * file depends on no emulator.
 */
#ifndef VSOC_MODEL_BUS_H
#define VSOC_MODEL_BUS_H

#include <stdbool.h>
#include <stdint.h>

/**
 * struct bus_parameters - what the specification leaves to the implementation
 * @holes_fail: accesses to registers that the block does not have are bus errors, unless software can find out about them in no other
 *              way; else these read 0 and ignore writes
 * @inactive_fails: so are accesses to all registers but tr??Control while Active is 0
 * @own_hart: so are accesses of other harts than the block's own
 * @polls: number of reads of tr??Control that still return the old values of Active, Enable and
 *         Empty after these have changed
 */
struct bus_parameters {
	bool holes_fail;
	bool inactive_fails;
	bool own_hart;
	unsigned int polls;
};

/**
 * struct bus - state of a page
 * @shown: Active, Enable and Empty, as software has read them
 * @left: number of reads that still return @shown
 */
struct bus {
	uint32_t shown;
	unsigned int left;
};

/**
 * bus_answers - whether an access is no bus error
 * @exists: the block has a register at @offset
 * @active: its Active is 1
 * @own: the hart of the block accesses it, or the block has none
 *
 * The registers from FAULT_REGISTER on, which stand for what is not software, always answer.
 */
bool bus_answers(const struct bus_parameters *parameters, uint32_t offset, bool exists, bool active,
		 bool own);

/** bus_control - the value that software reads from tr??Control when it is @value */
uint32_t bus_control(struct bus *bus, const struct bus_parameters *parameters, uint32_t value);

#endif /* VSOC_MODEL_BUS_H */
