/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A RAM sink that writes a stream into its ring while the driver reads it. It advances at each
 * visible access of the driver: registers, barriers, copies. Stream positions count bytes from the
 * start; the byte at position p is stored at p modulo the ring's size.
 */
#ifndef HOST_SINK_H
#define HOST_SINK_H

#define SINK_DMA 0x80001000u
#define SINK_SRAM_WORDS 256

static struct {
	u8 *ring;
	size_t size;
	unsigned int granule;
	unsigned int unit;	/* step of the write pointer, a granule or less */
	bool running;
	u64 pointer;		/* stream position that the write pointer shows */
	u64 memory;		/* bytes up to this position are in memory */
	u64 seen;		/* value of the write pointer at its last read */
	unsigned int in_flight;	/* the pointer is at most this many bytes ahead of memory */
	bool late;		/* the pointer is always in_flight bytes ahead */
	unsigned int pace;	/* maximum units per move */
	unsigned int lap;	/* one in this many moves is longer than the ring; 0: none */
	u8 (*byte)(u64 position);
	/* Hook for each access, for tests that need an exact order. */
	void (*at)(enum host_event event);
	/* faults */
	bool outside, stuck;
	bool zero_based;	/* SRAM mode: addresses begin at 0 */
	/* registers */
	u32 control, rp, encoder;
	u32 sram[SINK_SRAM_WORDS];
	unsigned int pointer_reads;
	/* set if the driver omitted a barrier */
	bool canary_set, copied;
	const char *disorder;
} hw;

static void hw_write(u64 to)
{
	for (; hw.memory < to; hw.memory++)
		hw.ring[hw.memory % hw.size] = hw.byte(hw.memory);
}

/* Takes @bytes into the ring; the last ones may still be in flight. */
static void hw_take(u64 bytes)
{
	u64 late;

	hw.pointer += bytes;
	late = hw.late ? hw.in_flight : random_below(hw.in_flight / hw.unit + 1) * hw.unit;
	hw_write(hw.pointer > late ? hw.pointer - late : 0);
}

static void hw_settle(void)
{
	hw_write(hw.pointer);
}

static void hw_move(void)
{
	if (!hw.running || !hw.pace || random_below(3))
		return;
	if (hw.lap && !random_below(hw.lap))
		hw_take(hw.size + random_below(hw.size / hw.unit) * hw.unit);
	else
		hw_take(random_below(hw.pace + 1) * hw.unit);
}

static void hw_disorder(const char *what)
{
	if (!hw.disorder)
		hw.disorder = what;
}

static u32 hw_pointer(void)
{
	u32 start = hw.zero_based ? 0 : SINK_DMA;

	/* Completes the writes that were in flight at the last access. */
	hw_write(hw.seen);
	hw_move();
	hw.seen = hw.pointer;
	hw.pointer_reads++;
	if (hw.running && hw.canary_set)
		hw_disorder("the write pointer is read before the canary is in memory");
	if (hw.running && hw.copied)
		hw_disorder("the write pointer is read before the copy is complete");
	if (hw.outside)
		return start + 0x40000000;
	if (hw.stuck)
		return start;
	return start + (u32)(hw.pointer % hw.size) +
	       (hw.pointer >= hw.size ? TR_RAM_WP_LOW_WRAP : 0);
}

static u8 sink_page[TR_COMPONENT_SIZE], encoder_page[TR_COMPONENT_SIZE];

u32 readl(const void *address)
{
	size_t offset = (const u8 *)address - sink_page;

	if (offset >= sizeof(sink_page))
		return hw.encoder;
	switch (offset) {
	case TR_RAM_CONTROL:
		return hw.control;
	case TR_RAM_WP_LOW:
		return hw_pointer();
	case TR_RAM_DATA:
		return hw.sram[hw.rp++ % SINK_SRAM_WORDS];
	default:
		return 0;
	}
}

void writel(u32 value, void *address)
{
	size_t offset = (u8 *)address - sink_page;

	if (offset == TR_RAM_CONTROL)
		hw.control = value;
	else if (offset == TR_RAM_RP_LOW)
		hw.rp = value / 4;
}

/* Checks the order described in drain.c: canary, barrier, pointer; copy, barrier, pointer. */
static void hw_event(enum host_event event, const void *address, size_t size)
{
	bool in_ring = (const u8 *)address >= hw.ring && (const u8 *)address < hw.ring + hw.size;

	if (!hw.running)
		return;
	switch (event) {
	case HOST_BARRIER:
		hw.canary_set = false;
		hw.copied = false;
		break;
	case HOST_READ_BARRIER:
		hw.copied = false;
		break;
	case HOST_COPY:
		hw.copied |= in_ring;
		break;
	case HOST_SET:
		hw.canary_set |= in_ring && *(const u8 *)address == 0x02;
		break;
	case HOST_LOOK:
		if (hw.canary_set && in_ring)
			hw_disorder("the old canary is looked at before the new one is in memory");
		break;
	default:
		return;
	}
	if (hw.at)
		hw.at(event);
	hw_move();
}

#endif /* HOST_SINK_H */
