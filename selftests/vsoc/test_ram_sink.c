// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* RAM sink of the virtual SoC (Trace Control Interface 1.0, trRam registers). */
#include <ntrace/trace_control.h>

#include "ram_sink.h"
#include "tap.h"

static uint8_t memory[0x8000];
static bool opened;

static void mem_open(void *opaque, uint64_t address, uint64_t size)
{
	(void)opaque;
	(void)address;
	(void)size;
	opened = true;
}

static void mem_close(void *opaque)
{
	(void)opaque;
	opened = false;
}

static void mem_write(void *opaque, uint64_t address, const uint8_t *data, size_t size)
{
	(void)opaque;
	if (address >= 0x80001000 && address + size <= 0x80001000 + sizeof(memory))
		memcpy(memory + (address - 0x80001000), data, size);
}

static const struct ram_sink_ops mem_ops = { mem_open, mem_close, mem_write };

static struct ram_sink sink;

static void sink_fresh(unsigned int granule, unsigned int address_bits, bool power_of_two)
{
	struct ram_sink_parameters sink_parameters = {
		.granule = granule,
		.address_bits = address_bits,
		.power_of_two = power_of_two,
		.smem = true,
	};

	memset(memory, 0, sizeof(memory));
	opened = false;
	ram_sink_init(&sink, &sink_parameters, &mem_ops, NULL);
	ram_sink_write(&sink, TR_RAM_CONTROL, TR_CONTROL_ACTIVE);
}

static uint32_t sink_try(uint32_t offset, uint32_t value)
{
	ram_sink_write(&sink, offset, value);
	return ram_sink_read(&sink, offset);
}

static void sink_ready(unsigned int granules, uint32_t flags)
{
	sink_fresh(64, 56, false);
	ram_sink_write(&sink, TR_RAM_START_LOW, 0x80001000);
	ram_sink_write(&sink, TR_RAM_LIMIT_LOW, 0x80001000 + 64 * (granules - 1));
	ram_sink_write(&sink, TR_RAM_WP_LOW, 0x80001000);
	ram_sink_write(&sink, TR_RAM_CONTROL, TR_CONTROL_ACTIVE | TR_CONTROL_ENABLE | flags);
}

static void put(size_t size, uint8_t value)
{
	uint8_t data[64];

	memset(data, value, sizeof(data));
	for (; size > sizeof(data); size -= sizeof(data))
		ram_sink_put(&sink, data, sizeof(data));
	ram_sink_put(&sink, data, size);
}

static void sink_registers(void)
{
	struct ram_sink_parameters sink_parameters = { .granule = 64,
						       .address_bits = 56,
						       .smem = true };

	ram_sink_init(&sink, &sink_parameters, &mem_ops, NULL);
	is_hex(ram_sink_read(&sink, TR_RAM_CONTROL), TR_CONTROL_EMPTY, "sink: power-up");
	is_hex(ram_sink_read(&sink, TR_RAM_IMPL), 0, "sink: Active 0, Impl reads 0");
	sink_fresh(64, 56, false);
	is_hex(ram_sink_read(&sink, TR_RAM_IMPL), 0x2901, "sink: Impl has type and HasSMEM");
	is_hex(sink_try(TR_RAM_CONTROL, ~0u & ~TR_CONTROL_ENABLE), 0x119,
	       "sink: SMEM mode and StopOnWrap; no memory format, no alignment sync");
	is_hex(sink_try(TR_RAM_START_LOW, ~0u), 0xffffffc0, "Start is a multiple of the granule");
	is_hex(sink_try(TR_RAM_START_HIGH, ~0u), 0x00ffffff, "Start ends at the address width");
	is_hex(sink_try(TR_RAM_LIMIT_LOW, 0x1fff), 0x1fc0, "Limit is a multiple of the granule");
	is_hex(sink_try(TR_RAM_WP_LOW, 0x1fff), 0x1fc0, "WP is too; writing cannot set Wrap");
	is_hex(sink_try(TR_RAM_RP_LOW, 0x40), 0, "no read pointer without SRAM");
	is_hex(sink_try(TR_RAM_DATA, 0x40), 0, "no data window without SRAM");
	sink_fresh(4, 32, false);
	is_hex(sink_try(TR_RAM_START_LOW, ~0u), 0xfffffffc, "granule of 4 bytes");
	is_hex(sink_try(TR_RAM_START_HIGH, ~0u), 0, "32 address bits: High reads 0");
	sink_fresh(64, 56, true);
	ram_sink_write(&sink, TR_RAM_START_LOW, 0x80001000);
	is_hex(sink_try(TR_RAM_LIMIT_LOW, 0x80001fff), 0x80001fc0,
	       "size of a power of two is kept");
	is_hex(sink_try(TR_RAM_LIMIT_LOW, 0x80001bff), 0x800017c0,
	       "other sizes are trimmed down to one");
	is_hex(sink_try(TR_RAM_LIMIT_LOW, 0x80002fff), 0x80001fc0,
	       "a size that does not divide Start is trimmed, too");
	ram_sink_write(&sink, TR_RAM_CONTROL, 0);
	ram_sink_write(&sink, TR_RAM_CONTROL, TR_CONTROL_ACTIVE);
	ok(!ram_sink_read(&sink, TR_RAM_START_LOW) && !ram_sink_read(&sink, TR_RAM_LIMIT_LOW),
	   "Active 0 resets everything");
}

