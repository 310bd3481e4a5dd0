// SPDX-License-Identifier: GPL-2.0-only
/* The recorder's side of /dev/ntraceN: configuration, start, stop, saving. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <inttypes.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "common/command.h"
#include "common/ui.h"
#include "cpus.h"
#include "device.h"
#include "features.h"
#include "options.h"
#include "spool.h"
#include "trace_output.h"
#include "trigger.h"

/* Largest number of bytes consumed at once: the ring is freed in small steps. */
#define PIECE_MAX (1u << 20)

/*
 * Bytes that a device writes ahead at a time. The trace that writing makes of the recorder is up to
 * half as large.
 */
#define AHEAD_MAX (8u << 20)
/* On a disk with less space than this, trace stays in memory: the sideband comes first. */
#define AHEAD_ROOM (8u << 20)

/* Names a process that has the device open, for "busy". */
static void find_owner(const char *path, char *text, size_t size)
{
	char target[64], pattern[64], comm[32] = "?";
	ssize_t length;
	glob_t links;
	FILE *file;
	size_t i;
	int pid;

	snprintf(text, size, "another process");
	snprintf(pattern, sizeof(pattern), "/proc/[0-9]*/fd/*");
	if (glob(pattern, GLOB_NOSORT, NULL, &links))
		return;
	for (i = 0; i < links.gl_pathc; i++) {
		length = readlink(links.gl_pathv[i], target, sizeof(target) - 1);
		if (length <= 0)
			continue;
		target[length] = '\0';
		pid = atoi(links.gl_pathv[i] + strlen("/proc/"));
		if (strcmp(target, path) || pid == getpid())
			continue;
		snprintf(pattern, sizeof(pattern), "/proc/%d/comm", pid);
		file = fopen(pattern, "r");
		if (file) {
			if (!fgets(comm, sizeof(comm), file))
				strcpy(comm, "?");
			fclose(file);
			comm[strcspn(comm, "\n")] = '\0';
		}
		snprintf(text, size, "process %d (%s)", pid, comm);
		break;
	}
	globfree(&links);
}

static int open_failed(const char *path, int error)
{
	char owner[64];

	switch (error) {
	case EACCES:
	case EPERM:
		return fail("%s: no permission: system-wide tracing needs root or CAP_PERFMON",
			    path);
	case EBUSY:
		find_owner(path, owner, sizeof(owner));
		return fail("%s: busy: %s is tracing with it", path, owner);
	case ENODEV:
	case ENXIO:
		return fail("%s: the CPU is offline, or its trace hardware is gone", path);
	default:
		return fail("%s: %s", path, strerror(error));
	}
}

static int check_version(const struct device *device)
{
	unsigned int module = device->info.abi_version;

	if (module == NTRACE_ABI_VERSION)
		return EXIT_OK;
	return fail("the ntrace module has version %u of the interface, this ntrace version %u: "
		    "install matching versions (the %s is older)",
		    module, (unsigned int)NTRACE_ABI_VERSION,
		    module < NTRACE_ABI_VERSION ? "module" : "command");
}

static int open_device(struct device *device, const char *path)
{
	device->fd = -1;
	device->output.fd = -1;
	snprintf(device->path, sizeof(device->path), "%s", path);
	device->fd = open(path, O_RDWR | O_CLOEXEC);
	if (device->fd < 0)
		return open_failed(path, errno);
	device->info.size = sizeof(device->info);
	if (ioctl(device->fd, NTRACE_IOC_INFO, &device->info)) {
		if (errno == ENOTTY || errno == E2BIG || errno == EINVAL)
			return fail("%s: the ntrace module does not support this ntrace: install "
				    "matching versions",
				    path);
		return open_failed(path, errno);
	}
	return check_version(device);
}

static int compare_devices(const void *a, const void *b)
{
	const struct device *left = a, *right = b;

	return left->info.cpu < right->info.cpu ? -1 : left->info.cpu > right->info.cpu;
}

