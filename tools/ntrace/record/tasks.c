// SPDX-License-Identifier: GPL-2.0-only
/*
 * Per-process tracing through perf: opens events of the PMU "ntrace" and saves the trace from
 * their AUX areas.
 *
 * perf fills an AUX area from one CPU only, except that of a single thread. So each task has an
 * event per CPU, and the events of all tasks on a CPU share one AUX area. The kernel disables a
 * trace event while its area is full, which also stops the event's sideband records; so a dummy
 * event next to each trace event writes the sideband to the same ring buffer.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/perf_event.h>

#include "common/command.h"
#include "common/process_limits.h"
#include "common/ui.h"
#include "cpus.h"
#include "features.h"
#include "options.h"
#include "pmu.h"
#include "sideband.h"
#include "stream_params.h"
#include "tasks.h"
#include "trace_output.h"
#include "trigger.h"

/* Records of all tasks on a CPU. */
#define RING_SIZE (128u << 10)
/* Samples of system calls, under 1 KiB each, and of programs that start, 33 KiB; users have the trace to lock, too. */
#define VALUES_RING_SIZE (4u << 20)
#define VALUES_RING_SIZE_USER (512u << 10)
/* First size tried without --aux-size; users without CAP_IPC_LOCK get less. */
#define AUX_SIZE_DEFAULT (4u << 20)
#define AUX_SIZE_LEAST (64u << 10)
#define ANY_CPU -1

/* End of every record: see sideband_attr(). */
struct trailer {
	uint32_t pid, tid;
	uint64_t time;
	uint32_t cpu, reserved;
	uint64_t id;
};

static int open_failed(const struct tasks *tasks, pid_t pid, enum task_event_kind kind)
{
	const bool user = tasks->attrs[TASK_EVENT_TRACE].exclude_kernel;

	switch (errno) {
	case EACCES:
	case EPERM:
		/* Tracepoints are in the kernel, though all that is recorded is of user space. */
		if (kind >= TASK_EVENT_VALUES)
			return fail("no permission for the tracepoints of --values "
				    "(kernel.perf_event_paranoid is %d; needs CAP_PERFMON, or at "
				    "most 1 and a process of your own); or leave --values out",
				    pmu_paranoia());
		return fail(
			"no permission to trace process %d%s (kernel.perf_event_paranoid is %d; "
			"needs CAP_PERFMON, or at most %d and a process of your own)",
			pid, user ? "" : " with the kernel", pmu_paranoia(), user ? 2 : 1);
	case EBUSY:
		return fail("busy: the trace hardware is in use");
	case EINVAL:
		return fail("the module refuses this combination of options (--sync, --encoder, "
			    "--strobe, --trigger-in, --trigger-out)");
	case EOPNOTSUPP:
		return fail("the encoder does not support this: dmesg names the field that does "
			    "not take its value");
	case EMFILE:
		return fail("too many tasks for the number of files that may be open (ulimit -n)");
	case ENODEV:
		return fail("no working trace hardware");
	/* Zombies, too, cannot be traced any more. */
	case ESRCH:
		return TASKS_ENDED;
	default:
		return fail("perf event of the trace: %s", strerror(errno));
	}
}

