// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Variants of the virtual SoC's blocks: the text that selects one, and registers that differ from
 * those of the default machine.
 */
#include <ntrace/trace_control.h>

#include "funnel.h"
#include "ram_sink.h"
#include "tap.h"
#include "trace_encoder.h"
#include "variant.h"

static const struct trace_encoder_parameters plain = {
	.src_bits_max = 4,
	.icnt_bits = 22,
	.hist_bits = 31,
	.xlen = 64,
	.implicit_return = 3,
	.repeated_history = true,
	.filters = 4,
	.comparators = 4,
	.triggers = 2,
	.context_bits = 32,
	.timestamp_bits = 48,
	.timestamps = NTRACE_TIMESTAMPS_BRANCH,
};

static unsigned int sent;

static void deliver(void *opaque, const struct trace_encoder_setup *setup)
{
	trace_encoder_apply(opaque, setup);
}

static bool take(void *opaque, const uint8_t *data, size_t size)
{
	(void)opaque;
	(void)data;
	sent += (unsigned int)size;
	return true;
}

static bool ready(void *opaque)
{
	(void)opaque;
	return true;
}

static uint64_t now(void *opaque, unsigned int mode)
{
	(void)opaque;
	return 1000 + mode;
}

static const struct trace_encoder_ops ops = {
	.deliver = deliver, .write = take, .ready = ready, .time = now
};

static struct trace_encoder te;

/* An encoder of the variant @text, active. */
static void make(const char *text, uint32_t index)
{
	struct trace_encoder_parameters p = plain;
	struct variant variant;
	char error[VARIANT_ERROR_MAX];

	p.index = index;
	if (!variant_parse(&variant, text, error))
		diag("%s", error);
	variant_apply(&variant, VARIANT_ENCODER, index, &p);
	trace_encoder_init(&te, &p, &ops, &te);
	trace_encoder_write(&te, TR_CONTROL, TR_CONTROL_ACTIVE);
}

static uint32_t written(uint32_t offset, uint32_t value)
{
	trace_encoder_write(&te, offset, value);
	return trace_encoder_read(&te, offset);
}

static uint32_t field(uint32_t value, uint32_t mask, unsigned int shift)
{
	return (value & mask) >> shift;
}

static bool is_refused(const char *text)
{
	struct variant variant;
	char error[VARIANT_ERROR_MAX] = "";

	return !variant_parse(&variant, text, error) && *error;
}

static void texts(void)
{
	struct variant variant, again;
	struct trace_encoder_parameters a, b;
	char error[VARIANT_ERROR_MAX], text[4096], all[8192];
	bool same = true, differ = false, repeats = true;

	for (unsigned int seed = 0; seed < 200; seed++) {
		snprintf(text, sizeof(text), "%u", seed);
		repeats &= variant_parse(&variant, text, error);
		*all = '\0';
		for (uint32_t i = 0; i < 2; i++) {
			a = plain;
			variant_apply(&variant, VARIANT_ENCODER, i, &a);
			if (variant_print(&variant, VARIANT_ENCODER, i, &a, text, sizeof(text)) >=
			    sizeof(text))
				repeats = false;
			snprintf(all + strlen(all), sizeof(all) - strlen(all), "%s%s",
				 *all ? "+" : "", text);
		}
		repeats &= variant_parse(&again, all, error);
		for (uint32_t i = 0; i < 2; i++) {
			a = plain;
			b = plain;
			variant_apply(&variant, VARIANT_ENCODER, i, &a);
			variant_apply(&again, VARIANT_ENCODER, i, &b);
			a.reset_seed = b.reset_seed;
			repeats &= !memcmp(&a, &b, sizeof(a));
			differ |= i && a.inst_modes != te.parameters.inst_modes;
			te.parameters = a;
		}
	}
	ok(repeats, "the printed values repeat a variant");
	ok(differ, "and in some variants the harts differ");

	a = plain;
	ok(variant_parse(&variant, NULL, error), "no text");
	variant_apply(&variant, VARIANT_ENCODER, 0, &a);
	a.reset_seed = 0;
	same &= !memcmp(&a, &plain, sizeof(a));
	ok(same, "changes nothing");

	ok(variant_parse(&variant, "5+encoder.context+encoder.filters@1=2", error), "two choices");
	a = plain;
	b = plain;
	variant_apply(&variant, VARIANT_ENCODER, 0, &a);
	variant_apply(&variant, VARIANT_ENCODER, 1, &b);
	ok(!a.inst_modes && a.filters == 4 && b.filters == 2, "change nothing else");

	same = differ = true;
	ok(variant_parse(&variant, "40..", error), "a seed for each block");
	for (uint32_t i = 0; i < 40; i++) {
		a = b = plain;
		variant_apply(&variant, VARIANT_ENCODER, i, &a);
		snprintf(text, sizeof(text), "%u..", 40 + i);
		variant_parse(&again, text, error);
		variant_apply(&again, VARIANT_ENCODER, 0, &b);
		a.reset_seed = b.reset_seed = 0;
		same &= !memcmp(&a, &b, sizeof(a));
		variant_apply(&variant, VARIANT_ENCODER, i + 1, &b);
		b.reset_seed = 0;
		differ &= memcmp(&a, &b, sizeof(a)) != 0;
	}
	ok(same && differ, "block n has that of the seed plus n");

	ok(is_refused("encoder.contxt=1"), "refused: an unknown choice");
	ok(is_refused("5+contxt"), "refused: an unknown choice to draw");
	ok(is_refused("encoder.context"), "refused: a choice to draw, without a seed");
	ok(is_refused("encoder.context=x"), "refused: a value that is no number");
	ok(is_refused("encoder.holes-fail=2"), "refused: a third value of two");
	ok(is_refused("encoder.context@=1"), "refused: an index that is no number");
	ok(is_refused("5+6") && is_refused("5..+6.."), "refused: two seeds");
	ok(is_refused("..") && is_refused("5."), "refused: a seed that is none");
	ok(is_refused("5x"), "refused: a seed that is no number");
}

