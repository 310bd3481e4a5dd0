// SPDX-License-Identifier: GPL-2.0-only
/*
 * RISC-V N-Trace driver: the platform driver.
 *
 * One platform device per component of the Trace Control Interface 1.0, as in
 * Documentation/devicetree/bindings/trace/riscv,trace-component.yaml, or per pre-ratification
 * encoder or funnel, as in sifive,trace-encoder0.yaml.
 */
#include <linux/mod_devicetable.h>
#include <linux/module.h>
#include <linux/of.h>
#include <linux/platform_device.h>
#include <linux/pm.h>
#include <linux/pm_runtime.h>

#include "chardev.h"
#include "choice.h"
#include "component.h"
#include "context.h"
#include "debug.h"
#include "layout.h"
#include "log.h"
#include "path.h"
#include "perf.h"
#include "power.h"
#include "probe.h"
#include "sink.h"
#include "topology.h"
#include "version.h"

/* Counters of 64 bits and addresses are read and written without a lock: depends on 64BIT. */
#ifndef CONFIG_64BIT
#error "ntrace needs a 64-bit kernel"
#endif

static int ntrace_probe(struct platform_device *pdev)
{
	struct ntrace_component *component;
	struct resource *resource;
	int ret;

	component = devm_kzalloc(&pdev->dev, sizeof(*component), GFP_KERNEL);
	if (!component)
		return -ENOMEM;
	component->dev = &pdev->dev;
	component->layout = of_device_get_match_data(&pdev->dev);
	/* Only encoders can belong to a debugger. */
	if (of_property_present(pdev->dev.of_node, "cpus"))
		component->foreign = component->layout->foreign;
	component->base = devm_platform_get_and_ioremap_resource(pdev, 0, &resource);
	if (IS_ERR(component->base))
		return PTR_ERR(component->base);
	if (resource_size(resource) < TR_COMPONENT_SIZE)
		return dev_err_probe(&pdev->dev, -EINVAL,
				     "register region is smaller than a page\n");
	component->start = resource->start;
	platform_set_drvdata(pdev, component);

	ret = ntrace_power_init(component);
	if (ret)
		return ret;
	scoped_guard(mutex, &ntrace_lock) ret = ntrace_probe_component(component);
	ntrace_power_put(component);
	return ret;
}

static void ntrace_remove(struct platform_device *pdev)
{
	guard(mutex)(&ntrace_lock);
	ntrace_topology_remove(platform_get_drvdata(pdev));
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

static int ntrace_resume(struct device *dev)
{
	int ret = pm_runtime_force_resume(dev);

	if (!ret)
		ntrace_topology_resume(dev_get_drvdata(dev));
	return ret;
}

static int ntrace_runtime_suspend(struct device *dev)
{
	ntrace_power_suspend(dev_get_drvdata(dev));
	return 0;
}

static int ntrace_runtime_resume(struct device *dev)
{
	return ntrace_power_resume(dev_get_drvdata(dev));
}

static const struct dev_pm_ops ntrace_pm_ops = {
	SYSTEM_SLEEP_PM_OPS(ntrace_suspend, ntrace_resume)
		RUNTIME_PM_OPS(ntrace_runtime_suspend, ntrace_runtime_resume, NULL)
};

static const struct of_device_id ntrace_of_match[] = {
	{ .compatible = "riscv,trace-component", .data = &ntrace_layout_v1 },
	{ .compatible = "riscv,trace-encoder", .data = &ntrace_layout_v1 },
	{ .compatible = "riscv,trace-funnel", .data = &ntrace_layout_v1 },
	{ .compatible = "riscv,trace-atbbridge", .data = &ntrace_layout_v1 },
	{ .compatible = "sifive,trace-encoder-v0", .data = &ntrace_layout_v0 },
	{ .compatible = "sifive,trace-encoder0", .data = &ntrace_layout_v0 },
	{ .compatible = "sifive,trace-funnel0", .data = &ntrace_layout_v0_funnel },
	{ /* sentinel */ },
};
MODULE_DEVICE_TABLE(of, ntrace_of_match);

static const struct attribute_group *ntrace_groups[] = {
	&ntrace_portsink_group,
	&ntrace_choice_group,
	NULL,
};

static struct platform_driver ntrace_driver = {
	.probe = ntrace_probe,
	.remove = ntrace_remove,
	.shutdown = ntrace_shutdown,
	.driver = {
		.name = "ntrace",
		.of_match_table = ntrace_of_match,
		.pm = pm_ptr(&ntrace_pm_ops),
		.dev_groups = ntrace_groups,
	},
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
	ntrace_debug_init();
	return 0;

probe:
	ntrace_probe_exit();
perf:
	ntrace_perf_exit();
chardev:
	ntrace_chardev_exit();
topology:
	ntrace_topology_exit();
	ntrace_log_exit();
	return ret;
}
module_init(ntrace_init);

static void __exit ntrace_exit(void)
{
	ntrace_debug_exit();
	platform_driver_unregister(&ntrace_driver);
	ntrace_probe_exit();
	ntrace_perf_exit();
	ntrace_chardev_exit();
	ntrace_topology_exit();
	ntrace_context_exit();
	ntrace_log_exit();
}
module_exit(ntrace_exit);

MODULE_DESCRIPTION("RISC-V N-Trace trace encoder and sink driver");
MODULE_VERSION(NTRACE_VERSION);
MODULE_LICENSE("GPL");
