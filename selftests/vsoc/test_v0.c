// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Registers of pre-ratification SiFive encoders and funnels (version 0), as a front end to blocks. */
#include <ntrace/trace_control.h>

#include "fault.h"
#include "funnel.h"
#include "ram_sink.h"
#include "tap.h"
#include "trace_encoder.h"
#include "v0_page.h"

#define MEMORY_BASE UINT64_C(0x180000000)

static struct trace_encoder te;
static struct ram_sink sink;
static struct funnel funnel;
static struct v0_page v0;
static uint8_t sent[64];
static size_t sent_size;
static uint32_t owner;
static unsigned int owners;
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
	if (sent_size + size <= sizeof(sent)) {
		memcpy(sent + sent_size, data, size);
		sent_size += size;
	}
	return ram_sink_put(&sink, data, size) || v0.kind == V0_ENCODER;
}

static bool ready(void *opaque)
{
	(void)opaque;
	return sink.enable || v0.kind == V0_ENCODER;
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
	if (part == V0_RAM_SINK)
		return ram_sink_read(&sink, offset);
	return v0.kind == V0_FUNNEL_AND_SINK ? funnel_read(&funnel, offset) :
					       trace_encoder_read(&te, offset);
}

static void part_write(void *opaque, enum v0_part part, uint32_t offset, uint32_t value)
{
	(void)opaque;
	if (part == V0_RAM_SINK)
		ram_sink_write(&sink, offset, value);
	else if (v0.kind == V0_FUNNEL_AND_SINK)
		funnel_write(&funnel, offset, value);
	else
		trace_encoder_write(&te, offset, value);
}

static void own(void *opaque, uint32_t id)
{
	(void)opaque;
	owner = id;
	owners++;
	trace_encoder_context(&te, id);
}

static const struct v0_ops ops = { part_read, part_write, own };

static bool sink_put(void *opaque, unsigned int input, uint8_t id, const uint8_t *data, size_t size)
{
	(void)input;
	(void)id;
	return put(opaque, data, size);
}

static bool sink_ready(void *opaque, unsigned int input)
{
	(void)input;
	return ready(opaque);
}

static const struct trace_port funnel_out = { sink_put, sink_ready, NULL, 0 };

static void fresh_kind(enum v0_kind kind)
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
		.timestamp_shared = kind == V0_ENCODER,
		.context_bits = 32,
		.timestamps = NTRACE_TIMESTAMPS_BRANCH,
	};
	const struct ram_sink_parameters s = { .granule = 8, .address_bits = 56, .smem = true };

	const struct funnel_parameters f = {
		.inputs = 4,
		.timestamp = {
			.width = 40,
			.modes = 1u << TR_TS_MODE_SYSTEM,
			.fixed = true,
			.now = now,
		},
	};

	queued = 0;
	owners = 0;
	sent_size = 0;
	trace_encoder_init(&te, &e, &te_ops, NULL);
	ram_sink_init(&sink, &s, &mem_ops, NULL);
	funnel_init(&funnel, &f, &funnel_out);
	v0 = (struct v0_page){ .ops = &ops, .kind = kind, .hart = 3, .sink_bytes = 8 };
	v0_page_power_up(&v0);
}

static void fresh(void)
{
	fresh_kind(V0_ENCODER_AND_SINK);
}

