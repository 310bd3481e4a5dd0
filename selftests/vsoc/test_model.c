// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Registers of the virtual SoC's trace blocks (Trace Control Interface 1.0, registers of trace
 * encoder and RAM sink), and the trace port of a hart.
 */
#include <ntrace/trace_control.h>

#include "hart.h"
#include "tap.h"

/* An encoder whose hart applies setups when the test says so. */
struct bench {
	struct trace_encoder te;
	struct trace_encoder_setup queue[4];
	unsigned int queued;
	uint8_t bytes[4096];
	size_t size;
	bool full;
};

static void bench_deliver(void *opaque, const struct trace_encoder_setup *setup)
{
	struct bench *bench = opaque;

	bench->queue[bench->queued++] = *setup;
}

static bool bench_write(void *opaque, const uint8_t *data, size_t size)
{
	struct bench *bench = opaque;

	if (bench->full)
		return false;
	memcpy(bench->bytes + bench->size, data, size);
	bench->size += size;
	return true;
}

static bool bench_ready(void *opaque)
{
	return !((struct bench *)opaque)->full;
}

static const struct trace_encoder_ops bench_ops = {
	.deliver = bench_deliver,
	.write = bench_write,
	.ready = bench_ready,
};

static const struct trace_encoder_parameters parameters = {
	.src_bits_max = 4,
	.icnt_bits = 22,
	.hist_bits = 31,
	.xlen = 64,
};

static struct bench bench;

static uint32_t te_read(uint32_t offset)
{
	return trace_encoder_read(&bench.te, offset);
}

static void te_write(uint32_t offset, uint32_t value)
{
	trace_encoder_write(&bench.te, offset, value);
}

static void hart_runs(void)
{
	for (unsigned int i = 0; i < bench.queued; i++)
		trace_encoder_apply(&bench.te, &bench.queue[i]);
	bench.queued = 0;
}

static void te_fresh(void)
{
	memset(&bench, 0, sizeof(bench));
	trace_encoder_init(&bench.te, &parameters, &bench_ops, &bench);
}

static void te_active(void)
{
	te_fresh();
	te_write(TR_TE_CONTROL, TR_CONTROL_ACTIVE);
}

static uint32_t te_try(uint32_t offset, uint32_t value)
{
	te_write(offset, value);
	return te_read(offset);
}

static uint32_t mode_after(uint32_t mode)
{
	return (te_try(TR_TE_CONTROL, TR_CONTROL_ACTIVE | mode << TR_TE_CONTROL_INST_MODE_SHIFT) &
		TR_TE_CONTROL_INST_MODE_MASK) >>
	       TR_TE_CONTROL_INST_MODE_SHIFT;
}

static uint32_t sync_mode_after(uint32_t mode)
{
	return (te_try(TR_TE_CONTROL,
		       TR_CONTROL_ACTIVE | mode << TR_TE_CONTROL_INST_SYNC_MODE_SHIFT) &
		TR_TE_CONTROL_INST_SYNC_MODE_MASK) >>
	       TR_TE_CONTROL_INST_SYNC_MODE_SHIFT;
}

static bool retire(uint64_t iaddr, uint32_t iretire, enum ntrace_itype itype, unsigned int priv)
{
	struct ntrace_ingress block = {
		.iaddr = iaddr,
		.iretire = iretire,
		.itype = itype,
		.priv = priv,
	};

	return trace_encoder_retire(&bench.te, &block) == 0;
}

