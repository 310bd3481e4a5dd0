/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hardware for the driver: encoders, a funnel and RAM sinks, which are the register models of the
 * virtual SoC, and the functions of the kernel that the driver calls. A variant chooses the
 * properties of the models. hw.wrong says what the driver must never do.
 */
#ifndef HOST_MODELS_H
#define HOST_MODELS_H

#include "funnel.h"
#include "ram_sink.h"
#include "trace_encoder.h"
#include "variant.h"

#define HARTS 2
#define FUNNELS 2
#define DMA 0x80000000u
/* Memory that earlier software has given to the sinks */
#define OLD_DMA 0x40000000u
#define OLD_SIZE 0x10000u

int host_allocations = -1;
unsigned int host_cpu;
bool host_online[nr_cpu_ids] = { true, true };

/*
 * The hardware: each encoder sends to its sink; with a funnel, both send to funnel 0, and it to sink 0.
 * With a fork, encoder 1 sends to funnel 1, and it to sink 1, as well.
 */
enum wiring { DIRECT, FUNNEL, FORK, WIRINGS };

static struct {
	enum wiring wiring;
	struct trace_encoder encoder[HARTS];
	struct ram_sink sink[HARTS];
	struct funnel funnel[FUNNELS];
	struct trace_port out[HARTS];	/* of the encoders */
	struct trace_port fork;		/* of encoder 1 */
	struct trace_port funnel_out[FUNNELS];
	u8 page[2 * HARTS + FUNNELS][TR_COMPONENT_SIZE];
	u8 sram[HARTS][SZ_1M];
	u8 *memory;
	size_t memory_size;
	bool old;		/* the sinks write to memory of earlier software */
	const char *wrong;	/* what the driver must never do */
	u32 wrong_at;
	bool lost;		/* a block has lost trace */
} hw;

static u64 now;

u64 ktime_get_mono_fast_ns(void)
{
	return now += 1000;
}

static void hw_wrong(const char *what, u32 at)
{
	if (hw.wrong)
		return;
	hw.wrong = what;
	hw.wrong_at = at;
}

/* Pages: encoders, sinks, funnels. */
static bool answers(unsigned int page, u32 offset)
{
	if (page < HARTS)
		return trace_encoder_answers(&hw.encoder[page], offset, page == host_cpu);
	return page < 2 * HARTS ? ram_sink_answers(&hw.sink[page - HARTS], offset) :
				  funnel_answers(&hw.funnel[page - 2 * HARTS], offset);
}

static bool locate(const void *address, unsigned int *page, u32 *offset)
{
	size_t at = (size_t)((const u8 *)address - hw.page[0]);

	*page = (unsigned int)(at / TR_COMPONENT_SIZE);
	*offset = at % TR_COMPONENT_SIZE;
	if (answers(*page, *offset))
		return true;
	hw_wrong(*page < HARTS	   ? "bus error of an encoder" :
		 *page < 2 * HARTS ? "bus error of a sink" :
				     "bus error of a funnel",
		 *offset);
	return false;
}

bool host_can_read(const void *address)
{
	size_t at = (size_t)((const u8 *)address - hw.page[0]);

	return answers((unsigned int)(at / TR_COMPONENT_SIZE), at % TR_COMPONENT_SIZE);
}

u32 readl(const void *address)
{
	unsigned int page;
	u32 offset, value;

	if (!locate(address, &page, &offset))
		return ~0u;
	if (page < HARTS)
		return trace_encoder_poll(&hw.encoder[page], offset);
	if (page < 2 * HARTS)
		return ram_sink_poll(&hw.sink[page - HARTS], offset);
	value = funnel_poll(&hw.funnel[page - 2 * HARTS], offset);
	if (offset == TR_FUNNEL_CONTROL)
		funnel_advance(&hw.funnel[page - 2 * HARTS]);
	return value;
}

/* The component before a sink may gate its clock. */
static bool sink_has_clock(unsigned int sink)
{
	const struct funnel *before = &hw.funnel[sink];

	return hw.wiring == DIRECT || (sink && hw.wiring != FORK) || !before->parameters.gates ||
	       before->active;
}

void writel(u32 value, void *address)
{
	unsigned int page;
	u32 offset;

	if (!locate(address, &page, &offset))
		return;
	if (page < HARTS)
		trace_encoder_write(&hw.encoder[page], offset, value);
	else if (page >= 2 * HARTS)
		funnel_write(&hw.funnel[page - 2 * HARTS], offset, value);
	else if (sink_has_clock(page - HARTS))
		ram_sink_write(&hw.sink[page - HARTS], offset, value);
}

/* The hart is between two blocks. */
static void deliver(void *opaque, const struct trace_encoder_setup *setup)
{
	struct trace_encoder *te = opaque;

	trace_encoder_apply(te, setup);
}

