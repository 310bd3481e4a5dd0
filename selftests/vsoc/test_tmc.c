// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Trace Memory Controller of the virtual SoC (ARM 100536), as ETR and as ETF: registers, buffers,
 * and frames, which the library's reader and an example in bytes check.
 */
#include <stdlib.h>

#include <ntrace/frames.h>

#include "tap.h"
#include "tmc.h"

#define BASE UINT64_C(0x180000000)
#define PAGE TMC_SG_PAGE_BYTES

/* System memory at BASE */
static uint8_t memory[64 * PAGE];

static void mem_open(void *opaque, uint64_t address)
{
	(void)opaque;
	(void)address;
}

static uint8_t *at(uint64_t address, size_t size)
{
	if (address < BASE || address + size > BASE + sizeof(memory))
		return NULL;
	return memory + (address - BASE);
}

static bool mem_read(void *opaque, uint64_t address, uint8_t *data, size_t size)
{
	const uint8_t *from = at(address, size);

	(void)opaque;
	if (from)
		memcpy(data, from, size);
	return from;
}

static bool mem_write(void *opaque, uint64_t address, const uint8_t *data, size_t size)
{
	uint8_t *to = at(address, size);

	(void)opaque;
	if (to)
		memcpy(to, data, size);
	return to;
}

static const struct tmc_ops ops = { mem_open, mem_read, mem_write };

/* The component after an ETF */
static struct {
	uint8_t bytes[64];
	size_t size;
	uint8_t id;
	bool full;
} behind;

static bool behind_put(void *opaque, unsigned int input, uint8_t id, const uint8_t *data,
		       size_t size)
{
	(void)opaque;
	(void)input;
	if (behind.full)
		return false;
	memcpy(behind.bytes + behind.size, data, size);
	behind.size += size;
	behind.id = id;
	return true;
}

static bool behind_ready(void *opaque, unsigned int input)
{
	(void)opaque;
	(void)input;
	return !behind.full;
}

static const struct trace_port behind_port = { behind_put, behind_ready, NULL, 0 };

static struct tmc tmc;

static uint32_t rd(uint32_t offset)
{
	return tmc_read(&tmc, offset);
}

static void wr(uint32_t offset, uint32_t value)
{
	tmc_write(&tmc, offset, value);
}

static uint32_t attempt(uint32_t offset, uint32_t value)
{
	wr(offset, value);
	return rd(offset);
}

static uint64_t rd64(uint32_t low, uint32_t high)
{
	return (uint64_t)rd(high) << 32 | rd(low);
}

static void power_up(uint32_t type)
{
	const struct tmc_parameters parameters = { .type = type, .ram_size = 16384 };

	memset(&behind, 0, sizeof(behind));
	tmc_init(&tmc, &parameters, &ops, NULL, &behind_port);
}

static void unlocked(uint32_t type)
{
	power_up(type);
	wr(CS_LAR, CS_LAR_UNLOCK);
}

/* Programs an ETR in the order of the vendor's driver, but does not enable it. */
static void program(uint64_t base, uint32_t words, uint32_t axictl)
{
	unlocked(TMC_DEVID_TYPE_ETR);
	wr(0x004, words);
	wr(0x028, 0);
	wr(0x110, axictl);
	wr(0x118, (uint32_t)base);
	wr(0x11c, base >> 32);
	wr(0x304, 0x133);
	wr(0x01c, 0);
}

static void capture(uint64_t base, uint32_t bytes, uint32_t axictl)
{
	memset(memory, 0xee, sizeof(memory));
	program(base, bytes / 4, axictl);
	wr(0x020, 1);
}

static void put(uint8_t id, const char *bytes)
{
	tmc_put(&tmc, id, (const uint8_t *)bytes, strlen(bytes));
}

static void put_count(uint8_t id, unsigned int count)
{
	for (unsigned int i = 0; i < count; i++) {
		uint8_t byte = (uint8_t)i;

		tmc_put(&tmc, id, &byte, 1);
	}
}

