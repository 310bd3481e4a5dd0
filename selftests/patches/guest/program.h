/* SPDX-License-Identifier: GPL-2.0-only */
/* What the BPF programs of these tests have in common. */
#ifndef SELFTESTS_PATCHES_PROGRAM_H
#define SELFTESTS_PATCHES_PROGRAM_H

#include <linux/bpf.h>
#include <stdbool.h>

#include "kselftest.h"

#define INSN(c, d, s, o, i) ((struct bpf_insn){ .code = (c), .dst_reg = (d), .src_reg = (s), .off = (o), .imm = (i) })
#define MOV(d, s) INSN(BPF_ALU64 | BPF_MOV | BPF_X, d, s, 0, 0)
#define ADD(d, i) INSN(BPF_ALU64 | BPF_ADD | BPF_K, d, 0, 0, i)
#define SET(d, i) INSN(BPF_ALU64 | BPF_MOV | BPF_K, d, 0, 0, i)
#define CALL(f) INSN(BPF_JMP | BPF_CALL, 0, 0, 0, f)

/*
 * R0 = address of the only value in the array @map, or a jump over the next @rest instructions.
 * Changes the word at R10 - 4.
 */
#define FIND_VALUE(map, rest) \
	INSN(BPF_ST | BPF_MEM | BPF_W, 10, 0, -4, 0), MOV(2, 10), ADD(2, -4), \
		INSN(BPF_LD | BPF_DW | BPF_IMM, 1, BPF_PSEUDO_MAP_FD, 0, map), INSN(0, 0, 0, 0, 0), \
		CALL(BPF_FUNC_map_lookup_elem), INSN(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, rest, 0)

static inline void must(bool good, const char *what)
{
	if (!good)
		ksft_exit_fail_perror(what);
}

#endif /* SELFTESTS_PATCHES_PROGRAM_H */
