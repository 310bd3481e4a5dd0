#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# runner: cpus=1 seconds=60
# A core with RVFI (rtl/core.v), simulated by Icarus, is verified as a designer does it: the waveform, or the lines that the
# testbench prints, through `ntrace tandem convert --from rvfi`, with QEMU as the model. Mistakes that are planted in the core must
# be found at the instruction that makes them. The same run in the formats of other tracers gives the same result.
set -uo pipefail
# shellcheck source=selftests/tap.sh
. "$(dirname "$0")/../tap.sh"
here=$top/selftests/tandem
ntrace=$top/build/ntrace
cd "$tmp" || exit 1
nl=$'\n'

ok "the program is compiled" riscv64-linux-gnu-gcc -march=rv32i_zicsr -mabi=ilp32 -Wl,-melf32lriscv -g -O1 -ffreestanding -fno-pic \
	-fno-stack-protector -nostdlib -static \
	-Wl,--no-relax,--build-id=none,-N,--section-start=.init=0x80000000,-Ttext=0x80000200,--no-warn-rwx-segments \
	-o program "$here/rtl/program.c" || { done_testing; exit; }
riscv64-linux-gnu-objcopy -O binary program program.bin
od -An -v -tx1 program.bin >program.hex
ok "the core is compiled" iverilog -g2005 -o core.vvp "$here/rtl/core.v" "$here/rtl/testbench.v"

# simulate NAME ARGUMENT...: NAME.vcd, NAME.log and NAME.out
simulate() {
	local name=$1
	shift
	vvp -n core.vvp +program=program.hex "+wave=$name.vcd" "+log=$name.log" "$@" >"$name.out" 2>&1
}
convert() { "$ntrace" tandem convert --xlen 32 --mlen 34 "$@" 2>err; }
# verify TRACE OPTIONS: the model of the program
verify() {
	timeout 300 "$top/build/qemu/qemu-system-riscv64" -M virt -cpu rv32i,u=on,zicsr=on,zifencei=on,mmu=off -m 128M -display none \
		-serial none -monitor none -bios none -kernel program \
		-plugin "$top/build/plugin/tandem_model.so,trace=$1,xlen=32,mlen=34,device=0x2000000-0x200ffff,,0x100000-0x100fff,$2" 2>err
}
# number KEY: of the totals of a verification
number() { sed -n "s/.*\"$1\":\([0-9]*\).*/\1/p" out | tail -n 1; }
# verified TEXT INSTRUCTIONS
verified() {
	is "$(number differences)" 0 "$1: no difference" || diag "$(head -n 5 out)"
	ok "$1: $2 instructions" test "$(number instructions)" -ge "$2"
}

# ---- a correct core ----

simulate core +timer=97
ok "the waveform is converted" convert --from rvfi -o core.tandem core.vcd
is "$("$ntrace" tandem dump --xlen 32 --mlen 34 core.tandem | grep -c ' ! ')" 0 "the trace has no violation of the protocol"
verify core.tandem json=on,full=1 >out
verified "waveform" 20000
ok "with timer interrupts" test "$(number interrupts)" -ge 200
ok "the lines are converted" convert --from rvfi -o lines.tandem core.log
ok "they give the same trace" cmp lines.tandem core.tandem
vcd2fst core.vcd core.fst >/dev/null
ok "an FST waveform is converted" convert --from rvfi -o fst.tandem core.fst
ok "it gives the same trace" cmp fst.tandem core.tandem
# As the page for designers begins: without a simulator.
"$ntrace" tandem verify --model builtin --xlen 32 --mlen 34 --elf program --device 0x2000000-0x200ffff,0x100000-0x100fff --json core.tandem >out
verified "the model of ntrace" 20000
sed 's/rvfi_intr=[0-9a-f]* //; s/rvfi_pc_wdata=[0-9a-f]* //' core.log >other.log
ok "without rvfi_intr and rvfi_pc_wdata" convert --from rvfi -o other.tandem other.log
"$ntrace" tandem verify --model builtin --xlen 32 --mlen 34 --elf program --device 0x2000000-0x200ffff,0x100000-0x100fff --json other.tandem >out
verified "interrupts that mcause, mepc and the pc show" 20000
# In a simulation, a register is unknown until the program writes it; functions save and restore such registers.
sed 's/x\[i\] <= 0/x[i] <= 32'"'bx"'/' "$here/rtl/core.v" >unknown.v
iverilog -g2005 -o core.vvp unknown.v "$here/rtl/testbench.v"
simulate unknown +timer=97
ok "registers that are unknown at reset" convert --from rvfi -o unknown.tandem unknown.vcd
like "are named once" "^ntrace: warning: unknown.vcd: time [0-9]*: the program reads .* x or z, which is read as 0; [0-9]* such results" "$(<err)"
ok "also in lines" convert --from rvfi -o lines.tandem unknown.log
ok "they give the same trace" cmp lines.tandem unknown.tandem
"$ntrace" tandem verify --model builtin --xlen 32 --mlen 34 --elf program --device 0x2000000-0x200ffff,0x100000-0x100fff --json unknown.tandem >out
verified "unknown registers" 20000
iverilog -g2005 -o core.vvp "$here/rtl/core.v" "$here/rtl/testbench.v"
# Without interrupts, which these logs do not tell.
simulate quiet
for format in rvvi ibex cva6; do
	python3 -B "$here/rtl/logs.py" "$format" quiet.log >"quiet.$format"
	ok "$format: the log is converted" convert --from "$format" -o "$format.tandem" "quiet.$format"
	verify "$format.tandem" json=on,full=1 >out
	verified "$format" 10000
