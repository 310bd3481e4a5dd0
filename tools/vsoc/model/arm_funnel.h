/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Trace funnel of Arm CoreSight SoC-400 (ARM 100536), which merges the trace of several ATBs. This
 * file depends on no emulator. It is not thread safe: the glue holds a lock around each call.
 */
#ifndef VSOC_MODEL_ARM_FUNNEL_H
#define VSOC_MODEL_ARM_FUNNEL_H

#include <ntrace/coresight.h>

#include "coresight.h"
#include "port.h"

/* Bytes of a transfer on the ATB. */
#define ARM_FUNNEL_BEAT 4
/* Transfers that wait at each input. */
#define ARM_FUNNEL_QUEUE 4

/**
 * struct arm_funnel_parameters - what the specification leaves to the implementation
 * @inputs: number of inputs, 1..CS_FUNNEL_PORTS_MAX
 *
 * The funnel does not know messages. Bytes wait in a queue at each input; when one is full, the
 * funnel sends transfers of up to ARM_FUNNEL_BEAT bytes, one of each input in turn, so it may
 * switch from one input to another inside a message. A flush empties the queues. Hold time and
 * priorities can be written and have no effect.
 *
 * The funnel does not choose a disabled input, so its source must wait or lose trace. Bytes that wait
 * at an input are lost when it is disabled.
 */
struct arm_funnel_parameters {
	unsigned int inputs;
};

struct arm_funnel_beat {
	uint8_t id;
	uint8_t size;
	uint8_t data[ARM_FUNNEL_BEAT];
};

struct arm_funnel_queue {
	unsigned int fill;
	struct arm_funnel_beat beat[ARM_FUNNEL_QUEUE];
};

struct arm_funnel {
	struct arm_funnel_parameters parameters;
	const struct trace_port *out;
	struct coresight coresight;
	uint32_t control;
	uint32_t priority;
	uint64_t software_errors;	/* writes while locked */
	uint64_t bytes;			/* bytes sent since power-up */
	uint64_t dropped;		/* bytes refused or lost since power-up */
	unsigned int turn;		/* input that sends next */
	struct arm_funnel_queue queue[CS_FUNNEL_PORTS_MAX];
};

void arm_funnel_init(struct arm_funnel *funnel, const struct arm_funnel_parameters *parameters,
		     const struct trace_port *out);

/** arm_funnel_power_up - set registers to their values after power-up; empties the queues */
void arm_funnel_power_up(struct arm_funnel *funnel);

uint32_t arm_funnel_read(const struct arm_funnel *funnel, uint32_t offset);
void arm_funnel_write(struct arm_funnel *funnel, uint32_t offset, uint32_t value);

/**
 * arm_funnel_put - accept bytes at an input
 * Return: false if they were refused.
 */
bool arm_funnel_put(struct arm_funnel *funnel, unsigned int input, uint8_t id, const uint8_t *data,
		    size_t size);

/** arm_funnel_ready - tell whether arm_funnel_put() would accept bytes */
bool arm_funnel_ready(const struct arm_funnel *funnel, unsigned int input);

/** arm_funnel_flush - send all bytes that wait at inputs */
void arm_funnel_flush(struct arm_funnel *funnel);

#endif /* VSOC_MODEL_ARM_FUNNEL_H */
