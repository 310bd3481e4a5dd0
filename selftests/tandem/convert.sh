#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# runner: cpus=1 seconds=20
# ntrace tandem convert: QEMU's log of a program has the same pcs, instructions and GPRs as the plugin's trace of it; a commit
# log of Spike gives the trace that was made from it by hand.
set -uo pipefail
# shellcheck source=selftests/tap.sh
. "$(dirname "$0")/../tap.sh"
ntrace=$top/build/ntrace
machine=("$top/build/qemu/qemu-system-riscv64" -M virt -cpu rv64 -m 128M -display none -serial none -monitor none -bios none
	-icount shift=0 -kernel "$tmp/program")

ok "the program is assembled" riscv64-linux-gnu-gcc -march=rv64gc -mabi=lp64d -nostdlib -static -no-pie \
	-Wl,-Ttext=0x80000000 -Wl,--build-id=none -DROUNDS=1 "$top/selftests/tandem/program.S" -o "$tmp/program"
ok "the plugin writes a trace" timeout 300 "${machine[@]}" -accel tcg,one-insn-per-tb=on \
	-plugin "$top/build/plugin/tandem_log.so,out=$tmp/plugin"
ok "QEMU writes a log" timeout 300 "${machine[@]}" -accel tcg,one-insn-per-tb=on -d in_asm,cpu,fpu,nochain -D "$tmp/log"
ok "the log is converted" "$ntrace" tandem convert --from qemu -o "$tmp/converted" "$tmp/log"

# Groups as a line each: instruction and GPRs, without what a log does not tell, up to the loop that waits for an interrupt.
# The program reads mtime before (ld t0, 0(t1); addi t0, t0, 2), which differs from run to run.
lines() {
	"$ntrace" tandem dump "$1" | awk '
		$2 == "begin" { line = ""; insn = 0 }
		$2 == "insn16" || $2 == "insn32" { insn = 1; line = $3 line }
		$2 == "register" && $3 ~ /^(ra|sp|gp|tp|[ast][0-9]+)$/ { line = line " " $3 "=" $5 }
		$2 == "end" && insn { print line }' | sed '/^0985/,$d; s/^\(00033283\|0289\) .*/\1/'
}
lines "$tmp/plugin" >"$tmp/a"
lines "$tmp/converted" >"$tmp/b"
ok "it has most of a round" test "$(wc -l <"$tmp/b")" -gt 200
is "$(cksum <"$tmp/a")" "$(cksum <"$tmp/b")" "instructions and GPRs are those of the plugin"
diff "$tmp/a" "$tmp/b" | head -n 10 | sed 's/^/# /'

cat >"$tmp/spike" <<'END'
core   0: 0x0000000080000000 (0x00000297) auipc   t0, 0x0
core   0: 3 0x0000000080000000 (0x00000297) x5  0x0000000080000000
core   0: 3 0x0000000080000004 (0x3002a073) c768_mstatus 0x0000000a00000080
core   0: 3 0x0000000080000008 (0x8d0d) x10 0xffffffff12345678
core   0: 3 0x000000008000000a (0x0052a423) mem 0x0000000080000008 0x80000000
core   0: 3 0x000000008000000e (0x0082a303) x6  0xffffffff80000000 mem 0x0000000080000008
core   0: 3 0x0000000080000012 (0x30200073) c784_mstatush 0x0
core   0: 0 0x0000000080001000 (0x00000013)
END
ok "Spike's log is converted" "$ntrace" tandem convert --from spike -o "$tmp/converted" "$tmp/spike"
is "$("$ntrace" tandem dump "$tmp/converted" | cut -d ' ' -f 2- | grep -v '^end$' | paste -sd ';')" \
"begin;init;state pc = 0x80000000;state priv = 0x3;\
begin;next-pc;insn32 00000297;register t0 = 0x80000000;\
begin;next-pc;insn32 3002a073;register mstatus = 0xa00000080;\
begin;next-pc;insn16 8d0d;register a0 = 0xffffffff12345678;\
begin;next-pc;insn32 0052a423;state eaddr = 0x80000008;state store32 = 0x80000000;\
begin;next-pc;insn32 0082a303;register t1 = 0xffffffff80000000;state eaddr = 0x80000008;\
begin;state pc = 0x80001000;insn32 30200073;register mstatush = 0x0;state priv = 0x0" "Spike's log: the trace by hand"

# refused TEXT PATTERN LINE: a log that is wrong
refused() {
	echo "$3" >"$tmp/wrong"
	fails "$1" "$2" "$ntrace" tandem convert --from spike -o "$tmp/none" "$tmp/wrong"
	fails "$1: no file is left" "No such file" ls "$tmp/none"
}
refused "another hart" "line 1: another hart than 0" "core   1: 3 0x0000000080000000 (0x00000297) x5  0x0000000080000000"
refused "a line without an instruction" "line 1: not a line of a commit log" "core   0: 3 0x0000000080000000 x5"
refused "a register without a value" "line 1: no value after" "core   0: 3 0x0000000080000000 (0x00000297) x5"
refused "a store without a size" "line 1: store data of no size" "core   0: 3 0x80000000 (0x0052a423) mem 0x80000008 0x800"
refused "no log at all" "is it a log of Spike" "nothing"

