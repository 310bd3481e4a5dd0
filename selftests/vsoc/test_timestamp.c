// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Timestamp units of encoder and funnel (Trace Control Interface 1.0, trTs registers). */
#include <ntrace/trace_control.h>

#include "funnel.h"
#include "kept.h"
#include "tap.h"

static uint64_t time_now;

static struct timestamp source;

static uint64_t now(void *opaque, unsigned int mode)
{
	(void)opaque;
	return mode == TR_TS_MODE_SHARED ? timestamp_value(&source) : time_now;
}

static const struct timestamp_parameters top_parameters = {
	.width = 40,
	.modes = 1u << TR_TS_MODE_SYSTEM | 1u << TR_TS_MODE_CORE,
	.now = now,
};

static const struct timestamp_parameters leaf_parameters = {
	.width = 20,
	.modes = 1u << TR_TS_MODE_SYSTEM | 1u << TR_TS_MODE_SHARED,
	.enable = true,
	.now = now,
};

static struct timestamp unit;

static uint32_t ts(uint32_t value)
{
	timestamp_write(&unit, value);
	return timestamp_read(&unit, TR_TS_CONTROL);
}

static uint32_t mode(unsigned int mode)
{
	return TR_TS_CONTROL_ACTIVE | mode << TR_TS_CONTROL_MODE_SHIFT;
}

static void registers(void)
{
	static const struct timestamp_parameters none = { .now = now };

	timestamp_init(&unit, &none);
	is_hex(ts(~0u), 0, "no unit: reads 0");
	timestamp_init(&unit, &leaf_parameters);
	is_hex(timestamp_read(&unit, TR_TS_CONTROL), 0, "Active is 0 after reset");
	is_hex(ts(~0u), TR_TS_CONTROL_ACTIVE | 20u << 24, "out of reset first; Width reads back");
	is_hex(ts(mode(TR_TS_MODE_SYSTEM) | TR_TS_CONTROL_COUNT | TR_TS_CONTROL_RESET |
		  TR_TS_CONTROL_RUN_IN_DEBUG | TR_TS_CONTROL_PRESCALE_MASK | TR_TS_CONTROL_ENABLE |
		  0x00ff0000),
	       0x14008323, "system: Count, Prescale and Enable; Reset and vendor bits read 0");
	is_hex(ts(mode(TR_TS_MODE_CORE) | TR_TS_CONTROL_COUNT), 0x14000001,
	       "a missing mode becomes none, without Count");
	is_hex(ts(mode(TR_TS_MODE_SHARED) | TR_TS_CONTROL_COUNT | TR_TS_CONTROL_PRESCALE_MASK),
	       0x14000041, "shared: neither Count nor Prescale");
	is_hex(ts(mode(7)), 0x14000001, "vendor modes are not there");
	timestamp_init(&unit, &top_parameters);
	ts(TR_TS_CONTROL_ACTIVE);
	is_hex(ts(mode(TR_TS_MODE_CORE) | TR_TS_CONTROL_ENABLE), 0x28000031,
	       "a funnel's has no Enable");
	is_hex(ts(0), 0, "Active 0 resets");
}

static void counting(void)
{
	time_now = 1000;
	timestamp_init(&unit, &top_parameters);
	ts(TR_TS_CONTROL_ACTIVE);
	ts(mode(TR_TS_MODE_SYSTEM));
	time_now = 1100;
	is_u64(timestamp_value(&unit), 0, "Count 0: stands still");
	ts(mode(TR_TS_MODE_SYSTEM) | TR_TS_CONTROL_COUNT);
	time_now = 1160;
	is_u64(timestamp_value(&unit), 60, "Count 1: runs");
	ts(mode(TR_TS_MODE_SYSTEM) | TR_TS_CONTROL_COUNT | 1u << TR_TS_CONTROL_PRESCALE_SHIFT);
	time_now = 1260;
	is_u64(timestamp_value(&unit), 60 + 25, "Prescale 1: a quarter as fast");
	ts(mode(TR_TS_MODE_SYSTEM) | TR_TS_CONTROL_COUNT | 3u << TR_TS_CONTROL_PRESCALE_SHIFT);
	time_now += 640;
	is_u64(timestamp_value(&unit), 85 + 10, "Prescale 3: divided by 64");
	ts(mode(TR_TS_MODE_SYSTEM));
	time_now += 640;
	is_u64(timestamp_value(&unit), 95, "Count 0 keeps the value");
	ts(mode(TR_TS_MODE_SYSTEM) | TR_TS_CONTROL_COUNT | TR_TS_CONTROL_RESET);
	is_u64(timestamp_value(&unit), 0, "Reset");
	time_now += UINT64_C(0x123456789a);
	ok(timestamp_read(&unit, TR_TS_COUNTER_LOW) == 0x3456789a &&
		   timestamp_read(&unit, TR_TS_COUNTER_HIGH) == 0x12,
	   "both halves");
	time_now += UINT64_C(1) << 40;
	is_hex(timestamp_value(&unit), UINT64_C(0x123456789a), "cut to its width");
	ok(!timestamp_in_messages(&unit), "not in messages without Enable");
}

