// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Injected faults: the effect of each fault on each block, as software sees it.
 */
#include <ntrace/trace_control.h>

#include "funnel.h"
#include "kept.h"
#include "ram_sink.h"
#include "tap.h"

static struct funnel funnel;
static struct ram_sink sink;

static bool take(void *opaque, unsigned int input, uint8_t id, const uint8_t *data, size_t size)
{
	(void)opaque;
	(void)input;
	(void)id;
	(void)data;
	(void)size;
	return true;
}

static bool always_ready(void *opaque, unsigned int input)
{
	(void)opaque;
	(void)input;
	return true;
}

static const struct trace_port nowhere = { take, always_ready, NULL, 0 };

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
	(void)address;
	(void)data;
	(void)size;
}

static const struct ram_sink_ops mem_ops = { mem_open, mem_close, mem_write };

static bool te_ready(void *opaque)
{
	(void)opaque;
	return true;
}

static const struct trace_encoder_ops te_ops = {
	.deliver = apply_now,
	.write = keep_bytes,
	.ready = te_ready,
};

static void power_up(uint32_t faults)
{
	struct funnel_parameters f = { .inputs = 2, .faults = faults };
	struct ram_sink_parameters s = {
		.granule = 64, .address_bits = 56, .smem = true, .faults = faults
	};
	struct trace_encoder_parameters e = {
		.src_bits_max = 4,
		.icnt_bits = 22,
		.hist_bits = 31,
		.xlen = 64,
		.faults = faults,
		.fault_drop = 256,
	};

	funnel_init(&funnel, &f, &nowhere);
	ram_sink_init(&sink, &s, &mem_ops, NULL);
	trace_encoder_init(&te, &e, &te_ops, NULL);
}

enum block { ENCODER, FUNNEL, RAM_SINK, BLOCKS };

static void wr(enum block block, uint32_t offset, uint32_t value)
{
	if (block == ENCODER)
		trace_encoder_write(&te, offset, value);
	else if (block == FUNNEL)
		funnel_write(&funnel, offset, value);
	else
		ram_sink_write(&sink, offset, value);
}

static uint32_t rd(enum block block, uint32_t offset)
{
	if (block == ENCODER)
		return trace_encoder_read(&te, offset);
	return block == FUNNEL ? funnel_read(&funnel, offset) : ram_sink_read(&sink, offset);
}

/*
 * Expects the bits of @mask to be 1 in tr??Control of each block that has them.
 */
static bool all_read(uint32_t offset, uint32_t mask, uint32_t expected)
{
	bool good = true;

	for (enum block block = 0; block < BLOCKS; block++)
		if ((rd(block, offset) & mask) != expected) {
			diag("block %d reads 0x%x", block, rd(block, offset));
			good = false;
		}
	return good;
}

static void all_write(uint32_t offset, uint32_t value)
{
	for (enum block block = 0; block < BLOCKS; block++)
		wr(block, offset, value);
}

static void names(void)
{
	uint32_t mask = 7;

	ok(fault_parse(NULL, 0, &mask) && !mask, "no property, no fault");
	ok(fault_parse("no-empty", 3, &mask) && mask == FAULT_NO_EMPTY, "a name");
	ok(fault_parse("no-empty@1+drop+read-only@2", 1, &mask) &&
		   mask == (FAULT_NO_EMPTY | FAULT_DROP),
	   "several, for all or for one index");
	ok(fault_parse("no-empty@1+drop+read-only@12", 12, &mask) &&
		   mask == (FAULT_DROP | FAULT_READ_ONLY),
	   "an index of two digits");
	ok(fault_parse("no-ready+no-flush+memory-error", 0, &mask) &&
		   mask == (FAULT_NO_READY | FAULT_NO_FLUSH | FAULT_MEMORY_ERROR),
	   "the faults of a TMC");
	ok(!fault_parse("no-empt", 0, &mask) && !fault_parse("", 0, &mask) &&
		   !fault_parse("drop+", 0, &mask) && !fault_parse("@1", 0, &mask),
	   "unknown names are refused");
}