static void encoders(void)
{
	const uint32_t zero = TR_CONTROL_ACTIVE;
	uint32_t value;

	make("encoder.inst-modes=0x8+encoder.sync-modes=0x4+encoder.sync-maxes=0x40", 0);
	value = written(TR_TE_CONTROL, zero | 6u << TR_TE_CONTROL_INST_MODE_SHIFT);
	is_u64(field(value, TR_TE_CONTROL_INST_MODE_MASK, TR_TE_CONTROL_INST_MODE_SHIFT), 3,
	       "InstMode hard-wired to BTM");
	is_u64(field(value, TR_TE_CONTROL_INST_SYNC_MODE_MASK, TR_TE_CONTROL_INST_SYNC_MODE_SHIFT),
	       2, "SyncMode hard-wired to cycles");
	is_u64(field(value, TR_TE_CONTROL_INST_SYNC_MAX_MASK, TR_TE_CONTROL_INST_SYNC_MAX_SHIFT), 6,
	       "SyncMax hard-wired");
	make("encoder.inst-modes=0x41", 0);
	value = written(TR_TE_CONTROL, zero | 3u << TR_TE_CONTROL_INST_MODE_SHIFT);
	is_u64(field(value, TR_TE_CONTROL_INST_MODE_MASK, TR_TE_CONTROL_INST_MODE_SHIFT), 6,
	       "an encoder of HTM alone: a write of BTM reads HTM");

	make("encoder.context=2+encoder.inhibit-src=2", 0);
	value = written(TR_TE_CONTROL, zero);
	ok(value & TR_TE_CONTROL_CONTEXT && value & TR_TE_CONTROL_INHIBIT_SRC,
	   "bits hard-wired to 1");

	make("encoder.implicit-return-modes=0x7", 0);
	value = written(TR_TE_INST_FEATURES, 3u << TR_TE_FEATURE_IMPLICIT_RETURN_MODE_SHIFT);
	is_u64(value >> TR_TE_FEATURE_IMPLICIT_RETURN_MODE_SHIFT & 3, 2,
	       "ImplicitReturnMode of 0 to 2: 3 becomes 2");
	make("encoder.implicit-return=1+encoder.sequential-jump=3+encoder.all-jumps=2", 0);
	is_hex(written(TR_TE_INST_FEATURES,
		       TR_TE_FEATURE_SEQUENTIAL_JUMP | TR_TE_FEATURE_IMPLICIT_RETURN) &
		       0xffff,
	       TR_TE_FEATURE_SEQUENTIAL_JUMP | TR_TE_FEATURE_ALL_JUMPS | 0xc0,
	       "features: missing, writable, hard-wired");

	make("encoder.src-bits-min=6+encoder.src-bits-max=6+encoder.src-fixed=1", 3);
	is_hex(written(TR_TE_INST_FEATURES, 0) >> 16, 0x6003, "SrcBits and SrcID are hard-wired");
	make("encoder.src-bits-zero=4", 3);
	is_hex(trace_encoder_read(&te, TR_TE_INST_FEATURES) >> 28, 4, "SrcBits after a reset");
	is_hex(written(TR_TE_INST_FEATURES, 5u << 16) >> 16, 5, "SrcBits takes 0");

	make("encoder.formats=3", 0);
	ok(!(trace_encoder_read(&te, TR_TE_CONTROL) & TR_TE_CONTROL_FORMAT_MASK),
	   "Format is E-Trace");
	sent = 0;
	written(TR_TE_CONTROL, zero | 6 << 4 | TR_CONTROL_ENABLE | TR_TE_CONTROL_INST_TRACING);
	trace_encoder_retire(&te, &(struct ntrace_ingress){ .iaddr = 0x1000, .iretire = 2 });
	written(TR_TE_CONTROL, zero | 6 << 4);
	is_u64(sent, 0, "and there are no messages");
	written(TR_TE_CONTROL, zero | 6 << 4 | 1 << 24);
	written(TR_TE_CONTROL,
		zero | 6 << 4 | 1 << 24 | TR_CONTROL_ENABLE | TR_TE_CONTROL_INST_TRACING);
	trace_encoder_retire(&te, &(struct ntrace_ingress){ .iaddr = 0x1000, .iretire = 2 });
	written(TR_TE_CONTROL, zero | 6 << 4 | 1 << 24);
	ok(sent, "Format N-Trace: there are");

	make("encoder.pauses=3", 0);
	written(TR_TE_CONTROL, zero | 6 << 4 | 1 << 24);
	written(TR_TE_CONTROL,
		zero | 6 << 4 | 1 << 24 | TR_CONTROL_ENABLE | TR_TE_CONTROL_INST_TRACING);
	for (unsigned int i = 0; i < 4; i++) {
		sent = 0;
		trace_encoder_retire(&te, &(struct ntrace_ingress){ .iaddr = 0x1000 + 4 * i,
								    .iretire = 2 });
	}
	ok(sent, "low power after three blocks: a message says so");
}

