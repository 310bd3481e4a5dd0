// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * InCircuitTrace and DataAcquisition of pre-ratification SiFive encoders, as captures of them show.
 *
 * These messages report events beside the execution: samples of the PC (which may also come as
 * ProgTraceSync with SYNC 15), watchpoints, stores to stimulus registers. They affect the program
 * flow in one respect only: the next relative address, in a message of any kind, counts from an
 * address in them. So an encoder that sends only events has no program flow, and its addresses are
 * known from the first InCircuitTraceWS on.
 */
#include "flow.h"

unsigned int ntrace_flow_circuit_value(const struct ntrace_flow_event *event)
{
	switch (event->code) {
	case NTRACE_CKSRC_CONTROL:
		return NTRACE_CIRCUIT_CONTROL;
	case NTRACE_CKSRC_COUNTERS:
		return NTRACE_CIRCUIT_COUNTERS;
	default:
		break;
	}
	if (event->etype != 1)
		return NTRACE_CIRCUIT_NONE;
	switch (event->code) {
	case NTRACE_CKSRC_CALL:
		return NTRACE_CIRCUIT_DESTINATION;
	case NTRACE_CKSRC_WATCHPOINT:
		return NTRACE_CIRCUIT_TRIGGER;
	default:
		return NTRACE_CIRCUIT_DATA;
	}
}

unsigned int ntrace_flow_data_bytes(const struct ntrace_flow_event *event, uint8_t bytes[4])
{
	static const uint8_t widths[4] = { 4, 0, 2, 1 };
	unsigned int width = widths[event->address & 3];

	if (!width || event->value >> 8 * width)
		return 0;
	for (unsigned int i = 0; i < width; i++)
		bytes[i] = (uint8_t)(event->value >> 8 * i);
	return width;
}

void flow_track_address(struct ntrace_flow *flow, const struct ntrace_message *message)
{
	if (flow->reference_known && ntrace_message_has(message, NTRACE_FIELD_UADDR))
		flow->reference = ntrace_message_address(message, &flow->params, flow->reference);
}

/* Sets address and reference. Return: false if the message has no address or no reference. */
static bool read_address(struct ntrace_flow *flow, const struct ntrace_message *message,
			 uint64_t *address, uint64_t *reference)
{
	bool full = message->tcode == NTRACE_TCODE_SIFIVE_IN_CIRCUIT_TRACE_SYNC;

	*address = 0;
	*reference = 0;
	if ((!full && !flow->reference_known) ||
	    !ntrace_message_circuit_address(message, &flow->params, flow->reference, address,
					    reference))
		return false;
	flow->reference = *reference;
	flow->reference_known = true;
	return true;
}

static bool report_circuit(struct ntrace_flow *flow, const struct ntrace_message *message)
{
	struct ntrace_flow_event event = {
		.type = NTRACE_FLOW_CIRCUIT,
		.code = (uint8_t)message->field[NTRACE_FIELD_CKSRC],
		.etype = (uint8_t)message->field[NTRACE_FIELD_CKDF],
	};
	uint64_t reference;

	event.next_known = read_address(flow, message, &event.address, &reference);
	event.value = message->field[NTRACE_FIELD_CKDATA1];
	if (event.code == NTRACE_CKSRC_COUNTERS ||
	    (event.code == NTRACE_CKSRC_CONTROL && !event.etype))
		event.value = message->field[NTRACE_FIELD_CKDATA0];
	else if (ntrace_flow_circuit_value(&event) == NTRACE_CIRCUIT_DESTINATION)
		event.value = reference;
	return flow_emit(flow, &event);
}

/* Whether the dropped message reported an address, which later addresses count from. */
static bool loses_address(const struct ntrace_message *message)
{
	uint64_t address, reference;
	struct ntrace_params any;

	ntrace_params_init(&any);
	return ntrace_message_circuit_address(message, &any, 0, &address, &reference);
}

bool flow_is_sample(const struct ntrace_flow *flow, const struct ntrace_message *message)
{
	return flow->params.dialect == NTRACE_DIALECT_SIFIVE_V0 &&
	       message->tcode == NTRACE_TCODE_PROG_TRACE_SYNC &&
	       message->field[NTRACE_FIELD_SYNC] == NTRACE_CKSRC_PC_SAMPLE;
}

bool flow_handle_sample(struct ntrace_flow *flow, const struct ntrace_message *message)
{
	flow->reference = ntrace_message_address(message, &flow->params, 0);
	flow->reference_known = true;
	return flow_emit_simple(flow, NTRACE_FLOW_CIRCUIT, NTRACE_CKSRC_PC_SAMPLE, flow->reference,
				true, 0);
}

bool flow_handle_circuit(struct ntrace_flow *flow, const struct ntrace_message *message)
{
	bool store = message->tcode == NTRACE_TCODE_DATA_ACQUISITION;

	if (flow_damaged(message)) {
		if (!store && (message->flags & NTRACE_MESSAGE_TRUNCATED || loses_address(message)))
			return flow_fail(flow, NTRACE_FLOW_ERROR_MESSAGE, flow->pc,
					 flow->confirmed);
		if (!flow_warn(flow, NTRACE_FLOW_ERROR_MESSAGE, flow->pc, 0))
			return false;
		if (message->flags & NTRACE_MESSAGE_TRUNCATED)
			return true;
	}
	if (!store)
		return report_circuit(flow, message);
	return flow_emit_simple(flow, NTRACE_FLOW_DATA, 0, message->field[NTRACE_FIELD_IDTAG],
				false, message->field[NTRACE_FIELD_DQDATA]);
}
