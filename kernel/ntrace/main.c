// SPDX-License-Identifier: GPL-2.0-only
/*
 * RISC-V N-Trace driver: the platform driver.
 *
 * One platform device per component of the Trace Control Interface 1.0, as in
 * Documentation/devicetree/bindings/trace/riscv,trace-component.yaml, or per pre-ratification
 * encoder or funnel, as in sifive,trace-encoder0.yaml; or per CoreSight component of Arm that they
 * send to.
 */
#include <linux/amba/bus.h>
#include <linux/module.h>
#include <linux/of.h>
#include <linux/platform_device.h>
#include <linux/pm.h>
#include <linux/pm_runtime.h>

#include "path.h"
#include "version.h"

/* Counters of 64 bits and addresses are read and written without a lock: depends on 64BIT. */
#ifndef CONFIG_64BIT
#error "ntrace needs a 64-bit kernel"
#endif

/* A device of any bus. */
static int ntrace_bind(struct device *dev, struct resource *resource)
{
	struct ntrace_component *component;
	const struct of_device_id *match = of_match_node(ntrace_layouts, dev->of_node);
	int ret;

	if (!match)
		return -ENODEV;
	component = devm_kzalloc(dev, sizeof(*component), GFP_KERNEL);
	if (!component)
		return -ENOMEM;
	component->dev = dev;
	component->layout = match->data;
	ntrace_component_set_hart(component, ntrace_graph_cpu(dev->of_node));
	component->base = devm_ioremap_resource(dev, resource);
	if (IS_ERR(component->base))
		return PTR_ERR(component->base);
	if (resource_size(resource) < TR_COMPONENT_SIZE)
		return dev_err_probe(dev, -EINVAL, "register region is smaller than a page\n");
	component->start = resource->start;
	dev_set_drvdata(dev, component);

	ret = ntrace_power_init(component);
	if (ret)
		return ret;
	scoped_guard(mutex, &ntrace_lock) ret = ntrace_probe_component(component);
	ntrace_power_put(component);
	return ret;
}

static void ntrace_unbind(struct device *dev)
{
	guard(mutex)(&ntrace_lock);
	ntrace_topology_remove(dev_get_drvdata(dev));
}

static int ntrace_probe(struct platform_device *pdev)
{
	struct resource *resource = platform_get_resource(pdev, IORESOURCE_MEM, 0);

	return resource ? ntrace_bind(&pdev->dev, resource) : -EINVAL;
}

static void ntrace_remove(struct platform_device *pdev)
{
	ntrace_unbind(&pdev->dev);
}

static void ntrace_shutdown(struct platform_device *pdev)
{
	ntrace_topology_shutdown(platform_get_drvdata(pdev));
}

static int ntrace_suspend(struct device *dev)
{
	ntrace_topology_suspend(dev_get_drvdata(dev));
	return pm_runtime_force_suspend(dev);
}

/* After all devices have been resumed: a path needs all of its components. */
static void ntrace_complete(struct device *dev)
{
	ntrace_topology_resume(dev_get_drvdata(dev));
}

static const struct dev_pm_ops ntrace_pm_ops = {
	SYSTEM_SLEEP_PM_OPS(ntrace_suspend, pm_runtime_force_resume)
		RUNTIME_PM_OPS(ntrace_power_suspend, ntrace_power_resume, NULL)
			.complete = pm_sleep_ptr(ntrace_complete),
};

static const struct attribute_group *ntrace_groups[] = {
	&ntrace_portsink_group,
	&ntrace_topology_group,
	NULL,
};

static struct platform_driver ntrace_driver = {
	.probe = ntrace_probe,
	.remove = ntrace_remove,
	.shutdown = ntrace_shutdown,
	.driver = {
		.name = "ntrace",
		.of_match_table = ntrace_layouts,
		.pm = pm_ptr(&ntrace_pm_ops),
		.dev_groups = ntrace_groups,
	},
};

/* The components of Arm on the AMBA bus, unless the kernel has drivers of its own for them. */
#define NTRACE_AMBA (IS_ENABLED(CONFIG_ARM_AMBA) && !IS_ENABLED(CONFIG_CORESIGHT))

static int ntrace_amba_probe(struct amba_device *adev, const struct amba_id *id)
{
	return ntrace_bind(&adev->dev, &adev->res);
}

static void ntrace_amba_remove(struct amba_device *adev)
{
	ntrace_unbind(&adev->dev);
}

static void ntrace_amba_shutdown(struct amba_device *adev)
{
	ntrace_topology_shutdown(amba_get_drvdata(adev));
}

/* The parts that Arm has designed (JEP106 code 0x23b), of CoreSight SoC-400 and SoC-600. */
static const struct amba_id ntrace_amba_ids[] = {
	{ .id = 0x000bb908, .mask = 0x000fffff }, /* funnel */
	{ .id = 0x000bb961, .mask = 0x000fffff }, /* TMC */
	{ .id = 0x000bb9e8, .mask = 0x000fffff }, /* SoC-600: ETR */
	{ .id = 0x000bb9ea, .mask = 0x000fffff }, /* SoC-600: ETF */
	{ .id = 0x000bb9eb, .mask = 0x000fffff }, /* SoC-600: funnel */
	{ /* sentinel */ },
};
MODULE_DEVICE_TABLE(amba, ntrace_amba_ids);

static struct amba_driver ntrace_amba_driver = {
	.drv = {
		.name = "ntrace",
		.pm = pm_ptr(&ntrace_pm_ops),
	},
	.probe = ntrace_amba_probe,
	.remove = ntrace_amba_remove,
	.shutdown = ntrace_amba_shutdown,
	.id_table = ntrace_amba_ids,
};

static int __init ntrace_init(void)
{
	int ret;

	BUILD_BUG_ON(sizeof(struct ntrace_control) > PAGE_SIZE);
	ntrace_context_init();
	ret = ntrace_topology_init(&ntrace_chardev_path_ops);
	if (ret)
		return ret;
	ret = ntrace_chardev_init();
	if (ret)
		goto topology;
	ret = ntrace_perf_init();
	if (ret)
		goto chardev;
	ret = ntrace_probe_init();
	if (ret)
		goto perf;
	ret = platform_driver_register(&ntrace_driver);
	if (ret)
		goto probe;
	ret = NTRACE_AMBA ? amba_driver_register(&ntrace_amba_driver) : 0;
	if (ret)
		goto driver;
	ntrace_debug_init();
	return 0;

driver:
	platform_driver_unregister(&ntrace_driver);
probe:
	ntrace_probe_exit();
perf:
	ntrace_perf_exit();
chardev:
	ntrace_chardev_exit();
topology:
	ntrace_topology_exit();
	return ret;
}
module_init(ntrace_init);

static void __exit ntrace_exit(void)
{
	ntrace_debug_exit();
	if (NTRACE_AMBA)
		amba_driver_unregister(&ntrace_amba_driver);
	platform_driver_unregister(&ntrace_driver);
	ntrace_probe_exit();
	ntrace_perf_exit();
	ntrace_chardev_exit();
	ntrace_topology_exit();
	ntrace_context_exit();
}
module_exit(ntrace_exit);

MODULE_DESCRIPTION("RISC-V N-Trace trace encoder and sink driver");
MODULE_VERSION(NTRACE_VERSION);
MODULE_LICENSE("GPL");
