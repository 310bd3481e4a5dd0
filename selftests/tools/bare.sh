#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# A program without an operating system. Lines of instructions that trap have no count in lcov. mret as a jump keeps the
# callers: their totals have what follows.
set -uo pipefail
# shellcheck source=selftests/tap.sh
. "$(dirname "$0")/../tap.sh"
ntrace=$top/build/ntrace
cd "$tmp" || exit 1

# routine NAME INSTRUCTION...
routine() { printf '.type %s, @function\n%s:\n' "$1" "$1"; printf '%s\n' "${@:2}"; printf '.size %s, . - %s\n' "$1" "$1"; }
{
	printf '.option norvc\n.option norelax\n.globl _start\n'
	routine _start 'lla t0, handler' 'csrw mtvec, t0' 'jal ra, main' 'nop' 'ebreak'
	routine main 'mv s0, ra' 'jal ra, away' 'nop' 'ecall' 'mv ra, s0' 'ret'
	routine away 'lla t0, 1f' 'csrw mepc, t0' 'mret' '1: lla t0, user' 'csrw mepc, t0' 'mret'
	routine user 'mv s1, ra' 'jal ra, stub' 'nop' 'lw a0, 0(zero)' 'mv ra, s1' 'ret'
	routine handler 'csrr t1, mepc' 'addi t1, t1, 4' 'csrw mepc, t1' 'mret'
} >bare.s
# GNU as has no functions in its DWARF.
printf '%s\n' '__attribute__((naked)) void stub(void) { __asm__("ecall; ret"); }' >stub.c
riscv64-linux-gnu-gcc -g -O1 -march=rv64g -nostdlib -static -Wl,-Ttext=0x10000 -Wl,--build-id=none bare.s stub.c -o bare ||
	not_ok "the program is assembled"
# What retires, as numbers of instructions from 0x10000 on: each handler, of 26 to 29, follows an instruction that does not.
for n in 0 1 2 3 6 7 12 13 14 15 16 17 18 19 20 21 26 27 28 29 31 22 26 27 28 29 24 25 8 26 27 28 29 10 11 4 26 27 28; do
	printf '0x%x\n' $((0x10000 + 4 * n))
done >pcs
ok "a trace" "$ntrace" encode --pcs pcs --elf bare --mode htm -o trace

ok "lcov" "$ntrace" export -f lcov --elf bare -o info trace
is "$(sed -n 's/^DA:\([0-9]*\),/\1 /p' info | while read -r line count; do
	echo "$(sed -n "${line}p" bare.s | tr -d ','): $count"
done | grep -E '^(lw|ecall|ebreak|mret|jal|ret)' | sort | paste -sd '|')" \
	"jal ra away: 1|jal ra main: 1|jal ra stub: 1|lw a0 0(zero): 0|mret: 1|mret: 1|mret: 3|ret: 1|ret: 1" \
	"a load that faults was not executed, and ecall and ebreak are no lines"
is "$(grep -E '^FNDA:' info)" "FNDA:1,stub" "a function that begins with ecall was entered"

ok "call stacks" "$ntrace" export -f folded --elf bare -o folded trace
is "$(sed 's/^unknown;//' folded | paste -sd '|')" "_start 5|_start;handler 3|_start;main 5|_start;main;away 8|_start;main;handler 4|_start;main;user 5|_start;main;user;handler 4|_start;main;user;stub 1|_start;main;user;stub;handler 4" \
	"mret within a function goes on in it, and mret to another one replaces it"
is "$("$ntrace" report --json --limit 0 --elf bare trace 2>/dev/null | python3 -c '
import json, sys
print(*sorted((f["function"], f["total"]) for f in json.load(sys.stdin)["functions"]))')" \
	"('_start', 39) ('away', 8) ('handler', 15) ('main', 31) ('stub', 5) ('user', 14)" "totals include what the jump leads to"
done_testing
