#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# runner: guest seconds=5
# The performance counters of the virtual SoC, by bare-metal programs. Each program ends with 0, or
# with the number of the round that failed.
# shellcheck source=selftests/tap.sh
. "$(dirname "$0")/../tap.sh"
cd "$top" || exit 1
qemu=$(tools/vsoc/qemu/build --path) || exit 1

# A hart that waits does not count. With -icount, no timer may look for an overflow meanwhile: it
# would expire after each of the few instructions that are left, for as long as the hart waits, and
# the other hart would execute one instruction at a time. The limit is no measure of speed: such a run
# takes a hundred times as long.
riscv64-linux-gnu-gcc -nostdlib -static -march=rv64gc -mabi=lp64 -Wl,--build-id=none -Wl,--no-warn-rwx-segments \
	-Wl,-Ttext=0x80000000 selftests/vsoc/counters/halted.S -o "$tmp/halted.elf" || exit 1
ok "-icount: a counter shortly before its overflow waits with its hart" \
	timeout -k 5 60 "$qemu" -M virt,ntrace=on -cpu rv64,sscofpmf=true -smp 2 -accel tcg,thread=single -icount shift=0 \
	-bios none -display none -serial none -monitor none -m 16M -kernel "$tmp/halted.elf"
done_testing
