// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which types of BPF programs may call bpf_ctr_snapshot(), and with which arguments; the branches
 * that a program gets which is attached to a perf event. Prints KTAP. The programs are written as
 * instructions, so that only the kernel checks them.
 */
#include <errno.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>

#include "kselftest.h"
#include "type.h"

#define INSN(op, dst, src, offset, value)                                                          \
	((struct bpf_insn){ .code = (op),                                                          \
			    .dst_reg = (dst),                                                      \
			    .src_reg = (src),                                                      \
			    .off = (offset),                                                       \
			    .imm = (value) })
#define ROOM 48

static int function, module;
static int fentry_target;

static int find(void)
{
	struct btf *kernel = btf__load_vmlinux_btf();
	struct btf *btf = kernel ? btf__load_module_btf("riscv_ctr", kernel) : NULL;
	__u32 id = 0;

	if (!btf)
		return -1;
	function = btf__find_by_name_kind(btf, "bpf_ctr_snapshot", BTF_KIND_FUNC);
	fentry_target = btf__find_by_name_kind(kernel, "bpf_fentry_test1", BTF_KIND_FUNC);
	while (!bpf_btf_get_next_id(id, &id)) {
		char name[32] = "";
		struct bpf_btf_info info = { .name = (__u64)(unsigned long)name,
					     .name_len = sizeof(name) };
		__u32 size = sizeof(info);
		int fd = bpf_btf_get_fd_by_id(id);

		if (!bpf_btf_get_info_by_fd(fd, &info, &size) && !strcmp(name, "riscv_ctr"))
			module = fd;
		else
			close(fd);
	}
	return function > 0 && module > 0 ? 0 : -1;
}

/* A program of @type that passes a buffer of @stored bytes and the size @said. */
static int load(enum bpf_prog_type type, int stored, int said)
{
	struct bpf_insn insn[16];
	int list[] = { module, module }, count = 0;

	LIBBPF_OPTS(bpf_prog_load_opts, options, .fd_array = list);
	if (type == BPF_PROG_TYPE_TRACING) {
		options.expected_attach_type = BPF_TRACE_FENTRY;
		options.attach_btf_id = fentry_target;
	}
	for (int at = -stored; at < 0; at += 8)
		insn[count++] = INSN(BPF_ST | BPF_MEM | BPF_DW, 10, 0, at, 0);
	insn[count++] = INSN(BPF_ALU64 | BPF_MOV | BPF_X, 1, 10, 0, 0);
	insn[count++] = INSN(BPF_ALU64 | BPF_ADD | BPF_K, 1, 0, 0, -stored);
	insn[count++] = INSN(BPF_ALU64 | BPF_MOV | BPF_K, 2, 0, 0, said);
	insn[count++] = INSN(BPF_ALU64 | BPF_MOV | BPF_K, 3, 0, 0, 0);
	insn[count++] = INSN(BPF_JMP | BPF_CALL, 0, BPF_PSEUDO_KFUNC_CALL, 1, function);
	insn[count++] = INSN(BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, 0);
	insn[count++] = INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
	return bpf_prog_load(type, "snapshot", "GPL", insn, count, &options);
}

static void expect(bool accepted, enum bpf_prog_type type, int stored, int said, const char *what)
{
	int fd = load(type, stored, said);

	if ((fd >= 0) != accepted)
		ksft_print_msg("%d (%s)\n", fd, strerror(fd < 0 ? -fd : 0));
	ksft_test_result((fd >= 0) == accepted, "%s\n", what);
	if (fd >= 0)
		close(fd);
}

/* What the program stores: the result of bpf_ctr_snapshot(), and two branches. */
struct snapshot {
	int64_t bytes;
	struct perf_branch_entry branch[2];
};

