// SPDX-License-Identifier: GPL-2.0-only
/*
 * A BPF program on a perf event, as continuous profilers have it, reads the branch stack of each
 * sample (bpf_read_branch_records()); with an event that has none, it gets an error. The events are
 * those of a task with a period, attached by a link; and, as OpenTelemetry's profiler opens them, of
 * all tasks of a CPU by frequency, attached by ioctl(), where a first program calls the one that reads
 * (bpf_tail_call()). libbpf loads the programs, a dozen instructions.
 */
#include <errno.h>
#include <inttypes.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "program.h"

#define ENTRIES 32
#define ROUNDS 300000

/* Value in the map: runs of the program, entries of all of them, the last result and its entries. */
struct stacks {
	int64_t runs;
	int64_t bytes;
	int64_t result;
	struct perf_branch_entry entries[ENTRIES];
};

#define STORE(d, o, s) INSN(BPF_STX | BPF_MEM | BPF_DW, d, s, o, 0)
#define LOAD(d, s, o) INSN(BPF_LDX | BPF_MEM | BPF_DW, d, s, o, 0)

static int load_program(const struct bpf_insn *program, size_t count)
{
	static char log[8192];

	LIBBPF_OPTS(bpf_prog_load_opts, options, .log_buf = log, .log_size = sizeof(log));
	int fd = bpf_prog_load(BPF_PROG_TYPE_PERF_EVENT, "stacks", "GPL", program, count, &options);

	if (fd < 0)
		ksft_print_msg("%s\n", log);
	must(fd >= 0, "load the program");
	return fd;
}

static int load_reader(int map)
{
	const struct bpf_insn program[] = {
		MOV(6, 1),
		FIND_VALUE(map, 15),
		MOV(7, 0),
		MOV(1, 6),
		MOV(2, 7),
		ADD(2, offsetof(struct stacks, entries)),
		SET(3, sizeof(((struct stacks *)0)->entries)),
		SET(4, 0),
		CALL(BPF_FUNC_read_branch_records),
		STORE(7, offsetof(struct stacks, result), 0),
		LOAD(1, 7, offsetof(struct stacks, runs)),
		ADD(1, 1),
		STORE(7, offsetof(struct stacks, runs), 1),
		LOAD(1, 7, offsetof(struct stacks, bytes)),
		INSN(BPF_ALU64 | BPF_ADD | BPF_X, 1, 0, 0, 0),
		STORE(7, offsetof(struct stacks, bytes), 1),
		SET(0, 0),
		INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0),
	};

	return load_program(program, sizeof(program) / sizeof(program[0]));
}

/* A program that calls @reader, and does not return from it. */
static int load_caller(int reader)
{
	int programs = bpf_map_create(BPF_MAP_TYPE_PROG_ARRAY, "programs", 4, 4, 1, NULL);
	const struct bpf_insn program[] = {
		INSN(BPF_LD | BPF_DW | BPF_IMM, 2, BPF_PSEUDO_MAP_FD, 0, programs),
		INSN(0, 0, 0, 0, 0),
		SET(3, 0),
		CALL(BPF_FUNC_tail_call),
		SET(0, 0),
		INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0),
	};
	uint32_t key = 0;

	must(programs >= 0, "create a map of programs");
	must(!bpf_map_update_elem(programs, &key, &reader, BPF_ANY), "put a program into the map");
	return load_program(program, sizeof(program) / sizeof(program[0]));
}

/* The only function of the program with branches that the test counts on. */
static __attribute__((noinline)) unsigned int hot(unsigned int x)
{
	return x & 1 ? x * 3 + 1 : x / 2;
}

