/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Where a trace component sends its bytes: an input of the next one. Whole
 * messages only, so that a funnel may put those of several encoders in any order.
 */
#ifndef VSOC_MODEL_PORT_H
#define VSOC_MODEL_PORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Outputs of one component; as many as a test of fan-out needs. */
#define TRACE_PORTS_MAX 2

/**
 * struct trace_port - an input of a component
 * @put: takes a message; false: it was not taken, or not as a whole
 * @ready: would put() take a message now?
 * @opaque: the component, for both
 * @input: its input, for both
 */
struct trace_port {
	bool (*put)(void *opaque, unsigned int input, const uint8_t *data, size_t size);
	bool (*ready)(void *opaque, unsigned int input);
	void *opaque;
	unsigned int input;
};

static inline bool trace_port_put(const struct trace_port *port, const uint8_t *data, size_t size)
{
	return port->put(port->opaque, port->input, data, size);
}

static inline bool trace_port_ready(const struct trace_port *port)
{
	return port->ready(port->opaque, port->input);
}

#endif /* VSOC_MODEL_PORT_H */
