#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# The code of a raw trace: any number of --elf and --raw, --images, files that overlap, are truncated, or are not programs;
# names of instructions, and their lines.
set -uo pipefail
# shellcheck source=selftests/tap.sh
. "$(dirname "$0")/../tap.sh"
ntrace=$top/build/ntrace
pages=100

# Pages in sequence, each with a nop and a jump to the next page.
{
	printf '.option norvc\n.globl _start\n_start:\n'
	for ((i = 0; i < pages; i++)); do printf '.balign 4096\npage%d: nop\n j page%d\n' $i $(((i + 1) % pages)); done
} >"$tmp/demo.S"
riscv64-linux-gnu-gcc -march=rv64gc -nostdlib -static -Wl,-Ttext=0x10000 -Wl,--build-id=none -o "$tmp/demo" "$tmp/demo.S" ||
	not_ok "the program is assembled"
riscv64-linux-gnu-objcopy -O binary -j .text "$tmp/demo" "$tmp/text"
for ((i = 0; i < 3 * pages; i++)); do
	printf '0x%x\n0x%x\n' $((0x10000 + 4096 * (i % pages))) $((0x10004 + 4096 * (i % pages)))
done >"$tmp/pcs"
ok "a trace" "$ntrace" encode --pcs "$tmp/pcs" --elf "$tmp/demo" --mode htm -o "$tmp/trace"

# decodes TEXT OPTION...: the trace decodes to the executed instructions, without messages.
decodes() {
	"$ntrace" decode --level pc "${@:2}" "$tmp/trace" >"$tmp/out" 2>"$tmp/err"
	is "$? $(cat "$tmp/err")" "0 " "$1: status and complaints"
	ok "$1: the executed instructions" cmp "$tmp/out" "$tmp/pcs"
}
# refused TEXT STATUS PATTERN OPTION...
refused() {
	"$ntrace" decode --level pc "${@:4}" "$tmp/trace" >"$tmp/out" 2>"$tmp/err"
	is "$? $(wc -l <"$tmp/err")" "$2 1" "$1: status and one line"
	like "$1: its message" "$3" "$(cat "$tmp/err")"
}
decodes "the program" --elf "$tmp/demo"

# One option per page: more options than an earlier version could store.
options=()
mkdir "$tmp/images" "$tmp/mixed" "$tmp/marked"
for ((i = 0; i < pages; i++)); do
	printf -v address '%x' $((0x10000 + 4096 * i))
	tail -c +$((1 + 4096 * i)) "$tmp/text" | head -c 4096 >"$tmp/images/$address.bin"
	options+=(--raw "$tmp/images/$address.bin@0x$address")
done
decodes "$pages options --raw" "${options[@]}"
decodes "a directory of images" --images "$tmp/images"
for file in "$tmp/images"/*; do
	name=${file##*/}
	cp "$file" "$tmp/marked/0X000${name%.bin}_page"
	printf -v name '%016x' $((0x${name%.bin}))
	cp "$file" "$tmp/mixed/$name"
done
decodes "names with 0x" --images "$tmp/marked/"
decodes "names with all digits" --images "$tmp/mixed"
riscv64-linux-gnu-gcc -march=rv64gc -nostdlib -static -Wl,-Ttext=0x710000 -Wl,--build-id=none -o "$tmp/moved" "$tmp/demo.S"
mkdir "$tmp/elf"
cp "$tmp/moved" "$tmp/elf/$(riscv64-linux-gnu-readelf -lW "$tmp/demo" | awk '$1 == "LOAD" { print $3; exit }').elf"
decodes "an ELF file, moved to where its name says" --images "$tmp/elf"
is "$("$ntrace" stat --images "$tmp/images" --json "$tmp/trace" | grep -o '"instructions":[0-9]\+')" '"instructions":600' "stat --images"
like "check --images" "0 errors, 0 warnings" "$("$ntrace" check --images "$tmp/images" "$tmp/trace")"

