// SPDX-License-Identifier: GPL-2.0-only
/* Clocks, resets and runtime PM of a component, and what happens if one of them is not available. */
#include <tap.h>

#ifndef EPROBE_DEFER
#define EPROBE_DEFER 517
#endif

#include <linux/of_reserved_mem.h>

#include "../../kernel/ntrace/power.c"
#include "host/machine.h"

int host_allocations = -1;

/* What the frameworks return, and the state of the hardware. */
static struct {
	int clocks, enable, deassert, runtime, resets;
	int clocked, released, references;
	bool by_bus;
	void (*undo)(void *data);
	void *undo_data;
} soc;

int devm_clk_bulk_get_all(struct device *dev, struct clk_bulk_data **clocks)
{
	return soc.clocks;
}

int clk_bulk_prepare_enable(int count, const struct clk_bulk_data *clocks)
{
	if (!soc.enable)
		soc.clocked += count;
	return soc.enable;
}

void clk_bulk_disable_unprepare(int count, const struct clk_bulk_data *clocks)
{
	soc.clocked -= count;
}

struct reset_control *devm_reset_control_array_get_optional_shared(struct device *dev)
{
	return soc.resets ? ERR_PTR(soc.resets) : NULL;
}

int reset_control_deassert(struct reset_control *resets)
{
	if (!soc.deassert)
		soc.released++;
	return soc.deassert;
}

int reset_control_assert(struct reset_control *resets)
{
	soc.released--;
	return 0;
}

int devm_add_action_or_reset(struct device *dev, void (*action)(void *), void *data)
{
	soc.undo = action;
	soc.undo_data = data;
	return 0;
}

void pm_runtime_get_noresume(struct device *dev)
{
	soc.references++;
}

void pm_runtime_put_noidle(struct device *dev)
{
	soc.references--;
}

bool pm_runtime_enabled(const struct device *dev)
{
	return soc.by_bus;
}

int devm_pm_runtime_set_active_enabled(struct device *dev)
{
	ok(!soc.by_bus, "runtime PM is enabled once");
	return soc.runtime;
}

int pm_runtime_resume_and_get(struct device *dev)
{
	soc.references++;
	return 0;
}

int pm_runtime_put_sync(struct device *dev)
{
	soc.references--;
	return 0;
}

static struct ntrace_component component;
static struct device dev = { .driver_data = &component };

/* Unbinds. */
static void leave(void)
{
	if (soc.undo)
		soc.undo(soc.undo_data);
	is_u64((u64)soc.clocked, 0, "unbound: no clock is enabled");
	is_u64((u64)soc.released, 0, "and the resets are asserted");
}

static void fails(int error, const char *what)
{
	component = (struct ntrace_component){ .dev = &dev };
	is_u64((u64)ntrace_power_init(&component), (u64)error, "%s", what);
	is_u64((u64)soc.references, 0, "%s: no reference", what);
	leave();
	memset(&soc, 0, sizeof(soc));
}

int main(void)
{
	component.dev = &dev;
	is_u64((u64)ntrace_power_init(&component), 0, "no clocks, no resets");
	is_u64((u64)soc.references, 1, "it has power for the probe");
	ntrace_power_put(&component);
	is_u64((u64)soc.references, 0, "which ends");
	leave();
	memset(&soc, 0, sizeof(soc));

	component = (struct ntrace_component){ .dev = &dev };
	soc.clocks = 2;
	is_u64((u64)ntrace_power_init(&component), 0, "two clocks");
	ok(soc.clocked == 2 && soc.released == 1, "are enabled, and the resets are not asserted");
	ntrace_power_suspend(component.dev);
	ok(!soc.clocked && soc.released == 1, "suspended: only the clocks are off");
	is_u64((u64)ntrace_power_resume(component.dev), 0, "resumed");
	is_u64((u64)soc.clocked, 2, "they are on");
	leave();
	memset(&soc, 0, sizeof(soc));

	component = (struct ntrace_component){ .dev = &dev };
	soc.by_bus = true;
	is_u64((u64)ntrace_power_init(&component), 0, "the AMBA bus has enabled runtime PM");
	is_u64((u64)soc.references, 1, "it has power for the probe, too");
	leave();
	memset(&soc, 0, sizeof(soc));

	soc.clocks = -EPROBE_DEFER;
	fails(-EPROBE_DEFER, "the clocks are not there yet");
	soc.clocks = 1;
	soc.resets = -EPROBE_DEFER;
	fails(-EPROBE_DEFER, "the resets are not there yet");
	soc.clocks = 1;
	soc.enable = -EIO;
	fails(-EIO, "a clock cannot be enabled");
	soc.clocks = 1;
	soc.deassert = -EIO;
	fails(-EIO, "a reset cannot be deasserted");
	soc.clocks = 1;
	soc.runtime = -EACCES;
	fails(-EACCES, "no runtime PM");
	return done_testing();
}
