#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# runner: guest seconds=20
# Control Transfer Records as in the draft 0.1.4, which harts of the virtual SoC have with the property ctr-draft: a program on
# the bare hart (ctr/draft.c) tests the rules of the draft and names each by its section.
# shellcheck source=selftests/tap.sh
. "$(dirname "$0")/../tap.sh"
cd "$top" || exit 1
qemu=$(tools/vsoc/qemu/build --path) || exit 1

# payload XLEN ABI ARGUMENT...
payload() {
	riscv64-linux-gnu-gcc -std=gnu11 -Wall -Wextra -O2 -ffreestanding -fno-pie -fno-reorder-functions -ffixed-t5 -ffixed-t6 \
		-nostdlib -static -mcmodel=medany "-march=rv$1imac_zicsr" "-mabi=$2" -Wl,--build-id=none -Wl,--no-warn-rwx-segments,--no-relax \
		-Wl,-Ttext=0x80000000 "${@:3}" selftests/vsoc/ctr/draft.c -o "$tmp/draft$1"
}

# run XLEN ARGUMENT...: what the program prints; warnings of the emulator are failures
run() {
	timeout -k 5 60 "$qemu" -M virt,ntrace=on -bios none -display none -serial stdio -monitor none -m 16M -kernel "$tmp/draft$1" \
		-global ntrace-encoder.ctr-draft=on "${@:2}" </dev/null 2>"$tmp/err" || return
	cat "$tmp/err" >&2
	[ ! -s "$tmp/err" ]
}

for xlen in 64 32; do
	abi=(lp64)
	[ $xlen = 64 ] || abi=(ilp32 "-Wl,-melf32lriscv")
	ok "RV$xlen: the program is built" payload $xlen "${abi[@]}"
	relay "RV$xlen" run $xlen -cpu rv$xlen
	relay "RV$xlen, one instruction per block" run $xlen -cpu rv$xlen -accel tcg,one-insn-per-tb=on
done
refused() {
	run "$@" || { cat "$tmp/err" && return 1; }
}
fails "Smctr is another layout" "not with smctr" refused 64 -cpu rv64,smctr=true,ssctr=true
fails "the draft has no hole in its depths" "must be contiguous" refused 64 -cpu rv64 -global ntrace-encoder.ctr-depths=16+64
done_testing
