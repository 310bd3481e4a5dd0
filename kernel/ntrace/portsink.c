// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sinks without memory: the PIB sink (trPib... registers), which sends trace out on pins, and the
 * ATB bridge (trAtbBridge...), which passes trace to a CoreSight system. A bridge with connected
 * "out-ports" is no sink: the driver knows the rest of the way, and chooses the source ID.
 *
 * There is nothing to drain: the device at the other end gets the trace. The wiring of the pins is
 * a property of the board, the source ID on the bus one of the CoreSight system. No register tells
 * either, and a wrong guess drives pins that are used otherwise, or mixes two traces. So both are
 * attributes of the sink's device, written once, and not part of each configuration. The sink
 * sends nothing until they are written.
 */
#include <linux/bitfield.h>
#include <linux/device.h>
#include <linux/kstrtox.h>
#include <linux/ktime.h>
#include <linux/of.h>
#include <linux/sysfs.h>

#include "component.h"

static u32 ntrace_portsink_control(const struct ntrace_component *component)
{
	const struct ntrace_portsink *port = &component->port;

	if (component->type == TR_COMP_TYPE_ATB_BRIDGE)
		return TR_CONTROL_ACTIVE | FIELD_PREP(TR_ATB_CONTROL_ID_MASK, port->id);
	return TR_CONTROL_ACTIVE | FIELD_PREP(TR_PIB_CONTROL_MODE_MASK, port->mode) |
	       FIELD_PREP(TR_PIB_CONTROL_DIVIDER_MASK, port->divider) |
	       (port->center ? TR_PIB_CONTROL_CLK_CENTER : 0) |
	       (port->calibrate ? TR_PIB_CONTROL_CALIBRATE : 0);
}

static void ntrace_portsink_init_pib(struct ntrace_component *component)
{
	struct ntrace_portsink *port = &component->port;
	u32 control, mode;

	for (mode = 1; mode <= FIELD_MAX(TR_PIB_CONTROL_MODE_MASK); mode++) {
		control = TR_CONTROL_ACTIVE | FIELD_PREP(TR_PIB_CONTROL_MODE_MASK, mode);
		control = ntrace_component_warl(component, TR_PIB_CONTROL, control);
		if (FIELD_GET(TR_PIB_CONTROL_MODE_MASK, control) == mode)
			port->modes |= BIT(mode);
	}
	control = ntrace_component_warl(component, TR_PIB_CONTROL,
					TR_CONTROL_ACTIVE | TR_PIB_CONTROL_DIVIDER_MASK);
	port->divider_max = FIELD_GET(TR_PIB_CONTROL_DIVIDER_MASK, control);
}

/* The source ID may be hard-wired. */
static void ntrace_portsink_init_atb(struct ntrace_component *component)
{
	u32 zero = ntrace_component_warl(component, TR_ATB_CONTROL, TR_CONTROL_ACTIVE);
	u32 ones = ntrace_component_warl(component, TR_ATB_CONTROL,
					 TR_CONTROL_ACTIVE | TR_ATB_CONTROL_ID_MASK);

	component->port.id_bits = FIELD_GET(TR_ATB_CONTROL_ID_MASK, ones & ~zero);
	component->port.id = FIELD_GET(TR_ATB_CONTROL_ID_MASK, zero);
}

/*
 * Writes the attributes into the registers.
 *
 * Return: 0, -EDESTADDRREQ if an attribute must be set first, -EOPNOTSUPP if a register does not
 * read back as written.
 */
static int ntrace_portsink_program(struct ntrace_component *component,
				   const struct ntrace_config *config)
{
	const struct ntrace_portsink *port = &component->port;
	u32 control = ntrace_portsink_control(component);
	bool atb = component->type == TR_COMP_TYPE_ATB_BRIDGE;

	if (atb ? port->id < TR_ATB_ID_MIN || port->id > TR_ATB_ID_MAX : !port->mode) {
		ntrace_err(component->dev, "no trace is sent before %s/%s is set\n",
			   dev_name(component->dev), atb ? "atb_id" : "pib_mode");
		return -EDESTADDRREQ;
	}
	component->fixed = control;
	if ((ntrace_component_warl(component, TR_CONTROL, control) ^ control) & ~TR_CONTROL_EMPTY)
		return -EOPNOTSUPP;
	return 0;
}

static const struct ntrace_ops ntrace_portsink_ops = {
	.program = ntrace_portsink_program,
	.start = ntrace_component_start,
	.stop = ntrace_component_stop,
	.halt = ntrace_component_halt,
};

/*
 * Some bridges may not have Empty. The parts after such a bridge are flushed, and its trace passes
 * it in less than the time that is waited here. Return: 0 or -ETIMEDOUT.
 */
static int ntrace_bridge_stop(struct ntrace_component *component, bool atomic)
{
	u64 deadline = ktime_get_mono_fast_ns() + NTRACE_TIMEOUT_ATOMIC_US * NSEC_PER_USEC;
	u32 control;
	int ret;

	ntrace_component_halt(component);
	ret = ntrace_component_poll(component, TR_CONTROL, TR_CONTROL_ENABLE, 0, true, &control);
	if (ret)
		ntrace_err(component->dev, "%s does not stop (control 0x%08x)\n",
			   ntrace_type_name(component->type), control);
	else
		ntrace_component_await_empty(component, deadline);
	return ret;
}

