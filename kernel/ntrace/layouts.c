// SPDX-License-Identifier: GPL-2.0-only
/* The register layout of each compatible string. */
#include <linux/module.h>

#include "component.h"

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
