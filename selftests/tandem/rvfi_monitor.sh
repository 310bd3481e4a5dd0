#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# runner: cpus=1 seconds=40
# The monitor of Documentation/examples/rvfi is compiled with Verilator and bound to the core of rvfi.sh: it verifies the core while it
# is simulated, through the GDB stub of QEMU, and ends the simulation at the first difference.
set -uo pipefail
# shellcheck source=selftests/tap.sh
. "$(dirname "$0")/../tap.sh"
# shellcheck source=selftests/tandem/stub.sh
. "$top/selftests/tandem/stub.sh"
rtl=$top/selftests/tandem/rtl example=$top/Documentation/examples/rvfi
cd "$tmp" || exit 1

ok "the program is compiled" riscv64-linux-gnu-gcc -march=rv32i_zicsr -mabi=ilp32 -Wl,-melf32lriscv -O1 -ffreestanding -fno-pic \
	-fno-stack-protector -nostdlib -static \
	-Wl,--no-relax,--build-id=none,-N,--section-start=.init=0x80000000,-Ttext=0x80000200,--no-warn-rwx-segments \
	-o program "$rtl/program.c" || { done_testing; exit; }
riscv64-linux-gnu-objcopy -O binary program program.bin
od -An -v -tx1 program.bin >program.hex
ok "the monitor is compiled" gcc -std=c11 -O1 -Wall -Wextra -Werror -I"$top/lib/include" -c "$example/monitor.c" -o monitor.o
echo 'bind core rvfi_monitor #(.DEVICE_FIRST(64'"'"'h2000000), .DEVICE_LAST(64'"'"'h200ffff)) monitor (.*);' >bind.sv
ok "Verilator compiles the core with it" verilator --binary -j 1 -Wno-fatal -Wno-lint -Wno-style --timing --top-module testbench -O0 \
	-o monitored "$rtl/core.v" "$rtl/testbench.v" "$example/monitor.sv" bind.sv "$tmp/monitor.o" \
	-LDFLAGS "-L$top/build -lntrace -Wl,-rpath,$top/build" || { done_testing; exit; }

# A core without rvfi_csr_*.
ok "the monitor needs no CSRs" verilator --lint-only -Wno-fatal -Wno-lint -Wno-style --timing -DRVFI_WITHOUT_CSRS "$example/monitor.sv"
is "$(verilator -E -P -DRVFI_WITHOUT_CSRS "$example/monitor.sv" | grep -c rvfi_csr_)" 0 "and has none"

# alone ARGUMENT...: writes out; the model of libntrace
alone() { timeout 300 obj_dir/monitored +program=program.hex +wave=wave.vcd +timer=97 "$@" >out 2>&1; }
alone +cycles=800
like "the model of libntrace: a correct core" "ntrace: [67][0-9][0-9] instructions verified, [0-9]+ interrupts, 0 differences" "$(<out)"
alone +fault=1 +at=400
pc=$(sed -n 's/^fault at order.*, pc //p' out)
like "the model of libntrace: a wrong result" "ntrace: pc 0x$pc, instruction [0-9a-f]*: a register differs from the model's: " "$(<out)"

# simulate ARGUMENT...: writes out; starts the model for it
simulate() {
	rm -f gdb
	"$top/build/qemu/qemu-system-riscv64" -M virt -cpu rv32i,u=on,zicsr=on,zifencei=on,mmu=off -m 128M -display none -serial none \
		-monitor none -bios none -kernel program -S -gdb "unix:$tmp/gdb,server=on,wait=off" >/dev/null 2>&1 &
	local model=$!
	stub_ready "$tmp/gdb" "$model"
	timeout 300 obj_dir/monitored +program=program.hex +wave=wave.vcd "+model=$tmp/gdb" +timer=97 "$@" >out 2>&1
	kill "$model" 2>/dev/null
	wait "$model" 2>/dev/null
}

simulate +cycles=800
like "a correct core" "ntrace: [67][0-9][0-9] instructions verified, [0-9]+ interrupts, 0 differences" "$(<out)"
simulate +fault=4 +at=400
pc=$(sed -n 's/^fault at order.*, pc //p' out)
like "a wrong address of a load" "ntrace: pc 0x$pc, instruction [0-9a-f]*: a register differs from the model's: a4 0x0, expected" "$(<out)"
order=$(sed -n 's/^fault at order \([0-9]*\),.*/\1/p' out)
like "the simulation ends with the next instruction" "the simulation ends after the instruction $((order + 1))" "$(<out)"
is "$(grep -c "differs" out)" 1 "the first difference alone"
simulate +fault=2 +at=400
pc=$(sed -n 's/^fault at order.*, pc //p' out)
like "an operand that was not written" "ntrace: pc 0x$pc: rvfi_rs1_rdata or rvfi_rs2_rdata is not the value" "$(<out)"
obj_dir/monitored +program=program.hex +wave=wave.vcd +model=./none >out 2>&1
like "without the model" "ntrace: ./none: input or output failed" "$(<out)"
done_testing
