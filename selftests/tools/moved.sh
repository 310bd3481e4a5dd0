#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# runner: seconds=60
# What an export says does not depend on where the recording and the files of its machine are: the same bytes from
# an archive, from the same recording elsewhere, and from a sysroot.
set -uo pipefail
# shellcheck source=selftests/tools/small_recordings.sh
. "$(dirname "$0")/small_recordings.sh"
ok "a small recording" small_recordings "$tmp" 1 || done_testing
formats=$("$ntrace" export --help | sed -n '/^formats:/,/^All/s/^  \([a-z, -]*[a-z]\)  .*/\1/p' | tr -d ,)
like "the formats" perf-data "$formats"

mkdir -p "$tmp/one" "$tmp/another/deeper" "$tmp/board$tmp"
cp "$tmp/two_tasks" "$tmp/board$tmp/"
mv "$tmp/r1" "$tmp/one/"
cp -r "$tmp/one/r1" "$tmp/board/"
ok "an archive" "$ntrace" archive "$tmp/one/r1"
cp -rp "$tmp/one/r1" "$tmp/another/deeper/"
# The name that the program has is that of the recorded machine.
mv "$tmp/two_tasks" "$tmp/gone"

# makes FILE PLACE ARGUMENT...: FILE has the output, or why there is none; the name of the recording itself is its reader's choice
makes() {
	local file=$1 place=$2
	shift 2
	rm -f "$file"
	(cd "$place" && "$ntrace" "$@") >"$tmp/out" 2>"$tmp/err" || cp "$tmp/err" "$file"
}
# same TEXT WRITER...: of the three places; the output is the word after -o
same() {
	local text=$1
	shift
	makes "$tmp/first" "$tmp/one" "${@//OUTPUT/$tmp/first}" r1
	makes "$tmp/second" / "${@//OUTPUT/$tmp/second}" "$tmp/another/deeper/r1"
	ok "$text: the same bytes elsewhere" cmp "$tmp/first" "$tmp/second"
	makes "$tmp/second" "$tmp/another" "${@//OUTPUT/$tmp/second}" --sysroot "$tmp/board" "$tmp/board/r1"
	ok "$text: the same bytes of a sysroot" cmp "$tmp/first" "$tmp/second"
	is "$(zcat -f "$tmp/first" | grep -ac -e one/r1 -e "board$tmp")" 0 "$text: no path of a copy"
}
for format in $formats; do
	case $format in
	gcov | autofdo | profgen | bolt | bolt-bf | perfscript) same "$format" export -f "$format" --period 100 -b two_tasks -o OUTPUT ;;
	*) same "$format" export -f "$format" --period 100 -o OUTPUT ;;
	esac
	is "$(grep -c 'error:' "$tmp/first")" 0 "$format: is written"
done
same "counts" count -q -o OUTPUT
like "the path of the recorded machine" "$tmp/two_tasks" "$(tr -d '\0' <"$tmp/first")"
for command in "report --json" "decode --json" "decode --level instruction"; do
	# shellcheck disable=SC2086 # a command and its options
	(cd "$tmp/one" && "$ntrace" $command r1) >"$tmp/first" 2>/dev/null
	# shellcheck disable=SC2086
	(cd "$tmp/another/deeper" && "$ntrace" $command r1) >"$tmp/second" 2>/dev/null
	ok "$command: the same bytes elsewhere" cmp "$tmp/first" "$tmp/second"
	is "$(grep -c r1/archive "$tmp/first")" 0 "$command: no path of a copy"
done

# LLVM loses the flag of compressed instructions in the header, and the attributes, when it links with -flto.
program=$tmp/another/deeper/r1/archive$tmp/two_tasks
"$ntrace" report "$tmp/another/deeper/r1" | grep ^instructions >"$tmp/first"
riscv64-linux-gnu-objcopy --remove-section .riscv.attributes "$program"
printf '\0\0\0\0' | dd of="$program" bs=1 seek=48 conv=notrunc status=none
is "$(riscv64-linux-gnu-readelf -h "$program" | grep -c 'Flags: *0x0$')" 1 "no flag"
ok "a trace of it" "$ntrace" encode --pcs "$tmp/first.pcs" --elf "$program" --mode htm -o "$tmp/trace"
riscv64-linux-gnu-strip "$program"
is "$("$ntrace" report "$tmp/another/deeper/r1" | grep ^instructions)" "$(<"$tmp/first")" "all instructions of a program without the flag"

# A build-id may have more than the 20 bytes that a record has room for: the debug file is named after all of it.
id=$(printf '22%.0s' {1..32})
program=$tmp/long$tmp/two_tasks debug=$tmp/long/usr/lib/debug/.build-id/22/${id#22}.debug
mkdir -p "${program%/*}" "${debug%/*}"
riscv64-linux-gnu-gcc -march=rv64gc -nostdlib -static -g -Wl,-Ttext=0x10000,-e,first,--build-id=0x"$id" -o "$program" "$tmp/two_tasks.S"
riscv64-linux-gnu-objcopy --only-keep-debug "$program" "$debug"
riscv64-linux-gnu-strip "$program"
like "names of a program with a long build-id" ' first' "$("$ntrace" report --sysroot "$tmp/long" "$tmp/board/r1" | grep two_tasks)"
ok "its archive" "$ntrace" archive --sysroot "$tmp/long" "$tmp/board/r1"
ok "the debug file in it" cmp "$debug" "$tmp/board/r1/archive${debug#"$tmp/long"}"

# What the recording says of its machine must fit, and what is no file is called so.
for case in "x86_64:machine x86_64: not a RISC-V machine" "riscv32:stream 0 has xlen=64, and the machine is riscv32"; do
	rm -rf "$tmp/machine"
	cp -r "$tmp/one/r1" "$tmp/machine"
	sed -i "s/^machine.*/machine ${case%%:*}/" "$tmp/machine/params"
	fails "a machine, ${case%%:*}" "${case#*:}" "$ntrace" report "$tmp/machine"
done
rm "$tmp/one/r1/archive$tmp/two_tasks"
mkdir "$tmp/one/r1/archive$tmp/two_tasks"
like "a directory in place of a program" 'two_tasks: not a regular file' "$("$ntrace" report "$tmp/one/r1" 2>/dev/null)"
fails "an empty name of an output" "the name of the file to write is empty" "$ntrace" export -f csv -o "" "$tmp/another/deeper/r1"
done_testing
