/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Sinks of the virtual SoC without memory: a PIB sink, which sends trace out on pins, and a bridge
 * to an ATB, the trace bus of Arm CoreSight (Trace Control Interface 1.0, trPib and trAtbBridge
 * registers). The glue gets the bytes that arrive at the far end, where further components may
 * follow a bridge. This file depends on no emulator. It is not thread safe: the glue holds a lock
 * around each call.
 */
#ifndef VSOC_MODEL_PORT_SINK_H
#define VSOC_MODEL_PORT_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fault.h"

/*
 * The sink sends bytes in groups of this many; fewer wait until there are more, until it is
 * disabled, or, in a bridge, until the ATB is flushed.
 */
#define PORT_SINK_GRANULE 4

/**
 * struct port_sink_parameters - what the specification leaves to the implementation
 * @type: TR_COMP_TYPE_PIB_SINK or TR_COMP_TYPE_ATB_BRIDGE
 * @modes: bit n: trPibMode accepts n; any other value becomes 0 (off)
 * @divider_max: largest trPibDivider; a larger value becomes this one
 * @id: if not 0, trAtbBridgeID is hard-wired to it
 * @faults: faults at power-up
 *
 * trPibClkCenter exists in parallel modes, trPibCalibrate in all modes but off, AsyncFreq in none.
 * A write while Enable is 1 or Empty is 0 leaves the fields as they are and counts as a software
 * error. A PIB sink in mode off refuses all bytes. With trPibCalibrate, it sends the pattern of its
 * mode once when it is enabled, and drops the bytes it gets. A sink whose far end is not ready
 * refuses messages as a whole.
 */
struct port_sink_parameters {
	uint32_t type;
	uint32_t modes;
	uint32_t divider_max;
	uint32_t id;
	uint32_t faults;
};

struct port_sink_ops {
	/* Takes the bytes at the far end, and trAtbBridgeID. Return: false if they were refused. */
	bool (*send)(void *opaque, uint8_t id, const uint8_t *data, size_t size);
	/* Tells whether send() would take bytes. NULL: always. */
	bool (*ready)(void *opaque);
};

struct port_sink {
	struct port_sink_parameters parameters;
	const struct port_sink_ops *ops;
	void *opaque;
	struct fault fault;
	bool active;
	bool enable;
	uint32_t fields;	/* fields of trPibControl except Active, Enable and Empty */
	uint64_t software_errors;
	uint64_t bytes;		/* bytes sent since power-up */
	uint64_t dropped;	/* bytes refused, or accepted and dropped, since power-up */
	unsigned int fill;
	uint8_t buffer[PORT_SINK_GRANULE];
};

void port_sink_init(struct port_sink *sink, const struct port_sink_parameters *parameters,
		    const struct port_sink_ops *ops, void *opaque);

/** port_sink_power_up - set registers to their values after power-up; empties the sink */
void port_sink_power_up(struct port_sink *sink);

uint32_t port_sink_read(const struct port_sink *sink, uint32_t offset);
void port_sink_write(struct port_sink *sink, uint32_t offset, uint32_t value);

/**
 * port_sink_flush - the ATB asks for all bytes that wait
 *
 * With FAULT_NO_FLUSH, the bridge does not take part in flushes.
 */
void port_sink_flush(struct port_sink *sink);

/** port_sink_ready - tell whether port_sink_put() would accept bytes */
bool port_sink_ready(const struct port_sink *sink);

/**
 * port_sink_put - accept trace bytes
 * Return: false if the sink dropped them.
 */
bool port_sink_put(struct port_sink *sink, const uint8_t *data, size_t size);

#endif /* VSOC_MODEL_PORT_SINK_H */
