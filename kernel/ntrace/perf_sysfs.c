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

/* How a capability of the PMU follows from the values of the encoders: a task may run on each. */
enum ntrace_cap_kind {
	NTRACE_CAP_COMMON, /* the bits that all values have */
	NTRACE_CAP_LEAST,
	NTRACE_CAP_ALL, /* whether no value is 0 */
	NTRACE_CAP_SAME, /* the common value; 0: the values differ */
	NTRACE_CAP_HZ, /* the same for a value of 64 bits; 0 as well if it needs more than 32 */
	NTRACE_CAP_EACH, /* bit n: an encoder has the value n */
	NTRACE_CAP_VERSIONS, /* the same for the major version in tr??Impl */
};

struct ntrace_cap {
	struct device_attribute attr;
	enum ntrace_cap_kind kind;
	u32 offset; /* of the value in struct ntrace_component */
};

static u32 ntrace_cap_add(enum ntrace_cap_kind kind, u32 all, const void *of_encoder)
{
	u32 value = *(const u32 *)of_encoder;

	switch (kind) {
	case NTRACE_CAP_COMMON:
		return all & value;
	case NTRACE_CAP_LEAST:
		return min(all, value);
	case NTRACE_CAP_ALL:
		return all && value;
	case NTRACE_CAP_HZ:
		value = *(const u64 *)of_encoder < U32_MAX ? *(const u64 *)of_encoder : 0;
		fallthrough;
	case NTRACE_CAP_SAME:
		return all == U32_MAX || all == value ? value : 0;
	case NTRACE_CAP_VERSIONS:
		value = FIELD_GET(TR_IMPL_VER_MAJOR_MASK, value);
		fallthrough;
	default:
		return all | BIT(value);
	}
}

static ssize_t ntrace_cap_show(struct device *dev, struct device_attribute *attr, char *buffer)
{
	const struct ntrace_cap *cap = container_of(attr, struct ntrace_cap, attr);
	u32 all = cap->kind >= NTRACE_CAP_EACH ? 0 : U32_MAX;
	const struct ntrace_path *path;

	guard(mutex)(&ntrace_lock);
	list_for_each_entry(path, &ntrace_paths, node)
		all = ntrace_cap_add(cap->kind, all, (u8 *)path->component[0] + cap->offset);
	/* There is no encoder. */
	return sysfs_emit(buffer, "0x%x\n", all == U32_MAX ? 0 : all);
}

#define NTRACE_CAP(_name, _kind, _member)						\
	(&((struct ntrace_cap[]) {							\
		{ __ATTR(_name, 0444, ntrace_cap_show, NULL), NTRACE_CAP_##_kind,	\
		  offsetof(struct ntrace_component, _member) }				\
	})[0].attr.attr)

static struct attribute *ntrace_caps_attrs[] = {
	NTRACE_CAP(modes, COMMON, encoder.modes),
	NTRACE_CAP(sync_modes, COMMON, encoder.sync_modes),
	NTRACE_CAP(sync_max, LEAST, encoder.sync_max),
	NTRACE_CAP(privileges, COMMON, encoder.privilege),
	NTRACE_CAP(ranges, LEAST, encoder.ranges),
	NTRACE_CAP(timestamp_modes, COMMON, timestamp.offered),
	NTRACE_CAP(timestamp_bits, SAME, timestamp.bits),
	NTRACE_CAP(timestamp_prescale_max, LEAST, timestamp.prescale_max),
	NTRACE_CAP(timestamp_hz_external, HZ, timestamp.hz[NTRACE_TIMESTAMPS_EXTERNAL]),
	NTRACE_CAP(timestamp_hz_system, HZ, timestamp.hz[NTRACE_TIMESTAMPS_SYSTEM]),
	NTRACE_CAP(timestamp_hz_shared, HZ, timestamp.hz[NTRACE_TIMESTAMPS_SHARED]),
	NTRACE_CAP(context, ALL, encoder.context),
	NTRACE_CAP(triggers_in, COMMON, encoder.triggers_in),
	NTRACE_CAP(triggers_out, COMMON, encoder.triggers_out),
	NTRACE_CAP(triggers_debug, ALL, encoder.triggers_debug),
	NTRACE_CAP(inst_features, COMMON, encoder.features),
	NTRACE_CAP(stall, ALL, encoder.stall),
	NTRACE_CAP(versions, VERSIONS, impl),
	NTRACE_CAP(src_bits, EACH, encoder.src_bits),
	NULL,
};

static const struct attribute_group ntrace_caps_group = {
	.name = "caps",
	.attrs = ntrace_caps_attrs,
};

/* The CPUs that have a trace encoder. */
static ssize_t cpumask_show(struct device *dev, struct device_attribute *attr, char *buffer)
{
	const struct ntrace_path *path;
	cpumask_var_t cpus;
	ssize_t size;

	if (!zalloc_cpumask_var(&cpus, GFP_KERNEL))
		return -ENOMEM;
	mutex_lock(&ntrace_lock);
	list_for_each_entry(path, &ntrace_paths, node)
		cpumask_set_cpu(path->cpu, cpus);
	mutex_unlock(&ntrace_lock);
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
