// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Example of a server for the co-simulation port (remote.h): encoders that send to a RAM sink each,
 * which are the register models of the virtual SoC. To connect another encoder, replace connect_page() to
 * reset_all(): what a page answers, and what becomes of a block.
 *
 *	remote_server PATH HARTS
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <ntrace/trace_control.h>

#include "ram_sink.h"
#include "remote.h"
#include "trace_encoder.h"

#define HARTS_MAX 16
#define ENCODERS 0x6000000u
#define SINKS 0x6040000u

static FILE *soc_in, *soc_out;
static unsigned int harts;
static struct trace_encoder encoder[HARTS_MAX];
static struct ram_sink sink[HARTS_MAX];
static uint64_t time_now;

static void send_message(uint32_t op, uint32_t id, uint64_t a, uint64_t b, uint64_t c)
{
	struct remote_message message = { op, id, a, b, c };

	if (fwrite(&message, sizeof(message), 1, soc_out) != 1)
		exit(1);
}

/* The blocks. The library's encoder starts and stops at once: the SoC is between two blocks. */
static void deliver(void *opaque, const struct trace_encoder_setup *setup)
{
	struct trace_encoder *te = opaque;

	trace_encoder_apply(te, setup);
	send_message(REMOTE_ACTIVE, (uint32_t)(te - encoder), te->running, 0, 0);
}

static bool put(void *opaque, const uint8_t *data, size_t size)
{
	return ram_sink_put(&sink[(struct trace_encoder *)opaque - encoder], data, size);
}

static bool ready(void *opaque)
{
	return sink[(struct trace_encoder *)opaque - encoder].enable;
}

static uint64_t now(void *opaque, unsigned int mode)
{
	(void)opaque;
	(void)mode;
	return time_now;
}

static void ignore_open(void *opaque, uint64_t address, uint64_t size)
{
	(void)opaque;
	(void)address;
	(void)size;
}

static void ignore_close(void *opaque)
{
	(void)opaque;
}

static void write_memory(void *opaque, uint64_t address, const uint8_t *data, size_t size)
{
	(void)opaque;
	for (size_t at = 0; at < size; at += 16) {
		size_t part = size - at < 16 ? size - at : 16;
		uint64_t words[2] = { 0, 0 };

		memcpy(words, data + at, part);
		send_message(REMOTE_MEM, (uint32_t)part, address + at, words[0], words[1]);
	}
}

static void connect_pages(void)
{
	static const struct trace_encoder_ops encoder_ops = {
		.deliver = deliver, .write = put, .ready = ready, .time = now
	};
	static const struct ram_sink_ops sink_ops = { ignore_open, ignore_close, write_memory };
	const struct trace_encoder_parameters e = {
		.src_bits_max = 4,
		.icnt_bits = 22,
		.hist_bits = 31,
		.xlen = 64,
		.implicit_return = 3,
		.filters = 4,
		.comparators = 4,
		.triggers = 2,
		.repeated_history = true,
		.context_bits = 32,
		.timestamp_bits = 48,
		.timestamps = NTRACE_TIMESTAMPS_BRANCH,
	};
	const struct ram_sink_parameters s = { .granule = 64, .address_bits = 56, .smem = true };

	send_message(REMOTE_HELLO, 0, REMOTE_VERSION, 4, 2 * harts);
	for (unsigned int i = 0; i < harts; i++) {
		ram_sink_init(&sink[i], &s, &sink_ops, NULL);
		send_message(REMOTE_PAGE, TR_COMP_TYPE_RAM_SINK, SINKS + i * TR_COMPONENT_SIZE, i,
			     REMOTE_NONE);
	}
	for (unsigned int i = 0; i < harts; i++) {
		trace_encoder_init(&encoder[i], &e, &encoder_ops, &encoder[i]);
		send_message(REMOTE_PAGE, TR_COMP_TYPE_ENCODER, ENCODERS + i * TR_COMPONENT_SIZE, i,
			     i);
	}
}

