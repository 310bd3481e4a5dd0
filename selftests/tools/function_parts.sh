#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Functions that compilers and BOLT split: report, call stacks and exports count all parts as the function, also with two
# functions of the same name in two source files. Clones remain functions of their own. A call of a function to its own part
# is no call, but that of a part to itself is recursion. A function with several names is found by each of them.
set -uo pipefail
# shellcheck source=selftests/tap.sh
. "$(dirname "$0")/../tap.sh"
ntrace=$top/build/ntrace params=tsbits=40,tshz=1000000,mode=htm
export LD_LIBRARY_PATH=$top/build
cd "$tmp" || exit 1

# part NAME [LINE...]: a piece of code as the compiler names it
part() { printf '.type %s,@function\n%s:\n' "$1" "$1"; printf '%s\n' "${@:2}"; printf '.size %s, . - %s\n' "$1" "$1"; }
{
	printf '.file "one.c"\n.option norvc\n.globl _start, hot, outer, clone\n'
	part _start 'jal ra, hot' 'jal ra, twin' 'jal ra, outer.part.0' 'jal ra, clone.constprop.0' 'jal ra, start_two' 'jal ra, again'
	part hot 'nop' 'j hot.cold' 'back:' 'nop' 'ret'
	part hot.cold 'nop' 'jal ra, bad' 'j hot.warm'
	part hot.warm 'nop' 'j back'
	part bad 'nop' 'ret'
	part twin 'j twin.cold'
	part twin.cold 'nop' 'nop' 'ret'
	part outer 'nop' 'ret'
	part outer.part.0 'jal ra, bad' 'ret'
	part clone 'nop' 'ret'
	part clone.constprop.0 'nop' 'nop' 'ret'
	for name in _ZN1AC2Ev _ZN1AC1Ev __wicked _ill; do printf '.type %s,@function\n.set %s, bad\n' $name $name; done
	printf '.weak __hot\n.set __hot, hot\n'
} >one.s
{
	printf '.file "two.c"\n.option norvc\n.globl start_two, again\n'
	part start_two 'jal ra, twin' 'ret'
	part twin 'nop' 'nop' 'j twin.cold'
	part twin.cold 'nop' 'ret'
	part again 'jal ra, again.part.0' 'ret'
	part again.part.0 'bnez a0, 1f' 'jal ra, again.part.0' '1: ret'
} >two.s
riscv64-linux-gnu-gcc -march=rv64g -nostdlib -static -Wl,-Ttext=0x10000 -Wl,--build-id one.s two.s -o program || not_ok "the program is assembled"
gcc -std=c11 -I "$top/lib/include" "$top/selftests/tools/host/two_tasks.c" -L "$top/build" -lntrace -o make || not_ok "the recorder is compiled"

# What is executed, as numbers of instructions from 0x10000 on.
addresses() { for n; do printf '0x%x\n' $((0x10000 + 4 * n)); done; }
addresses 0 6 7 10 11 15 16 12 13 14 8 9 1 17 18 19 20 2 23 15 16 24 3 27 28 29 4 30 32 33 34 35 36 31 5 37 39 40 39 41 41 38 >pcs
is "$(riscv64-linux-gnu-nm program | awk '{ print $1, $3 }' | grep -E ' (bad|start_two)$' | paste -sd ' ')" \
	"000000000001003c bad 0000000000010078 start_two" "code is where the test has it"
ok "a trace" "$ntrace" encode --pcs pcs --elf program --mode htm --params $params --encoder timestamps=all -o trace
ok "a recording" ./make dir "$tmp/program" "$(stat -c %s trace)" "$(stat -c %s trace)" $params
cp trace dir/aux.0
cp trace dir/aux.1

"$ntrace" report --json --limit 0 dir >report.json 2>err
is "$(python3 -c '
import json
for f in sorted(json.load(open("report.json"))["functions"], key=lambda f: (f["function"], f["instructions"])):
    print(f["function"], f["instructions"], f["total"], f["calls"])')" "_start 12 84 0
again 14 14 4
bad 8 8 4
clone.constprop.0 6 6 2
hot 18 22 2
outer 4 8 2
start_two 4 14 2
twin 8 8 2
twin 10 10 2" "report: own instructions, those with callees, calls"
"$ntrace" export -f folded dir 2>/dev/null | sed 's/^first;\|^second;//' | awk '{ sum[$1] += $2 } END { for (stack in sum) print stack, sum[stack] }' | LC_ALL=C sort >stacks
is "$(sed 's/^\[unknown\];//' stacks)" "_start 12
_start;again 10
_start;again;again 4
_start;clone.constprop.0 6
_start;hot 18
_start;hot;bad 4
_start;outer 4
_start;outer;bad 4
_start;start_two 4
_start;start_two;twin 10
_start;twin 8" "folded stacks"
is "$("$ntrace" report --callees hot dir 2>err | grep -o '[0-9,]\+  *[a-z_]\+ (program)$' | tr -s ' ')" "2 bad (program)" "the callees of hot"
like "annotate: all parts" "hot of .*hot.cold of .*hot.warm of " "$("$ntrace" report --annotate hot dir 2>/dev/null | grep ' of .*entered' | paste -sd ' ')"
for name in bad _ZN1AC2Ev A::A 'A::A()' _ZN1AC1Ev __wicked _ill; do
	like "annotate: $name" "bad of " "$("$ntrace" report --annotate "$name" dir 2>&1)"
	like "callers: $name" "bad .*: 4 calls" "$("$ntrace" report --callers "$name" dir 2>&1)"
	like "around: $name" "stream 0: --offset 0," "$("$ntrace" decode --around "$name:2" dir 2>&1 >/dev/null)"
done
like "annotate: a part, by another name of its function" "^hot of .*hot.cold of " \
	"$("$ntrace" report --annotate __hot dir 2>/dev/null | grep ' of .*entered' | paste -sd ' ')"
like "a filter: an alias" "^[^']*$" "$("$ntrace" record --filter A::A@program --filter __wicked@program true 2>&1)"
like "a filter: functions of one name" "program: several functions have the name 'twin'" "$("$ntrace" record --filter twin@program true 2>&1)"
if command -v sqlite3 >/dev/null; then
	"$ntrace" export -f sqlite -o db dir 2>err
	is "$(sqlite3 db "SELECT name, calls, instructions FROM functions ORDER BY name")" "_start|0|12
again|4|14
bad|4|8
clone.constprop.0|2|6
hot|2|18
outer|2|4
start_two|2|4
twin|4|18" "sqlite: functions, those of one name as one"
	is "$(sqlite3 db "SELECT count(*) FROM branches JOIN functions f ON f.id = from_function JOIN functions t ON t.id = function WHERE f.name = 'hot' AND t.name = 'hot'")" 3 \
		"sqlite: jumps between the parts are within the function"
fi
done_testing
