/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Connection from a trace component to an input of the next one. Up to an ATB bridge it carries
 * whole messages only, so that a funnel may interleave the messages of several encoders. After a
 * bridge it carries bytes with the trace ID of their source, and may be cut anywhere.
 */
#ifndef VSOC_MODEL_PORT_H
#define VSOC_MODEL_PORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Outputs of one component: enough to test fan-out. */
#define TRACE_PORTS_MAX 2

/**
 * struct trace_port - an input of a component
 * @put: passes a message on, or bytes of the trace ID @id, 0: none; false: the next component did
 *       not take all of it
 * @ready: tells whether put() would take a message
 * @opaque: the next component, argument of both
 * @input: its input, argument of both
 */
struct trace_port {
	bool (*put)(void *opaque, unsigned int input, uint8_t id, const uint8_t *data, size_t size);
	bool (*ready)(void *opaque, unsigned int input);
	void *opaque;
	unsigned int input;
};

static inline bool trace_port_put(const struct trace_port *port, uint8_t id, const uint8_t *data,
				  size_t size)
{
	return port->put(port->opaque, port->input, id, data, size);
}

static inline bool trace_port_ready(const struct trace_port *port)
{
	return port->ready(port->opaque, port->input);
}

#endif /* VSOC_MODEL_PORT_H */