/* Every requested CPU must have a device. */
static int check_cpus(const struct device_list *list, const struct cpu_mask *cpus)
{
	unsigned int cpu, i;

	for (cpu = 0; cpu < CPUS_MAX; cpu++) {
		if (!cpu_mask_has(cpus, cpu))
			continue;
		for (i = 0; i < list->count && list->devices[i].info.cpu != cpu; i++)
			;
		if (i == list->count)
			return fail("CPU %u has no trace device", cpu);
	}
	return list->count ? EXIT_OK : fail("no CPU is selected");
}

/* If harts share a sink, one of their devices delivers all of its trace. */
static void find_leader(const struct device_list *list, struct device *device)
{
	const struct device *other;

	for (other = list->devices; other < device && !device->leader; other++) {
		if ((device->info.src_bits || device->info.framing) &&
		    other->info.sink == device->info.sink)
			device->leader = other;
	}
}

int devices_open(struct device_list *list, const struct cpu_mask *cpus)
{
	struct device *device;
	glob_t paths;
	int error = EXIT_OK;
	size_t i;

	*list = (struct device_list){ 0 };
	if (glob("/dev/ntrace[0-9]*", 0, NULL, &paths))
		return fail(
			"no trace device (/dev/ntrace*): is the module loaded (modprobe ntrace), "
			"and does this machine have N-Trace hardware?");
	list->devices = calloc(paths.gl_pathc, sizeof(*list->devices));
	if (!list->devices) {
		globfree(&paths);
		return fail("out of memory");
	}
	for (i = 0; !error && i < paths.gl_pathc; i++) {
		device = &list->devices[list->count++];
		error = open_device(device, paths.gl_pathv[i]);
		if (!error && cpus && !cpu_mask_has(cpus, device->info.cpu)) {
			close(device->fd);
			list->count--;
		}
	}
	globfree(&paths);
	if (!error)
		qsort(list->devices, list->count, sizeof(*list->devices), compare_devices);
	if (!error && cpus)
		error = check_cpus(list, cpus);
	for (i = 0; !error && i < list->count; i++)
		find_leader(list, &list->devices[i]);
	return error;
}

void devices_close(struct device_list *list)
{
	struct device *device;
	unsigned int i;

	for (i = 0; i < list->count; i++) {
		device = &list->devices[i];
		if (device->control)
			munmap((void *)(uintptr_t)device->control, device->map_size);
		if (device->fd >= 0)
			close(device->fd);
		trace_output_close(&device->output);
	}
	free(list->devices);
	*list = (struct device_list){ 0 };
}

/* Reports what the hardware lacks more precisely than EOPNOTSUPP. */
/* Does the encoder have the comparators? */
static bool compares(const struct ntrace_info *info, const struct ntrace_config *wanted)
{
	uint32_t kinds = 0, count = wanted->range_count;

	if (wanted->mark_count)
		kinds |= NTRACE_COMPARE_MARK, count += (wanted->mark_count + 1) / 2;
	if (wanted->flags & RECORD_WINDOW)
		kinds |= NTRACE_COMPARE_FROM_UNTIL, count++;
	if (wanted->task)
		kinds |= NTRACE_COMPARE_TASK, count++;
	return !(kinds & ~info->comparisons) && (!kinds || count <= info->comparators);
}