/* A program for a perf event; it returns 0, so that perf writes no sample. */
static int load_sample(int map)
{
	const struct bpf_insn insn[] = {
		INSN(BPF_ST | BPF_MEM | BPF_W, 10, 0, -4, 0),
		INSN(BPF_LD | BPF_IMM | BPF_DW, 1, BPF_PSEUDO_MAP_FD, 0, map),
		INSN(0, 0, 0, 0, 0),
		INSN(BPF_ALU64 | BPF_MOV | BPF_X, 2, 10, 0, 0),
		INSN(BPF_ALU64 | BPF_ADD | BPF_K, 2, 0, 0, -4),
		INSN(BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_map_lookup_elem),
		INSN(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 7, 0),
		INSN(BPF_ALU64 | BPF_MOV | BPF_X, 6, 0, 0, 0),
		INSN(BPF_ALU64 | BPF_MOV | BPF_X, 1, 0, 0, 0),
		INSN(BPF_ALU64 | BPF_ADD | BPF_K, 1, 0, 0, offsetof(struct snapshot, branch)),
		INSN(BPF_ALU64 | BPF_MOV | BPF_K, 2, 0, 0, 2 * sizeof(struct perf_branch_entry)),
		INSN(BPF_ALU64 | BPF_MOV | BPF_K, 3, 0, 0, 0),
		INSN(BPF_JMP | BPF_CALL, 0, BPF_PSEUDO_KFUNC_CALL, 1, function),
		INSN(BPF_STX | BPF_MEM | BPF_DW, 6, 0, 0, 0),
		INSN(BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, 0),
		INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0),
	};
	int list[] = { module, module };

	LIBBPF_OPTS(bpf_prog_load_opts, options, .fd_array = list);
	return bpf_prog_load(BPF_PROG_TYPE_PERF_EVENT, "sample", "GPL", insn,
			     sizeof(insn) / sizeof(insn[0]), &options);
}

/* Its only branch leads back to its beginning. */
static __attribute__((noinline)) void spin(unsigned long rounds)
{
	while (rounds--)
		__asm__ volatile("");
}

static void test_sample(void)
{
	struct perf_event_attr attr = {
		.type = ctr_type(),
		.size = sizeof(attr),
		.sample_period = 100000,
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_BRANCH_STACK,
		.branch_sample_type = PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_ANY,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	struct snapshot found = { 0 };
	unsigned int key = 0;
	uintptr_t start = (uintptr_t)spin;
	int map = bpf_map_create(BPF_MAP_TYPE_ARRAY, "found", 4, sizeof(found), 1, NULL);
	int program = load_sample(map);
	int event = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);

	if (map < 0 || program < 0 || event < 0 || ioctl(event, PERF_EVENT_IOC_SET_BPF, program)) {
		ksft_test_result_fail("a program of an event: %s\n", strerror(errno));
		return;
	}
	for (unsigned int i = 0; i < 1000 && !found.bytes; i++) {
		spin(1000000);
		bpf_map_lookup_elem(map, &key, &found);
	}
	close(event);
	if (found.bytes != sizeof(found.branch))
		ksft_print_msg("bytes %lld\n", (long long)found.bytes);
	ksft_test_result(found.bytes == sizeof(found.branch) &&
				 found.branch[1].from == found.branch[0].from &&
				 found.branch[0].from - start < 64 &&
				 found.branch[0].to - start < 64,
			 "a program of an event has the branches of the loop\n");
}

int main(void)
{
	ksft_print_header();
	ksft_set_plan(10);
	if (find())
		ksft_exit_fail_msg("bpf_ctr_snapshot is not in the BTF of the module\n");
	ksft_test_result_pass("the function is in the BTF of the module\n");
	expect(true, BPF_PROG_TYPE_TRACING, ROOM, ROOM, "fentry: accepted");
	expect(true, BPF_PROG_TYPE_KPROBE, ROOM, ROOM, "kprobe: accepted");
	expect(true, BPF_PROG_TYPE_TRACEPOINT, ROOM, ROOM, "tracepoint: accepted");
	expect(true, BPF_PROG_TYPE_PERF_EVENT, ROOM, ROOM, "perf event: accepted");
	expect(false, BPF_PROG_TYPE_SOCKET_FILTER, ROOM, ROOM, "socket filter: refused");
	expect(false, BPF_PROG_TYPE_XDP, ROOM, ROOM, "XDP: refused");
	expect(false, BPF_PROG_TYPE_TRACING, ROOM, ROOM + 8, "more room than there is: refused");
	test_sample();
	if (setuid(1000))
		ksft_exit_fail_msg("setuid: %s\n", strerror(errno));
	expect(false, BPF_PROG_TYPE_KPROBE, ROOM, ROOM, "an ordinary user: refused");
	ksft_finished();
}
