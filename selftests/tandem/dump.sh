#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# runner: cpus=1 seconds=5
# ntrace tandem dump and stat: every type of field as text and as JSON, every kind of instruction, limits, and damaged traces.
# dump.py writes the bytes by the Trace Protocol Specification, and what must be said of them.
set -uo pipefail
# shellcheck source=selftests/tap.sh
. "$(dirname "$0")/../tap.sh"
ntrace=$top/build/ntrace

# Instructions with their kinds, as an assembler encodes them.
cat >"$tmp/code.S" <<'END'
load_instructions:
	lb	a0, 0(a1)
	ld	a0, 8(a1)
	flw	fa0, 0(a1)
	fld	fa0, 0(a1)
	c.lw	a0, 4(a1)
	c.ld	a0, 8(a1)
	c.fld	fa0, 8(a1)
	c.lwsp	a0, 4(sp)
	c.ldsp	a0, 8(sp)
	c.fldsp	fa0, 8(sp)
store_instructions:
	sb	a0, 0(a1)
	sd	a0, 8(a1)
	fsw	fa0, 0(a1)
	fsd	fa0, 0(a1)
	c.sw	a0, 4(a1)
	c.sd	a0, 8(a1)
	c.fsd	fa0, 8(a1)
	c.swsp	a0, 4(sp)
	c.sdsp	a0, 8(sp)
	c.fsdsp	fa0, 8(sp)
atomic_instructions:
	amoadd.w a0, a1, (a2)
	lr.d	a0, (a2)
	sc.w	a0, a1, (a2)
float_instructions:
	fadd.s	fa0, fa1, fa2
	fmadd.d	fa0, fa1, fa2, fa3
	fmsub.s	fa0, fa1, fa2, fa3
	fnmsub.d fa0, fa1, fa2, fa3
	fnmadd.s fa0, fa1, fa2, fa3
	fcvt.w.s a0, fa1
csr_instructions:
	csrrw	a0, mscratch, a1
	csrrsi	a0, mie, 3
	csrrc	zero, mip, a0
ecalls:
	ecall
others:
	ebreak
	mret
	sfence.vma
	fence
	add	a0, a1, a2
	lui	a0, 5
	jalr	ra, 0(a0)
	bne	a0, a1, others
	c.addi	a0, 1
	c.li	a0, 2
	c.sub	a0, a1
	c.j	others
	c.beqz	a0, others
	c.addi4spn a0, sp, 8
	c.slli	a0, 3
	c.mv	a0, a1
	c.add	a0, a1
	c.jr	a0
	c.ebreak
END
ok "instructions of all kinds are assembled" riscv64-linux-gnu-gcc -march=rv64gc -mabi=lp64d -c -o "$tmp/code.o" "$tmp/code.S"
riscv64-linux-gnu-objdump -d -M no-aliases "$tmp/code.o" >"$tmp/code"
taken=0
while read -r result text; do
	case $result in
	ok) pass "$text"; taken=$((taken + 1)) ;;
	failed) not_ok "$text" ;;
	*) diag "$result $text" ;;
	esac
done < <(python3 "$top/selftests/tandem/dump.py" "$ntrace" "$tmp/code" 2>&1)
ok "all tests ran" test "$taken" -ge 38

# complains TEXT PATTERN ARGUMENT...: a usage error
complains() {
	local text=$1 pattern=$2 rc=0
	shift 2
	"$ntrace" tandem "$@" >"$tmp/out" 2>"$tmp/err" </dev/null || rc=$?
	is "$rc $(wc -c <"$tmp/out")" "2 0" "$text: a usage error"
	like "$text: its message" "$pattern" "$(<"$tmp/err")"
}
for trace in "" '\001\013\007\012\000\000\000\0200\000\000\000\000\002'; do
	printf '%b' "$trace" | "$ntrace" tandem verify --model builtin - >"$tmp/out" 2>"$tmp/err"
	is $? 1 "a trace of ${#trace} characters without an instruction is not verified"
	like "its message" "no instruction: nothing was verified" "$(<"$tmp/err")"
done
complains "no file" "an action .dump, stat, convert, verify. and a file are needed" dump
complains "two files" "an action .dump, stat, convert, verify. and a file are needed" dump - -
complains "an action" "'show' is not one of dump, stat, convert, verify" show -
complains "xlen" "xlen" --xlen 33 dump -
complains "xlen that is no number" "'x' is not a number" --xlen x dump -
complains "mlen" "mlen" --mlen 33 dump -
complains "flen" "flen" --flen 16 dump -
complains "verify without a model" "verify needs --gdb" verify -
complains "convert without an output" "convert needs --from and --output" convert --from spike -
complains "convert without --from" "convert needs --from and --output" convert -o "$tmp/none" -
complains "convert from another simulator" "'rtl' is not one of rvfi, rvvi, ibex, cva6, spike, qemu, ingress" convert --from rtl -o "$tmp/none" -
complains "convert from an ingress port" "convert --from ingress needs --elf" convert --from ingress -o "$tmp/none" -
complains "a register that is none" "'a9' is not a register" --absent a9 dump -
complains "a mask that is none" "'x' is not a mask" --chosen mie:x dump -
complains "an empty mask" "'' is not a mask" --chosen mie: dump -
complains "a list with an empty element" "'mie,,mip' is not a list" --chosen mie,,mip dump -
complains "registers do not have masks everywhere" "'mie:1' is not a register" --absent mie:1 dump -
for range in 1 1-x 5-4 x-1 -; do
	complains "the range $range" "'$range' is not a range FIRST-LAST" --device "$range" dump -
done
complains "too many registers" "more than [0-9]+ registers" --absent "$(printf 'a0,%.0s' {1..200})" dump -
complains "too many ranges" "more than [0-9]+ ranges" --device "$(printf '1-2,%.0s' {1..200})" dump -
fails "no such file" "/nonexistent: No such file or directory" "$ntrace" tandem dump /nonexistent
fails "a directory" "/: Is a directory" "$ntrace" tandem stat /
"$ntrace" tandem dump --help >"$tmp/out"
is "$? $(head -c 21 "$tmp/out")" "0 usage: ntrace tandem " "--help"
done_testing
