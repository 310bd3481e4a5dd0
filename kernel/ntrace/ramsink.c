// SPDX-License-Identifier: GPL-2.0-only
/*
 * RAM sink, trRam... registers. It writes to system memory (SMEM mode) or, if it does not support
 * that, to its own memory (SRAM mode).
 *
 * A sink writes a granule at a time, and begins again at Start after it has written at Limit. No
 * register tells the width of a granule: the low bits of Limit may all be writable, whatever the
 * width. A sink whose write pointer steps over Limit writes to all memory after it. So no guess
 * decides where a sink writes: unless the device tree has "riscv,write-bytes", Start and Limit are
 * multiples of 4 KiB, which granules of all widths hit, and the 4 KiB at Limit are part of the
 * buffer:
 *
 *	Start                                   Limit
 *	  v                                       v
 *	  | granule | granule | ...     | granule | granule |   unused   |
 *	  |<-------- last ----------------------->|<------- reach ------>|
 *	  |<-------- ring_size ---------------------------->|
 *
 * A wrong width can only spoil trace. The sink shows its width as it runs: the lowest bit set in a
 * write pointer bounds it, and the last changed byte at Limit gives it, after the first wrap: the
 * driver has filled these 4 KiB with bytes that no encoder sends.
 *
 * Nor does a status bit tell whether a sink in SMEM mode has wrapped, because writing the pointer
 * may not clear it: the granule at Limit does.
 *
 * Invariants: all of [Limit, Limit + reach) is in the buffer. least <= width of a write <= granule
 * <= reach.
 */
#include <linux/bitfield.h>
#include <linux/device.h>
#include <linux/dma-mapping.h>
#include <linux/log2.h>
#include <linux/mmzone.h>
#include <linux/of.h>
#include <linux/of_reserved_mem.h>
#include <linux/slab.h>
#include <linux/unaligned.h>

#include "feed.h"

/* Larger memory would take too long to read, word by word with interrupts off. */
#define NTRACE_SRAM_SIZE_MAX	SZ_1M

/* One write of a sink has fewer bytes than a page: no bus has longer bursts. */
#define NTRACE_GRANULE_MAX	SZ_4K

static u64 ntrace_ramsink_write_pair(struct ntrace_component *component, u32 low, u64 value)
{
	/* Memory of the sink's own has no high half, which may be a bus error. */
	if (component->ramsink.sram_size) {
		ntrace_write(component, low, value);
		return ntrace_read(component, low);
	}
	/* A sink whose addresses have 32 bits ignores the write and reads 0. */
	ntrace_write(component, low + 4, upper_32_bits(value));
	ntrace_write(component, low, lower_32_bits(value));
	return ntrace_read(component, low) | (u64)ntrace_read(component, low + 4) << 32;
}

/*
 * A sink's own memory can be read through a window only, and only when the sink has stopped. It
 * begins at address 0; the largest value of Limit tells its size.
 */
static int ntrace_ramsink_init_sram(struct ntrace_component *component)
{
	struct ntrace_ramsink *sink = &component->ramsink;
	u32 control, start, limit;

	if (!(component->impl & TR_RAM_IMPL_HAS_SRAM))
		return ntrace_component_refuse(component, "has no memory (trRamHasSRAM)");
	sink->control = TR_CONTROL_ACTIVE;
	control = ntrace_component_warl(component, TR_RAM_CONTROL, sink->control);
	start = ntrace_component_warl(component, TR_RAM_START_LOW, 0);
	limit = ntrace_component_warl(component, TR_RAM_LIMIT_LOW, 0xfffffffc);
	if (control & (TR_RAM_CONTROL_MODE_SMEM | TR_RAM_CONTROL_MEM_FORMAT_MASK |
		       TR_RAM_CONTROL_ASYNC_FREQ_MASK) ||
	    start || limit < PAGE_SIZE / 16 || limit >= NTRACE_SRAM_SIZE_MAX)
		return ntrace_component_refuse(component,
					       "has unusable memory (trRamMode, trRamLimit)");
	/* The window covers the memory if the read pointer reaches its end. */
	if (ntrace_component_warl(component, TR_RAM_RP_LOW, limit) != limit)
		return ntrace_component_refuse(component,
					       "has memory that cannot be read (trRamRP)");
	ntrace_sink_set_granule(sink, sizeof(u32));
	sink->sram_size = limit + sizeof(u32);
	return 0;
}