static int check_abilities(const struct device *device, const struct ntrace_config *wanted)
{
	const struct ntrace_info *info = &device->info;
	const char *missing;

	if (!info->sink_size_max)
		return fail("%s: the trace of CPU %u leaves the machine (%s): there is nothing to "
			    "record here",
			    device->path, info->cpu,
			    (info->sink_impl >> 8 & 0xf) == 0xa ? "PIB sink" : "ATB bridge");
	if (wanted->mode && !(info->modes >> wanted->mode & 1))
		return fail("%s: the encoder of CPU %u has no %s (option --mode)", device->path,
			    info->cpu, wanted->mode == NTRACE_MODE_BTM ? "BTM" : "HTM");
	if (!(info->sync_modes >> wanted->sync_mode & 1))
		return fail("%s: the encoder of CPU %u has no such periodic synchronization "
			    "(option --sync)",
			    device->path, info->cpu);
	if (wanted->sync_mode && wanted->sync_max > info->sync_max)
		return fail(
			"%s: the longest interval of the encoder of CPU %u is 2^%u (option --sync)",
			device->path, info->cpu, info->sync_max + 4);
	if (wanted->timestamps && (wanted->timestamps == RECORD_TIMESTAMPS_ANY ||
				   !(info->timestamp_modes >> wanted->timestamps & 1) ||
				   wanted->timestamp_prescale > info->timestamp_prescale_max))
		return fail(
			"%s: the encoder of CPU %u has no such timestamps (option --timestamps)",
			device->path, info->cpu);
	if (record_privilege_check(wanted->privilege, info->privilege))
		return EXIT_FAILED;
	missing = record_features_missing(wanted, info->inst_features, info->stall);
	if (missing)
		return fail("%s: the encoder of CPU %u has no %s (option --encoder)", device->path,
			    info->cpu, missing);
	if (wanted->range_count > info->range_max)
		return fail(
			"%s: the encoder of CPU %u can filter %u address ranges (option --filter)",
			device->path, info->cpu, info->range_max);
	if (wanted->traps &&
	    (!(info->traps >> wanted->traps & 1) || (wanted->causes && !info->causes)))
		return fail("%s: the encoder of CPU %u cannot filter by traps (option --traps)",
			    device->path, info->cpu);
	if (!compares(info, wanted))
		return fail("%s: the encoder of CPU %u cannot compare all this at a time: it has "
			    "%u comparators%s%s%s (--filter, --mark, --from, --until, "
			    "--only-context)",
			    device->path, info->cpu, info->comparators,
			    info->comparisons & NTRACE_COMPARE_MARK ? ", for marks" : "",
			    info->comparisons & NTRACE_COMPARE_FROM_UNTIL ? ", for from and until" :
									    "",
			    info->comparisons & NTRACE_COMPARE_TASK ? ", for threads" : "");
	if (!record_trigger_fits(wanted, info->triggers_in, info->triggers_out,
				 info->triggers_debug))
		return fail("%s: the encoder of CPU %u has no such trigger: it has inputs 0x%x, "
			    "outputs 0x%x%s (--trigger-in, --trigger-out, --debug-triggers)",
			    device->path, info->cpu, info->triggers_in, info->triggers_out,
			    info->triggers_debug ? "" : ", no debug triggers");
	if (wanted->sink_size > info->sink_size_max)
		return fail("%s: the largest sink buffer of CPU %u is %" PRIu64
			    " bytes (option --sink-size)",
			    device->path, info->cpu, (uint64_t)info->sink_size_max);
	return EXIT_OK;
}

/*
 * A trace of the kernel shows task switches. Without the kernel, ask for Ownership messages
 * if the encoder has them. Return: as ioctl().
 */
static int set_config(struct device *device)
{
	struct ntrace_config named = device->config;

	if (named.privilege && !(named.privilege & NTRACE_PRIVILEGE_S) && device->info.context) {
		named.flags |= NTRACE_CONFIG_CONTEXT;
		if (!ioctl(device->fd, NTRACE_IOC_CONFIGURE, &named)) {
			device->config = named;
			return 0;
		}
		if (errno != EOPNOTSUPP)
			return -1;
	}
	return ioctl(device->fd, NTRACE_IOC_CONFIGURE, &device->config);
}