static void sink_running(void)
{
	sink_ready(4, 0);
	ok(opened && ram_sink_read(&sink, TR_RAM_CONTROL) & TR_CONTROL_ENABLE, "enabled");
	is_hex(ram_sink_read(&sink, TR_RAM_WP_LOW), 0x80001000, "enabling moves no pointer");
	sink_try(TR_RAM_START_LOW, 0);
	sink_try(TR_RAM_LIMIT_LOW, 0);
	sink_try(TR_RAM_WP_LOW, 0);
	ok(ram_sink_read(&sink, TR_RAM_START_LOW) == 0x80001000 &&
		   ram_sink_read(&sink, TR_RAM_LIMIT_LOW) == 0x800010c0 &&
		   ram_sink_read(&sink, TR_RAM_WP_LOW) == 0x80001000,
	   "Start, Limit and WP are frozen while enabled");
	is_u64(sink.software_errors, 3, "and writing them is an error of the software");

	put(70, 0x11);
	is_hex(ram_sink_read(&sink, TR_RAM_WP_LOW), 0x80001040, "WP moves by whole granules");
	ok(!(ram_sink_read(&sink, TR_RAM_CONTROL) & TR_CONTROL_EMPTY), "6 bytes inside: not Empty");
	is_hex(memory[64], 0, "and not in memory");
	ram_sink_write(&sink, TR_RAM_CONTROL, TR_CONTROL_ACTIVE);
	ok(ram_sink_read(&sink, TR_RAM_CONTROL) & TR_CONTROL_EMPTY && !opened, "disabling flushes");
	ok(memory[69] == 0x11 && memory[70] == 0xff && memory[127] == 0xff,
	   "the last granule is padded with idle");
	is_hex(ram_sink_read(&sink, TR_RAM_WP_LOW), 0x80001080, "disabling may move WP");

	sink_ready(4, 0);
	put(256, 0x22);
	is_hex(ram_sink_read(&sink, TR_RAM_WP_LOW), 0x80001001,
	       "after Limit comes Start, with Wrap");
	put(128, 0x33);
	is_hex(ram_sink_read(&sink, TR_RAM_WP_LOW), 0x80001081, "Wrap is sticky");
	ram_sink_write(&sink, TR_RAM_CONTROL, TR_CONTROL_ACTIVE);
	is_hex(ram_sink_read(&sink, TR_RAM_WP_LOW), 0x80001081, "also when disabled");
	is_hex(sink_try(TR_RAM_WP_LOW, 0x80001000), 0x80001000, "and cleared by writing WPLow");

	sink_ready(4, TR_RAM_CONTROL_STOP_ON_WRAP);
	put(250, 0x44);
	ok(ram_sink_read(&sink, TR_RAM_CONTROL) & TR_CONTROL_ENABLE,
	   "stop-on-wrap: continues up to the end");
	ok(!ram_sink_put(&sink, memory, 20), "the message that does not fit is cut");
	is_hex(ram_sink_read(&sink, TR_RAM_CONTROL), 0x119, "then Enable is 0 and Empty is 1");
	is_hex(ram_sink_read(&sink, TR_RAM_WP_LOW), 0x80001001, "WP is Start, with Wrap");
	ok(!ram_sink_put(&sink, memory, 1) && sink.dropped == 15,
	   "what comes later is refused and counted");

	sink_fresh(64, 56, false);
	ram_sink_write(&sink, TR_RAM_START_LOW, 0x80001000);
	ram_sink_write(&sink, TR_RAM_LIMIT_LOW, 0x800010c0);
	ram_sink_write(&sink, TR_RAM_WP_LOW, 0x80002000);
	ram_sink_write(&sink, TR_RAM_CONTROL, TR_CONTROL_ACTIVE | TR_CONTROL_ENABLE);
	ok(!opened && !(ram_sink_read(&sink, TR_RAM_CONTROL) & TR_CONTROL_ENABLE),
	   "WP outside of the buffer: not enabled, memory is safe");
}

