/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Sinks of the virtual SoC that have no memory: a PIB sink, which sends trace out on
 * pins, and a bridge to an ATB, the trace bus of another vendor (digest
 * trace-control.md section 5). What arrives at the other end is handed to the glue.
 * Knows no emulator; not thread safe, the glue holds a lock around each call.
 */
#ifndef VSOC_MODEL_PORT_SINK_H
#define VSOC_MODEL_PORT_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fault.h"

/* Bytes that leave at once; fewer wait until it is disabled. */
#define PORT_SINK_GRANULE 4

/**
 * struct port_sink_parameters - what the specification leaves to the implementation
 * @type: TR_COMP_TYPE_PIB_SINK or TR_COMP_TYPE_ATB_BRIDGE
 * @modes: bit n: trPibMode takes n; a value that it does not take lands on 0 (off)
 * @divider_max: largest trPibDivider; what is more lands there
 * @id: if not 0, trAtbBridgeID is hard-wired to it
 * @faults: what is broken at power-up
 *
 * trPibClkCenter is there in parallel modes, trPibCalibrate in all but off. No
 * AsyncFreq. Fields written while Enable is 1 or Empty is 0 stay as they are, and that
 * counts as an error of the software. A PIB sink that is off takes nothing. One that
 * calibrates sends the pattern of its mode once when it is enabled, and what comes is
 * dropped.
 */
struct port_sink_parameters {
	uint32_t type;
	uint32_t modes;
	uint32_t divider_max;
	uint32_t id;
	uint32_t faults;
};

struct port_sink_ops {
	/* Bytes at the far end. */
	void (*send)(void *opaque, const uint8_t *data, size_t size);
};

struct port_sink {
	struct port_sink_parameters parameters;
	const struct port_sink_ops *ops;
	void *opaque;
	struct fault fault;
	bool active;
	bool enable;
	uint32_t fields;	/* of Control, but Active, Enable and Empty */
	uint64_t software_errors;
	uint64_t bytes;		/* sent since power-up */
	uint64_t dropped;	/* refused, or taken and dropped, since power-up */
	unsigned int fill;
	uint8_t buffer[PORT_SINK_GRANULE];
};

void port_sink_init(struct port_sink *sink, const struct port_sink_parameters *parameters,
		    const struct port_sink_ops *ops, void *opaque);

/** port_sink_power_up - registers after power-up; what is inside is lost */
void port_sink_power_up(struct port_sink *sink);

uint32_t port_sink_read(const struct port_sink *sink, uint32_t offset);
void port_sink_write(struct port_sink *sink, uint32_t offset, uint32_t value);

/** port_sink_ready - would port_sink_put() take bytes? */
bool port_sink_ready(const struct port_sink *sink);

/**
 * port_sink_put - trace bytes
 * Return: false if they were dropped.
 */
bool port_sink_put(struct port_sink *sink, const uint8_t *data, size_t size);

#endif /* VSOC_MODEL_PORT_SINK_H */