done
verify ibex.tandem tap=on >out
like "without interrupts, their rules are not exercised" "ok [0-9]* - interrupt-immediate: .* # SKIP never judged" "$(<out)"
like "none of them" "ok [0-9]* - interrupt-taken: .* # SKIP never judged" "$(<out)"
python3 -B "$here/rtl/logs.py" rvvi core.log >core.rvvi
ok "rvvi: a log with interrupts" convert --from rvvi -o rvvi.tandem core.rvvi
verify rvvi.tandem json=on,full=1 >out
verified "rvvi with interrupts" 20000

# ---- mistakes ----

# found NAME FAULT ORDER RULE: the first difference is at the pc of the mistake, and of this rule; RULE convert: RVFI itself shows
# that the instruction ORDER is wrong
found() {
	local pc status
	simulate faulty +timer=97 "+fault=$2" "+at=$3"
	pc=$(sed -n 's/^fault at order.*, pc //p' faulty.out)
	convert --from rvfi -o faulty.tandem faulty.vcd
	status=$?
	if [ "$4" = convert ]; then
		is "$status $(sed -n "s/.* at 0x\($pc\): .*/\1/p;s/.*\(leaves out an instruction\).*/$pc/p" err | head -n 1)" "${5:-3} $pc" "$1: found in RVFI itself"
		return
	fi
	verify faulty.tandem json=on,full=1 >out
	is "$(sed -n '1s/.*"pc":"0x\([0-9a-f]*\)".*"rule":"\([^"]*\)".*/\1 \2/p' out)" "$pc $4" "$1: found where it is" ||
		diag "$(head -n 3 out)"
}
found "a wrong result" 1 400 register
found "a wrong operand" 2 400 convert
found "a branch to the wrong side" 3 400 pc
found "a load from another address" 4 400 register
found "other store data" 5 400 store-data
found "a narrower store" 6 400 access-width
found "a store that is missing" 7 400 access-missing
found "a register that is not written" 8 400 register
found "a wrong mepc" 9 400 interrupt-epc
found "a wrong cause" 10 400 interrupt-enable
found "MPIE not stacked" 11 400 interrupt-status
found "an interrupt with MIE 0" 12 400 interrupt-global
found "a wrong MPP" 13 400 interrupt-status
found "a wrong CSR" 14 400 register
found "a wrong vector" 15 400 interrupt-vector
found "an instruction that is not told" 16 400 convert 1
found "a load that does not extend the sign" 17 800 register
found "mret that clears MPIE" 18 400 register
found "data for x0" 19 400 convert
awk '!done && NR > 600 && /rvfi_mem_wmask=f/ { done = sub("rvfi_trap=0", "rvfi_trap=1") } { print }' core.log >other.log
convert --from rvfi -o other.tandem other.log
is $? 3 "rvfi_trap of an instruction that retires"
like "is found at the store" "rvfi_trap is 1, but the next instruction follows, and xepc is not the address" "$(<err)"

sed 's/ rvfi_csr_[a-z]*cause_[a-z]*=[0-9a-f]*//g' core.log >other.log
convert --from rvfi -o other.tandem other.log
is $? 3 "interrupts without a cause"
like "are reported without values" "at 0x[0-9a-f]*: a trap between two instructions, whose mcause or scause is not reported: it cannot be verified$nl" "$(<err)$nl"

# ---- reports ----

simulate faulty +timer=97 +fault=4 +at=400
convert --from rvfi -o faulty.tandem faulty.vcd
verify faulty.tandem tap=on,elf=program,last=2 >out
is "$?" 3 "TAP: the status"
like "function, line and operands of the instruction that differs" \
	"# group [0-9]* .*: [0-9a-f]{8}  lw a4,0\(a5\)  trapped\+0x[0-9a-f]* \(program.c:[0-9]*\)
#   before it: a4=0x[0-9a-f]*, a5=0x8[0-9a-f]*
#   a4: trace 0x[0-9a-f]*, model 0x[0-9a-f]*: a register differs from the model's \(RISC-V ISA\)" "$(<out)"
like "what the instructions before it changed" "#   before: group [0-9]*, pc 0x[0-9a-f]*: [0-9a-f]{8}  [^>]*  -> a5=0x" "$(<out)"
is "$(grep -c '^#   before: ' out)" 2 "as many as --last says"
like "a rule that is broken" "not ok [0-9]* - register: broken 1 times, judged [0-9]* times" "$(<out)"
like "a rule that is not exercised" "ok [0-9]* - access-physical: .* # SKIP never judged" "$(<out)"
like "a rule that is obeyed" "ok [0-9]* - interrupt-vector: judged [0-9]* times" "$(<out)"
is "$(grep -c '^\(not \)\?ok ' out)" "$(sed -n 's/^1\.\.//p' out)" "a test for each rule"
verify core.tandem json=on >out
like "JSON has the rules" '"rules":\{"register":\{"judged":[0-9]*,"broken":0\}' "$(<out)"

# ---- input that cannot be converted ----

refused() {
	local text=$1 pattern=$2
	shift 2
	fails "$text" "$pattern" "$ntrace" tandem convert -o none "$@"
	fails "$text: no file is left" "No such file" ls none
}
refused "another XLEN" "rvfi_pc_rdata has 32 bits, and the trace xlen 64: option --xlen" --from rvfi core.vcd
refused "another clock" "no signal testbench.none of one bit" --xlen 32 --from rvfi --clock testbench.none core.vcd
refused "another scope" "no rvfi_.* signals in scope core" --xlen 32 --from rvfi --scope core core.vcd
fails "a waveform instead of the trace" "core.vcd: a waveform is not a tandem trace; 'ntrace tandem convert --from rvfi' makes one" \
	"$ntrace" tandem verify --model builtin --xlen 32 core.vcd
sed 's/rvfi_insn /rvfi_other /' core.vcd >other.vcd
refused "a signal that is missing" "no rvfi_insn in scope testbench.core" --xlen 32 --from rvfi other.vcd
sed 's/ clk / tick /' core.vcd >other.vcd
refused "no clock" "no clock named clk.* option --clock" --xlen 32 --from rvfi other.vcd
ok "a clock of another name" convert --from rvfi --clock testbench.core.tick -o clock.tandem other.vcd
ok "gives the same trace" cmp clock.tandem core.tandem
sed '10s/rvfi_rd_wdata=/rvfi_rd_wdata=x/' core.log >other.log
refused "a value with x" "line 10: rvfi_rd_wdata has bits that are x or z, and all that the instruction reads is known" --xlen 32 --from rvfi other.log
sed '10s/rvfi_pc_rdata=./rvfi_pc_rdata=x/' core.log >other.log
refused "a pc with x" "line 10: rvfi_pc_rdata has bits that are x or z" --xlen 32 --from rvfi other.log
sed '10s/rvfi_rd_wdata=/rvfi_rd_wdata=g/' core.log >other.log
refused "no number" "line 10: rvfi_rd_wdata is 'g.*not a hexadecimal number" --xlen 32 --from rvfi other.log
sed '10s/rvfi_insn=/insn=/' core.log >other.log
refused "a line without the instruction" "line 10: no rvfi_insn" --xlen 32 --from rvfi other.log
sed '20d' core.log >other.log
refused "a line that is missing" "instruction 83 .*: rvfi_order leaves out an instruction" --xlen 32 --from rvfi other.log
refused "RVVI-TEXT: an unknown element" "line 1: 'RETIRE' is not an element" --xlen 32 --from rvvi <(echo RETIRE 80000000)
refused "RVVI-TEXT: a register before the instruction" "line 1: X without RET or TRAP" --xlen 32 --from rvvi <(echo X 1 5)
refused "RVVI-TEXT: another hart" "line 1: another hart than 0" --xlen 32 --from rvvi <(echo HART 1)
refused "Ibex: not its columns" "line 1: expected TIME CYCLE PC" --xlen 32 --from ibex <(echo 10 1 text)
refused "CVA6: no instruction" "line 1: expected 0xPC" --xlen 32 --from cva6 <(echo "3 0x80000000")
is "$("$ntrace" tandem convert --xlen 32 --from rvvi -o two.tandem <(printf 'RET 80 00000093 \\\nX 1 0\nRET 84 00000113\n') 2>&1)" \
	"ntrace: two.tandem: 1 groups, 0 without the bits of their instruction" "RVVI-TEXT: an event on two lines"
done_testing
