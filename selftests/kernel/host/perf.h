/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Model of perf for tests of the PMU "ntrace": tasks with one event each, CPU hotplug, paths that
 * are bound and unbound, captures through files. The sink of each hart provides the number of bytes
 * that a test sets.
 */
#ifndef HOST_PERF_H
#define HOST_PERF_H

#include <linux/cpu.h>

#include "machine.h"

#define CPUS 2
#define TASKS 4
#define AUX_SIZE 4096

unsigned int host_cpu;
bool host_online[nr_cpu_ids];
int host_cpus_read;
int host_allocations = -1;

static struct machine machine;
struct workqueue_struct *ntrace_release_queue;
struct mutex ntrace_lock;
LIST_HEAD(ntrace_paths);

/* Configuration of the model, besides the driver's own state. */
static struct {
	bool bound[CPUS];
	/* number of times the path was bound */
	unsigned int bindings[CPUS];
	bool tracing[CPUS];
	unsigned int programmed[CPUS];
	/* captures through files */
	bool file[CPUS];
	struct ntrace_capture file_capture[CPUS];
	bool file_open[CPUS];
	/* the caller has CAP_PERFMON; has CAP_SYS_PTRACE; perf_event_paranoid is below 2 */
	bool capable, ptrace, trusted;
	/* the kernel is locked down, up to confidentiality */
	bool locked;
	/* results that the hardware returns */
	bool fails;
	bool incomplete;
	u32 bytes;
	bool lap;
	/* the next AUX area begins with the mark of a gap */
	bool doubtful;
	/* the privilege filters do not work; number of trials */
	bool unfiltered;
	unsigned int trials;
	/* features of the encoder that are hard-wired */
	u32 wired;
	/* perf as in Linux 7.x, not 6.12 */
	bool newer;
} world;

/*
 * An event and its AUX area. @took: the bindings[] of the paths that the event took when it was
 * opened.
 */
struct task_event {
	struct perf_event event;
	struct perf_event_context context;
	bool open, enabled, snapshot;
	int on; /* CPU, -1: not scheduled */
	unsigned int took[CPUS];
	u8 *aux;
	struct ntrace_perf_aux *area;
	u64 head, tail;
	u64 flags; /* flags of all records, combined */
	u64 last_flags;
	unsigned int records;
	unsigned int formats; /* records with NTRACE_AUX_FORMAT, which @flags leave out */
	unsigned int ids[CPUS]; /* AUX_OUTPUT_HW_ID of each CPU */
};

static struct task_event tasks[TASKS];

static struct task_event *task_event_of(struct perf_event *event)
{
	return container_of(event, struct task_event, event);
}

/* ---- the driver's calls to perf ---- */

/* 6.12 stores the number of the CPU, and 0 does not disable the event. */
static void disable_later(struct perf_event *event)
{
	event->pending_disable = world.newer ? 1 : host_cpu;
}

void *perf_aux_output_begin(struct perf_output_handle *handle, struct perf_event *event)
{
	struct task_event *task = task_event_of(event);

	if (!task->aux)
		return NULL;
	handle->event = event;
	handle->aux_flags = 0;
	handle->head = task->head;
	handle->size = task->snapshot ? 0 : AUX_SIZE - 1 - (task->head - task->tail);
	if (task->snapshot || handle->size)
		return task->area;
	disable_later(event);
	return NULL;
}

void perf_aux_output_flag(struct perf_output_handle *handle, u64 flags)
{
	handle->aux_flags |= flags;
}

void perf_aux_output_end(struct perf_output_handle *handle, unsigned long size)
{
	struct task_event *task = task_event_of(handle->event);

	if (handle->aux_flags & PERF_AUX_FLAG_TRUNCATED)
		disable_later(handle->event);
	if (size || handle->aux_flags)
		task->records++;
	if (handle->aux_flags & NTRACE_AUX_FORMAT)
		task->formats++;
	handle->aux_flags &= ~(u64)NTRACE_AUX_FORMAT;
	task->flags |= handle->aux_flags;
	task->last_flags = handle->aux_flags;
	task->head = task->snapshot ? handle->head : task->head + size;
}