# If files overlap, the last one counts.
cp "$tmp/text" "$tmp/zeros"
dd if=/dev/zero of="$tmp/zeros" bs=4096 count=2 seek=7 conv=notrunc 2>"$tmp/log"
overlap() {
	"$ntrace" decode --level pc "$@" "$tmp/trace" >"$tmp/out" 2>"$tmp/err"
	cmp -s "$tmp/out" "$tmp/pcs" && echo same
	cat "$tmp/err"
}
like "two files overlap: the second counts" "^same.*demo and .*zeros overlap at 0x10000: .*demo counts there, as it comes later" \
	"$(overlap --raw "$tmp/zeros@0x10000" --elf "$tmp/demo" | tr '\n' ' ')"
like "the other way round" "^ntrace.* zeros and .*demo overlap at 0x10000: .*zeros counts there" \
	"$(overlap --elf "$tmp/demo" --raw "$tmp/zeros@0x10000" | tr '\n' ' ' | sed 's#[^ ]*/zeros#zeros#')"
like "many overlap: one warning" "overlap at 0x10000: .*; 99 more overlap" "$(overlap --images "$tmp/images" --elf "$tmp/demo" | grep overlap)"
is "$(overlap --images "$tmp/images" --elf "$tmp/demo" | grep -c overlap)" 1 "and only one"

# Files that are not programs.
for size in 63 1000 100000 $(($(stat -c %s "$tmp/demo") - 1)); do
	head -c "$size" "$tmp/demo" >"$tmp/cut"
	refused "an ELF file cut at $size" 1 "cut: (the file ends too early: it was cut|wrong file format)" --elf "$tmp/cut"
done
like "the last byte is missing: a message" "ends too early" "$(cat "$tmp/err")"
refused "no directory" 1 "none: No such file" --images "$tmp/none"
refused "a file" 1 "demo: Not a directory" --images "$tmp/demo"
mkdir "$tmp/empty"
refused "an empty one" 1 "empty: no file in it is named by its address, as 0x80000000.bin" --images "$tmp/empty"
touch "$tmp/empty/add.bin" "$tmp/empty/.10000" "$tmp/empty/10000x" "$tmp/empty/0x.bin" "$tmp/empty/00000000000010000"
refused "words and hidden files are no addresses" 1 "no file in it is named by its address" --images "$tmp/empty"
cp "$tmp/text" "$tmp/empty/10000"
"$ntrace" decode --level pc --images "$tmp/empty" "$tmp/trace" >"$tmp/out" 2>"$tmp/err"
is "$?" 0 "files with other names are ignored"
like "and reported" "(add.bin|10000x|0x.bin|00000000000010000): left out, as it is not named by an address \(of 4 such files\)" "$(cat "$tmp/err")"
ok "the rest is used" cmp "$tmp/out" "$tmp/pcs"
touch "$tmp/images/200000.bin"
refused "an empty image" 1 "200000.bin: there is no code in it" --images "$tmp/images"
# objdump's names of the instructions, and addr2line's lines.
cat >"$tmp/lines.c" <<'END'
void _start(void)
{
	for (volatile int i = 0; i < 3; i++)
		__asm__("nop");
	__asm__(".rept 300; nop; .endr; ebreak");
}
END
riscv64-linux-gnu-gcc -g -O1 -march=rv64gc -nostdlib -static -ffreestanding -Wl,--build-id=none -o "$tmp/lines" "$tmp/lines.c"
riscv64-linux-gnu-objdump -d --no-show-raw-insn "$tmp/lines" | awk '/^ +[0-9a-f]+:/ { sub(":", "", $1); print "0x" $1 }' >"$tmp/pcs"
"$ntrace" encode --pcs "$tmp/pcs" --elf "$tmp/lines" --mode htm -o "$tmp/lines.nex" >/dev/null
"$ntrace" decode --level instruction --disassemble --lines --json --elf "$tmp/lines" "$tmp/lines.nex" | grep '"type":"instruction"' >"$tmp/got"
riscv64-linux-gnu-objdump -d --no-show-raw-insn "$tmp/lines" | sed -n 's/^ *\([0-9a-f]*\):[[:space:]]*/\1 /p' |
	sed 's/[[:space:]]\+/ /g; s/ $//' >"$tmp/expected"
