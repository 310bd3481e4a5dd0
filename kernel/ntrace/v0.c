// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pre-ratification SiFive encoders and funnels (version 0), as in the P550. The device tree tells
 * them apart, and where trace goes: a block with "out-ports" sends to the next funnel, one without
 * writes to system memory.
 *
 * The rest of the driver sees an encoder that writes to memory as an encoder and a RAM sink at the
 * same address. The same bits of teControl reset, enable and flush both. The sink's part is done
 * when it is programmed, the encoder's part when it is enabled and disabled. A funnel that writes
 * to memory is a RAM sink: its control register has the same bits.
 *
 * There are no filters: the encoder traces all privileges. SRC is wired, and can only be left out.
 * Ids of tasks are stored to itcStimulus[31], see context.c.
 */
#include <linux/bitfield.h>
#include <linux/bits.h>
#include <linux/device.h>
#include <linux/of.h>
#include <linux/slab.h>

#include "component.h"

/* Largest documented value of the interval in bytes; SiFive's tool uses it, too. */
#define NTRACE_V0_SYNC_MAX_LEAST 5
#define NTRACE_V0_SYNC_MAX	10

/* Stores to the last register carry a timestamp; those to the other one, 15, do not. */
#define NTRACE_V0_OWNER		V0_ITC_STIMULUS_MAX

static u32 ntrace_v0_control(const struct ntrace_component *component, u32 mode, u32 messages,
			     u32 bytes)
{
	return V0_CONTROL_ACTIVE | component->fixed |
	       (component->encoder.src_bits ? 0 : V0_CONTROL_INHIBIT_SRC) |
	       FIELD_PREP(V0_CONTROL_MODE_MASK, mode) |
	       FIELD_PREP(V0_CONTROL_SYNC_MAX_BTM_MASK, messages) |
	       FIELD_PREP(V0_CONTROL_SYNC_MAX_INST_MASK, bytes);
}

/*
 * Finds out where a block sends its trace. Several ways out may exist; the device tree chooses.
 *
 * Return: 0 or -ENODEV.
 */
static int ntrace_v0_find_out(struct ntrace_component *component, bool *to_memory)
{
	struct device_node *ports __free(device_node) =
		of_get_child_by_name(component->dev->of_node, "out-ports");
	u32 needed = ports ? V0_IMPL_HAS_FUNNEL : V0_IMPL_HAS_SBA;
	const char *reason = ports ? "does not send to a funnel, but has \"out-ports\"" :
				     "does not write to memory, and has no \"out-ports\"";

	component->impl = ntrace_read(component, V0_IMPL);
	if (component->impl & TR_IMPL_VER_MAJOR_MASK)
		return ntrace_component_refuse(component, "is not version 0");
	if (!(component->impl & needed))
		return ntrace_component_refuse(component, reason);
	component->fixed = FIELD_PREP(V0_CONTROL_SINK_MASK, ports ? V0_SINK_FUNNEL : V0_SINK_SBA);
	*to_memory = !ports;
	return 0;
}

/* Bits of teControl that do not read back as written. */
static u32 ntrace_v0_differs(struct ntrace_component *component, u32 control)
{
	return ntrace_component_warl(component, V0_CONTROL, control) ^ control;
}

/* Finds out whether the encoder sends what software stores to its last stimulus register. */
static void ntrace_v0_probe_owner(struct ntrace_component *component)
{
	u32 control = V0_CONTROL_ACTIVE | component->fixed | V0_CONTROL_ITC_OWNERSHIP;
	u32 enable = BIT(NTRACE_V0_OWNER);

	if (!(ntrace_v0_differs(component, control) & V0_CONTROL_ITC_MASK) &&
	    ntrace_component_warl(component, V0_ITC_TRACE_ENABLE, enable) & enable) {
		component->encoder.context = V0_CONTROL_ITC_OWNERSHIP;
		component->encoder.stimulus = V0_ITC_STIMULUS(NTRACE_V0_OWNER);
	}
	ntrace_write(component, V0_ITC_TRACE_ENABLE, 0);
}

