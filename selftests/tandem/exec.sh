#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# runner: cpus=1 seconds=150
# The executor (lib/exec) as the model of `ntrace tandem verify --model builtin`, against QEMU: every instruction that it knows
# with all pairs of a table of operands (instructions.S), the program of verify.sh with its faults, Debian's busybox in user mode
# with page faults and interrupts, and the start of a Linux boot. Nothing may differ, and the model may take nothing from the trace
# but what its header names.
set -uo pipefail
# shellcheck source=selftests/tap.sh
. "$(dirname "$0")/../tap.sh"
# shellcheck source=selftests/tandem/common.sh
. "$top/selftests/tandem/common.sh"

nl=$'\n'

# options_of XLEN: of the compiler, and `parameters` of the trace
options_of() {
	abi=(-march=rv64gc -mabi=lp64d)
	parameters=()
	if [ "$1" = 32 ]; then
		abi=(-march=rv32gc -mabi=ilp32d "-Wl,-melf32lriscv")
		parameters=(--xlen 32 --mlen 34)
	fi
}

# trace_program XLEN CPU SOURCE [FLAG...]: $tmp/program and $tmp/trace
trace_program() {
	local xlen=$1 cpu=$2 source=$3
	shift 3
	options_of "$xlen"
	riscv64-linux-gnu-gcc "${abi[@]}" "$@" -nostdlib -static -no-pie -Wl,-Ttext=0x80000000 -Wl,--build-id=none "$source" \
		-o "$tmp/program" &&
		timeout 300 "$qemu" -M virt -cpu "$cpu" -m 128M -display none -serial none -monitor none -bios none -kernel "$tmp/program" \
			-icount shift=0 -plugin "$plugins/tandem_log.so,out=$tmp/trace" 2>"$tmp/log"
}

# verify OPTION...: $tmp/trace, or another one as last option
verify() {
	timeout 600 "$ntrace" tandem verify --model builtin --json "${parameters[@]}" "$@" >"$tmp/out" 2>"$tmp/err"
}

# falsified TEXT FAULTS: $tmp/falsified, with the faults of $tmp/list. The trace decides what the hart may choose, so that two in 100
# of the faults may be legal; nothing else may differ.
falsified() {
	verify --device "$devices" --elf "$tmp/program" --mismatches 0 "$tmp/falsified"
	is $? 3 "$1: the falsified trace is not accepted"
	cp "$tmp/out" "$tmp/found"
	python3 -B "$here/faults.py" --check "$tmp/list" "$tmp/found" >"$tmp/checked"
	ok "$1: 98 of 100 faults are found, each at its instruction" test "$(grep -c "^ok.*: found at" "$tmp/checked")" -ge $(($2 * 98 / 100)) ||
		diag "$(grep "^not ok" "$tmp/checked")"
	like "$1: no other group differs" "(^|$nl)ok [0-9]* - no other group" "$(<"$tmp/checked")"
}

# at_most KEY COUNT TEXT: of what the model took from the trace
at_most() {
	ok "$3: at most $2" test "$(number "$1")" -le "$2" || diag "$1 $(number "$1")"
}

extensions=zba=on,zbb=on,zbc=on,zbs=on,zicond=on,zfa=on,zcb=on,zabha=on,zacas=on,zfhmin=on
for xlen in 64 32; do
	ok "RV$xlen: every instruction: QEMU writes the trace" trace_program "$xlen" "rv$xlen,$extensions" "$here/instructions.S"
	"$ntrace" tandem stat --json "${parameters[@]}" "$tmp/trace" >"$tmp/stat"
	is "$(number exceptions "$tmp/stat")" 0 "RV$xlen: all are instructions"
	verify --device 0x100000-0x100fff "$tmp/trace"
	verified "RV$xlen: every instruction" 798000 $?
	is "$(number unsupported) $(number faults) $(number csr)" "0 0 0" "RV$xlen: the executor knows all"
	# 4 fused operations with 43 x 43 operands of double precision.
	at_most results 7396 "RV$xlen: RMM of fused operations"
	at_most memory 120 "RV$xlen: tables of operands"
