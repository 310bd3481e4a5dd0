// SPDX-License-Identifier: GPL-2.0-only
/*
 * Trace encoder, trTe... registers.
 */
#include <linux/bitfield.h>
#include <linux/bitops.h>
#include <linux/bits.h>
#include <linux/device.h>
#include <linux/of.h>
#include <linux/of_address.h>

#include "component.h"

#define NTRACE_FORMAT FIELD_PREP(TR_TE_CONTROL_FORMAT_MASK, TR_TE_FORMAT_NTRACE)

/* All bits of ntrace_config.features */
#define NTRACE_FEATURES	(NTRACE_FEATURE_SEQUENTIAL_JUMP | NTRACE_FEATURE_IMPLICIT_RETURN | \
			 NTRACE_FEATURE_REPEATED_HISTORY | NTRACE_FEATURE_ALL_JUMPS | \
			 NTRACE_FEATURE_EXTEND_ADDRESS)

#define NTRACE_SOURCES	(TR_TE_FEATURE_SRC_ID_MASK | TR_TE_FEATURE_SRC_BITS_MASK)
#define NTRACE_SRC_BITS_MAX 12

/*
 * Optional registers that act. Reset leaves them undefined; the driver must write them before it
 * enables. Those that do not exist are not accessed.
 */
static const u16 ntrace_encoder_baseline[] = {
	TR_TE_INST_FEATURES,	   TR_TE_INST_FILTERS,	      TR_TE_DATA_CONTROL,
	TR_TE_DATA_FILTERS,	   TR_TE_TRIG_DBG_CONTROL,    TR_TE_TRIG_EXT_IN_CONTROL,
	TR_TE_TRIG_EXT_OUT_CONTROL,
};

/* Names of the fields of trTeControl that must read back as written. */
static const struct {
	u32 mask;
	const char *name;
} ntrace_encoder_fields[] = {
	{ TR_TE_CONTROL_INST_MODE_MASK, "trTeInstMode" },
	{ TR_TE_CONTROL_CONTEXT, "trTeContext" },
	{ TR_TE_CONTROL_INST_TRIG_ENABLE, "trTeInstTrigEnable" },
	{ TR_TE_CONTROL_INST_STALL_ENA, "trTeInstStallEna" },
	{ TR_TE_CONTROL_INHIBIT_SRC, "trTeInhibitSrc" },
	{ TR_TE_CONTROL_INST_SYNC_MODE_MASK, "trTeInstSyncMode" },
	{ TR_TE_CONTROL_INST_SYNC_MAX_MASK, "trTeInstSyncMax" },
	{ TR_TE_CONTROL_FORMAT_MASK, "trTeFormat" },
};

/* Names of the features that software may choose. */
static const struct {
	u32 mask;
	const char *name;
} ntrace_encoder_features[] = {
	{ NTRACE_FEATURE_SEQUENTIAL_JUMP, "trTeInstEnSequentialJump" },
	{ NTRACE_FEATURE_IMPLICIT_RETURN, "trTeInstEnImplicitReturn" },
	{ NTRACE_FEATURE_REPEATED_HISTORY, "trTeInstEnRepeatedHistory" },
	{ NTRACE_FEATURE_ALL_JUMPS, "trTeInstEnAllJumps" },
	{ NTRACE_FEATURE_EXTEND_ADDRESS, "trTeInstExtendAddrMSB" },
};

static int ntrace_encoder_lacks_features(const struct ntrace_component *component, u32 features)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(ntrace_encoder_features); i++)
		if (features & ntrace_encoder_features[i].mask)
			return ntrace_component_lacks(component, ntrace_encoder_features[i].name,
						      1);
	return 0;
}

static void ntrace_encoder_find_registers(struct ntrace_component *component)
{
	struct ntrace_encoder *encoder = &component->encoder;
	int i;

	for (i = 0; i < ARRAY_SIZE(ntrace_encoder_baseline); i++)
		if (!ntrace_component_has(component, ntrace_encoder_baseline[i]))
			encoder->absent |= BIT(i);
	for (i = 0; i < TR_TE_COMPARATOR_MAX; i++)
		if (ntrace_component_has(component, TR_TE_COMP_CONTROL(i)))
			encoder->comparators |= BIT(i);
}

