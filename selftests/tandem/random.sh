#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# runner: cpus=1 seconds=40
# Random programs (random_program.py) of RV64 and RV32 with interrupts, exceptions, delegation and three privileges: a million
# instructions of each, which QEMU traces, are verified by the built-in model without a difference. Then one element of a group in
# 300 groups of the first one is altered, dropped or added, and each is found at its instruction.
# FIRST=N PROGRAMS=N: other programs, and more of them; FAULTS=N, SEED=N: more and other faults.
set -uo pipefail
# shellcheck source=selftests/tap.sh
. "$(dirname "$0")/../tap.sh"
# shellcheck source=selftests/tandem/common.sh
. "$top/selftests/tandem/common.sh"

devices=0x2000000-0x200ffff,0x100000-0x100fff

# verify OPTION...: $tmp/trace, or another one as last option
verify() {
	timeout 600 "$ntrace" tandem verify --model builtin --json "${parameters[@]}" --elf "$tmp/program" --device "$devices" "$@" \
		>"$tmp/out" 2>"$tmp/err"
}

faults=${FAULTS:-300}
first=${FIRST:-11}
for xlen in 64 32; do
	abi=(-march=rv64gc_zba_zbb_zbs -mabi=lp64d)
	parameters=()
	if [ "$xlen" = 32 ]; then
		abi=(-march=rv32gc_zba_zbb_zbs -mabi=ilp32d "-Wl,-melf32lriscv")
		parameters=(--xlen 32 --mlen 34)
	fi
	total=0 interrupts=0 exceptions=0 differences=0 found=0 planted=0 others=0
	for ((program = first; program < first + ${PROGRAMS:-4}; program++)); do
		python3 -B "$here/random_program.py" "$program" "$xlen" 1500 40 >"$tmp/program.S" &&
			riscv64-linux-gnu-gcc "${abi[@]}" -nostdlib -static -no-pie \
				-Wl,-Ttext=0x80000000,--build-id=none,--no-warn-rwx-segments "$tmp/program.S" -o "$tmp/program" &&
			timeout 300 "$qemu" -M virt -cpu "rv$xlen,h=off" -m 128M -display none -serial none -monitor none -bios none \
				-kernel "$tmp/program" -icount shift=0 -plugin "$plugins/tandem_log.so,out=$tmp/trace,max=300000" 2>"$tmp/log"
		ok "RV$xlen: program $program is traced" test $? = 0 || diag "$(tail -n 3 "$tmp/log")"
		"$ntrace" tandem stat --json "${parameters[@]}" "$tmp/trace" >"$tmp/stat"
		verify "$tmp/trace"
		is "$? $(number differences)" "0 0" "RV$xlen: program $program: no difference" ||
			diag "$(grep -v '"groups"' "$tmp/out" | head -n 5)"
		total=$((total + $(number instructions)))
		interrupts=$((interrupts + $(number interrupts)))
		exceptions=$((exceptions + $(number exceptions "$tmp/stat")))
		differences=$((differences + $(number differences)))
		[ "$planted" = 0 ] || continue
		python3 -B "$here/faults.py" --random "${SEED:-1}" "$faults" "$xlen" "$tmp/trace" "$tmp/falsified" "$tmp/list"
		verify --mismatches 0 "$tmp/falsified"
		python3 -B "$here/faults.py" --check "$tmp/list" "$tmp/out" >"$tmp/checked"
		planted=$((planted + faults))
		found=$((found + $(grep -c "^ok.*: found at" "$tmp/checked")))
		others=$((others + $(grep -c "^not ok.* no other group" "$tmp/checked")))
		grep "^not ok" "$tmp/checked" >>"$tmp/missed"
	done
	diag "RV$xlen: $total instructions, $exceptions exceptions, $interrupts interrupts: $differences differences; $found of $planted faults"
	[ -n "${PROGRAMS:-}" ] || ok "RV$xlen: a million instructions" test "$total" -ge 1000000
	ok "RV$xlen: with interrupts and exceptions" test "$interrupts" -ge 300 -a "$exceptions" -ge 20000
	# The trace decides what the hart may choose: two in 100 faults may be legal.
	ok "RV$xlen: 98 of 100 faults are found, each at its instruction" test "$found" -ge $((planted * 98 / 100)) ||
		diag "$(head -n 20 "$tmp/missed")"
	is "$others" 0 "RV$xlen: no other group differs"
done
done_testing