int device_configure(struct device *device, const struct ntrace_config *wanted)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	const volatile struct ntrace_control *control;
	void *map;
	int error;

	error = check_abilities(device, wanted);
	if (error)
		return error;
	device->config = *wanted;
	if (!device->config.privilege && !device->info.privilege)
		device->config.privilege = RECORD_PRIVILEGE_ALL;
	device->config.size = sizeof(device->config);
	if (device->leader)
		device->config.flags |= NTRACE_CONFIG_NO_DATA;
	if (set_config(device)) {
		if (errno == EOPNOTSUPP)
			return fail("%s: the encoder of CPU %u does not support this: dmesg names "
				    "the field that does not take its value",
				    device->path, device->info.cpu);
		if (errno == ENOMEM)
			return fail("%s: not enough memory for the buffers: a smaller --sink-size "
				    "or --data-size may fit",
				    device->path);
		if (errno == EINVAL)
			return fail("%s: the module refuses these sizes (--sink-size, --data-size: "
				    "a power of two of at least a page)",
				    device->path);
		return open_failed(device->path, errno);
	}
	/* The first page has the layout; then map everything. */
	map = mmap(NULL, page, PROT_READ, MAP_SHARED, device->fd, 0);
	if (map == MAP_FAILED)
		return fail("%s: mmap: %s", device->path, strerror(errno));
	control = map;
	device->map_size = control->data_offset + control->data_size;
	munmap(map, page);
	map = mmap(NULL, device->map_size, PROT_READ, MAP_SHARED, device->fd, 0);
	if (map == MAP_FAILED)
		return fail("%s: mmap: %s", device->path, strerror(errno));
	device->control = map;
	device->data = (const uint8_t *)map + device->control->data_offset;
	return EXIT_OK;
}

/* Saves one contiguous piece and consumes it. Return: 0 or errno. */
static int save_piece(struct device *device, uint64_t tail, size_t size)
{
	struct ntrace_consume consume = { .size = sizeof(consume), .tail = tail + size };
	const uint8_t *from = device->data + (tail & (device->control->data_size - 1));
	int error = spool_add(&device->spool, from, size);

	if (error)
		return error;
	return ioctl(device->fd, NTRACE_IOC_CONSUME, &consume) ? errno : 0;
}

/* Saves all available trace. */
static int save_available(struct device *device)
{
	uint64_t head = __atomic_load_n((const uint64_t *)(uintptr_t)&device->control->head,
					__ATOMIC_ACQUIRE);
	uint64_t tail = device->control->tail, mask = device->control->data_size - 1, size;
	int error = 0;

	while (!error && tail < head) {
		size = head - tail;
		if (size > mask + 1 - (tail & mask))
			size = mask + 1 - (tail & mask);
		if (size > PIECE_MAX)
			size = PIECE_MAX;
		error = save_piece(device, tail, (size_t)size);
		tail += size;
	}
	return error;
}

static void *save_thread(void *data)
{
	struct sched_param priority = { .sched_priority = 1 };
	struct device *device = data;
	struct pollfd poller = { .fd = device->fd, .events = POLLIN };
	uint64_t one = 1;
	int error = 0;

	/* Real-time priority keeps up with the buffer; best effort without permission. */
	pthread_setschedparam(pthread_self(), SCHED_FIFO, &priority);
	while (!error) {
		if (poll(&poller, 1, -1) < 0) {
			if (errno != EINTR)
				error = errno;
			continue;
		}
		if (poller.revents & (POLLIN | POLLHUP | POLLERR))
			error = save_available(device);
		if (!error && poller.revents & POLLERR)
			error = EIO;
		else if (poller.revents & POLLHUP)
			break;
	}
	device->error = error;
	if (error && write(device->notify, &one, sizeof(one)) < 0)
		warn("eventfd: %s", strerror(errno));
	return NULL;
}

void device_keep_for_live(struct device *device, unsigned int index)
{
	device->live = true;
	snprintf(device->output.name, sizeof(device->output.name), "aux.%u", index);
	if (device->leader)
		memcpy(device->output.name, device->leader->output.name,
		       sizeof(device->output.name));
}

int device_save_to(struct device *device, const char *directory, unsigned int index,
		   unsigned int level, uint64_t memory)
{
	if (!device->leader) {
		spool_init(&device->spool, &device->output, memory);
		return trace_output_open(&device->output, directory, index, level);
	}
	memcpy(device->output.name, device->leader->output.name, sizeof(device->output.name));
	spool_init(&device->spool, &device->output, 0);
	return EXIT_OK;
}

