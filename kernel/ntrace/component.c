// SPDX-License-Identifier: GPL-2.0-only
/*
 * Functions for all components of the Trace Control Interface: reset, waiting, disabling, WARL
 * fields.
 */
#include <linux/bitfield.h>
#include <linux/device.h>
#include <linux/iopoll.h>
#include <linux/ktime.h>
#include <linux/pm_runtime.h>
#include <linux/processor.h>
#include <linux/smp.h>
#include <linux/uaccess.h>

#include "component.h"

/* Names a TR_COMP_TYPE_... in messages. */
const char *ntrace_type_name(u32 type)
{
	switch (type) {
	case TR_COMP_TYPE_ENCODER:
		return "encoder";
	case TR_COMP_TYPE_FUNNEL:
		return "funnel";
	case TR_COMP_TYPE_RAM_SINK:
		return "RAM sink";
	case TR_COMP_TYPE_PIB_SINK:
		return "PIB sink";
	case TR_COMP_TYPE_ATB_BRIDGE:
		return "ATB bridge";
	default:
		return "unknown component";
	}
}

/**
 * struct ntrace_access - an access to a register on another hart
 * @address: register
 * @value: its value; 0 if it cannot be read, because the hart is offline
 * @write: write it
 */
struct ntrace_access {
	void __iomem *address;
	u32 value;
	bool write;
};

static void ntrace_access_here(void *data)
{
	struct ntrace_access *access = data;

	if (access->write)
		writel(access->value, access->address);
	else
		access->value = readl(access->address);
}

/** ntrace_read_there - read a register on the hart of its component; interrupts are on */
u32 ntrace_read_there(const struct ntrace_component *component, u32 offset)
{
	struct ntrace_access access = { .address = component->base + offset };

	smp_call_function_single(component->cpu, ntrace_access_here, &access, 1);
	return access.value;
}

/** ntrace_write_there - write a register on the hart of its component; interrupts are on */
void ntrace_write_there(const struct ntrace_component *component, u32 offset, u32 value)
{
	struct ntrace_access access = { component->base + offset, value, true };

	smp_call_function_single(component->cpu, ntrace_access_here, &access, 1);
}

/*
 * Writes a register of WARL fields and reads it back. The component is active and disabled.
 * Return: the value that the register holds afterwards.
 */
u32 ntrace_component_warl(struct ntrace_component *component, u32 offset, u32 value)
{
	ntrace_write(component, offset, value);
	return ntrace_read(component, offset);
}

/**
 * ntrace_component_poll - wait until bits of a register have a value
 * @component: component
 * @offset: register
 * @mask: bits
 * @want: their value
 * @atomic: interrupts are off: spin, for a short time
 * @value: if not NULL, takes the last value of the register
 *
 * Return: 0, -ETIMEDOUT, or -EBUSY if a debugger owns the component.
 */
int ntrace_component_poll(const struct ntrace_component *component, u32 offset, u32 mask, u32 want,
			  bool atomic, u32 *value)
{
	u32 foreign = offset == TR_CONTROL ? component->foreign : 0, now;
	int ret;

	if (atomic)
		ret = read_poll_timeout_atomic(ntrace_read, now,
					       (now & mask) == want || now & foreign, 1,
					       NTRACE_TIMEOUT_ATOMIC_US, false, component, offset);
	else
		ret = read_poll_timeout(ntrace_read, now, (now & mask) == want || now & foreign,
					NTRACE_POLL_US, NTRACE_TIMEOUT_US, false, component,
					offset);
	if (value)
		*value = now;
	return now & foreign ? -EBUSY : ret;
}

/* Logs that a debugger owns a component. Return: -EBUSY. */
int ntrace_component_refuse_foreign(const struct ntrace_component *component)
{
	ntrace_err(component->dev, "a debugger owns the %s (trTeDisSelfHosted)\n",
		   ntrace_type_name(component->type));
	return -EBUSY;
}

/*
 * Waits until a component reports that it is enabled, whose tr??Enable has been set.
 * Return: 0, -ETIMEDOUT, or -EBUSY if a debugger owns it.
 */
int ntrace_component_wait_enabled(struct ntrace_component *component, bool atomic)
{
	u32 value;
	int ret;

	ret = ntrace_component_poll(component, TR_CONTROL, TR_CONTROL_ENABLE, TR_CONTROL_ENABLE,
				    atomic, &value);
	if (ret == -EBUSY)
		return ntrace_component_refuse_foreign(component);
	if (ret)
		ntrace_err(component->dev, "%s does not start (control 0x%08x)\n",
			   ntrace_type_name(component->type), value);
	return ret;
}

/**
 * ntrace_component_wait_disabled - wait until a disabled component has flushed
 * @component: component whose tr??Enable has been cleared
 * @atomic: interrupts are off: use the short timeout
 * @control: if not NULL, takes the last value of tr??Control
 *
 * Return: 0, -ETIMEDOUT, or -EBUSY if a debugger owns it.
 */
