// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Control transfers with their targets, from the events of a flow. */
#include <ntrace/transfer.h>

bool ntrace_transfer_resolve(struct ntrace_transfer_tracker *tracker,
			     const struct ntrace_flow_event *event,
			     struct ntrace_transfer *transfer)
{
	bool complete;

	if (!tracker->pending)
		return false;
	switch (event->type) {
	case NTRACE_FLOW_BLOCK:
		tracker->transfer.to = event->address;
		break;
	case NTRACE_FLOW_TRAP:
		/* Control reached the target, although its instruction did not retire. */
		if (!event->next_known)
			return false;
		tracker->transfer.to = event->value;
		break;
	case NTRACE_FLOW_TRACE_OFF:
		tracker->pending = event->next_known;
		tracker->transfer.to = event->address;
		break;
	case NTRACE_FLOW_OWNERSHIP:
	case NTRACE_FLOW_WARNING:
	case NTRACE_FLOW_SYNC:
	case NTRACE_FLOW_CIRCUIT:
	case NTRACE_FLOW_DATA:
		return false;
	default:
		tracker->pending = false;
		return false;
	}
	if (tracker->pending)
		*transfer = tracker->transfer;
	complete = tracker->pending;
	tracker->pending = false;
	return complete;
}

bool ntrace_transfer_start(struct ntrace_transfer_tracker *tracker,
			   const struct ntrace_flow_event *event, struct ntrace_transfer *transfer)
{
	if (event->type != NTRACE_FLOW_BLOCK || !event->taken)
		return false;
	tracker->transfer.from = event->last;
	tracker->transfer.to = event->next;
	tracker->transfer.insn_class = event->insn_class;
	tracker->pending = !event->next_known;
	if (event->next_known)
		*transfer = tracker->transfer;
	return event->next_known;
}