static void ntrace_ramsink_release_memory(void *data)
{
	of_reserved_mem_device_release(data);
}

/*
 * Finds memory that is reserved for a sink, and restricts its buffer to addresses whose upper half
 * has only bits of @high. If there is reserved memory, the sink uses no other.
 * Return: 0, also if no memory is reserved, or a negative error.
 */
int ntrace_ramsink_find_memory(struct ntrace_component *component, u32 high)
{
	struct device_node *node __free(device_node) =
		of_parse_phandle(component->dev->of_node, "memory-region", 0);
	int bits = 32 + fls(high);
	int ret = dma_set_mask_and_coherent(component->dev, DMA_BIT_MASK(bits));
	struct reserved_mem *memory;

	if (ret)
		return dev_err_probe(component->dev, ret, "cannot use DMA with %d address bits\n",
				     bits);
	if (!node)
		return 0;
	memory = of_reserved_mem_lookup(node);
	ret = memory ? of_reserved_mem_device_init(component->dev) : -EINVAL;
	if (ret)
		return dev_err_probe(component->dev, ret, "cannot use %pOF\n", node);
	component->ramsink.memory = memory->size;
	return devm_add_action_or_reset(component->dev, ntrace_ramsink_release_memory,
					component->dev);
}

/**
 * ntrace_ramsink_find_granule - find out how many bytes a sink writes at a time
 * @component: RAM sink that writes to system memory
 * @limit: register offset of (the low half of) Limit
 *
 * The read-only zero bits of a pointer say how many they are at least, no more than that.
 *
 * Return: 0 or a negative error.
 */
int ntrace_ramsink_find_granule(struct ntrace_component *component, u32 limit)
{
	struct ntrace_ramsink *sink = &component->ramsink;
	u32 low = ntrace_component_warl(component, limit, 0xfffffffc);
	u32 wp = ntrace_component_warl(component, sink->wp, 0xfffffffc) & ~TR_RAM_WP_LOW_WRAP;
	u32 bytes;

	/* Either pointer may be the coarser one. */
	sink->least = max(low & -low, wp & -wp);
	if (sink->least < sizeof(u32) || sink->least > NTRACE_GRANULE_MAX)
		return ntrace_component_refuse(component,
					       "has a buffer whose trRamLimit cannot be set");
	sink->granule = NTRACE_GRANULE_MAX;
	sink->reach = NTRACE_GRANULE_MAX;
	if (of_property_read_u32(component->dev->of_node, "riscv,write-bytes", &bytes))
		return 0;
	if (!is_power_of_2(bytes) || bytes < sink->least || bytes > NTRACE_GRANULE_MAX)
		return ntrace_component_refuse(component, "cannot have this \"riscv,write-bytes\"");
	ntrace_sink_set_granule(sink, bytes);
	return 0;
}

/* Notes where a sink writes. */
void ntrace_ramsink_set_ring(struct ntrace_ramsink *sink, u64 start, u64 limit)
{
	sink->ring = sink->buffer + (start - sink->dma);
	sink->ring_dma = start;
	sink->last = limit - start;
	sink->ring_size = sink->last + sink->granule;
}

/**
 * ntrace_ramsink_accept - take the pointers of a sink as they read back
 * @component: RAM sink with a buffer
 * @start: Start
 * @limit: Limit
 * @wp: write pointer, which software has set to Start
 *
 * A sink that writes outside of its buffer corrupts memory silently. It may have trimmed a pointer,
 * which is fine if each granule up to @reach bytes hits Limit and ends inside the buffer.
 *
 * Return: 0, or -EIO if the sink would leave the buffer.
 */