static void encoder_registers(void)
{
	static const uint32_t mode_lands_on[8] = { 0, 3, 3, 3, 6, 6, 6, 6 };
	bool good = true;

	te_fresh();
	is_hex(te_read(TR_TE_CONTROL), TR_CONTROL_EMPTY,
	       "power-up: Active and Enable are 0, Empty is 1");
	is_hex(te_read(TR_TE_IMPL), 0, "Active 0: Impl reads 0");
	te_write(TR_TE_INST_FEATURES, ~0u);
	te_write(TR_TE_CONTROL, TR_CONTROL_ACTIVE | TR_CONTROL_ENABLE);
	is_hex(te_read(TR_TE_CONTROL),
	       TR_CONTROL_ACTIVE | TR_CONTROL_EMPTY | 1u << TR_TE_CONTROL_FORMAT_SHIFT,
	       "the write that sets Active sets nothing else; Format is N-Trace");
	is_hex(te_read(TR_TE_INST_FEATURES), 0, "a write while Active was 0 is lost");
	is_u64(bench.te.software_errors, 1, "and is an error of the software");
	is_hex(te_read(TR_TE_IMPL), 0x00010101, "Impl: version 1.0, encoder, N-Trace");
	te_write(TR_TE_IMPL, ~0u);
	is_hex(te_read(TR_TE_IMPL), 0x00010101, "Impl is read-only");

	for (uint32_t mode = 0; mode < 8; mode++)
		good &= mode_after(mode) == mode_lands_on[mode];
	ok(good, "InstMode: unsupported modes land on 3 or 6, never on 0");
	ok(sync_mode_after(0) == 0 && sync_mode_after(1) == 1 && sync_mode_after(3) == 3,
	   "SyncMode 0, 1 and 3");
	is_u64(sync_mode_after(2), 3, "SyncMode 2 (cycles) lands on 3");
	is_hex(te_try(TR_TE_CONTROL, ~0u & ~(TR_CONTROL_ENABLE | TR_TE_CONTROL_INST_TRACING)),
	       TR_CONTROL_ACTIVE | TR_CONTROL_EMPTY | 6u << 4 | TR_TE_CONTROL_INHIBIT_SRC |
		       3u << 16 | 15u << 20 | 1u << 24,
	       "all ones: Context, triggers, stalling and reserved bits read 0; Format stays 1");
	is_hex(te_try(TR_TE_INST_FEATURES, ~0u), 0x400f0600,
	       "features: all jumps, address extension, 4 bits of SRC");
	is_hex(te_try(TR_TE_INST_FEATURES, 2u << 28 | 7u << 16), 2u << 28 | 3u << 16,
	       "SrcID is cut to SrcBits");
	is_hex(te_try(TR_TE_INST_FILTERS, ~0u), 1, "filter 0 exists, others do not");
	is_hex(te_try(TR_TE_FILTER_CONTROL(0), ~0u), 0xf,
	       "filter 0: Enable, MatchPrivilege, MatchEcause, MatchInterrupt");
	is_hex(te_try(TR_TE_FILTER_MATCH_INST(0), ~0u), 0x16b,
	       "filter 0: U, S, M, VU and VS; interrupt or exception");
	is_hex(te_try(TR_TE_FILTER_CONTROL(1), ~0u), 0, "filter 1 reads 0");
	is_hex(te_try(TR_TS_CONTROL, ~0u), 0, "no timestamp unit");
	is_hex(te_try(TR_TE_DATA_CONTROL, ~0u), 0, "no data trace");
	is_hex(te_try(TR_TE_TRIG_DBG_CONTROL, ~0u), 0, "no triggers");

	te_write(TR_TE_CONTROL, 0);
	te_write(TR_TE_CONTROL, TR_CONTROL_ACTIVE);
	ok(!te_read(TR_TE_INST_FEATURES) && !te_read(TR_TE_INST_FILTERS) &&
		   !te_read(TR_TE_FILTER_CONTROL(0)) &&
		   !(te_read(TR_TE_CONTROL) & TR_TE_CONTROL_INST_MODE_MASK),
	   "Active 0 resets everything");
}

