#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# ntrace report, its page and call stacks for a recording that was made without a guest: two threads
# on two CPUs, whose instructions, calls and times host/two_tasks.py computes.
set -uo pipefail
# shellcheck source=selftests/tap.sh
. "$(dirname "$0")/../tap.sh"
ntrace=$top/build/ntrace host=$top/selftests/tools/host
export LD_LIBRARY_PATH=$top/build

cp "$host/two_tasks.S" "$tmp/"
(cd "$tmp" && riscv64-linux-gnu-gcc -march=rv64gc -nostdlib -static -g -Wl,-Ttext=0x10000 -Wl,--build-id -Wl,-e,first -o two_tasks "$tmp/two_tasks.S") ||
	not_ok "the program is assembled"
riscv64-linux-gnu-objdump -d --no-show-raw-insn "$tmp/two_tasks" >"$tmp/code"
gcc -std=c11 -I "$top/lib/include" "$host/two_tasks.c" -L "$top/build" -lntrace -o "$tmp/make" || not_ok "the recorder is compiled"

params=tsbits=40,tshz=1000000,mode=htm
for name in first second; do
	python3 "$host/two_tasks.py" run "$tmp/code" $name >"$tmp/$name.pcs"
	ok "$name: a trace of $(wc -l <"$tmp/$name.pcs") instructions" "$ntrace" encode --pcs "$tmp/$name.pcs" --elf "$tmp/two_tasks" --mode htm \
		--params $params --encoder timestamps=all -o "$tmp/$name.nex"
done
ok "a recording" "$tmp/make" "$tmp/dir" "$tmp/two_tasks" "$(stat -c %s "$tmp/first.nex")" "$(stat -c %s "$tmp/second.nex")" $params
cp "$tmp/first.nex" "$tmp/dir/aux.0"
cp "$tmp/second.nex" "$tmp/dir/aux.1"

# says FILE OPTION...: writes the report; there must be no complaint but that the recording has no kernel
says() {
	"$ntrace" report "${@:2}" "$tmp/dir" >"$tmp/$1" 2>"$tmp/err"
	is "$? $(grep -v '^ntrace: warning: .*kernel' "$tmp/err")" "0 " "report ${*:2}: status and complaints"
}
says report.json --json --limit 0
says nothing --html "$tmp/page.html"
says text
says threads --by-thread
says annotated --annotate work
says callers --callers leaf
says callees --callees work
"$ntrace" export -f folded "$tmp/dir" >"$tmp/folded" 2>"$tmp/err"
relay "two tasks" python3 "$host/two_tasks.py" check "$tmp/code" "$tmp/two_tasks.S" "$tmp"

# The command that opens GDB at the function.
in_gdb=$(sed -n 's/^In GDB: ntrace //p' "$tmp/annotated")
is "$in_gdb" "gdb --run --around work $tmp/dir" "--annotate: how to open GDB there"
is "$(sed -n 's/^In GDB: ntrace //p' "$tmp/callers")" "gdb --run --around leaf $tmp/dir" "--callers: the same"
cp -r "$tmp/dir" "$tmp/it's \$HOME"
ln -s / "$tmp/the root"
eval "set -- $("$ntrace" report --annotate work --sysroot "$tmp/the root" "$tmp/it's \$HOME" | sed -n 's/^In GDB: ntrace //p')"
is "$*" "gdb --run --around work --sysroot $tmp/the root $tmp/it's \$HOME" "in words of the shell"
eval "set -- $in_gdb"
like "and GDB is there" '=> 0x[0-9a-f]+ <work' "$(timeout 200 "$ntrace" "$@" <<<"x/i \$pc" 2>&1)"

# What is not a directory.
ln -s loop "$tmp/loop"
for sysroot in "$tmp/code:Not a directory" "$tmp/loop:Too many levels of symbolic links" "$tmp/none:No such file or directory"; do
	is "$("$ntrace" report --sysroot "${sysroot%%:*}" "$tmp/dir" 2>&1)" "ntrace: error: ${sysroot/:/: } (option --sysroot)" "--sysroot: ${sysroot#*:}"
done

