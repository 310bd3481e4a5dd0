# shellcheck shell=bash disable=SC2034 # variables are for whoever sources this
# SPDX-License-Identifier: GPL-2.0-only
# A program whose run can be written down, and its trace: for tests of what shows places of a trace.
# shellcheck source=selftests/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../tap.sh"
ntrace=$top/build/ntrace

# make_demo: $tmp/demo has two functions, called alternately; $tmp/pcs the addresses of its run, one a line, $total of them;
# $tmp/demo.nex its trace.
make_demo() {
cat >"$tmp/demo.S" <<'END'
	.globl _start
_start:	li	s0, 12
loop:	andi	t0, s0, 1
	beqz	t0, even
	call	odd
	j	next
even:	call	both
next:	addi	s0, s0, -1
	bnez	s0, loop
	ecall
	.type odd, @function
odd:	mv	s1, ra
	call	both
	mv	ra, s1
	ret
	.size odd, . - odd
	.type both, @function
both:	nop
	ret
	.size both, . - both
	.section .rodata
answer:	.word	0x600df00d
	.data
value:	.word	0x12345678
END
ok "the program is assembled" riscv64-linux-gnu-gcc -g -march=rv64gc -nostdlib -static -Wl,-Ttext=0x10000,--no-relax \
	-Wl,--build-id=none -o "$tmp/demo" "$tmp/demo.S" || return
python3 - "$tmp/demo" >"$tmp/pcs" <<'END'
import re, subprocess, sys
labels, code, start = {}, [], None
for line in subprocess.run(["riscv64-linux-gnu-objdump", "-d", sys.argv[1]], stdout=subprocess.PIPE, text=True).stdout.splitlines():
    label, instruction = re.match(r"[0-9a-f]+ <(\w+)>:", line), re.match(r" +([0-9a-f]+):", line)
    if label:
        labels[label.group(1)] = len(code)
    elif instruction:
        code.append("0x" + instruction.group(1))
def run(start, end=None):
    first = labels[start]
    last = labels[end] if end else min([at for at in labels.values() if at > first] + [len(code)])
    print(*code[first:last], sep="\n")
run("_start", "loop")
for i in range(12, 0, -1):
    print(*code[labels["loop"]:labels["loop"] + 2], sep="\n")
    if i % 2:
        # odd: its call takes two instructions, or one if the linker relaxes it.
        call = code[labels["loop"] + 2:labels["even"] - 1]
        print(*call, sep="\n")
        body = code[labels["odd"]:labels["both"]]
        print(*body[:-2], sep="\n")
        run("both")
        print(*body[-2:], sep="\n")
        print(code[labels["even"] - 1])
    else:
        run("even", "next")
        run("both")
    print(*code[labels["next"]:labels["next"] + 2], sep="\n")
print(code[labels["next"] + 2])
END
total=$(wc -l <"$tmp/pcs")
ok "its trace is made" "$ntrace" encode --pcs "$tmp/pcs" --elf "$tmp/demo" --mode btm \
	--encoder sync=messages,syncmax=0 -o "$tmp/demo.nex"
"$ntrace" decode --level pc --elf "$tmp/demo" "$tmp/demo.nex" >"$tmp/decoded"
ok "its trace has the run" cmp "$tmp/pcs" "$tmp/decoded"
}

# address NAME: of a symbol of the program
address() { nm "$tmp/demo" | sed -n "s/^0*\([0-9a-f]*\) . $1$/0x\1/p"; }

# make_timed: $tmp/timed.nex is the same run with timestamps; $params are its parameters.
make_timed() {
	params=tsbits=32,tshz=1000000
	"$ntrace" encode --pcs "$tmp/pcs" --elf "$tmp/demo" --mode btm --params tsbits=32 --encoder timestamps=all \
		-o "$tmp/timed.nex" >/dev/null
}

# make_gap: $tmp/gap.nex lacks bytes in the middle.
make_gap() {
	local size
	size=$(stat -c %s "$tmp/demo.nex")
	{ head -c $((size / 3)) "$tmp/demo.nex"; tail -c $((size / 3)) "$tmp/demo.nex"; } >"$tmp/gap.nex"
}