/* Attaches @program to an event with @branches. Return: the event. @link: the link, or -1. */
static int open_event(int program, uint64_t branches, bool profiler, int *link)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_HW_INSTRUCTIONS,
		.sample_period = 10007,
		.sample_type = PERF_SAMPLE_IP | (branches ? PERF_SAMPLE_BRANCH_STACK : 0),
		.branch_sample_type = branches,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.disabled = 1,
	};
	int event;

	if (profiler) {
		attr.freq = 1;
		attr.sample_freq = 20000;
	}
	event = syscall(SYS_perf_event_open, &attr, profiler ? -1 : 0, profiler ? 0 : -1, -1, 0);
	must(event >= 0, "open an event");
	*link = profiler ? -1 : bpf_link_create(program, event, BPF_PERF_EVENT, NULL);
	must(profiler ? !ioctl(event, PERF_EVENT_IOC_SET_BPF, program) : *link >= 0,
	     "attach the program");
	return event;
}

/* Samples the loop below with @branches; returns what the program has stored. */
static struct stacks run(int program, int map, uint64_t branches, bool profiler)
{
	int link, event = open_event(program, branches, profiler, &link);
	struct stacks stacks = { 0 };
	uint32_t key = 0;
	unsigned int x = 27;

	must(!bpf_map_update_elem(map, &key, &stacks, BPF_ANY), "empty the map");
	ioctl(event, PERF_EVENT_IOC_ENABLE, 0);
	for (unsigned int i = 0; i < ROUNDS; i++)
		x = hot(x + i);
	ioctl(event, PERF_EVENT_IOC_DISABLE, 0);
	must(!bpf_map_lookup_elem(map, &key, &stacks), "read the map");
	if (!profiler)
		close(link);
	close(event);
	/* The result is used, so that the loop stays. */
	ksft_print_msg("%u: %" PRId64 " runs, %" PRId64 " bytes\n", x, stacks.runs, stacks.bytes);
	return stacks;
}

static void check_stacks(int program, int map, bool profiler, const char *how)
{
	const uint64_t any = PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_USER;
	const int64_t size = sizeof(struct perf_branch_entry);
	const uint64_t start = (uintptr_t)hot;
	struct stacks stacks = run(program, map, any, profiler);
	int64_t count = stacks.result / size, kernel = 0, ours = 0;

	ksft_test_result(stacks.runs >= 30, "%s: it runs for samples with a branch stack\n", how);
	ksft_test_result(count == ENTRIES && stacks.result % size == 0,
			 "%s: a whole stack: %" PRId64 " entries\n", how, count);
	ksft_test_result(stacks.bytes >= stacks.runs * size * ENTRIES / 2, "%s: in most samples\n",
			 how);
	for (int64_t i = 0; i < count && i < ENTRIES; i++) {
		const struct perf_branch_entry *entry = &stacks.entries[i];

		kernel += entry->from >> 63 || entry->to >> 63;
		ours += (entry->from >= start && entry->from < start + 64) || entry->to == start;
	}
	ksft_test_result(!kernel && ours >= 1, "%s: of user mode, %" PRId64 " of the loop\n", how,
			 ours);
}

int main(void)
{
	struct stacks stacks;
	int map, program;
	cpu_set_t cpus;

	ksft_print_header();
	ksft_set_plan(10);
	CPU_ZERO(&cpus);
	CPU_SET(0, &cpus);
	must(!sched_setaffinity(0, sizeof(cpus), &cpus), "stay on CPU 0");
	map = bpf_map_create(BPF_MAP_TYPE_ARRAY, "stacks", sizeof(uint32_t), sizeof(struct stacks),
			     1, NULL);
	must(map >= 0, "create a map");
	program = load_reader(map);
	stacks = run(program, map, 0, false);
	ksft_test_result(stacks.runs >= 100, "the program runs for each sample\n");
	ksft_test_result(stacks.result == -ENOENT, "no branch stack without one: %" PRId64 "\n",
			 stacks.result);
	check_stacks(program, map, false, "an event of the task");
	check_stacks(load_caller(program), map, true, "an event of the CPU by frequency");
	ksft_finished();
}