/* SRAM mode */
static uint8_t sram[256];

static void sram_fresh(bool smem)
{
	struct ram_sink_parameters sink_parameters = {
		.granule = 64,
		.address_bits = 56,
		.smem = smem,
		.sram = sram,
		.sram_size = sizeof(sram),
	};

	memset(sram, 0, sizeof(sram));
	opened = false;
	ram_sink_init(&sink, &sink_parameters, &mem_ops, NULL);
	ram_sink_write(&sink, TR_RAM_CONTROL, TR_CONTROL_ACTIVE);
}

static void sram_registers(void)
{
	sram_fresh(false);
	is_hex(ram_sink_read(&sink, TR_RAM_IMPL), 0x1901, "SRAM: Impl has HasSRAM alone");
	is_hex(sink_try(TR_RAM_CONTROL, ~0u & ~TR_CONTROL_ENABLE), 0x109, "SRAM: no SMEM mode");
	is_hex(sink_try(TR_RAM_START_LOW, ~0u), 0, "SRAM: Start is 0");
	is_hex(ram_sink_read(&sink, TR_RAM_LIMIT_LOW), 252, "SRAM: Limit is the last word");
	is_hex(sink_try(TR_RAM_LIMIT_LOW, 0), 0, "SRAM: Limit can be lower");
	is_hex(sink_try(TR_RAM_LIMIT_LOW, ~0u), 252, "SRAM: but not higher");
	is_hex(sink_try(TR_RAM_WP_LOW, 0x47), 0x44, "SRAM: WP is a multiple of 4");
	is_hex(sink_try(TR_RAM_RP_LOW, ~0u), 252, "SRAM: RP takes the value of Limit");
	ok(!sink_try(TR_RAM_START_HIGH, ~0u) && !sink_try(TR_RAM_LIMIT_HIGH, ~0u) &&
		   !sink_try(TR_RAM_WP_HIGH, ~0u) && !sink_try(TR_RAM_RP_HIGH, ~0u),
	   "SRAM: High registers read 0");

	sram_fresh(true);
	is_hex(ram_sink_read(&sink, TR_RAM_IMPL), 0x3901, "both: Impl says so");
	is_hex(sink_try(TR_RAM_CONTROL, TR_CONTROL_ACTIVE | TR_RAM_CONTROL_MODE_SMEM), 0x19,
	       "both: SMEM mode");
	is_hex(sink_try(TR_RAM_START_LOW, 0x80001040), 0x80001040, "both: Start as in SMEM");
	is_hex(sink_try(TR_RAM_RP_LOW, 4), 0, "both: no RP in SMEM mode");
	is_hex(sink_try(TR_RAM_CONTROL, TR_CONTROL_ACTIVE), 0x9, "both: SRAM mode");
	ok(!ram_sink_read(&sink, TR_RAM_START_LOW) && ram_sink_read(&sink, TR_RAM_LIMIT_LOW) == 252,
	   "both: pointers as in SRAM");
}