int ntrace_component_wait_disabled(struct ntrace_component *component, bool atomic, u32 *control)
{
	u32 value;
	int ret;

	ret = ntrace_component_poll(component, TR_CONTROL, TR_CONTROL_ENABLE | TR_CONTROL_EMPTY,
				    TR_CONTROL_EMPTY, atomic, &value);
	if (control)
		*control = value;
	if (ret == -ETIMEDOUT)
		ntrace_err(component->dev, "%s does not stop (control 0x%08x)\n",
			   ntrace_type_name(component->type), value);
	return ret;
}

/*
 * Enables a component that is programmed, disabled and empty.
 * Return: as ntrace_component_wait_enabled().
 */
int ntrace_component_start(struct ntrace_component *component, bool atomic)
{
	ntrace_write(component, TR_CONTROL,
		     TR_CONTROL_ACTIVE | component->fixed | TR_CONTROL_ENABLE);
	return ntrace_component_wait_enabled(component, atomic);
}

/* Disables a component, without waiting. */
void ntrace_component_halt(struct ntrace_component *component)
{
	ntrace_write(component, TR_CONTROL, TR_CONTROL_ACTIVE | component->fixed);
}

/*
 * Disables a component. Those that send to it have stopped and are empty.
 * Return: 0, -ETIMEDOUT, or -EBUSY if a debugger owns it.
 */
int ntrace_component_stop(struct ntrace_component *component, bool atomic)
{
	ntrace_component_halt(component);
	return ntrace_component_wait_disabled(component, atomic, NULL);
}

/**
 * ntrace_component_await_empty - wait until a shared component has passed on a hart's trace
 * @component: component that other harts use, too; the part before it is empty for this hart
 * @deadline: time at which to give up, of ktime_get_mono_fast_ns()
 *
 * Once the component is empty, all trace that entered it earlier has left. Other harts may keep it
 * from ever being empty, which is not an error.
 *
 * Return: true if the component was empty.
 */
bool ntrace_component_await_empty(const struct ntrace_component *component, u64 deadline)
{
	while (!(ntrace_read(component, TR_CONTROL) & TR_CONTROL_EMPTY)) {
		if (ktime_get_mono_fast_ns() >= deadline)
			return false;
		cpu_relax();
	}
	return true;
}

static void ntrace_try_here(void *data)
{
	struct ntrace_access *access = data;
	u32 value;

	/* A bus error is a trap of this load, too. */
	access->value =
		!get_kernel_nofault(value, (const u32 *)(__force const void *)access->address);
}

/*
 * Tells whether an optional register may be accessed. The component is active, and interrupts are
 * on. A register that does not exist should read 0, but an access may also be a bus error.
 */
bool ntrace_component_has(const struct ntrace_component *component, u32 offset)
{
	struct ntrace_access access = { .address = component->base + offset };

	if (component->of_hart)
		smp_call_function_single(component->cpu, ntrace_try_here, &access, 1);
	else
		ntrace_try_here(&access);
	return access.value;
}

/* Logs that a field does not take a value. Called in any context. Return: -EOPNOTSUPP. */
int ntrace_component_lacks(const struct ntrace_component *component, const char *field, u64 value)
{
	ntrace_err(component->dev, "%s: %s does not take %#llx\n",
		   ntrace_type_name(component->type), field, value);
	return -EOPNOTSUPP;
}

/* Clears or sets tr??Active. Software may access no other register until the bit reads back. */
static int ntrace_component_set_active(struct ntrace_component *component, u32 active)
{
	int ret;

	ntrace_write(component, TR_CONTROL, active);
	ret = ntrace_component_poll(component, TR_CONTROL, TR_CONTROL_ACTIVE, active, false, NULL);
	component->inactive = !active && !ret;
	return ret;
}

/*
 * Makes a component active, or lets one that is active already go on with what it does.
 * Return: 0 or -ETIMEDOUT.
 */
int ntrace_component_activate(struct ntrace_component *component)
{
	if (ntrace_read(component, TR_CONTROL) & TR_CONTROL_ACTIVE)
		return 0;
	return ntrace_component_set_active(component, TR_CONTROL_ACTIVE);
}

/*
 * Puts a component that has been disabled into its reset state, active.
 * Return: 0, -ETIMEDOUT, or -EBUSY if a debugger owns it.
 */
int ntrace_component_reset(struct ntrace_component *component)
{
	int ret;

	if (ntrace_component_is_foreign(component))
		return ntrace_component_refuse_foreign(component);
	ret = ntrace_component_set_active(component, 0);
	if (!ret)
		ret = ntrace_component_set_active(component, TR_CONTROL_ACTIVE);
	if (ret)
		ntrace_err(component->dev, "%s does not answer a reset\n",
			   ntrace_type_name(component->type));
	return ret;
}