static bool ntrace_encoder_has_features(const struct ntrace_encoder *encoder)
{
	return !(encoder->absent & BIT(0));
}

/* Comparators act without a filter: they may send notifications. */
static void ntrace_encoder_write_baseline(struct ntrace_component *component)
{
	struct ntrace_encoder *encoder = &component->encoder;
	int i;

	for (i = 1; i < ARRAY_SIZE(ntrace_encoder_baseline); i++)
		if (!(encoder->absent & BIT(i)))
			ntrace_write(component, ntrace_encoder_baseline[i], 0);
	for (i = 0; i < TR_TE_COMPARATOR_MAX; i++)
		if (encoder->comparators & BIT(i))
			ntrace_write(component, TR_TE_COMP_CONTROL(i), 0);
}

/* The value that a field of trTeControl takes when @field is written. */
static u32 ntrace_encoder_try_control(struct ntrace_component *component, u32 mask, u32 field)
{
	field |= TR_CONTROL_ACTIVE | NTRACE_FORMAT;
	return ntrace_component_warl(component, TR_TE_CONTROL, field) & mask;
}

/* The values that a field takes, as a bit mask. */
static u32 ntrace_encoder_try_values(struct ntrace_component *component, u32 mask)
{
	u32 values = 0, value, field;

	for (value = 0; value <= mask >> __ffs(mask); value++) {
		field = value << __ffs(mask);
		if (ntrace_encoder_try_control(component, mask, field) == field)
			values |= BIT(value);
	}
	return values;
}

static void ntrace_encoder_probe_control(struct ntrace_component *component)
{
	struct ntrace_encoder *encoder = &component->encoder;
	u32 mask = TR_TE_CONTROL_CONTEXT | TR_TE_CONTROL_INST_TRIG_ENABLE |
		   TR_TE_CONTROL_INST_STALL_ENA | TR_TE_CONTROL_INHIBIT_SRC;

	encoder->modes = ntrace_encoder_try_values(component, TR_TE_CONTROL_INST_MODE_MASK) &
			 (BIT(TR_TE_INST_MODE_HTM) | BIT(TR_TE_INST_MODE_BTM));
	encoder->sync_modes =
		ntrace_encoder_try_values(component, TR_TE_CONTROL_INST_SYNC_MODE_MASK);
	encoder->sync_maxes =
		ntrace_encoder_try_values(component, TR_TE_CONTROL_INST_SYNC_MAX_MASK);
	encoder->sync_max = encoder->sync_maxes ? __fls(encoder->sync_maxes) : 0;
	encoder->control_on = ntrace_encoder_try_control(component, mask, 0);
	mask = TR_TE_CONTROL_CONTEXT;
	encoder->context = ntrace_encoder_try_control(component, mask, mask);
	mask = TR_TE_CONTROL_INST_STALL_ENA;
	encoder->stall = ntrace_encoder_try_control(component, mask, mask);
	mask = TR_TE_CONTROL_INST_TRIG_ENABLE;
	encoder->triggers_debug = ntrace_encoder_try_control(component, mask, mask);
	mask = TR_TE_CONTROL_INHIBIT_SRC;
	encoder->leaves_out_src = ntrace_encoder_try_control(component, mask, mask);
}

/*
 * What trTeInstFeatures takes when @features is written. trTeSrcID and trTeSrcBits keep what they
 * came with: the driver could believe a width of 0 that reads back, and SRC is sent all the same.
 */
static u32 ntrace_encoder_try_features(struct ntrace_component *component, u32 features)
{
	return ntrace_component_warl(component, TR_TE_INST_FEATURES,
				     component->encoder.came | features);
}

