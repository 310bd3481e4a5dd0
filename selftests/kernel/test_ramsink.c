// SPDX-License-Identifier: GPL-2.0-only
/*
 * Registers of a RAM sink as the driver uses them: addresses, granules, limits, and memory for the
 * sink. Trace Control Interface 1.0, section "Trace RAM Sink": Limit is the address of the last
 * granule, every pointer may be trimmed, and a sink that writes outside its buffer corrupts memory
 * without a sign.
 */
#include <tap.h>

#include "../../kernel/ntrace/ramsink.c"
#include "host/machine.h"
#include "host/platform.h"

static struct machine machine;
static struct ntrace_component *const component = &machine.sink;
static struct ntrace_ramsink *const sink = &machine.sink.ramsink;

/* A sink whose registers keep the bits of these masks. */
static struct {
	u32 control, control_keeps, control_forced;
	u64 start, limit, wp;
	u64 start_keeps, limit_keeps, wp_keeps;
	u64 start_forced;	/* least possible Start */
	u64 limit_least;	/* least possible Limit */
	u64 limit_most;		/* greatest possible Limit, 0: no bound */
	u64 whole_size;		/* not 0: buffers are a power of two; bytes per write */
	bool sticky;		/* writing WP does not clear bit 0 */
	bool data_fixed;	/* writing trRamData changes nothing */
	u32 rp;			/* RP, in words */
	u32 rp_most, data[64];
	unsigned int fetched;	/* reads of trRamData */
	unsigned int start_when_limit; /* writes to Limit while Start was not 0 */
} hw;

static u8 page[TR_COMPONENT_SIZE];

int ntrace_component_lacks(const struct ntrace_component *of, const char *field, u64 value)
{
	snprintf(machine_log, sizeof(machine_log), "%s", field);
	return -EOPNOTSUPP;
}

static u64 limit_of(void)
{
	if (hw.whole_size)
		return hw.start - hw.whole_size +
		       rounddown_pow_of_two(hw.limit - hw.start + hw.whole_size);
	if (hw.limit < hw.limit_least)
		return hw.limit_least;
	return hw.limit_most && hw.limit > hw.limit_most ? hw.limit_most : hw.limit;
}

static u64 start_of(void)
{
	return hw.start < hw.start_forced ? hw.start_forced : hw.start;
}

u32 readl(const void *address)
{
	switch ((const u8 *)address - page) {
	case TR_RAM_CONTROL:
		return hw.control | hw.control_forced;
	case TR_RAM_START_LOW:
		return (u32)start_of();
	case TR_RAM_START_HIGH:
		return (u32)(start_of() >> 32);
	case TR_RAM_LIMIT_LOW:
		return (u32)limit_of();
	case TR_RAM_LIMIT_HIGH:
		return (u32)(limit_of() >> 32);
	case TR_RAM_WP_LOW:
		return (u32)hw.wp | hw.sticky;
	case TR_RAM_WP_HIGH:
		return (u32)(hw.wp >> 32);
	case TR_RAM_RP_LOW:
		return 4 * hw.rp > hw.rp_most ? hw.rp_most : 4 * hw.rp;
	case TR_RAM_DATA:
		hw.fetched++;
		return hw.data[hw.rp++ % 64];
	default:
		return 0;
	}
}

static u64 set(u64 old, u32 value, bool high, u64 keeps)
{
	return (high ? (u64)value << 32 | (u32)old : (old >> 32) << 32 | value) & keeps;
}

void writel(u32 value, void *address)
{
	switch ((u8 *)address - page) {
	case TR_RAM_CONTROL:
		hw.control = value & hw.control_keeps;
		break;
	case TR_RAM_START_LOW:
	case TR_RAM_START_HIGH:
		hw.start = set(hw.start, value, (u8 *)address - page == TR_RAM_START_HIGH,
			       hw.start_keeps);
		break;
	case TR_RAM_LIMIT_LOW:
	case TR_RAM_LIMIT_HIGH:
		hw.start_when_limit += hw.start != 0;
		hw.limit = set(hw.limit, value, (u8 *)address - page == TR_RAM_LIMIT_HIGH,
			       hw.limit_keeps);
		break;
	case TR_RAM_WP_LOW:
	case TR_RAM_WP_HIGH:
		hw.wp = set(hw.wp, value, (u8 *)address - page == TR_RAM_WP_HIGH, hw.wp_keeps);
		break;
	case TR_RAM_RP_LOW:
		hw.rp = value / 4;
		break;
	case TR_RAM_DATA:
		if (!hw.data_fixed)
			hw.data[hw.rp % 64] = value;
		hw.rp++;
		break;
	}
}

