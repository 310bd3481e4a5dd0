// SPDX-License-Identifier: GPL-2.0-only
/*
 * A capture: memory, programming, start and stop of one configured path.
 */
#include <linux/cpu.h>
#include <linux/cred.h>
#include <linux/ktime.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/pid.h>
#include <linux/poll.h>
#include <linux/sched.h>
#include <linux/sched/user.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/vmalloc.h>

#include "compat.h"
#include "path.h"

/*
 * The drain interval must leave room in the ring. It is the time in which a hart fills a quarter
 * of the ring at 256 bytes per microsecond, the assumed worst case. For large rings one
 * millisecond is enough; the remaining room covers a late timer: the hart may have interrupts off,
 * or a hypervisor may deliver the timer late.
 */
#define NTRACE_WORST_BYTES_PER_US 256
#define NTRACE_DRAIN_US_DEFAULT_MAX 1000
#define NTRACE_DRAIN_US_MIN	50
/*
 * When an event of perf is descheduled, its sink is drained with interrupts off. At 160 bytes per
 * microsecond, a hart makes 16 KB in this time, as much as is drained then (NTRACE_DRAIN_END).
 */
#define NTRACE_DRAIN_US_PERF_MAX 100
#define NTRACE_DRAIN_US_MAX	10000000

#define NTRACE_DATA_SIZE_DEFAULT SZ_16M
#define NTRACE_DATA_SIZE_MAX	SZ_1G
#define NTRACE_SINK_SIZE_DEFAULT SZ_4M

/* All bits of ntrace_config.flags */
#define NTRACE_CONFIG_FLAGS	(NTRACE_CONFIG_NO_DATA | NTRACE_CONFIG_STOP_ON_WRAP | \
				 NTRACE_CONFIG_CONTEXT | NTRACE_CONFIG_ARMED | \
				 NTRACE_CONFIG_DEBUG_TRIGGERS | NTRACE_CONFIG_STALL | \
				 NTRACE_CONFIG_FROM | NTRACE_CONFIG_UNTIL)

static void ntrace_capture_wake(struct irq_work *work)
{
	struct ntrace_capture *capture = container_of(work, struct ntrace_capture, feed.wake);

	wake_up_interruptible_poll(&capture->path->wait, EPOLLIN | EPOLLRDNORM);
}

/*
 * Charge the pinned memory to the user, as perf does: CAP_PERFMON alone must not allow taking all
 * memory.
 */
static int ntrace_capture_charge(struct ntrace_capture *capture, unsigned long pages)
{
	struct user_struct *user = current_user();
	unsigned long limit = rlimit(RLIMIT_MEMLOCK) >> PAGE_SHIFT;

	if (atomic_long_add_return(pages, &user->locked_vm) > limit && !capable(CAP_IPC_LOCK)) {
		atomic_long_sub(pages, &user->locked_vm);
		return -EPERM;
	}
	capture->user = get_uid(user);
	capture->pages = pages;
	return 0;
}

static void ntrace_capture_release(struct kref *ref)
{
	struct ntrace_capture *capture = container_of(ref, struct ntrace_capture, ref);

	put_pid(capture->session);
	if (capture->user) {
		atomic_long_sub(capture->pages, &capture->user->locked_vm);
		free_uid(capture->user);
	}
	vfree(capture->feed.control);
	kfree(capture);
}

/** ntrace_capture_get - take a reference, which keeps the data area */
void ntrace_capture_get(struct ntrace_capture *capture)
{
	kref_get(&capture->ref);
}

/** ntrace_capture_put - drop a reference; NULL and error pointers are allowed */
void ntrace_capture_put(struct ntrace_capture *capture)
{
	if (!IS_ERR_OR_NULL(capture))
		kref_put(&capture->ref, ntrace_capture_release);
}

/* A sink without memory fills no data area. The caller must show that it knows that. */
static int ntrace_capture_check_portsink(const struct ntrace_component *sink,
					 struct ntrace_config *config)
{
	if (config->sink_size)
		return -EINVAL;
	if (!(config->flags & NTRACE_CONFIG_NO_DATA) ||
	    config->flags & NTRACE_CONFIG_STOP_ON_WRAP) {
		dev_err_ratelimited(sink->dev,
				    "sink has no memory: NTRACE_CONFIG_NO_DATA is required\n");
		return -EOPNOTSUPP;
	}
	config->data_size = 0;
	return 0;
}

/* Determines the sizes of the sink buffer and of the data area. */
static int ntrace_capture_set_sizes(const struct ntrace_component *sink,
				    struct ntrace_config *config)
{
	/* A part of the buffer is not used if the width of a write is not known. */
	u64 least = max_t(u64, PAGE_SIZE, 2 * sink->ramsink.reach);
	size_t most = ntrace_ramsink_size_max(sink);

