// SPDX-License-Identifier: GPL-2.0-only
/* Details of InCircuitTrace and DataAcquisition events. */
#include <inttypes.h>

#include "circuit.h"

bool circuit_destination(const struct ntrace_flow_event *event)
{
	return event->type == NTRACE_FLOW_CIRCUIT && event->next_known &&
	       ntrace_flow_circuit_value(event) == NTRACE_CIRCUIT_DESTINATION;
}

void circuit_text(struct output *output, const struct ntrace_flow_event *event)
{
	uint8_t bytes[4];

	if (event->type == NTRACE_FLOW_DATA) {
		output_printf(output,
			      ": channel %" PRIu64 ", 0x%0*" PRIx64 " (IDTAG 0x%" PRIx64 ")",
			      event->address / 4, 2 * (int)ntrace_flow_data_bytes(event, bytes),
			      event->value, event->address);
		return;
	}
	switch (ntrace_flow_circuit_value(event)) {
	case NTRACE_CIRCUIT_CONTROL:
	case NTRACE_CIRCUIT_DATA:
		output_printf(output, ", 0x%" PRIx64, event->value);
		break;
	case NTRACE_CIRCUIT_COUNTERS:
		output_printf(output, ", counters 0x%" PRIx64, event->value);
		break;
	case NTRACE_CIRCUIT_TRIGGER:
		output_printf(output, ", trigger %" PRIu64, event->value);
		break;
	}
}

static void store_json(struct output *output, const struct ntrace_flow_event *event)
{
	uint8_t bytes[4];
	unsigned int size = ntrace_flow_data_bytes(event, bytes);

	output_printf(output, ",\"channel\":%" PRIu64 ",\"idtag\":\"0x%" PRIx64 "\"",
		      event->address / 4, event->address);
	if (size)
		output_printf(output, ",\"size\":%u", size);
	output_printf(output, ",\"value\":\"0x%" PRIx64 "\"", event->value);
}

void circuit_json(struct output *output, const struct ntrace_flow_event *event)
{
	static const char *const names[] = {
		[NTRACE_CIRCUIT_CONTROL] = "control", [NTRACE_CIRCUIT_COUNTERS] = "counters",
		[NTRACE_CIRCUIT_TRIGGER] = "trigger", [NTRACE_CIRCUIT_DATA] = "data",
		[NTRACE_CIRCUIT_NONE] = NULL,	      [NTRACE_CIRCUIT_DESTINATION] = NULL,
	};
	unsigned int kind;

	if (event->type == NTRACE_FLOW_DATA) {
		store_json(output, event);
		return;
	}
	kind = ntrace_flow_circuit_value(event);
	if (names[kind])
		output_printf(output, ",\"%s\":\"0x%" PRIx64 "\"", names[kind], event->value);
	if (circuit_destination(event))
		output_printf(output, ",\"destination\":\"0x%" PRIx64 "\"", event->value);
}
