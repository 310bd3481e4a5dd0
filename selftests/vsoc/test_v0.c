// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Registers of pre-ratification SiFive encoders (version 0), as a front end to encoder and sink. */
#include <ntrace/trace_control.h>

#include "fault.h"
#include "ram_sink.h"
#include "tap.h"
#include "trace_encoder.h"
#include "v0_encoder.h"

#define MEMORY_BASE UINT64_C(0x180000000)

static struct trace_encoder te;
static struct ram_sink sink;
static struct v0_encoder v0;
static uint8_t memory[0x1000];
static struct trace_encoder_setup queue[8];
static unsigned int queued;

static void deliver(void *opaque, const struct trace_encoder_setup *setup)
{
	(void)opaque;
	queue[queued++] = *setup;
}

static bool put(void *opaque, const uint8_t *data, size_t size)
{
	(void)opaque;
	return ram_sink_put(&sink, data, size);
}

static bool ready(void *opaque)
{
	(void)opaque;
	return sink.enable;
}

static uint64_t now(void *opaque, unsigned int mode)
{
	(void)opaque;
	(void)mode;
	return 0;
}

static const struct trace_encoder_ops te_ops = {
	.deliver = deliver,
	.write = put,
	.ready = ready,
	.time = now,
};

static void mem_open(void *opaque, uint64_t address, uint64_t size)
{
	(void)opaque;
	(void)address;
	(void)size;
}

static void mem_close(void *opaque)
{
	(void)opaque;
}

static void mem_write(void *opaque, uint64_t address, const uint8_t *data, size_t size)
{
	(void)opaque;
	if (address >= MEMORY_BASE && address + size <= MEMORY_BASE + sizeof(memory))
		memcpy(memory + (address - MEMORY_BASE), data, size);
}

static const struct ram_sink_ops mem_ops = { mem_open, mem_close, mem_write };

static uint32_t part_read(void *opaque, enum v0_part part, uint32_t offset)
{
	(void)opaque;
	return part == V0_ENCODER ? trace_encoder_read(&te, offset) : ram_sink_read(&sink, offset);
}

static void part_write(void *opaque, enum v0_part part, uint32_t offset, uint32_t value)
{
	(void)opaque;
	if (part == V0_ENCODER)
		trace_encoder_write(&te, offset, value);
	else
		ram_sink_write(&sink, offset, value);
}

static const struct v0_ops ops = { part_read, part_write };

static void fresh(void)
{
	const struct trace_encoder_parameters e = {
		.src_bits_max = 4,
		.icnt_bits = 22,
		.hist_bits = 31,
		.xlen = 64,
		.v0 = true,
		.fifo = 256,
		.bandwidth = 100000,
		.timestamp_bits = 40,
		.timestamps = NTRACE_TIMESTAMPS_BRANCH,
	};
	const struct ram_sink_parameters s = { .granule = 8, .address_bits = 56, .smem = true };

	queued = 0;
	trace_encoder_init(&te, &e, &te_ops, NULL);
	ram_sink_init(&sink, &s, &mem_ops, NULL);
	v0 = (struct v0_encoder){ .ops = &ops, .hart = 3, .sink_bytes = 8 };
	v0_encoder_power_up(&v0);
}

static uint32_t attempt(uint32_t offset, uint32_t value)
{
	v0_encoder_write(&v0, offset, value);
	return v0_encoder_read(&v0, offset);
}

static void hart_runs(void)
{
	for (unsigned int i = 0; i < queued; i++)
		trace_encoder_apply(&te, &queue[i]);
	queued = 0;
}

/* No periodic sync, in the encoding of teControl */
#define QUIET 0x00ff0000u
#define FIXED 0x71000000u

static void registers(void)
{
	fresh();
	is_hex(v0_encoder_read(&v0, V0_CONTROL), V0_CONTROL_EMPTY, "power-up");
	is_hex(v0_encoder_read(&v0, V0_IMPL), 0, "Impl reads 0 while Active is 0");
	is_hex(attempt(V0_CONTROL, V0_CONTROL_ACTIVE), FIXED | QUIET | 9,
	       "Active: format 1, sink 7; sync is off");
	is_hex(v0_encoder_read(&v0, V0_IMPL), 0x32310080,
	       "Impl: version 0, SBA sink of 8 bytes, SRC 3 of 2 bits, hart 3");
	is_hex(attempt(V0_CONTROL, 0xf00000f1 | QUIET) & ~QUIET, FIXED | 0x79,
	       "mode 7, no ITC mode");
	is_hex(attempt(V0_CONTROL, QUIET | 0x31), FIXED | QUIET | 9, "mode 3 (BTM) does not exist");
	is_hex(attempt(V0_CONTROL, QUIET | 0xe001), FIXED | QUIET | 0xe009,
	       "stalling, StopOnWrap, InhibitSrc");
	is_hex(attempt(V0_SINK_BASE, 0x80000007), 0x80000000, "Base is a multiple of 8");
	is_hex(attempt(V0_SINK_BASE_HIGH, 1), 1, "BaseHigh");
	is_hex(attempt(V0_SINK_LIMIT, 0x80000fff), 0x80000ff8, "Limit");
	is_hex(attempt(V0_SINK_WP, 0x80000000), 0x80000000, "WP");
	ok(sink.start == MEMORY_BASE && sink.limit == MEMORY_BASE + 0xff8 && sink.wp == MEMORY_BASE,
	   "BaseHigh is that of all three");
	is_hex(attempt(0x100, ~0u), 0, "no PC sampling");
	is_hex(attempt(V0_CONTROL, 0), V0_CONTROL_EMPTY, "Active 0");
	ok(!sink.active && !te.active, "resets encoder and sink");
}

