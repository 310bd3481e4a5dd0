// SPDX-License-Identifier: GPL-2.0-only
/*
 * Devices of nodes that the kernel makes no devices of.
 *
 * The CoreSight components of Arm are "arm,primecell": they belong on the AMBA bus, which not all
 * RISC-V kernels have (CONFIG_ARM_AMBA). Without it their nodes stay without a device. Then the
 * driver makes a platform device of each that its own components lead to, and keeps these devices
 * until the module is unloaded.
 */
#include <linux/of.h>
#include <linux/of_platform.h>
#include <linux/platform_device.h>
#include <linux/slab.h>

#include "path.h"

/**
 * struct ntrace_adopted - a device that this file has made
 * @node: in the list of all of them
 * @pdev: the device
 */
struct ntrace_adopted {
	struct list_head node;
	struct platform_device *pdev;
};

static DEFINE_MUTEX(ntrace_adopt_lock); /* the list */
static LIST_HEAD(ntrace_adopted);

/* Does the kernel leave this node to the driver? */
static bool ntrace_adopt_wants(const struct device_node *node)
{
	return !IS_ENABLED(CONFIG_ARM_AMBA) && of_device_is_compatible(node, "arm,primecell") &&
	       of_match_node(ntrace_layouts, node);
}

/* Makes the device of a neighbour, which probes it, and that may make further devices. */
static int ntrace_adopt_one(struct device_node *node, void *data)
{
	const struct device *dev = data;
	struct ntrace_adopted *adopted;

	if (!ntrace_adopt_wants(node))
		return 0;
	adopted = kzalloc(sizeof(*adopted), GFP_KERNEL);
	if (!adopted)
		return 0;
	/* NULL as well if the node has a device, or is disabled. */
	adopted->pdev = of_platform_device_create(node, NULL, dev->parent);
	if (!adopted->pdev) {
		kfree(adopted);
		return 0;
	}
	guard(mutex)(&ntrace_adopt_lock);
	list_add(&adopted->node, &ntrace_adopted);
	return 0;
}

/*
 * Makes the devices of the components after one that has been probed. The caller holds no lock of
 * the driver.
 */
void ntrace_adopt(struct device *dev)
{
	ntrace_graph_visit(dev->of_node, "out-ports", ntrace_adopt_one, dev);
}

/** ntrace_adopt_exit - remove the devices; the driver is unregistered */
void ntrace_adopt_exit(void)
{
	struct ntrace_adopted *adopted, *next;

	list_for_each_entry_safe(adopted, next, &ntrace_adopted, node) {
		list_del(&adopted->node);
		of_platform_device_destroy(&adopted->pdev->dev, NULL);
		kfree(adopted);
	}
}