static void ntrace_encoder_probe_sources(struct ntrace_component *component)
{
	struct ntrace_encoder *encoder = &component->encoder;
	u32 value, i;

	encoder->came = ntrace_read(component, TR_TE_INST_FEATURES) & NTRACE_SOURCES;
	for (i = 0; i <= NTRACE_SRC_BITS_MAX; i++) {
		value = ntrace_component_warl(component, TR_TE_INST_FEATURES,
					      FIELD_PREP(TR_TE_FEATURE_SRC_BITS_MASK, i));
		if (FIELD_GET(TR_TE_FEATURE_SRC_BITS_MASK, value) == i)
			encoder->src_widths |= BIT(i);
	}
	/* The widest one, so that all bits of the ID count. */
	value = FIELD_PREP(TR_TE_FEATURE_SRC_BITS_MASK,
			   encoder->src_widths ? __fls(encoder->src_widths) : 0);
	encoder->features |= value;
	i = ntrace_component_warl(component, TR_TE_INST_FEATURES, value);
	value = ntrace_component_warl(component, TR_TE_INST_FEATURES,
				      value | TR_TE_FEATURE_SRC_ID_MASK);
	encoder->src_ids = FIELD_GET(TR_TE_FEATURE_SRC_ID_MASK, value & ~i);
	encoder->src_wired = FIELD_GET(TR_TE_FEATURE_SRC_ID_MASK, i);
	encoder->features |= value & TR_TE_FEATURE_SRC_ID_MASK;
}

/* The best mode with which implicit returns can be enabled; 0: none is reported. */
static u32 ntrace_encoder_probe_returns(struct ntrace_component *component)
{
	u32 mask = TR_TE_FEATURE_IMPLICIT_RETURN | TR_TE_FEATURE_IMPLICIT_RETURN_MODE_MASK;
	u32 mode, wanted;

	for (mode = 3; mode; mode--) {
		wanted = TR_TE_FEATURE_IMPLICIT_RETURN |
			 FIELD_PREP(TR_TE_FEATURE_IMPLICIT_RETURN_MODE_MASK, mode);
		if ((ntrace_encoder_try_features(component, wanted) & mask) == wanted)
			return wanted;
	}
	return 0;
}

static void ntrace_encoder_probe_features(struct ntrace_component *component)
{
	struct ntrace_encoder *encoder = &component->encoder;
	u32 i, on, bit;

	if (!ntrace_encoder_has_features(encoder))
		return;
	ntrace_encoder_probe_sources(component);
	/* One bit at a time: a combination may be illegal although each bit is legal. */
	for (i = 0; i < ARRAY_SIZE(ntrace_encoder_features); i++) {
		bit = ntrace_encoder_features[i].mask;
		if (bit != NTRACE_FEATURE_IMPLICIT_RETURN)
			encoder->features |= ntrace_encoder_try_features(component, bit) & bit;
	}
	encoder->features |= ntrace_encoder_probe_returns(component);
	on = ntrace_encoder_try_features(component, 0);
	encoder->features_on = on & NTRACE_FEATURES;
}

/* Finds the hart that an encoder traces. Return: 0 or a negative error. */
int ntrace_encoder_find_hart(struct ntrace_component *component)
{
	struct device_node *node __free(device_node) =
		of_parse_phandle(component->dev->of_node, "cpus", 0);

	if (!node)
		return dev_err_probe(component->dev, -EINVAL, "no \"cpus\" property\n");
	/* of_get_cpu_hwid() is not exported to modules. */
	if (of_property_read_reg(node, 0, &component->encoder.hartid, NULL))
		return dev_err_probe(component->dev, -EINVAL, "%pOF has no hart id\n", node);
	return 0;
}

/* Finds out what an encoder supports; it was just reset. Return: 0 or a negative error. */
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
	ntrace_encoder_find_registers(component);
	ntrace_encoder_write_baseline(component);
	ntrace_encoder_probe_control(component);
	ntrace_encoder_probe_features(component);
	ntrace_filter_init(component);
	ntrace_trigger_init(component);
	ntrace_timestamp_init(component);

	if (!encoder->modes)
		return ntrace_component_refuse(component,
					       "supports neither BTM nor HTM (trTeInstMode)");
	if (!encoder->sync_modes || !encoder->sync_maxes)
		return ntrace_component_refuse(component,
					       "takes no trTeInstSyncMode or trTeInstSyncMax");
	if (encoder->features_on & ~encoder->features)
		return ntrace_component_refuse(component,
					       "lacks trTeInstImplicitReturnMode other than 0");
	return 0;
}

/**
 * ntrace_encoder_set_source - set the source ID of an encoder
 * @component: encoder
 * @src: trTeSrcID
 * @least: least trTeSrcBits, 0 if the sink is not shared
 * @width: trTeSrcBits that the sink has for other encoders; 0: there are none yet
 *
 * An encoder keeps the width that it came with unless a wider one is needed. Bits of its SRC may be
 * wired, as many as its width has.
 * If the sink is not shared, trTeInhibitSrc leaves SRC out. Without that field, a width of 0 is not
 * believed either: it may read back while SRC is sent.
 *
 * Return: the width in effect, 0 if the sink is not shared; or -EOPNOTSUPP, with the field in
 * @component->encoder.lacks.
 */
