// SPDX-License-Identifier: GPL-2.0-only
/*
 * sysfs of the PMU "ntrace": format of the configuration, capabilities of the encoders, and their
 * CPUs.
 */
#include <linux/bitfield.h>
#include <linux/cpumask.h>
#include <linux/device.h>
#include <linux/perf_event.h>
#include <linux/sysfs.h>

#include "path.h"
#include "perf_parts.h"

PMU_FORMAT_ATTR(mode, "config:0-2");
PMU_FORMAT_ATTR(sync, "config:8-9");
PMU_FORMAT_ATTR(syncmax, "config:12-15");
PMU_FORMAT_ATTR(timestamps, "config:16-18");
PMU_FORMAT_ATTR(prescale, "config:20-21");
PMU_FORMAT_ATTR(context, "config:24");
PMU_FORMAT_ATTR(armed, "config:25");
PMU_FORMAT_ATTR(debug_triggers, "config:26");
PMU_FORMAT_ATTR(sequential_jump, "config:27");
PMU_FORMAT_ATTR(implicit_return, "config:28");
PMU_FORMAT_ATTR(repeated_history, "config:29");
PMU_FORMAT_ATTR(all_jumps, "config:30");
PMU_FORMAT_ATTR(stall, "config:31");
PMU_FORMAT_ATTR(extend_address, "config:32");
PMU_FORMAT_ATTR(strobe_on, "config1:0-31");
PMU_FORMAT_ATTR(strobe_off, "config1:32-63");
PMU_FORMAT_ATTR(trigger_in, "config2:0-31");
PMU_FORMAT_ATTR(trigger_out, "config2:32-63");

static struct attribute *ntrace_format_attrs[] = {
	&format_attr_mode.attr,
	&format_attr_sync.attr,
	&format_attr_syncmax.attr,
	&format_attr_timestamps.attr,
	&format_attr_prescale.attr,
	&format_attr_context.attr,
	&format_attr_armed.attr,
	&format_attr_debug_triggers.attr,
	&format_attr_sequential_jump.attr,
	&format_attr_implicit_return.attr,
	&format_attr_repeated_history.attr,
	&format_attr_all_jumps.attr,
	&format_attr_stall.attr,
	&format_attr_extend_address.attr,
	&format_attr_strobe_on.attr,
	&format_attr_strobe_off.attr,
	&format_attr_trigger_in.attr,
	&format_attr_trigger_out.attr,
	NULL,
};

static const struct attribute_group ntrace_format_group = {
	.name = "format",
	.attrs = ntrace_format_attrs,
};

/* Capabilities common to all encoders: a task may run on each of them. */
struct ntrace_caps {
	u32 modes;
	u32 sync_modes;
	u32 sync_max;
	u32 privileges;
	u32 ranges;
	u32 timestamp_modes;
	u32 timestamp_bits;
	u32 timestamp_prescale_max;
	u32 timestamp_hz_external;
	u32 timestamp_hz_system;
	u32 timestamp_hz_shared;
	u32 context;
	u32 triggers_in;
	u32 triggers_out;
	u32 triggers_debug;
	u32 inst_features;
	u32 stall;
	u32 versions;
	u32 src_bits;
};

/* The common value, or 0 if the values differ. */
static void ntrace_same(u32 *value, u64 own)
{
	if (*value == ~0U)
		*value = own < ~0U ? own : 0;
	else if (*value != own)
		*value = 0;
}

static int ntrace_add_caps(struct ntrace_path *path, void *data)
{
	const struct ntrace_timestamp *unit = &ntrace_path_encoder(path)->timestamp;
	const struct ntrace_encoder *encoder = &ntrace_path_encoder(path)->encoder;
	struct ntrace_caps *caps = data;

	caps->modes &= encoder->modes;
	caps->sync_modes &= encoder->sync_modes;
	caps->sync_max = min(caps->sync_max, encoder->sync_max);
	caps->privileges &= encoder->privilege;
	caps->ranges = min(caps->ranges, encoder->ranges);
	caps->timestamp_modes &= unit->offered;
	ntrace_same(&caps->timestamp_bits, unit->bits);
	caps->timestamp_prescale_max = min(caps->timestamp_prescale_max, unit->prescale_max);
	ntrace_same(&caps->timestamp_hz_external, unit->hz[NTRACE_TIMESTAMPS_EXTERNAL]);
	ntrace_same(&caps->timestamp_hz_system, unit->hz[NTRACE_TIMESTAMPS_SYSTEM]);
	ntrace_same(&caps->timestamp_hz_shared, unit->hz[NTRACE_TIMESTAMPS_SHARED]);
	caps->context &= !!encoder->context;
	caps->triggers_in &= encoder->triggers_in;
	caps->triggers_out &= encoder->triggers_out;
	caps->triggers_debug &= !!encoder->triggers_debug;
	caps->inst_features &= encoder->features;
	caps->stall &= !!encoder->stall;
	/* Unions, not intersections: the versions of all encoders, and their widths of SRC. */
	caps->versions |= BIT(FIELD_GET(TR_IMPL_VER_MAJOR_MASK, ntrace_path_encoder(path)->impl));
	caps->src_bits |= BIT(encoder->src_bits);
	return 0;
}

