// SPDX-License-Identifier: GPL-2.0-only
/*
 * What an event of the PMU "ntrace" has: its configuration, and whether an encoder supports it; its
 * address filters (PERF_EVENT_IOC_SET_FILTER); its AUX area.
 *
 * perf tracks where the files of a filter are mapped, separately for each task, and passes the
 * addresses when the event is started. So each event has its own configuration with the ranges of
 * its task.
 */
#include <linux/atomic.h>
#include <linux/bitfield.h>
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/mm.h>
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>
#include <linux/security.h>
#include <linux/slab.h>
#include <linux/uidgid.h>
#include <linux/vmalloc.h>

#include "compat.h"
#include "component.h"
#include "perf_parts.h"

#define NTRACE_PERF_STROBE_MIN_US 20
/* Shorter phases cost a noticeable part of the time of a hart. */
#define NTRACE_PERF_STROBE_MIN_USER_US 1000

/* Fewest ranges of all encoders that events were opened for. */
static atomic_t ntrace_perf_ranges = ATOMIC_INIT(NTRACE_RANGES_MAX);
static atomic64_t ntrace_perf_ids;

/*
 * Checks the credentials as ptrace_may_access() does, which modules cannot call. perf_event_open()
 * calls it later and refuses further cases, such as a task that is not dumpable.
 */
static bool ntrace_perf_may_trace_task(struct task_struct *task)
{
	const struct cred *own = current_cred(), *other;

	if (same_thread_group(task, current))
		return true;
	guard(rcu)();
	other = __task_cred(task);
	if (uid_eq(own->uid, other->uid) && uid_eq(own->uid, other->euid) &&
	    uid_eq(own->uid, other->suid) && gid_eq(own->gid, other->gid) &&
	    gid_eq(own->gid, other->egid) && gid_eq(own->gid, other->sgid))
		return true;
	return ns_capable(other->user_ns, CAP_SYS_PTRACE);
}

/*
 * Does an event do more than trace a task at the cost of that task? A stalled hart also slows
 * down its interrupts, triggers act on and obey other parts of the chip, short strobes are
 * interrupts, and scontext has ids of the initial PID namespace, as those of arm_spe_pmu.c.
 */
static bool ntrace_perf_config_is_privileged(const struct perf_event_attr *attr)
{
	u64 on = FIELD_GET(NTRACE_PERF_STROBE_ON, attr->config1);
	u64 off = FIELD_GET(NTRACE_PERF_STROBE_OFF, attr->config1);

	return attr->config & (NTRACE_PERF_CONTEXT | NTRACE_PERF_ARMED |
			       NTRACE_PERF_DEBUG_TRIGGERS | NTRACE_PERF_STALL) ||
	       attr->config2 || (attr->config1 && min(on, off) < NTRACE_PERF_STROBE_MIN_USER_US);
}

/*
 * Checks that the caller may open an event. Opening an event takes paths, which others then cannot
 * have. perf_event_open() checks the rights to a CPU or to another task after event_init() only,
 * so a caller without them could keep others from tracing.
 * Return: 0, -EACCES, or -EPERM if the kernel is locked down against a trace of itself.
 */
int ntrace_perf_config_permit(struct perf_event *event)
{
	int ret = event->attr.exclude_kernel ? 0 : security_locked_down(LOCKDOWN_PERF);

	if (ret || perfmon_capable())
		return ret;
	if (ntrace_perf_config_is_privileged(&event->attr))
		return -EACCES;
	if (event->hw.target)
		return ntrace_perf_may_trace_task(event->hw.target) ? 0 : -EACCES;
	/*
	 * CPUs need perf_event_paranoid below 1. Modules cannot read it; this check fails from 2
	 * on, as most systems have it.
	 */
	return ntrace_allow_kernel(event);
}

/* Microseconds on and off, both or none. Shorter ones would spend all time in the timer. */
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

/**
 * ntrace_perf_config_phase - whether an event with strobes is traced now
 * @perf_event: event
 * @on: takes the answer
 *
 * The phase follows the clock, not the task: a task that is switched often would always be in its
 * first phase. The phases of all harts are the same, so harts can be compared.
 *
 * Return: nanoseconds until the phase changes.
 */
u64 ntrace_perf_config_phase(const struct ntrace_perf_event *perf_event, bool *on)
{
	u64 since;

	div64_u64_rem(ktime_get_ns(), perf_event->strobe_period, &since);
	*on = since < perf_event->strobe_on;
	return (*on ? perf_event->strobe_on : perf_event->strobe_period) - since;
}