int ntrace_ramsink_accept(struct ntrace_component *component, u64 start, u64 limit, u64 wp)
{
	struct ntrace_ramsink *sink = &component->ramsink;
	u64 end = sink->dma + sink->buffer_size;
	bool misses = (start | limit) & (sink->reach - 1);

	wp &= ~(u64)TR_RAM_WP_LOW_WRAP;
	if (!misses && start >= sink->dma && limit >= start && limit <= end - sink->reach &&
	    wp == start) {
		ntrace_ramsink_set_ring(sink, start, limit);
		return 0;
	}
	ntrace_err(component->dev,
		   "buffer %pad + 0x%zx reads back as 0x%llx..0x%llx, wp 0x%llx%s\n", &sink->dma,
		   sink->buffer_size, start, limit, wp,
		   misses && sink->reach > sink->least ?
			   ": its \"riscv,write-bytes\" must be known" :
			   "");
	return -EIO;
}

/*
 * Writes the buffer addresses.
 *
 * Return: 0, -EOPNOTSUPP, or -EIO if the sink would leave the buffer.
 */
static int ntrace_ramsink_program(struct ntrace_component *component,
				  const struct ntrace_config *config)
{
	struct ntrace_ramsink *sink = &component->ramsink;
	u64 start, limit;
	u32 control;

	sink->control &= ~TR_RAM_CONTROL_STOP_ON_WRAP;
	if (config->flags & NTRACE_CONFIG_STOP_ON_WRAP)
		sink->control |= TR_RAM_CONTROL_STOP_ON_WRAP;
	control = ntrace_component_warl(component, TR_RAM_CONTROL, sink->control);
	if (control & TR_CONTROL_ENABLE)
		return -EIO;
	if ((control ^ sink->control) & TR_RAM_CONTROL_STOP_ON_WRAP)
		return ntrace_component_lacks(component, "trRamStopOnWrap",
					      !!(sink->control & TR_RAM_CONTROL_STOP_ON_WRAP));
	component->fixed = sink->control;
	start = ntrace_ramsink_write_pair(component, TR_RAM_START_LOW, sink->dma);
	limit = ntrace_ramsink_write_pair(component, TR_RAM_LIMIT_LOW,
					  sink->dma + sink->buffer_size - sink->reach);
	/* A sink that takes only sizes of 2^M, less a granule, shows the width of its granule. */
	if (sink->reach > sink->least && is_power_of_2(limit - start + sink->least)) {
		ntrace_sink_set_granule(sink, sink->least);
		limit = ntrace_ramsink_write_pair(component, TR_RAM_LIMIT_LOW,
						  sink->dma + sink->buffer_size - sink->reach);
	}
	return ntrace_ramsink_accept(component, start, limit,
				     ntrace_ramsink_write_pair(component, TR_RAM_WP_LOW, start));
}

/* Overwrites the last word of the sink's own memory. That trRamData can be written is optional. */
static int ntrace_ramsink_mark(struct ntrace_component *component)
{
	const u32 mark = NTRACE_RESERVED_BYTE * 0x01010101U;

	ntrace_write(component, TR_RAM_RP_LOW, component->ramsink.last);
	ntrace_write(component, TR_RAM_DATA, mark);
	ntrace_write(component, TR_RAM_RP_LOW, component->ramsink.last);
	if (ntrace_read(component, TR_RAM_DATA) == mark)
		return 0;
	ntrace_err(component->dev,
		   "sink does not show any more that it wraps (trRamWrap, trRamData)\n");
	return -EIO;
}

/* The sink is programmed, disabled and empty. Return: 0, -EIO or -ETIMEDOUT. */
static int ntrace_ramsink_start(struct ntrace_component *component, bool atomic)
{
	struct ntrace_ramsink *sink = &component->ramsink;
	u64 wp = ntrace_ramsink_write_pair(component, TR_RAM_WP_LOW, sink->ring_dma);

	/* This write should clear trRamWrap, too. Start and Limit keep their values. */
	if ((wp & ~(u64)TR_RAM_WP_LOW_WRAP) != sink->ring_dma)
		return -EIO;
	sink->marked = sink->sram_size && wp & TR_RAM_WP_LOW_WRAP;
	if (sink->marked && ntrace_ramsink_mark(component))
		return -EIO;
	return ntrace_component_start(component, atomic);
}

/*
 * Before a sink is stopped that the driver has enabled: has it stopped by itself? Where a sink
 * stops that is full, and whether it has wrapped then, differs. That it has cleared Enable does
 * not, but the rest of a funnel may have filled it just now, and Enable may show that a little
 * later: with trRamStopOnWrap, it is waited for. One that has failed was disabled at once.
 */
