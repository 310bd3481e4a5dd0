// SPDX-License-Identifier: GPL-2.0-only
/* Words and properties of decoded events that text and JSON share. */
#include "event_text.h"

enum ntrace_field event_code_field(const struct ntrace_flow_event *event)
{
	switch (event->type) {
	case NTRACE_FLOW_SYNC:
		return NTRACE_FIELD_SYNC;
	case NTRACE_FLOW_TRAP:
		return NTRACE_FIELD_BTYPE;
	case NTRACE_FLOW_TRACE_OFF:
		return NTRACE_FIELD_EVCODE;
	case NTRACE_FLOW_CIRCUIT:
		return NTRACE_FIELD_CKSRC;
	default:
		return NTRACE_FIELD_COUNT;
	}
}

const char *event_detail(const struct ntrace_flow_event *event)
{
	enum ntrace_field field = event_code_field(event);

	if (field != NTRACE_FIELD_COUNT)
		return ntrace_value_name(field, event->code, (enum ntrace_dialect)event->dialect);
	if (event->type == NTRACE_FLOW_ERROR || event->type == NTRACE_FLOW_WARNING)
		return ntrace_flow_error_text(event->code);
	return "";
}

bool event_has_address(const struct ntrace_flow_event *event)
{
	return event->next_known || event->type == NTRACE_FLOW_SYNC ||
	       event->type == NTRACE_FLOW_TRAP;
}
