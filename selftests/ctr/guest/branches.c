// SPDX-License-Identifier: GPL-2.0-only
/*
 * Loads a program and attaches it to an event of CPU 0 by frequency, as profilers do, while a
 * loop runs there. The program's branches must be those of the loop. Prints KTAP.
 * Usage: branches [cpu|series]
 *   nothing   branches.bpf.c, on an event of the PMU "ctr"
 *   cpu       branches.bpf.c, on an event of the kernel's own PMU (hook=1)
 *   series    records.bpf.c, on an event of the kernel's own PMU
 */
#include <errno.h>
#include <libgen.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "branches.h"
#include "kselftest.h"
#include "type.h"

#define SAMPLES 100

/* Its only branch leads back to its beginning. */
static __attribute__((noinline)) void spin(unsigned long rounds)
{
	while (rounds--)
		__asm__ volatile("");
}

static struct bpf_object *load(const char *self, const char *name)
{
	char directory[4096], path[4200];
	struct bpf_object *object;

	snprintf(directory, sizeof(directory), "%s", self);
	snprintf(path, sizeof(path), "%s/%s.bpf.o", dirname(directory), name);
	object = bpf_object__open(path);
	if (!object || bpf_object__load(object))
		ksft_exit_fail_msg("%s: %s\n", path, strerror(errno));
	return object;
}

static int open_event(int type)
{
	struct perf_event_attr attr = {
		.type = type,
		.size = sizeof(attr),
		.config = PERF_COUNT_HW_CPU_CYCLES,
		.freq = 1,
		.sample_freq = 1000,
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_BRANCH_STACK,
		.branch_sample_type = PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_ANY,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};

	return (int)syscall(SYS_perf_event_open, &attr, -1, 0, -1, 0);
}

/* Counters that the program writes are the first two values of its section .bss. */
static void read_samples(struct bpf_object *object, uint64_t *samples, uint64_t *failed)
{
	struct bpf_map *bss = bpf_object__find_map_by_name(object, ".bss");
	size_t size;
	const uint64_t *value = bss ? bpf_map__initial_value(bss, &size) : NULL;

	if (!value || size < 2 * sizeof(*value))
		ksft_exit_fail_msg("no counters in the program\n");
	*samples = __atomic_load_n(&value[0], __ATOMIC_RELAXED);
	*failed = __atomic_load_n(&value[1], __ATOMIC_RELAXED);
}

int main(int argc, char **argv)
{
	bool series = argc > 1 && !strcmp(argv[1], "series");
	struct bpf_object *object = load(argv[0], series ? "records" : "branches");
	struct bpf_program *program = bpf_object__find_program_by_name(object, "count_branches");
	int counts = bpf_object__find_map_fd_by_name(object, "counts");
	uint64_t samples = 0, failed = 0, count, looped = 0, kernel = 0, all = 0;
	const uintptr_t start = (uintptr_t)spin;
	struct branch branch, *previous = NULL;
	struct bpf_link *link;
	cpu_set_t cpus;
	int event;

	ksft_print_header();
	ksft_set_plan(3);
	CPU_ZERO(&cpus);
	CPU_SET(0, &cpus);
	if (sched_setaffinity(0, sizeof(cpus), &cpus))
		ksft_exit_fail_msg("CPU 0: %s\n", strerror(errno));
	event = open_event(argc > 1 ? PERF_TYPE_HARDWARE : (int)ctr_type());
	link = event < 0 ? NULL : bpf_program__attach_perf_event(program, event);
	if (!link)
		ksft_exit_fail_msg("an event with the program: %s\n", strerror(errno));
	for (unsigned int i = 0; i < 100000 && samples < SAMPLES; i++) {
		spin(100000);
		read_samples(object, &samples, &failed);
	}
	bpf_link__destroy(link);
	close(event);
	ksft_test_result(samples >= SAMPLES && !failed, "%llu samples, %llu without branches\n",
			 (unsigned long long)samples, (unsigned long long)failed);
	while (!bpf_map_get_next_key(counts, previous, &branch)) {
		if (bpf_map_lookup_elem(counts, &branch, &count))
			ksft_exit_fail_msg("the map: %s\n", strerror(errno));
		all += count;
		kernel += branch.from >> 63 || branch.to >> 63 ? count : 0;
		looped += branch.from - start < 64 && branch.to - start < 64 ? count : 0;
		previous = &branch;
	}
	ksft_test_result(looped >= samples * BRANCHES_MAX / 2,
			 "%llu of %llu branches in the loop\n", (unsigned long long)looped,
			 (unsigned long long)all);
	ksft_test_result(!kernel, "none of the kernel\n");
	bpf_object__close(object);
	ksft_finished();
}