static ssize_t ntrace_caps_show(struct device *dev, struct device_attribute *attr, char *buffer)
{
	struct ntrace_caps caps;
	unsigned long offset =
		(unsigned long)container_of(attr, struct dev_ext_attribute, attr)->var;
	u32 value;

	memset(&caps, 0xff, sizeof(caps));
	caps.versions = 0;
	caps.src_bits = 0;
	ntrace_topology_each_path(ntrace_add_caps, &caps);
	value = *(u32 *)((u8 *)&caps + offset);
	/* No encoder supports anything, or there is none. */
	return sysfs_emit(buffer, "0x%x\n", value == ~0U ? 0 : value);
}

#define NTRACE_CAPS_ATTR(_name)								\
	static struct dev_ext_attribute ntrace_caps_##_name = {				\
		__ATTR(_name, 0444, ntrace_caps_show, NULL),				\
		(void *)offsetof(struct ntrace_caps, _name)				\
	}

NTRACE_CAPS_ATTR(modes);
NTRACE_CAPS_ATTR(sync_modes);
NTRACE_CAPS_ATTR(sync_max);
NTRACE_CAPS_ATTR(privileges);
NTRACE_CAPS_ATTR(ranges);
NTRACE_CAPS_ATTR(timestamp_modes);
NTRACE_CAPS_ATTR(timestamp_bits);
NTRACE_CAPS_ATTR(timestamp_prescale_max);
NTRACE_CAPS_ATTR(timestamp_hz_external);
NTRACE_CAPS_ATTR(timestamp_hz_system);
NTRACE_CAPS_ATTR(timestamp_hz_shared);
NTRACE_CAPS_ATTR(context);
NTRACE_CAPS_ATTR(triggers_in);
NTRACE_CAPS_ATTR(triggers_out);
NTRACE_CAPS_ATTR(triggers_debug);
NTRACE_CAPS_ATTR(inst_features);
NTRACE_CAPS_ATTR(stall);
NTRACE_CAPS_ATTR(versions);
NTRACE_CAPS_ATTR(src_bits);

static struct attribute *ntrace_caps_attrs[] = {
	&ntrace_caps_modes.attr.attr,
	&ntrace_caps_sync_modes.attr.attr,
	&ntrace_caps_sync_max.attr.attr,
	&ntrace_caps_privileges.attr.attr,
	&ntrace_caps_ranges.attr.attr,
	&ntrace_caps_timestamp_modes.attr.attr,
	&ntrace_caps_timestamp_bits.attr.attr,
	&ntrace_caps_timestamp_prescale_max.attr.attr,
	&ntrace_caps_timestamp_hz_external.attr.attr,
	&ntrace_caps_timestamp_hz_system.attr.attr,
	&ntrace_caps_timestamp_hz_shared.attr.attr,
	&ntrace_caps_context.attr.attr,
	&ntrace_caps_triggers_in.attr.attr,
	&ntrace_caps_triggers_out.attr.attr,
	&ntrace_caps_triggers_debug.attr.attr,
	&ntrace_caps_inst_features.attr.attr,
	&ntrace_caps_stall.attr.attr,
	&ntrace_caps_versions.attr.attr,
	&ntrace_caps_src_bits.attr.attr,
	NULL,
};

static const struct attribute_group ntrace_caps_group = {
	.name = "caps",
	.attrs = ntrace_caps_attrs,
};

static int ntrace_add_cpu(struct ntrace_path *path, void *data)
{
	cpumask_set_cpu(path->cpu, data);
	return 0;
}

/* The CPUs that have a trace encoder. */
static ssize_t cpumask_show(struct device *dev, struct device_attribute *attr, char *buffer)
{
	cpumask_var_t cpus;
	ssize_t size;

	if (!zalloc_cpumask_var(&cpus, GFP_KERNEL))
		return -ENOMEM;
	ntrace_topology_each_path(ntrace_add_cpu, cpus);
	size = cpumap_print_to_pagebuf(true, buffer, cpus);
	free_cpumask_var(cpus);
	return size;
}
static DEVICE_ATTR_RO(cpumask);

static struct attribute *ntrace_cpumask_attrs[] = {
	&dev_attr_cpumask.attr,
	NULL,
};

static const struct attribute_group ntrace_cpumask_group = {
	.attrs = ntrace_cpumask_attrs,
};

const struct attribute_group *ntrace_perf_groups[] = {
	&ntrace_format_group,
	&ntrace_caps_group,
	&ntrace_cpumask_group,
	NULL,
};