static void sram_running(void)
{
	static const uint8_t counting[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 };

	sram_fresh(false);
	ram_sink_write(&sink, TR_RAM_CONTROL, TR_CONTROL_ACTIVE | TR_CONTROL_ENABLE);
	ram_sink_put(&sink, counting, sizeof(counting));
	ok(!opened && ram_sink_read(&sink, TR_RAM_WP_LOW) == 8, "SRAM: words of 4 bytes get in");
	sink_try(TR_RAM_RP_LOW, 4);
	is_hex(ram_sink_read(&sink, TR_RAM_DATA), 0, "SRAM: no window while enabled");
	is_hex(ram_sink_read(&sink, TR_RAM_RP_LOW), 0, "SRAM: nor is RP moved");
	ram_sink_write(&sink, TR_RAM_CONTROL, TR_CONTROL_ACTIVE);
	is_hex(ram_sink_read(&sink, TR_RAM_WP_LOW), 12, "SRAM: disabling flushes");
	is_hex(ram_sink_read(&sink, TR_RAM_DATA), 0x04030201,
	       "SRAM: the window, lowest byte first");
	is_hex(ram_sink_read(&sink, TR_RAM_DATA), 0x08070605, "SRAM: RP goes on");
	is_hex(ram_sink_read(&sink, TR_RAM_DATA), 0xffff0a09, "SRAM: padded with idle");
	sink_try(TR_RAM_RP_LOW, 252);
	ram_sink_read(&sink, TR_RAM_DATA);
	is_hex(ram_sink_read(&sink, TR_RAM_DATA), 0x04030201, "SRAM: behind Limit comes Start");
	ram_sink_write(&sink, TR_RAM_RP_LOW, 4);
	ram_sink_write(&sink, TR_RAM_DATA, 0xa1b2c3d4);
	ok(sram[4] == 0xd4 && sram[7] == 0xa1 && ram_sink_read(&sink, TR_RAM_RP_LOW) == 8,
	   "SRAM: the window can be written");
	sink.parameters.data_fixed = true;
	ram_sink_write(&sink, TR_RAM_DATA, 0);
	ok(sram[8] == 9 && ram_sink_read(&sink, TR_RAM_RP_LOW) == 12,
	   "SRAM: or, if it is fixed, not");

	sram_fresh(false);
	ram_sink_write(&sink, TR_RAM_LIMIT_LOW, 12);
	ram_sink_write(&sink, TR_RAM_CONTROL, TR_CONTROL_ACTIVE | TR_CONTROL_ENABLE);
	put(20, 0x55);
	is_hex(ram_sink_read(&sink, TR_RAM_WP_LOW), 5, "SRAM: wraps at Limit");
	ram_sink_write(&sink, TR_RAM_CONTROL,
		       TR_CONTROL_ACTIVE | TR_CONTROL_ENABLE | TR_RAM_CONTROL_STOP_ON_WRAP);
	is_u64(sink.software_errors, 1, "SRAM: StopOnWrap is frozen while enabled");
	ram_sink_write(&sink, TR_RAM_CONTROL, TR_CONTROL_ACTIVE);
	ram_sink_write(&sink, TR_RAM_WP_LOW, 0);
	ram_sink_write(&sink, TR_RAM_CONTROL,
		       TR_CONTROL_ACTIVE | TR_CONTROL_ENABLE | TR_RAM_CONTROL_STOP_ON_WRAP);
	put(20, 0x66);
	ok(ram_sink_read(&sink, TR_RAM_CONTROL) == 0x109 && sram[15] == 0x66 && !sram[16] &&
		   ram_sink_read(&sink, TR_RAM_WP_LOW) == 1,
	   "SRAM: stop-on-wrap");
}

/* Posted writes of a bus: some are in flight when software reads WP. */
static void sink_in_flight(unsigned int in_flight, uint32_t flags)
{
	struct ram_sink_parameters sink_parameters = {
		.granule = 64,
		.address_bits = 56,
		.smem = true,
		.in_flight = in_flight,
	};

	memset(memory, 0, sizeof(memory));
	ram_sink_init(&sink, &sink_parameters, &mem_ops, NULL);
	ram_sink_write(&sink, TR_RAM_CONTROL, TR_CONTROL_ACTIVE);
	ram_sink_write(&sink, TR_RAM_START_LOW, 0x80001000);
	ram_sink_write(&sink, TR_RAM_LIMIT_LOW, 0x800010c0);
	ram_sink_write(&sink, TR_RAM_WP_LOW, 0x80001000);
	ram_sink_write(&sink, TR_RAM_CONTROL, TR_CONTROL_ACTIVE | TR_CONTROL_ENABLE | flags);
}

