// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <string.h>

#include "arm_funnel.h"

/* Values of a funnel of SoC-400 after reset. */
#define CONTROL_RESET 0x300
#define PRIORITY_RESET 0x00fac688
#define PART 0x908

void arm_funnel_power_up(struct arm_funnel *funnel)
{
	const struct coresight_identity identity = {
		.part = PART,
		.revision = 2,
		.device_type = CS_DEVTYPE_TRACE_FUNNEL,
		.device_id = funnel->parameters.inputs,
	};

	coresight_init(&funnel->coresight, &identity);
	memset(funnel->queue, 0, sizeof(funnel->queue));
	funnel->control = CONTROL_RESET;
	funnel->priority = PRIORITY_RESET;
	funnel->software_errors = 0;
	funnel->bytes = 0;
	funnel->dropped = 0;
	funnel->turn = 0;
}

void arm_funnel_init(struct arm_funnel *funnel, const struct arm_funnel_parameters *parameters,
		     const struct trace_port *out)
{
	memset(funnel, 0, sizeof(*funnel));
	funnel->parameters = *parameters;
	funnel->out = out;
	arm_funnel_power_up(funnel);
}

uint32_t arm_funnel_read(const struct arm_funnel *funnel, uint32_t offset)
{
	switch (offset) {
	case CS_FUNNEL_CONTROL:
		return funnel->control;
	case CS_FUNNEL_PRIORITY:
		return funnel->priority;
	default:
		return coresight_read(&funnel->coresight, offset);
	}
}

static void drop(struct arm_funnel *funnel, struct arm_funnel_queue *queue)
{
	for (unsigned int i = 0; i < queue->fill; i++)
		funnel->dropped += queue->beat[i].size;
	queue->fill = 0;
}

static void write_control(struct arm_funnel *funnel, uint32_t value)
{
	uint32_t ports = (1u << funnel->parameters.inputs) - 1;

	funnel->control = value & (CS_FUNNEL_CONTROL_HOLD_MASK | ports);
	for (unsigned int i = 0; i < funnel->parameters.inputs; i++)
		if (!(funnel->control >> i & 1))
			drop(funnel, &funnel->queue[i]);
}

void arm_funnel_write(struct arm_funnel *funnel, uint32_t offset, uint32_t value)
{
	if (!funnel->coresight.unlocked && offset != CS_LAR) {
		funnel->software_errors++;
		return;
	}
	if (coresight_write(&funnel->coresight, offset, value))
		return;
	if (offset == CS_FUNNEL_CONTROL)
		write_control(funnel, value);
	else if (offset == CS_FUNNEL_PRIORITY)
		funnel->priority = value & CS_FUNNEL_PRIORITY_MASK;
}

/* Sends one transfer, of the next input that has any. Return: false if none has. */
static bool send(struct arm_funnel *funnel)
{
	for (unsigned int i = 0; i < funnel->parameters.inputs; i++) {
		unsigned int input = (funnel->turn + i) % funnel->parameters.inputs;
		struct arm_funnel_queue *queue = &funnel->queue[input];
		struct arm_funnel_beat beat = queue->beat[0];

		if (!queue->fill)
			continue;
		queue->fill--;
		memmove(queue->beat, queue->beat + 1, queue->fill * sizeof(queue->beat[0]));
		funnel->turn = input + 1;
		if (trace_port_put(funnel->out, beat.id, beat.data, beat.size))
			funnel->bytes += beat.size;
		else
			funnel->dropped += beat.size;
		return true;
	}
	return false;
}

bool arm_funnel_ready(const struct arm_funnel *funnel, unsigned int input)
{
	return funnel->control >> input & 1 && trace_port_ready(funnel->out);
}

bool arm_funnel_put(struct arm_funnel *funnel, unsigned int input, uint8_t id, const uint8_t *data,
		    size_t size)
{
	struct arm_funnel_queue *queue = &funnel->queue[input];

	if (!arm_funnel_ready(funnel, input)) {
		funnel->dropped += size;
		return false;
	}
	while (size) {
		size_t part = size < ARM_FUNNEL_BEAT ? size : ARM_FUNNEL_BEAT;
		struct arm_funnel_beat beat = { .id = id, .size = (uint8_t)part };

		while (queue->fill == ARM_FUNNEL_QUEUE)
			send(funnel);
		memcpy(beat.data, data, part);
		queue->beat[queue->fill++] = beat;
		data += part;
		size -= part;
	}
	return true;
}

void arm_funnel_flush(struct arm_funnel *funnel)
{
	while (send(funnel))
		;
}