/* Stops in the order of the vendor's driver. Return: polls of the flush, and of Ready */
static unsigned int stop(void)
{
	unsigned int polls = 0;

	wr(0x304, rd(0x304) | 0x1000);
	wr(0x304, rd(0x304) | 0x40);
	for (; rd(0x304) & 0x40 && polls < 100; polls++)
		tmc_advance(&tmc);
	for (; !(rd(0x00c) & 4) && polls < 100; polls++)
		tmc_advance(&tmc);
	return polls;
}

static void identity(void)
{
	static const uint8_t expected[] = { 0x61, 0xb9, 0x1b, 0x00, 0x04, 0x00, 0x00, 0x00 };

	power_up(TMC_DEVID_TYPE_ETF);
	is_hex(rd(0xfc8), 0x380, "ETF: type 2, 64 bits");
	is_hex(rd(0xfcc), 0x32, "a FIFO");
	power_up(TMC_DEVID_TYPE_ETR);
	is_hex(rd(0xfc8), 0x340, "ETR: type 1, 64 bits, with scatter-gather");
	is_hex(rd(0xfcc), 0x21, "a sink");
	is_hex(rd(0xfb8), 3, "non-secure accesses are allowed");
	for (unsigned int i = 0; i < 8; i++)
		is_hex(rd(i < 4 ? 0xfe0 + 4 * i : 0xfd0 + 4 * (i - 4)), expected[i],
		       "PIDR%u: Arm, part 0x961", i);
	is_hex(rd(0xff0), 0x0d, "CIDR0");
}

static void etr_registers(void)
{
	power_up(TMC_DEVID_TYPE_ETR);
	is_hex(rd(0x00c), 0x1c, "after reset: Ready, FtEmpty, Empty");
	ok(!rd(0x020) && rd(0x300) == 2 && !rd(0x304), "no capture, the formatter is stopped");
	is_hex(attempt(0x004, 0x1000), 0, "locked: a write is ignored");
	is_u64(tmc.software_errors, 1, "and is an error of the software");
	is_hex(attempt(FAULT_REGISTER, FAULT_NO_READY), FAULT_NO_READY,
	       "the register of faults has no lock");
	program(BASE, 0x40000, 0xfbe);
	ok(rd(0xfb4) == 1 && rd(0x004) == 0x40000 && rd(0x110) == 0xfbe && rd(0x304) == 0x133,
	   "RSZ, AXICTL and FFCR read as in the vendor's dumps");
	is_hex(attempt(0x110, ~0u), 0xfbf, "AXICTL: fields that exist");
	is_hex(attempt(0x304, ~0u & ~0x40u), 0x3733, "FFCR: fields that exist");
	is_hex(attempt(0x11c, ~0u), 0xff, "addresses have 40 bits");
	is_hex(attempt(0x118, 0x12345670), 0x12345670, "DBALO");
	is_hex(attempt(0x014, 0x1230), 0x1230, "RRP can be written");
	is_hex(attempt(0x03c, 0x101), 0x01, "RWPHI has 8 bits");
	is_hex(attempt(0x018, 0x4560), 0x4560, "RWP");
	is_hex(attempt(0x028, ~0u), 3, "MODE has two bits");
	is_hex(attempt(0x034, 0x55), 0x55, "BUFWM");
	is_hex(attempt(0x01c, 0x77), 0x77, "TRG");
	is_hex(attempt(0x00c, 0), 0x1c, "STS is read-only");
	is_hex(rd(0x010), ~0u, "RRD has nothing");
	ok(!rd(0x02c) && !rd(0x030), "the levels of the buffer are 0");
	is_hex((wr(0xfa0, 2), rd(0xfa4)), 2, "a claim tag");
	is_u64(tmc.software_errors, 0, "all of it correct");
}

static void frozen(void)
{
	static const uint32_t offsets[] = { 0x004, 0x014, 0x018, 0x01c, 0x028, 0x034,
					    0x038, 0x03c, 0x110, 0x118, 0x11c };

	capture(BASE, 4096, 0xf3e);
	for (unsigned int i = 0; i < sizeof(offsets) / sizeof(*offsets); i++) {
		uint32_t old = rd(offsets[i]);

		is_hex(attempt(offsets[i], old ^ 0x10), old, "0x%03x is frozen while it captures",
		       offsets[i]);
	}
	is_hex(attempt(0x304, 0x130), 0x133, "so is the format");
	is_u64(tmc.software_errors, 12, "each is an error of the software");
}