static void at_power_up(void)
{
	const uint32_t active = TR_CONTROL_ACTIVE, enable = TR_CONTROL_ENABLE;
	const uint32_t empty = TR_CONTROL_EMPTY;

	power_up(FAULT_NO_ACTIVE);
	all_write(TR_CONTROL, active);
	ok(all_read(TR_CONTROL, active | empty, empty), "no-active: never reads 1");
	power_up(FAULT_NO_ENABLE);
	all_write(TR_CONTROL, active);
	all_write(TR_CONTROL, active | enable);
	ok(all_read(TR_CONTROL, active | enable, active), "no-enable: never reads 1");
	power_up(FAULT_NO_EMPTY);
	ok(all_read(TR_CONTROL, empty, 0), "no-empty: never reads 1");
	power_up(FAULT_WRONG_TYPE);
	ok(all_read(TR_IMPL, ~0u, 0), "wrong-type: Impl reads 0 while Active is 0");
	all_write(TR_CONTROL, active);
	ok(all_read(TR_IMPL, TR_IMPL_COMP_TYPE_MASK, 0xf00), "wrong-type: 15, which is none");
	power_up(FAULT_NEWER_MAJOR);
	all_write(TR_CONTROL, active);
	ok(all_read(TR_IMPL, 0xff, 0x02), "newer-major: 2.0");
	power_up(FAULT_NEWER_MINOR);
	all_write(TR_CONTROL, active);
	ok(all_read(TR_IMPL, 0xff, 0x11), "newer-minor: 1.1");

	power_up(FAULT_READ_ONLY);
	all_write(TR_CONTROL, active);
	wr(ENCODER, TR_CONTROL, active | 6u << 4);
	wr(ENCODER, TR_TE_INST_FEATURES, ~0u);
	wr(FUNNEL, TR_FUNNEL_DIS_INPUT, 3);
	wr(RAM_SINK, TR_CONTROL, active | TR_RAM_CONTROL_STOP_ON_WRAP);
	wr(RAM_SINK, TR_RAM_START_LOW, 0x80000000);
	ok(!(rd(ENCODER, TR_CONTROL) & TR_TE_CONTROL_INST_MODE_MASK) &&
		   !rd(ENCODER, TR_TE_INST_FEATURES) && !rd(FUNNEL, TR_FUNNEL_DIS_INPUT) &&
		   !(rd(RAM_SINK, TR_CONTROL) & TR_RAM_CONTROL_STOP_ON_WRAP) &&
		   !rd(RAM_SINK, TR_RAM_START_LOW),
	   "read-only: no field changes");
	all_write(TR_CONTROL, active | enable);
	ok(all_read(TR_CONTROL, active | enable, active | enable), "but Active and Enable do");
}

static void while_running(void)
{
	const uint32_t on = TR_CONTROL_ACTIVE | TR_CONTROL_ENABLE;

	power_up(0);
	ok(all_read(FAULT_REGISTER, ~0u, 0), "the fault register reads 0");
	all_write(TR_CONTROL, TR_CONTROL_ACTIVE);
	all_write(TR_CONTROL, on);
	all_write(FAULT_REGISTER, FAULT_NO_ENABLE | FAULT_NO_EMPTY);
	ok(all_read(FAULT_REGISTER, ~0u, FAULT_NO_ENABLE | FAULT_NO_EMPTY), "accepts faults");
	all_write(TR_CONTROL, TR_CONTROL_ACTIVE);
	ok(all_read(TR_CONTROL, on | TR_CONTROL_EMPTY, on),
	   "then Enable is unchanged, and Empty stays 0");
	all_write(FAULT_REGISTER, 0);
	ok(all_read(TR_CONTROL, on | TR_CONTROL_EMPTY, TR_CONTROL_ACTIVE | TR_CONTROL_EMPTY),
	   "mended: as it is inside");
	all_write(FAULT_REGISTER, FAULT_NO_ACTIVE);
	all_write(TR_CONTROL, 0);
	ok(all_read(TR_CONTROL, on, TR_CONTROL_ACTIVE) &&
		   all_read(FAULT_REGISTER, ~0u, FAULT_NO_ACTIVE),
	   "Active stuck at 1; a reset by Active mends nothing");
	all_write(FAULT_REGISTER, ~0u);
	ok(all_read(FAULT_REGISTER, ~0u, FAULT_ALL), "WARL: faults that exist");
}