int ntrace_encoder_set_source(struct ntrace_component *component, u32 src, u32 least, u32 width)
{
	struct ntrace_encoder *encoder = &component->encoder;
	u32 came_src = FIELD_GET(TR_TE_FEATURE_SRC_ID_MASK, encoder->came);
	u32 came_bits = FIELD_GET(TR_TE_FEATURE_SRC_BITS_MASK, encoder->came);
	u32 wider = encoder->src_widths & ~(BIT(least) - 1);
	bool none = encoder->control_on & TR_TE_CONTROL_INHIBIT_SRC;

	if (!came_bits && !encoder->leaves_out_src && encoder->src_widths & ~BIT(0))
		came_bits = __ffs(encoder->src_widths & ~BIT(0));
	encoder->sources = FIELD_PREP(TR_TE_FEATURE_SRC_ID_MASK, came_src) |
			   FIELD_PREP(TR_TE_FEATURE_SRC_BITS_MASK, came_bits);
	encoder->shared = least;
	encoder->src = came_src;
	encoder->src_bits = encoder->leaves_out_src ? 0 : came_bits;
	if (!least)
		return 0;
	if (none) {
		encoder->lacks = "trTeInhibitSrc";
		return -EOPNOTSUPP;
	}
	if (!width)
		width = came_bits >= least ? came_bits : wider ? __ffs(wider) : least;
	if (width < least || (width != came_bits && !(encoder->src_widths & BIT(width)))) {
		encoder->lacks = "trTeSrcBits";
		return -EOPNOTSUPP;
	}
	src = ((src & encoder->src_ids) | encoder->src_wired) & (BIT(width) - 1);
	encoder->src = src;
	encoder->src_bits = width;
	encoder->sources = FIELD_PREP(TR_TE_FEATURE_SRC_ID_MASK, src) |
			   FIELD_PREP(TR_TE_FEATURE_SRC_BITS_MASK, width);
	return width;
}

/* A feature that hides calls, and one that needs them, exclude each other. */
static int ntrace_encoder_check_features(const struct ntrace_component *component,
					 struct ntrace_config *config)
{
	const struct ntrace_encoder *encoder = &component->encoder;
	u32 both = NTRACE_FEATURE_ALL_JUMPS | NTRACE_FEATURE_IMPLICIT_RETURN;
	/* A hart would wait for a sink that has stopped, until somebody resets it. */
	u32 forever = NTRACE_CONFIG_STALL | NTRACE_CONFIG_STOP_ON_WRAP;
	u32 wired = encoder->features_on & ~config->features;

	if (config->features & ~NTRACE_FEATURES || (config->features & both) == both ||
	    (config->flags & forever) == forever)
		return -EINVAL;
	if (config->features & ~encoder->features)
		return ntrace_encoder_lacks_features(component,
						     config->features & ~encoder->features);
	if (config->flags & NTRACE_CONFIG_STALL && !encoder->stall)
		return ntrace_component_lacks(component, "trTeInstStallEna", 1);
	/*
	 * What is hard-wired is in effect. But an encoder that does not compare whole addresses
	 * leaves out returns to other places, such as those of a task switch, and no decoder can
	 * find out where they went: the caller must ask for that.
	 */
	if (wired & NTRACE_FEATURE_IMPLICIT_RETURN &&
	    FIELD_GET(TR_TE_FEATURE_IMPLICIT_RETURN_MODE_MASK, encoder->features) !=
		    TR_TE_IMPLICIT_RETURN_COMPARED)
		return ntrace_component_lacks(component, "trTeInstEnImplicitReturn", 0);
	config->features |= wired;
	if ((config->features & both) == both)
		return ntrace_encoder_lacks_features(component,
						     (config->features & ~wired & both) ?: both);
	if (encoder->control_on & TR_TE_CONTROL_INST_STALL_ENA)
		config->flags |= NTRACE_CONFIG_STALL;
	if ((config->flags & forever) == forever)
		return ntrace_component_lacks(component, "trTeInstStallEna", 0);
	return 0;
}