int device_start(struct device *device)
{
	int error;

	if (ioctl(device->fd, NTRACE_IOC_START))
		return errno == EBUSY || errno == ENODEV ?
			       open_failed(device->path, errno) :
			       fail("%s: starting the trace: %s", device->path, strerror(errno));
	device->running = true;
	device->start_ns = device->control->start_ns;
	if (device->live)
		return EXIT_OK;
	/* Start this thread last: it ends with the trace, and the buffer has space until then. */
	error = pthread_create(&device->thread, NULL, save_thread, device);
	if (error)
		return fail("starting a thread: %s", strerror(error));
	device->thread_started = true;
	return EXIT_OK;
}

int device_stop(struct device *device)
{
	const volatile struct ntrace_control *control = device->control;
	int error = EXIT_OK;

	if (!device->running)
		return EXIT_OK;
	device->running = false;
	if (ioctl(device->fd, NTRACE_IOC_STOP))
		error = fail("%s: stopping the trace: %s", device->path, strerror(errno));
	device->start_ns = control->start_ns;
	device->stop_ns = control->stop_ns;
	return error;
}

/* Whether the disk has room for @size bytes, and for the files that decoding needs. */
static bool has_room(const struct device *device, uint64_t size)
{
	struct statvfs status;

	return !fstatvfs(device->output.fd, &status) &&
	       (uint64_t)status.f_bavail * status.f_frsize >= size + AHEAD_ROOM;
}

void device_mark_ahead(struct device *device)
{
	if (device->thread_started && !device->leader)
		device->ahead = spool_added(&device->spool);
}

int device_write_ahead(struct device *device)
{
	int error;

	if (!device->ahead || !has_room(device, AHEAD_MAX))
		return 0;
	error = spool_write_ahead(&device->spool, device->ahead, AHEAD_MAX);
	if (!error)
		trace_output_start_sync(&device->output);
	return error;
}

/* If harts share a sink, the last one to stop delivers the end of the trace. */
static void take_losses(struct device *device)
{
	device->lost = device->control->lost;
	device->loss = device->control->loss;
	device->gaps = device->control->gaps;
}

static void take_losses_of_leader(struct device *device)
{
	device->saved = device->leader->saved;
	device->lost = device->leader->lost;
	device->loss |= device->leader->loss;
	device->gaps = device->leader->gaps;
}

static void save_rest(struct device *device)
{
	int error;

	if (device->control)
		take_losses(device);
	if (device->leader)
		take_losses_of_leader(device);
	if (device->leader || device->live)
		return;
	error = spool_flush(&device->spool);
	if (!device->error)
		device->error = error;
	/* Drops the end of the trace to make room for the files that decoding needs. */
	if (device->output.fd >= 0 && trace_output_is_full(device->error))
		trace_output_make_room(&device->output);
	error = trace_output_close(&device->output);
	if (!device->error)
		device->error = error;
	device->saved = device->output.saved;
	/* Trace left after a failed write is lost; its size is known. */
	if (device->control && device->control->head > device->saved)
		device->lost += device->control->head - device->saved;
}

int device_save_finish(struct device *device, bool quiet)
{
	if (device->thread_started) {
		pthread_join(device->thread, NULL);
		device->thread_started = false;
	}
	save_rest(device);
	if (!device->error)
		return EXIT_OK;
	if (quiet)
		return EXIT_FAILED;
	if (trace_output_is_full(device->error))
		return fail("%s: disk full after %" PRIu64
			    " bytes: the trace saved so far can be decoded",
			    device->output.name, device->saved);
	if (device->error == EIO)
		return fail("%s: the trace hardware did not answer, or the disk failed: earlier "
			    "trace is saved",
			    device->path);
	return fail("%s: %s", device->output.name, strerror(device->error));
}
