// SPDX-License-Identifier: GPL-2.0-only
/*
 * Trace encoder, trTe... registers.
 */
#include <linux/bitfield.h>
#include <linux/bits.h>
#include <linux/device.h>
#include <linux/of.h>

#include "component.h"
#include "context.h"
#include "encoder.h"
#include "filter.h"
#include "sink.h"
#include "timestamp.h"
#include "trigger.h"

#define NTRACE_FORMAT FIELD_PREP(TR_TE_CONTROL_FORMAT_MASK, TR_TE_FORMAT_NTRACE)

/* Fields of trTeInstFeatures that are single bits, or hold a constant. */
#define NTRACE_FEATURE_BITS 11

/* All bits of ntrace_config.features */
#define NTRACE_FEATURES	(NTRACE_FEATURE_SEQUENTIAL_JUMP | NTRACE_FEATURE_IMPLICIT_RETURN | \
			 NTRACE_FEATURE_REPEATED_HISTORY | NTRACE_FEATURE_ALL_JUMPS)

/* Reset leaves these registers undefined; the driver must write them before it enables. */
static const u16 ntrace_encoder_baseline[] = {
	TR_TE_INST_FEATURES,	    TR_TE_INST_FILTERS,	    TR_TE_DATA_CONTROL,
	TR_TE_DATA_FILTERS,	    TR_TE_TRIG_DBG_CONTROL, TR_TE_TRIG_EXT_IN_CONTROL,
	TR_TE_TRIG_EXT_OUT_CONTROL,
};

static void ntrace_encoder_write_baseline(struct ntrace_component *component)
{
	u32 features;
	int i;

	for (i = 0; i < ARRAY_SIZE(ntrace_encoder_baseline); i++)
		ntrace_write(component, ntrace_encoder_baseline[i], 0);
	ntrace_write(component, TR_TE_INST_FEATURES, component->encoder.sources);

	/* The source fields may be hard-wired. Their values are in the stream then. */
	features = ntrace_read(component, TR_TE_INST_FEATURES);
	component->encoder.src = FIELD_GET(TR_TE_FEATURE_SRC_ID_MASK, features);
	component->encoder.src_bits = FIELD_GET(TR_TE_FEATURE_SRC_BITS_MASK, features);
}

/* The value that a field of trTeControl takes when @field is written. */
static u32 ntrace_encoder_try_control(struct ntrace_component *component, u32 mask, u32 field)
{
	field |= TR_CONTROL_ACTIVE | NTRACE_FORMAT;
	return ntrace_component_warl(component, TR_TE_CONTROL, field) & mask;
}

static void ntrace_encoder_probe_control(struct ntrace_component *component)
{
	struct ntrace_encoder *encoder = &component->encoder;
	static const u8 modes[] = { TR_TE_INST_MODE_HTM, TR_TE_INST_MODE_BTM };
	u32 i, field, mask;

	for (i = 0; i < ARRAY_SIZE(modes); i++) {
		field = FIELD_PREP(TR_TE_CONTROL_INST_MODE_MASK, modes[i]);
		mask = TR_TE_CONTROL_INST_MODE_MASK;
		if (ntrace_encoder_try_control(component, mask, field) == field)
			encoder->modes |= BIT(modes[i]);
	}
	for (i = TR_TE_SYNC_MODE_OFF; i <= TR_TE_SYNC_MODE_PARCELS; i++) {
		field = FIELD_PREP(TR_TE_CONTROL_INST_SYNC_MODE_MASK, i);
		mask = TR_TE_CONTROL_INST_SYNC_MODE_MASK;
		if (ntrace_encoder_try_control(component, mask, field) == field)
			encoder->sync_modes |= BIT(i);
	}
	mask = TR_TE_CONTROL_INST_SYNC_MAX_MASK;
	field = ntrace_encoder_try_control(component, mask, mask);
	encoder->sync_max = FIELD_GET(TR_TE_CONTROL_INST_SYNC_MAX_MASK, field);
	mask = TR_TE_CONTROL_CONTEXT;
	encoder->context = ntrace_encoder_try_control(component, mask, mask);
	mask = TR_TE_CONTROL_INST_STALL_ENA;
	encoder->stall = ntrace_encoder_try_control(component, mask, mask);
	mask = TR_TE_CONTROL_INST_TRIG_ENABLE;
	encoder->triggers_debug = ntrace_encoder_try_control(component, mask, mask);
}