/*
 * An encoder that always synchronizes does so as rarely as it can if it should not. Not all
 * intervals may exist: the next shorter one, else the shortest, is as good.
 */
static int ntrace_encoder_check_sync(const struct ntrace_component *component,
				     struct ntrace_config *config)
{
	static const u8 fallbacks[] = { NTRACE_SYNC_MESSAGES, NTRACE_SYNC_PARCELS,
					NTRACE_SYNC_CYCLES };
	const struct ntrace_encoder *encoder = &component->encoder;
	u32 shorter, i;

	if (config->sync_mode == NTRACE_SYNC_OFF && !(encoder->sync_modes & BIT(NTRACE_SYNC_OFF))) {
		for (i = 0; i < ARRAY_SIZE(fallbacks) - 1; i++)
			if (encoder->sync_modes & BIT(fallbacks[i]))
				break;
		config->sync_mode = fallbacks[i];
		config->sync_max = encoder->sync_max;
	}
	if (!(encoder->sync_modes & BIT(config->sync_mode)))
		return ntrace_component_lacks(component, "trTeInstSyncMode", config->sync_mode);
	if (config->sync_mode == NTRACE_SYNC_OFF)
		return 0;
	if (config->sync_max > encoder->sync_max || (config->sync_mode == NTRACE_SYNC_MESSAGES &&
						     config->sync_max < encoder->sync_messages_min))
		return ntrace_component_lacks(component, "trTeInstSyncMax", config->sync_max);
	shorter = encoder->sync_maxes & (2 * BIT(config->sync_max) - 1);
	config->sync_max = shorter ? __fls(shorter) : __ffs(encoder->sync_maxes);
	return 0;
}

/*
 * Checks a configuration, and fills in its defaults and what is hard-wired. The log names the
 * field that does not take a value.
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
	if (!(encoder->modes & BIT(config->mode)))
		return ntrace_component_lacks(component, "trTeInstMode", config->mode);
	ret = ntrace_encoder_check_sync(component, config);
	if (ret)
		return ret;
	if (config->flags & NTRACE_CONFIG_CONTEXT && !encoder->context)
		return ntrace_component_lacks(component, "trTeContext", 1);
	ret = ntrace_encoder_check_features(component, config);
	if (!ret)
		ret = ntrace_timestamp_check(component, config);
	if (!ret)
		ret = ntrace_trigger_check(component, config);
	if (ret)
		return ret;

	return ntrace_filter_check(component, config);
}

static bool ntrace_encoder_inhibits_src(const struct ntrace_encoder *encoder)
{
	return encoder->leaves_out_src && !encoder->shared;
}

/* Writes trTeInstFeatures. Return: 0 or -EOPNOTSUPP. */
static int ntrace_encoder_program_features(struct ntrace_component *component,
					   const struct ntrace_config *config)
{
	struct ntrace_encoder *encoder = &component->encoder;
	u32 wanted = encoder->sources | config->features;
	u32 features;

	if (!ntrace_encoder_has_features(encoder))
		return 0;
	if (config->features & NTRACE_FEATURE_IMPLICIT_RETURN)
		wanted |= encoder->features & TR_TE_FEATURE_IMPLICIT_RETURN_MODE_MASK;
	features = ntrace_component_warl(component, TR_TE_INST_FEATURES, wanted);
	if ((features ^ wanted) & NTRACE_FEATURES)
		return ntrace_encoder_lacks_features(component,
						     (features ^ wanted) & NTRACE_FEATURES);
	if ((features ^ wanted) & TR_TE_FEATURE_IMPLICIT_RETURN_MODE_MASK &&
	    config->features & NTRACE_FEATURE_IMPLICIT_RETURN)
		return ntrace_component_lacks(component, "trTeInstImplicitReturnMode",
					      FIELD_GET(TR_TE_FEATURE_IMPLICIT_RETURN_MODE_MASK,
							wanted));
	/* Only the source ID tells the encoders of a shared sink apart. */
	if (encoder->shared && (features ^ wanted) & NTRACE_SOURCES)
		return ntrace_component_lacks(component, "trTeSrcID or trTeSrcBits", encoder->src);
	encoder->src = FIELD_GET(TR_TE_FEATURE_SRC_ID_MASK, features);
	encoder->src_bits = ntrace_encoder_inhibits_src(encoder) ?
				    0 :
				    FIELD_GET(TR_TE_FEATURE_SRC_BITS_MASK, features);
	return 0;
}

