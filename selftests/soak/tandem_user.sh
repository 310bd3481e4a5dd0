#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# runner: seconds=7200
# Tandem verification of programs in QEMU's user mode, which is built for it: a static one of Debian, and one with shared
# libraries that computes with doubles. The model has neither their files nor their input: what system calls return comes from
# the trace. More than a million instructions through the linked model, 100,000 through a GDB stub.
set -uo pipefail
# shellcheck source=selftests/tap.sh
. "$(dirname "$0")/../tap.sh"
# shellcheck source=selftests/tandem/common.sh
. "$top/selftests/tandem/common.sh"
cd "$top" || exit 1
stub=${STUB:-100000}
user=$(tools/vsoc/user/build) || user=''
if [ -z "$user" ]; then
	not_ok "QEMU's user mode is built"
	done_testing
	exit
fi
sysroot=$(tools/vsoc/run --print-sysroot)
seq 1 40 | awk '{ print ($1 * 7919 + 13) % 1009, "item" $1 }' >"$tmp/input"

# run OPTION...: the program in user mode. -R makes its addresses the same in each run.
run() { env -i LC_ALL=C "$user" -R 0x100000000 -cpu rv64 -L "$sysroot" "$@" "${program[@]}"; }

# verify_program NAME INSTRUCTIONS EXPECTED: runs the program in the directory $tmp/NAME with $tmp/input, and a model without it
verify_program() {
	local name=$1 least=$2 expected=$3 count
	mkdir -p "$tmp/$name" "$tmp/empty"
	cp "$tmp/input" "$tmp/$name/"
	is "$(cd "$tmp/$name" && run -plugin "$plugins/tandem_log.so,out=$tmp/trace" 2>"$tmp/log" <"$tmp/input")" "$expected" \
		"$name: traced, and printed what it should"
	diag "$(tail -n 1 "$tmp/log")"
	has_kinds "$name"
	count=$(sed -n 's/.*: \([0-9]*\) instructions.*/\1/p' "$tmp/log")
	ok "$name: at least $least instructions" test "${count:-0}" -ge "$least"
	(cd "$tmp/empty" && run -plugin "$plugins/tandem_model.so,trace=$tmp/trace,linux-user=on,json=on") >"$tmp/out" 2>"$tmp/err" </dev/null
	verified "$name" "$((count - $(number calls)))" $?
	is "$(number calls)" "$(number ecalls "$tmp/stat")" "$name: all system calls are the trace's"
}

program=("$sysroot/usr/bin/busybox" sort -n input)
verify_program busybox 100000 "$(LC_ALL=C sort -n "$tmp/input")"

# A wrong result of a system call, and a wrong word that one wrote, must be found.
"$ntrace" tandem dump --json "$tmp/trace" >"$tmp/dump"
# falsified TEXT OFFSET: adds 1 to the byte of the trace
falsified() {
	cp "$tmp/trace" "$tmp/wrong"
	python3 -c 'import sys
with open(sys.argv[1], "r+b") as file:
	file.seek(int(sys.argv[2]))
	byte = file.read(1)[0]
	file.seek(int(sys.argv[2]))
	file.write(bytes([byte ^ 1]))' "$tmp/wrong" "$2"
	(cd "$tmp/empty" && run -plugin "$plugins/tandem_model.so,trace=$tmp/wrong,linux-user=on,json=on") >"$tmp/out" 2>"$tmp/err" </dev/null
	is "$? $(test "$(number differences)" -gt 0 && echo found)" "3 found" "$1"
}
# The result of the first brk, which is number 0xd6; the first digit of the input, after a read.
falsified "busybox: a wrong result of brk is found" "$(awk -F'[:,]' '
	/"register":"a7"/ { brk = /"0xd6"/ }
	/"type":"insn32","value":"0x73"/ { call = brk }
	call && /"register":"a0"/ { print $2 + 3; exit }
	/"type":"end"/ { call = 0 }' "$tmp/dump")"
falsified "busybox: a wrong byte that read wrote is found" "$(
	word=$(head -c 8 "$tmp/input" | od -An -tx8 | tr -d ' ' | sed 's/^0*//')
	awk -F'[:,]' -v word="$word" '/"type":"request"/ && index($0, "\"value\":\"0x" word "\"") { print $2 + 10; exit }' "$tmp/dump")"
rm -f "$tmp/dump" "$tmp/wrong"

program=("$sysroot/usr/bin/jq" -c "[range(${ROUNDS:-40}) | (. + 1) * 0.37 | sqrt * sin + log | . * 1000 | floor] | [length, .[:4]]" input)
echo '[1.5, "text", {"a": [1, 2, 3]}]' >"$tmp/input"
verify_program jq 1000000 "[${ROUNDS:-40},[$(awk 'BEGIN { for (i = 1; i < 5; i++) {
	x = i * 0.37; v = (sqrt(x) * sin(x) + log(x)) * 1000; f = int(v); if (f > v) f--; printf "%s%d", (i > 1 ? "," : ""), f } }')]]"
cd "$tmp/empty" || exit 1
through_gdb "jq, GDB stub" "$((stub - stub / 50))" --linux-user -- run -g "$tmp/gdb"
done_testing