void ntrace_ramsink_note_full(struct ntrace_component *component)
{
	struct ntrace_ramsink *sink = &component->ramsink;
	u32 control = ntrace_read(component, TR_CONTROL);

	if (sink->control & TR_RAM_CONTROL_STOP_ON_WRAP)
		ntrace_component_poll(component, TR_CONTROL, TR_CONTROL_ENABLE, 0, true, &control);
	sink->full = !sink->fault && !(control & TR_CONTROL_ENABLE);
}

/* The components that send to the sink have stopped and are empty. Return: 0 or -ETIMEDOUT. */
int ntrace_ramsink_stop(struct ntrace_component *component, bool atomic)
{
	ntrace_ramsink_note_full(component);
	return ntrace_component_stop(component, atomic);
}

static const struct ntrace_ops ntrace_ramsink_ops = {
	.program = ntrace_ramsink_program,
	.start = ntrace_ramsink_start,
	.stop = ntrace_ramsink_stop,
	.halt = ntrace_component_halt,
};

/* Finds out what a RAM sink supports; it was just reset. Return: 0 or a negative error. */
int ntrace_ramsink_init(struct ntrace_component *component)
{
	struct ntrace_ramsink *sink = &component->ramsink;
	u32 control, high;

	ntrace_sink_setup(component, &ntrace_ramsink_ops);
	if (!(component->impl & TR_RAM_IMPL_HAS_SMEM))
		return ntrace_ramsink_init_sram(component);

	/* The mode first: other registers may depend on it. */
	sink->control = TR_CONTROL_ACTIVE | TR_RAM_CONTROL_MODE_SMEM;
	control = ntrace_component_warl(component, TR_RAM_CONTROL, sink->control);
	if (!(control & TR_RAM_CONTROL_MODE_SMEM))
		return ntrace_component_refuse(component, "does not write to memory (trRamMode)");
	if (control & (TR_RAM_CONTROL_MEM_FORMAT_MASK | TR_RAM_CONTROL_ASYNC_FREQ_MASK))
		return ntrace_component_refuse(component,
					       "adds to trace (trRamMemFormat, trRamAsyncFreq)");
	if (control & TR_RAM_CONTROL_STOP_ON_WRAP)
		return ntrace_component_refuse(component,
					       "always stops when it is full (trRamStopOnWrap)");

	/*
	 * Find the width of addresses. The range of Limit may depend on Start, so Start is 0 while
	 * Limit is probed.
	 */
	high = ntrace_component_warl(component, TR_RAM_START_HIGH, U32_MAX);
	ntrace_write(component, TR_RAM_START_HIGH, 0);
	ntrace_write(component, TR_RAM_START_LOW, 0);
	ntrace_write(component, TR_RAM_LIMIT_HIGH, 0);
	return ntrace_ramsink_find_granule(component, TR_RAM_LIMIT_LOW) ?:
		       ntrace_ramsink_find_memory(component, high);
}

/*
 * Largest buffer that a sink can have. Positions in the ring have 32 bits, and so has its size: 4
 * GiB are too many.
 * Return: 0 if the sink has no memory; the size of its own; the largest power of two in its
 * reserved memory, 2 GiB at most; or the largest block of pages.
 */
size_t ntrace_ramsink_size_max(const struct ntrace_component *component)
{
	if (!ntrace_component_has_memory(component))
		return 0;
	if (component->ramsink.sram_size)
		return component->ramsink.sram_size;
	if (component->ramsink.memory)
		return min_t(u64, rounddown_pow_of_two(component->ramsink.memory), SZ_2G);
	return PAGE_SIZE << MAX_PAGE_ORDER;
}

static void ntrace_ramsink_free_splitter(struct ntrace_ramsink *sink)
{
	kfree(sink->bounce);
	kfree(sink->frames);
	sink->bounce = NULL;
	sink->frames = NULL;
}