/* IDs 1 and 3, with an ID between two bytes of a pair; what the bytes mean is known from others. */
static void example(void)
{
	static const uint8_t expected[] = { 0x03, 0xa1, 0x22, 0x33, 0x07, 0x45, 0x56, 0x67,
					    0x03, 0x6b, 0x98, 0x78, 0x01, 0x00, 0x00, 0x30 };

	capture(BASE, 4096, 0xf3e);
	put(1, "\xa1\x22\x33");
	put(3, "\x45\x56\x67\x6b");
	put(1, "\x99\x78");
	ok(memory[0] == 0xee && rd64(0x018, 0x03c) == BASE, "an incomplete frame stays inside");
	is_hex(rd(0x00c), 0x10, "not Ready, nothing in memory yet");
	stop();
	ok(!memcmp(memory, expected, 16), "a flush pads it with ID 0");
	is_hex(rd64(0x018, 0x03c), BASE + 16, "RWP is after it");
	is_hex(rd64(0x014, 0x038), BASE, "RRP is at the first frame");
	is_hex(rd(0x00c), 0x0c, "Ready, FtEmpty, not Empty, not Full");
}

/* Reads frames. Return: number of bytes; their IDs and values are in @ids and @bytes */
static size_t deframe(const uint8_t *frames, size_t size, uint8_t *ids, uint8_t *bytes)
{
	struct ntrace_frames reader;
	struct ntrace_frames_piece piece;
	size_t count = 0;

	ntrace_frames_init(&reader);
	ntrace_frames_feed(&reader, frames, size);
	while (ntrace_frames_next(&reader, &piece) == NTRACE_FRAMES_BYTES) {
		memset(ids + count, (int)piece.source, piece.size);
		memcpy(bytes + count, piece.bytes, piece.size);
		count += piece.size;
	}
	return ntrace_frames_pending(&reader) || reader.nameless || reader.reserved ? 0 : count;
}

static void frames(void)
{
	static uint8_t ids[20000], bytes[20000], got_ids[40000], got[40000];
	uint8_t id = 1;
	size_t size, count;

	capture(BASE, sizeof(memory), 0xf3e);
	srand(7);
	for (unsigned int i = 0; i < sizeof(bytes); i++) {
		/* Runs of all lengths: a switch per byte, and hardly any */
		if (!(rand() % (1 + i / 300)))
			id = (uint8_t)(1 + rand() % 0x6f);
		ids[i] = id;
		bytes[i] = (uint8_t)rand();
		tmc_put(&tmc, ids[i], &bytes[i], 1);
	}
	stop();
	size = rd64(0x018, 0x03c) - BASE;
	count = deframe(memory, size, got_ids, got);
	ok(count == sizeof(bytes) && !memcmp(ids, got_ids, count) && !memcmp(bytes, got, count),
	   "the library reads %zu bytes in frames of %zu", count, size);
	is_u64(tmc.bytes, sizeof(bytes), "bytes are counted");
}

static bool has_id(const uint8_t *frame)
{
	for (unsigned int i = 0; i < 16 - 1; i += 2)
		if (frame[i] & 1)
			return true;
	return false;
}

static void repeated_id(void)
{
	unsigned int gap = 0, most = 0, count = 0;

	capture(BASE, sizeof(memory), 0xf3e);
	put_count(9, 3000);
	for (uint64_t i = 0; i < rd64(0x018, 0x03c) - BASE; i += 16, count++) {
		gap = has_id(memory + i) ? 0 : gap + 1;
		most = gap > most ? gap : most;
	}
	ok(count > 150 && most == 9, "an ID that does not change is in every tenth of %u frames",
	   count);
}