static uint32_t attempt(uint32_t offset, uint32_t value)
{
	v0_page_write(&v0, offset, value);
	return v0_page_read(&v0, offset);
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
	is_hex(v0_page_read(&v0, V0_CONTROL), V0_CONTROL_EMPTY, "power-up");
	is_hex(v0_page_read(&v0, V0_IMPL), 0, "Impl reads 0 while Active is 0");
	is_hex(attempt(V0_CONTROL, V0_CONTROL_ACTIVE), FIXED | QUIET | 9,
	       "Active: format 1, sink 7; sync is off");
	is_hex(v0_page_read(&v0, V0_IMPL), 0x32310080,
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
	v0_page_write(&v0, V0_CONTROL, 0x003f0061);
	is_hex(trace_encoder_read(&te, TR_TE_CONTROL) & 0x00f30000, 0x00330000,
	       "2^(3+5) bytes are 2^(3+4) parcels");
	v0_page_write(&v0, V0_CONTROL, 0x00f20061);
	is_hex(trace_encoder_read(&te, TR_TE_CONTROL) & 0x00f30000, 0x00310000,
	       "2^(2+5) messages are 2^(3+4)");
	v0_page_write(&v0, V0_CONTROL, 0x00ff0061);
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
	v0_page_write(&v0, V0_SINK_BASE, 0x80000000);
	v0_page_write(&v0, V0_SINK_BASE_HIGH, 1);
	v0_page_write(&v0, V0_SINK_LIMIT, 0x80000ff8);
	v0_page_write(&v0, V0_SINK_WP, 0x80002000);
	is_hex(attempt(V0_CONTROL, QUIET | 0x63) & (V0_CONTROL_SINK_ERROR | 2),
	       V0_CONTROL_SINK_ERROR, "WP outside of the buffer: SinkError, and not enabled");
	ok(attempt(V0_CONTROL, QUIET | 0x61) & V0_CONTROL_SINK_ERROR, "SinkError stays");
	ok(!(attempt(V0_CONTROL, QUIET | V0_CONTROL_SINK_ERROR | 0x61) & V0_CONTROL_SINK_ERROR),
	   "cleared by writing 1");
	v0_page_write(&v0, V0_SINK_WP, 0x80000000);
	is_hex(attempt(V0_CONTROL, QUIET | 0x63), FIXED | QUIET | 0x6b, "Enable");
	is_hex(attempt(V0_CONTROL, QUIET | 0x67), FIXED | QUIET | 0x67, "Tracing; not Empty");
	hart_runs();
	retire(0x100);
	te.overflow = true;
	ok(attempt(V0_CONTROL, QUIET | 0x1067) & V0_CONTROL_STALL_OR_OVERFLOW,
	   "StallOrOverflow stays when 1 is written");
	ok(!(attempt(V0_CONTROL, QUIET | 0x0067) & V0_CONTROL_STALL_OR_OVERFLOW), "cleared by 0");
	v0_page_write(&v0, V0_CONTROL, QUIET | 0x61);
	ok(!(v0_page_read(&v0, V0_CONTROL) & V0_CONTROL_EMPTY) && sink.enable,
	   "not Empty before the hart has stopped; the sink waits for it");
	hart_runs();
	is_hex(v0_page_read(&v0, V0_CONTROL), FIXED | QUIET | 0x69, "then it is Empty");
	/* ProgTraceSync SRC 3 SYNC 5 ICNT 0, FADDR 0x80; Correlation SRC 3 EVCODE 4 CDF 1 ICNT 2 HIST 1 */
	ok(!sink.enable && !memcmp(memory, "\x24\x5c\x01\x00\x0b\x84\x4c", 7),
	   "the trace is in memory, with two bits of SRC");
	is_hex(v0_page_read(&v0, V0_SINK_WP), 0x80000010, "and WP is after it");
}

/* A fault injected while it runs, see fault.h. */
static void sink_error(void)
{
	fresh();
	attempt(V0_CONTROL, 1);
	v0_page_write(&v0, V0_SINK_BASE, 0x80000000);
	v0_page_write(&v0, V0_SINK_BASE_HIGH, 1);
	v0_page_write(&v0, V0_SINK_LIMIT, 0x80000ff8);
	v0_page_write(&v0, V0_SINK_WP, 0x80000000);
	v0_page_write(&v0, FAULT_REGISTER, FAULT_SINK_ERROR);
	ok(!(attempt(V0_CONTROL, QUIET | 0x61) & V0_CONTROL_SINK_ERROR),
	   "the sink fails while it is not enabled: nothing");
	v0_page_write(&v0, V0_CONTROL, QUIET | 0x63);
	v0_page_write(&v0, V0_CONTROL, QUIET | 0x67);
	hart_runs();
	v0_page_write(&v0, FAULT_REGISTER, FAULT_SINK_ERROR);
	ok(v0_page_read(&v0, V0_CONTROL) & V0_CONTROL_SINK_ERROR && !sink.enable,
	   "the sink fails while it runs: SinkError, nothing gets to memory");
	v0_page_write(&v0, V0_CONTROL, QUIET | 0x61);
	hart_runs();
	ok((v0_page_read(&v0, V0_CONTROL) & (V0_CONTROL_SINK_ERROR | V0_CONTROL_EMPTY)) ==
		   (V0_CONTROL_SINK_ERROR | V0_CONTROL_EMPTY),
	   "it can be disabled, and the error stays");
	ok((attempt(V0_CONTROL, QUIET | V0_CONTROL_SINK_ERROR | 0x63) &
	    (V0_CONTROL_SINK_ERROR | 2)) == 2 &&
		   sink.enable,
	   "enabled again, it works");
}

/* An encoder of a P550: it sends to a funnel, whose time it uses. */
static void encoder_alone(void)
{
	fresh_kind(V0_ENCODER);
	is_hex(attempt(V0_CONTROL, V0_CONTROL_ACTIVE), 0x81000000 | QUIET | 9,
	       "alone: format 1, sink 8");
	is_hex(v0_page_read(&v0, V0_IMPL), 0x32300100,
	       "alone: version 0, funnel sink, SRC 3 of 2 bits, hart 3");
	is_hex(attempt(V0_SINK_BASE, 0x80000000), 0, "alone: no sink registers");
	/* Values that were read from a board: see the P550 part of the driver's documentation. */
	is_hex(attempt(V0_CONTROL, 0x00ab01f1), 0x81ab01f9,
	       "as on a board: mode 7, ITC mode 3, SyncMaxBTM 11, SyncMaxInst 10");
	attempt(V0_TS_CONTROL, TR_TS_CONTROL_ACTIVE);
	is_hex(v0_page_read(&v0, V0_TS_CONTROL), 0x28000041, "as on a board: slave, 40 bits");
	is_hex(attempt(V0_TS_CONTROL, 0x000f8021), 0x280f8041,
	       "as on a board: branches 3, ITC and Ownership; the type is read-only");
}

static void stimulus(void)
{
	fresh_kind(V0_ENCODER);
	v0_page_write(&v0, V0_ITC_STIMULUS(31), 7);
	attempt(V0_CONTROL, V0_CONTROL_ACTIVE);
	v0_page_write(&v0, V0_CONTROL, QUIET | 0x161);
	v0_page_write(&v0, V0_ITC_STIMULUS(31), 7);
	ok(!owners, "stimulus: nothing until itcTraceEnable has the bit");
	is_hex(attempt(V0_ITC_TRACE_ENABLE, 0x80000000), 0x80000000, "itcTraceEnable");
	v0_page_write(&v0, V0_ITC_STIMULUS(15), 7);
	v0_page_write(&v0, V0_ITC_STIMULUS(30), 7);
	ok(!owners, "stimulus: 15 is not enabled, 30 is no Ownership");
	v0_page_write(&v0, V0_CONTROL, QUIET | 0x167);
	hart_runs();
	retire(0x100);
	v0_page_write(&v0, V0_ITC_STIMULUS(31), 0x3b2);
	ok(owners == 1 && owner == 0x3b2, "stimulus: 31 has an id");
	retire(0x100);
	retire(0x100);
	v0_page_write(&v0, V0_CONTROL, QUIET | 0x161);
	hart_runs();
	/* Ownership SRC 3 PROCESS 0x3b2 */
	ok(memmem(sent, sent_size, "\x08\x2c\xef", 3),
	   "stimulus: PROCESS of Ownership is the id alone");
	attempt(V0_CONTROL, QUIET | 0xe1);
	v0_page_write(&v0, V0_ITC_STIMULUS(31), 8);
	ok(owners == 1, "ITC mode 1: no Ownership");
}

static void funnel_page(void)
{
	uint8_t message[8] = { 0x24, 0x03 };

	fresh_kind(V0_FUNNEL_AND_SINK);
	is_hex(attempt(V0_CONTROL, V0_CONTROL_ACTIVE), 0x70000009, "funnel: sink 7, no format");
	is_hex(v0_page_read(&v0, V0_IMPL), 0x00010080, "funnel: SBA sink of 8 bytes, no hart");
	attempt(V0_TS_CONTROL, TR_TS_CONTROL_ACTIVE);
	is_hex(attempt(V0_TS_CONTROL, 0x000f8143), 0x28000123,
	       "funnel: time of its own, prescaled; nothing of an encoder");
	v0_page_write(&v0, V0_SINK_BASE, 0x80000000);
	v0_page_write(&v0, V0_SINK_BASE_HIGH, 1);
	v0_page_write(&v0, V0_SINK_LIMIT, 0x80000ff8);
	v0_page_write(&v0, V0_SINK_WP, 0x80000000);
	ok(funnel_put(&funnel, 0, 0, message, sizeof(message)) && !funnel.bytes,
	   "funnel: disabled, it accepts and drops");
	is_hex(attempt(V0_CONTROL, 0x00f00073), 0x7000000b, "funnel: Enable; no mode, no sync");
	ok(funnel_put(&funnel, 0, 0, message, sizeof(message)) && funnel.bytes == 8,
	   "funnel: enabled, it takes trace");
	is_hex(attempt(V0_CONTROL, 1), 0x70000009, "funnel: disabled and empty");
	is_hex(v0_page_read(&v0, V0_SINK_WP), 0x80000008, "funnel: the trace is in memory");
	ok(!memcmp(memory, message, sizeof(message)) && !sink.enable, "funnel: as it came");
	v0_page_write(&v0, V0_SINK_WP, 0x80002000);
	is_hex(attempt(V0_CONTROL, 3) & (V0_CONTROL_SINK_ERROR | 2), V0_CONTROL_SINK_ERROR,
	       "funnel: WP outside of the buffer: SinkError, not enabled");
	is_hex(attempt(V0_CONTROL, 0), V0_CONTROL_EMPTY, "funnel: Active 0");
	ok(!sink.active && !funnel.active, "funnel: resets both");
}

int main(void)
{
	registers();
	intervals();
	running();
	sink_error();
	encoder_alone();
	stimulus();
	funnel_page();
	return done_testing();
}
