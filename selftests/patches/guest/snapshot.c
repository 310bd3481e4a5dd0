// SPDX-License-Identifier: GPL-2.0-only
/*
 * bpf_get_branch_snapshot(): a program on the tracepoint of fork() reads the last transfers of the
 * hart, while an event with a branch stack records the kernel, and while none does. Tools that trace
 * functions (retsnoop) open an event without a period on each CPU; an event of the task whose period
 * never ends must do as well. Without libbpf: the program is a dozen instructions.
 */
#include <errno.h>
#include <inttypes.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "program.h"

#define ENTRIES 127

/* Value in the map: the helper's result, and the entries that it stored. */
struct snapshot {
	int64_t result;
	struct perf_branch_entry entries[ENTRIES];
};

static int bpf(int command, union bpf_attr *attr)
{
	return syscall(SYS_bpf, command, attr, sizeof(*attr));
}

static int make_map(void)
{
	union bpf_attr attr = { .map_type = BPF_MAP_TYPE_ARRAY, .key_size = 4, .max_entries = 1 };
	int fd;

	attr.value_size = sizeof(struct snapshot);
	fd = bpf(BPF_MAP_CREATE, &attr);
	must(fd >= 0, "create a map");
	return fd;
}

static void attach(int map)
{
	const struct bpf_insn program[] = {
		FIND_VALUE(map, 8),
		MOV(6, 0),
		MOV(1, 6),
		ADD(1, offsetof(struct snapshot, entries)),
		SET(2, sizeof(((struct snapshot *)0)->entries)),
		SET(3, 0),
		CALL(BPF_FUNC_get_branch_snapshot),
		INSN(BPF_STX | BPF_MEM | BPF_DW, 6, 0, 0, 0),
		SET(0, 0),
		INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0),
	};
	static const char name[] = "task_newtask", license[] = "GPL";
	static char log[8192];
	union bpf_attr load = { .prog_type = BPF_PROG_TYPE_RAW_TRACEPOINT };
	union bpf_attr open = { 0 };
	int fd;

	load.insns = (uintptr_t)program;
	load.insn_cnt = sizeof(program) / sizeof(program[0]);
	load.license = (uintptr_t)license;
	load.log_buf = (uintptr_t)log;
	load.log_size = sizeof(log);
	load.log_level = 1;
	fd = bpf(BPF_PROG_LOAD, &load);
	if (fd < 0)
		printf("# %s\n", log);
	must(fd >= 0, "load a program");
	open.raw_tracepoint.name = (uintptr_t)name;
	open.raw_tracepoint.prog_fd = fd;
	must(bpf(BPF_RAW_TRACEPOINT_OPEN, &open) >= 0, "attach to task_newtask");
}

static struct snapshot take(int map)
{
	union bpf_attr attr = { .map_fd = map };
	struct snapshot snapshot = { .result = 1 };
	uint32_t key = 0;
	pid_t child = fork();

	if (!child)
		_exit(0);
	must(child > 0 && waitpid(child, NULL, 0) == child, "fork");
	attr.key = (uintptr_t)&key;
	attr.value = (uintptr_t)&snapshot;
	must(!bpf(BPF_MAP_LOOKUP_ELEM, &attr), "read the map");
	return snapshot;
}

/* Returns the address of a kernel function. */
static uint64_t symbol(const char *wanted)
{
	FILE *file = fopen("/proc/kallsyms", "r");
	uint64_t address, found = 0;
	char name[256];

	while (file && fscanf(file, "%" SCNx64 " %*c %255s%*[^\n]", &address, name) == 2)
		if (!strcmp(name, wanted))
			found = address;
	if (file)
		fclose(file);
	return found;
}

/* Whether the entries of a snapshot lead to the call of the helper. */
static void check(const struct snapshot *snapshot, const uint64_t called[2], const char *event)
{
	int64_t count = snapshot->result / (int64_t)sizeof(snapshot->entries[0]);
	int64_t i, user = 0, entered = -1;

	ksft_test_result(count > 16, "%s: a snapshot of %" PRId64 " entries\n", event, count);
	for (i = 0; i < count; i++) {
		const struct perf_branch_entry *entry = &snapshot->entries[i];

		user += entry->from >> 63 == 0 || entry->to >> 63 == 0;
		if (entered < 0 && (entry->to == called[0] || entry->to == called[1]))
			entered = i;
	}
	ksft_test_result(!user, "%s: all of the kernel\n", event);
	ksft_test_result(entered >= 0 && entered < 16,
			 "%s: entry %" PRId64 " is the call of the helper, little came after\n",
			 event, entered);
}

int main(void)
{
	struct perf_event_attr event = {
		.type = PERF_TYPE_HARDWARE,
		.size = sizeof(event),
		.config = PERF_COUNT_HW_CPU_CYCLES,
		.sample_type = PERF_SAMPLE_BRANCH_STACK,
		.branch_sample_type = PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_KERNEL,
	};
	/* A JIT compiler calls the helper's implementation directly. */
	const uint64_t called[] = { symbol("bpf_get_branch_snapshot"), symbol("ctr_snapshot") };
	const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	struct snapshot snapshot;
	int map, fds[64];

	ksft_print_header();
	ksft_set_plan(8);
	if (!called[0] || !called[1])
		ksft_exit_fail_msg("/proc/kallsyms hides addresses\n");
	must(cpus > 0 && cpus <= 64, "count the CPUs");
	map = make_map();
	attach(map);
	snapshot = take(map);
	ksft_test_result(snapshot.result == -ENOENT, "no event, no snapshot: %" PRId64 "\n",
			 snapshot.result);
	for (int cpu = 0; cpu < cpus; cpu++) {
		fds[cpu] = syscall(SYS_perf_event_open, &event, -1, cpu, -1, 0);
		must(fds[cpu] >= 0, "open an event without a period");
	}
	snapshot = take(map);
	check(&snapshot, called, "events of the CPUs without a period");
	for (int cpu = 0; cpu < cpus; cpu++)
		close(fds[cpu]);
	snapshot = take(map);
	ksft_test_result(snapshot.result == -ENOENT, "closed, no snapshot: %" PRId64 "\n",
			 snapshot.result);
	event.sample_period = 1000000000000;
	event.exclude_user = 1;
	must(syscall(SYS_perf_event_open, &event, 0, -1, -1, 0) >= 0, "open an event of the task");
	snapshot = take(map);
	check(&snapshot, called, "an event of the task with a period that never ends");
	ksft_finished();
}