static void wrapping(void)
{
	static uint8_t ids[256], bytes[256];
	size_t count;

	capture(BASE + 0x100, 64, 0xf3e);
	put_count(1, 14 + 15 + 15);
	is_hex(rd64(0x018, 0x03c), BASE + 0x130, "RWP moves with each frame");
	ok(memory[0x101] == 0 && memory[0x130] == 0xee, "and they are in memory");
	is_hex(rd(0x00c), 0, "running, not Full");
	put_count(1, 15);
	is_hex(rd64(0x018, 0x03c), BASE + 0x100, "at the end it goes back to the base");
	is_hex(rd(0x00c), 1, "and is Full, as in the vendor's dumps");
	put_count(1, 15);
	is_hex(rd64(0x018, 0x03c), BASE + 0x110, "it goes on");
	stop();
	is_hex(rd(0x00c), 0x0d, "stopped, as in the vendor's dumps");
	is_hex(rd64(0x014, 0x038), BASE + 0x110, "RRP = RWP: there is the oldest frame");
	ok(memory[0xff] == 0xee && memory[0x140] == 0xee, "nothing outside the buffer");
	wr(0x020, 0);
	wr(0x304, 0x133);
	wr(0x020, 1);
	ok(rd64(0x018, 0x03c) == BASE + 0x100 && rd64(0x014, 0x038) == BASE + 0x100 &&
		   rd(0x00c) == 0x10,
	   "enabled again: both pointers at the base, not Full");
	put(5, "x");
	stop();
	count = deframe(memory + 0x100, 16, ids, bytes);
	ok(count == 1 && ids[0] == 5 && bytes[0] == 'x', "and it begins with an ID");
}

static void entry(unsigned int page, unsigned int index, unsigned int target, uint32_t type)
{
	uint32_t value = (uint32_t)((BASE + (uint64_t)target * PAGE) >> 8) | type;

	for (unsigned int i = 0; i < 4; i++)
		memory[page * PAGE + 4 * index + i] = (uint8_t)(value >> 8 * i);
}

/* Pages 7, 3 and 5; the table is in the pages 0 and 9. */
static void make_table(void)
{
	capture(BASE, 3 * PAGE, 0xfbe);
	wr(0x020, 0);
	entry(0, 0, 7, 2);
	entry(0, 1, 3, 2);
	entry(0, 2, 9, 3);
	entry(9, 0, 5, 1);
	wr(0x020, 1);
}

#define FRAMES_PER_PAGE (PAGE / 16)

static void put_frames(unsigned int count)
{
	uint8_t byte = 0;

	for (unsigned int i = 0; i < count; i++) {
		uint64_t before = tmc.rwp;

		while (tmc.rwp == before)
			tmc_put(&tmc, 1, &byte, 1);
	}
}

static void scattered(void)
{
	make_table();
	is_hex(rd64(0x018, 0x03c), BASE + 7 * PAGE, "RWP begins in the first page");
	put_frames(FRAMES_PER_PAGE - 1);
	is_hex(rd64(0x018, 0x03c), BASE + 8 * PAGE - 16, "up to its last frame");
	put_frames(1);
	is_hex(rd64(0x018, 0x03c), BASE + 3 * PAGE, "then in the second one");
	put_frames(FRAMES_PER_PAGE);
	is_hex(rd64(0x018, 0x03c), BASE + 5 * PAGE, "the table goes on elsewhere");
	is_hex(rd64(0x014, 0x038), BASE + 7 * PAGE, "not Full: RRP is at the first page");
	is_hex(rd(0x00c), 0, "not Full");
	put_frames(FRAMES_PER_PAGE);
	is_hex(rd64(0x018, 0x03c), BASE + 7 * PAGE, "after the last page comes the first one");
	is_hex(rd(0x00c), 1, "and it is Full");
	put_frames(FRAMES_PER_PAGE + 2);
	put(1, "x");
	stop();
	is_hex(rd64(0x018, 0x03c), BASE + 3 * PAGE + 48, "a second round");
	ok(rd64(0x014, 0x038) == rd64(0x018, 0x03c) && rd(0x00c) == 0x0d,
	   "RRP = RWP in a data page, as in the vendor's dumps");
	ok(memory[4 * PAGE] == 0xee && memory[6 * PAGE + 1] == 0xee && memory[8 * PAGE] == 0xee,
	   "nothing outside the pages");
}