/*
 * Stops a component. For components found running, before the driver knows their type. Active and
 * Enable have the same position in all types. The write keeps all other bits of tr??Control except
 * trTeInstTracing (bit 2, which is reserved and 0 in other components) and
 * trTeInstStallOrOverflow, which writing 1 would clear.
 *
 * Return: 0 if the component was idle, 1 if it was stopped, -ETIMEDOUT if it did not stop.
 */
int ntrace_registers_quiesce(struct ntrace_component *component)
{
	u32 value = ntrace_read(component, TR_CONTROL);
	int ret;

	if (!(value & TR_CONTROL_ACTIVE) || !(value & TR_CONTROL_ENABLE))
		return 0;

	value &= ~(TR_CONTROL_ENABLE | TR_TE_CONTROL_INST_TRACING |
		   TR_TE_CONTROL_INST_STALL_OR_OVERFLOW);
	ntrace_write(component, TR_CONTROL, value);
	ret = ntrace_component_poll(component, TR_CONTROL, TR_CONTROL_ENABLE | TR_CONTROL_EMPTY,
				    TR_CONTROL_EMPTY, false, NULL);
	return ret ? ret : 1;
}

/*
 * A component that is known to be inactive is not accessed: an encoder whose hart is offline may
 * have lost its power or its clock, and never answer an access. One that a debugger owns is left
 * to the debugger. Without power it does nothing; power returns with the registers reset.
 */
static bool ntrace_component_is_on(struct ntrace_component *component)
{
	u32 control;

	if (component->inactive || pm_runtime_suspended(component->dev))
		return false;
	control = ntrace_read(component, TR_CONTROL);
	if (control & component->foreign)
		return false;
	component->inactive = !(control & TR_CONTROL_ACTIVE);
	return !component->inactive;
}

/*
 * Disables a component that has been identified, and waits until it is empty. It stays active: the
 * components after it may need that, see ntrace_path_off().
 */
void ntrace_component_quiesce(struct ntrace_component *component)
{
	/* Those of Arm have no Active. They are disabled when they are switched off. */
	if (component->layout && component->layout->off)
		return;
	/* Even if the component does not flush, it is switched off as far as possible. */
	if (ntrace_component_is_on(component) && ntrace_registers_quiesce(component) < 0)
		ntrace_err(component->dev, "%s does not stop, resetting it\n",
			   ntrace_type_name(component->type));
}

/*
 * Disables a component that has been identified, and leaves it inactive. An inactive component has
 * its registers reset. So a sink keeps no address of memory that is about to be freed, which it
 * would if it were only disabled.
 * Return: 0, or -ETIMEDOUT if the component may still be running.
 */
int ntrace_component_off(struct ntrace_component *component)
{
	int ret;

	if (component->layout && component->layout->off)
		return pm_runtime_suspended(component->dev) ? 0 : component->layout->off(component);
	ntrace_component_quiesce(component);
	if (!ntrace_component_is_on(component))
		return 0;
	ret = ntrace_component_set_active(component, 0);
	if (ret)
		ntrace_err(component->dev, "%s cannot be switched off\n",
			   ntrace_type_name(component->type));
	return ret;
}

/*
 * Logs why the driver cannot use an identified component. @why is the rest of the sentence, which
 * begins with its name.
 * Return: -ENODEV.
 */
int ntrace_component_refuse(struct ntrace_component *component, const char *why)
{
	return dev_err_probe(component->dev, -ENODEV, "%pa: %s (impl 0x%08x) %s\n",
			     &component->start, ntrace_type_name(component->type), component->impl,
			     why);
}

/** ntrace_component_is_running - tell whether a component is active and enabled */
bool ntrace_component_is_running(const struct ntrace_component *component)
{
	u32 control;

	if (component->layout->is_running)
		return component->layout->is_running(component);
	control = ntrace_read(component, TR_CONTROL);
	return control & TR_CONTROL_ACTIVE && control & TR_CONTROL_ENABLE;
}

/*
 * Stops, resets, identifies and probes a component. The caller holds ntrace_lock and has stopped
 * the components that send trace to it. The component is inactive afterwards, whatever it did
 * before.
 * Return: 0 or a negative error.
 */
int ntrace_component_init(struct ntrace_component *component)
{
	const struct ntrace_layout *layout = component->layout;
	int ret;

	if (ntrace_component_is_foreign(component))
		return dev_err_probe(component->dev, -EBUSY,
				     "%pa: a debugger owns the encoder (trTeDisSelfHosted)\n",
				     &component->start);
	/* Firmware, a previous kernel or a debugger may have left it running. */
	ret = (layout->quiesce ?: ntrace_registers_quiesce)(component);
	if (ret)
		dev_info(component->dev, "%pa: found running, %s\n", &component->start,
			 ret < 0 ? "does not stop, resetting it" : "stopped");

	ret = layout->reset(component);
	if (ret)
		return ret;

	ret = layout->identify(component);
	if (ntrace_component_off(component) && !ret)
		ret = -ETIMEDOUT;
	return ret;
}
