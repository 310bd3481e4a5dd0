// SPDX-License-Identifier: GPL-2.0-only
/*
 * Perf events that wake the recorder at once: uprobes at the entry and the return of a function,
 * and the tracepoint of signals.
 *
 * The events belong to CPUs, not to tasks: the kernel opens inherited events again at each fork
 * with the rights of the task, and fork fails if the task lacks them. The sample names the thread
 * of a hit.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <linux/perf_event.h>

#include "common/command.h"
#include "common/ui.h"
#include "record/cpus.h"
#include "trigger.h"

#define SOURCES "/sys/bus/event_source/devices/"
#define RING_SIZE (64u << 10)
/* Limit for all CPUs together; further hits are lost. */
#define HITS_MAX 16384
/* A sample's time is taken shortly before it appears in the ring. */
#define SETTLE_NS 50000

/* Fields of the kernel's sample: IDENTIFIER, TID and TIME. */
struct sample {
	struct perf_event_header header;
	uint64_t id;
	uint32_t pid, tid;
	uint64_t time;
};

struct ring {
	struct perf_event_mmap_page *page;
	const uint8_t *data;
};

/**
 * struct trigger - see trigger.h
 * @leaders: event of each CPU whose ring all events of that CPU write to
 * @fds: all events, with @ids and @kinds
 * @hits: sorted by time; those from @taken on are not reported yet
 */
struct trigger {
	int *leaders;
	struct ring *rings;
	unsigned int ring_count;
	int *fds;
	uint64_t *ids;
	enum trigger_kind *kinds;
	unsigned int count;
	struct trigger_hit *hits;
	unsigned int hit_count;
	unsigned int taken;
	uint64_t lost;
};

static bool read_number(const char *path, uint64_t *number)
{
	char text[64], *end = text;
	FILE *file = fopen(path, "re");

	if (file && fgets(text, sizeof(text), file))
		*number = strtoull(text, &end, 10);
	if (file)
		fclose(file);
	return end != text;
}

static void describe(struct perf_event_attr *attr)
{
	memset(attr, 0, sizeof(*attr));
	attr->size = PERF_ATTR_SIZE_VER5;
	attr->sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
	attr->sample_period = 1;
	attr->wakeup_events = 1;
	attr->use_clockid = 1;
	attr->clockid = CLOCK_MONOTONIC;
}

static int describe_probe(struct perf_event_attr *attr, const struct trigger_request *request,
			  bool returns)
{
	uint64_t type;

	if (!read_number(SOURCES "uprobe/type", &type))
		return fail("the kernel cannot probe functions of programs "
			    "(CONFIG_UPROBE_EVENTS)");
	describe(attr);
	attr->type = (uint32_t)type;
	attr->config = returns;
	attr->uprobe_path = (uintptr_t)request->file;
	attr->probe_offset = request->offset;
	return EXIT_OK;
}

static int describe_signal(struct perf_event_attr *attr)
{
	uint64_t id;

	if (!read_number("/sys/kernel/tracing/events/signal/signal_deliver/id", &id) &&
	    !read_number("/sys/kernel/debug/tracing/events/signal/signal_deliver/id", &id))
		return fail("the tracepoint of signals cannot be read: needs root and tracefs "
			    "(mount -t tracefs none /sys/kernel/tracing)");
	describe(attr);
	attr->type = PERF_TYPE_TRACEPOINT;
	attr->config = id;
	return EXIT_OK;
}

static int open_failed(const struct trigger_request *request, enum trigger_kind kind)
{
	const char *what = kind == TRIGGER_SIGNAL ? "signals" : "functions";

	switch (errno) {
	case EACCES:
	case EPERM:
		return fail("no permission to watch %s: needs root or CAP_PERFMON", what);
	case EMFILE:
		return fail("too many open files: a higher limit is needed (ulimit -n)");
	case ENODEV:
	case ENXIO:
		return fail("a CPU went offline");
	default:
		if (kind == TRIGGER_SIGNAL)
			return fail("perf event of the signal: %s", strerror(errno));
		return fail("%s, offset 0x%" PRIx64 ": the kernel does not probe this "
			    "instruction: %s",
			    request->file, request->offset, strerror(errno));
	}
}

