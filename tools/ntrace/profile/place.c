// SPDX-License-Identifier: GPL-2.0-only
/* Names of places, transfers between them. */
#include <stdlib.h>
#include <string.h>

#include "place.h"

bool place_same_function(const struct ntrace_location *a, const struct ntrace_location *b)
{
	size_t stem;

	if (a->object != b->object || !a->symbol != !b->symbol)
		return false;
	if (!a->symbol || a->symbol_start == b->symbol_start)
		return true;
	stem = ntrace_symbol_stem(a->symbol);
	return stem == ntrace_symbol_stem(b->symbol) && !strncmp(a->symbol, b->symbol, stem) &&
	       strcmp(a->symbol, b->symbol);
}

bool place_is_called(const char *symbol, const char *name)
{
	size_t length = strlen(name);
	char *text;
	bool same;

	if (!strcmp(symbol, name))
		return true;
	text = ntrace_demangle(symbol);
	same = text && !strncmp(text, name, length) &&
	       (!text[length] || text[length] == '(' || !strncmp(text + length, " [", 2));
	free(text);
	return same;
}

bool transfer_resolve(struct transfer_tracker *tracker, const struct ntrace_flow_event *event,
		      struct transfer *transfer)
{
	if (!tracker->pending)
		return false;
	switch (event->type) {
	case NTRACE_FLOW_BLOCK:
		tracker->transfer.to = event->address;
		break;
	case NTRACE_FLOW_TRAP:
		/* The target did not retire, but control had reached it. */
		if (!event->next_known)
			return false;
		tracker->transfer.to = event->value;
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
	tracker->pending = false;
	*transfer = tracker->transfer;
	return true;
}

bool transfer_start(struct transfer_tracker *tracker, const struct ntrace_flow_event *event,
		    struct transfer *transfer)
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
