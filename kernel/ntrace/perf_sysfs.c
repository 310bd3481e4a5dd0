// SPDX-License-Identifier: GPL-2.0-only
/*
 * sysfs of the PMU "ntrace": format of the configuration, capabilities of the encoders, and their
 * CPUs.
 */
#include <linux/bitfield.h>
#include <linux/sysfs.h>

#include "path.h"
#include "perf_parts.h"

/* An attribute of a format; device_show_string() prints @_field. */
#define NTRACE_FORMAT(_name, _field)							\
	(&((struct dev_ext_attribute[]) {						\
		{ __ATTR(_name, 0444, device_show_string, NULL), _field }		\
	})[0].attr.attr)

static struct attribute *ntrace_format_attrs[] = {
	NTRACE_FORMAT(mode, "config:0-2"),
	NTRACE_FORMAT(sync, "config:8-9"),
	NTRACE_FORMAT(syncmax, "config:12-15"),
	NTRACE_FORMAT(timestamps, "config:16-18"),
	NTRACE_FORMAT(prescale, "config:20-21"),
	NTRACE_FORMAT(context, "config:24"),
	NTRACE_FORMAT(armed, "config:25"),
	NTRACE_FORMAT(debug_triggers, "config:26"),
	NTRACE_FORMAT(sequential_jump, "config:27"),
	NTRACE_FORMAT(implicit_return, "config:28"),
	NTRACE_FORMAT(repeated_history, "config:29"),
	NTRACE_FORMAT(all_jumps, "config:30"),
	NTRACE_FORMAT(stall, "config:31"),
	NTRACE_FORMAT(extend_address, "config:32"),
	NTRACE_FORMAT(strobe_on, "config1:0-31"),
	NTRACE_FORMAT(strobe_off, "config1:32-63"),
	NTRACE_FORMAT(trigger_in, "config2:0-31"),
	NTRACE_FORMAT(trigger_out, "config2:32-63"),
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

#define NTRACE_CAPS(_name)								\
	(&((struct dev_ext_attribute[]) {						\
		{ __ATTR(_name, 0444, ntrace_caps_show, NULL),				\
		  (void *)offsetof(struct ntrace_caps, _name) }				\
	})[0].attr.attr)

static struct attribute *ntrace_caps_attrs[] = {
	NTRACE_CAPS(modes),
	NTRACE_CAPS(sync_modes),
	NTRACE_CAPS(sync_max),
	NTRACE_CAPS(privileges),
	NTRACE_CAPS(ranges),
	NTRACE_CAPS(timestamp_modes),
	NTRACE_CAPS(timestamp_bits),
	NTRACE_CAPS(timestamp_prescale_max),
	NTRACE_CAPS(timestamp_hz_external),
	NTRACE_CAPS(timestamp_hz_system),
	NTRACE_CAPS(timestamp_hz_shared),
	NTRACE_CAPS(context),
	NTRACE_CAPS(triggers_in),
	NTRACE_CAPS(triggers_out),
	NTRACE_CAPS(triggers_debug),
	NTRACE_CAPS(inst_features),
	NTRACE_CAPS(stall),
	NTRACE_CAPS(versions),
	NTRACE_CAPS(src_bits),
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
