// SPDX-License-Identifier: GPL-2.0-only
/*
 * The cost of a sample. With -icount, a nanosecond is an instruction of this hart, independent of
 * the task that executes it, so time is cost. Nothing reads the buffer meanwhile.
 * Usage: ctr_cost LOOPS                   only the load
 *        ctr_cost LOOPS TYPE PERIOD DEPTH [others]
 *        others: two further events, of calls and of the kernel, share the ring
 *        TYPE is the type of the PMU "ctr", or 0 for cycles without a branch stack
 * Prints: instructions samples entries
 */
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define BUFFER_PAGES 4096

static volatile unsigned int sink;

static __attribute__((noinline)) unsigned int step(unsigned int value)
{
	return value & 1 ? 3 * value + 1 : value >> 1;
}

static void load(unsigned long loops)
{
	unsigned int value = 27;

	while (loops--) {
		value = step(value);
		if (value == 1)
			value = 27 + (loops & 0xff);
	}
	sink = value;
}

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static int open_event(unsigned int type, unsigned long period, unsigned int depth,
		      uint64_t branches)
{
	struct perf_event_attr attr = {
		.type = type,
		.size = sizeof(attr),
		.config = PERF_COUNT_HW_CPU_CYCLES,
		.config2 = depth,
		.sample_period = period,
		.sample_type = PERF_SAMPLE_IP,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.disabled = 1,
	};

	if (type != PERF_TYPE_HARDWARE) {
		attr.sample_type |= PERF_SAMPLE_BRANCH_STACK;
		attr.branch_sample_type = branches;
		attr.sample_max_stack = 127;
	}
	return (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
}

static void count(const struct perf_event_mmap_page *page, uint64_t *samples, uint64_t *entries)
{
	const char *data = (const char *)page + page->data_offset;
	uint64_t at = 0, number;
	struct perf_event_header header;

	while (at < page->data_head && at + sizeof(header) <= page->data_size) {
		memcpy(&header, data + at, sizeof(header));
		if (header.type == PERF_RECORD_SAMPLE) {
			++*samples;
			/* Header, IP, number of entries. */
			if (header.size >= 24) {
				memcpy(&number, data + at + 16, sizeof(number));
				*entries += number;
			}
		} else if (header.type == PERF_RECORD_LOST) {
			fprintf(stderr, "ctr_cost: the buffer is too small\n");
			exit(1);
		}
		if (!header.size)
			exit(1);
		at += header.size;
	}
}

int main(int argc, char **argv)
{
	size_t size = (BUFFER_PAGES + 1) * (size_t)sysconf(_SC_PAGESIZE);
	unsigned long loops = argc > 1 ? strtoul(argv[1], NULL, 0) : 0;
	uint64_t start, end, samples = 0, entries = 0;
	void *page = NULL;
	int fd = -1, others[2] = { 0, 0 };

	if (argc > 4) {
		unsigned int type = (unsigned int)strtoul(argv[2], NULL, 0);

		fd = open_event(type, strtoul(argv[3], NULL, 0),
				(unsigned int)strtoul(argv[4], NULL, 0),
				PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_ANY);
		/* With a period that never ends. */
		if (argc > 5) {
			others[0] = open_event(type, 1ul << 40, 0,
					       PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_CALL);
			others[1] = open_event(type, 1ul << 40, 0,
					       PERF_SAMPLE_BRANCH_KERNEL | PERF_SAMPLE_BRANCH_ANY);
		}
		if (fd >= 0)
			page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		if (fd < 0 || page == MAP_FAILED || others[0] < 0 || others[1] < 0) {
			perror("ctr_cost");
			return 1;
		}
	}
	load(loops / 10);
	for (unsigned int i = 0; i < 2 && others[i]; i++)
		ioctl(others[i], PERF_EVENT_IOC_ENABLE, 0);
	if (fd >= 0)
		ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	start = now();
	load(loops);
	end = now();
	if (fd >= 0) {
		ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
		count(page, &samples, &entries);
	}
	printf("%llu %llu %llu\n", (unsigned long long)(end - start), (unsigned long long)samples,
	       (unsigned long long)entries);
	return 0;
}