void perf_report_aux_output_id(struct perf_event *event, u64 hw_id)
{
	task_event_of(event)->ids[hw_id]++;
}

void perf_event_addr_filters_sync(struct perf_event *event)
{
}

int perf_pmu_register(struct pmu *pmu, const char *name, int type)
{
	pmu->type = 7;
	return 0;
}

void perf_pmu_unregister(struct pmu *pmu)
{
}

bool perfmon_capable(void)
{
	return world.capable;
}

int security_locked_down(enum lockdown_reason what)
{
	return what == LOCKDOWN_PERF && world.locked ? -EPERM : 0;
}

bool ns_capable(struct user_namespace *ns, int capability)
{
	return capability == CAP_SYS_PTRACE && world.ptrace;
}

int perf_allow_kernel(struct perf_event_attr *attr)
{
	return world.trusted || world.capable ? 0 : -EACCES;
}

/* The calling task, and a task that it may want to trace. */
static struct task_struct caller, other_task;
static struct cred caller_cred, other_cred;
struct task_struct *host_current = &caller;

const struct cred *__task_cred(const struct task_struct *of)
{
	return of == &caller ? &caller_cred : &other_cred;
}

/* ---- the driver's calls to its other files ---- */

const struct attribute_group *ntrace_perf_groups[] = { NULL };

bool ntrace_trigger_is_used(const struct ntrace_config *config)
{
	return false;
}

int ntrace_encoder_check(const struct ntrace_component *component, struct ntrace_config *config)
{
	config->features |= world.wired;
	return 0;
}

int ntrace_component_lacks(const struct ntrace_component *component, const char *field, u64 value)
{
	return -EOPNOTSUPP;
}

static unsigned int cpu_of(const struct ntrace_component *encoder)
{
	return (unsigned int)(encoder - machine.encoder);
}

static int program_encoder(struct ntrace_component *encoder, const struct ntrace_config *config)
{
	world.programmed[cpu_of(encoder)]++;
	return 0;
}

static const struct ntrace_ops encoder_ops = { .program = program_encoder };

int ntrace_encoder_enable(struct ntrace_component *encoder)
{
	return world.fails ? -ETIMEDOUT : 0;
}

void ntrace_encoder_trace(struct ntrace_component *encoder)
{
	world.tracing[cpu_of(encoder)] = true;
}

void ntrace_encoder_pause(struct ntrace_component *encoder)
{
	world.tracing[cpu_of(encoder)] = false;
}

void ntrace_encoder_stop(struct ntrace_component *encoder)
{
	world.tracing[cpu_of(encoder)] = false;
}

int ntrace_component_wait_disabled(struct ntrace_component *component, bool atomic, u32 *control)
{
	return world.fails ? -ETIMEDOUT : 0;
}

u32 readl(const void *address)
{
	return 0;
}

void writel(u32 value, void *address)
{
}

u64 ktime_get_ns(void)
{
	return 0;
}

int ntrace_context_get(void)
{
	return 0;
}

void ntrace_context_put(void)
{
}

int ntrace_context_start(unsigned int cpu, bool stored)
{
	return 0;
}

void ntrace_context_stop(unsigned int cpu)
{
}

int ntrace_path_enable_atomic(struct ntrace_path *path)
{
	return 0;
}

int ntrace_path_disable_atomic(struct ntrace_capture *capture, u32 control)
{
	hrtimer_try_to_cancel(&capture->feed.timer);
	capture->complete = !world.incomplete;
	return 0;
}

int ntrace_path_may_join(struct ntrace_path *path, const struct ntrace_capture *capture,
			 const struct ntrace_config *config)
{
	return 0;
}

