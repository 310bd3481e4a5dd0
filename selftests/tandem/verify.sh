#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# runner: cpus=1 seconds=40
# The tandem trace of a bare-metal program, written by QEMU's plugin, is verified through the GDB stub of a second QEMU. Then
# the trace is falsified in more than 50 ways, and each fault must be found in the group where it is, and nowhere else.
set -uo pipefail
# shellcheck source=selftests/tap.sh
. "$(dirname "$0")/../tap.sh"
# shellcheck source=selftests/tandem/stub.sh
. "$top/selftests/tandem/stub.sh"
here=$top/selftests/tandem
ntrace=$top/build/ntrace
device=0x2000000-0x200ffff
machine=("$top/build/qemu/qemu-system-riscv64" -M virt -cpu rv64 -m 128M -display none -serial none -monitor none -bios none
	-kernel "$tmp/program")

ok "the program is assembled" riscv64-linux-gnu-gcc -march=rv64gc -mabi=lp64d -nostdlib -static -no-pie \
	-Wl,-Ttext=0x80000000 -Wl,--build-id=none -DROUNDS="${ROUNDS:-12}" "$here/program.S" -o "$tmp/program"
ok "QEMU writes its trace" timeout 300 "${machine[@]}" -icount shift=0 -plugin "$top/build/plugin/tandem_log.so,out=$tmp/trace"

# A store to the finisher ends the machine: the groups before its preparation are verified.
"$ntrace" tandem dump "$tmp/trace" >"$tmp/dump"
limit=$(awk '$2 == "begin" { n++ } / t0 = 0x100000$/ { print n - 1 }' "$tmp/dump")
ok "the program ran to its end" test "${limit:-0}" -gt 500
is "$(grep -c ' ! ' "$tmp/dump")" 0 "the trace has no violation of the protocol"

# verify FILE OPTION...: starts the model for it.
verify() {
	local file=$1 rc
	shift
	rm -f "$tmp/gdb"
	"${machine[@]}" -S -gdb "unix:$tmp/gdb,server=on,wait=off" >/dev/null 2>&1 &
	local model=$!
	stub_ready "$tmp/gdb" "$model"
	timeout 600 "$ntrace" tandem verify --gdb "$tmp/gdb" --device "$device" "$@" "$file"
	rc=$?
	kill "$model" 2>/dev/null
	wait "$model" 2>/dev/null
	return $rc
}

verify "$tmp/trace" --limit "$limit" --full 100 --json >"$tmp/out" 2>"$tmp/err"
is $? 0 "the trace is verified"
# number KEY: of the totals
number() { sed -n "s/.*\"$1\":\([0-9]*\).*/\1/p" "$tmp/out" | tail -n 1; }
is "$(number groups)" "$limit" "all groups are verified"
is "$(number differences)" 0 "there is no difference"
is "$(number interrupts)" "${ROUNDS:-12}" "one timer interrupt in each round"
is "$(($(number instructions) + $(number interrupts) + $(number initialisations)))" "$limit" "each group is of one kind"

ok "the trace is falsified" python3 -B "$here/faults.py" "$tmp/trace" "$tmp/falsified" "$tmp/list"
verify "$tmp/falsified" --mismatches 0 --json >"$tmp/found" 2>"$tmp/err"
is $? 3 "the falsified trace is not accepted"
relay faults python3 -B "$here/faults.py" --check "$tmp/list" "$tmp/found"

# A model that cannot be reached, and a report for people.
"$ntrace" tandem verify --gdb "$tmp/none" "$tmp/trace" 2>"$tmp/err"
is $? 1 "a model that is not there"
like "its error names the address" "none: No such file" "$(cat "$tmp/err")"
verify "$tmp/falsified" --mismatches 5 --elf "$tmp/program" --last 2 >"$tmp/out" 2>"$tmp/err"
like "the report has the instructions before" "before: group [0-9]*, pc 0x[0-9a-f]*: [0-9a-f]*  [a-z]" "$(cat "$tmp/out")"
like "and what differs" ": trace 0x[0-9a-f]*, model 0x[0-9a-f]*" "$(cat "$tmp/out")"
for count in 1 2; do
	verify "$tmp/falsified" --mismatches "$count" --json >"$tmp/out" 2>"$tmp/err"
	is "$? $(number mismatched)" "3 $count" "--mismatches $count: ends after as many groups"
done

# The same with RV32. linked.sh and exec.sh falsify it: the stub of a QEMU for both XLEN writes CSRs of RV32 with what its buffer
# has above them.
machine=("${machine[@]/%rv64/rv32}")
ok "RV32: the program is assembled" riscv64-linux-gnu-gcc -march=rv32gc -mabi=ilp32d -Wl,-melf32lriscv -nostdlib -static -no-pie \
	-Wl,-Ttext=0x80000000 -Wl,--build-id=none -DROUNDS="${ROUNDS:-12}" "$here/program.S" -o "$tmp/program"
ok "RV32: QEMU writes its trace" timeout 300 "${machine[@]}" -icount shift=0 -plugin "$top/build/plugin/tandem_log.so,out=$tmp/trace"
"$ntrace" tandem dump --xlen 32 --mlen 34 "$tmp/trace" >"$tmp/dump"
limit=$(awk '$2 == "begin" { n++ } / t0 = 0x100000$/ { print n - 1 }' "$tmp/dump")
ok "RV32: the program ran to its end" test "${limit:-0}" -gt 500
verify "$tmp/trace" --xlen 32 --mlen 34 --limit "$limit" --full 100 --json >"$tmp/out" 2>"$tmp/err"
is "$? $(number groups) $(number differences) $(number interrupts)" "0 $limit 0 ${ROUNDS:-12}" "RV32: all groups are verified" ||
	diag "$(head -n 3 "$tmp/out" "$tmp/err")"
done_testing
