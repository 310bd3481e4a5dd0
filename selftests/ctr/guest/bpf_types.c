// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which types of BPF programs may call bpf_ctr_snapshot(), and with which arguments. Prints KTAP. The
 * programs are written as instructions, so that only the kernel checks them.
 */
#include <errno.h>
#include <linux/bpf.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>

#include "kselftest.h"

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

int main(void)
{
	ksft_print_header();
	ksft_set_plan(9);
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
	if (setuid(1000))
		ksft_exit_fail_msg("setuid: %s\n", strerror(errno));
	expect(false, BPF_PROG_TYPE_KPROBE, ROOM, ROOM, "an ordinary user: refused");
	ksft_finished();
}