static void ntrace_encoder_probe_features(struct ntrace_component *component)
{
	struct ntrace_encoder *encoder = &component->encoder;
	u32 i, value;

	/* One bit at a time: a combination may be illegal although each bit is legal. */
	for (i = 0; i < NTRACE_FEATURE_BITS; i++) {
		value = ntrace_component_warl(component, TR_TE_INST_FEATURES, BIT(i));
		encoder->features |= value & BIT(i);
	}
	value = ntrace_component_warl(component, TR_TE_INST_FEATURES, TR_TE_FEATURE_SRC_BITS_MASK);
	encoder->features |= value & TR_TE_FEATURE_SRC_BITS_MASK;
	value = ntrace_component_warl(component, TR_TE_INST_FEATURES, TR_TE_FEATURE_SRC_ID_MASK);
	encoder->features |= value & TR_TE_FEATURE_SRC_ID_MASK;
	ntrace_write(component, TR_TE_INST_FEATURES, 0);
}

/**
 * ntrace_encoder_find_hart - find the hart that an encoder traces
 * @component: encoder
 *
 * Return: 0 or a negative error.
 */
int ntrace_encoder_find_hart(struct ntrace_component *component)
{
	struct ntrace_encoder *encoder = &component->encoder;
	struct device_node *node __free(device_node) =
		of_parse_phandle(component->dev->of_node, "cpus", 0);
	u32 hartid;
	int cpu;

	if (!node)
		return dev_err_probe(component->dev, -EINVAL, "no \"cpus\" property\n");
	cpu = of_cpu_node_to_id(node);
	if (cpu < 0)
		return dev_err_probe(component->dev, -ENODEV, "Linux does not use %pOF\n", node);
	encoder->cpu = cpu;
	/* of_get_cpu_hwid() is not exported to modules. */
	if (of_property_count_u32_elems(node, "reg") == 1 &&
	    !of_property_read_u32(node, "reg", &hartid))
		encoder->hartid = hartid;
	else if (of_property_read_u64(node, "reg", &encoder->hartid))
		return dev_err_probe(component->dev, -EINVAL, "%pOF has no hart id\n", node);
	return 0;
}

/**
 * ntrace_encoder_init - find out what an encoder supports
 * @component: encoder, just reset
 *
 * Return: 0 or a negative error.
 */
int ntrace_encoder_init(struct ntrace_component *component)
{
	struct ntrace_encoder *encoder = &component->encoder;
	u32 protocol = FIELD_GET(TR_TE_IMPL_PROTOCOL_MAJOR_MASK, component->impl);
	u32 format;
	int ret;

	ret = ntrace_encoder_find_hart(component);
	if (ret)
		return ret;

	format = ntrace_encoder_try_control(component, TR_TE_CONTROL_FORMAT_MASK, 0);
	if (FIELD_GET(TR_TE_CONTROL_FORMAT_MASK, format) != TR_TE_FORMAT_NTRACE)
		return ntrace_component_refuse(component, "does not support N-Trace");
	/* A newer minor version of the protocol is compatible. */
	if (protocol != TR_TE_PROTOCOL_MAJOR_NTRACE)
		return ntrace_component_refuse(component, "has an unknown protocol version");

	component->encoder.losses = TR_TE_CONTROL_INST_STALL_OR_OVERFLOW;
	ntrace_encoder_write_baseline(component);
	ntrace_encoder_probe_control(component);
	ntrace_encoder_probe_features(component);
	ntrace_filter_init(component);
	ntrace_trigger_init(component);
	ntrace_timestamp_init(component);

	if (!encoder->modes)
		return ntrace_component_refuse(component, "supports neither BTM nor HTM");
	return 0;
}

/**
 * ntrace_encoder_set_source - set the source ID of an encoder in a shared sink
 * @component: encoder
 * @src: trTeSrcID
 * @src_bits: trTeSrcBits, 0 if the sink is not shared; takes the width in effect
 *
 * An encoder of version 0 has a SRC that cannot be changed.
 *
 * Return: 0, or -EOPNOTSUPP if the field is too narrow.
 */
int ntrace_encoder_set_source(struct ntrace_component *component, u32 src, u32 *src_bits)
{
	struct ntrace_encoder *encoder = &component->encoder;

	if (max(FIELD_GET(TR_TE_FEATURE_SRC_BITS_MASK, encoder->features), encoder->wired_bits) <
	    *src_bits)
		return -EOPNOTSUPP;
	if (!*src_bits)
		return 0;
	if (encoder->wired_bits) {
		encoder->src = encoder->wired_src;
		encoder->src_bits = encoder->wired_bits;
		*src_bits = encoder->wired_bits;
		return 0;
	}
	encoder->src = src;
	encoder->src_bits = *src_bits;
	encoder->sources = FIELD_PREP(TR_TE_FEATURE_SRC_ID_MASK, src) |
			   FIELD_PREP(TR_TE_FEATURE_SRC_BITS_MASK, *src_bits);
	return 0;
}