	if (config->flags & ~NTRACE_CONFIG_FLAGS || config->drain_us > NTRACE_DRAIN_US_MAX)
		return -EINVAL;
	if (!ntrace_component_has_memory(sink))
		return ntrace_capture_check_portsink(sink, config);
	if (!config->sink_size)
		config->sink_size = min_t(size_t, NTRACE_SINK_SIZE_DEFAULT, most);
	if (!config->data_size)
		config->data_size = NTRACE_DATA_SIZE_DEFAULT;
	if (config->flags & NTRACE_CONFIG_NO_DATA)
		config->data_size = PAGE_SIZE;
	if (config->sink_size > most || config->data_size > NTRACE_DATA_SIZE_MAX ||
	    config->data_size < PAGE_SIZE || !is_power_of_2(config->data_size))
		return -EINVAL;
	if (sink->ramsink.sram_size)
		config->sink_size = sink->ramsink.sram_size;
	else
		config->sink_size = roundup_pow_of_two(max_t(u64, config->sink_size, least));
	return 0;
}

/* Is the whole kernel in the trace, and with it each interrupt of the drain? */
static bool ntrace_capture_traces_all(const struct ntrace_config *config)
{
	return config->privilege & NTRACE_PRIVILEGE_S && !config->range_count && !config->traps &&
	       !config->task && !ntrace_trigger_is_used(config) &&
	       !(config->flags & (NTRACE_CONFIG_FROM | NTRACE_CONFIG_UNTIL));
}

/* The data area of a file, which user space maps. */
static int ntrace_capture_prepare_file(struct ntrace_capture *capture)
{
	const struct ntrace_config *config = &capture->config;
	struct ntrace_control *control;
	u64 size = config->data_size;
	int ret;

	/* vmalloc() would log a warning about a size that is out of reach. */
	if (size >> PAGE_SHIFT > totalram_pages() / 2)
		return -ENOMEM;
	ret = ntrace_capture_charge(capture,
				    1 + (PAGE_ALIGN(size + config->sink_size) >> PAGE_SHIFT));
	if (ret)
		return ret;
	/* Zeroed, and suitable for mapping to user space. */
	control = vmalloc_user(PAGE_SIZE + size);
	if (!control)
		return -ENOMEM;
	control->abi_version = NTRACE_ABI_VERSION;
	control->state = NTRACE_STATE_CONFIGURED;
	control->data_offset = PAGE_SIZE;
	control->data_size = size;
	capture->feed.control = control;
	/* Without a data area trace is neither copied nor counted. */
	if (!(config->flags & NTRACE_CONFIG_NO_DATA))
		capture->feed.data = (u8 *)control + PAGE_SIZE;
	capture->feed.size = size;
	capture->feed.framed = capture->feed.sink->ramsink.framed;
	capture->feed.watched = ntrace_capture_traces_all(config);
	return 0;
}

/*
 * The sink buffer is not charged: each hart has one, however many events there are, and perf
 * charges the AUX areas.
 */
static int ntrace_capture_prepare_perf(struct ntrace_capture *capture)
{
	capture->feed.counts = true;
	/* Events of one process share a sink. The reference keeps the pid unique. */
	capture->session = get_task_pid(current, PIDTYPE_TGID);
	/* Not mapped, but the drain writes its counters there. */
	capture->feed.control = vmalloc_user(PAGE_SIZE);
	return capture->feed.control ? 0 : -ENOMEM;
}