/* Resets the sink: granules of @granule bytes, addresses of @bits. */
static void fresh(u32 impl, unsigned int granule, unsigned int bits)
{
	u64 keeps = (bits == 64 ? ~0ull : (1ull << bits) - 1) & ~(u64)(granule - 1);

	machine_init(&machine, 0, 0);
	(memset)(&hw, 0, sizeof(hw));
	(memset)(&platform, 0, sizeof(platform));
	hw.control_keeps = TR_CONTROL_ACTIVE | TR_CONTROL_ENABLE | TR_RAM_CONTROL_MODE_SMEM |
			   TR_RAM_CONTROL_STOP_ON_WRAP;
	hw.start_keeps = hw.limit_keeps = hw.wp_keeps = keeps;
	hw.start = hw.limit = hw.wp = ~0ull;
	component->base = page;
	component->impl = impl;
	platform.write_bytes = granule;
	machine_logged = 0;
}

/* The same, and the device tree does not have the width of a write. */
static void fresh_unknown(unsigned int granule)
{
	fresh(TR_RAM_IMPL_HAS_SMEM, granule, 56);
	platform.write_bytes = 0;
	ntrace_ramsink_init(component);
}

static void test_identify(void)
{
	static const struct {
		unsigned int granule, wp_granule, bits;
		unsigned int expected;
	} table[] = {
		{ 4, 4, 32, 4 },     { 64, 64, 56, 64 },       { 8, 32, 40, 32 },
		{ 32, 8, 64, 32 },   { 1024, 1024, 34, 1024 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		fresh(TR_RAM_IMPL_HAS_SMEM, table[i].granule, table[i].bits);
		platform.write_bytes = 0;
		hw.wp_keeps = (table[i].bits == 64 ? ~0ull : (1ull << table[i].bits) - 1) &
			      ~(u64)(table[i].wp_granule - 1);
		is_u64(ntrace_ramsink_init(component), 0, "granule %u, %u bits: usable",
		       table[i].granule, table[i].bits);
		is_u64(sink->least, table[i].expected, "the coarser of Limit and WP is the least");
		ok(sink->granule == 4096 && sink->reach == 4096, "it may be as wide as a page");
		is_hex(platform.mask, table[i].bits == 64 ? ~0ull : (1ull << table[i].bits) - 1,
		       "memory for it has to be where its addresses reach");
		ok(!hw.start && !hw.start_when_limit, "Start is 0 while Limit is asked for");
		is_u64(machine_logged, 0, "and the log has nothing");
		is_u64(sink->wp, TR_RAM_WP_LOW, "its write pointer is where it should be");
		ok(ntrace_ramsink_is_whole(sink) == false && !sink->sram_size,
		   "it is drained while it runs");
	}
	fresh(TR_RAM_IMPL_HAS_SMEM, 4, 40);
	/* The wrap bit of WP is not part of the address. */
	hw.wp_keeps |= 1;
	ntrace_ramsink_init(component);
	is_u64(sink->least, 4, "Wrap is not mistaken for a granule of one byte");

	fresh(TR_RAM_IMPL_HAS_SMEM, 4, 40);
	hw.limit_keeps = hw.wp_keeps = ~0x1fffull;
	is_u64(ntrace_ramsink_init(component), (u64)-EOPNOTSUPP, "granules of 8192: refused");
	static const struct {
		u32 bytes;
		int expected;
	} given[] = { { 2, -EOPNOTSUPP }, { 16, -EOPNOTSUPP }, { 32, 0 },
		      { 48, -EOPNOTSUPP }, { 64, 0 },	       { 4096, 0 },
		      { 8192, -EOPNOTSUPP } };

	for (size_t i = 0; i < ARRAY_SIZE(given); i++) {
		fresh(TR_RAM_IMPL_HAS_SMEM, 32, 40);
		platform.write_bytes = given[i].bytes;
		is_u64(ntrace_ramsink_init(component), (u64)given[i].expected,
		       "granules of 32 at least, the device tree says %u", given[i].bytes);
		if (!given[i].expected)
			ok(sink->least == given[i].bytes && sink->granule == given[i].bytes &&
				   sink->reach == given[i].bytes,
			   "it is as the device tree says");
	}
	fresh(TR_RAM_IMPL_HAS_SMEM, 4, 40);
	hw.limit_keeps = hw.wp_keeps = 0;
	is_u64(ntrace_ramsink_init(component), (u64)-EOPNOTSUPP, "a fixed buffer: refused");
	fresh(TR_RAM_IMPL_HAS_SMEM, 4, 40);
	platform.refuse_mask = true;
	is_u64(ntrace_ramsink_init(component), (u64)-EIO, "no DMA: the error");
	for (unsigned int bit = 0; bit < 32; bit++) {
		bool bad = bit == 8 || bit == 9 || bit == 10 || (bit >= 12 && bit <= 14);

		fresh(TR_RAM_IMPL_HAS_SMEM, 4, 40);
		hw.control_forced = 1u << bit;
		if ((ntrace_ramsink_init(component) != 0) != bad)
			ok(false, "trRamControl with bit %u stuck at 1", bit);
	}
	fresh(TR_RAM_IMPL_HAS_SMEM, 4, 40);
	hw.control_keeps = TR_CONTROL_ACTIVE;
	is_u64(ntrace_ramsink_init(component), (u64)-EOPNOTSUPP, "no SMEM mode: refused");
	fresh(0, 4, 40);
	is_u64(ntrace_ramsink_init(component), (u64)-EOPNOTSUPP, "no memory: refused");
}

static void fresh_sram(u32 size)
{
	fresh(TR_RAM_IMPL_HAS_SRAM, 4, 32);
	hw.control_keeps = TR_CONTROL_ACTIVE | TR_CONTROL_ENABLE | TR_RAM_CONTROL_STOP_ON_WRAP;
	hw.start_keeps = 0;
	hw.limit_most = size - 4;
	hw.rp_most = size - 4;
}

static void test_sram(void)
{
	static const struct {
		u32 size;
		int expected;
	} sizes[] = { { 256, -EOPNOTSUPP },
		      { 260, 0 },
		      { 4096, 0 },
		      { 1 << 20, 0 },
		      { (1 << 20) + 4, -EOPNOTSUPP } };

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		fresh_sram(sizes[i].size);
		is_u64(ntrace_ramsink_init(component), (u64)sizes[i].expected, "SRAM of %u bytes",
		       sizes[i].size);
		if (!sizes[i].expected)
			ok(sink->sram_size == sizes[i].size && sink->granule == 4,
			   "it is known, and a granule is a word");
	}
	fresh_sram(4096);
	component->impl = 0;
	is_u64(ntrace_ramsink_init(component), (u64)-EOPNOTSUPP, "trRamImpl has none: refused");
	fresh_sram(4096);
	hw.rp_most = 4088;
	is_u64(ntrace_ramsink_init(component), (u64)-EOPNOTSUPP, "no window: refused");
	fresh_sram(4096);
	hw.start_forced = 64;
	is_u64(ntrace_ramsink_init(component), (u64)-EOPNOTSUPP, "it does not begin at 0: refused");
	for (unsigned int bit = 0; bit < 32; bit++) {
		bool bad = bit == 4 || bit == 9 || bit == 10 || (bit >= 12 && bit <= 14);

		fresh_sram(4096);
		hw.control_forced = 1u << bit;
		if ((ntrace_ramsink_init(component) != 0) != bad)
			ok(false, "SRAM: trRamControl with bit %u stuck at 1", bit);
	}

	fresh_sram(256 + 4);
	ntrace_ramsink_init(component);
	sink->sram_size = 256;
	hw.limit_most = 252;
	is_u64(ntrace_ramsink_alloc(component, 4096), 0, "memory to copy it to");
	is_u64(sink->buffer_size, 256, "as much as there is, whatever was asked for");
	ok(!platform.allocated && ntrace_ramsink_is_whole(sink), "no DMA, and read as a whole");
	is_u64(ntrace_ramsink_program(component, &(struct ntrace_config){ 0 }), 0, "programmed");
	ok(sink->ring_size == 256 && !sink->ring_dma && sink->ring == sink->buffer,
	   "the ring is the whole buffer");
	for (u32 i = 0; i < 64; i++)
		hw.data[i] = 0x03020100 + 0x04040404 * i;
	hw.rp = 12;
	hw.wp = 40 | TR_RAM_WP_LOW_WRAP;
	hw.fetched = 0;
	ntrace_ramsink_fetch(component);
	bool good = true;

	for (u32 i = 0; i < 256; i++)
		good &= sink->ring[i] == (u8)i;
	ok(good, "fetched from its start on, lowest byte first");
	is_u64(hw.fetched, 1 + 64, "it has wrapped: all words");
	hw.wp = 40;
	hw.fetched = 0;
	hw.data[9] = 0xdeadbeef;
	ntrace_ramsink_fetch(component);
	is_u64(hw.fetched, 1 + 10, "it has not: those up to its write pointer");
	is_u64(sink->ring[39], 0xde, "to the last one");
	hw.wp = 0;
	hw.fetched = 0;
	sink->full = true;
	ntrace_ramsink_fetch(component);
	is_u64(hw.fetched, 1 + 64, "full and back at the start, without a sign of it: all words");
	sink->full = false;
	ntrace_ramsink_free(component);
	ok(!sink->buffer && !sink->ring, "freed");
	host_allocations = 0;
	is_u64(ntrace_ramsink_alloc(component, 256), (u64)-ENOMEM, "no memory: ENOMEM");
	host_allocations = -1;
}

