// SPDX-License-Identifier: GPL-2.0-only
/*
 * Register layouts: the ratified one (Trace Control Interface 1.0), in which tr??Impl tells type
 * and version, and which compatible string has which.
 */
#include <linux/bitfield.h>
#include <linux/device.h>
#include <linux/module.h>

#include "component.h"

static int ntrace_v1_check_version(struct ntrace_component *component)
{
	u32 major = FIELD_GET(TR_IMPL_VER_MAJOR_MASK, component->impl);
	u32 minor = FIELD_GET(TR_IMPL_VER_MINOR_MASK, component->impl);

	if (!major)
		return ntrace_component_refuse(component, "is pre-ratification");
	if (major != TR_VER_MAJOR)
		return ntrace_component_refuse(component, "has an unknown major version");
	if (minor > TR_VER_MINOR)
		dev_warn(component->dev, "%pa: %s (impl 0x%08x) has %s version %u.%u\n",
			 &component->start, ntrace_type_name(component->type), component->impl,
			 minor == TR_VER_MINOR_EXPERIMENTAL ? "experimental" : "newer", major,
			 minor);
	return 0;
}

static const struct ntrace_ops ntrace_v1_encoder_ops = {
	.program = ntrace_encoder_program,
};

static int ntrace_v1_identify(struct ntrace_component *component)
{
	int ret;

	component->impl = ntrace_read(component, TR_IMPL);
	component->type = FIELD_GET(TR_IMPL_COMP_TYPE_MASK, component->impl);
	ret = ntrace_v1_check_version(component);
	if (ret)
		return ret;
	switch (component->type) {
	case TR_COMP_TYPE_ENCODER:
		component->ops = &ntrace_v1_encoder_ops;
		return ntrace_encoder_init(component);
	case TR_COMP_TYPE_FUNNEL:
		return ntrace_funnel_init(component);
	case TR_COMP_TYPE_RAM_SINK:
		return ntrace_ramsink_init(component);
	case TR_COMP_TYPE_PIB_SINK:
	case TR_COMP_TYPE_ATB_BRIDGE:
		return ntrace_portsink_init(component);
	default:
		return ntrace_component_refuse(component, "is not supported");
	}
}

static const struct ntrace_layout ntrace_layout_v1 = {
	.identify = ntrace_v1_identify,
	.reset = ntrace_component_reset,
	.foreign = TR_TE_CONTROL_DIS_SELF_HOSTED,
};

const struct of_device_id ntrace_layouts[] = {
	{ .compatible = "riscv,trace-component", .data = &ntrace_layout_v1 },
	{ .compatible = "riscv,trace-encoder", .data = &ntrace_layout_v1 },
	{ .compatible = "riscv,trace-funnel", .data = &ntrace_layout_v1 },
	{ .compatible = "riscv,trace-atbbridge", .data = &ntrace_layout_v1 },
	{ .compatible = "sifive,trace-encoder-v0", .data = &ntrace_layout_v0 },
	{ .compatible = "sifive,trace-encoder0", .data = &ntrace_layout_v0 },
	{ .compatible = "sifive,trace-funnel0", .data = &ntrace_layout_v0_funnel },
/* A kernel with CoreSight drivers uses the components of Arm itself. */
#if !IS_ENABLED(CONFIG_CORESIGHT)
	{ .compatible = "arm,coresight-dynamic-funnel", .data = &ntrace_layout_armfunnel },
	{ .compatible = "arm,coresight-tmc", .data = &ntrace_layout_tmc },
#endif
	{ /* sentinel */ },
};
MODULE_DEVICE_TABLE(of, ntrace_layouts);