static void encoder_tracing(void)
{
	const uint32_t htm = TR_CONTROL_ACTIVE | 6u << 4;
	const uint32_t enabled = htm | TR_CONTROL_ENABLE;
	const uint32_t tracing = enabled | TR_TE_CONTROL_INST_TRACING;

	te_active();
	te_write(TR_TE_CONTROL, htm | TR_TE_CONTROL_INST_TRACING);
	ok(!(te_read(TR_TE_CONTROL) & TR_TE_CONTROL_INST_TRACING) && !bench.queued,
	   "InstTracing without Enable is ignored");
	te_write(TR_TE_CONTROL, enabled);
	is_u64(bench.queued, 0, "Enable alone traces nothing");
	te_write(TR_TE_CONTROL, tracing);
	is_u64(bench.queued, 1, "InstTracing asks the hart to start");
	ok(te_read(TR_TE_CONTROL) & TR_TE_CONTROL_INST_TRACING, "and reads 1 at once");
	ok(!(te_read(TR_TE_CONTROL) & TR_CONTROL_EMPTY), "tracing: not Empty");
	hart_runs();

	te_write(TR_TE_CONTROL, tracing ^ (5u << 4));
	is_hex(te_read(TR_TE_CONTROL) & TR_TE_CONTROL_INST_MODE_MASK, 6u << 4,
	       "InstMode is frozen while enabled");
	te_write(TR_TE_INST_FEATURES, ~0u);
	te_write(TR_TE_INST_FILTERS, 1);
	ok(!te_read(TR_TE_INST_FEATURES) && !te_read(TR_TE_INST_FILTERS),
	   "features and filters too");
	is_u64(bench.te.software_errors, 3, "each is an error of the software");

	retire(0x100, 3, NTRACE_ITYPE_BRANCH_TAKEN, 3);
	te_write(TR_TE_CONTROL, htm);
	ok(!(te_read(TR_TE_CONTROL) & (TR_CONTROL_ENABLE | TR_TE_CONTROL_INST_TRACING)),
	   "Enable 0 also clears InstTracing");
	ok(!(te_read(TR_TE_CONTROL) & TR_CONTROL_EMPTY), "not Empty before the hart has stopped");
	hart_runs();
	ok(te_read(TR_TE_CONTROL) & TR_CONTROL_EMPTY, "Empty when it has");
	ok(bench.size == 8 && !memcmp(bench.bytes, "\x24\x15\x00\x0b\x84\x50\x0d\x0f", 8),
	   "ProgTraceSync SYNC 5 and Correlation EVCODE 4");

	te_write(TR_TE_CONTROL, tracing & ~TR_TE_CONTROL_INST_MODE_MASK);
	is_u64(bench.queued, 0, "InstMode 0 traces nothing");
	te_write(TR_TE_CONTROL, htm);

	/* Tracing stops and starts before the hart applies either: both take effect, in order. */
	te_write(TR_TE_CONTROL, tracing);
	hart_runs();
	retire(0x100, 1, NTRACE_ITYPE_NONE, 3);
	bench.size = 0;
	te_write(TR_TE_CONTROL, htm);
	te_write(TR_TE_CONTROL, tracing);
	is_u64(bench.queued, 2, "a stop and a start on their way");
	hart_runs();
	retire(0x200, 1, NTRACE_ITYPE_NONE, 3);
	ok(!memcmp(bench.bytes, "\x84\x50\x05\x07\x24\x15\x00\x13", 8),
	   "Correlation, then ProgTraceSync");

	bench.size = 0;
	te_write(TR_TE_CONTROL, 0);
	hart_runs();
	ok(!bench.size && te_read(TR_TE_CONTROL) == TR_CONTROL_EMPTY,
	   "Active 0 while tracing: stops without a word");

	te_active();
	te_write(TR_TE_CONTROL, tracing);
	trace_encoder_power_up(&bench.te);
	ok(!trace_encoder_apply(&bench.te, &bench.queue[0]) && !bench.te.running,
	   "a setup from before a power-up is void");
}