static void test_size_max(void)
{
	fresh(TR_RAM_IMPL_HAS_SMEM, 64, 56);
	ntrace_ramsink_init(component);
	is_u64(ntrace_ramsink_size_max(component), 4 << 20, "a block of pages is 4 MiB at most");
	component->type = TR_COMP_TYPE_PIB_SINK;
	is_u64(ntrace_ramsink_size_max(component), 0, "pins have no memory");

	fresh(TR_RAM_IMPL_HAS_SMEM, 64, 56);
	platform.region = true;
	platform.reserved.size = 48 << 20;
	is_u64(ntrace_ramsink_init(component), 0, "memory was set aside");
	is_u64(ntrace_ramsink_size_max(component), 32 << 20, "a power of two of it is usable");
	for (unsigned int bits = 31; bits < 35; bits++) {
		sink->memory = 1ULL << bits;
		is_u64(ntrace_ramsink_size_max(component), 1ULL << 31,
		       "of 2^%u bytes, 2 GiB: positions have 32 bits", bits);
	}
	ok(!platform.nodes && platform.release == ntrace_ramsink_release_memory &&
		   platform.release_data == component->dev,
	   "it is given back with the device");
	sink->sram_size = 1024;
	is_u64(ntrace_ramsink_size_max(component), 1024, "the size of its own memory");

	fresh(TR_RAM_IMPL_HAS_SMEM, 64, 56);
	platform.region = true;
	is_u64(ntrace_ramsink_init(component), (u64)-EINVAL, "a region that is none: the error");
	platform.reserved.size = 4096;
	platform.region_unusable = true;
	is_u64(ntrace_ramsink_init(component), (u64)-ENODEV, "one that cannot be used: the error");
	is_u64(platform.nodes, 0, "no node is kept");
}

