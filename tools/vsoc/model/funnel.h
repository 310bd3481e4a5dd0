/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Trace funnel of the virtual SoC (digest trace-control.md section 3). Knows no
 * emulator; not thread safe, the glue holds a lock around each call.
 */
#ifndef VSOC_MODEL_FUNNEL_H
#define VSOC_MODEL_FUNNEL_H

#include "fault.h"
#include "port.h"
#include "timestamp.h"

/* trFunnelDisInput has no more bits. */
#define FUNNEL_INPUTS_MAX 16

#define FUNNEL_BUFFER_MAX 1024

/**
 * struct funnel_parameters - what the specification leaves to the implementation
 * @inputs: inputs that are connected, 1..FUNNEL_INPUTS_MAX; trFunnelDisInput has
 *          their bits
 * @buffer: bytes of messages that are held back until more come, 0..FUNNEL_BUFFER_MAX.
 *          They get out when the next message does not fit any more, with each
 *          funnel_advance(), and when the funnel is disabled
 * @timestamp: its timestamp unit
 * @faults: what is broken at power-up
 *
 * A funnel that is disabled takes messages and drops them, and so does one whose
 * DisInput names the input. Where what comes behind it refuses, everything that
 * was held back is lost, and each input is refused once, so that its encoder
 * tells of a loss.
 */
struct funnel_parameters {
	unsigned int inputs;
	unsigned int buffer;
	struct timestamp_parameters timestamp;
	uint32_t faults;
};

struct funnel {
	struct funnel_parameters parameters;
	const struct trace_port *out;
	struct fault fault;
	bool active;
	bool enable;
	uint32_t dis_input;
	struct timestamp timestamp;
	uint32_t lost;		/* inputs whose messages were lost behind their back */
	uint64_t software_errors;
	uint64_t bytes;		/* passed on since power-up */
	uint64_t dropped;	/* taken and dropped, or lost, since power-up */
	unsigned int fill;
	unsigned int ends;	/* messages in the buffer */
	uint16_t end[FUNNEL_BUFFER_MAX];
	uint8_t data[FUNNEL_BUFFER_MAX];
};

void funnel_init(struct funnel *funnel, const struct funnel_parameters *parameters,
		 const struct trace_port *out);

/** funnel_power_up - registers after power-up; what is inside is lost */
void funnel_power_up(struct funnel *funnel);

uint32_t funnel_read(const struct funnel *funnel, uint32_t offset);
void funnel_write(struct funnel *funnel, uint32_t offset, uint32_t value);

/** funnel_advance - some time has passed: the oldest message it holds goes on */
void funnel_advance(struct funnel *funnel);

/**
 * funnel_put - a message comes in
 * Return: false if it, or one before it from the same input, was lost.
 */
bool funnel_put(struct funnel *funnel, unsigned int input, const uint8_t *data, size_t size);

/** funnel_ready - would funnel_put() take a message? */
bool funnel_ready(const struct funnel *funnel, unsigned int input);

#endif /* VSOC_MODEL_FUNNEL_H */
