// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The encoder of this directory behind the co-simulation port of the virtual SoC (tools/vsoc/remote.h): the Verilator
 * model of trace_soc.v, its clock, and the messages.
 *
 *	rtl_server [--funnel] PATH [EVERY [WAIT]]
 *
 * With --funnel, the encoders share a sink.
 * EVERY: a hart retires a block every EVERY cycles, and the encoder loses the blocks that it cannot take. 0, the default:
 * the hart waits for the encoder, in no time of its own. WAIT: cycles that a write to memory waits.
 *
 * The simulation runs only while the SoC waits for an answer, and goes on until the trace components are idle.
 */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "Vtrace_soc.h"
#include "remote.h"

#define PAGE 0x1000u
#define ENCODERS 0x6000000u
#define FUNNEL 0x6020000u
#define SINKS 0x6040000u
/* Cycles after which components that are not idle are considered blocked: the sink is off, for instance. */
#define BLOCKED (4096 * (1 + memory_wait))

static Vtrace_soc *soc;
static FILE *from_qemu, *to_qemu;
static unsigned int every, memory_wait, memory_waited, active;
static uint64_t scontext[HARTS];
/* No hart waits for an encoder that has been seen blocked. */
static bool blocked[HARTS];
static bool funnelled;

static void send_message(uint32_t op, uint32_t id, uint64_t a, uint64_t b, uint64_t c)
{
	struct remote_message message = { op, id, a, b, c };

	if (fwrite(&message, sizeof(message), 1, to_qemu) != 1)
		exit(1);
}

static void clock_cycle(void)
{
	soc->clk = 0;
	soc->mem_ready = memory_waited >= memory_wait;
	soc->eval();
	if (soc->mem_valid && soc->mem_ready)
		send_message(REMOTE_MEM, 8, soc->mem_address, soc->mem_data, 0);
	memory_waited = soc->mem_valid && !soc->mem_ready ? memory_waited + 1 : 0;
	soc->clk = 1;
	soc->eval();
}

static void clock_until_idle(void)
{
	for (unsigned int i = 0; i == 0 || (!soc->idle && i < BLOCKED); i++)
		clock_cycle();
}

static void reset_all(void)
{
	soc->reset = 1;
	clock_cycle();
	clock_cycle();
	soc->reset = 0;
	active = 0;
	memset(scontext, 0, sizeof(scontext));
	memset(blocked, 0, sizeof(blocked));
}

static void announce_pages(void)
{
	/* The pages before the encoders' */
	unsigned int first = funnelled ? 2 : HARTS;

	send_message(REMOTE_HELLO, 0, REMOTE_VERSION, 4, first + HARTS);
	for (unsigned int i = 0; i < (funnelled ? 1 : HARTS); i++)
		send_message(REMOTE_PAGE, 9, SINKS + i * PAGE, i, REMOTE_NONE);
	if (funnelled)
		send_message(REMOTE_PAGE, 8, FUNNEL, 0, 0);
	for (unsigned int i = 0; i < HARTS; i++)
		send_message(REMOTE_PAGE, 1, ENCODERS + i * PAGE, i, funnelled ? 1 : i);
}

static void announce_active(void)
{
	for (unsigned int i = 0; i < HARTS; i++)
		if ((active ^ soc->active) >> i & 1)
			send_message(REMOTE_ACTIVE, i, soc->active >> i & 1, 0, 0);
	active = soc->active;
}

static void access_register(const struct remote_message *message)
{
	uint32_t value;
	bool error;

	soc->bus_valid = 1;
	soc->bus_write = message->op == REMOTE_WRITE;
	soc->bus_address = message->a - ENCODERS;
	soc->bus_wdata = message->b;
	soc->clk = 0;
	soc->eval();
	value = soc->bus_rdata;
	error = soc->bus_error;
	clock_cycle();
	soc->bus_valid = 0;
	clock_until_idle();
	announce_active();
	send_message(REMOTE_REPLY, message->id, value, error, 0);
	fflush(to_qemu);
}

static void retire_block(const struct remote_message *message)
{
	unsigned int hart = REMOTE_BLOCK_HART(message->id), stalled = 0;

	if (hart >= HARTS)
		return;
	for (unsigned int i = 1; i < every; i++)
		clock_cycle();
	if (soc->room >> hart & 1)
		blocked[hart] = false;
	for (unsigned int i = 0; (!every || soc->stall >> hart & 1) && !(soc->room >> hart & 1) && !blocked[hart]; i++) {
		clock_cycle();
		stalled += soc->stall >> hart & 1;
		blocked[hart] = i >= BLOCKED;
	}
	if (stalled)
		send_message(REMOTE_STALL, hart, stalled, 0, 0);
	soc->block_valid = 1;
	soc->block_hart = hart;
	soc->iretire = REMOTE_BLOCK_IRETIRE(message->id);
	soc->itype = REMOTE_BLOCK_ITYPE(message->id);
	soc->priv = REMOTE_BLOCK_PRIV(message->id);
	soc->scontext = scontext[hart];
	soc->iaddr = message->a;
	clock_cycle();
	soc->block_valid = 0;
}

static void serve(const struct remote_message *message)
{
	switch (message->op) {
	case REMOTE_READ:
	case REMOTE_WRITE:
		access_register(message);
		break;
	case REMOTE_SYNC:
		clock_until_idle();
		announce_active();
		send_message(REMOTE_SYNC, message->id, 0, 0, 0);
		fflush(to_qemu);
		break;
	case REMOTE_BLOCK:
		retire_block(message);
		break;
	case REMOTE_STATE:
		if (message->id < HARTS)
			scontext[message->id] = message->a;
		break;
	case REMOTE_TIME:
		soc->now = message->a & 0xffffffffffff;
		break;
	case REMOTE_RESET:
		reset_all();
		break;
	default:
		fprintf(stderr, "rtl_server: unknown message %u\n", message->op);
	}
}

int main(int argc, char **argv)
{
	struct sockaddr_un address = {};
	struct remote_message message;
	int listener = socket(AF_UNIX, SOCK_STREAM, 0), connection;

	funnelled = argc > 1 && !strcmp(argv[1], "--funnel");
	argc -= funnelled;
	argv += funnelled;
	if (argc < 2 || argc > 4 || strlen(argv[1]) >= sizeof(address.sun_path)) {
		fprintf(stderr, "usage: rtl_server [--funnel] PATH [EVERY [WAIT]]\n");
		return 2;
	}
	every = argc > 2 ? strtoul(argv[2], NULL, 0) : 0;
	memory_wait = argc > 3 ? strtoul(argv[3], NULL, 0) : 0;
	address.sun_family = AF_UNIX;
	strcpy(address.sun_path, argv[1]);
	unlink(argv[1]);
	if (listener < 0 || bind(listener, (struct sockaddr *)&address, sizeof(address)) || listen(listener, 1)) {
		perror(argv[1]);
		return 1;
	}
	puts("ready");
	fflush(stdout);
	connection = accept(listener, NULL, NULL);
	unlink(argv[1]);
	if (connection < 0)
		return 1;
	from_qemu = fdopen(connection, "rb");
	to_qemu = fdopen(dup(connection), "wb");
	if (!from_qemu || !to_qemu)
		return 1;
	soc = new Vtrace_soc;
	soc->funnelled = funnelled;
	reset_all();
	announce_pages();
	fflush(to_qemu);
	while (fread(&message, sizeof(message), 1, from_qemu) == 1)
		serve(&message);
	delete soc;
	return 0;
}