/* The CPU's ring is that of its first event. */
static int attach(struct trigger *trigger, int fd, unsigned int first)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *map;

	if (first != trigger->ring_count)
		return ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, trigger->leaders[first]);
	map = mmap(NULL, page + RING_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		return -1;
	trigger->rings[first] = (struct ring){ map, (const uint8_t *)map + page };
	trigger->leaders[trigger->ring_count++] = fd;
	return 0;
}

static int open_on(struct trigger *trigger, const struct trigger_request *request,
		   enum trigger_kind kind, unsigned int cpu, unsigned int ring)
{
	struct perf_event_attr attr;
	char filter[32];
	int error, fd;

	error = kind == TRIGGER_SIGNAL ? describe_signal(&attr) :
					 describe_probe(&attr, request, kind == TRIGGER_RETURN);
	if (error)
		return error;
	fd = (int)syscall(SYS_perf_event_open, &attr, -1, (int)cpu, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return open_failed(request, kind);
	trigger->fds[trigger->count] = fd;
	trigger->kinds[trigger->count] = kind;
	snprintf(filter, sizeof(filter), "sig==%d", request->signal);
	if (ioctl(fd, PERF_EVENT_IOC_ID, &trigger->ids[trigger->count++]) ||
	    (kind == TRIGGER_SIGNAL && ioctl(fd, PERF_EVENT_IOC_SET_FILTER, filter)) ||
	    attach(trigger, fd, ring))
		return fail("events to wait for: %s%s", strerror(errno),
			    errno == EPERM ? " (ulimit -l, kernel.perf_event_mlock_kb)" : "");
	return EXIT_OK;
}

static int open_cpu(struct trigger *trigger, const struct trigger_request *request,
		    unsigned int cpu)
{
	unsigned int ring = trigger->ring_count;
	int error = EXIT_OK;

	if (request->file)
		error = open_on(trigger, request, TRIGGER_CALL, cpu, ring);
	if (!error && request->file && request->returns)
		error = open_on(trigger, request, TRIGGER_RETURN, cpu, ring);
	if (!error && request->signal)
		error = open_on(trigger, request, TRIGGER_SIGNAL, cpu, ring);
	return error;
}

int trigger_open(struct trigger **result, const struct trigger_request *request)
{
	struct trigger *trigger = calloc(1, sizeof(*trigger));
	struct cpu_mask online;
	unsigned int cpu;
	int error = EXIT_OK;

	*result = trigger;
	if (!trigger)
		return fail("out of memory");
	if (!cpu_mask_online(&online))
		return fail("/sys/devices/system/cpu/online cannot be read");
	trigger->leaders = calloc(CPUS_MAX, sizeof(*trigger->leaders));
	trigger->rings = calloc(CPUS_MAX, sizeof(*trigger->rings));
	trigger->fds = calloc(CPUS_MAX * TRIGGER_KINDS, sizeof(*trigger->fds));
	trigger->ids = calloc(CPUS_MAX * TRIGGER_KINDS, sizeof(*trigger->ids));
	trigger->kinds = calloc(CPUS_MAX * TRIGGER_KINDS, sizeof(*trigger->kinds));
	trigger->hits = calloc(HITS_MAX, sizeof(*trigger->hits));
	if (!trigger->leaders || !trigger->rings || !trigger->fds || !trigger->ids ||
	    !trigger->kinds || !trigger->hits)
		return fail("out of memory");
	for (cpu = 0; !error && cpu < CPUS_MAX; cpu++)
		if (cpu_mask_has(&online, cpu))
			error = open_cpu(trigger, request, cpu);
	return error;
}

void trigger_close(struct trigger *trigger)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	unsigned int i;

