/* SPDX-License-Identifier: GPL-2.0-only */
/* Names of places, and control transfers between them. */
#ifndef NTRACE_TOOL_PROFILE_PLACE_H
#define NTRACE_TOOL_PROFILE_PLACE_H

#include <stdbool.h>
#include <stdint.h>

#include <ntrace/flow.h>
#include <ntrace/image.h>

/** place_same_function - true if both are in the same function of the same object */
bool place_same_function(const struct ntrace_location *a, const struct ntrace_location *b);

/**
 * place_is_called - whether @name, as typed by a user, means @symbol
 * 
 * Matches the symbol or its demangled form, with or without parameters or kernel module.
 */
bool place_is_called(const char *symbol, const char *name);

/**
 * struct transfer - one control transfer
 * @from: the instruction that transferred control
 * @to: the next instruction
 * @insn_class: enum ntrace_insn_class of the instruction at @from
 */
struct transfer {
	uint64_t from;
	uint64_t to;
	uint8_t insn_class;
};

/**
 * struct transfer_tracker - finds the targets of taken transfers
 *
 * The target of the transfer at the end of a block may be known only from the next event.
 */
struct transfer_tracker {
	bool pending;
	struct transfer transfer;
};

/**
 * transfer_resolve - complete a pending transfer with this event
 *
 * Call it first, for every event. Return: true if @transfer was filled.
 */
bool transfer_resolve(struct transfer_tracker *tracker, const struct ntrace_flow_event *event,
		      struct transfer *transfer);

/** transfer_start - whether this event ends with a transfer to a known target; call it second */
bool transfer_start(struct transfer_tracker *tracker, const struct ntrace_flow_event *event,
		    struct transfer *transfer);

#endif /* NTRACE_TOOL_PROFILE_PLACE_H */