/* Return: 0, or -EOPNOTSUPP if a used field of trTeControl does not read back as written. */
static int ntrace_encoder_program_control(struct ntrace_component *component, u32 unused)
{
	struct ntrace_encoder *encoder = &component->encoder;
	u32 control = ntrace_component_warl(component, TR_TE_CONTROL, encoder->control);
	u32 mask;
	int i;

	for (i = 0; i < ARRAY_SIZE(ntrace_encoder_fields); i++) {
		mask = ntrace_encoder_fields[i].mask;
		if (!((control ^ encoder->control) & mask & ~unused))
			continue;
		return ntrace_component_lacks(component, ntrace_encoder_fields[i].name,
					      (encoder->control & mask) >> __ffs(mask));
	}
	return 0;
}

/*
 * Writes a configuration that ntrace_encoder_check() accepted into an encoder that was just reset,
 * or is disabled.
 * Return: 0, -EOPNOTSUPP if a register does not read back as written, -ETIMEDOUT, or -EBUSY if a
 * debugger owns the encoder.
 */
int ntrace_encoder_program(struct ntrace_component *component, const struct ntrace_config *config)
{
	struct ntrace_encoder *encoder = &component->encoder;
	u32 unused = 0;
	int ret;

	if (ntrace_component_is_foreign(component))
		return ntrace_component_refuse_foreign(component);
	ntrace_encoder_write_baseline(component);
	ret = ntrace_encoder_program_features(component, config);
	if (ret)
		return ret;

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
	if (ntrace_encoder_inhibits_src(encoder))
		encoder->control |= TR_TE_CONTROL_INHIBIT_SRC;
	if (config->sync_mode == NTRACE_SYNC_OFF)
		unused = TR_TE_CONTROL_INST_SYNC_MAX_MASK;
	/* Harmless: Ownership messages, and triggers that are not programmed. */
	encoder->control |= encoder->control_on;
	return ntrace_encoder_program_control(component, unused);
}

/* Writes trTeControl, unless a debugger has taken the encoder meanwhile. */
static void ntrace_encoder_control(struct ntrace_component *component, u32 control)
{
	if (!ntrace_component_is_foreign(component))
		ntrace_write(component, TR_TE_CONTROL, control);
}

/*
 * Enables a programmed encoder, whose sink is enabled. It does not trace yet. Called on the traced
 * hart with interrupts off. Setting trTeEnable also clears trTeInstStallOrOverflow.
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

/* Starts tracing with an encoder that is enabled. Called on the traced hart with interrupts off. */
void ntrace_encoder_trace(struct ntrace_component *component)
{
	const struct ntrace_encoder *encoder = &component->encoder;

	ntrace_encoder_control(component,
			       encoder->control | TR_CONTROL_ENABLE | TR_TE_CONTROL_INST_TRACING);
	if (encoder->stores)
		ntrace_context_store_to(component->cpu, component->base + encoder->stimulus);
}

/*
 * Pauses tracing until ntrace_encoder_trace(). The encoder reports both the pause and the
 * continuation in the trace: nothing is lost.
 */
void ntrace_encoder_pause(struct ntrace_component *component)
{
	ntrace_encoder_control(component, component->encoder.control | TR_CONTROL_ENABLE);
}

/*
 * Stops tracing and disables an encoder, without waiting. Called on its hart with interrupts off,
 * or while that is offline. Writes the shadow once. The shadow has 0 in trTeInstStallOrOverflow,
 * so the flag keeps its value for ntrace_component_wait_disabled(). The flag may come while the
 * encoder empties its queue. But an encoder may also clear it together with trTeEnable, so its
 * value before that is noted.
 */
void ntrace_encoder_stop(struct ntrace_component *component)
{
	struct ntrace_encoder *encoder = &component->encoder;

	if (encoder->stores)
		ntrace_context_store_to(component->cpu, NULL);
	if (component->sink)
		ntrace_ramsink_note_full(component->sink);
	encoder->noted |= ntrace_read(component, TR_TE_CONTROL) & encoder->losses;
	ntrace_encoder_control(component, encoder->control);
}
