// SPDX-License-Identifier: GPL-2.0-only
/*
 * What an event of the PMU "ntrace" asks for, and whether an encoder can do it.
 */
#include <linux/bitfield.h>
#include <linux/capability.h>
#include <linux/perf_event.h>
#include <linux/sizes.h>

#include "component.h"
#include "encoder.h"
#include "perf_parts.h"
#include "trigger.h"

/*
 * What is left in the ring when a task goes is copied with interrupts off; the
 * timer sees to it that this is little, and this that it cannot be much.
 */
#define NTRACE_PERF_SINK_SIZE	SZ_256K

#define NTRACE_PERF_STROBE_MIN_US 20

/* Microseconds on and off, both or none; timers shorter than this would be all that runs. */
static int ntrace_perf_config_strobe(const struct perf_event_attr *attr,
				     struct ntrace_perf_event *perf_event)
{
	u64 on = FIELD_GET(NTRACE_PERF_STROBE_ON, attr->config1);
	u64 off = FIELD_GET(NTRACE_PERF_STROBE_OFF, attr->config1);

	if (!on && !off)
		return 0;
	if (on < NTRACE_PERF_STROBE_MIN_US || off < NTRACE_PERF_STROBE_MIN_US)
		return -EINVAL;
	perf_event->strobe_on = on * NSEC_PER_USEC;
	perf_event->strobe_period = (on + off) * NSEC_PER_USEC;
	return 0;
}

/* Strobing switches tracing by itself, and would undo what triggers do. */
static int ntrace_perf_config_triggers(const struct perf_event_attr *attr,
				       struct ntrace_perf_event *perf_event)
{
	struct ntrace_config *config = &perf_event->config;

	config->trigger_in = FIELD_GET(NTRACE_PERF_TRIGGER_IN, attr->config2);
	config->trigger_out = FIELD_GET(NTRACE_PERF_TRIGGER_OUT, attr->config2);
	if (attr->config & NTRACE_PERF_ARMED)
		config->flags |= NTRACE_CONFIG_ARMED;
	if (attr->config & NTRACE_PERF_DEBUG_TRIGGERS)
		config->flags |= NTRACE_CONFIG_DEBUG_TRIGGERS;
	return perf_event->strobe_period && ntrace_trigger_is_used(config) ? -EINVAL : 0;
}

/**
 * ntrace_perf_config - what an event asks of the encoder
 * @event: event that is being opened
 * @perf_event: takes it
 *
 * Return: 0, -EINVAL or -EOPNOTSUPP.
 */
int ntrace_perf_config(struct perf_event *event, struct ntrace_perf_event *perf_event)
{
	const struct perf_event_attr *attr = &event->attr;
	struct ntrace_config *config = &perf_event->config;
	int ret;

	if (attr->config & ~NTRACE_PERF_CONFIG)
		return -EINVAL;
	if (attr->exclude_user && attr->exclude_kernel)
		return -EINVAL;
	/* Guests are other privileges to a filter, and not traced. */
	if (attr->exclude_host || attr->exclude_idle || attr->precise_ip || has_branch_stack(event))
		return -EOPNOTSUPP;
	config->mode = FIELD_GET(NTRACE_PERF_MODE, attr->config);
	config->sync_mode = FIELD_GET(NTRACE_PERF_SYNC, attr->config);
	config->sync_max = FIELD_GET(NTRACE_PERF_SYNC_MAX, attr->config);
	config->timestamps = FIELD_GET(NTRACE_PERF_TIMESTAMPS, attr->config);
	config->timestamp_prescale = FIELD_GET(NTRACE_PERF_PRESCALE, attr->config);
	config->sink_size = NTRACE_PERF_SINK_SIZE;
	if (attr->config & NTRACE_PERF_CONTEXT)
		config->flags |= NTRACE_CONFIG_CONTEXT;
	if (!attr->exclude_user)
		config->privilege |= NTRACE_PRIVILEGE_U;
	if (!attr->exclude_kernel)
		config->privilege |= NTRACE_PRIVILEGE_S;
	ret = ntrace_perf_config_strobe(attr, perf_event);
	return ret ? ret : ntrace_perf_config_triggers(attr, perf_event);
}

/**
 * ntrace_perf_config_check - can an encoder do what an event asks for?
 * @event: event that ntrace_perf_config() took; its defaults are filled in
 * @encoder: encoder
 *
 * An encoder without filters traces firmware and guests as well. Whoever excludes
 * nothing, exclude_hv neither, asks for all of that; but perf does not know that
 * firmware is in it, and checks no privilege for it.
 *
 * Return: 0, -EINVAL if no encoder could, -EOPNOTSUPP if this one cannot, -EACCES.
 */
int ntrace_perf_config_check(const struct perf_event *event, const struct ntrace_component *encoder)
{
	const struct perf_event_attr *attr = &event->attr;
	struct ntrace_config *config = &ntrace_perf_event_of(event)->config;
	u32 privilege = config->privilege;
	int ret;

	if (!encoder->encoder.privilege && !attr->exclude_user && !attr->exclude_kernel &&
	    !attr->exclude_hv) {
		if (!perfmon_capable())
			return -EACCES;
		config->privilege = NTRACE_PRIVILEGE_ALL;
	}
	ret = ntrace_encoder_check(encoder, config);
	/* Others of its harts may have filters. */
	config->privilege = privilege;
	return ret;
}