static void resets(void)
{
	make("encoder.reset=1", 0);
	written(TR_TE_INST_FEATURES, TR_TE_FEATURE_ALL_JUMPS);
	written(TR_TE_CONTROL, TR_CONTROL_ACTIVE | 6 << 4 | TR_CONTROL_ENABLE);
	written(TR_TE_CONTROL, 0);
	written(TR_TE_CONTROL, TR_CONTROL_ACTIVE);
	is_hex(trace_encoder_read(&te, TR_TE_CONTROL) & 0x7f, TR_CONTROL_ACTIVE | 8 | 6 << 4,
	       "registers that Active does not reset, but Enable");
	is_hex(trace_encoder_read(&te, TR_TE_INST_FEATURES) & 0x700, TR_TE_FEATURE_ALL_JUMPS,
	       "features, too");
	make("1+encoder.reset=2", 0);
	ok(!(trace_encoder_read(&te, TR_TE_CONTROL) & TR_CONTROL_ENABLE), "random: Enable is 0");
	ok(trace_encoder_read(&te, TR_TE_INST_FEATURES) |
		   trace_encoder_read(&te, TR_TE_INST_FILTERS) |
		   trace_encoder_read(&te, TR_TS_CONTROL),
	   "and other registers have any value");
}

static void pages(void)
{
	unsigned int polls = 0;

	make("encoder.holes-fail=1+encoder.inactive-fails=1+encoder.own-hart=1", 0);
	ok(!trace_encoder_answers(&te, 0x010, true), "bus error: no trTeDataControl");
	ok(!trace_encoder_answers(&te, TR_TE_FILTER_CONTROL(4), true), "bus error: no filter 4");
	ok(trace_encoder_answers(&te, TR_TE_FILTER_CONTROL(3), true), "filter 3 answers");
	ok(!trace_encoder_answers(&te, TR_TE_IMPL, false), "bus error: another hart");
	written(TR_TE_CONTROL, 0);
	ok(!trace_encoder_answers(&te, TR_TE_IMPL, true), "bus error: Active is 0");
	ok(trace_encoder_answers(&te, TR_TE_CONTROL, true), "trTeControl answers");

	make("encoder.debug-owned=1", 0);
	written(TR_TE_CONTROL, TR_CONTROL_ACTIVE);
	is_hex(trace_encoder_read(&te, TR_TE_CONTROL),
	       TR_TE_CONTROL_DIS_SELF_HOSTED | TR_CONTROL_EMPTY, "a debugger owns the encoder");
	make("encoder.polls=7", 0);
	while (!(trace_encoder_poll(&te, TR_TE_CONTROL) & TR_CONTROL_ACTIVE))
		polls++;
	is_u64(polls, 7, "Active is slow");
	ok(trace_encoder_poll(&te, TR_TE_CONTROL) & TR_CONTROL_ACTIVE, "and stays");
}

static void ignore(void *opaque, uint64_t address, uint64_t size)
{
	(void)opaque;
	(void)address;
	(void)size;
}

static void close_memory(void *opaque)
{
	(void)opaque;
}