static void intervals(void)
{
	fresh();
	attempt(V0_CONTROL, 1);
	v0_encoder_write(&v0, V0_CONTROL, 0x003f0061);
	is_hex(trace_encoder_read(&te, TR_TE_CONTROL) & 0x00f30000, 0x00330000,
	       "2^(3+5) bytes are 2^(3+4) parcels");
	v0_encoder_write(&v0, V0_CONTROL, 0x00f20061);
	is_hex(trace_encoder_read(&te, TR_TE_CONTROL) & 0x00f30000, 0x00310000,
	       "2^(2+5) messages are 2^(3+4)");
	v0_encoder_write(&v0, V0_CONTROL, 0x00ff0061);
	is_hex(trace_encoder_read(&te, TR_TE_CONTROL) & 0x00030000, 0, "15 and 15: off");
}

static void retire(uint64_t iaddr)
{
	struct ntrace_ingress block = {
		.iaddr = iaddr,
		.iretire = 2,
		.itype = NTRACE_ITYPE_RETURN,
		.priv = 3,
	};

	trace_encoder_retire(&te, &block);
}

static void running(void)
{
	fresh();
	attempt(V0_CONTROL, 1);
	v0_encoder_write(&v0, V0_SINK_BASE, 0x80000000);
	v0_encoder_write(&v0, V0_SINK_BASE_HIGH, 1);
	v0_encoder_write(&v0, V0_SINK_LIMIT, 0x80000ff8);
	v0_encoder_write(&v0, V0_SINK_WP, 0x80002000);
	is_hex(attempt(V0_CONTROL, QUIET | 0x63) & (V0_CONTROL_SINK_ERROR | 2),
	       V0_CONTROL_SINK_ERROR, "WP outside of the buffer: SinkError, and not enabled");
	ok(attempt(V0_CONTROL, QUIET | 0x61) & V0_CONTROL_SINK_ERROR, "SinkError stays");
	ok(!(attempt(V0_CONTROL, QUIET | V0_CONTROL_SINK_ERROR | 0x61) & V0_CONTROL_SINK_ERROR),
	   "cleared by writing 1");
	v0_encoder_write(&v0, V0_SINK_WP, 0x80000000);
	is_hex(attempt(V0_CONTROL, QUIET | 0x63), FIXED | QUIET | 0x6b, "Enable");
	is_hex(attempt(V0_CONTROL, QUIET | 0x67), FIXED | QUIET | 0x67, "Tracing; not Empty");
	hart_runs();
	retire(0x100);
	te.overflow = true;
	ok(attempt(V0_CONTROL, QUIET | 0x1067) & V0_CONTROL_STALL_OR_OVERFLOW,
	   "StallOrOverflow stays when 1 is written");
	ok(!(attempt(V0_CONTROL, QUIET | 0x0067) & V0_CONTROL_STALL_OR_OVERFLOW), "cleared by 0");
	v0_encoder_write(&v0, V0_CONTROL, QUIET | 0x61);
	ok(!(v0_encoder_read(&v0, V0_CONTROL) & V0_CONTROL_EMPTY) && sink.enable,
	   "not Empty before the hart has stopped; the sink waits for it");
	hart_runs();
	is_hex(v0_encoder_read(&v0, V0_CONTROL), FIXED | QUIET | 0x69, "then it is Empty");
	/* ProgTraceSync SRC 3 SYNC 5 ICNT 0, FADDR 0x80; Correlation SRC 3 EVCODE 4 CDF 1 ICNT 2 HIST 1 */
	ok(!sink.enable && !memcmp(memory, "\x24\x5c\x01\x00\x0b\x84\x4c", 7),
	   "the trace is in memory, with two bits of SRC");
	is_hex(v0_encoder_read(&v0, V0_SINK_WP), 0x80000010, "and WP is after it");
}

/* A fault injected while it runs, see fault.h. */
static void sink_error(void)
{
	fresh();
	attempt(V0_CONTROL, 1);
	v0_encoder_write(&v0, V0_SINK_BASE, 0x80000000);
	v0_encoder_write(&v0, V0_SINK_BASE_HIGH, 1);
	v0_encoder_write(&v0, V0_SINK_LIMIT, 0x80000ff8);
	v0_encoder_write(&v0, V0_SINK_WP, 0x80000000);
	v0_encoder_write(&v0, FAULT_REGISTER, FAULT_SINK_ERROR);
	ok(!(attempt(V0_CONTROL, QUIET | 0x61) & V0_CONTROL_SINK_ERROR),
	   "the sink fails while it is not enabled: nothing");
	v0_encoder_write(&v0, V0_CONTROL, QUIET | 0x63);
	v0_encoder_write(&v0, V0_CONTROL, QUIET | 0x67);
	hart_runs();
	v0_encoder_write(&v0, FAULT_REGISTER, FAULT_SINK_ERROR);
	ok(v0_encoder_read(&v0, V0_CONTROL) & V0_CONTROL_SINK_ERROR && !sink.enable,
	   "the sink fails while it runs: SinkError, nothing gets to memory");
	v0_encoder_write(&v0, V0_CONTROL, QUIET | 0x61);
	hart_runs();
	ok((v0_encoder_read(&v0, V0_CONTROL) & (V0_CONTROL_SINK_ERROR | V0_CONTROL_EMPTY)) ==
		   (V0_CONTROL_SINK_ERROR | V0_CONTROL_EMPTY),
	   "it can be disabled, and the error stays");
	ok((attempt(V0_CONTROL, QUIET | V0_CONTROL_SINK_ERROR | 0x63) &
	    (V0_CONTROL_SINK_ERROR | 2)) == 2 &&
		   sink.enable,
	   "enabled again, it works");
}

int main(void)
{
	registers();
	intervals();
	running();
	sink_error();
	return done_testing();
}
