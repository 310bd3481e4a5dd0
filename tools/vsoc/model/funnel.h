/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Trace funnel of the virtual SoC (Trace Control Interface 1.0, trFunnel registers). This file
 * depends on no emulator. It is not thread safe: the glue holds a lock around each call.
 */
#ifndef VSOC_MODEL_FUNNEL_H
#define VSOC_MODEL_FUNNEL_H

#include "bus.h"
#include "fault.h"
#include "port.h"
#include "timestamp.h"
#include "warl.h"

/* trFunnelDisInput has 16 bits. */
#define FUNNEL_INPUTS_MAX 16

#define FUNNEL_BUFFER_MAX 1024

/**
 * struct funnel_parameters - what the specification leaves to the implementation
 * @inputs: number of connected inputs, 1..FUNNEL_INPUTS_MAX; trFunnelDisInput implements their bits
 * @buffer: bytes of messages that the funnel holds back, 0..FUNNEL_BUFFER_MAX. It sends them when
 *          the next message does not fit, with each funnel_advance(), and when it is disabled
 * @timestamp: parameters of its timestamp unit
 * @faults: faults at power-up
 * @bus: how its page answers
 * @reset: registers when Active becomes 1; RANDOM is that of trFunnelDisInput
 * @reset_seed: of WARL_RESET_RANDOM
 * @version_minor: minor version in trFunnelImpl
 * @dis_input: all bits of trFunnelDisInput
 * @empty_fixed: Empty is 1, even while the buffer holds messages
 * @running: earlier software has left it enabled; for the glue
 * @gates: while Active is 0, the component at its output has no clock; for the glue
 *
 * A disabled funnel accepts messages and drops them, as a funnel does on an input that DisInput
 * disables. If its output refuses a message, the funnel loses all messages in the buffer, and then
 * refuses the next message of each input that lost one, so that the encoder reports the loss.
 */
struct funnel_parameters {
	unsigned int inputs;
	unsigned int buffer;
	struct timestamp_parameters timestamp;
	uint32_t faults;
	struct bus_parameters bus;
	enum warl_reset reset;
	uint64_t reset_seed;
	uint32_t version_minor;
	enum warl_bit dis_input;
	bool empty_fixed;
	bool gates;
	bool running;
};

struct funnel {
	struct funnel_parameters parameters;
	const struct trace_port *out;
	struct fault fault;
	struct bus bus;
	uint64_t random;	/* state of the values after WARL_RESET_RANDOM */
	bool active;
	bool enable;
	uint32_t dis_input;
	struct timestamp timestamp;
	uint32_t lost;		/* inputs whose messages were lost after the funnel accepted them */
	uint64_t software_errors;
	uint64_t bytes;		/* bytes sent since power-up */
	uint64_t dropped;	/* bytes accepted and dropped, or lost, since power-up */
	unsigned int fill;
	unsigned int ends;	/* number of messages in the buffer */
	uint16_t end[FUNNEL_BUFFER_MAX];
	uint8_t id[FUNNEL_BUFFER_MAX];	/* trace ID of each message */
	uint8_t data[FUNNEL_BUFFER_MAX];
};

void funnel_init(struct funnel *funnel, const struct funnel_parameters *parameters,
		 const struct trace_port *out);

/** funnel_power_up - set registers to their values after power-up; empties the buffer */
void funnel_power_up(struct funnel *funnel);

uint32_t funnel_read(const struct funnel *funnel, uint32_t offset);
void funnel_write(struct funnel *funnel, uint32_t offset, uint32_t value);

/** funnel_answers - whether an access of software is no bus error */
bool funnel_answers(const struct funnel *funnel, uint32_t offset);

/** funnel_poll - funnel_read() by software, for which time passes */
uint32_t funnel_poll(struct funnel *funnel, uint32_t offset);

/** funnel_advance - time passes: the funnel sends its oldest message */
void funnel_advance(struct funnel *funnel);

/** funnel_flush - send all messages, for a flush of the ATB */
void funnel_flush(struct funnel *funnel);

/**
 * funnel_put - accept a message at an input
 * @id: its trace ID if it comes from an ATB bridge, else 0
 *
 * Return: false if the message, or an earlier one of the same input, was lost.
 */
bool funnel_put(struct funnel *funnel, unsigned int input, uint8_t id, const uint8_t *data,
		size_t size);

/** funnel_ready - tell whether funnel_put() would accept a message */
bool funnel_ready(const struct funnel *funnel, unsigned int input);

#endif /* VSOC_MODEL_FUNNEL_H */