static struct trace_port *port_of(void *te)
{
	return &hw.out[(struct trace_encoder *)te - hw.encoder];
}

static bool put(void *opaque, const u8 *data, size_t size)
{
	bool taken = trace_port_put(port_of(opaque), 0, data, size);

	if (hw.wiring == FORK && opaque == &hw.encoder[1])
		taken &= trace_port_put(&hw.fork, 0, data, size);

	hw.lost |= !taken;
	return taken;
}

static bool ready(void *opaque)
{
	return trace_port_ready(port_of(opaque)) &&
	       (hw.wiring != FORK || opaque != &hw.encoder[1] || trace_port_ready(&hw.fork));
}

static uint64_t time_of(void *opaque, unsigned int mode)
{
	return 0x123456789 + mode;
}

static const struct trace_encoder_ops encoder_ops = {
	.deliver = deliver, .write = put, .ready = ready, .time = time_of
};

static void sink_opens(void *opaque, uint64_t address, uint64_t size)
{
	if (hw.old && address >= OLD_DMA && address + size <= OLD_DMA + OLD_SIZE)
		return;
	if (address < DMA || address + size > DMA + hw.memory_size)
		hw_wrong("a sink is enabled outside its memory", (u32)address);
}

static void sink_closes(void *opaque)
{
}

static void sink_writes(void *opaque, uint64_t address, const u8 *data, size_t size)
{
	if (hw.old && address >= OLD_DMA && address + size <= OLD_DMA + OLD_SIZE)
		return;
	if (address < DMA || address + size > DMA + hw.memory_size)
		hw_wrong("written outside the memory", (u32)address);
	else
		memcpy(hw.memory + (address - DMA), data, size);
}

static const struct ram_sink_ops sink_ops = { sink_opens, sink_closes, sink_writes };

static bool sink_put(void *opaque, unsigned int input, u8 id, const u8 *data, size_t size)
{
	return ram_sink_put(opaque, data, size);
}

static bool sink_ready(void *opaque, unsigned int input)
{
	return ((struct ram_sink *)opaque)->enable;
}

static bool funnel_takes(void *opaque, unsigned int input, u8 id, const u8 *data, size_t size)
{
	return funnel_put(opaque, input, id, data, size);
}

static bool funnel_is_ready(void *opaque, unsigned int input)
{
	return funnel_ready(opaque, input);
}