static void encoder_overflow(void)
{
	const uint32_t tracing = TR_CONTROL_ACTIVE | TR_CONTROL_ENABLE |
				 TR_TE_CONTROL_INST_TRACING | 6u << 4;

	te_active();
	te_write(TR_TE_CONTROL, tracing);
	hart_runs();
	retire(0x100, 1, NTRACE_ITYPE_RETURN, 3);
	bench.full = true;
	retire(0x200, 1, NTRACE_ITYPE_RETURN, 3);
	retire(0x300, 1, NTRACE_ITYPE_RETURN, 3);
	ok(te_read(TR_TE_CONTROL) & TR_TE_CONTROL_INST_STALL_OR_OVERFLOW,
	   "trace refused: StallOrOverflow is set");
	te_write(TR_TE_CONTROL, tracing);
	ok(te_read(TR_TE_CONTROL) & TR_TE_CONTROL_INST_STALL_OR_OVERFLOW,
	   "StallOrOverflow stays when 0 is written");
	te_write(TR_TE_CONTROL, tracing | TR_TE_CONTROL_INST_STALL_OR_OVERFLOW);
	ok(!(te_read(TR_TE_CONTROL) & TR_TE_CONTROL_INST_STALL_OR_OVERFLOW),
	   "StallOrOverflow is cleared by 1");
	bench.full = false;
	bench.size = 0;
	retire(0x400, 1, NTRACE_ITYPE_NONE, 3);
	ok(bench.size == 7 && !memcmp(bench.bytes, "\x20\x00\x07\x24\x1d\x00\x23", 7),
	   "room again: Error, then ProgTraceSync SYNC 7");
	bench.te.overflow = true;
	te_write(TR_TE_CONTROL, TR_CONTROL_ACTIVE | 6u << 4);
	ok(te_read(TR_TE_CONTROL) & TR_TE_CONTROL_INST_STALL_OR_OVERFLOW,
	   "disabling keeps StallOrOverflow");
	te_write(TR_TE_CONTROL, TR_CONTROL_ACTIVE | TR_CONTROL_ENABLE | 6u << 4);
	ok(!(te_read(TR_TE_CONTROL) & TR_TE_CONTROL_INST_STALL_OR_OVERFLOW),
	   "setting Enable clears StallOrOverflow");
}

/* @count calls of three functions, some 5 bytes each. */
static void retire_jumps(unsigned int count)
{
	for (unsigned int i = 0; i < count; i++)
		retire(0x1000 + i % 3 * 0x1000, 2, NTRACE_ITYPE_RETURN, 3);
}

/* Traces with a bandwidth of @bandwidth bytes per 1,000 parcels. */
static void run_queue(uint32_t bandwidth, uint32_t stall)
{
	struct trace_encoder_parameters narrow = parameters;
	const uint32_t on = TR_CONTROL_ACTIVE | TR_CONTROL_ENABLE | 6u << 4 | stall;

	narrow.fifo = 256;
	narrow.bandwidth = bandwidth;
	memset(&bench, 0, sizeof(bench));
	trace_encoder_init(&bench.te, &narrow, &bench_ops, &bench);
	te_write(TR_TE_CONTROL, TR_CONTROL_ACTIVE);
	te_write(TR_TE_CONTROL, on);
	te_write(TR_TE_CONTROL, on | TR_TE_CONTROL_INST_TRACING);
	hart_runs();
	retire_jumps(300);
}

static unsigned int count_errors(void)
{
	unsigned int errors = 0;

	for (size_t i = 1; i < bench.size; i++)
		errors += (bench.bytes[i - 1] & 3) == 3 && bench.bytes[i] == 0x20;
	return errors;
}

