/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Control transfers of a flow, each with its source and its target.
 *
 * A block says how it ends. The target of a return or an indirect jump may be known only from the
 * next event; a tracker keeps the transfer until then.
 */
#ifndef NTRACE_TRANSFER_H
#define NTRACE_TRANSFER_H

#include <ntrace/flow.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * struct ntrace_transfer - one transfer that was taken
 * @from: address of the instruction that transferred control
 * @to: address of the next instruction
 * @insn_class: enum ntrace_insn_class of the instruction at @from
 * @reserved: 0
 */
struct ntrace_transfer {
	uint64_t from;
	uint64_t to;
	uint8_t insn_class;
	uint8_t reserved[7];
};

/**
 * struct ntrace_transfer_tracker - state between two events of one stream
 * @transfer: the transfer without its target, if @pending
 * @pending: a transfer waits for its target; set it to false between two streams
 * @reserved: 0
 *
 * All zeros at the beginning.
 */
struct ntrace_transfer_tracker {
	struct ntrace_transfer transfer;
	bool pending;
	uint8_t reserved[7];
};

/**
 * ntrace_transfer_resolve - complete a pending transfer with this event
 * @tracker: state of this stream; all zeros at the beginning
 * @event: the next event
 * @transfer: filled in if the result is true
 *
 * Call it for every event, before ntrace_transfer_start().
 *
 * Return: whether a transfer is complete.
 */
NTRACE_EXPERIMENTAL bool ntrace_transfer_resolve(struct ntrace_transfer_tracker *tracker,
						 const struct ntrace_flow_event *event,
						 struct ntrace_transfer *transfer);

/**
 * ntrace_transfer_start - take the transfer at the end of this event
 * @tracker: state of this stream; all zeros at the beginning
 * @event: the event that ntrace_transfer_resolve() had
 * @transfer: filled in if the result is true
 *
 * Return: whether the event ends with a transfer to a known target.
 */
NTRACE_EXPERIMENTAL bool ntrace_transfer_start(struct ntrace_transfer_tracker *tracker,
					       const struct ntrace_flow_event *event,
					       struct ntrace_transfer *transfer);

#ifdef __cplusplus
}
#endif

#endif /* NTRACE_TRANSFER_H */