	if (!trigger)
		return;
	for (i = 0; i < trigger->ring_count; i++)
		munmap(trigger->rings[i].page, page + RING_SIZE);
	for (i = 0; i < trigger->count; i++)
		close(trigger->fds[i]);
	free(trigger->leaders);
	free(trigger->rings);
	free(trigger->fds);
	free(trigger->ids);
	free(trigger->kinds);
	free(trigger->hits);
	free(trigger);
}

unsigned int trigger_fds(const struct trigger *trigger, const int **fds)
{
	*fds = trigger->leaders;
	return trigger->ring_count;
}

/* ---- reading hits ---- */

static void copy_out(const struct ring *ring, uint64_t at, void *to, size_t size)
{
	uint8_t *bytes = to;
	size_t i;

	for (i = 0; i < size; i++)
		bytes[i] = ring->data[(at + i) & (RING_SIZE - 1)];
}

static void take_sample(struct trigger *trigger, const struct sample *sample)
{
	unsigned int i;

	for (i = 0; i < trigger->count && trigger->ids[i] != sample->id; i++)
		;
	if (i == trigger->count)
		return;
	if (trigger->hit_count == HITS_MAX) {
		trigger->lost++;
		return;
	}
	trigger->hits[trigger->hit_count++] = (struct trigger_hit){
		.kind = trigger->kinds[i],
		.pid = (pid_t)sample->pid,
		.tid = (pid_t)sample->tid,
		.time = sample->time,
	};
}

static void take_ring(struct trigger *trigger, const struct ring *ring)
{
	uint64_t head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
	uint64_t tail = ring->page->data_tail, lost;
	struct sample sample;

	while (tail < head) {
		copy_out(ring, tail, &sample.header, sizeof(sample.header));
		if (sample.header.size < sizeof(sample.header))
			break;
		if (sample.header.type == PERF_RECORD_SAMPLE &&
		    sample.header.size >= sizeof(sample)) {
			copy_out(ring, tail, &sample, sizeof(sample));
			take_sample(trigger, &sample);
		} else if (sample.header.type == PERF_RECORD_LOST) {
			/* struct { header; u64 id; u64 lost; } */
			copy_out(ring, tail + 16, &lost, sizeof(lost));
			trigger->lost += lost;
		}
		tail += sample.header.size;
	}
	__atomic_store_n(&ring->page->data_tail, head, __ATOMIC_RELEASE);
}

static int by_time(const void *a, const void *b)
{
	const struct trigger_hit *left = a, *right = b;

	if (left->time != right->time)
		return left->time < right->time ? -1 : 1;
	return (int)left->kind - (int)right->kind;
}

static void take_all(struct trigger *trigger)
{
	unsigned int i, left = trigger->hit_count - trigger->taken;

	memmove(trigger->hits, trigger->hits + trigger->taken, left * sizeof(*trigger->hits));
	trigger->hit_count = left;
	trigger->taken = 0;
	for (i = 0; i < trigger->ring_count; i++)
		take_ring(trigger, &trigger->rings[i]);
	if (trigger->hit_count)
		qsort(trigger->hits, trigger->hit_count, sizeof(*trigger->hits), by_time);
}

bool trigger_next(struct trigger *trigger, struct trigger_hit *hit)
{
	/* Order matters for the entry and the return of a call. */
	const uint64_t settled = monotonic_ns() - SETTLE_NS;

	if (trigger->taken == trigger->hit_count || trigger->hits[trigger->taken].time > settled)
		take_all(trigger);
	if (trigger->taken == trigger->hit_count)
		return false;
	*hit = trigger->hits[trigger->taken];
	if (hit->kind == TRIGGER_RETURN && hit->time > settled)
		return false;
	trigger->taken++;
	return true;
}

bool trigger_waiting(const struct trigger *trigger)
{
	return trigger->taken < trigger->hit_count;
}

uint64_t trigger_lost(const struct trigger *trigger)
{
	return trigger->lost;
}