static void writes_in_flight(void)
{
	sink_in_flight(1, 0);
	put(64, 0x11);
	is_hex(ram_sink_read(&sink, TR_RAM_WP_LOW), 0x80001040, "in flight: WP has moved");
	ok(!memory[0] && !memory[63], "but the granule is not in memory");
	is_hex(ram_sink_read(&sink, TR_RAM_CONTROL), 0x13, "and the sink is not empty");
	put(64, 0x22);
	ok(memory[0] == 0x11 && memory[63] == 0x11 && !memory[64],
	   "it gets there with the next one, which does not");
	put(30, 0x33);
	ram_sink_write(&sink, TR_RAM_CONTROL, TR_CONTROL_ACTIVE);
	ok(memory[64] == 0x22 && memory[127] == 0x22 && memory[128] == 0x33 &&
		   memory[157] == 0x33 && memory[158] == 0xff,
	   "disabling brings all there, in order");
	is_hex(ram_sink_read(&sink, TR_RAM_CONTROL), 0x19, "then it is empty");
	ok(!opened, "and writes no more");

	sink_in_flight(3, 0);
	put(192, 0x11);
	ok(!memory[0], "three in flight: none of three granules is in memory");
	put(128, 0x22);
	ok(memory[0] == 0x11 && memory[64] == 0x11 && !memory[128] && !memory[192],
	   "of five the first two are");
	put(64, 0x33);
	ok(memory[128] == 0x11 && memory[0] == 0x11, "WP may be a round ahead");
	put(128, 0x44);
	ok(memory[0] == 0x22 && memory[64] == 0x11 && memory[192] == 0x22, "memory follows");
	ram_sink_write(&sink, TR_RAM_CONTROL, 0);
	ok(memory[64] == 0x33 && memory[128] == 0x44 && memory[192] == 0x44 && !opened,
	   "posted writes reach memory after a reset, too");

	sink_in_flight(2, TR_RAM_CONTROL_STOP_ON_WRAP);
	put(256, 0x55);
	ok(ram_sink_read(&sink, TR_RAM_CONTROL) == 0x119 && memory[128] == 0x55 &&
		   memory[255] == 0x55 && !opened,
	   "stop-on-wrap: stopped and empty, all is in memory");
}

/* A buffer of SMEM mode whose Limit is @last bytes after Start, in a sink whose granule does not show. */
static void sink_hidden(unsigned int granule, uint32_t last,
			enum ram_sink_wrap_cleared wrap_cleared, uint32_t flags)
{
	struct ram_sink_parameters sink_parameters = {
		.granule = granule,
		.hidden = true,
		.wrap_cleared = wrap_cleared,
		.address_bits = 56,
		.smem = true,
	};

	memset(memory, 0, sizeof(memory));
	ram_sink_init(&sink, &sink_parameters, &mem_ops, NULL);
	ram_sink_write(&sink, TR_RAM_CONTROL, TR_CONTROL_ACTIVE);
	ram_sink_write(&sink, TR_RAM_START_LOW, 0x80001000);
	ram_sink_write(&sink, TR_RAM_LIMIT_LOW, 0x80001000 + last);
	ram_sink_write(&sink, TR_RAM_WP_LOW, 0x80001000);
	ram_sink_write(&sink, TR_RAM_CONTROL, TR_CONTROL_ACTIVE | TR_CONTROL_ENABLE | flags);
}

/*
 * Trace Control Interface 1.0, trRamLimit and trRamWP: the width of an access to system memory is
 * the implementation's, and no register has to show it.
 */
