// SPDX-License-Identifier: GPL-2.0-only
/*
 * The attribute "sink" of an encoder's device: which of several sinks gets its trace. An encoder
 * may have several ways out; it sends the same messages on all of them, and the sinks and funnels
 * of the path that is in use are enabled.
 */
#include <linux/device.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/sysfs.h>

#include "path.h"

static ssize_t sink_show(struct device *dev, struct device_attribute *attr, char *buffer)
{
	return ntrace_topology_show_sink(dev_get_drvdata(dev), buffer);
}

static ssize_t sink_store(struct device *dev, struct device_attribute *attr, const char *buffer,
			  size_t size)
{
	char *name __free(kfree) = kstrndup(buffer, size, GFP_KERNEL);
	int ret;

	if (!name)
		return -ENOMEM;
	ret = ntrace_topology_choose_sink(dev_get_drvdata(dev), strim(name));
	return ret ? ret : size;
}
static DEVICE_ATTR_RW(sink);

static struct attribute *ntrace_choice_attrs[] = {
	&dev_attr_sink.attr,
	NULL,
};

/* The type of an encoder that waits for its hart is not known yet. */
static umode_t ntrace_choice_visible(struct kobject *kobj, struct attribute *attr, int index)
{
	return ntrace_graph_is_of_hart(kobj_to_dev(kobj)->of_node) ? attr->mode : 0;
}

const struct attribute_group ntrace_choice_group = {
	.attrs = ntrace_choice_attrs,
	.is_visible = ntrace_choice_visible,
};