static void encoder_queue(void)
{
	size_t all;

	te_active();
	te_write(TR_TE_CONTROL,
		 TR_CONTROL_ACTIVE | TR_CONTROL_ENABLE | TR_TE_CONTROL_INST_TRACING | 6u << 4);
	hart_runs();
	retire_jumps(300);
	all = bench.size;
	run_queue(4000, 0);
	is_u64(bench.te.lost, 0, "a wide way out: nothing is lost");
	ok(bench.size == all && count_errors() == 0 &&
		   !(te_read(TR_TE_CONTROL) & TR_TE_CONTROL_INST_STALL_OR_OVERFLOW),
	   "four bytes for each parcel: what comes out is what comes without a queue");
	/* In 600 parcels, 300 bytes leave the queue, and 256 more wait in it. */
	run_queue(500, 0);
	ok(bench.te.lost && bench.size <= 556 && bench.size >= 400,
	   "half a byte: the excess is lost (%u bytes of %u)", (unsigned int)bench.size,
	   (unsigned int)all);
	ok(count_errors() && te_read(TR_TE_CONTROL) & TR_TE_CONTROL_INST_STALL_OR_OVERFLOW,
	   "with Error where it is missing, and StallOrOverflow");
	run_queue(500, TR_TE_CONTROL_INST_STALL_ENA);
	ok(!bench.te.lost && !count_errors() && bench.size == all, "StallEna: nothing is lost");
	/* Cycles for the bytes that exceed 256 bytes of queue and 300 bytes sent, twice. */
	ok(bench.te.stalled + 2 >= 2 * (all - 256 - 300) && bench.te.stalled <= 2 * (all - 256),
	   "but the hart has waited (%u cycles)", (unsigned int)bench.te.stalled);
	ok(te_read(TR_TE_CONTROL) & TR_TE_CONTROL_INST_STALL_OR_OVERFLOW,
	   "StallOrOverflow says so");
	te_active();
	is_hex(te_try(TR_TE_CONTROL, TR_CONTROL_ACTIVE | TR_TE_CONTROL_INST_STALL_ENA) &
		       TR_TE_CONTROL_INST_STALL_ENA,
	       0, "without a queue there is no StallEna");
}

static void encoder_features(void)
{
	struct trace_encoder_parameters with = parameters;

	with.implicit_return = 2;
	with.repeated_history = true;
	memset(&bench, 0, sizeof(bench));
	trace_encoder_init(&bench.te, &with, &bench_ops, &bench);
	te_write(TR_TE_CONTROL, TR_CONTROL_ACTIVE);
	is_hex(te_read(TR_TE_INST_FEATURES), 0x80, "features: ImplicitReturnMode 2, read-only");
	is_hex(te_try(TR_TE_INST_FEATURES, 0x1d), 0x88, "features: implicit return");
	is_hex(te_try(TR_TE_INST_FEATURES, 0x308), 0x380,
	       "features: repeated history; all jumps excludes implicit return");
	te_write(TR_TE_INST_FEATURES, 0x108);
	te_write(TR_TE_CONTROL,
		 TR_CONTROL_ACTIVE | TR_CONTROL_ENABLE | 6u << 4 | TR_TE_CONTROL_INST_TRACING);
	hart_runs();
	ok(bench.te.encoder.params.implicit_return == 2 && bench.te.encoder.config.repeated_history,
	   "features: both are in effect");
	te_write(TR_TE_CONTROL, TR_CONTROL_ACTIVE);
	hart_runs();
	te_write(TR_TE_CONTROL,
		 TR_CONTROL_ACTIVE | TR_CONTROL_ENABLE | 3u << 4 | TR_TE_CONTROL_INST_TRACING);
	hart_runs();
	ok(bench.te.encoder.params.implicit_return == 2 &&
		   !bench.te.encoder.config.repeated_history,
	   "features: BTM has no history to repeat");
}

/* Active, with two triggers; the other bits as in @control */
static void triggers_fresh(uint32_t in, uint32_t out, uint32_t control)
{
	struct trace_encoder_parameters with = parameters;

	with.triggers = 2;
	memset(&bench, 0, sizeof(bench));
	trace_encoder_init(&bench.te, &with, &bench_ops, &bench);
	te_write(TR_TE_CONTROL, TR_CONTROL_ACTIVE);
	te_write(TR_TE_TRIG_EXT_IN_CONTROL, in);
	te_write(TR_TE_TRIG_EXT_OUT_CONTROL, out);
	te_write(TR_TE_CONTROL, TR_CONTROL_ACTIVE | TR_CONTROL_ENABLE | 6u << 4 | control);
	hart_runs();
}

static bool is_tracing(void)
{
	return te_read(TR_TE_CONTROL) & TR_TE_CONTROL_INST_TRACING;
}