# A recording has the figures of its trace files.
figures() { "$ntrace" stat --json "$@" | python3 -c 'import json, sys
for line in sys.stdin:
    one = json.loads(line)
    print({key: value for key, value in one.items() if key not in ("stream", "file", "cpu", "hart")})'; }
for name in first second; do
	"$ntrace" encode --pcs "$tmp/$name.pcs" --elf "$tmp/two_tasks" --mode htm --params $params --encoder sync=messages,syncmax=2 \
		-o "$tmp/$name.sync" >"$tmp/err" || diag "$(cat "$tmp/err")"
	figures --elf "$tmp/two_tasks" --params $params "$tmp/$name.sync"
done >"$tmp/parts"
"$tmp/make" "$tmp/synced" "$tmp/two_tasks" "$(stat -c %s "$tmp/first.sync")" "$(stat -c %s "$tmp/second.sync")" $params
cp "$tmp/first.sync" "$tmp/synced/aux.0"
cp "$tmp/second.sync" "$tmp/synced/aux.1"
is "$(figures "$tmp/synced" 2>/dev/null)" "$(<"$tmp/parts")" "stat of a recording is that of its trace files"
like "with distances between syncs" "'sync_distance': .*'count': [1-9]" "$(<"$tmp/parts")"

# Each line of a recording has its CPU and thread.
for level in block branch instruction; do
	"$ntrace" decode --level $level "$tmp/dir" >"$tmp/lines" 2>"$tmp/err"
	ok "decode --level $level: many lines" test "$(wc -l <"$tmp/lines")" -gt 99
	is "$(grep -cvE '^\[00[01]\] +(42 first|51 second) +U ' "$tmp/lines")" 0 "decode --level $level: whose it is" ||
		diag "$(grep -vE '^\[00[01]\] +(42 first|51 second) +U ' "$tmp/lines" | head -n 3)"
done

# What was lost while recording.
cp -r "$tmp/dir" "$tmp/lossy"
awk '$1 == "lost" { $2 = ++n * 5120 } $1 == "lost_exact" { $2 = n % 2 } { print }' "$tmp/dir/params" >"$tmp/lossy/params"
"$ntrace" decode "$tmp/lossy" >/dev/null 2>"$tmp/err"
is "$? $(grep -c "CPU 0: 5120 bytes of trace lost while recording$\|CPU 1: at least 10240 bytes of trace lost while recording$" "$tmp/err")" "3 2" \
	"decode: losses of the recording" || diag "$(cat "$tmp/err")"

# Timestamps that contradict the times of the recording.
cp -r "$tmp/dir" "$tmp/times"
for hz in 1000000 1; do
	sed -E "s/tshz=[0-9]+/tshz=$hz/; s/^start_ns .*/start_ns 1000000/; s/^stop_ns .*/stop_ns 11200000/" "$tmp/dir/params" >"$tmp/times/params"
	for command in "export -f perfetto -o $tmp/times.out" decode check; do
		# shellcheck disable=SC2086 # a command and its options
		"$ntrace" $command "$tmp/times" >/dev/null 2>"$tmp/err"
		is "$hz $(grep -c 'stream [01]: recorded in 0.010 s, but its timestamps span [1-9][0-9]* s: .*tsdelta=abs' "$tmp/err")" \
			"$hz $((hz == 1 ? 2 : 0))" "${command%% *}, $hz Hz: whether the timestamps contradict the recording" || diag "$(cat "$tmp/err")"
	done
done

# Names are printed in full.
long=$(printf './%.0s' {1..700})dir
like "stat: a long name" "^# stream 0: $long/aux.0, CPU 0" "$(cd "$tmp" && "$ntrace" stat "$long" 2>/dev/null)"

# A trace file is missing.
cp -r "$tmp/dir" "$tmp/torn"
rm "$tmp/torn/aux.1"
fails "a missing trace file" "warning: $tmp/torn/aux.1: No such file or directory" "$ntrace" report "$tmp/torn"

# Selections.
of_pid_none() { "$ntrace" report --pid 4711 "$tmp/dir"; }
of_pid() { "$ntrace" report --pid 50 "$@" "$tmp/dir"; }
is "$(of_pid --by-thread | grep -c ' [0-9]  *50  *51  second$')/$(of_pid --by-thread | grep -c ' first$')" 1/0 "--pid --by-thread"
is "$(of_pid | grep -c ' first$')" 0 "--pid: only its functions"
like "--limit" " 3 more functions: --limit 0 shows them" "$("$ntrace" report --limit 1 "$tmp/dir")"
like "--limit --by-thread" $'\n1 more: --limit 0 shows them' "$("$ntrace" report --limit 1 --by-thread "$tmp/dir")"
is "$("$ntrace" report --kernel "$tmp/dir" 2>/dev/null | grep -c ' user .* work$')" 0 "--kernel: nothing of user space"
is "$("$ntrace" report --sort name "$tmp/dir" | awk '$NF ~ /^(first|second|work|leaf)$/ { print $NF }' | xargs)" "first leaf second work" "--sort name"
is "$("$ntrace" report --sort calls "$tmp/dir" | awk '$NF ~ /^(work|leaf)$/ { print $NF }' | xargs)" "leaf work" "--sort calls"
for format in csv folded perfetto lcov; do
	fails "export --format $format: nothing is selected" "the export is empty: " "$ntrace" export -f $format --pid 4711 "$tmp/dir"
done
like "which selection it was" "empty: 'ntrace report --by-process' shows what was executed" \
	"$("$ntrace" export -f csv --pid 4711 "$tmp/dir" 2>&1 >/dev/null)"
fails "nothing is selected" "no selected code was executed: the report is empty: --user, " of_pid_none
fails "--annotate: a function that was not executed" "no function 'cold' was executed" "$ntrace" report --annotate cold "$tmp/dir"
fails "--callers: a function that was not executed" "no function 'cold' was entered" "$ntrace" report --callers cold "$tmp/dir"
fails "--callers: a typing error" "no function 'laef' was entered: did you mean 'leaf'" "$ntrace" report --callers laef "$tmp/dir"
fails "--annotate: a typing error" "no function 'laef' was executed: did you mean 'leaf'" "$ntrace" report --annotate laef "$tmp/dir"
words=$top/Documentation/tour/words.data
fails "--annotate: an inlined function" "no function 'random_below' was executed: .* --callers shows inlined ones" "$ntrace" report --annotate random_below "$words"
is "$("$ntrace" report --callers random_below "$words" | grep -c 'In GDB') $("$ntrace" report --callers run "$words" | grep -c 'In GDB')" "0 1" \
	"--callers: GDB goes to functions with a first instruction"
is "$("$ntrace" report --annotate or "$tmp/dir" 2>&1 >/dev/null | grep " of ")" "  work of two_tasks" "--annotate: functions of similar names"

# Data in code, as "$d" marks it: neither a wrong instruction, nor the end of the function. The second word is no instruction.
cat >"$tmp/data.S" <<'EOF'
	.globl first
	.type first, @function
first:	c.nop
	j 1f
	.word 0x00000013, 0xffffffff
	.half 0x1234
1:	addi a0, a0, 1
2:	j 2b
	.size first, .-first
EOF
riscv64-linux-gnu-gcc -march=rv64gc -nostdlib -static -g -Wl,-Ttext=0x10000 -Wl,-e,first -o "$tmp/data.elf" "$tmp/data.S"
like "the assembler marks data" 't [$]d' "$(riscv64-linux-gnu-nm -a --special-syms "$tmp/data.elf")"
printf '0x%x\n' 0x10000 0x10002 0x1000e 0x10010 0x10010 >"$tmp/data.pcs"
ok "data in code: a trace" "$ntrace" encode --pcs "$tmp/data.pcs" --elf "$tmp/data.elf" --mode htm --params $params -o "$tmp/data.nex"
ok "data in code: a recording" "$tmp/make" "$tmp/with_data" "$tmp/data.elf" "$(stat -c %s "$tmp/data.nex")" 0 $params
cp "$tmp/data.nex" "$tmp/with_data/aux.0"
: >"$tmp/with_data/aux.1"
for path in "$PATH" /nonexistent; do # without any objdump, bytes are shown
	is "$(PATH=$path "$ntrace" report --annotate first "$tmp/with_data" 2>/dev/null | grep -oE ' 100[01][0-9a-f]: ' | xargs)" \
		"10000: 10002: 1000e: 10010:" "--annotate: instructions before and after data, PATH ${path::12}"
done
for directory in /nonexistent "$tmp/data.S"; do
	fails "--debug-dir $directory" "$directory: .* directory \(option --debug-dir\)" \
		"$ntrace" report --debug-dir "$directory" --annotate first "$tmp/with_data"
done
like "lcov: lines after data" "DA:7,1"$'\n'"DA:8,2" "$("$ntrace" export -f lcov "$tmp/with_data" 2>/dev/null)"

# Two functions of one name: the source of the second one is an input, too, before the first one, with 400 kB, is shown.
{
	printf '\t.globl first\nfirst:\tj same\n\t.type same, @function\nsame:\n'
	for ((i = 0; i < 1000; i++)); do printf '\tc.nop # %400s\n' $i; done
	printf '\tj other\n\t.size same, .-same\n'
} >"$tmp/one.S"
printf '\t.globl other\nother:\tj same\n\t.type same, @function\nsame:\tc.nop\n1:\tj 1b\n\t.size same, .-same\n' >"$tmp/two.S"
(cd "$tmp" && riscv64-linux-gnu-gcc -march=rv64gc -nostdlib -static -g -Wl,-Ttext=0x10000 -Wl,--build-id=none -Wl,-e,first -o same.elf "$tmp/one.S" "$tmp/two.S") ||
	not_ok "two functions of one name are assembled"
riscv64-linux-gnu-objdump -d --no-show-raw-insn "$tmp/same.elf" | sed -n 's/^ *\([0-9a-f]*\):.*/0x\1/p' | sed '$p' >"$tmp/same.pcs"
ok "two of one name: a trace" "$ntrace" encode --pcs "$tmp/same.pcs" --elf "$tmp/same.elf" --mode htm --params $params -o "$tmp/same.nex"
ok "two of one name: a recording" "$tmp/make" "$tmp/same" "$tmp/same.elf" "$(stat -c %s "$tmp/same.nex")" 0 $params
cp "$tmp/same.nex" "$tmp/same/aux.0"
: >"$tmp/same/aux.1"
is "$("$ntrace" report --annotate same "$tmp/same" 2>/dev/null | grep -c '^same of ')" 2 "--annotate: both are shown"
for name in one two; do
	cp "$tmp/$name.S" "$tmp/before"
	"$ntrace" report --annotate same "$tmp/same" 2>"$tmp/err" 1<>"$tmp/$name.S"
	is "$? $(grep -c "the output is also an input" "$tmp/err")" "1 1" "--annotate: $name.S is an input"
	ok "--annotate: $name.S is not changed" cmp "$tmp/before" "$tmp/$name.S"
done
# A source that was changed since: its lines may be others.
for when in before after; do
	touch -d "$([ $when = after ] && echo now || echo yesterday) + 1 hour" "$tmp/two_tasks.S"
	is "$("$ntrace" report --annotate work "$tmp/dir" 2>/dev/null | grep -c "^note: .*two_tasks.S is newer than the program")" \
		"$([ $when = after ] && echo 1 || echo 0)" "a source that was changed $when the program was built"
	"$ntrace" report --html "$tmp/page.html" "$tmp/dir" 2>/dev/null
	is "$(grep -c '"note":"The source is newer than the program: ' "$tmp/page.html")" "$([ $when = after ] && echo 1 || echo 0)" "in the page, too"
done

# A stripped program: why there are no names, and what brings them back.
stripped=$tmp/stripped
mkdir -p "$stripped$tmp"
riscv64-linux-gnu-strip -o "$stripped$tmp/two_tasks" "$tmp/two_tasks"
id=$(riscv64-linux-gnu-readelf -n "$tmp/two_tasks" | sed -n 's/.*Build ID: //p')
"$ntrace" report --json --sysroot "$stripped" "$tmp/dir" >"$tmp/report.json" 2>&1
like "a stripped program: the report says so" "/two_tasks: no symbols for 100 % .*, build-id $id, belongs into usr/lib/debug, below --sysroot" \
	"$(jq -r '.notes[]' "$tmp/report.json")"
debug=$stripped/usr/lib/debug/.build-id/${id:0:2}
mkdir -p "$debug" && riscv64-linux-gnu-objcopy --only-keep-debug "$tmp/two_tasks" "$debug/${id:2}.debug"
"$ntrace" report --json --sysroot "$stripped" "$tmp/dir" >"$tmp/report.json" 2>&1
is "$(jq -r '.notes[] | select(test("no symbols"))' "$tmp/report.json") $(jq -r '.functions[].function' "$tmp/report.json" | sort | xargs)" \
	" first leaf second work" "with the debug file there, its functions have names"
done_testing