done
ok "Zcmp: QEMU writes the trace" trace_program 64 rv64,d=off,zcb=on,zcmp=on,zcmt=on "$here/instructions.S" -DZCMP
verify --isa rv64imafc_zcmp_zcmt --device 0x100000-0x100fff "$tmp/trace"
verified Zcmp 70 $?
is "$(number unsupported) $(number results)" "2 0" "Zcmp: the executor knows all but jumps through a table"
"$ntrace" tandem stat --json "$tmp/trace" >"$tmp/stat"
is "$(number exceptions "$tmp/stat")" 0 "Zcmp: returns of cm.popret and jumps of cm.jt are no exceptions"
# An objdump that does not know cm.push.
"$ntrace" tandem verify --model builtin --elf "$tmp/program" --device 0x100000-0x100fff "$tmp/trace" >"$tmp/out"
like "cm.push in a report" ": b842 " "$(<"$tmp/out")"
is "$(grep -c "out of bounds" "$tmp/out")" 0 "cm.push in a report: no message of objdump"

for xlen in 32 64; do
	ok "RV$xlen: program: QEMU writes the trace" trace_program "$xlen" "rv$xlen" "$here/program.S" -DROUNDS="${ROUNDS:-12}"
	devices=0x2000000-0x200ffff,0x100000-0x100fff
	verify --device "$devices" --full 1 "$tmp/trace"
	verified "RV$xlen: program, all registers after each instruction" $((430 * ${ROUNDS:-12})) $?
	is "$(number unsupported) $(number csr)" "0 0" "RV$xlen: the model knows all"
	at_most results "$(number chosen)" "RV$xlen: only what the trace decides anyway"
	is "$(number interrupts)" "${ROUNDS:-12}" "RV$xlen: one timer interrupt in each round"
	ok "RV$xlen: the trace is falsified at random" python3 -B "$here/faults.py" --random "${SEED:-1}" "${FAULTS:-300}" "$xlen" \
		"$tmp/trace" "$tmp/falsified" "$tmp/list"
	falsified "RV$xlen" "${FAULTS:-300}"
done
ok "the trace is falsified" python3 -B "$here/faults.py" "$tmp/trace" "$tmp/falsified" "$tmp/list"
falsified "faults of each kind" 90

parameters=()
ok "busybox: the monitor is built" make_monitor "${LINES_OF_INPUT:-4}"
ok "busybox: QEMU writes the trace" trace_monitor || diag "$(cat "$tmp/log")"
verify --device "$monitor_devices" "$tmp/trace"
verified busybox 500000 $?
is "$(number unsupported)" 0 "busybox: the model knows all but what it lists"
at_most results "$(number chosen)" "busybox: only what the trace decides anyway"
ok "busybox: interrupts, page faults" test "$(number interrupts)" -gt 0 -a "$(number faults)" -gt 10

count=${BOOT:-300000}
ok "the first $count instructions of a boot are traced" timeout 600 "$qemu" -M virt -cpu rv64 -m 256M -nodefaults -display none \
	-no-user-config -seed 1 -bios "$("$top/tools/vsoc/run" --print-firmware)" -kernel "$("$top/tools/vsoc/run" --print-kernel)" \
	-append "console=ttyS0 earlycon=sbi" -icount shift=0 -plugin "$plugins/tandem_log.so,out=$tmp/boot,max=$count"
verify --device 0-0x7fffffff "$tmp/boot"
verified boot "$count" $?
is "$(number unsupported)" 0 "boot: the model knows all but what it lists"

# Wrong options.
"$ntrace" tandem verify --model other "$tmp/boot" 2>"$tmp/err"
is "$?" 2 "another model"
"$ntrace" tandem verify --model builtin --gdb x "$tmp/boot" 2>"$tmp/err"
is "$?" 2 "two models"
"$ntrace" tandem verify --model builtin --isa rv32gc "$tmp/boot" 2>"$tmp/err"
is "$?" 2 "an instruction set of another XLEN"

# The start, and li a0, 5 with 6 in a0; then an end that has no group.
printf '\1\13\7\12\0\0\0\200\7\1\3\2\1\3\21\23\5\120\0\4\12\20\6\0\0\0\2' >"$tmp/two"
"$ntrace" tandem verify --model builtin --xlen 32 "$tmp/two" >"$tmp/out"
is $? 3 "li a0, 5 with 6 in a0"
like "the report has the pc of the start" "before: group 0, pc 0x80000000: \(no instruction\)" "$(<"$tmp/out")"
printf '\1\13\7\12\0\0\0\200\7\1\3\2\1\3\21\23\5\120\0\4\12\20\5\0\0\0\2\2' >"$tmp/two"
"$ntrace" tandem verify --model builtin --xlen 32 "$tmp/two" >"$tmp/out"
is $? 3 "an end without a group violates the protocol"
fails "a program of another XLEN" "program: the program has XLEN 64, the trace 32" \
	"$ntrace" tandem verify --model builtin --xlen 32 --elf "$tmp/program" "$tmp/two"
done_testing