/* Allocates what the drain needs to separate the trace of several encoders. */
static bool ntrace_ramsink_alloc_splitter(struct ntrace_ramsink *sink)
{
	if (!sink->src_bits && !sink->framed)
		return true;
	sink->bounce = kmalloc(NTRACE_DRAIN_BOUNCE, GFP_KERNEL);
	if (sink->framed)
		sink->frames = kzalloc(sizeof(*sink->frames), GFP_KERNEL);
	if (sink->bounce && (sink->frames || !sink->framed))
		return true;
	ntrace_ramsink_free_splitter(sink);
	return false;
}

/*
 * Allocates trace memory. The size is a power of two: a sink may support no other one. The memory
 * is coherent, because the driver reads it while the sink runs. The allocator zeroes it. Pages are
 * aligned to the size of the block. A block of reserved memory is aligned relative to the start of
 * that memory only: a sink that needs more takes only memory that begins at a multiple of its
 * size. ntrace_ramsink_program() reads each pointer back.
 *
 * Return: 0 or -ENOMEM.
 */
int ntrace_ramsink_alloc(struct ntrace_component *component, size_t size)
{
	struct ntrace_ramsink *sink = &component->ramsink;

	if (sink->sram_size) {
		sink->buffer = kvzalloc(sink->sram_size, GFP_KERNEL);
		sink->buffer_size = sink->sram_size;
		return sink->buffer ? 0 : -ENOMEM;
	}
	if (!ntrace_ramsink_alloc_splitter(sink))
		return -ENOMEM;
	sink->buffer_size = size;
	sink->buffer =
		dma_alloc_coherent(component->dev, size, &sink->dma, GFP_KERNEL | __GFP_NOWARN);
	/* Reserved memory may lie anywhere, but positions in the ring are 32 bits of an address. */
	if (sink->buffer && upper_32_bits(sink->dma) != upper_32_bits(sink->dma + size - 1)) {
		dma_free_coherent(component->dev, size, sink->buffer, sink->dma);
		sink->buffer = NULL;
	}
	if (sink->buffer)
		return 0;
	ntrace_ramsink_free_splitter(sink);
	return -ENOMEM;
}

static bool ntrace_ramsink_may_write(const struct ntrace_component *component)
{
	if (component->inactive)
		return false;
	if (component->layout && component->layout->is_running)
		return component->layout->is_running(component);
	return ntrace_read(component, TR_RAM_CONTROL) & (TR_CONTROL_ACTIVE | TR_CONTROL_ENABLE);
}

/*
 * Frees the memory of a sink that has been switched off. Memory that the sink may still write to
 * is leaked.
 */
void ntrace_ramsink_free(struct ntrace_component *component)
{
	struct ntrace_ramsink *sink = &component->ramsink;

	if (!sink->buffer)
		return;
	if (sink->sram_size)
		kvfree(sink->buffer);
	else if (ntrace_ramsink_may_write(component))
		dev_err(component->dev,
			"sink is still enabled, %zu bytes of trace memory are leaked\n",
			sink->buffer_size);
	else
		dma_free_coherent(component->dev, sink->buffer_size, sink->buffer, sink->dma);
	sink->buffer = NULL;
	sink->ring = NULL;
	ntrace_ramsink_free_splitter(sink);
}

/* Tells whether the driver reads all of a programmed sink after it has stopped. */
bool ntrace_ramsink_is_whole(const struct ntrace_ramsink *sink)
{
	return sink->sram_size || sink->control & TR_RAM_CONTROL_STOP_ON_WRAP;
}

/* Copies the own memory of a sink that has stopped to the ring that the drain reads. */
void ntrace_ramsink_fetch(struct ntrace_component *component)
{
	struct ntrace_ramsink *sink = &component->ramsink;
	u32 position, i;

	if (!sink->sram_size)
		return;
	/* The word that shows whether the sink has wrapped. */
	ntrace_write(component, TR_RAM_RP_LOW, sink->last);
	put_unaligned_le32(ntrace_read(component, TR_RAM_DATA), sink->ring + sink->last);
	/* Each word takes an access to the bus: those that were not written are left out. */
	if (!ntrace_ramsink_position(component, &position) || ntrace_ramsink_wrapped(component))
		position = sink->ring_size;
	ntrace_write(component, TR_RAM_RP_LOW, sink->ring_dma);
	for (i = 0; i < position; i += sizeof(u32))
		put_unaligned_le32(ntrace_read(component, TR_RAM_DATA), sink->ring + i);
}