# A trace ingress port tells xepc, xcause and xtval of traps only, and not where a jump right before an interrupt went.
cat >"$tmp/traps.S" <<'END'
	.option norvc
_start:	la	t0, handler
	csrw	mtvec, t0
	ecall
	beq	zero, zero, 2f
	nop
2:	auipc	t1, 0
	jr	12(t1)
	nop
	nop			# 0x80000024
handler: csrr	t2, mcause
	bltz	t2, 4f
	csrr	t2, mepc
	addi	t2, t2, 4
	csrw	mepc, t2
4:	mret
END
ok "a program with traps is assembled" riscv64-linux-gnu-gcc -march=rv64g -mabi=lp64d -nostdlib -static -no-pie \
	-Wl,-Ttext=0x80000000 -Wl,--build-id=none "$tmp/traps.S" -o "$tmp/traps"
# ingress_differences PC: what verify says if execution goes on at PC after the last interrupt
ingress_differences() {
	cat >"$tmp/port" <<-END
	ntrace-ingress 1 xlen=64 itype=4 groups=1 port=block
	start 5
	c priv=3 cause=0xb 0x80000000,6,1,1
	c priv=3 0x80000028,4,4,1
	c priv=3 0x80000030,8,3,1
	c priv=3 0x80000010,2,5,1
	c priv=3 cause=0x7 0x0,0,2,0
	c priv=3 0x80000028,4,5,1
	c priv=3 0x8000003c,2,3,1
	c priv=3 0x80000018,4,10,1
	c priv=3 cause=0x7 0x0,0,2,0
	c priv=3 0x80000028,4,5,1
	c priv=3 0x8000003c,2,3,1
	c priv=3 $1,2,0,1
	stop 4
	end
	END
	"$ntrace" tandem convert --from ingress --elf "$tmp/traps" -o "$tmp/converted" "$tmp/port" 2>"$tmp/err"
	"$ntrace" tandem verify --model builtin --elf "$tmp/traps" "${@:2}" "$tmp/converted" | grep -v '^taken'
}
like "traps of an ingress port have no difference" "2 interrupts; 0 results taken from the trace; 0 groups differ" \
	"$(ingress_differences 0x80000024)"
like "nor with --absent" "0 groups differ" "$(ingress_differences 0x80000024 --absent mepc,mcause,mtval)"
like "a return to another address is one" "pc: trace 0x80000020, model 0x80000024" "$(ingress_differences 0x80000020)"

# The first instruction of a handler raises an exception: the group of each trap has its own instruction and mepc.
cat >"$tmp/twice.S" <<'END'
	.option norvc
_start:	la	t0, handler
	csrw	mtvec, t0
	ecall
handler: ebreak
END
ok "a program with a trap in a trap is assembled" riscv64-linux-gnu-gcc -march=rv64g -mabi=lp64d -nostdlib -static \
	-no-pie -Wl,-Ttext=0x80000000 -Wl,--build-id=none "$tmp/twice.S" -o "$tmp/twice"
cat >"$tmp/port" <<'END'
ntrace-ingress 1 xlen=64 itype=4 groups=1 port=block
start 5
c priv=3 cause=0xb 0x80000000,6,1,1
c priv=3 cause=0x3 tval=0x80000010 0x80000010,0,1,0
c priv=3 cause=0x3 tval=0x80000010 0x80000010,0,1,0
stop 4
end
END
ok "its recording is converted" "$ntrace" tandem convert --from ingress --elf "$tmp/twice" -o "$tmp/converted" "$tmp/port"
like "a trap in a trap has no difference" "^6 groups: .*; 0 groups differ" \
	"$("$ntrace" tandem verify --model builtin --elf "$tmp/twice" "$tmp/converted")"

# A damaged trace.
printf '\001\022' >"$tmp/damaged"
"$ntrace" tandem dump "$tmp/damaged" >"$tmp/out" 2>"$tmp/err"
is "$?" 3 "a damaged trace"
like "its message has the offset" "offset 0x1: unknown opcode .byte at 0x1" "$(<"$tmp/err")"
printf '\001\020\001' | "$ntrace" tandem stat --json - >"$tmp/out" 2>"$tmp/err"
is "$?" 3 "a cut trace"
like "its message" "standard input: the trace ends in a field, at offset 0x1" "$(<"$tmp/err")"
printf '\001\003\002' | "$ntrace" tandem dump --json - >"$tmp/out"
is "$? $(tail -n 1 "$tmp/out")" \
	'3 {"offset":2,"type":"end","problem":"group with an incremented pc and no instruction"}' "a violation of the protocol"
done_testing
