#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# runner: cpus=1 seconds=60
# The model is a second QEMU that is linked with the verifier (tandem_model.so): the bare-metal program of verify.sh, with the
# same faults, and the start of a Linux boot, from the first instruction of the firmware on.
set -uo pipefail
# shellcheck source=selftests/tap.sh
. "$(dirname "$0")/../tap.sh"
here=$top/selftests/tandem
ntrace=$top/build/ntrace
qemu=$top/build/qemu/qemu-system-riscv64
plugins=$top/build/plugin

# number KEY: of the totals
number() { sed -n "s/.*\"$1\":\([0-9]*\).*/\1/p" "$tmp/out" | tail -n 1; }

machine=("$qemu" -M virt -cpu rv64 -m 128M -display none -serial none -monitor none -bios none -kernel "$tmp/program")
ok "the program is assembled" riscv64-linux-gnu-gcc -march=rv64gc -mabi=lp64d -nostdlib -static -no-pie \
	-Wl,-Ttext=0x80000000 -Wl,--build-id=none -DROUNDS="${ROUNDS:-12}" "$here/program.S" -o "$tmp/program"
ok "QEMU writes its trace" timeout 300 "${machine[@]}" -icount shift=0 -plugin "$plugins/tandem_log.so,out=$tmp/trace"
# A store to the finisher ends the machine: the groups before its preparation are verified.
limit=$("$ntrace" tandem dump "$tmp/trace" | awk '$2 == "begin" { n++ } / t0 = 0x100000$/ { print n - 1 }')

# verify FILE OPTIONS: the model of the program
verify() {
	timeout 300 "${machine[@]}" -plugin "$plugins/tandem_model.so,trace=$1,device=0x2000000-0x200ffff,json=on,$2"
}
verify "$tmp/trace" "limit=$limit,full=1" >"$tmp/out" 2>"$tmp/err"
is "$? $(<"$tmp/err")" "0 " "the trace is verified, all registers after each instruction"
is "$(number groups) $(number differences)" "$limit 0" "all groups, no difference"
is "$(number interrupts)" "${ROUNDS:-12}" "one timer interrupt in each round"

ok "the trace is falsified" python3 -B "$here/faults.py" "$tmp/trace" "$tmp/falsified" "$tmp/list"
verify "$tmp/falsified" mismatches=0 >"$tmp/found" 2>"$tmp/err"
is $? 3 "the falsified trace is not accepted"
relay faults python3 -B "$here/faults.py" --check "$tmp/list" "$tmp/found"

# A trace that goes on after the store to the finisher, in a jump to itself.
halt=$(riscv64-linux-gnu-nm "$tmp/program" | awk '$3 == "halt" { print $1 }')
python3 -c 'import struct, sys
sys.stdout.buffer.write(open(sys.argv[1], "rb").read())
group = b"\1\7\n" + struct.pack("<Q", int(sys.argv[2], 16)) + b"\x10\1\xa0\2"
sys.stdout.buffer.write(group * 1000000)' "$tmp/trace" "$halt" >"$tmp/endless"
verify "$tmp/endless" mismatches=0 >"$tmp/out" 2>"$tmp/err"
is "$? $(tail -n 1 "$tmp/err")" "1 tandem_model: QEMU ended before the verification" "a model that ends is an error"
timeout 60 "${machine[@]}" -plugin "$plugins/tandem_model.so,device=x,trace=$tmp/trace" >"$tmp/out" 2>"$tmp/err"
is "$?" 2 "a wrong option"
like "its message is the command's" "'x' is not a range FIRST-LAST" "$(<"$tmp/err")"

# Linux. Firmware and kernel find everything below the memory by the same device tree: -seed makes its random numbers the same.
count=${BOOT:-300000}
boot=("$qemu" -M virt -cpu rv64 -m 256M -nodefaults -display none -no-user-config -seed 1 -bios "$("$top/tools/vsoc/run" --print-firmware)"
	-kernel "$("$top/tools/vsoc/run" --print-kernel)" -append "console=ttyS0 earlycon=sbi")
ok "the first $count instructions of a boot are traced" timeout 600 "${boot[@]}" -icount shift=0 \
	-plugin "$plugins/tandem_log.so,out=$tmp/boot,max=$count"
timeout 600 "${boot[@]}" -plugin "$plugins/tandem_model.so,trace=$tmp/boot,device=0-0x7fffffff,json=on" >"$tmp/out" 2>"$tmp/err"
is "$? $(<"$tmp/err")" "0 " "the boot is verified"
ok "all instructions were executed by the model" test "$(number instructions)" -ge "$count"
is "$(number differences)" 0 "there is no difference" || diag "$(head -n 20 "$tmp/out")"
diag "boot: $(tail -n 1 "$tmp/out")"
done_testing