/* A feature that hides calls, and one that needs them, exclude each other. */
static int ntrace_encoder_check_features(const struct ntrace_encoder *encoder,
					 const struct ntrace_config *config)
{
	u32 both = NTRACE_FEATURE_ALL_JUMPS | NTRACE_FEATURE_IMPLICIT_RETURN;
	/* A hart would wait for a sink that has stopped, until somebody resets it. */
	u32 forever = NTRACE_CONFIG_STALL | NTRACE_CONFIG_STOP_ON_WRAP;

	if (config->features & ~NTRACE_FEATURES || (config->features & both) == both ||
	    (config->flags & forever) == forever)
		return -EINVAL;
	if (config->features & ~encoder->features)
		return -EOPNOTSUPP;
	return config->flags & NTRACE_CONFIG_STALL && !encoder->stall ? -EOPNOTSUPP : 0;
}

/**
 * ntrace_encoder_check - check a configuration and fill in its defaults
 * @component: encoder
 * @config: configuration; defaults are filled in
 *
 * Return: 0, -EINVAL if no encoder supports it, -EOPNOTSUPP if this one does not.
 */
int ntrace_encoder_check(const struct ntrace_component *component, struct ntrace_config *config)
{
	const struct ntrace_encoder *encoder = &component->encoder;
	int ret;

	if (!config->mode)
		config->mode = encoder->modes & BIT(NTRACE_MODE_HTM) ? NTRACE_MODE_HTM :
								       NTRACE_MODE_BTM;
	if (config->mode > FIELD_MAX(TR_TE_CONTROL_INST_MODE_MASK) ||
	    config->sync_mode > FIELD_MAX(TR_TE_CONTROL_INST_SYNC_MODE_MASK) ||
	    config->sync_max > FIELD_MAX(TR_TE_CONTROL_INST_SYNC_MAX_MASK))
		return -EINVAL;
	if (!(encoder->modes & BIT(config->mode)) ||
	    !(encoder->sync_modes & BIT(config->sync_mode)))
		return -EOPNOTSUPP;
	if (config->sync_mode != NTRACE_SYNC_OFF && config->sync_max > encoder->sync_max)
		return -EOPNOTSUPP;
	if (config->sync_mode == NTRACE_SYNC_MESSAGES &&
	    config->sync_max < encoder->sync_messages_min)
		return -EOPNOTSUPP;
	if (config->flags & NTRACE_CONFIG_CONTEXT && !encoder->context)
		return -EOPNOTSUPP;
	ret = ntrace_encoder_check_features(encoder, config);
	if (!ret)
		ret = ntrace_timestamp_check(component, config);
	if (!ret)
		ret = ntrace_trigger_check(component, config);
	if (ret)
		return ret;

	return ntrace_filter_check(component, config);
}

/**
 * ntrace_encoder_program - write a configuration into an encoder
 * @component: encoder, just reset or disabled
 * @config: configuration that ntrace_encoder_check() accepted
 *
 * Return: 0, -EOPNOTSUPP if a register does not read back as written, -ETIMEDOUT, or -EBUSY if a
 * debugger owns the encoder.
 */