static void make_hardware(const struct variant *variant, enum wiring wiring)
{
	static const struct trace_encoder_parameters encoder = {
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
	static const struct funnel_parameters funnel = {
		.inputs = HARTS,
		.buffer = 64,
		.timestamp = { .width = 48, .modes = 1u << TR_TS_MODE_SYSTEM, .now = time_of },
	};

	(memset)(&hw, 0, sizeof(hw));
	hw.wiring = wiring;
	for (unsigned int i = 0; i < HARTS; i++) {
		struct trace_encoder_parameters e = encoder;
		struct ram_sink_parameters s = { .granule = 64, .address_bits = 56, .smem = true };

		e.index = 13 - i; /* not the number that software would choose */
		e.timestamp_shared = wiring != DIRECT;
		variant_apply(variant, VARIANT_ENCODER, i, &e);
		variant_apply(variant, VARIANT_RAM_SINK, i, &s);
		if (s.sram_size)
			s.sram = hw.sram[i];
		trace_encoder_init(&hw.encoder[i], &e, &encoder_ops, &hw.encoder[i]);
		ram_sink_init(&hw.sink[i], &s, &sink_ops, &hw.sink[i]);
		hw.out[i] = wiring == DIRECT ?
				    (struct trace_port){ sink_put, sink_ready, &hw.sink[i], 0 } :
				    (struct trace_port){ funnel_takes, funnel_is_ready,
							 &hw.funnel[0], i };
	}
	hw.fork = (struct trace_port){ funnel_takes, funnel_is_ready, &hw.funnel[1], 0 };
	for (unsigned int i = 0; i < FUNNELS; i++) {
		struct funnel_parameters f = funnel;

		hw.funnel_out[i] = (struct trace_port){ sink_put, sink_ready, &hw.sink[i], 0 };
		variant_apply(variant, VARIANT_FUNNEL, i, &f);
		funnel_init(&hw.funnel[i], &f, &hw.funnel_out[i]);
	}
}

/* Earlier software has left an encoder enabled, and all that it sends to. */
static void find_running(unsigned int hart)
{
	struct trace_encoder *te = &hw.encoder[hart];
	struct ram_sink *s = &hw.sink[hw.wiring == DIRECT ? hart : 0];
	const u32 control = TR_CONTROL_ACTIVE | 6 << TR_TE_CONTROL_INST_MODE_SHIFT |
			    TR_TE_FORMAT_NTRACE << TR_TE_CONTROL_FORMAT_SHIFT;
	struct ntrace_ingress block = { .iaddr = 0x1000, .iretire = 2, .itype = 8 };

	hw.old = true;
	ram_sink_write(s, TR_CONTROL, TR_CONTROL_ACTIVE);
	ram_sink_write(s, TR_CONTROL, TR_CONTROL_ACTIVE | TR_RAM_CONTROL_MODE_SMEM);
	ram_sink_write(s, TR_RAM_START_HIGH, 0);
	ram_sink_write(s, TR_RAM_START_LOW, OLD_DMA);
	ram_sink_write(s, TR_RAM_LIMIT_HIGH, 0);
	ram_sink_write(s, TR_RAM_LIMIT_LOW, OLD_DMA + OLD_SIZE / 2 - s->parameters.granule);
	ram_sink_write(s, TR_RAM_WP_HIGH, 0);
	ram_sink_write(s, TR_RAM_WP_LOW, OLD_DMA);
	ram_sink_write(s, TR_CONTROL,
		       TR_CONTROL_ACTIVE | TR_RAM_CONTROL_MODE_SMEM | TR_CONTROL_ENABLE);
	funnel_write(&hw.funnel[0], TR_CONTROL, TR_CONTROL_ACTIVE);
	funnel_write(&hw.funnel[0], TR_CONTROL, TR_CONTROL_ACTIVE | TR_CONTROL_ENABLE);
	trace_encoder_write(te, TR_CONTROL, TR_CONTROL_ACTIVE);
	trace_encoder_write(te, TR_CONTROL, control);
	trace_encoder_write(te, TR_CONTROL,
			    control | TR_CONTROL_ENABLE | TR_TE_CONTROL_INST_TRACING);
	for (unsigned int n = 0; n < 100 && te->running; n++) {
		trace_encoder_retire(te, &block);
		block.iaddr += 16;
	}
}

/* Harts sleep while no capture keeps them awake. */
static void sleep(void)
{
	for (unsigned int i = 0; i < HARTS; i++) {
		if (hw.encoder[i].parameters.sleep_loses)
			trace_encoder_power_up(&hw.encoder[i]);
		if (hw.encoder[i].parameters.sleep_loses != SLEEP_LOSES_FUNNEL)
			continue;
		for (unsigned int k = 0; k < FUNNELS; k++)
			funnel_power_up(&hw.funnel[k]);
	}
}

/* Functions that the driver calls. */
int dma_set_mask_and_coherent(struct device *dev, u64 mask)
{
	return 0;
}

void *dma_alloc_coherent(struct device *dev, size_t size, dma_addr_t *dma, gfp_t flags)
{
	if (hw.memory)
		return NULL;
	hw.memory = calloc(1, size);
	hw.memory_size = size;
	*dma = DMA;
	return hw.memory;
}

void dma_free_coherent(struct device *dev, size_t size, void *memory, dma_addr_t dma)
{
	free(hw.memory);
	hw.memory = NULL;
	hw.memory_size = 0;
}

struct device_node *of_parse_phandle(const struct device_node *node, const char *name, int index)
{
	return strcmp(name, "cpus") ? NULL : (struct device_node *)&hw;
}

void of_node_put(struct device_node *node)
{
}

int of_property_read_u32(const struct device_node *node, const char *name, u32 *value)
{
	return -EINVAL;
}

int of_property_read_u64(const struct device_node *node, const char *name, u64 *value)
{
	return -EINVAL;
}

int of_property_read_reg(struct device_node *node, int index, u64 *address, u64 *size)
{
	*address = host_cpu;
	return 0;
}

int of_property_count_u32_elems(const struct device_node *node, const char *name)
{
	return -EINVAL;
}

/* Each encoder is probed on its own hart. */
int of_cpu_node_to_id(struct device_node *node)
{
	return host_cpu;
}

struct reserved_mem *of_reserved_mem_lookup(struct device_node *node)
{
	return NULL;
}

int of_reserved_mem_device_init(struct device *dev)
{
	return -ENODEV;
}

void of_reserved_mem_device_release(struct device *dev)
{
}

int devm_add_action_or_reset(struct device *dev, void (*action)(void *), void *data)
{
	return 0;
}

int ntrace_power_get(struct ntrace_component *component)
{
	return 0;
}

void ntrace_power_put(struct ntrace_component *component)
{
}

int ntrace_portsink_init(struct ntrace_component *component)
{
	return -ENODEV;
}

void ntrace_context_store_to(unsigned int cpu, void __iomem *stimulus)
{
}

#endif /* HOST_MODELS_H */