static void bad_tables(void)
{
	make_table();
	wr(0x020, 0);
	entry(0, 1, 3, 0);
	wr(0x020, 1);
	put_frames(FRAMES_PER_PAGE - 1);
	put_count(1, 100);
	is_hex(rd(0x00c), 0x2c, "an entry that is none: MemErr, and it stops");
	make_table();
	wr(0x020, 0);
	entry(0, 0, 0, 3);
	wr(0x020, 1);
	is_hex(rd(0x00c), 0x3c, "a table that only leads to itself");
	make_table();
	wr(0x020, 0);
	wr(0x11c, 0x7f);
	wr(0x020, 1);
	is_hex(rd(0x00c), 0x3c, "no table");
	wr(0x020, 0);
	wr(0x11c, BASE >> 32);
	wr(0x020, 1);
	is_hex(rd(0x00c), 0x10, "enabling clears MemErr");
}

static void stopping(void)
{
	capture(BASE, 4096, 0xf3e);
	put(1, "abc");
	wr(0x304, 0x1133);
	is_hex(rd(0x300), 0, "StopOnFl alone does nothing");
	wr(0x304, 0x1173);
	is_hex(rd(0x300), 1, "FlushMan: the flush is in progress");
	is_hex(rd(0x304), 0x1173, "and FlushMan reads 1");
	put(1, "d");
	is_u64(memory[0], 0xee, "what is before the TMC can still send");
	tmc_advance(&tmc);
	is_hex(rd(0x304), 0x1133, "the flush has ended");
	ok(rd(0x300) == 2 && !memcmp(memory, "\x03\x61\x62\x63\x01", 4) && memory[15],
	   "the formatter has stopped, the frame is in memory");
	is_hex(rd(0x00c), 0, "not yet Ready");
	tmc_advance(&tmc);
	is_hex(rd(0x00c), 0, "not yet");
	tmc_advance(&tmc);
	is_hex(rd(0x00c), 0x0c, "Ready");
	ok(tmc_ready(&tmc) && (put(1, "efghijklmnopqrstuvwxyz"), rd(0x018) == 0x80000010),
	   "a stopped TMC takes trace and drops it");
	is_u64(tmc.dropped, 22, "which is counted");
	is_hex(attempt(0x304, 0x1173), 0x1133, "it has nothing to flush");
	is_hex((wr(0x020, 0), rd(0x00c)), 0x0c, "disabled");
	is_hex(rd64(0x018, 0x03c), BASE + 16, "RWP stays");

	capture(BASE, 4096, 0xf3e);
	put(1, "abc");
	wr(0x304, 0x173);
	tmc_advance(&tmc);
	put(2, "defghijklmnopqrst");
	ok(rd(0x300) == 0 && rd64(0x018, 0x03c) == BASE + 32, "a flush without stop: it goes on");
	put(1, "abc");
	wr(0x020, 0);
	wr(0x020, 1);
	stop();
	ok(rd64(0x018, 0x03c) == BASE, "disabled without a flush: the rest is lost");
}

static void dropping(void)
{
	power_up(TMC_DEVID_TYPE_ETR);
	ok(tmc_ready(&tmc) && tmc_put(&tmc, 1, memory, 4) && tmc.dropped == 4,
	   "disabled: accepts and drops");
	capture(BASE, 4096, 0xf3e);
	put(0, "none");
	put(0x70, "reserved");
	stop();
	ok(rd64(0x018, 0x03c) == BASE && tmc.dropped == 12, "IDs that ATB does not have");

	program(BASE, 4096, 0xf3e);
	wr(0x028, 2);
	wr(0x020, 1);
	put_count(1, 100);
	ok(tmc.software_errors == 1 && rd64(0x018, 0x03c) == 0, "ETR: no other mode");
	program(BASE, 4096 / 4 + 1, 0xf3e);
	wr(0x020, 1);
	is_u64(tmc.software_errors, 1, "a buffer that is not made of frames");
	program(BASE + 8, 4096 / 4, 0xf3e);
	wr(0x020, 1);
	is_u64(tmc.software_errors, 1, "one that does not begin with a frame");
	program(BASE, 0, 0xf3e);
	wr(0x020, 1);
	is_u64(tmc.software_errors, 1, "none at all");
	program(BASE, 4096 / 4, 0xf3e);
	wr(0x304, 0);
	wr(0x020, 1);
	is_u64(tmc.software_errors, 1, "without formatting");
}