static const struct ntrace_ops ntrace_bridge_ops = {
	.program = ntrace_portsink_program,
	.start = ntrace_component_start,
	.stop = ntrace_bridge_stop,
};

/*
 * Is the bridge in the middle of a path? The CoreSight drivers of a kernel that has them use the
 * components after it; then it is a sink.
 */
static bool ntrace_portsink_is_link(const struct ntrace_component *component)
{
	return component->type == TR_COMP_TYPE_ATB_BRIDGE && !IS_ENABLED(CONFIG_CORESIGHT) &&
	       ntrace_graph_is_connected(component->dev->of_node, "out-ports");
}

/* Finds out what a PIB sink or an ATB bridge supports; it was just reset. Return: 0 or -ENODEV. */
int ntrace_portsink_init(struct ntrace_component *component)
{
	if (ntrace_portsink_is_link(component)) {
		component->ops = &ntrace_bridge_ops;
		component->is_link = true;
		ntrace_portsink_init_atb(component);
		return 0;
	}
	ntrace_sink_setup(component, &ntrace_portsink_ops);
	if (component->type == TR_COMP_TYPE_ATB_BRIDGE)
		ntrace_portsink_init_atb(component);
	else
		ntrace_portsink_init_pib(component);
	if (component->type == TR_COMP_TYPE_PIB_SINK && !component->port.modes)
		return ntrace_component_refuse(component, "has no usable mode");
	return 0;
}

/* A number in sysfs: a member of struct ntrace_portsink. */
struct ntrace_portsink_attribute {
	struct device_attribute attr; /* attribute of the sink's device */
	u32 type; /* TR_COMP_TYPE_... that has the attribute */
	size_t offset; /* offset of the member */
};

static u32 *ntrace_portsink_member(struct device *dev, struct device_attribute *attr)
{
	struct ntrace_component *component = dev_get_drvdata(dev);

	return (void *)&component->port +
	       container_of(attr, struct ntrace_portsink_attribute, attr)->offset;
}

/* Tells whether a member that users write may have a value. */
static bool ntrace_portsink_takes(const struct ntrace_portsink *port, const u32 *member, u32 value)
{
	if (member == &port->mode)
		return value < 32 && (port->modes | BIT(0)) & BIT(value);
	if (member == &port->divider)
		return value <= port->divider_max;
	if (member == &port->id)
		return value == port->id || (value >= TR_ATB_ID_MIN && value <= TR_ATB_ID_MAX &&
					     !(value & ~port->id_bits));
	return value <= 1;
}

static ssize_t ntrace_portsink_show(struct device *dev, struct device_attribute *attr, char *buffer)
{
	return sysfs_emit(buffer, "%#x\n", READ_ONCE(*ntrace_portsink_member(dev, attr)));
}

static ssize_t ntrace_portsink_store(struct device *dev, struct device_attribute *attr,
				     const char *buffer, size_t size)
{
	struct ntrace_component *component = dev_get_drvdata(dev);
	u32 *member = ntrace_portsink_member(dev, attr), value;
	int ret = kstrtou32(buffer, 0, &value);

	if (ret)
		return ret;
	if (!ntrace_portsink_takes(&component->port, member, value))
		return -EINVAL;
	/* The next configuration writes the register. */
	guard(mutex)(&component->ramsink.mutex);
	if (component->held)
		return -EBUSY;
	WRITE_ONCE(*member, value);
	return size;
}

/* sysfs allows no store where the mode does not. */
#define NTRACE_PORTSINK_ATTR(_name, _mode, _type, _member)				\
	(&((struct ntrace_portsink_attribute[]) {					\
		{ __ATTR(_name, _mode, ntrace_portsink_show, ntrace_portsink_store),	\
		  TR_COMP_TYPE_##_type, offsetof(struct ntrace_portsink, _member) }	\
	})[0].attr.attr)

static struct attribute *ntrace_portsink_attrs[] = {
	NTRACE_PORTSINK_ATTR(pib_mode, 0644, PIB_SINK, mode),
	NTRACE_PORTSINK_ATTR(pib_modes, 0444, PIB_SINK, modes),
	NTRACE_PORTSINK_ATTR(pib_divider, 0644, PIB_SINK, divider),
	NTRACE_PORTSINK_ATTR(pib_divider_max, 0444, PIB_SINK, divider_max),
	NTRACE_PORTSINK_ATTR(pib_clock_center, 0644, PIB_SINK, center),
	NTRACE_PORTSINK_ATTR(pib_calibrate, 0644, PIB_SINK, calibrate),
	NTRACE_PORTSINK_ATTR(atb_id, 0644, ATB_BRIDGE, id),
	NULL,
};

static umode_t ntrace_portsink_visible(struct kobject *kobj, struct attribute *attr, int index)
{
	const struct ntrace_component *component = dev_get_drvdata(kobj_to_dev(kobj));
	const struct ntrace_portsink_attribute *attribute =
		container_of(attr, struct ntrace_portsink_attribute, attr.attr);

	if (!component || component->type != attribute->type)
		return 0;
	/* The driver chooses the ID of a bridge on a path. */
	return component->is_link ? attr->mode & 0444 : attr->mode;
}

/*
 * For the devices of all components; ntrace_portsink_visible() hides the attributes of other
 * types.
 */
const struct attribute_group ntrace_portsink_group = {
	.attrs = ntrace_portsink_attrs,
	.is_visible = ntrace_portsink_visible,
};
