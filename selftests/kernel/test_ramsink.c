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
	u32 rp;			/* RP, in words */
	u32 rp_most, data[64];
	unsigned int start_when_limit; /* writes to Limit while Start was not 0 */
} hw;

static u8 page[TR_COMPONENT_SIZE];

static u64 limit_of(void)
{
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
		return (u32)hw.wp;
	case TR_RAM_WP_HIGH:
		return (u32)(hw.wp >> 32);
	case TR_RAM_RP_LOW:
		return 4 * hw.rp > hw.rp_most ? hw.rp_most : 4 * hw.rp;
	case TR_RAM_DATA:
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
	machine_logged = 0;
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
		hw.wp_keeps = (table[i].bits == 64 ? ~0ull : (1ull << table[i].bits) - 1) &
			      ~(u64)(table[i].wp_granule - 1);
		is_u64(ntrace_ramsink_init(component), 0, "granule %u, %u bits: usable",
		       table[i].granule, table[i].bits);
		is_u64(sink->granule, table[i].expected, "the coarser of Limit and WP is it");
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
	is_u64(sink->granule, 4, "Wrap is not mistaken for a granule of one byte");

	fresh(TR_RAM_IMPL_HAS_SMEM, 2, 40);
	hw.limit_keeps = hw.wp_keeps = ~0x7ffull;
	is_u64(ntrace_ramsink_init(component), (u64)-EOPNOTSUPP, "granules of 2048: refused");
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
	ntrace_ramsink_fetch(component);
	bool good = true;

	for (u32 i = 0; i < 256; i++)
		good &= sink->ring[i] == (u8)i;
	ok(good, "fetched from its start on, lowest byte first");
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
		bool wrapped;
	} table[] = {
		{ 0x1280010000, true, 0, false },     { 0x1280010041, true, 0x40, true },
		{ 0x1280013fc0, true, 0x3fc0, false }, { 0x1280014000, false, 0, false },
		{ 0x128000ffc0, false, 0, false },    { 0x1280013fc1, true, 0x3fc0, true },
	};

	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		hw.wp = table[i].wp;
		is_u64(ntrace_ramsink_position(component, &position), table[i].inside,
		       "WP 0x%llx is in the ring?", (unsigned long long)hw.wp);
		if (table[i].inside)
			is_hex(position, table[i].position, "and where");
		is_u64(ntrace_ramsink_wrapped(component), table[i].wrapped, "wrapped?");
	}
	is_u64(ntrace_ramsink_stop(component, false), 0, "stop");
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
	test_run();
	return done_testing();
}