void ntrace_turn_into(struct ntrace_feed *feed, void *data, size_t size, u64 head, u64 room,
		      bool overwrite)
{
	feed->data = data;
	feed->size = size;
	feed->head = head;
	feed->overwrite = overwrite;
	atomic64_set(&feed->tail, head + room - size);
	feed->overrun = false;
	feed->gap_head = U64_MAX - 1;
	if (world.doubtful)
		ntrace_feed_note(feed, 0, true);
	world.doubtful = false;
}

u64 ntrace_turn_discard(struct ntrace_feed *feed, bool lost)
{
	feed->data = NULL;
	feed->overwrite = false;
	feed->overrun = lost;
	return feed->head;
}

u32 ntrace_turn_causes(struct ntrace_feed *feed)
{
	u32 causes = feed->recent;

	feed->recent = 0;
	return causes;
}

void ntrace_turn_pause(struct ntrace_feed *feed, bool pause)
{
}

/* Leaves some trace behind. */
int ntrace_perf_trial(struct ntrace_path *path)
{
	struct ntrace_encoder *encoder = &ntrace_path_encoder(path)->encoder;

	world.trials++;
	path->capture->feed.head += 100;
	path->capture->feed.recent |= NTRACE_LOSS_ENCODER;
	encoder->filters_tried = true;
	encoder->filters_work = !world.unfiltered;
	return world.unfiltered ? -EACCES : 0;
}

void ntrace_drain_rearm(struct hrtimer *timer, ktime_t next)
{
	timer->next = next;
}

ktime_t ntrace_drain_first(struct ntrace_feed *feed)
{
	return feed->pace;
}

ktime_t ntrace_drain_step(struct ntrace_feed *feed)
{
	static const u8 trace[AUX_SIZE];

	if (feed->overwrite)
		atomic64_set(&feed->tail, feed->head);
	if (world.lap)
		ntrace_feed_miss(feed, 1, NTRACE_LOSS_LAPPED);
	ntrace_feed_put(feed, trace, world.bytes);
	ntrace_feed_commit(feed);
	return 1000;
}

void ntrace_drain_read(struct ntrace_feed *feed)
{
	ntrace_drain_step(feed);
}

int ntrace_capture_open(struct ntrace_path *path, const struct ntrace_config *config,
			const struct ntrace_client *client, struct file *owner)
{
	struct ntrace_capture *capture = &machine.capture[path->cpu];

	lockdep_assert_held(&path->lock);
	capture->client = client;
	capture->complete = true;
	capture->config = *config;
	capture->feed.timer.function = client->timer;
	capture->feed.counts = true;
	capture->feed.data = NULL;
	capture->feed.head = 0;
	capture->feed.gaps = 0;
	capture->feed.recent = 0;
	capture->feed.fault = false;
	capture->feed.control->state = NTRACE_STATE_CONFIGURED;
	path->capture = capture;
	path->stale = false;
	return 0;
}

void ntrace_capture_detach(struct ntrace_path *path)
{
	lockdep_assert_held(&path->lock);
	if (path->capture && path->capture->client)
		path->capture->client->stop(path);
	path->capture = NULL;
}

/* ---- events of the machine ---- */

static void bind_path(unsigned int cpu)
{
	struct ntrace_path *path = &machine.path[cpu];

	if (world.bound[cpu])
		return;
	path->cpu = cpu;
	path->gone = false;
	path->cpu_up = host_online[cpu];
	path->stale = !path->cpu_up;
	path->capture = NULL;
	list_add_tail(&path->node, &ntrace_paths);
	world.bound[cpu] = true;
	world.bindings[cpu]++;
}

/* Like ntrace_path_destroy(). */
static void unbind_path(unsigned int cpu)
{
	struct ntrace_path *path = &machine.path[cpu];

	if (!world.bound[cpu])
		return;
	guard(cpus_read_lock)();
	guard(mutex)(&path->lock);
	path->gone = true;
	if (path->capture && path->capture->client)
		path->capture->client->lose(path);
	ntrace_capture_detach(path);
	list_del(&path->node);
	world.bound[cpu] = false;
	world.file[cpu] = false;
}

