#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# The example programs of Documentation/examples: compiled like a user's program, with the shared and the static library,
# and run.
set -uo pipefail
# shellcheck source=selftests/tap.sh
. "$(dirname "$0")/../tap.sh"
examples=$top/Documentation/examples
export LD_LIBRARY_PATH=$top/build

# What an installation would have, and nothing else.
mkdir "$tmp/include"
cp -r "$top/lib/include/ntrace" "$tmp/include/"
cc=(gcc -std=c11 -Wall -Wextra -Werror -O1 -I "$tmp/include")
for source in "$examples"/*.c; do
	name=$(basename "$source" .c)
	ok "$name.c with libntrace.so" "${cc[@]}" "$source" -L "$top/build" -lntrace -o "$tmp/$name"
	ok "$name.c with libntrace.a" "${cc[@]}" "$source" "$top/build/libntrace.a" \
		-ldw -lelf -llzma -lzstd -lz -pthread -lm -o "$tmp/$name.static"
	read -ra flags < <(PKG_CONFIG_PATH=$top/build pkg-config --cflags --libs libntrace)
	ok "$name.c with pkg-config in the tree" gcc "$source" -o "$tmp/$name.tree" "${flags[@]}"
	ok "$name.c is short" test "$(wc -l <"$source")" -le 60
done
ok "demo.S" riscv64-linux-gnu-gcc -march=rv64gc -nostdlib -static -Wl,-Ttext=0x10000 \
	-Wl,--build-id=none -o "$tmp/demo" "$examples/demo.S"

# prints NAME EXPECTED ARGUMENT...: the same with both libraries.
prints() {
	local name=$1 expected=$2
	shift 2
	is "$("$tmp/$name" "$@" 2>&1)" "$expected" "$name" || true
	is "$("$tmp/$name.static" "$@" 2>&1)" "$expected" "$name, static" || true
}

# By hand: the sync at 0x10000; the return's I-CNT of 3+2+2+2+1 parcels, HIST 1 and then
# taken, taken, not taken, U-ADDR (0x1000a ^ 0x10000) >> 1; one parcel up to the end.
prints encode "3 messages, 13 bytes" "$tmp/trace"
prints messages "0 ProgTraceSync SYNC=0x5 ICNT=0x0 FADDR=0x8000
5 IndirectBranchHist BTYPE=0x0 ICNT=0xa UADDR=0x5 HIST=0xe
9 ProgTraceCorrelation EVCODE=0x4 CDF=0x1 ICNT=0x1 HIST=0x1" xlen=64 "$tmp/trace"
# By hand: without NTBREN the branch is not recorded.
prints ctr "0: 0x200c to 0x1004, return, 9 cycles later
1: 0x1000 to 0x2000, direct call"
prints classes "0x10004: 2 bytes, branch, itype 5, to 0x10002
0x10006: 4 bytes, call, itype 9, to 0x1000c
0x1000a: 2 bytes, return, itype 13" rv64gc 0x10004 fd7d 006000ef 8082
prints image "0x10000: 450d, _start+0x0
0x1000c: 8082, leaf+0x0
0x20000: nothing is known there" "$tmp/demo" 0x10000 0x1000c 0x20000
prints blocks "sync at 0x10000
0x10000: 3 instructions, branch, taken
0x10002: 2 instructions, branch, taken
0x10002: 2 instructions, branch
0x10006: 1 instructions, call, taken
0x1000c: 1 instructions, return, taken
0x1000a: 1 instructions, jump, taken
trace off at 0x10000" "$tmp/demo" "$tmp/trace"
for name in recording recording.static; do
	ok "$name" "$tmp/$name" "$tmp/$name.dir" "$tmp/demo" "$(stat -c %s "$tmp/trace")"
	cp "$tmp/trace" "$tmp/$name.dir/aux.0"
done
prints sideband "42 is demo
42 has $tmp/demo at 0x10000
42 runs now" "$tmp/recording.dir"
ok "session" "$tmp/session" "$tmp/recording.dir"
"$tmp/session" "$tmp/recording.dir" >"$tmp/out" 2>"$tmp/notes"
is "$(cat "$tmp/out")" "cpu 0, demo (42): 3 instructions in _start
cpu 0, demo (42): 2 instructions in _start
cpu 0, demo (42): 2 instructions in _start
cpu 0, demo (42): 1 instructions in _start
cpu 0, demo (42): 1 instructions in leaf
cpu 0, demo (42): 1 instructions in _start
10 instructions in all" "session: who ran what"
is "$("$tmp/session.static" "$tmp/recording.static.dir" 2>/dev/null)" "$(cat "$tmp/out")" "session, static"

# Profile and stacks: what the command prints, in 25 lines of code.
ntrace=$top/build/ntrace
"$ntrace" report --json --limit 0 "$tmp/recording.dir" 2>/dev/null |
	python3 -c 'import json, sys
for f in json.load(sys.stdin)["functions"]: print(f["instructions"], f["function"])' >"$tmp/functions"
"$ntrace" export -f folded "$tmp/recording.dir" >"$tmp/folded" 2>/dev/null
is "$(wc -l <"$tmp/functions") $(wc -l <"$tmp/folded")" "2 2" "functions and stacks of the command"
prints hot_functions "$(<"$tmp/functions")" "$tmp/recording.dir"
prints call_stacks "$(<"$tmp/folded")" "$tmp/recording.dir"
for name in hot_functions call_stacks; do
	lines=$(grep -cvE '^[[:space:]]*([{}]|[}];|#include.*|/\*.*)?$' "$examples/$name.c")
	ok "$name.c has $lines lines of code" test "$lines" -le 25
done

# Real input, where it is: the task group's example.
shared=${NTRACE_SHARED:-$top/../shared}/data/refcode
if [ -r "$shared/xrle.nex" ]; then
	is "$("$tmp/messages" xlen=32 "$shared/xrle.nex" | wc -l)" 367 "messages of xrle.nex, as published"
else
	skip "messages of xrle.nex" "no shared test data: set NTRACE_SHARED to its directory"
fi
done_testing
