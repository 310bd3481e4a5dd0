#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Tandem verification of the first 5 million instructions of a Linux boot, and of more than a million of the bare-metal program
# of the tests, through the linked model; of 100,000 of each through a GDB stub.
set -uo pipefail
# shellcheck source=selftests/tap.sh
. "$(dirname "$0")/../tap.sh"
cd "$top" || exit 1
ntrace=$top/build/ntrace
qemu=$top/build/qemu/qemu-system-riscv64
plugins=$top/build/plugin
count=${BOOT:-5000000}
stub=${STUB:-100000}

# number KEY: of the totals of a verification
number() { sed -n "s/.*\"$1\":\([0-9]*\).*/\1/p" "$tmp/out" | tail -n 1; }

# verified TEXT INSTRUCTIONS STATUS
verified() {
	is "$3 $(cat "$tmp/err")" "0 " "$1: verified"
	ok "$1: the model executed $2 instructions" test "$(number instructions)" -ge "$2"
	is "$(number differences)" 0 "$1: no difference" || diag "$(grep -v '"groups"' "$tmp/out" | head -n 10)"
	diag "$1: $(tail -n 1 "$tmp/out")"
}

# through_gdb TEXT OPTION... -- COMMAND...: verifies the start of $tmp/trace with the stub at $tmp/gdb; one group in 100 may be an
# interrupt
through_gdb() {
	local text=$1 options=() model status
	shift
	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	shift
	rm -f "$tmp/gdb"
	"$@" >"$tmp/model" 2>&1 &
	model=$!
	while [ ! -S "$tmp/gdb" ] && kill -0 "$model" 2>/dev/null; do sleep 0.05; done
	timeout 3600 "$ntrace" tandem verify --gdb "$tmp/gdb" --json --limit "$((stub + stub / 100))" "${options[@]}" "$tmp/trace" \
		>"$tmp/out" 2>"$tmp/err"
	status=$?
	kill "$model" 2>/dev/null
	wait "$model" 2>/dev/null
	verified "$text" "$stub" "$status"
}

# Firmware and kernel find everything below the memory by the same device tree: -seed makes its random numbers the same.
boot=("$qemu" -M virt -cpu rv64 -m 256M -nodefaults -display none -no-user-config -seed 1 -bios "$(tools/vsoc/run --print-firmware)"
	-kernel "$(tools/vsoc/run --print-kernel)" -append "console=ttyS0 earlycon=sbi")
devices=0-0x7fffffff
ok "boot: traced" timeout 3600 "${boot[@]}" -icount shift=0 -plugin "$plugins/tandem_log.so,out=$tmp/trace,max=$count"
timeout 3600 "${boot[@]}" -plugin "$plugins/tandem_model.so,trace=$tmp/trace,device=$devices,json=on" >"$tmp/out" 2>"$tmp/err"
verified boot "$((count - 100))" $?
through_gdb "boot, GDB stub" --device $devices -- "${boot[@]}" -S -gdb "unix:$tmp/gdb,server=on,wait=off"


program=("$qemu" -M virt -cpu rv64 -m 128M -display none -serial none -monitor none -bios none -kernel "$tmp/program")
devices=0x2000000-0x200ffff
ok "program: assembled" riscv64-linux-gnu-gcc -march=rv64gc -mabi=lp64d -nostdlib -static -no-pie -Wl,-Ttext=0x80000000 \
	-Wl,--build-id=none -DROUNDS="${ROUNDS:-2400}" selftests/tandem/program.S -o "$tmp/program"
ok "program: traced" timeout 3600 "${program[@]}" -icount shift=0 -plugin "$plugins/tandem_log.so,out=$tmp/trace"
# A store to the finisher ends the machine: the groups before its preparation are verified.
limit=$("$ntrace" tandem dump "$tmp/trace" | awk '$2 == "begin" { n++ } / t0 = 0x100000$/ { print n - 1 }')
timeout 3600 "${program[@]}" -plugin "$plugins/tandem_model.so,trace=$tmp/trace,device=$devices,json=on,limit=$limit" \
	>"$tmp/out" 2>"$tmp/err"
verified program 1000000 $?
through_gdb "program, GDB stub" --device $devices -- "${program[@]}" -S -gdb "unix:$tmp/gdb,server=on,wait=off"
done_testing