static void encoder_triggers(void)
{
	triggers_fresh(~0u, ~0u, 0);
	is_hex(te_read(TR_TE_TRIG_EXT_IN_CONTROL), 0, "inputs: vendor actions are not there");
	is_hex(te_read(TR_TE_TRIG_EXT_OUT_CONTROL), 0x33, "two outputs, on and off");
	triggers_fresh(0x4321, 0, 0);
	is_hex(te_read(TR_TE_TRIG_EXT_IN_CONTROL), 0x20, "two inputs; action 1 is reserved");

	/* Input 0 on, input 1 off; output 0 at on, output 1 at off */
	triggers_fresh(0x32, 0x21, 0);
	te_write(TRACE_ENCODER_TRIGGER_IN, 1);
	ok(!is_tracing() && !bench.queued, "without InstTrigEnable nothing happens");
	triggers_fresh(0x32, 0x21, TR_TE_CONTROL_INST_TRIG_ENABLE);
	te_write(TRACE_ENCODER_TRIGGER_IN, 4);
	ok(!is_tracing(), "input 2 does not exist");
	te_write(TRACE_ENCODER_TRIGGER_IN, 1);
	ok(is_tracing() && bench.queued == 1, "action 2: tracing begins");
	is_hex(te_read(TRACE_ENCODER_TRIGGER_OUT), 1, "output 0 fires");
	hart_runs();
	retire(0x100, 3, NTRACE_ITYPE_NONE, 3);
	ok(bench.size == 4 && !memcmp(bench.bytes, "\x24\x15\x00\x0b", 4), "with SYNC 5");
	te_write(TRACE_ENCODER_TRIGGER_IN, 2);
	ok(!is_tracing() && te_read(TR_TE_CONTROL) & TR_CONTROL_ENABLE,
	   "action 3: tracing ends, Enable stays");
	is_hex(te_read(TRACE_ENCODER_TRIGGER_OUT), 3, "output 1 fires, output 0 is still set");
	te_write(TRACE_ENCODER_TRIGGER_OUT, 1);
	is_hex(te_read(TRACE_ENCODER_TRIGGER_OUT), 2, "cleared by 1");

	triggers_fresh(0x04, 0, TR_TE_CONTROL_INST_TRIG_ENABLE | TR_TE_CONTROL_INST_TRACING);
	retire(0x100, 3, NTRACE_ITYPE_NONE, 3);
	bench.size = 0;
	te_write(TRACE_ENCODER_TRIGGER_IN, 1);
	hart_runs();
	retire(0x106, 1, NTRACE_ITYPE_NONE, 3);
	/* ProgTraceSync SYNC 0, ICNT 3, FADDR 0x83 */
	ok(bench.size == 4 && !memcmp(bench.bytes, "\x24\xc1\x0c\x0b", 4) && is_tracing(),
	   "action 4: a sync message with SYNC 0");
}

/* A debugger owns the encoder; and accesses while the hart is off. */
static void encoder_ownership(void)
{
	triggers_fresh(0, 0, TR_TE_CONTROL_INST_TRACING);
	te_write(TRACE_ENCODER_DEBUGGER, 1);
	ok(te_read(TR_TE_CONTROL) & TR_TE_CONTROL_DIS_SELF_HOSTED, "a debugger owns the encoder");
	te_write(TR_TE_CONTROL, 0);
	te_write(TR_TE_INST_FEATURES, 0);
	ok(is_tracing() && te_read(TRACE_ENCODER_DEBUGGER) == 5,
	   "two writes of software are ignored");
	te_write(TRACE_ENCODER_DEBUGGER, 0);
	is_hex(te_read(TR_TE_CONTROL) & TR_TE_CONTROL_DIS_SELF_HOSTED, 0, "it gives it back");
	te_write(TR_TE_CONTROL, 0);
	ok(!is_tracing(), "software stops it");
	trace_encoder_unpowered(&bench.te, TR_TE_CONTROL);
	trace_encoder_unpowered(&bench.te, TRACE_ENCODER_UNPOWERED);
	is_hex(te_read(TRACE_ENCODER_UNPOWERED), 1, "an access while the hart is off");
}