static void ntrace_v0_probe_encoder(struct ntrace_component *component)
{
	struct ntrace_encoder *encoder = &component->encoder;
	u32 control =
		ntrace_v0_control(component, NTRACE_MODE_HTM, V0_SYNC_MAX_OFF, NTRACE_V0_SYNC_MAX);
	u32 differs = ntrace_v0_differs(component, control);

	if (!(differs & V0_CONTROL_MODE_MASK))
		encoder->modes = BIT(NTRACE_MODE_HTM);
	encoder->sync_modes = BIT(NTRACE_SYNC_OFF) | BIT(NTRACE_SYNC_MESSAGES) |
			      BIT(NTRACE_SYNC_PARCELS);
	encoder->sync_max = differs & V0_CONTROL_SYNC_MAX_INST_MASK ? NTRACE_V0_SYNC_MAX_LEAST :
								      NTRACE_V0_SYNC_MAX;
	encoder->sync_maxes = GENMASK(encoder->sync_max, 0);
	/* The interval is 2^(n + 5) messages; ratified encoders have 2^(n + 4). */
	encoder->sync_messages_min = 1;
	encoder->came = FIELD_PREP(TR_TE_FEATURE_SRC_ID_MASK,
				   FIELD_GET(V0_IMPL_SRC_ID_MASK, component->impl)) |
			FIELD_PREP(TR_TE_FEATURE_SRC_BITS_MASK,
				   FIELD_GET(V0_IMPL_SRC_BITS_MASK, component->impl));
	encoder->src_wired = FIELD_GET(V0_IMPL_SRC_ID_MASK, component->impl);
	encoder->leaves_out_src = !(differs & V0_CONTROL_INHIBIT_SRC);
	if (!(ntrace_v0_differs(component, control | V0_CONTROL_STALL_ENA) & V0_CONTROL_STALL_ENA))
		encoder->stall = V0_CONTROL_STALL_ENA;
	ntrace_v0_probe_owner(component);
	/* Writing 0 clears one of them, writing 1 the other. */
	encoder->acknowledge = V0_CONTROL_STALL_OR_OVERFLOW | V0_CONTROL_SINK_ERROR;
	encoder->losses = V0_CONTROL_STALL_OR_OVERFLOW | V0_CONTROL_SINK_ERROR;
	encoder->failures = V0_CONTROL_SINK_ERROR;
}

static int ntrace_v0_program_sink(struct ntrace_component *component,
				  const struct ntrace_config *config)
{
	struct ntrace_ramsink *sink = &component->ramsink;
	u64 end = sink->dma + sink->buffer_size;
	u32 start, limit, wp;
	u64 high;

	/* A note for ntrace_ramsink_is_whole(); the encoder's part writes the bit. */
	sink->control &= ~TR_RAM_CONTROL_STOP_ON_WRAP;
	if (config->flags & NTRACE_CONFIG_STOP_ON_WRAP)
		sink->control |= TR_RAM_CONTROL_STOP_ON_WRAP;
	/* Selects the kind of sink that the pointers belong to. */
	ntrace_write(component, V0_CONTROL, V0_CONTROL_ACTIVE | component->fixed);
	high = ntrace_component_warl(component, V0_SINK_BASE_HIGH, upper_32_bits(sink->dma));
	start = ntrace_component_warl(component, V0_SINK_BASE, lower_32_bits(sink->dma));
	limit = ntrace_component_warl(component, V0_SINK_LIMIT, lower_32_bits(end - sink->reach));
	wp = ntrace_component_warl(component, V0_SINK_WP, start);
	/* The buffer does not cross a 4 GiB boundary: one high half is enough. */
	high <<= 32;
	return ntrace_ramsink_accept(component, high | start, high | limit, high | wp);
}