/*
 * Tells whether a sink that has stopped has reached the end of its ring at least once. In SRAM
 * mode, its last word was fetched.
 */
bool ntrace_ramsink_wrapped(const struct ntrace_component *component)
{
	const struct ntrace_ramsink *sink = &component->ramsink;

	u32 wp;

	if (sink->wrapped)
		return true;
	wp = ntrace_read(component, sink->wp);
	/* Full, and back at the start. */
	if (sink->full && (wp & ~TR_RAM_WP_LOW_WRAP) == lower_32_bits(sink->ring_dma))
		return true;
	if (sink->sram_size && !sink->marked)
		return wp & TR_RAM_WP_LOW_WRAP;
	/* ntrace_drain_begin() has filled it, and no earlier round of the drain set a canary. */
	return !ring_canary_intact(sink, 0);
}

/**
 * ntrace_ramsink_measure - find the end of the ring of a sink that has wrapped
 * @sink: RAM sink whose write at Limit is in memory; called with its lock
 * @running: it is running
 *
 * A part of a granule that a sink has written when it was stopped would not tell the width.
 *
 * Return: false if the sink has not written at Limit.
 */
bool ntrace_ramsink_measure(struct ntrace_ramsink *sink, bool running)
{
	u32 bytes = sink->granule;

	if (sink->wrapped)
		return true;
	if (bytes > sink->least) {
		while (bytes && sink->ring[sink->last + bytes - 1] == NTRACE_RESERVED_BYTE)
			bytes--;
		if (!bytes)
			return false;
		bytes = max_t(u32, roundup_pow_of_two(bytes), sink->least);
	}
	sink->ring_size = sink->last + bytes;
	sink->wrapped = true;
	if (running)
		sink->granule = bytes;
	return true;
}

/**
 * ntrace_ramsink_track - learn the width of a granule, and the size of the ring, as the sink runs
 * @sink: RAM sink; called with its lock
 * @position: its write pointer; takes the position up to which trace may be read
 * @running: it is running: its last granule may be on its way to memory
 *
 * Return: false if the sink has moved back without a write at Limit.
 */
bool ntrace_ramsink_track(struct ntrace_ramsink *sink, u32 *position, bool running)
{
	bool settled;

	if (running && *position)
		sink->granule = clamp(*position & -*position, sink->least, sink->granule);
	if (sink->wrapped)
		return true;
	sink->ring_size = sink->last + sink->granule;
	if (*position >= sink->drained)
		return true;
	/* The first granule of the next round shows that the last one is in memory. */
	settled = !running || *position >= sink->least || sink->granule == sink->least;
	if (settled && ntrace_ramsink_measure(sink, running))
		return true;
	*position = settled ? sink->drained : sink->last;
	return running;
}

/*
 * The position in the ring that a programmed sink writes next. The buffer does not cross a 4 GiB
 * boundary, see ntrace_ramsink_alloc(). The low half of the pointer is enough, and no read
 * is torn.
 * Return: false if the write pointer is not in the ring.
 */
bool ntrace_ramsink_position(const struct ntrace_component *component, u32 *position)
{
	const struct ntrace_ramsink *sink = &component->ramsink;
	u32 wp;

	if (component->ops->position)
		return component->ops->position(component, position);
	wp = ntrace_read(component, sink->wp) & ~TR_RAM_WP_LOW_WRAP;
	*position = wp - lower_32_bits(sink->ring_dma);
	/* It may point into the last granule, but not after it. */
	return *position < sink->last + sink->least;
}

/** ntrace_ramsink_is_stuck - it has stopped and has written, but its write pointer has not moved */
bool ntrace_ramsink_is_stuck(const struct ntrace_component *component)
{
	const struct ntrace_ramsink *sink = &component->ramsink;
	u32 position;

	if (!sink->ring || sink->fault || sink->drained ||
	    !ntrace_ramsink_position(component, &position) || position ||
	    ntrace_ramsink_wrapped(component))
		return false;
	return memchr_inv(sink->ring, NTRACE_RESERVED_BYTE, sink->least);
}