/* As the driver does for the sinks that harts do not share. */
void ntrace_topology_evict(const struct ntrace_path *path, const struct pid *session)
{
	unsigned int cpu = path->cpu;
	struct ntrace_capture *capture = machine.path[cpu].capture;

	if (session || !capture || !capture->client || capture->privileged)
		return;
	guard(cpus_read_lock)();
	guard(mutex)(&machine.path[cpu].lock);
	capture->client->lose(&machine.path[cpu]);
	ntrace_capture_detach(&machine.path[cpu]);
}

/* Disables the event if perf was to do so, @out: because it is scheduled out, which 6.12 waits for. */
static void settle(struct task_event *task, bool out)
{
	if (!task->event.pending_disable || (!out && !world.newer))
		return;
	task->event.pending_disable = 0;
	task->enabled = false;
	if (task->on < 0)
		return;
	host_cpu = (unsigned int)task->on;
	ntrace_pmu.del(&task->event, 0);
	task->on = -1;
}

static struct task_event *running_on(unsigned int cpu)
{
	for (int i = 0; i < TASKS; i++)
		if (tasks[i].on == (int)cpu)
			return &tasks[i];
	return NULL;
}

static void schedule_out(unsigned int cpu)
{
	struct task_event *task = running_on(cpu);

	if (!task)
		return;
	host_cpu = cpu;
	ntrace_pmu.del(&task->event, 0);
	task->on = -1;
	settle(task, true);
}

/* Return: the result of add(). */
static int schedule_in(struct task_event *task, unsigned int cpu)
{
	int ret;

	if (!host_online[cpu] || !task->open || !task->enabled)
		return -EAGAIN;
	if (task->on >= 0)
		schedule_out((unsigned int)task->on);
	schedule_out(cpu);
	if (!task->enabled)
		return -EAGAIN;
	host_cpu = cpu;
	ret = ntrace_pmu.add(&task->event, PERF_EF_START);
	if (!ret)
		task->on = (int)cpu;
	settle(task, false);
	return ret;
}

/* On hot-unplug, the driver's callback runs before perf's. */
static void take_offline(unsigned int cpu)
{
	struct ntrace_path *path = &machine.path[cpu];

	if (!host_online[cpu])
		return;
	host_cpu = cpu;
	if (world.bound[cpu]) {
		guard(mutex)(&path->lock);
		path->cpu_up = false;
		path->stale = true;
		if (path->capture && path->capture->client)
			path->capture->client->stop(path);
	}
	schedule_out(cpu);
	host_online[cpu] = false;
	host_cpu = 0;
}

/* Tasks may run on the CPU before the driver's callback runs. */
static void bring_online(unsigned int cpu, struct task_event *early)
{
	struct ntrace_path *path = &machine.path[cpu];

	if (host_online[cpu])
		return;
	host_online[cpu] = true;
	if (early)
		schedule_in(early, cpu);
	host_cpu = cpu;
	if (world.bound[cpu]) {
		guard(mutex)(&path->lock);
		path->cpu_up = true;
		if (path->stale && path->capture && path->capture->client) {
			path->stale = false;
			path->capture->client->resume(path);
		}
	}
}

static int open_event(struct task_event *task, int cpu, bool aux)
{
	int ret;

	*task = (struct task_event){
		.event = { .pmu = &ntrace_pmu,
			   .ctx = &task->context,
			   .cpu = cpu,
			   .attr = { .type = 7, .exclude_kernel = 1 } },
		.on = -1,
	};
	host_cpu = 0;
	ret = ntrace_pmu.event_init(&task->event);
	if (ret)
		return ret;
	task->open = true;
	task->enabled = true;
	for (unsigned int i = 0; i < CPUS; i++)
		if (world.bound[i] && host_online[i] && (cpu < 0 || cpu == (int)i))
			task->took[i] = world.bindings[i];
	if (aux) {
		void *pages[1] = { task->aux = calloc(1, AUX_SIZE) };

		task->area = ntrace_pmu.setup_aux(&task->event, pages, 1, false);
		task->area->size = AUX_SIZE;
	}
	return 0;
}

