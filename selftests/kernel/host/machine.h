/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Harts with one encoder each, and one RAM sink for all: the driver's structures without its
 * probing and device files. Byte p of the stream is at data[p % size].
 */
#ifndef HOST_MACHINE_H
#define HOST_MACHINE_H

#include <stdarg.h>
#include <stdlib.h>

#include "../../../kernel/ntrace/path.h"

#define MACHINE_HARTS 4

struct machine {
	struct device dev;
	struct ntrace_component sink;
	struct ntrace_component encoder[MACHINE_HARTS];
	struct ntrace_path path[MACHINE_HARTS];
	struct ntrace_capture capture[MACHINE_HARTS];
	struct ntrace_control control[MACHINE_HARTS];
	u8 *data[MACHINE_HARTS];
};

/* The last message of the driver, and the number of messages. */
static char machine_log[256];
static unsigned int machine_logged;

void host_log(const struct device *dev, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(machine_log, sizeof(machine_log), format, args);
	va_end(args);
	machine_logged++;
}

/* @harts captures that one sink feeds, with data areas of @data_size; 0: no data areas. */
static void machine_init(struct machine *machine, unsigned int harts, size_t data_size)
{
	static const struct ntrace_ops none;

	*machine = (struct machine){ .sink.type = TR_COMP_TYPE_RAM_SINK, .sink.ops = &none };
	machine->sink.dev = &machine->dev;
	INIT_LIST_HEAD(&machine->sink.ramsink.feeds);
	for (unsigned int i = 0; i < harts; i++) {
		struct ntrace_capture *capture = &machine->capture[i];

		machine->encoder[i].type = TR_COMP_TYPE_ENCODER;
		machine->encoder[i].dev = &machine->dev;
		machine->encoder[i].encoder.src = i;
		machine->path[i].component[0] = &machine->encoder[i];
		machine->path[i].component[1] = &machine->sink;
		machine->path[i].count = 2;
		machine->path[i].capture = capture;
		capture->path = &machine->path[i];
		capture->feed.encoder = &machine->encoder[i];
		capture->feed.sink = &machine->sink;
		capture->feed.control = &machine->control[i];
		capture->config.data_size = data_size;
		capture->feed.size = data_size;
		capture->feed.ended = true;
		if (data_size)
			machine->data[i] = calloc(1, data_size);
		capture->feed.data = machine->data[i];
		list_add_tail(&capture->feed.node, &machine->sink.ramsink.feeds);
	}
}

static void machine_free(struct machine *machine)
{
	for (unsigned int i = 0; i < MACHINE_HARTS; i++)
		free(machine->data[i]);
}

/* Reproducible random numbers (xorshift64*). */
static u64 machine_random_state;

static u64 random_below(u64 bound)
{
	machine_random_state ^= machine_random_state >> 12;
	machine_random_state ^= machine_random_state << 25;
	machine_random_state ^= machine_random_state >> 27;
	return machine_random_state * 0x2545f4914f6cdd1dULL % bound;
}

/* Returns SEED of the environment, or @seed; prints it, so that a failure can be repeated. */
static u64 random_seed(u64 seed)
{
	const char *text = getenv("SEED");

	if (text)
		seed = strtoull(text, NULL, 0);
	printf("# SEED=%llu\n", (unsigned long long)seed);
	return seed;
}

/* Returns the seed of case @number of a test, independent of all other cases. */
static void random_begin(u64 seed, unsigned int number)
{
	machine_random_state = (seed * 1000003 + number) * 0x9e3779b97f4a7c15ULL | 1;
	for (int i = 0; i < 8; i++)
		random_below(2);
}

#endif /* HOST_MACHINE_H */