static void faults(void)
{
	capture(BASE, 4096, 0xf3e);
	wr(FAULT_REGISTER, FAULT_NO_READY);
	is_u64(stop(), 100, "no-ready: Ready does not become 1");
	is_hex(rd(0x00c), 0x18, "FtEmpty does");
	wr(FAULT_REGISTER, 0);
	is_hex(rd(0x00c), 0x1c, "mended");

	capture(BASE, 4096, 0xf3e);
	put(1, "abc");
	wr(FAULT_REGISTER, FAULT_NO_FLUSH);
	is_u64(stop(), 100, "no-flush: the flush does not end");
	ok(rd(0x300) == 1 && rd64(0x018, 0x03c) == BASE, "it stays in progress");
	wr(FAULT_REGISTER, 0);
	tmc_advance(&tmc);
	is_hex(rd64(0x018, 0x03c), BASE + 16, "mended: it ends");

	capture(BASE, 4096, 0xf3e);
	put_count(1, 20);
	wr(FAULT_REGISTER, FAULT_MEMORY_ERROR);
	put_count(1, 20);
	is_hex(rd(0x00c), 0x2c, "memory-error: MemErr, stopped");
	is_hex(rd64(0x018, 0x03c), BASE + 16, "RWP stays");
	wr(FAULT_REGISTER, 0);
	put_count(1, 20);
	is_hex(rd(0x00c), 0x2c, "until it is enabled again");

	capture(BASE, 4096, 0xf3e);
	wr(FAULT_REGISTER, FAULT_POINTER_OUTSIDE);
	ok(rd64(0x018, 0x03c) > BASE + 4096, "pointer-outside: after the buffer");
	make_table();
	wr(FAULT_REGISTER, FAULT_POINTER_OUTSIDE);
	is_hex(rd64(0x018, 0x03c), BASE, "of pages: in none of them");

	capture(BASE + sizeof(memory) - 32, 64, 0xf3e);
	put_count(1, 100);
	ok(rd(0x00c) == 0x2c && rd64(0x018, 0x03c) == BASE + sizeof(memory),
	   "a buffer without memory: MemErr as well");
}

static void etf(void)
{
	power_up(TMC_DEVID_TYPE_ETF);
	is_hex(rd(0x004), 0x1000, "ETF: RSZ tells 16 KiB");
	wr(CS_LAR, CS_LAR_UNLOCK);
	is_hex(attempt(0x004, 1), 0x1000, "and is read-only");
	ok(!attempt(0x110, 0xfbe) && !attempt(0x118, 0x1000), "it has no AXI registers");
	ok(tmc_ready(&tmc) && tmc_put(&tmc, 1, memory, 4) && !behind.size && tmc.dropped == 4,
	   "disabled: accepts and drops");
	wr(0x028, 2);
	wr(0x304, 3);
	wr(0x034, 0);
	wr(0x020, 1);
	put(0x2b, "abcd");
	ok(behind.size == 4 && behind.id == 0x2b, "a hardware FIFO passes bytes and ID on");
	is_hex(rd(0x00c), 0x10, "running, Empty");
	behind.full = true;
	ok(!tmc_ready(&tmc) && !tmc_put(&tmc, 1, memory, 4), "not while the way is blocked");
	behind.full = false;
	stop();
	ok(rd(0x00c) == 0x1c && tmc_put(&tmc, 1, memory, 4) && behind.size == 4, "stopped: drops");
	wr(0x020, 0);
	wr(0x028, 0);
	wr(0x020, 1);
	put(1, "abcd");
	ok(tmc.software_errors == 1 && behind.size == 4, "no other mode");
}

int main(void)
{
	identity();
	etr_registers();
	frozen();
	example();
	frames();
	repeated_id();
	wrapping();
	scattered();
	bad_tables();
	stopping();
	dropping();
	faults();
	etf();
	return done_testing();
}