/* The encoder enables the sink as well. */
static int ntrace_v0_start_sink(struct ntrace_component *component, bool atomic)
{
	u32 start = lower_32_bits(component->ramsink.ring_dma);
	u32 wp = ntrace_component_warl(component, V0_SINK_WP, start);

	return (wp & ~TR_RAM_WP_LOW_WRAP) == start ? 0 : -EIO;
}

/* And disables it; an empty encoder means that all trace is in memory. */
static int ntrace_v0_stop_sink(struct ntrace_component *component, bool atomic)
{
	return ntrace_component_wait_disabled(component, atomic, NULL);
}

static void ntrace_v0_halt_sink(struct ntrace_component *component)
{
}

static const struct ntrace_ops ntrace_v0_sink_ops = {
	.program = ntrace_v0_program_sink,
	.start = ntrace_v0_start_sink,
	.stop = ntrace_v0_stop_sink,
	.halt = ntrace_v0_halt_sink,
};

static int ntrace_v0_program_funnel(struct ntrace_component *component,
				    const struct ntrace_config *config)
{
	int ret = ntrace_v0_program_sink(component, config);

	/* It stays when the funnel is disabled, which may not be empty then. */
	component->fixed &= ~V0_CONTROL_STOP_ON_WRAP;
	if (config->flags & NTRACE_CONFIG_STOP_ON_WRAP)
		component->fixed |= V0_CONTROL_STOP_ON_WRAP;
	return ret ?: ntrace_timestamp_program(component, component->timestamp.source, 0);
}

static int ntrace_v0_start_funnel(struct ntrace_component *component, bool atomic)
{
	int ret = ntrace_v0_start_sink(component, atomic);

	if (ret)
		return ret;
	/* Writing 1 clears SinkError. */
	ntrace_write(component, V0_CONTROL,
		     V0_CONTROL_ACTIVE | component->fixed | V0_CONTROL_ENABLE |
			     V0_CONTROL_SINK_ERROR);
	return ntrace_component_wait_enabled(component, atomic);
}

static const struct ntrace_ops ntrace_v0_funnel_ops = {
	.program = ntrace_v0_program_funnel,
	.start = ntrace_v0_start_funnel,
	.stop = ntrace_ramsink_stop,
	.halt = ntrace_component_halt,
	.await_empty = ntrace_component_await_empty,
};

static int ntrace_v0_probe_sink(struct ntrace_component *sink)
{
	u32 high;

	sink->ramsink.control = TR_CONTROL_ACTIVE;
	sink->ramsink.wp = V0_SINK_WP;
	high = ntrace_component_warl(sink, V0_SINK_BASE_HIGH, U32_MAX);
	ntrace_write(sink, V0_SINK_BASE_HIGH, 0);
	ntrace_write(sink, V0_SINK_BASE, 0);
	return ntrace_ramsink_find_granule(sink, V0_SINK_LIMIT) ?:
		       ntrace_ramsink_find_memory(sink, high);
}

static struct ntrace_component *ntrace_v0_make_sink(const struct ntrace_component *component)
{
	struct ntrace_component *sink = devm_kzalloc(component->dev, sizeof(*sink), GFP_KERNEL);

	if (!sink)
		return NULL;
	sink->dev = component->dev;
	sink->base = component->base;
	sink->start = component->start;
	sink->layout = component->layout;
	sink->impl = component->impl;
	sink->type = TR_COMP_TYPE_RAM_SINK;
	sink->fixed = component->fixed;
	ntrace_sink_setup(sink, &ntrace_v0_sink_ops);
	return sink;
}