static void test_alloc(void)
{
	static const struct {
		dma_addr_t dma;
		bool crosses;
	} table[] = {
		{ 0x80000000, false },	   { 0xffff0000, false }, { 0xffff8000, true },
		{ 0x100000000, false },	   { 0xffff0040, true },  { 0x1ffffffc0, true },
		{ 0xffffffffffff0000, false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		fresh(TR_RAM_IMPL_HAS_SMEM, 64, 64);
		platform.dma = table[i].dma;
		sink->src_bits = 2;
		is_u64(ntrace_ramsink_alloc(component, 0x10000),
		       table[i].crosses ? (u64)-ENOMEM : 0, "64 KiB at 0x%llx",
		       (unsigned long long)table[i].dma);
		is_u64(platform.allocated, !table[i].crosses,
		       "a buffer across 4 GiB is not kept: positions have 32 bits");
		ok(!sink->buffer == table[i].crosses && !sink->bounce == table[i].crosses,
		   "nor what goes with it");
		ntrace_ramsink_free(component);
		is_u64(platform.allocated, 0, "freed");
		ok(!sink->buffer && !sink->bounce && !sink->ring, "all of it");
	}
	for (int fail = 0; fail < 2; fail++) {
		fresh(TR_RAM_IMPL_HAS_SMEM, 64, 64);
		sink->src_bits = 2;
		host_allocations = fail;
		is_u64(ntrace_ramsink_alloc(component, 0x10000), (u64)-ENOMEM, "no memory: ENOMEM");
		ok(!sink->buffer && !sink->bounce && !platform.allocated, "and nothing is kept");
		host_allocations = -1;
	}
	fresh(TR_RAM_IMPL_HAS_SMEM, 64, 64);
	ntrace_ramsink_alloc(component, 0x10000);
	ok(!sink->bounce, "a sink of one encoder: nothing is dealt out");
	ntrace_ramsink_free(component);

	/* The sink may still write to this memory. */
	static const u32 on[] = { TR_CONTROL_ACTIVE, TR_CONTROL_ENABLE,
				  TR_CONTROL_ACTIVE | TR_CONTROL_ENABLE };

	for (size_t i = 0; i < ARRAY_SIZE(on); i++) {
		fresh(TR_RAM_IMPL_HAS_SMEM, 64, 64);
		ntrace_ramsink_alloc(component, 0x10000);
		void *buffer = sink->buffer;

		hw.control = on[i];
		ntrace_ramsink_free(component);
		ok(platform.allocated == 1 && machine_logged == 1 && !sink->buffer,
		   "trRamControl 0x%x: its memory is leaked, and the log says it", on[i]);
		free(buffer);
	}
}

static int program(u64 dma, size_t size, u32 flags)
{
	struct ntrace_config config = { .flags = flags };

	platform.dma = dma;
	if (sink->buffer)
		free(sink->buffer);
	sink->buffer = NULL;
	ntrace_ramsink_alloc(component, size);
	hw.control = 0;
	return ntrace_ramsink_program(component, &config);
}

static void test_program(void)
{
	static const struct {
		const char *what;
		u64 start_keeps, limit_keeps, wp_keeps, limit_most, start_forced;
		int expected;
		u64 ring_dma;
		u32 ring_size;
	} table[] = {
		{ "as it is", ~63ull, ~63ull, ~63ull, 0, 0, 0, 0x80010000, 0x4000 },
		{ "Limit is trimmed", ~63ull, ~63ull, ~63ull, 0x80011fc0, 0, 0, 0x80010000,
		  0x2000 },
		{ "Start is moved up", ~63ull, ~63ull, ~63ull, 0, 0x80010100, -EIO, 0, 0 },
		{ "WP follows it", ~63ull, ~63ull, ~0ull, 0, 0x80010100, 0, 0x80010100, 0x3f00 },
		{ "Start before the buffer", ~0x1ffffull, ~63ull, ~0x1ffffull, 0, 0, -EIO, 0, 0 },
		{ "Limit before Start", ~63ull, ~63ull, ~63ull, 0x80000000, 0, -EIO, 0, 0 },
		{ "Limit is Start", ~63ull, ~63ull, ~63ull, 0x80010000, 0, 0, 0x80010000, 64 },
		{ "Limit off the granules", ~63ull, ~3ull, ~63ull, 0x80011fe0, 0, -EIO, 0, 0 },
		{ "WP elsewhere", ~63ull, ~63ull, ~0x1ffffull, 0, 0, -EIO, 0, 0 },
		{ "no high half", 0xffffffc0, 0xffffffc0, 0xffffffc0, 0, 0, 0, 0x80010000, 0x4000 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		fresh(TR_RAM_IMPL_HAS_SMEM, 64, 56);
		ntrace_ramsink_init(component);
		hw.start_keeps = table[i].start_keeps;
		hw.limit_keeps = table[i].limit_keeps;
		hw.wp_keeps = table[i].wp_keeps;
		hw.limit_most = table[i].limit_most;
		hw.start_forced = table[i].start_forced;
		hw.wp_keeps = table[i].wp_keeps;
		machine_logged = 0;
		if (!strcmp(table[i].what, "Start is moved up"))
			hw.wp_keeps = ~0x1ffull;
		is_u64(program(0x80010000, 0x4000, 0), (u64)table[i].expected, "%s", table[i].what);
		if (table[i].expected) {
			is_u64(machine_logged, 1, "the log says what reads back");
		} else {
			is_hex(sink->ring_dma, table[i].ring_dma, "where the ring is");
			is_hex(sink->ring_size, table[i].ring_size, "and how large");
			ok(sink->ring == (u8 *)sink->buffer + (table[i].ring_dma - 0x80010000),
			   "for the driver as well");
		}
		free(sink->buffer);
		sink->buffer = NULL;
	}

	fresh(TR_RAM_IMPL_HAS_SMEM, 64, 56);
	ntrace_ramsink_init(component);
	hw.limit_least = 0x80010000 + 0x4000;
	is_u64(program(0x80010000, 0x4000, 0), (u64)-EIO,
	       "Limit is a granule after the buffer: refused");
	free(sink->buffer);

	/* Memory above 4 GiB, and a sink that ignores the upper address bits. */
	fresh(TR_RAM_IMPL_HAS_SMEM, 64, 56);
	ntrace_ramsink_init(component);
	is_u64(program(0x1280010000, 0x4000, 0), 0, "above 4 GiB");
	is_hex(hw.start, 0x1280010000, "Start has both halves");
	is_hex(hw.limit, 0x1280013fc0, "Limit is the last granule");
	hw.start_keeps = hw.limit_keeps = hw.wp_keeps = 0xffffffc0;
	is_u64(program(0x1280010000, 0x4000, 0), (u64)-EIO, "without the high half: refused");
	hw.start_keeps = ~63ull;
	is_u64(program(0x1280010000, 0x4000, 0), (u64)-EIO, "without that of Limit: refused");
	free(sink->buffer);

	fresh(TR_RAM_IMPL_HAS_SMEM, 64, 56);
	ntrace_ramsink_init(component);
	is_u64(program(0x80010000, 0x4000, NTRACE_CONFIG_STOP_ON_WRAP), 0, "stop-on-wrap");
	ok(hw.control & TR_RAM_CONTROL_STOP_ON_WRAP && ntrace_ramsink_is_whole(sink),
	   "it is set, and the ring is read as a whole");
	is_u64(program(0x80010000, 0x4000, 0), 0, "and no longer");
	ok(!(hw.control & TR_RAM_CONTROL_STOP_ON_WRAP) && !ntrace_ramsink_is_whole(sink),
	   "it is clear");
	hw.control_keeps &= ~TR_RAM_CONTROL_STOP_ON_WRAP;
	is_u64(program(0x80010000, 0x4000, NTRACE_CONFIG_STOP_ON_WRAP), (u64)-EOPNOTSUPP,
	       "a sink that cannot: refused");
	hw.control_forced = TR_CONTROL_ENABLE;
	is_u64(program(0x80010000, 0x4000, 0), (u64)-EIO, "it is still enabled: refused");
	free(sink->buffer);
	sink->buffer = NULL;
}

/* Runs a sink whose writes have @bytes, as its registers are now. Returns whether it stays. */
static bool stays_inside(u64 bytes)
{
	u64 wp = hw.wp, limit = limit_of();
	bool inside = true;

	for (u64 n = 0; n < 3 * sink->buffer_size / bytes && inside; n++) {
		inside = wp >= sink->dma && wp + bytes <= sink->dma + sink->buffer_size;
		wp = wp == limit ? start_of() : wp + bytes;
	}
	return inside;
}

/* Whatever the registers say: a sink that is programmed wraps inside its buffer. */
static void test_every_width(void)
{
	static const char *const names[] = { "all bits of Limit are writable", "zero bits show it",
					     "WP alone shows it", "a buffer is a power of two",
					     "Limit is trimmed" };

	for (unsigned int kind = 0; kind < ARRAY_SIZE(names); kind++) {
		bool inside = true, usable = true, said = true;

		for (unsigned int bytes = 4; bytes <= 4096; bytes *= 2) {
			for (size_t size = 8192; size <= 65536; size *= 2) {
				bool known = false;

				do {
					fresh(TR_RAM_IMPL_HAS_SMEM, 4, 56);
					platform.write_bytes = known ? bytes : 0;
					if (kind == 1)
						hw.limit_keeps &= ~(u64)(bytes - 1);
					if (kind == 1 || kind == 2)
						hw.wp_keeps &= ~(u64)(bytes - 1);
					ntrace_ramsink_init(component);
					if (kind == 3)
						hw.whole_size = bytes;
					if (kind == 4)
						hw.limit_most = 0x80010000 + size / 2 + 64;
					machine_logged = 0;
					if (!program(0x80010000, size, 0)) {
						inside &= stays_inside(bytes);
					} else {
						usable = false;
						said &= machine_logged == 1;
						said &= known || strstr(machine_log, "write-bytes");
						/* Limit + 64 is hit by narrow writes only. */
						inside &= !known || kind == 4;
					}
					free(sink->buffer);
					sink->buffer = NULL;
					known = !known;
				} while (known);
			}
		}
		ok(inside, "%s: no write leaves the buffer", names[kind]);
		ok(kind < 3 ? usable : said, "%s: %s", names[kind],
		   kind < 3 ? "all are usable" : "the log says what is missing");
	}
}

/* The width of a write is unknown: how the driver learns it. */
static void test_learn(void)
{
	u32 position = 0x1040;

	fresh_unknown(4);
	is_u64(program(0x80010000, 0x4000, 0), 0, "an unknown width");
	is_hex(hw.limit, 0x80013000, "Limit is a multiple of 4 KiB");
	sink->drained = 0;
	ntrace_ramsink_track(sink, &position, true);
	is_u64(sink->granule, 64, "a pointer bounds it");
	position = 0x1004;
	ntrace_ramsink_track(sink, &position, false);
	is_u64(sink->granule, 64, "not that of a stopped sink, which may have written a part");
	(memset)(sink->ring + sink->last, NTRACE_RESERVED_BYTE, sink->reach);
	sink->drained = 0x2000;
	position = 0;
	ok(ntrace_ramsink_track(sink, &position, true) && position == 0x3000,
	   "it has just wrapped: read up to Limit");
	ok(!sink->wrapped, "where the ring ends is unknown");
	position = 64;
	ok(ntrace_ramsink_track(sink, &position, true) && position == 0x2000,
	   "nothing is written at Limit: nothing is read");
	position = 64;
	ok(!ntrace_ramsink_track(sink, &position, false), "it has moved back: a fault");
	(memset)(sink->ring + sink->last, 0xff, 30);
	position = 64;
	ok(ntrace_ramsink_track(sink, &position, true) && position == 64 && sink->wrapped,
	   "the granule at Limit is in memory");
	is_u64(sink->ring_size, 0x3020, "it gives the size of the ring");
	is_u64(sink->granule, 32, "and the width");
	free(sink->buffer);
	sink->buffer = NULL;
}

/* Writing WP does not clear trRamWrap. */
static void test_sticky(void)
{
	fresh_unknown(64);
	hw.sticky = true;
	is_u64(program(0x80010000, 0x4000, 0), 0, "a Wrap that stays: programmed");
	is_u64(ntrace_ramsink_start(component, false), 0, "start");
	(memset)(sink->ring + sink->last, NTRACE_RESERVED_BYTE, sink->granule);
	ok(!ntrace_ramsink_wrapped(component), "it has not wrapped");
	sink->ring[sink->last] = 1;
	ok(ntrace_ramsink_wrapped(component), "memory tells that it has");
	free(sink->buffer);
	sink->buffer = NULL;

	for (int fixed = 0; fixed < 2; fixed++) {
		fresh_sram(256 + 4);
		ntrace_ramsink_init(component);
		sink->sram_size = 256;
		hw.limit_most = 252;
		hw.rp_most = 252;
		hw.sticky = true;
		hw.data_fixed = fixed;
		ntrace_ramsink_alloc(component, 4096);
		ntrace_ramsink_program(component, &(struct ntrace_config){ 0 });
		is_u64(ntrace_ramsink_start(component, false), fixed ? (u64)-EIO : 0,
		       "SRAM, a Wrap that stays, trRamData is writable: %d", !fixed);
		is_u64(machine_logged, fixed, "the log says why not");
		ntrace_ramsink_fetch(component);
		ok(fixed || !ntrace_ramsink_wrapped(component), "it has not wrapped");
		hw.data[63] = 1;
		ntrace_ramsink_fetch(component);
		ok(fixed || ntrace_ramsink_wrapped(component), "its last word tells that it has");
		ntrace_ramsink_free(component);
	}
}

static void test_run(void)
{
	u32 position = 0;

	fresh(TR_RAM_IMPL_HAS_SMEM, 64, 56);
	ntrace_ramsink_init(component);
	program(0x1280010000, 0x4000, NTRACE_CONFIG_STOP_ON_WRAP);
	hw.wp = 0x1280010041;
	is_u64(ntrace_ramsink_start(component, false), 0, "start");
	is_hex(hw.wp, 0x1280010000, "the ring is empty");
	ok(hw.control == (TR_CONTROL_ACTIVE | TR_CONTROL_ENABLE | TR_RAM_CONTROL_MODE_SMEM |
			  TR_RAM_CONTROL_STOP_ON_WRAP),
	   "mode and stop-on-wrap stay");
	static const struct {
		u64 wp;
		bool inside;
		u32 position;
	} table[] = {
		{ 0x1280010000, true, 0 },	{ 0x1280010041, true, 0x40 },
		{ 0x1280013fc0, true, 0x3fc0 }, { 0x1280014000, false, 0 },
		{ 0x128000ffc0, false, 0 },	{ 0x1280013fc1, true, 0x3fc0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		hw.wp = table[i].wp;
		is_u64(ntrace_ramsink_position(component, &position), table[i].inside,
		       "WP 0x%llx is in the ring?", (unsigned long long)hw.wp);
		if (table[i].inside)
			is_hex(position, table[i].position, "and where");
	}
	is_u64(ntrace_ramsink_stop(component, false), 0, "stop");
	ok(!sink->full, "it was running until then");
	ntrace_ramsink_stop(component, false);
	ok(sink->full, "one that has cleared Enable itself is full");
	sink->fault = true;
	ntrace_ramsink_stop(component, false);
	ok(!sink->full, "unless the driver has disabled it before, as it failed");
	sink->fault = false;
	ok(!(hw.control & TR_CONTROL_ENABLE) && hw.control & TR_CONTROL_ACTIVE, "disabled, active");
	hw.wp_keeps = 0;
	is_u64(ntrace_ramsink_start(component, false), (u64)-EIO, "WP cannot be set back: EIO");
	ok(!(hw.control & TR_CONTROL_ENABLE), "and it is not enabled");
	hw.wp_keeps = ~63ull;
	hw.control_keeps &= ~TR_CONTROL_ENABLE;
	is_u64(ntrace_ramsink_start(component, false), (u64)-ETIMEDOUT, "it does not start");
	hw.control_forced = TR_CONTROL_ENABLE;
	is_u64(ntrace_ramsink_stop(component, false), (u64)-ETIMEDOUT, "it does not stop");
	free(sink->buffer);
}

int main(void)
{
	test_identify();
	test_sram();
	test_size_max();
	test_alloc();
	test_program();
	test_every_width();
	test_learn();
	test_sticky();
	test_run();
	return done_testing();
}