static void sharing(void)
{
	timestamp_init(&source, &top_parameters);
	timestamp_init(&unit, &leaf_parameters);
	ts(TR_TS_CONTROL_ACTIVE);
	ts(mode(TR_TS_MODE_SHARED) | TR_TS_CONTROL_ENABLE);
	ok(timestamp_in_messages(&unit), "shared time can be put in messages");
	time_now += 500;
	is_u64(timestamp_value(&unit), 0, "shared: nothing comes from a unit that is not Active");
	timestamp_write(&source, TR_TS_CONTROL_ACTIVE);
	timestamp_write(&source, mode(TR_TS_MODE_SYSTEM) | TR_TS_CONTROL_COUNT);
	time_now += (1u << 20) + 77;
	is_u64(timestamp_value(&unit), 77, "shared: what the other counts, cut to the own width");
	timestamp_write(&source, 0);
	is_u64(timestamp_value(&unit), 0, "shared: the other is switched off");
}

/* An encoder with timestamps of its core. */
static const struct trace_encoder_ops ops = {
	.deliver = apply_now,
	.write = keep_bytes,
	.time = now,
};

static void retire(uint64_t iaddr, uint32_t iretire)
{
	struct ntrace_ingress block = {
		.iaddr = iaddr,
		.iretire = iretire,
		.itype = NTRACE_ITYPE_RETURN,
		.priv = 3,
	};

	trace_encoder_retire(&te, &block);
}

static void messages(void)
{
	const struct trace_encoder_parameters parameters = {
		.src_bits_max = 4,
		.icnt_bits = 22,
		.hist_bits = 31,
		.xlen = 64,
		.timestamp_bits = 30,
		.timestamps = NTRACE_TIMESTAMPS_BRANCH,
	};
	const uint32_t on = TR_CONTROL_ACTIVE | TR_CONTROL_ENABLE | 6u << 4;

	trace_encoder_init(&te, &parameters, &ops, NULL);
	trace_encoder_write(&te, TR_TE_CONTROL, TR_CONTROL_ACTIVE);
	trace_encoder_write(&te, TR_TS_CONTROL, TR_TS_CONTROL_ACTIVE);
	trace_encoder_write(&te, TR_TS_CONTROL,
			    mode(TR_TS_MODE_CORE) | TR_TS_CONTROL_COUNT | TR_TS_CONTROL_ENABLE);
	trace_encoder_write(&te, TR_TE_CONTROL, on);
	trace_encoder_write(&te, TR_TS_CONTROL, 0);
	ok(trace_encoder_read(&te, TR_TS_CONTROL) && te.software_errors == 1,
	   "the encoder's unit is frozen while Enable is 1");
	trace_encoder_write(&te, TR_TE_CONTROL, on | TR_TE_CONTROL_INST_TRACING);
	retire(0x100, 5);
	retire(0x200, 7);
	/*
	 * ProgTraceSync SYNC 5, ICNT 0, FADDR 0x80, TSTAMP 0; IndirectBranch BTYPE 0, ICNT 5, UADDR
	 * 0x180, TSTAMP 5, a difference
	 */
	ok(kept.size == 10 && !memcmp(kept.bytes, "\x24\x15\x00\x09\x03\x10\x51\x00\x19\x17", 10),
	   "TSTAMP: absolute with SYNC, then the difference");
	is_u64(trace_encoder_read(&te, TR_TS_COUNTER_LOW), 12, "the counter has the same time");
}

int main(void)
{
	registers();
	counting();
	sharing();
	messages();
	return done_testing();
}
