/* SPDX-License-Identifier: GPL-2.0-only */
/* Names of places, and the transfers between them. */
#ifndef NTRACE_TOOL_PROFILE_PLACE_H
#define NTRACE_TOOL_PROFILE_PLACE_H

#include <stdbool.h>
#include <stdint.h>

#include <ntrace/flow.h>
#include <ntrace/image.h>

/** place_same_function - both lie in the same function of the same object */
bool place_same_function(const struct ntrace_location *a, const struct ntrace_location *b);

/**
 * place_is_called - a person means @symbol by @name: as it is, or demangled, with its parameters or its
 * kernel module or not
 */
bool place_is_called(const char *symbol, const char *name);

/**
 * struct transfer - control went from one address to another
 * @from: the instruction that transferred it
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
 * A block may end with a transfer whose target only the next event tells.
 */
struct transfer_tracker {
	bool pending;
	struct transfer transfer;
};

/**
 * transfer_resolve - does this event tell where the last transfer went?
 *
 * Call it first for every event. Return: true if @transfer was filled.
 */
bool transfer_resolve(struct transfer_tracker *tracker, const struct ntrace_flow_event *event,
		      struct transfer *transfer);

/** transfer_start - does this event transfer control to a known target? Call it second. */
bool transfer_start(struct transfer_tracker *tracker, const struct ntrace_flow_event *event,
		    struct transfer *transfer);

#endif /* NTRACE_TOOL_PROFILE_PLACE_H */