/* Calls event_init() as perf_event_open() does before it checks permissions; leaves no event. */
static int try_attr(struct task_struct *target, struct perf_event_attr attr)
{
	struct perf_event event = {
		.pmu = &ntrace_pmu,
		.cpu = target ? -1 : 0,
		.attr = attr,
		.hw.target = target,
	};
	int ret;

	event.attr.type = 7;
	ret = ntrace_pmu.event_init(&event);

	if (!ret) {
		event.destroy(&event);
		flush_workqueue(ntrace_release_queue);
	}
	return ret;
}

static int try_open(struct task_struct *target, u64 config)
{
	return try_attr(target, (struct perf_event_attr){ .exclude_kernel = 1, .config = config });
}

/* @late: leave the driver's deferred work in its workqueue. */
static void close_event(struct task_event *task, bool late)
{
	if (!task->open)
		return;
	if (task->on >= 0)
		schedule_out((unsigned int)task->on);
	task->event.destroy(&task->event);
	if (task->area)
		ntrace_pmu.free_aux(task->area);
	free(task->aux);
	task->aux = NULL;
	task->open = false;
	if (!late)
		flush_workqueue(ntrace_release_queue);
}

static int configure_file(unsigned int cpu)
{
	struct ntrace_path *path = &machine.path[cpu];

	if (!world.bound[cpu] || !path->cpu_up)
		return -ENODEV;
	host_cpu = 0;
	ntrace_topology_evict(path, NULL);
	if (path->capture)
		return -EBUSY;
	world.file_capture[cpu] = (struct ntrace_capture){ .path = path };
	world.file_capture[cpu].feed.control = &machine.control[2 + cpu];
	path->capture = &world.file_capture[cpu];
	world.file[cpu] = true;
	return 0;
}

static void close_file(unsigned int cpu)
{
	if (world.file[cpu])
		machine.path[cpu].capture = NULL;
	world.file[cpu] = false;
}

static void machine_start(void)
{
	machine_init(&machine, CPUS, 0);
	INIT_LIST_HEAD(&ntrace_paths);
	(memset)(&world, 0, sizeof(world));
	world.trusted = true;
	(memset)(tasks, 0, sizeof(tasks));
	for (int i = 0; i < TASKS; i++)
		tasks[i].on = -1;
	ntrace_perf_init();
	for (unsigned int cpu = 0; cpu < CPUS; cpu++) {
		host_online[cpu] = true;
		machine.encoder[cpu].ops = &encoder_ops;
		machine.encoder[cpu].encoder.privilege = NTRACE_PRIVILEGE_ALL;
		bind_path(cpu);
	}
}

static void machine_stop(void)
{
	for (int i = 0; i < TASKS; i++)
		close_event(&tasks[i], false);
	ntrace_perf_exit();
	machine_free(&machine);
}

/* Like ntrace_topology_suspend() and ntrace_topology_resume(). */
static void sleep_system(unsigned int cpu)
{
	struct ntrace_path *path = &machine.path[cpu];

	host_cpu = 0;
	guard(mutex)(&path->lock);
	path->stale = true;
	if (path->capture && path->capture->client)
		path->capture->client->stop(path);
}

static void wake_system(unsigned int cpu)
{
	struct ntrace_path *path = &machine.path[cpu];

	host_cpu = 0;
	guard(mutex)(&path->lock);
	if (!path->capture || !path->capture->client)
		return;
	path->stale = false;
	path->capture->client->resume(path);
}

/* Lets time pass on a CPU: runs the drain timer. */
static void tick(unsigned int cpu)
{
	struct hrtimer *timer = &machine.capture[cpu].feed.timer;
	struct task_event *task = running_on(cpu);

	if (!timer->armed)
		return;
	host_cpu = cpu;
	timer->armed = timer->function(timer) == HRTIMER_RESTART;
	if (task)
		settle(task, false);
}

#endif /* HOST_PERF_H */