static int open_event(const struct perf_event_attr *attr, pid_t pid, int cpu)
{
	return (int)syscall(SYS_perf_event_open, attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

/* ---- configuration of the encoder ---- */

static void choose_config(struct tasks *tasks)
{
	const struct record_options *options = tasks->options;
	const uint64_t modes = pmu_number("caps/modes", 0);
	struct ntrace_config *config = &tasks->config;

	*config = options->wanted;
	/* params names the mode, so the recorder chooses it. */
	if (!config->mode)
		config->mode = modes >> NTRACE_MODE_HTM & 1 ? NTRACE_MODE_HTM : NTRACE_MODE_BTM;
	record_options_sync(options, (uint32_t)pmu_number("caps/sync_modes", 1u << NTRACE_SYNC_OFF),
			    (uint32_t)pmu_number("caps/sync_max", 0), config);
	record_options_timestamps((uint32_t)pmu_number("caps/timestamp_modes", 0), config);
	tasks->inst_features = (uint32_t)pmu_number("caps/inst_features", 0);
	record_features_choose(tasks->inst_features, config);
	tasks->unfiltered = !pmu_number("caps/privileges", 0);
	if (tasks->unfiltered) {
		config->privilege = RECORD_PRIVILEGE_ALL;
	} else if (!config->privilege) {
		config->privilege = NTRACE_PRIVILEGE_U | NTRACE_PRIVILEGE_S;
		/* A trace of the kernel cannot be decoded without the kernel's code. */
		if (access("/proc/kcore", R_OK))
			config->privilege = NTRACE_PRIVILEGE_U;
	}
}

/* The trace of a thread must have the same dialect, and as wide a SRC, on all CPUs. */
static int check_versions(struct tasks *tasks)
{
	const uint64_t versions = pmu_number("caps/versions", 1u << 1);
	const uint64_t widths = pmu_number("caps/src_bits", 1u << 0);

	if (widths & (widths - 1))
		return fail("some encoders share a sink and some do not: tasks that move between "
			    "them cannot be traced (system-wide tracing works: --all)");
	tasks->src_bits = widths ? (unsigned int)__builtin_ctzll(widths) : 0;
	tasks->before = versions & 1;
	if (tasks->before && versions != 1)
		return fail("some encoders are pre-ratification and some are not: tasks that move "
			    "between them cannot be traced (system-wide tracing works: --all)");
	return EXIT_OK;
}

/* params has one value for properties that can differ between CPUs. */
static int check_timestamps(const struct tasks *tasks)
{
	const struct ntrace_config *config = &tasks->config;

	if (!config->timestamps ||
	    (config->timestamps != RECORD_TIMESTAMPS_ANY &&
	     pmu_number("caps/timestamp_modes", 0) >> config->timestamps & 1 &&
	     config->timestamp_prescale <= pmu_number("caps/timestamp_prescale_max", 0) &&
	     pmu_number("caps/timestamp_bits", 0)))
		return EXIT_OK;
	return fail("not all encoders support these timestamps (option --timestamps)");
}

static uint64_t timestamp_hz(const struct ntrace_config *config)
{
	static const char *const names[NTRACE_TIMESTAMPS_MAX] = {
		[NTRACE_TIMESTAMPS_EXTERNAL] = "caps/timestamp_hz_external",
		[NTRACE_TIMESTAMPS_SYSTEM] = "caps/timestamp_hz_system",
		[NTRACE_TIMESTAMPS_SHARED] = "caps/timestamp_hz_shared",
	};
	const char *name = names[config->timestamps % NTRACE_TIMESTAMPS_MAX];

	return name ? pmu_number(name, 0) : 0;
}

static int check_features(const struct tasks *tasks)
{
	const char *missing = record_features_missing(&tasks->config, tasks->inst_features,
						      pmu_number("caps/stall", 0));

	return missing ? fail("not all encoders have %s (option --encoder)", missing) : EXIT_OK;
}

static void describe_events(struct tasks *tasks, bool on_exec)
{
	const struct ntrace_config *config = &tasks->config;
	struct perf_event_attr *attr = &tasks->attrs[TASK_EVENT_TRACE];
	struct perf_event_attr *dummy = &tasks->attrs[TASK_EVENT_SIDEBAND], *value;
	const struct values *values = sideband_values(tasks->sideband);

	tasks->ring_size = !values  ? RING_SIZE :
			   geteuid() ? VALUES_RING_SIZE_USER :
				       VALUES_RING_SIZE;
	sideband_attr(dummy);
	dummy->wakeup_watermark = values ? VALUES_RING_SIZE_USER / 4 : RING_SIZE / 4;
	dummy->mmap_data = values != NULL;
	dummy->inherit = !tasks->options->per_thread;
	dummy->enable_on_exec = on_exec;
	dummy->exclude_kernel = !(config->privilege & NTRACE_PRIVILEGE_S);
	dummy->exclude_user = !(config->privilege & NTRACE_PRIVILEGE_U);
	dummy->exclude_hv = 1;
	if (dummy->exclude_kernel) {
		dummy->ksymbol = 0;
		dummy->bpf_event = 0;
	}
	memset(attr, 0, sizeof(*attr));
	attr->type = (uint32_t)pmu_number("type", 0);
	attr->size = dummy->size;
	attr->config = config->mode | config->sync_mode << 8 | config->sync_max << 12 |
		       config->timestamps << 16 | config->timestamp_prescale << 20;
	if (config->flags & NTRACE_CONFIG_CONTEXT)
		attr->config |= 1 << 24;
	if (config->flags & NTRACE_CONFIG_ARMED)
		attr->config |= 1 << 25;
	if (config->flags & NTRACE_CONFIG_DEBUG_TRIGGERS)
		attr->config |= 1 << 26;
	attr->config |= record_features_event(config);
	attr->config2 = config->trigger_in | (uint64_t)config->trigger_out << 32;
	attr->config1 = tasks->options->strobe_on | (uint64_t)tasks->options->strobe_off << 32;
	/* The event has no samples, but perf script refuses events without an address. */
	attr->sample_type = dummy->sample_type | PERF_SAMPLE_IP;
	attr->sample_id_all = 1;
	attr->disabled = 1;
	attr->inherit = dummy->inherit;
	attr->enable_on_exec = dummy->enable_on_exec;
	attr->exclude_kernel = dummy->exclude_kernel;
	attr->exclude_user = dummy->exclude_user;
	/* Without a filter all privileges are traced, which an event must ask for. */
	attr->exclude_hv = !tasks->unfiltered;
	attr->watermark = 1;
	attr->wakeup_watermark = dummy->wakeup_watermark;
	attr->use_clockid = 1;
	attr->clockid = dummy->clockid;
	for (unsigned int i = 0; values && i < VALUES_EVENTS; i++) {
		value = &tasks->attrs[TASK_EVENT_VALUES + i];
		*value = values->attrs[i];
		value->inherit = dummy->inherit;
		value->enable_on_exec = dummy->enable_on_exec;
	}
}

/* ---- events and areas ---- */

/* Maps the AUX area: with the given size, or else with the largest that is allowed. */
static int map_aux(struct tasks *tasks, struct task_area *area)
{
	uint64_t size = tasks->options->aux_size ? tasks->options->aux_size : AUX_SIZE_DEFAULT;
	void *map;

	area->page->aux_offset = (uint64_t)sysconf(_SC_PAGESIZE) + tasks->ring_size;
	for (;;) {
		area->page->aux_size = size;
		/* Read-only: the kernel overwrites the oldest trace. */
		map = mmap(NULL, size,
			   tasks->options->snapshot ? PROT_READ : PROT_READ | PROT_WRITE,
			   MAP_SHARED, area->fd, (off_t)area->page->aux_offset);
		if (map != MAP_FAILED || tasks->options->aux_size || size == AUX_SIZE_LEAST ||
		    (errno != EPERM && errno != ENOMEM))
			break;
		size /= 2;
	}
	if (map == MAP_FAILED)
		return errno == EPERM || errno == ENOMEM ?
			       fail("AUX area of %" PRIu64 " bytes: not allowed that much memory: "
				    "a smaller --aux-size, or a higher ulimit -l or "
				    "kernel.perf_event_mlock_kb",
				    size) :
			       fail("AUX area of %" PRIu64
				    " bytes: %s (--aux-size: a power of two)",
				    size, strerror(errno));
	area->aux = map;
	area->size = size;
	return EXIT_OK;
}

static int new_area(struct tasks *tasks, int fd, int cpu)
{
	struct task_area *areas = realloc(tasks->areas, (tasks->area_count + 1) * sizeof(*areas));
	struct task_area *area;

	if (!areas)
		return fail("out of memory");
	tasks->areas = areas;
	area = &areas[tasks->area_count++];
	*area = (struct task_area){ .fd = fd, .cpu = cpu };
	if (ioctl(fd, PERF_EVENT_IOC_ID, &area->id))
		return fail("perf event of the trace: %s", strerror(errno));
	area->page = sideband_ring(tasks->sideband, fd, cpu, tasks->ring_size);
	/* Root without CAP_IPC_LOCK. */
	if (!area->page && errno == EPERM && tasks->ring_size > VALUES_RING_SIZE_USER) {
		tasks->ring_size = VALUES_RING_SIZE_USER;
		area->page = sideband_ring(tasks->sideband, fd, cpu, tasks->ring_size);
	}
	if (!area->page)
		return fail("buffer of perf events: %s%s", strerror(errno),
			    errno == EPERM ? " (ulimit -l, kernel.perf_event_mlock_kb)" : "");
	return map_aux(tasks, area);
}

/* Index of the CPU's area, or of a new one; an area for ANY_CPU is not shared. */
static unsigned int find_area(const struct tasks *tasks, int cpu)
{
	unsigned int i;

	for (i = 0; cpu != ANY_CPU && i < tasks->area_count; i++)
		if (tasks->areas[i].cpu == cpu)
			return i;
	return tasks->area_count;
}

/* Directs the event's output to its area; the first event of an area creates it. */
static int attach_event(struct tasks *tasks, struct task_event *event, int cpu)
{
	if (event->area == tasks->area_count)
		return new_area(tasks, event->fd, cpu);
	if (ioctl(event->fd, PERF_EVENT_IOC_SET_OUTPUT, tasks->areas[event->area].fd))
		return fail("perf events for one buffer: %s", strerror(errno));
	return EXIT_OK;
}

static int filter_failed(const struct tasks *tasks)
{
	if (errno == EOPNOTSUPP)
		return fail("not all encoders can filter so many address ranges (option --filter): "
			    "%u at a time",
			    (unsigned int)pmu_number("caps/ranges", 0));
	if (errno == EINVAL)
		return fail("perf does not take '%s' as a filter of this task (option --filter): "
			    "a range without a file must be in the kernel",
			    tasks->options->filter);
	return fail("'%s': %s", tasks->options->filter, strerror(errno));
}

static int add_event(struct tasks *tasks, enum task_event_kind kind, pid_t pid, int cpu,
		     unsigned int area)
{
	struct task_event *events, *event;

	events = realloc(tasks->events, (tasks->event_count + 1) * sizeof(*events));
	if (!events)
		return fail("out of memory");
	tasks->events = events;
	event = &events[tasks->event_count];
	*event = (struct task_event){
		.fd = open_event(&tasks->attrs[kind], pid, cpu),
		.kind = kind,
		.area = area,
	};
	if (event->fd < 0)
		return open_failed(tasks, pid, kind);
	tasks->event_count++;
	if (kind == TASK_EVENT_TRACE && tasks->options->filter &&
	    ioctl(event->fd, PERF_EVENT_IOC_SET_FILTER, tasks->options->filter))
		return filter_failed(tasks);
	if (ioctl(event->fd, PERF_EVENT_IOC_ID, &event->id))
		return fail("perf event: %s", strerror(errno));
	return attach_event(tasks, event, cpu);
}

static int trace_task_on(struct tasks *tasks, pid_t pid, int cpu)
{
	unsigned int area = find_area(tasks, cpu);
	/* The trace comes first: its event owns the area. */
	int error = add_event(tasks, TASK_EVENT_TRACE, pid, cpu, area);

	if (!error)
		error = add_event(tasks, TASK_EVENT_SIDEBAND, pid, cpu, area);
	for (unsigned int i = 0; !error && sideband_values(tasks->sideband) && i < VALUES_EVENTS;
	     i++)
		error = add_event(tasks, TASK_EVENT_VALUES + i, pid, cpu, area);
	return error;
}

/* ---- traced threads ---- */

bool tasks_has(struct tasks *tasks, pid_t tid)
{
	if (tid_list_has(&tasks->tids, tid))
		return true;
	return !sideband_drain(tasks->sideband) && tid_list_has(&tasks->tids, tid);
}

static int trace_task(struct tasks *tasks, pid_t pid)
{
	unsigned int cpu;
	int error = EXIT_OK;

	tid_list_add(&tasks->tids, pid);
	if (tasks->options->per_thread)
		return trace_task_on(tasks, pid, ANY_CPU);
	for (cpu = 0; !error && cpu < CPUS_MAX; cpu++)
		if (cpu_mask_has(&tasks->cpus, cpu))
			error = trace_task_on(tasks, pid, (int)cpu);
	return error;
}

/* Traces all current threads of a process; events are inherited by those that they start. */
static int trace_process(struct tasks *tasks, pid_t pid)
{
	char path[64];
	struct dirent *entry;
	DIR *threads;
	bool traced = false;
	int error = EXIT_OK;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	threads = opendir(path);
	if (!threads)
		return TASKS_ENDED;
	while ((!error || error == TASKS_ENDED) && (entry = readdir(threads))) {
		if (entry->d_name[0] == '.')
			continue;
		error = trace_task(tasks, atoi(entry->d_name));
		traced |= !error;
	}
	closedir(threads);
	return error == TASKS_ENDED && traced ? EXIT_OK : error;
}

static int trace_listed(struct tasks *tasks, bool may_have_ended)
{
	const struct record_options *options = tasks->options;
	unsigned int i, count = options->pids.count + options->tids.count;
	int error = EXIT_OK;

	for (i = 0; !error && i < count; i++) {
		bool thread = i >= options->pids.count;
		pid_t id = thread ? options->tids.ids[i - options->pids.count] :
				    options->pids.ids[i];

		error = thread || options->per_thread ? trace_task(tasks, id) :
							trace_process(tasks, id);
		if (error == TASKS_ENDED)
			error = may_have_ended ?
					EXIT_OK :
					fail("no %s %d", thread ? "thread" : "process", id);
	}
	return error;
}

/* Chooses the online CPUs with an encoder, and warns of those without. */
static int choose_cpus(struct tasks *tasks)
{
	struct cpu_mask encoders, online;
	char text[4096];
	unsigned int i, missing = 0;

	if (!pmu_read_text(PMU "cpumask", text, sizeof(text)) || !cpu_mask_parse(&encoders, text))
		return fail("no PMU \"ntrace\": is the module loaded (modprobe ntrace), and does "
			    "this machine have N-Trace hardware?");
	if (!cpu_mask_online(&online))
		return fail("/sys/devices/system/cpu/online cannot be read");
	for (i = 0; i < CPUS_MAX / 64; i++) {
		tasks->cpus.bits[i] = encoders.bits[i] & online.bits[i];
		missing += (unsigned int)__builtin_popcountll(online.bits[i] & ~encoders.bits[i]);
	}
	if (missing)
		warn("%u CPUs have no trace encoder: code that runs there is not traced", missing);
	return EXIT_OK;
}

static const char *event_name(enum task_event_kind kind)
{
	if (kind >= TASK_EVENT_VALUES)
		return values_name(kind - TASK_EVENT_VALUES);
	return kind == TASK_EVENT_TRACE ? "ntrace//" : "dummy:HG";
}

static int declare_events(struct tasks *tasks)
{
	uint64_t *ids = calloc(tasks->event_count, sizeof(*ids));
	enum task_event_kind kind;
	unsigned int i;
	size_t count;
	int error = EXIT_OK;

	if (!ids)
		return fail("out of memory");
	/* Dummies first: records that the recorder synthesizes have the format of the first event. */
	for (kind = 0; !error && kind < TASK_EVENT_KINDS; kind++) {
		for (count = 0, i = 0; i < tasks->event_count; i++)
			if (tasks->events[i].kind == kind)
				ids[count++] = tasks->events[i].id;
		if (count)
			error = sideband_event(tasks->sideband, &tasks->attrs[kind], ids, count,
					       event_name(kind));
	}
	free(ids);
	return error;
}

/* Record: struct { header; u32 pid, ppid, tid, ptid; u64 time }, of traced threads only. */
static void look_at_thread(struct tasks *tasks, const struct perf_event_header *record)
{
	uint32_t ids[4];

	if (record->size < sizeof(*record) + sizeof(ids))
		return;
	memcpy(ids, record + 1, sizeof(ids));
	if (record->type == PERF_RECORD_FORK && !tasks->options->per_thread)
		tid_list_add(&tasks->tids, (pid_t)ids[2]);
	else if (record->type == PERF_RECORD_EXIT)
		tid_list_end(&tasks->tids, (pid_t)ids[2]);
}

/* Evaluates records about losses, threads, and the exec at which the trace begins. */
static void look(void *data, const struct perf_event_header *record)
{
	const uint64_t *aux = (const uint64_t *)(const void *)(record + 1);
	struct tasks *tasks = data;
	struct task_area *area;
	struct trailer trailer;
	unsigned int i;

	if (record->size < sizeof(*record) + sizeof(trailer))
		return;
	if (record->type == PERF_RECORD_FORK || record->type == PERF_RECORD_EXIT)
		look_at_thread(tasks, record);
	memcpy(&trailer, (const uint8_t *)record + record->size - sizeof(trailer), sizeof(trailer));
	if (record->type == PERF_RECORD_COMM && record->misc & PERF_RECORD_MISC_COMM_EXEC &&
	    !tasks->start_ns && tasks->child && trailer.pid == (uint32_t)tasks->child)
		tasks->start_ns = trailer.time;
	if (record->type != PERF_RECORD_AUX ||
	    record->size < sizeof(*record) + 24 + sizeof(trailer) ||
	    !(aux[2] & ~(uint64_t)(PERF_AUX_FLAG_OVERWRITE | PERF_AUX_FLAG_PMU_FORMAT_TYPE_MASK)))
		return;
	for (i = 0; i < tasks->area_count; i++) {
		area = &tasks->areas[i];
		if (area->cpu == ANY_CPU ? area->id != trailer.id : area->cpu != (int)trailer.cpu)
			continue;
		area->gaps++;
		area->loss |= aux[2] >> NTRACE_AUX_LOSS_SHIFT & 0xff;
	}
}

/* Creates the next aux.N, for the trace of an area from its tail on. */
static int new_file(struct tasks *tasks, unsigned int area)
{
	struct task_file *files = realloc(tasks->files, (tasks->file_count + 1) * sizeof(*files));
	struct task_file *file;
	int error;

	if (!files)
		return fail("out of memory");
	tasks->files = files;
	file = &files[tasks->file_count];
	*file = (struct task_file){ .area = area, .position = tasks->areas[area].tail };
	error = trace_output_open(&file->output, tasks->directory, tasks->file_count,
				  tasks->options->compress);
	if (!error)
		tasks->file_count++;
	return error;
}

int tasks_open(struct tasks *tasks, const struct record_options *options, struct sideband *sideband,
	       pid_t child, bool may_have_ended)
{
	unsigned int i;
	int error;

	tasks->options = options;
	tasks->directory = options->directory;
	tasks->sideband = sideband;
	tasks->child = child;
	error = choose_cpus(tasks);
	if (error)
		return error;
	if (pmu_read_text("/sys/module/ntrace/version", tasks->module_version,
			  sizeof(tasks->module_version)))
		tasks->module_version[strcspn(tasks->module_version, "\n")] = '\0';
	choose_config(tasks);
	error = record_privilege_check(tasks->options->wanted.privilege,
				       (uint32_t)pmu_number("caps/privileges", 0));
	if (!error)
		error = check_versions(tasks);
	if (!error)
		error = check_timestamps(tasks);
	if (!error)
		error = check_features(tasks);
	if (error)
		return error;
	if (!record_trigger_fits(&tasks->config, (uint32_t)pmu_number("caps/triggers_in", 0),
				 (uint32_t)pmu_number("caps/triggers_out", 0),
				 pmu_number("caps/triggers_debug", 0)))
		return fail("not all encoders support these triggers (options --trigger-in, "
			    "--trigger-out, --debug-triggers)");
	describe_events(tasks, child);
	/* Two files per task and CPU, or four. */
	limits_raise_files();
	if (child)
		error = trace_task(tasks, child);
	/* The command waits for its exec. */
	if (error == TASKS_ENDED)
		error = fail("the command was killed before it began");
	if (!error)
		error = trace_listed(tasks, may_have_ended);
	if (!error && !tasks->event_count)
		error = TASKS_ENDED;
	if (!error)
		error = declare_events(tasks);
	if (!error)
		error = sideband_contents(sideband, &tasks->tids);
	for (i = 0; !error && !options->snapshot && i < tasks->area_count; i++)
		error = new_file(tasks, i);
	if (!error)
		sideband_look(sideband, look, tasks);
	return error;
}

static void control(const struct tasks *tasks, bool trace_only, unsigned long request)
{
	unsigned int i;

	for (i = 0; i < tasks->event_count; i++)
		if (tasks->events[i].kind == TASK_EVENT_TRACE || !trace_only)
			ioctl(tasks->events[i].fd, request, 0);
}

void tasks_stop(const struct tasks *tasks)
{
	control(tasks, true, PERF_EVENT_IOC_DISABLE);
}

void tasks_enable(struct tasks *tasks)
{
	control(tasks, false, PERF_EVENT_IOC_ENABLE);
}

/* ---- saving ---- */

static uint64_t area_head(const struct task_area *area)
{
	return __atomic_load_n(&area->page->aux_head, __ATOMIC_ACQUIRE);
}

/* Saves the trace from the tail to @head. */
static void save_area(struct tasks *tasks, struct task_file *file, uint64_t head)
{
	struct task_area *area = &tasks->areas[file->area];
	uint64_t from, size;
	int error;

	while (area->tail < head) {
		from = area->tail & (area->size - 1);
		size = head - area->tail;
		if (size > area->size - from)
			size = area->size - from;
		error = trace_output_write(&file->output, area->aux + from, size);
		if (!tasks->error)
			tasks->error = error;
		area->tail += size;
	}
	file->gaps += area->gaps;
	area->gaps = 0;
	file->loss |= area->loss;
	area->loss = 0;
}

static int save_failed(const struct tasks *tasks)
{
	return fail("%s: %s: the trace saved so far can be decoded", tasks->directory,
		    trace_output_is_full(tasks->error) ? "disk full" : strerror(tasks->error));
}

static int save_all(struct tasks *tasks)
{
	unsigned int i;
	int error = sideband_drain(tasks->sideband);

	for (i = 0; i < tasks->file_count; i++) {
		struct task_area *area = &tasks->areas[tasks->files[i].area];

		save_area(tasks, &tasks->files[i], area_head(area));
		__atomic_store_n(&area->page->aux_tail, area->tail, __ATOMIC_RELEASE);
	}
	return !error && tasks->error ? save_failed(tasks) : error;
}

/* Saves the contents of each area except trace already saved. All events are disabled. */
static int save_snapshot(struct tasks *tasks)
{
	unsigned int i;
	int error = sideband_drain(tasks->sideband);

	for (i = 0; !error && i < tasks->area_count; i++) {
		struct task_area *area = &tasks->areas[i];
		uint64_t head = area_head(area);

		if (head - area->tail > area->size)
			area->tail = head - area->size;
		if (head == area->tail)
			continue;
		error = new_file(tasks, i);
		if (!error)
			save_area(tasks, &tasks->files[tasks->file_count - 1], head);
	}
	return !error && tasks->error ? save_failed(tasks) : error;
}

int tasks_snapshot(struct tasks *tasks)
{
	int error;

	control(tasks, true, PERF_EVENT_IOC_DISABLE);
	error = save_snapshot(tasks);
	control(tasks, true, PERF_EVENT_IOC_ENABLE);
	return error;
}

void tasks_start_sync(const struct tasks *tasks)
{
	unsigned int i;

	for (i = 0; i < tasks->file_count; i++)
		trace_output_start_sync(&tasks->files[i].output);
}

int tasks_drain(struct tasks *tasks)
{
	return tasks->options->snapshot ? sideband_drain(tasks->sideband) : save_all(tasks);
}

static void close_file(struct tasks *tasks, struct task_file *file)
{
	int error;

	if (!tasks->error)
		tasks->error = trace_output_end(&file->output);
	/* What is left in the area is lost. */
	else if (!tasks->options->snapshot)
		save_area(tasks, file, area_head(&tasks->areas[file->area]));
	/* Drops the end of the trace to make room for the files that decoding needs. */
	if (trace_output_is_full(tasks->error))
		trace_output_make_room(&file->output);
	error = trace_output_close(&file->output);
	if (!tasks->error)
		tasks->error = error;
}

int tasks_finish(struct tasks *tasks)
{
	/* Contents end first: those of a call without registers would count as those of the call before. */
	int error = sideband_enable_values(tasks->sideband, false);
	bool said = tasks->error;
	unsigned int i;

	control(tasks, false, PERF_EVENT_IOC_DISABLE);
	if (said)
		error = EXIT_FAILED;
	else if (!error)
		error = tasks->options->snapshot ? save_snapshot(tasks) : save_all(tasks);
	for (i = 0; i < tasks->file_count; i++)
		close_file(tasks, &tasks->files[i]);
	return !error && tasks->error ? save_failed(tasks) : error;
}

void tasks_close(struct tasks *tasks)
{
	unsigned int i;

	for (i = 0; i < tasks->area_count; i++)
		if (tasks->areas[i].aux)
			munmap((void *)(uintptr_t)tasks->areas[i].aux, tasks->areas[i].size);
	for (i = 0; i < tasks->file_count; i++)
		trace_output_close(&tasks->files[i].output);
	for (i = 0; i < tasks->event_count; i++)
		close(tasks->events[i].fd);
	tid_list_free(&tasks->tids);
	free(tasks->areas);
	free(tasks->files);
	free(tasks->events);
}

/* ---- description of the streams ---- */

void tasks_describe(const struct tasks *tasks, unsigned int index, struct ntrace_stream *stream,
		    struct ntrace_params *params)
{
	const struct task_file *file = &tasks->files[index];
	const struct task_area *area = &tasks->areas[file->area];

	ntrace_params_init(params);
	stream_params_version(params, !tasks->before);
	params->src_bits = tasks->src_bits;
	record_features_describe(params, &tasks->config, tasks->inst_features);
	/* The kernel has separated the messages of CPUs that share a sink. */
	stream->src = tasks->src_bits ? NTRACE_SRC_ANY : 0;
	params->xlen = 8 * sizeof(long);
	params->mode = tasks->config.mode == NTRACE_MODE_BTM ? NTRACE_MODE_BRANCH :
							       NTRACE_MODE_HISTORY;
	stream_params_timestamps(params, &tasks->config,
				 (uint32_t)pmu_number("caps/timestamp_bits", 0),
				 timestamp_hz(&tasks->config));
	stream->params = params;
	stream->file = file->output.name;
	stream->cpu = area->cpu == ANY_CPU ? NTRACE_STREAM_NO_CPU : (unsigned int)area->cpu;
	stream->hartid = area->cpu == ANY_CPU ? 0 : stream_params_hart(area->cpu);
	stream->bytes = file->output.saved;
	stream->gaps = file->gaps;
	stream->lost = file->output.lost;
	stream->loss = file->loss;
	/* The kernel reports where trace was lost, but not how much. */
	stream->lost_exact = !file->gaps;
	stream->event = area->id;
	stream->position = file->position;
	stream->start_ns = tasks->start_ns;
}