/* Return: the capture, with a checked and rounded copy of @config, or an error pointer. */
static struct ntrace_capture *ntrace_capture_alloc(struct ntrace_path *path,
						   const struct ntrace_config *config,
						   const struct ntrace_client *client)
{
	struct ntrace_capture *capture = kzalloc(sizeof(*capture), GFP_KERNEL_ACCOUNT);
	int ret;

	if (!capture)
		return ERR_PTR(-ENOMEM);
	kref_init(&capture->ref);
	mutex_init(&capture->read_lock);
	init_irq_work(&capture->feed.wake, ntrace_capture_wake);
	hrtimer_setup(&capture->feed.timer, client ? client->timer : ntrace_drain_timer,
		      CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
	capture->path = path;
	capture->client = client;
	capture->config = *config;
	capture->sink_size_default = !config->sink_size;
	capture->feed.encoder = ntrace_path_encoder(path);
	capture->feed.sink = ntrace_path_sink(path);
	capture->feed.ended = true;
	capture->complete = true;
	ret = ntrace_capture_set_sizes(capture->feed.sink, &capture->config);
	if (!ret)
		ret = client ? ntrace_capture_prepare_perf(capture) :
			       ntrace_capture_prepare_file(capture);
	if (!ret)
		return capture;
	ntrace_capture_put(capture);
	return ERR_PTR(ret);
}

/* The drain interval: the requested one, or one that suits the sink buffer. */
static void ntrace_capture_set_interval(struct ntrace_capture *capture)
{
	struct ntrace_config *config = &capture->config;

	/* Without a buffer the timer only looks for losses of the encoder. */
	if (!config->drain_us && !config->sink_size)
		config->drain_us = NTRACE_DRAIN_US_DEFAULT_MAX;
	if (!config->drain_us)
		config->drain_us = min(config->sink_size / 4 / NTRACE_WORST_BYTES_PER_US,
				       NTRACE_DRAIN_US_DEFAULT_MAX);
	if (capture->client)
		config->drain_us = min(config->drain_us, NTRACE_DRAIN_US_PERF_MAX);
	config->drain_us = max(config->drain_us, NTRACE_DRAIN_US_MIN);
	capture->feed.interval = ns_to_ktime((u64)config->drain_us * NSEC_PER_USEC);
	capture->feed.pace = capture->feed.interval;
}

/* Return: 0, and the path has the reference; or a negative error with the hardware off. */
static int ntrace_capture_attach(struct ntrace_path *path, struct ntrace_capture *capture,
				 struct file *owner)
{
	int ret;

	/* The first access wakes the hart up, if it is in such a state now. */
	ret = dev_pm_qos_add_request(get_cpu_device(path->cpu), &path->awake,
				     DEV_PM_QOS_RESUME_LATENCY, 0);
	if (ret < 0)
		return ret;
	ret = ntrace_path_attach(path, capture);
	if (ret)
		goto awake;
	/* Events of perf start this themselves: each may need it or not. */
	if (!capture->client && capture->config.flags & NTRACE_CONFIG_CONTEXT) {
		ret = ntrace_context_start(path->cpu, ntrace_path_encoder(path)->encoder.stimulus);
		if (ret)
			goto detach;
		capture->context = true;
	}
	ntrace_capture_set_interval(capture);
	path->capture = capture;
	path->owner = owner;
	return 0;

detach:
	ntrace_path_detach(path, capture);
awake:
	dev_pm_qos_remove_request(&path->awake);
	return ret;
}

/*
 * Stops and releases the current capture of a locked path. Afterwards the hardware is off and has
 * no memory. The data area lives as long as it is mapped.
 */
void ntrace_capture_detach(struct ntrace_path *path)
{
	struct ntrace_capture *capture = path->capture;

	lockdep_assert_held(&path->lock);
	if (!capture)
		return;
	ntrace_capture_stop(capture);
	ntrace_path_detach(path, capture);
	dev_pm_qos_remove_request(&path->awake);
	if (capture->context) {
		ntrace_context_stop(path->cpu);
		ntrace_context_put();
	}
	irq_work_sync(&capture->feed.wake);
	/* Readers of this capture may wait while another one replaces it. */
	if (capture->feed.control->state != NTRACE_STATE_DEAD)
		/* Pairs with the acquire of readers: no trace arrives after STOPPED. */
		smp_store_release(&capture->feed.control->state, NTRACE_STATE_STOPPED);
	wake_up_interruptible_poll(&path->wait, EPOLLIN | EPOLLRDNORM);
	path->capture = NULL;
	path->owner = NULL;
	ntrace_capture_put(capture);
}

/**
 * ntrace_capture_open - configure a path
 * @path: path, locked
 * @config: configuration, of the first event of perf
 * @client: perf, or NULL
 * @owner: open file, or NULL. Its new configuration replaces its old capture, whose mappings stay
 *
 * Return: 0, and path->capture has the configuration in effect; or a negative error. Then the old
 * capture stays only if the configuration is invalid or memory is short.
 */
int ntrace_capture_open(struct ntrace_path *path, const struct ntrace_config *config,
			const struct ntrace_client *client, struct file *owner)
{
	struct ntrace_capture *capture = ntrace_capture_alloc(path, config, client);
	int ret;

	lockdep_assert_held(&path->lock);
	if (IS_ERR(capture))
		return PTR_ERR(capture);
	ntrace_capture_detach(path);
	ret = ntrace_capture_attach(path, capture, owner);
	if (ret)
		ntrace_capture_put(capture);
	return ret;
}

static int ntrace_capture_dead(struct ntrace_capture *capture, int error)
{
	WRITE_ONCE(capture->feed.control->state, NTRACE_STATE_DEAD);
	ntrace_path_detach(capture->path, capture);
	return error;
}

/*
 * Rewrites registers that may have been lost, and resumes. The capture is one of perf and stopped,
 * its path locked, its hart online. A capture of a file does this at its next start. Starts of
 * perf cannot wait.
 * Return: 0, or a negative error and the capture is dead.
 */
int ntrace_capture_revive(struct ntrace_capture *capture)
{
	int ret = ntrace_path_program(capture->path, &capture->config);

	lockdep_assert_held(&capture->path->lock);
	if (ret)
		return ntrace_capture_dead(capture, ret);
	capture->client->resume(capture->path);
	return 0;
}

/* Runs on the traced hart, interrupts off. */
static void ntrace_capture_start_here(void *data)
{
	struct ntrace_capture *capture = data;
	struct ntrace_component *encoder = ntrace_path_encoder(capture->path);

	capture->error = ntrace_encoder_enable(encoder);
	if (capture->error)
		return;
	hrtimer_start(&capture->feed.timer, capture->feed.interval, HRTIMER_MODE_REL_PINNED_HARD);
	WRITE_ONCE(capture->feed.control->start_ns, ktime_get_ns());
	/* The last store of the driver: the next instruction is traced. */
	if (!(capture->config.flags & NTRACE_CONFIG_ARMED))
		ntrace_encoder_trace(encoder);
}

/* Runs on the traced hart, or on any CPU if that hart is offline. */
static void ntrace_capture_stop_here(void *data)
{
	struct ntrace_capture *capture = data;

	ntrace_encoder_stop(ntrace_path_encoder(capture->path));
	WRITE_ONCE(capture->feed.control->stop_ns, ktime_get_ns());
}

/*
 * Starts or continues tracing. The path of the capture is locked. Allocates nothing and writes few
 * registers: user space may call it at every switch of a traced task.
 * Return: 0, -EBUSY if it is running or a debugger owns the encoder, -ENODEV if the hart is
 * offline or the path is dead, or an error of the hardware.
 */
int ntrace_capture_start(struct ntrace_capture *capture)
{
	struct ntrace_path *path = capture->path;
	int ret;

	lockdep_assert_held(&path->lock);
	if (capture->running)
		return -EBUSY;
	if (capture->feed.control->state == NTRACE_STATE_DEAD || !path->cpu_up)
		return -ENODEV;
	if (path->stale) {
		ret = ntrace_path_program(path, &capture->config);
		if (ret == -EBUSY)
			return ret;
		if (ret)
			return ntrace_capture_dead(capture, ret);
	}

	ret = ntrace_path_enable(path);
	if (ret)
		return ntrace_capture_dead(capture, ret);

	capture->running = true;
	WRITE_ONCE(capture->feed.control->stop_ns, 0);
	WRITE_ONCE(capture->feed.control->state, NTRACE_STATE_RUNNING);
	/* cpu_up: the hart stays online while the path is locked. */
	ret = smp_call_function_single(path->cpu, ntrace_capture_start_here, capture, 1);
	if (!ret)
		ret = capture->error;
	if (ret) {
		capture->running = false;
		ntrace_path_disable(capture, 0);
		/* The debugger may leave other values in the registers. */
		path->stale |= ret == -EBUSY;
		return ret == -EBUSY ? ret : ntrace_capture_dead(capture, ret);
	}
	return 0;
}

/*
 * Stops tracing and drains the rest. The path of the capture is locked. If others use the sink,
 * the rest arrives when they continue or stop; the state in the control page says when it is
 * complete.
 * Return: 0, also if it is not running; or the path is dead, and -ETIMEDOUT, -EIO, or -EBUSY if a
 * debugger has taken the encoder.
 */
int ntrace_capture_stop(struct ntrace_capture *capture)
{
	struct ntrace_path *path = capture->path;
	u32 control = 0;
	int ret, error;

	lockdep_assert_held(&path->lock);
	if (capture->client) {
		capture->client->stop(path);
		return 0;
	}
	if (!capture->running)
		return 0;
	capture->running = false;

	if (smp_call_function_single(path->cpu, ntrace_capture_stop_here, capture, 1))
		ntrace_capture_stop_here(capture);

	/*
	 * Nothing here spins with interrupts off: the traced hart must make progress for its last
	 * block to end.
	 */
	ret = ntrace_component_wait_disabled(ntrace_path_encoder(path), false, &control);
	error = ntrace_path_disable(capture, control);
	if (!ret)
		ret = error;
	if (!ret && capture->feed.fault)
		ret = capture->feed.taken ? -EBUSY : -EIO;
	if (ret)
		ntrace_capture_dead(capture, ret);
	wake_up_interruptible_poll(&path->wait, EPOLLIN | EPOLLRDNORM);
	return ret;
}