static unsigned int writes;

static void write_memory(void *opaque, uint64_t address, const uint8_t *data, size_t size)
{
	(void)opaque;
	(void)address;
	(void)data;
	(void)size;
	writes++;
}

static const struct ram_sink_ops sink_ops = { ignore, close_memory, write_memory };

static void sinks(void)
{
	static struct ram_sink sink;
	struct ram_sink_parameters p = { .granule = 64, .address_bits = 56, .smem = true };
	const uint32_t control = TR_CONTROL_ACTIVE | TR_RAM_CONTROL_MODE_SMEM |
				 TR_RAM_CONTROL_STOP_ON_WRAP;
	static const uint8_t bytes[64];
	struct variant variant;
	char error[VARIANT_ERROR_MAX];

	ok(variant_parse(&variant, "ram-sink.stop-early=1+ram-sink.start-alignment=0x1000", error),
	   "a sink");
	variant_apply(&variant, VARIANT_RAM_SINK, 0, &p);
	ram_sink_init(&sink, &p, &sink_ops, NULL);
	ram_sink_write(&sink, TR_CONTROL, TR_CONTROL_ACTIVE);
	ram_sink_write(&sink, TR_RAM_START_LOW, 0x80001040);
	is_hex(ram_sink_read(&sink, TR_RAM_START_LOW), 0x80001000, "Start is rounded down");
	ram_sink_write(&sink, TR_RAM_LIMIT_LOW, 0x800010c0);
	ram_sink_write(&sink, TR_RAM_WP_LOW, 0x80001000);
	ram_sink_write(&sink, TR_CONTROL, control | TR_CONTROL_ENABLE);
	while (ram_sink_put(&sink, bytes, sizeof(bytes)))
		;
	is_u64(writes, 3, "the sink stops one granule early");
	is_hex(ram_sink_read(&sink, TR_RAM_WP_LOW), 0x800010c0, "without a wrap");
	ok(!(ram_sink_read(&sink, TR_CONTROL) & TR_CONTROL_ENABLE), "Enable is 0");
	p.stop_on_wrap = WARL_ZERO;
	p.reset = WARL_RESET_RANDOM;
	p.reset_seed = 3;
	ram_sink_init(&sink, &p, &sink_ops, NULL);
	ram_sink_write(&sink, TR_CONTROL, TR_CONTROL_ACTIVE);
	ok(ram_sink_read(&sink, TR_RAM_START_LOW) && ram_sink_read(&sink, TR_RAM_LIMIT_LOW),
	   "random: pointers have any value");
	ram_sink_write(&sink, TR_CONTROL, control);
	ok(!(ram_sink_read(&sink, TR_CONTROL) & TR_RAM_CONTROL_STOP_ON_WRAP), "no StopOnWrap");

	/* The glue gives a sink the memory that the variant asks for. */
	variant_parse(&variant, "1+ram-sink.smem=0+ram-sink.sram-size=0x400", error);
	variant_apply(&variant, VARIANT_RAM_SINK, 0, &p);
	ok(!p.smem && p.sram_size == 0x400, "memory of its own alone");
	variant_parse(&variant, "1+ram-sink.smem+ram-sink.sram-size=0", error);
	variant_apply(&variant, VARIANT_RAM_SINK, 0, &p);
	ok(p.smem && !p.sram_size, "or none: then system memory");
}

static void funnels(void)
{
	struct funnel funnel;
	struct funnel_parameters p = { .inputs = 2, .buffer = 64, .timestamp.now = now };
	struct trace_port out = { 0 };

	p.dis_input = WARL_ZERO;
	p.empty_fixed = true;
	p.bus.holes_fail = true;
	funnel_init(&funnel, &p, &out);
	funnel_write(&funnel, TR_CONTROL, TR_CONTROL_ACTIVE);
	funnel_write(&funnel, TR_FUNNEL_DIS_INPUT, 3);
	is_hex(funnel_read(&funnel, TR_FUNNEL_DIS_INPUT), 0, "no DisInput");
	ok(funnel_answers(&funnel, TR_TS_CONTROL) && !funnel_answers(&funnel, TR_TS_COUNTER_LOW),
	   "no timestamp unit: trTsControl reads 0, its counter is a bus error");
	funnel_write(&funnel, TR_CONTROL, TR_CONTROL_ACTIVE | TR_CONTROL_ENABLE);
	funnel_put(&funnel, 0, 0, (const uint8_t *)"abc", 3);
	ok(funnel_poll(&funnel, TR_CONTROL) & TR_CONTROL_EMPTY, "Empty says nothing");
}

int main(void)
{
	texts();
	encoders();
	resets();
	pages();
	sinks();
	funnels();
	return done_testing();
}