int ntrace_encoder_program(struct ntrace_component *component, const struct ntrace_config *config)
{
	struct ntrace_encoder *encoder = &component->encoder;
	u32 mask = TR_TE_CONTROL_INST_MODE_MASK | TR_TE_CONTROL_INST_SYNC_MODE_MASK |
		   TR_TE_CONTROL_FORMAT_MASK | TR_TE_CONTROL_INHIBIT_SRC |
		   TR_TE_CONTROL_INST_TRIG_ENABLE | TR_TE_CONTROL_CONTEXT |
		   TR_TE_CONTROL_INST_STALL_ENA;
	u32 features;
	int ret;

	if (ntrace_component_is_foreign(component))
		return ntrace_component_refuse_foreign(component);
	ntrace_encoder_write_baseline(component);
	features = ntrace_component_warl(component, TR_TE_INST_FEATURES,
					 encoder->sources | config->features);
	if ((features & NTRACE_FEATURES) != config->features)
		return -EOPNOTSUPP;
	/* Only the source ID tells the encoders of a shared sink apart. */
	if (encoder->sources && (features & (TR_TE_FEATURE_SRC_ID_MASK |
					     TR_TE_FEATURE_SRC_BITS_MASK)) != encoder->sources)
		return -EOPNOTSUPP;

	ret = ntrace_filter_program(component, config);
	if (!ret)
		ret = ntrace_trigger_program(component, config);
	if (ret)
		return ret;
	ret = ntrace_timestamp_program(component, config->timestamps, config->timestamp_prescale);
	if (ret)
		return ret;

	encoder->control =
		TR_CONTROL_ACTIVE | FIELD_PREP(TR_TE_CONTROL_INST_MODE_MASK, config->mode) |
		FIELD_PREP(TR_TE_CONTROL_INST_SYNC_MODE_MASK, config->sync_mode) |
		FIELD_PREP(TR_TE_CONTROL_INST_SYNC_MAX_MASK, config->sync_max) | NTRACE_FORMAT;
	if (config->flags & NTRACE_CONFIG_CONTEXT)
		encoder->control |= TR_TE_CONTROL_CONTEXT;
	if (config->flags & NTRACE_CONFIG_STALL)
		encoder->control |= TR_TE_CONTROL_INST_STALL_ENA;
	/*
	 * Triggers may change trTeInstTracing. The driver writes it and never reads it back here.
	 */
	if (ntrace_trigger_is_used(config))
		encoder->control |= TR_TE_CONTROL_INST_TRIG_ENABLE;
	if (config->sync_mode != NTRACE_SYNC_OFF)
		mask |= TR_TE_CONTROL_INST_SYNC_MAX_MASK;
	if ((ntrace_component_warl(component, TR_TE_CONTROL, encoder->control) & mask) !=
	    (encoder->control & mask))
		return -EOPNOTSUPP;
	return 0;
}

/* Writes trTeControl, unless a debugger has taken the encoder meanwhile. */
static void ntrace_encoder_control(struct ntrace_component *component, u32 control)
{
	if (!ntrace_component_is_foreign(component))
		ntrace_write(component, TR_TE_CONTROL, control);
}

/**
 * ntrace_encoder_enable - enable an encoder, not tracing yet
 * @component: encoder, programmed; its sink is enabled
 *
 * Called on the traced hart with interrupts off. Setting trTeEnable also clears
 * trTeInstStallOrOverflow.
 *
 * Return: 0, -ETIMEDOUT, or -EBUSY if a debugger owns the encoder.
 */
int ntrace_encoder_enable(struct ntrace_component *component)
{
	struct ntrace_encoder *encoder = &component->encoder;

	encoder->noted = 0;
	ntrace_encoder_control(component,
			       (encoder->control ^ encoder->acknowledge) | TR_CONTROL_ENABLE);
	return ntrace_component_wait_enabled(component, true);
}

/**
 * ntrace_encoder_trace - start tracing
 * @component: encoder, enabled
 *
 * Called on the traced hart with interrupts off.
 */
void ntrace_encoder_trace(struct ntrace_component *component)
{
	const struct ntrace_encoder *encoder = &component->encoder;

	ntrace_encoder_control(component,
			       encoder->control | TR_CONTROL_ENABLE | TR_TE_CONTROL_INST_TRACING);
	if (encoder->stores)
		ntrace_context_store_to(encoder->cpu, component->base + encoder->stimulus);
}

/**
 * ntrace_encoder_pause - pause tracing until ntrace_encoder_trace()
 * @component: encoder that traces
 *
 * The encoder reports both the pause and the continuation in the trace: nothing is lost.
 */
void ntrace_encoder_pause(struct ntrace_component *component)
{
	ntrace_encoder_control(component, component->encoder.control | TR_CONTROL_ENABLE);
}

/**
 * ntrace_encoder_stop - stop tracing and disable an encoder, without waiting
 * @component: encoder; called on the traced hart with interrupts off, or while it is offline
 *
 * Writes the shadow once. The shadow has 0 in trTeInstStallOrOverflow, so the flag keeps its value
 * for ntrace_component_wait_disabled(). The flag may come while the encoder empties its queue. But
 * an encoder may also clear it together with trTeEnable, so its value before that is noted.
 */
void ntrace_encoder_stop(struct ntrace_component *component)
{
	struct ntrace_encoder *encoder = &component->encoder;

	if (encoder->stores)
		ntrace_context_store_to(encoder->cpu, NULL);
	if (component->sink)
		ntrace_ramsink_note_full(component->sink);
	encoder->noted |= ntrace_read(component, TR_TE_CONTROL) & encoder->losses;
	ntrace_encoder_control(component, encoder->control);
}
