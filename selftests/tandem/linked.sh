#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# runner: cpus=1 seconds=60
# The model is a second QEMU that is linked with the verifier (tandem_model.so): the bare-metal program of verify.sh for RV32 and
# RV64, with the same faults and with others at random places, and the start of a Linux boot, from the first instruction of the
# firmware on.
set -uo pipefail
# shellcheck source=selftests/tap.sh
. "$(dirname "$0")/../tap.sh"
here=$top/selftests/tandem
qemu=$top/build/qemu/qemu-system-riscv64
plugins=$top/build/plugin

# number KEY: of the totals
number() { sed -n "s/.*\"$1\":\([0-9]*\).*/\1/p" "$tmp/out" | tail -n 1; }

# make_program XLEN: $tmp/program, its trace, and `machine` and `parameters` for it
make_program() {
	local abi=(-march=rv64gc -mabi=lp64d)
	parameters=xlen=64
	if [ "$1" = 32 ]; then
		abi=(-march=rv32gc -mabi=ilp32d "-Wl,-melf32lriscv")
		parameters=xlen=32,mlen=34
	fi
	machine=("$qemu" -M virt -cpu "rv$1" -m 128M -display none -serial none -monitor none -bios none -kernel "$tmp/program")
	ok "RV$1: the program is assembled" riscv64-linux-gnu-gcc "${abi[@]}" -nostdlib -static -no-pie -Wl,-Ttext=0x80000000 \
		-Wl,--build-id=none -DROUNDS="${ROUNDS:-12}" "$here/program.S" -o "$tmp/program"
	ok "RV$1: QEMU writes its trace" timeout 300 "${machine[@]}" -icount shift=0 -plugin "$plugins/tandem_log.so,out=$tmp/trace"
}

# verify FILE OPTIONS: the model of the program
verify() {
	timeout 300 "${machine[@]}" -plugin "$plugins/tandem_model.so,trace=$1,$parameters,device=0x2000000-0x200ffff,,0x100000-0x100fff,json=on,$2"
}

for xlen in 32 64; do
	make_program "$xlen"
	# The last store ends the machine: the verification ends with it.
	verify "$tmp/trace" "full=1" >"$tmp/out" 2>"$tmp/err"
	is "$? $(<"$tmp/err")" "0 " "RV$xlen: the trace is verified, all registers after each instruction"
	is "$(number differences)" 0 "RV$xlen: no difference"
	ok "RV$xlen: 430 instructions and more in each round" test "$(number instructions)" -ge $((430 * ${ROUNDS:-12}))
	is "$(number interrupts)" "${ROUNDS:-12}" "RV$xlen: one timer interrupt in each round"
	ok "RV$xlen: the trace is falsified at random" python3 -B "$here/faults.py" --random "${SEED:-1}" "${FAULTS:-300}" "$xlen" \
		"$tmp/trace" "$tmp/falsified" "$tmp/list"
	verify "$tmp/falsified" mismatches=0 >"$tmp/found" 2>"$tmp/err"
	is $? 3 "RV$xlen: the falsified trace is not accepted"
	relay "RV$xlen" python3 -B "$here/faults.py" --check "$tmp/list" "$tmp/found"
done

ok "the trace is falsified" python3 -B "$here/faults.py" "$tmp/trace" "$tmp/falsified" "$tmp/list"
verify "$tmp/falsified" mismatches=0 >"$tmp/found" 2>"$tmp/err"
is $? 3 "the falsified trace is not accepted"
relay faults python3 -B "$here/faults.py" --check "$tmp/list" "$tmp/found"

# The store to the finisher ends the model. The hart of the trace goes on in a jump to itself.
halt=$(riscv64-linux-gnu-nm "$tmp/program" | awk '$3 == "halt" { print $1 }')
python3 -c 'import struct, sys
trace, halt = open(sys.argv[1], "rb").read(), int(sys.argv[2], 16)
# The group of addiw t1, t1, 0x555 stands before that of sw t1, 0(t0).
end = trace.rindex(b"\x11\x1b\3\x53\x55") + 5 + 11 + 1
store = b"\1\3\x11\x23\xa0\x62\0\7\3" + struct.pack("<Q", 0x100000) + b"\7\6\x55\x55\0\0\2"
sys.stdout.buffer.write(trace[:end] + store + (b"\1\7\n" + struct.pack("<Q", halt) + b"\x10\1\xa0\2") * 100000)' \
	"$tmp/trace" "$halt" >"$tmp/endless"
verify "$tmp/endless" mismatches=0 >"$tmp/out" 2>"$tmp/err"
is "$? $(<"$tmp/err")" "0 " "a trace that ends in a jump to itself is verified up to the end of the model"
is "$(number differences)" 0 "without a difference"
printf '\1\3\x10\1\0\2' >>"$tmp/endless"
verify "$tmp/endless" mismatches=0 >"$tmp/out" 2>"$tmp/err"
is "$? $(tail -n 1 "$tmp/err" | sed 's/.*: the model/the model/')" \
	"1 the model ended the verification: it ended, and the trace goes on" "a model that ends before the trace is an error"
timeout 60 "${machine[@]}" -plugin "$plugins/tandem_model.so,device=x,trace=$tmp/trace" >"$tmp/out" 2>"$tmp/err"
is "$?" 2 "a wrong option"
like "its message is the command's" "'x' is not a range FIRST-LAST" "$(<"$tmp/err")"

# S mode with TVM, where QEMU does not show satp.
parameters=xlen=64
riscv64-linux-gnu-gcc -march=rv64gc -mabi=lp64d -nostdlib -static -no-pie -Wl,-Ttext=0x80000000 -Wl,--build-id=none -x assembler - \
	-o "$tmp/program" <<'END'
	.globl	_start
_start:
	la	t0, handler
	csrw	mtvec, t0
	li	t0, -1
	csrw	pmpaddr0, t0
	li	t0, 0x1f
	csrw	pmpcfg0, t0
	la	t0, table
	srli	t0, t0, 12
	li	t1, 8 << 60
	or	t0, t0, t1
	csrw	satp, t0
	li	t0, 0x100800
	csrw	mstatus, t0
	la	t0, supervisor
	csrw	mepc, t0
	mret
supervisor:
	csrr	t0, satp
	.balign	4
handler:
	li	t0, 0x100000
	li	t1, 0x5555
	sw	t1, 0(t0)
	j	.
	.balign	4096
table:
	.dword	0, 0, 0x80000000 >> 2 | 0xcf
	.fill	4072, 1, 0
END
ok "TVM: QEMU writes the trace" timeout 60 "${machine[@]}" -icount shift=0 -plugin "$plugins/tandem_log.so,out=$tmp/trace"
is "$("$top/build/ntrace" tandem dump "$tmp/trace" | grep -c "register satp")" 2 "TVM: satp is that of reset and the written one"
verify "$tmp/trace" full=1 >"$tmp/out" 2>"$tmp/err"
is "$? $(<"$tmp/err")" "0 " "TVM: the trace is verified"
is "$(number differences)" 0 "TVM: no difference"

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