/* Strobing switches tracing itself, and would undo the action of triggers. */
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

static u32 ntrace_perf_config_features(u64 config)
{
	return (config & NTRACE_PERF_SEQUENTIAL_JUMP ? NTRACE_FEATURE_SEQUENTIAL_JUMP : 0) |
	       (config & NTRACE_PERF_IMPLICIT_RETURN ? NTRACE_FEATURE_IMPLICIT_RETURN : 0) |
	       (config & NTRACE_PERF_REPEATED_HISTORY ? NTRACE_FEATURE_REPEATED_HISTORY : 0) |
	       (config & NTRACE_PERF_ALL_JUMPS ? NTRACE_FEATURE_ALL_JUMPS : 0) |
	       (config & NTRACE_PERF_EXTEND_ADDRESS ? NTRACE_FEATURE_EXTEND_ADDRESS : 0);
}

/* The configuration of an event that is being opened. Return: 0, -EINVAL or -EOPNOTSUPP. */
int ntrace_perf_config(struct perf_event *event, struct ntrace_perf_event *perf_event)
{
	const struct perf_event_attr *attr = &event->attr;
	struct ntrace_config *config = &perf_event->config;
	int ret;

	if (attr->config & ~NTRACE_PERF_CONFIG || ntrace_attr_is_extended(attr))
		return -EINVAL;
	if (attr->exclude_user && attr->exclude_kernel)
		return -EINVAL;
	/* Guests run in other privileges, which a filter excludes. */
	if (attr->exclude_host || attr->exclude_idle || attr->precise_ip || has_branch_stack(event))
		return -EOPNOTSUPP;
	config->mode = FIELD_GET(NTRACE_PERF_MODE, attr->config);
	config->sync_mode = FIELD_GET(NTRACE_PERF_SYNC, attr->config);
	config->sync_max = FIELD_GET(NTRACE_PERF_SYNC_MAX, attr->config);
	config->timestamps = FIELD_GET(NTRACE_PERF_TIMESTAMPS, attr->config);
	config->timestamp_prescale = FIELD_GET(NTRACE_PERF_PRESCALE, attr->config);
	config->features = ntrace_perf_config_features(attr->config);
	if (attr->config & NTRACE_PERF_STALL)
		config->flags |= NTRACE_CONFIG_STALL;
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
 * ntrace_perf_config_for - configuration of an event for an encoder
 * @perf_event: event that ntrace_perf_config() accepted
 * @encoder: encoder; those of other harts may have other defaults
 * @config: takes the configuration
 *
 * Called in any context. An encoder without filters traces everything. User space does not learn
 * from an event what is hard-wired: it must ask for features that a decoder has to know.
 *
 * Return: 0, -EINVAL if no encoder supports it, -EOPNOTSUPP if this one does not.
 */
int ntrace_perf_config_for(const struct ntrace_perf_event *perf_event,
			   const struct ntrace_component *encoder, struct ntrace_config *config)
{
	const u32 known = NTRACE_FEATURE_ALL_JUMPS | NTRACE_FEATURE_EXTEND_ADDRESS;
	int ret;

	*config = perf_event->config;
	if (!encoder->encoder.privilege)
		config->privilege = NTRACE_PRIVILEGE_ALL;
	ret = ntrace_encoder_check(encoder, config);
	if (ret || !(config->features & ~perf_event->config.features & known))
		return ret;
	return ntrace_component_lacks(encoder, "trTeInstEnAllJumps or trTeInstExtendAddrMSB", 0);
}

/**
 * ntrace_perf_config_check - check that an encoder supports an event
 * @event: event that ntrace_perf_config() accepted
 * @encoder: encoder
 * @config: takes the configuration for it
 *
 * An encoder without filters also traces firmware and guests. An event that excludes nothing, not
 * even exclude_hv, asks for all of that. But perf does not know that firmware is part of the trace
 * and checks no privilege for it, so this function does.
 *
 * Return: 0, -EINVAL if no encoder supports it, -EOPNOTSUPP if this one does not, -EACCES.
 */
int ntrace_perf_config_check(const struct perf_event *event, const struct ntrace_component *encoder,
			     struct ntrace_config *config)
{
	const struct perf_event_attr *attr = &event->attr;
	bool filters = encoder->encoder.privilege;

	if (!filters && (attr->exclude_user || attr->exclude_kernel || attr->exclude_hv))
		return ntrace_component_lacks(encoder,
					      "trTeFilterMatchPrivilege (there is no filter)",
					      ntrace_perf_event_of(event)->config.privilege);
	if (!filters && !perfmon_capable())
		return -EACCES;
	return ntrace_perf_config_for(ntrace_perf_event_of(event), encoder, config);
}

/** ntrace_perf_new_id - a number that was never used before, and is not 0 */
u64 ntrace_perf_new_id(void)
{
	return atomic64_inc_return(&ntrace_perf_ids);
}

/* An event uses an encoder with this many ranges. */
void ntrace_perf_filter_limit(u32 ranges)
{
	int old = atomic_read(&ntrace_perf_ranges);

	while (ranges < old && !atomic_try_cmpxchg(&ntrace_perf_ranges, &old, ranges))
		;
}

/* Allocates the state of a single event. Return: 0 or -ENOMEM. */
int ntrace_perf_own_alloc(struct perf_event *event)
{
	struct ntrace_perf_own *own = kzalloc(sizeof(*own), GFP_KERNEL_ACCOUNT);

	event->hw.addr_filters = own;
	if (!own)
		return -ENOMEM;
	own->tracing = !(event->attr.config & NTRACE_PERF_ARMED);
	return 0;
}

/** ntrace_perf_own_free - undo ntrace_perf_own_alloc() */
void ntrace_perf_own_free(struct perf_event *event)
{
	kfree(event->hw.addr_filters);
	event->hw.addr_filters = NULL;
}

/*
 * Checks that the filters are supported. A range of kernel addresses in an event without the
 * kernel is valid and matches nothing: the privileges must match as well.
 * Return: 0, -EINVAL or -EOPNOTSUPP.
 */
int ntrace_perf_filter_validate(struct list_head *filters)
{
	struct perf_addr_filter *filter;
	int count = 0;

	list_for_each_entry(filter, filters, entry) {
		/* Start and stop addresses are not ranges. */
		if (filter->action != PERF_ADDR_FILTER_ACTION_FILTER || !filter->size)
			return -EOPNOTSUPP;
		/* Addresses of user space exist only in files, which perf finds in each task. */
		if (!filter->path.dentry && (long)filter->offset >= 0)
			return -EINVAL;
		if (++count > atomic_read(&ntrace_perf_ranges))
			return -EOPNOTSUPP;
	}
	return 0;
}

/*
 * Takes over the ranges of an event that is about to start, on its hart. Called with interrupts
 * off.
 */
void ntrace_perf_filter_sync(struct perf_event *event)
{
	struct perf_addr_filters_head *head = perf_event_addr_filters(event);
	struct ntrace_perf_own *own = event->hw.addr_filters;
	struct perf_addr_filter *filter;
	struct perf_addr_filter_range *range = event->addr_filter_ranges;
	u32 count = 0;

	list_for_each_entry(filter, &head->list, entry) {
		/* Code of a file that is not mapped yet is not traced. */
		own->ranges[count] = (struct ntrace_range){ U64_MAX, 0 };
		if (range->size && (range->start || !filter->path.dentry))
			own->ranges[count] =
				(struct ntrace_range){ range->start,
						       range->start + range->size - 1 };
		range++;
		count++;
	}
	own->count = count;
	own->id = count ? ntrace_perf_new_id() : 0;
}

/* Puts the ranges of an event into its configuration. */
void ntrace_perf_filter_apply(const struct perf_event *event, struct ntrace_config *config)
{
	const struct ntrace_perf_own *own = event->hw.addr_filters;

	config->range_count = own->count;
	memcpy(config->ranges, own->ranges, sizeof(config->ranges));
}

/* Maps an AUX area as one block. Return: the area, or NULL. */
void *ntrace_perf_setup_aux(struct perf_event *event, void **pages, int count, bool overwrite)
{
	struct page **list __free(kvfree) = kvmalloc_array(count, sizeof(*list), GFP_KERNEL);
	struct ntrace_perf_aux *aux __free(kfree) = kzalloc(sizeof(*aux), GFP_KERNEL);
	int i;

	if (!list || !aux)
		return NULL;
	for (i = 0; i < count; i++)
		list[i] = virt_to_page(pages[i]);
	aux->pages = vmap(list, count, VM_MAP, PAGE_KERNEL);
	if (!aux->pages)
		return NULL;
	aux->size = (size_t)count << PAGE_SHIFT;
	aux->snapshot = overwrite;
	return_ptr(aux);
}

/** ntrace_perf_free_aux - undo ntrace_perf_setup_aux() */
void ntrace_perf_free_aux(void *data)
{
	struct ntrace_perf_aux *aux = data;

	vunmap(aux->pages);
	kfree(aux);
}
