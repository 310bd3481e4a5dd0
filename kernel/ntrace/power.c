// SPDX-License-Identifier: GPL-2.0-only
/*
 * Clocks, resets and power domains of a component, all of them optional.
 *
 * A component has power while the driver may access its registers: while it is probed, and from the
 * configuration of a capture to its release. Runtime PM counts that. What the registers contained
 * before does not matter: the first configuration after that resets and writes them all.
 */
#include <linux/clk.h>
#include <linux/device.h>
#include <linux/pm_runtime.h>
#include <linux/reset.h>

#include "component.h"

/* Makes the registers of a component accessible. May sleep. Return: 0 or a negative error. */
int ntrace_power_get(struct ntrace_component *component)
{
	return pm_runtime_resume_and_get(component->dev);
}

/* Undoes ntrace_power_get(). May sleep. */
void ntrace_power_put(struct ntrace_component *component)
{
	pm_runtime_put_sync(component->dev);
}

/* Switches on the clocks. Return: 0 or a negative error. */
int ntrace_power_resume(struct device *dev)
{
	struct ntrace_component *component = dev_get_drvdata(dev);
	int ret = clk_bulk_prepare_enable(component->clock_count, component->clocks);

	component->clocked = !ret;
	return ret;
}

/* Switches off the clocks of an inactive component. Return: 0. */
int ntrace_power_suspend(struct device *dev)
{
	struct ntrace_component *component = dev_get_drvdata(dev);

	if (component->clocked)
		clk_bulk_disable_unprepare(component->clock_count, component->clocks);
	component->clocked = false;
	return 0;
}

static void ntrace_power_off(void *data)
{
	struct ntrace_component *component = data;

	reset_control_assert(component->resets);
	ntrace_power_suspend(component->dev);
}

/*
 * Gets clocks and resets, and makes the registers accessible. The bus has attached the power
 * domains. The caller calls ntrace_power_put() after the probe, unless this fails.
 * Return: 0 or a negative error, also -EPROBE_DEFER.
 */
int ntrace_power_init(struct ntrace_component *component)
{
	struct device *dev = component->dev;
	int ret;

	ret = devm_clk_bulk_get_all(dev, &component->clocks);
	if (ret < 0)
		return dev_err_probe(dev, ret, "cannot get its clocks\n");
	component->clock_count = ret;
	component->resets = devm_reset_control_array_get_optional_shared(dev);
	if (IS_ERR(component->resets))
		return dev_err_probe(dev, PTR_ERR(component->resets), "cannot get its resets\n");

	ret = ntrace_power_resume(dev);
	if (!ret)
		ret = reset_control_deassert(component->resets);
	if (ret) {
		ntrace_power_suspend(dev);
		return dev_err_probe(dev, ret, "cannot be switched on\n");
	}
	ret = devm_add_action_or_reset(dev, ntrace_power_off, component);
	if (ret)
		return ret;
	pm_runtime_get_noresume(dev);
	/* The AMBA bus has done this, and holds the device active. */
	if (pm_runtime_enabled(dev))
		return 0;
	ret = devm_pm_runtime_set_active_enabled(dev);
	if (ret)
		pm_runtime_put_noidle(dev);
	return ret;
}
