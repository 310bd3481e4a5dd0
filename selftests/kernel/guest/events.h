/* SPDX-License-Identifier: GPL-2.0-only */
/* Helpers for test programs of the PMU "ntrace": perf_event_open() without perf, and AUX areas. */
#ifndef SELFTESTS_KERNEL_EVENTS_H
#define SELFTESTS_KERNEL_EVENTS_H

#include <linux/perf_event.h>
#include <sys/syscall.h>

#include "guest.h"

#define DATA_PAGES 16

static unsigned int type;
/* The encoders leave nothing out (version 0): events that exclude something are refused. */
static bool whole;

/* Sets @whole. Other users than root cannot ask, and events of such encoders are not for them. */
static inline void look_for_filters(void)
{
	int fd = open("/dev/ntrace0", O_RDWR | O_CLOEXEC);

	if (fd < 0)
		return;
	whole = !info_of(fd).privilege;
	close(fd);
}

/* See is_flooded(). */
static inline bool flooded(void)
{
	return whole && on_debug_kernel();
}

static inline int event_open_in(struct perf_event_attr *attr, pid_t pid, int cpu, int leader)
{
	return (int)syscall(SYS_perf_event_open, attr, pid, cpu, leader, PERF_FLAG_FD_CLOEXEC);
}

static inline int event_open(struct perf_event_attr *attr, pid_t pid, int cpu)
{
	return event_open_in(attr, pid, cpu, -1);
}

/* Like event_open(), but retries: the path becomes free a moment after another event was closed. */
static inline int event_open_when_free(struct perf_event_attr *attr, pid_t pid, int cpu)
{
	uint64_t end = now_ns() + 10 * NSEC_PER_SEC;
	int fd;

	while ((fd = event_open(attr, pid, cpu)) < 0 && errno == EBUSY && now_ns() < end)
		usleep(1000);
	return fd;
}

static inline struct perf_event_attr attributes(void)
{
	return (struct perf_event_attr){
		.type = type,
		.size = sizeof(struct perf_event_attr),
		.exclude_kernel = !whole,
		.exclude_hv = !whole,
		.disabled = 1,
	};
}

/* An event, its buffer and its AUX area. */
struct aux_area {
	int fd;
	struct perf_event_mmap_page *page;
	uint8_t *aux;
	size_t aux_size;
};

static inline struct aux_area aux_area_open(struct perf_event_attr *attr, pid_t pid, int cpu,
					    size_t aux_size, bool overwrite)
{
	const size_t ring = (DATA_PAGES + 1) * (size_t)getpagesize();
	struct aux_area area = { .fd = event_open_when_free(attr, pid, cpu), .aux_size = aux_size };

	if (area.fd < 0)
		bail("perf_event_open");
	area.page = mmap(NULL, ring, PROT_READ | PROT_WRITE, MAP_SHARED, area.fd, 0);
	if (area.page == MAP_FAILED)
		bail("perf buffer");
	area.page->aux_offset = ring;
	area.page->aux_size = aux_size;
	area.aux = mmap(NULL, aux_size, overwrite ? PROT_READ : PROT_READ | PROT_WRITE, MAP_SHARED,
			area.fd, (off_t)ring);
	if (area.aux == MAP_FAILED)
		bail("AUX area");
	return area;
}

static inline void aux_area_close(struct aux_area *area)
{
	munmap(area->aux, area->aux_size);
	munmap(area->page, (DATA_PAGES + 1) * (size_t)getpagesize());
	close(area->fd);
}

static inline uint64_t aux_head(const struct aux_area *area)
{
	return __atomic_load_n(&area->page->aux_head, __ATOMIC_ACQUIRE);
}

/* Returns the flags of all PERF_RECORD_AUX, combined, without the format of the trace. */
static inline uint64_t aux_flags(const struct aux_area *area)
{
	const uint8_t *data = (const uint8_t *)area->page + area->page->data_offset;
	uint64_t at = 0, flags = 0, head = area->page->data_head;
	struct perf_event_header header;
	uint64_t aux[3];

	while (at < head && head <= area->page->data_size) {
		memcpy(&header, data + at, sizeof(header));
		memcpy(aux, data + at + sizeof(header), sizeof(aux));
		if (header.type == PERF_RECORD_AUX)
			flags |= aux[2];
		at += header.size;
	}
	return flags & ~(uint64_t)PERF_AUX_FLAG_PMU_FORMAT_TYPE_MASK;
}

#endif /* SELFTESTS_KERNEL_EVENTS_H */
