/* SPDX-License-Identifier: GPL-2.0-only */
/* Events of SiFive encoders other than execution, as text and as JSON. */
#ifndef NTRACE_TOOL_STREAM_DECODE_CIRCUIT_H
#define NTRACE_TOOL_STREAM_DECODE_CIRCUIT_H

#include <ntrace/flow.h>

#include "common/output.h"

/** circuit_text - details of an InCircuitTrace or DataAcquisition event */
void circuit_text(struct output *output, const struct ntrace_flow_event *event);

/** circuit_json - the same as members of a JSON object with a comma before each */
void circuit_json(struct output *output, const struct ntrace_flow_event *event);

/** circuit_destination - Return: true if the event has an address that a call went to */
bool circuit_destination(const struct ntrace_flow_event *event);

#endif /* NTRACE_TOOL_STREAM_DECODE_CIRCUIT_H */