/* A debug trigger of the hart, which acts whatever external triggers do. */
static void encoder_debug_triggers(void)
{
	triggers_fresh(0, 0x21, 0);
	te_write(TRACE_ENCODER_TRIGGER_DBG, TR_TE_TRIG_ACTION_ON);
	ok(!is_tracing() && !bench.queued, "debug trigger: without InstTrigEnable nothing happens");
	triggers_fresh(0, 0x21, TR_TE_CONTROL_INST_TRIG_ENABLE);
	te_write(TRACE_ENCODER_TRIGGER_DBG, TR_TE_TRIG_ACTION_ON);
	ok(is_tracing(), "debug trigger: action 2: tracing begins");
	is_hex(te_read(TRACE_ENCODER_TRIGGER_OUT), 1, "output 0 fires");
	hart_runs();
	retire(0x100, 3, NTRACE_ITYPE_NONE, 3);
	bench.size = 0;
	te_write(TRACE_ENCODER_TRIGGER_DBG, TR_TE_TRIG_ACTION_NOTIFY);
	hart_runs();
	retire(0x106, 1, NTRACE_ITYPE_NONE, 3);
	/* ProgTraceSync SYNC 6, ICNT 3, FADDR 0x83 */
	ok(bench.size == 4 && !memcmp(bench.bytes, "\x24\xd9\x0c\x0b", 4),
	   "debug trigger: action 4: a sync message with SYNC 6");
	te_write(TRACE_ENCODER_TRIGGER_DBG, TR_TE_TRIG_ACTION_OFF);
	ok(!is_tracing(), "debug trigger: action 3: tracing ends");
}

static size_t bytes_of_filtered(uint32_t selected, uint32_t control, uint32_t mask,
				unsigned int priv)
{
	te_active();
	te_write(TR_TE_FILTER_MATCH_INST(0), mask);
	te_write(TR_TE_FILTER_CONTROL(0), control);
	te_write(TR_TE_INST_FILTERS, selected);
	te_write(TR_TE_CONTROL,
		 TR_CONTROL_ACTIVE | TR_CONTROL_ENABLE | TR_TE_CONTROL_INST_TRACING | 6u << 4);
	hart_runs();
	retire(0x100, 1, NTRACE_ITYPE_NONE, priv);
	return bench.size;
}

static void encoder_filters(void)
{
	ok(bytes_of_filtered(0, 3, 1, 3), "no filter selected: all is traced");
	ok(bytes_of_filtered(1, 3, 1, 0), "MatchPrivilege U: U is traced");
	ok(!bytes_of_filtered(1, 3, 1, 1), "MatchPrivilege U: S is not");
	ok(!bytes_of_filtered(1, 3, 3, 3), "MatchPrivilege U and S: M is not");
	ok(bytes_of_filtered(1, 1, 1, 3), "selected without a condition: matches all");
	ok(!bytes_of_filtered(1, 2, 1, 0), "selected but not enabled: matches nothing");
}

/* Trace port */
static unsigned int complaints;

static void complain(void *opaque, uint64_t iaddr, uint32_t block, uint64_t pc)
{
	(void)opaque;
	(void)iaddr;
	(void)block;
	(void)pc;
	complaints++;
}