/* Return: false for a bus error. */
static bool access_page(uint64_t address, bool is_write, uint32_t *value)
{
	uint32_t offset = address % TR_COMPONENT_SIZE;
	uint64_t of_encoder = (address - ENCODERS) / TR_COMPONENT_SIZE;
	uint64_t of_sink = (address - SINKS) / TR_COMPONENT_SIZE;

	if (of_encoder >= harts && of_sink >= harts)
		return false;
	if (of_encoder < harts && is_write)
		trace_encoder_write(&encoder[of_encoder], offset, *value);
	else if (of_encoder < harts)
		*value = trace_encoder_poll(&encoder[of_encoder], offset);
	else if (is_write)
		ram_sink_write(&sink[of_sink], offset, *value);
	else
		*value = ram_sink_poll(&sink[of_sink], offset);
	return true;
}

static void retire(const struct remote_message *message)
{
	unsigned int hart = REMOTE_BLOCK_HART(message->id);
	const struct ntrace_ingress block = {
		.iaddr = message->a,
		.iretire = REMOTE_BLOCK_IRETIRE(message->id),
		.itype = REMOTE_BLOCK_ITYPE(message->id),
		.ilastsize = REMOTE_BLOCK_ILASTSIZE(message->id),
		.priv = REMOTE_BLOCK_PRIV(message->id),
	};

	if (hart >= harts || !encoder[hart].running)
		return;
	encoder[hart].cause = message->c;
	trace_encoder_retire(&encoder[hart], &block);
}

static void set_context(unsigned int hart, uint64_t context)
{
	struct trace_encoder *te = &encoder[hart];

	te->context = context;
	te->told_context = context;
	if (te->running)
		ntrace_encoder_context(&te->encoder, context, 0, NTRACE_CTYPE_IMPRECISE);
}

static void reset_all(void)
{
	for (unsigned int i = 0; i < harts; i++) {
		trace_encoder_power_up(&encoder[i]);
		ram_sink_power_up(&sink[i]);
	}
}

/* Carries out one message; what is an answer goes out at once. */
static void serve(const struct remote_message *message)
{
	uint32_t value = (uint32_t)message->b;
	bool good;

	switch (message->op) {
	case REMOTE_READ:
	case REMOTE_WRITE:
		good = access_page(message->a, message->op == REMOTE_WRITE, &value);
		send_message(REMOTE_REPLY, message->id, value, !good, 0);
		fflush(soc_out);
		break;
	case REMOTE_SYNC:
		send_message(REMOTE_SYNC, message->id, 0, 0, 0);
		fflush(soc_out);
		break;
	case REMOTE_BLOCK:
		retire(message);
		break;
	case REMOTE_STATE:
		if (message->id < harts)
			set_context(message->id, message->a);
		break;
	case REMOTE_TIME:
		time_now = message->a;
		break;
	case REMOTE_RESET:
		reset_all();
		break;
	default:
		fprintf(stderr, "remote_server: unknown message %u\n", message->op);
	}
}

int main(int argc, char **argv)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int server = socket(AF_UNIX, SOCK_STREAM, 0), soc;
	struct remote_message message;

	harts = argc == 3 ? (unsigned int)strtoul(argv[2], NULL, 0) : 0;
	if (harts < 1 || harts > HARTS_MAX || strlen(argv[1]) >= sizeof(address.sun_path)) {
		fprintf(stderr, "usage: remote_server PATH HARTS, with up to %u harts\n",
			HARTS_MAX);
		return 2;
	}
	strcpy(address.sun_path, argv[1]);
	unlink(argv[1]);
	if (server < 0 || bind(server, (struct sockaddr *)&address, sizeof(address)) ||
	    listen(server, 1)) {
		fprintf(stderr, "remote_server: %s: %s\n", argv[1], strerror(errno));
		return 1;
	}
	puts("ready");
	fflush(stdout);
	soc = accept(server, NULL, NULL);
	unlink(argv[1]);
	if (soc < 0)
		return 1;
	soc_in = fdopen(soc, "rb");
	soc_out = fdopen(dup(soc), "wb");
	if (!soc_in || !soc_out)
		return 1;
	connect_pages();
	fflush(soc_out);
	while (fread(&message, sizeof(message), 1, soc_in) == 1)
		serve(&message);
	return 0;
}