static void hidden_width(void)
{
	static const unsigned int widths[] = { 4, 8, 16, 64, 256, 4096 };

	for (unsigned int i = 0; i < sizeof(widths) / sizeof(widths[0]); i++) {
		unsigned int width = widths[i];

		sink_hidden(width, 0x1000, RAM_SINK_WRAP_BY_WP, 0);
		put(width - 1, 0x11);
		ok(ram_sink_read(&sink, TR_RAM_WP_LOW) == 0x80001000 && !memory[0],
		   "width %u: nothing is written before all bytes are there", width);
		put(1, 0x11);
		ok(ram_sink_read(&sink, TR_RAM_WP_LOW) == 0x80001000 + width &&
			   memory[width - 1] == 0x11 && !memory[width],
		   "width %u: they are written at once", width);
		put(0x1000, 0x22);
		ok(ram_sink_read(&sink, TR_RAM_WP_LOW) == 0x80001001 &&
			   memory[0x1000 + width - 1] == 0x22 && !memory[0x1000 + width],
		   "width %u: the write at Limit wraps, and is the end of the buffer", width);
		put(1, 0x33);
		ram_sink_write(&sink, TR_RAM_CONTROL, TR_CONTROL_ACTIVE);
		ok(memory[0] == 0x33 && memory[1] == 0xff && memory[width - 1] == 0xff &&
			   memory[width] != 0xff,
		   "width %u: disabling completes a write with idle bytes", width);
		is_u64(sink.outside, 0, "width %u: no byte is outside of the buffer", width);

		is_hex(sink_try(TR_RAM_START_LOW, ~0u), 0xfffffffc, "width %u: Start", width);
		is_hex(sink_try(TR_RAM_LIMIT_LOW, ~0u), 0xfffffffc, "width %u: Limit", width);
		is_hex(sink_try(TR_RAM_WP_LOW, ~0u), 0xfffffffc,
		       "width %u: and WP have all bits from bit 2 on", width);
	}

	/* The last word of a page: no multiple of 64. */
	sink_hidden(64, 0xffc, RAM_SINK_WRAP_BY_WP, TR_RAM_CONTROL_STOP_ON_WRAP);
	put(0x1000, 0x11);
	is_u64(sink.outside, 0, "Limit between two writes: the page is filled");
	put(64, 0x22);
	ok(ram_sink_read(&sink, TR_RAM_WP_LOW) == 0x80002040 && memory[0x103f] == 0x22 &&
		   ram_sink_read(&sink, TR_RAM_CONTROL) & TR_CONTROL_ENABLE,
	   "it is not hit exactly: the sink neither wraps nor stops");
	is_u64(sink.outside, 4, "what is after Limit + 64 is counted");
	put(0x4000, 0x33);
	is_u64(sink.outside, 4 + 0x4000, "as is all that follows");
	ram_sink_write(&sink, TR_RAM_CONTROL, 0);
	is_u64(sink.outside, 4 + 0x4000, "a reset of the registers keeps the count");
	ram_sink_power_up(&sink);
	is_u64(sink.outside, 0, "power-up clears it");

	sink_hidden(256, 0x104, RAM_SINK_WRAP_BY_WP, 0);
	put(768, 0x11);
	is_u64(sink.outside, 256 - 4, "a write that begins in the buffer counts from its end on");
}

/* Trace Control Interface 1.0, trRamWrap: some hardware clears it by nothing but a reset. */
static void sticky_wrap(void)
{
	sink_hidden(64, 0xc0, RAM_SINK_WRAP_BY_ACTIVE, 0);
	put(256, 0x11);
	is_hex(ram_sink_read(&sink, TR_RAM_WP_LOW), 0x80001001, "sticky Wrap: set at Limit");
	ram_sink_write(&sink, TR_RAM_CONTROL, TR_CONTROL_ACTIVE);
	is_hex(sink_try(TR_RAM_WP_LOW, 0x80001040), 0x80001041,
	       "sticky Wrap: a write of WP moves WP alone");
	ram_sink_write(&sink, TR_RAM_CONTROL,
		       TR_CONTROL_ACTIVE | TR_CONTROL_ENABLE | TR_RAM_CONTROL_STOP_ON_WRAP);
	put(191, 0x22);
	ok(ram_sink_read(&sink, TR_RAM_CONTROL) & TR_CONTROL_ENABLE,
	   "sticky Wrap: the sink does not stop for an earlier one");
	put(1, 0x22);
	is_hex(ram_sink_read(&sink, TR_RAM_CONTROL), 0x119, "sticky Wrap: but at the next");
	ram_sink_write(&sink, TR_RAM_CONTROL, 0);
	ram_sink_write(&sink, TR_RAM_CONTROL, TR_CONTROL_ACTIVE);
	is_hex(ram_sink_read(&sink, TR_RAM_WP_LOW), 0, "sticky Wrap: cleared by Active = 0");

	sink_hidden(64, 0xc0, RAM_SINK_WRAP_BY_POWER_UP, 0);
	put(256, 0x11);
	ram_sink_write(&sink, TR_RAM_CONTROL, 0);
	ram_sink_write(&sink, TR_RAM_CONTROL, TR_CONTROL_ACTIVE);
	is_hex(sink_try(TR_RAM_WP_LOW, 0x80001040), 0x80001041,
	       "Wrap that even Active = 0 does not clear");
	ram_sink_power_up(&sink);
	ram_sink_write(&sink, TR_RAM_CONTROL, TR_CONTROL_ACTIVE);
	is_hex(ram_sink_read(&sink, TR_RAM_WP_LOW), 0, "it is cleared by power-up");
}

int main(void)
{
	sink_registers();
	sink_running();
	sram_registers();
	sram_running();
	writes_in_flight();
	hidden_width();
	sticky_wrap();
	return done_testing();
}