static void trace_port(void)
{
	static const struct {
		uint32_t insn;
		uint8_t itype;
	} classes[] = {
		/* The classification examples of the trace ingress port. */
		{ 0x000280e7, 12 }, { 0x000080e7, 8 }, { 0x00008067, 13 }, { 0x00028067, 13 },
		{ 0x00030067, 10 }, { 0x000303e7, 14 }, { 0x0000006f, 11 }, { 0x000000ef, 9 },
		{ 0x000003ef, 15 }, { 0x8082, 13 },	{ 0x9282, 12 },	    { 0x9082, 8 },
		{ 0xa001, 11 },	    { 0xbe42, 13 },	{ 0xbc42, 13 },	    { 0xb842, 0 },
		{ 0xba42, 0 },	    { 0xa002, 11 },	{ 0xa082, 9 },	    { 0x9002, 0 },
		{ 0x73, 0 },	    { 0x100073, 0 },	{ 0x10500073, 0 },  { 0x30200073, 3 },
		{ 0x10200073, 3 },  { 0x00000463, 4 },	{ 0xc001, 4 },	    { 0xe001, 4 },
		{ 0x2001, 0 }, { 0x0000100f, 0 }, { 0x8002, 0 }, { 0x852e, 0 },
	};
	struct hart hart = { .te = &bench.te, .complain = complain };
	uint32_t block = hart_block(6, NTRACE_ITYPE_BRANCH_NOT_TAKEN, 1, 3);
	unsigned int wrong = 0;

	for (size_t i = 0; i < sizeof(classes) / sizeof(*classes); i++)
		if (hart_itype(classes[i].insn, 64, true, true) != classes[i].itype) {
			diag("0x%x: %u", classes[i].insn,
			     hart_itype(classes[i].insn, 64, true, true));
			wrong++;
		}
	is_u64(wrong, 0, "itype of each kind of instruction");
	is_u64(hart_itype(0x2001, 32, false, false), 9, "C.JAL exists in RV32 only");
	is_u64(hart_itype(0xbe42, 64, false, false), 0, "CM.POPRET is C.FSDSP without Zcmp");

	te_active();
	te_write(TR_TE_CONTROL,
		 TR_CONTROL_ACTIVE | TR_CONTROL_ENABLE | TR_TE_CONTROL_INST_TRACING | 6u << 4);
	is_u64(hart_apply(&hart, &bench.queue[0], 0x80, HART_MARK_NONE), true,
	       "the hart must announce its blocks");
	bench.queued = 0;
	hart_enter(&hart, 0x100, block, HART_MARK_NONE);
	hart_enter(&hart, 0x10c, block, HART_MARK_TAKEN);
	hart_enter(&hart, 0x118, block, HART_MARK_END);
	is_u64(bench.te.encoder.icnt, 12, "marked blocks count in full");
	is_hex(bench.te.encoder.hist, 6, "taken and not taken, by the mark alone");
	hart_enter(&hart, 0x11c, block, HART_MARK_NONE);
	is_u64(bench.te.encoder.icnt, 14, "an unmarked block counts up to the place of the hart");
	hart_enter(&hart, 0x11c, block, HART_MARK_NONE);
	is_u64(bench.te.encoder.icnt, 14, "entered again at its first instruction: nothing");
	hart_trap(&hart, 0x120, true, 7, 3, HART_MARK_NONE);
	is_u64(bench.te.encoder.icnt, 16, "a trap cuts it at epc");
	bench.size = 0;
	hart_enter(&hart, 0x200, block, HART_MARK_NONE);
	hart_enter(&hart, 0x20c, block, HART_MARK_END);
	ok(bench.size && (bench.bytes[0] & 0xfc) == 0x70,
	   "its message comes with the handler's address");
	hart_enter(&hart, 0x500, block, HART_MARK_NONE);
	is_u64(complaints, 1, "a step that no block explains is complained about");
	bench.size = 0;
	hart_enter(&hart, 0x50c, block, HART_MARK_END);
	ok(!memcmp(bench.bytes, "\x20\x00\x07\x24", 4), "and loses the trace up to a new sync");
	te_write(TR_TE_CONTROL, TR_CONTROL_ACTIVE);
	bench.size = 0;
	is_u64(hart_apply(&hart, &bench.queue[0], 0x50e, HART_MARK_NONE), false, "stopped");
	/* I-CNT 6 + 1, HIST 2 */
	ok(!memcmp(bench.bytes, "\x84\x50\x1d\x0b", 4),
	   "a stop reports what the hart has done of its block");
}

int main(void)
{
	encoder_registers();
	encoder_tracing();
	encoder_overflow();
	encoder_queue();
	encoder_features();
	encoder_triggers();
	encoder_debug_triggers();
	encoder_ownership();
	encoder_filters();
	trace_port();
	return done_testing();
}