is "$(sed 's/.*"address":"0x\([0-9a-f]*\)".*"text":"\([^"]*\)".*/\1 \2/' "$tmp/got" | sed 's/[[:space:]]\+/ /g')" "$(<"$tmp/expected")" \
	"--disassemble: what objdump says"
is "$(sed 's/.*"file":"\([^"]*\)","line":\([0-9]*\).*/\1:\2/' "$tmp/got")" \
	"$(riscv64-linux-gnu-addr2line -e "$tmp/lines" <"$tmp/pcs" | sed 's/ (disc.*//')" "--lines: what addr2line says"
"$ntrace" decode --level instruction -d --lines --elf "$tmp/lines" "$tmp/lines.nex" >"$tmp/got"
like "as text" "ebreak +_start\+0x[0-9a-f]+ \[lines\] $tmp/lines.c:5" "$(<"$tmp/got")"
PATH=/nonexistent "$ntrace" decode --level instruction -d --lines --elf "$tmp/lines" "$tmp/lines.nex" >"$tmp/got" 2>"$tmp/err"
is "$(grep -c 'lines: cannot be disassembled: .* objdump for RISC-V' "$tmp/err") $(grep -c . "$tmp/err")" "1 1" "no objdump: one message"
printf '#!/bin/sh\necho objdump\n' >"$tmp/objdump"
chmod +x "$tmp/objdump"
for objdump in /bin/false /nonexistent "$tmp/objdump"; do
	for command in "decode --level instruction -d --elf $tmp/lines" "report --annotate main" "browse --elf $tmp/lines"; do
		# shellcheck disable=SC2086 # words
		fails "${command%% *} --objdump $objdump" "option --objdump: $objdump" "$ntrace" $command --objdump "$objdump" "$tmp/lines.nex"
	done
done
"$ntrace" decode -d --elf "$tmp/lines" "$tmp/lines.nex" >/dev/null 2>"$tmp/err"
is "$? $(<"$tmp/err")" "2 ntrace decode: --disassemble and --lines need --level instruction (see 'ntrace decode --help')" \
	"not at other levels"

# Addresses before which objdump writes no blanks, and programs without sections, as copies of the kernel's code are.
cat >"$tmp/high.S" <<'END'
.globl _start
_start:
	nop
	c.li a0, 1
	lui a1, 0x12345
	ebreak
END
# high NAME ADDRESS OPTION...: a program at an address, named as an address, and its trace
high() {
	riscv64-linux-gnu-gcc -nostdlib -static -Wl,--build-id=none "-Wl,-Ttext-segment=$2" "${@:3}" -o "$tmp/$1" "$tmp/high.S"
	riscv64-linux-gnu-objdump -d "$tmp/$1" | awk '/^ *[0-9a-f]+:/ { sub(":", "", $1); print "0x" $1 }' >"$tmp/pcs"
	"$ntrace" encode --pcs "$tmp/pcs" --elf "$tmp/$1" --mode htm -o "$tmp/high.nex" >/dev/null
}
# names TEXT FILE: all four instructions are named.
names() {
	is "$("$ntrace" decode --level instruction -d --json --elf "$2" "$tmp/high.nex" 2>&1 |
		sed -n 's/.*"text":"\([a-z.]*\) *\([^"]*\)".*/\1 \2/p' | tr '\n' ';')" "nop ;li a0,1;lui a1,0x12345;ebreak ;" "$1"
}
for program in "add 0x10000000 -march=rv32imac -mabi=ilp32" "0 0xffffffff80000000 -march=rv64gc -mcmodel=medany -Wl,-melf64lriscv"; do
	# shellcheck disable=SC2086
	high $program
	names "an address of all digits: $program" "$tmp/${program%% *}"
	# Neither a section table nor the index of its names.
	python3 - "$tmp/${program%% *}" <<'END'
import sys
file = open(sys.argv[1], "r+b")
wide = file.read(5)[4] == 2
file.seek(40 if wide else 32)
file.write(bytes(8 if wide else 4))
file.seek(60 if wide else 48)
file.write(bytes(4))
END
	names "no sections: $program" "$tmp/${program%% *}"
done
done_testing