static void pointers(void)
{
	uint8_t data[128] = { 0 };

	power_up(0);
	wr(RAM_SINK, TR_CONTROL, TR_CONTROL_ACTIVE);
	wr(RAM_SINK, TR_RAM_START_LOW, 0x80001000);
	wr(RAM_SINK, TR_RAM_LIMIT_LOW, 0x80001fc0);
	wr(RAM_SINK, TR_RAM_WP_LOW, 0x80001000);
	wr(RAM_SINK, TR_CONTROL, TR_CONTROL_ACTIVE | TR_CONTROL_ENABLE);
	ram_sink_put(&sink, data, 64);
	wr(RAM_SINK, FAULT_REGISTER, FAULT_STUCK_POINTER);
	ram_sink_put(&sink, data, 128);
	is_hex(rd(RAM_SINK, TR_RAM_WP_LOW), 0x80001040, "stuck-pointer: stays where it was");
	wr(RAM_SINK, FAULT_REGISTER, FAULT_POINTER_OUTSIDE);
	is_hex(rd(RAM_SINK, TR_RAM_WP_LOW), 0x80002fc0, "pointer-outside: behind Limit");
	wr(RAM_SINK, FAULT_REGISTER, 0);
	is_hex(rd(RAM_SINK, TR_RAM_WP_LOW), 0x800010c0, "mended: where it is");
}

static void retire(unsigned int count)
{
	struct ntrace_ingress block = { .iretire = 2, .itype = NTRACE_ITYPE_RETURN, .priv = 3 };

	for (unsigned int i = 0; i < count; i++) {
		block.iaddr = 0x1000 + (i & 7) * 0x100;
		trace_encoder_retire(&te, &block);
	}
}

/*
 * Counts Error messages by their first byte: the byte after the end of a
 * message.
 */
static unsigned int errors(void)
{
	unsigned int count = 0;

	for (size_t i = 1; i < kept.size; i++)
		count += (kept.bytes[i - 1] & 3) == 3 && kept.bytes[i] == 0x20;
	return count;
}

static void dropping(void)
{
	const uint32_t tracing = TR_CONTROL_ACTIVE | TR_CONTROL_ENABLE |
				 TR_TE_CONTROL_INST_TRACING | 6u << 4;

	power_up(0);
	wr(ENCODER, TR_CONTROL, TR_CONTROL_ACTIVE);
	wr(ENCODER, TR_CONTROL, tracing);
	retire(200);
	ok(!errors() && !(rd(ENCODER, TR_CONTROL) & TR_TE_CONTROL_INST_STALL_OR_OVERFLOW),
	   "no drop, no loss");
	wr(ENCODER, FAULT_REGISTER, FAULT_DROP);
	kept.size = 0;
	retire(1000);
	ok(rd(ENCODER, TR_CONTROL) & TR_TE_CONTROL_INST_STALL_OR_OVERFLOW,
	   "drop: StallOrOverflow is set");
	ok(errors() >= kept.size / 256 - 1 && errors() <= kept.size / 256 + 2 && errors() > 3,
	   "a loss about every 256 bytes (%u in %zu)", errors(), kept.size);
	wr(ENCODER, FAULT_REGISTER, 0);
	retire(10);
	kept.size = 0;
	retire(200);
	ok(!errors(), "mended: no more");
}

int main(void)
{
	names();
	at_power_up();
	while_running();
	pointers();
	dropping();
	return done_testing();
}