static int ntrace_v0_program_encoder(struct ntrace_component *component,
				     const struct ntrace_config *config)
{
	struct ntrace_encoder *encoder = &component->encoder;
	u32 messages = V0_SYNC_MAX_OFF, bytes = V0_SYNC_MAX_OFF;
	u32 mask = V0_CONTROL_MODE_MASK | V0_CONTROL_SYNC_MAX_BTM_MASK |
		   V0_CONTROL_SYNC_MAX_INST_MASK | V0_CONTROL_SINK_MASK | V0_CONTROL_ITC_MASK;
	u32 differs;
	int ret;

	if (config->sync_mode == NTRACE_SYNC_MESSAGES)
		messages = config->sync_max - 1;
	else if (config->sync_mode == NTRACE_SYNC_PARCELS)
		bytes = config->sync_max;
	ret = ntrace_timestamp_program(component, config->timestamps, config->timestamp_prescale);
	if (ret)
		return ret;
	encoder->control = ntrace_v0_control(component, config->mode, messages, bytes);
	encoder->stores = config->flags & NTRACE_CONFIG_CONTEXT;
	if (encoder->stores)
		encoder->control |= V0_CONTROL_ITC_OWNERSHIP;
	if (config->flags & NTRACE_CONFIG_STALL)
		encoder->control |= V0_CONTROL_STALL_ENA;
	ntrace_write(component, V0_ITC_TRACE_ENABLE, encoder->stores ? BIT(NTRACE_V0_OWNER) : 0);
	if (component->sink) {
		mask |= V0_CONTROL_STOP_ON_WRAP;
		if (config->flags & NTRACE_CONFIG_STOP_ON_WRAP)
			encoder->control |= V0_CONTROL_STOP_ON_WRAP;
	}
	if (encoder->src_bits)
		mask |= V0_CONTROL_INHIBIT_SRC;
	differs = ntrace_v0_differs(component, encoder->control) & mask;
	if (differs)
		return ntrace_component_lacks(component, "teControl, in these bits,", differs);
	/* Writing 0 clears the flag, which later writes must not do. */
	encoder->control |= V0_CONTROL_STALL_OR_OVERFLOW;
	return 0;
}

static const struct ntrace_ops ntrace_v0_encoder_ops = {
	.program = ntrace_v0_program_encoder,
};

static int ntrace_v0_identify(struct ntrace_component *component)
{
	bool to_memory;
	int ret;

	component->type = TR_COMP_TYPE_ENCODER;
	component->ops = &ntrace_v0_encoder_ops;
	ret = ntrace_v0_find_out(component, &to_memory);
	if (!ret)
		ret = ntrace_encoder_find_hart(component);
	if (ret)
		return ret;
	if (to_memory) {
		component->sink = ntrace_v0_make_sink(component);
		if (!component->sink)
			return -ENOMEM;
	}
	ntrace_v0_probe_encoder(component);
	if (!component->encoder.modes)
		return ntrace_component_refuse(component, "has no HTM");
	ntrace_timestamp_init(component);
	return to_memory ? ntrace_v0_probe_sink(component->sink) : 0;
}

static int ntrace_v0_identify_funnel(struct ntrace_component *component)
{
	bool to_memory;
	int ret;

	component->type = TR_COMP_TYPE_FUNNEL;
	ret = ntrace_v0_find_out(component, &to_memory);
	if (ret)
		return ret;
	component->merges = true;
	ntrace_timestamp_init(component);
	component->is_link = !to_memory;
	component->ops = &ntrace_funnel_ops;
	if (!to_memory)
		return 0;
	component->type = TR_COMP_TYPE_RAM_SINK;
	ntrace_sink_setup(component, &ntrace_v0_funnel_ops);
	component->ramsink.failures = V0_CONTROL_SINK_ERROR;
	return ntrace_v0_probe_sink(component);
}

/* A sink in the same page is programmed first; its reset covers both. */
static int ntrace_v0_reset(struct ntrace_component *component)
{
	if (!component->sink)
		return ntrace_component_reset(component);
	component->inactive = false;
	return 0;
}

const struct ntrace_layout ntrace_layout_v0 = {
	.identify = ntrace_v0_identify,
	.reset = ntrace_v0_reset,
	.timestamp_extra = V0_TS_CONTROL_BRANCH_MASK | V0_TS_CONTROL_OWNERSHIP,
};

const struct ntrace_layout ntrace_layout_v0_funnel = {
	.identify = ntrace_v0_identify_funnel,
	.reset = ntrace_component_reset,
};
