# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck disable=SC2154 # of recording_common.sh
# report, decode and stock perf with the recordings of guest/record.sh: a program with known calls and instructions
# (guest/counted.c), and truncated recordings.
report() { "$ntrace" report --sysroot "$sysroot" "$@"; }
decode() { "$ntrace" decode --sysroot "$sysroot" "$@"; }

# saved TEXT DIRECTORY: what a full disk left of a recording can be decoded. The report counts the instructions that --level pc
# would print, without printing them.
saved() {
	report --json --limit 1 "$2" >"$tmp/report.json" 2>"$tmp/err"
	rc=$?
	ok "$1: the saved trace can be decoded (status $rc)" test "$rc" = 3 -o "$rc" = 0 || diag "$(cat "$tmp/err") $(ls -l "$2")"
	ok "$1: and is not empty" test "$(query "$tmp/report.json" "report['instructions']['all']")" -gt 100000
}
saved "disk full" "$results/disk_full.data"

# The numbers that the program must have.
report --json --limit 0 "$results/counted.data" >"$tmp/report.json"
is $? 0 "report: exit status"
# sum_of NAME KEY: prints the sum over the traced program
sum_of() {
	query "$tmp/report.json" "sum(f['$2'] for f in report['functions'] if f['function'] == '$1' and f['object'].endswith('/counted'))"
}
is "$(query "$tmp/report.json" "report['gaps'], len(report['errors']), report['lost']['bytes']")" "(0, 0, 0)" \
	"report: the trace is whole" || diag "$(query "$tmp/report.json" "report['errors'], report['notes']")"
is "$(sum_of counted calls)" 1750 "calls: direct, indirect and tail calls"
is "$(sum_of counted instructions)" $((1750 * 9)) "instructions: the total"
is "$(sum_of tail calls) $(sum_of tail instructions)" "250 250" "a function of one jump"
is "$(sum_of twice calls)" 301 "a loop to the first instruction is no call; the forked child counts"
is "$(sum_of twice instructions)" $((300 * 7 + 11)) "instructions of the loop"
is "$(sum_of recursive calls)" 101 "recursive calls"
is "$(sum_of recursive instructions)" $((100 * 8 + 2)) "instructions of the recursion"
is "$(query "$tmp/report.json" "sum(f['instructions'] for f in report['functions']) == report['instructions']['all']")" \
	True "the functions sum up to the total"
is "$(query "$tmp/report.json" "max(collections.Counter(f['function'] for f in report['functions'] if f['object'].endswith('/libc.so.6')).values())")" \
	1 "the C library is one object, whether its build-id was recorded or not"
report --json --limit 0 --by-process "$results/counted.data" >"$tmp/by.json"
is "$(query "$tmp/by.json" "sorted(f['calls'] for f in report['functions'] if f['function'] == 'twice')")" "[1, 300]" \
	"--by-process: parent and child"
pid=$(query "$tmp/by.json" "[f['pid'] for f in report['functions'] if f['function'] == 'twice' and f['calls'] == 300][0]")
report --json --limit 0 --pid "$pid" --user "$results/counted.data" >"$tmp/pid.json"
is "$(query "$tmp/pid.json" "{f['mode'] for f in report['functions']}, [f['calls'] for f in report['functions'] if f['function'] == 'twice']")" \
	"({'user'}, [300])" "--pid and --user"
report --kernel --limit 5 "$results/counted.data" >"$tmp/text"
is "$(grep -c ' kernel ' "$tmp/text")" 6 "--kernel --limit 5: five lines and the total"
like "kernel functions have names" "handle_exception|do_trap|copy_|memset|_raw_spin|page" \
	"$(report --kernel "$results/counted.data")"

# The same numbers at the PC level, with only the program's symbol table.
decode --level pc "$results/counted.data" >"$tmp/pc" 2>"$tmp/err"
is "$? $(cat "$tmp/err")" "0 " "decode --level pc: whole, nothing on stderr"
is "$(wc -l <"$tmp/pc")" "$(query "$tmp/report.json" "report['instructions']['all']")" \
	"decode --level pc: as many lines as the report has instructions"
is "$(grep -cE '^0x[0-9a-f]+$' "$tmp/pc")" "$(wc -l <"$tmp/pc")" "decode --level pc: nothing but addresses"
# The address of the program, as stock perf reads it from the recording.
perf=$(command -v perf || true)
if [ -n "$perf" ]; then
	perf script -i "$results/counted.data" --show-mmap-events --show-task-events --show-switch-events >"$tmp/perf" 2>"$tmp/perf.err"
	is $? 0 "perf of this machine reads the recording"
	perf script -i "$results/counted.data" --header-only >"$tmp/header" 2>>"$tmp/perf.err"
	is "$(sed -n 's/.*name = dummy:HG,.* id = { \([^}]*\) }.*/\1/p' "$tmp/header" | tr -s ', ' '\n' | grep -vx 0 | sort -u | wc -l)" \
		"$(sed -n 's/^# nrcpus online : //p' "$tmp/header")" "each CPU's event has an id of its own"
else
	cp "$results/perf.out" "$tmp/perf"
fi
for record in COMM.exec FORK EXIT MMAP2.*counted MMAP2.*libc.so MMAP.*kernel.kallsyms SWITCH_CPU_WIDE; do
	like "perf sees $record" "yes" "$(grep -qE "PERF_RECORD_$record" "$tmp/perf" && echo yes)"
done
# "[0x2aaaaaa000(0x1000) @ 0 08:01 42 0]: r-xp /root/counted"
read -r base offset < <(sed -nE 's/.*MMAP2.*\[0x([0-9a-f]+)\([^)]*\) @ (0x)?([0-9a-f]+) .*r-xp .*\/counted$/\1 \3/p' "$tmp/perf" | head -n 1)
read -r value size < <(readelf -sW "$counted" | awk '$8 == "counted" { print $2, $3 }')
read -r segment_offset segment < <(readelf -lW "$counted" | awk '$1 == "LOAD" && /R E/ { print $2, $3; exit }')
if [ -n "$base" ]; then
	start=$((0x$base - 0x$offset + segment_offset + (0x$value - segment)))
	end=$((start + size))
	count=$(python3 -c 'import sys
start, end = int(sys.argv[1]), int(sys.argv[2])
print(sum(start <= int(line, 16) < end for line in open(sys.argv[3])))' "$start" "$end" "$tmp/pc")
	is "$count" "$(sum_of counted instructions)" "addresses of the function in the PC level: the same number"
else
	not_ok "perf shows where the program is mapped"
fi
is "$(decode --level block "$results/counted.data" | grep -vE '^\[[0-9]{3}\] +[0-9?-]+ .* -- ' | grep -cE ' counted +U .* counted \[counted\]$')" 1750 \
	"decode --level block: thread, name, privilege and function of each call"

# Options.
is "$(find "$results/user.data" -name "aux.*" | wc -l)" 1 "--cpu 1: one stream"
like "--cpu 1: of CPU 1" "CPU 1" "$("$ntrace" dump "$results/user.data" | head -n 1)"
report --json --limit 0 "$results/user.data" >"$tmp/report.json"
is "$(query "$tmp/report.json" "report['instructions']['kernel']")" 0 "--privilege u: no kernel instructions"
report --json --limit 0 "$results/btm.data" >"$tmp/report.json"
is "$(sum_of counted calls) $(sum_of counted instructions)" "1750 $((1750 * 9))" "--mode btm --sync: the same counts"
"$ntrace" dump "$results/btm.data" >"$tmp/dump"
is "$(grep -cE ' (ResourceFull|IndirectBranchHist)' "$tmp/dump")" 0 "--mode btm: no history"
ok "--sync messages:16: periodic synchronization" test "$(grep -c 'SYNC=2' "$tmp/dump")" -gt 100

# Compressed: zstd itself decompresses it, with the same contents.
report --json --limit 0 "$results/packed.data" >"$tmp/report.json"
is "$(sum_of counted calls) $(sum_of counted instructions)" "1750 $((1750 * 9))" "--compress: the same counts"
decode --level pc "$results/packed.data" >"$tmp/pc"
is $? 0 "--compress: whole"
"$ntrace" dump "$results/packed.data" >"$tmp/dump" 2>"$tmp/err"
is "$? $(cat "$tmp/err")" "0 " "--compress: dump has no complaint"
cp -r "$results/packed.data" "$tmp/unpacked.data"
zstd -q -d --rm "$tmp"/unpacked.data/aux.*.zst
is "$? $(cat "$tmp"/unpacked.data/aux.? | wc -c)" "0 $(awk '$1 == "bytes" { n += $2 } END { print n }' "$tmp/unpacked.data/params")" \
	"--compress: zstd unpacks as many bytes as the parameters say"
ok "--compress: files are smaller" test "$(cat "$results"/packed.data/aux.* | wc -c)" -lt "$(cat "$tmp"/unpacked.data/aux.? | wc -c)"
sed -i 's/\.zst$//' "$tmp/unpacked.data/params"
ok "--compress: instructions are the same unpacked" cmp "$tmp/pc" <(decode --level pc "$tmp/unpacked.data")
ok "--compress: and messages" cmp <(grep -v '^#' "$tmp/dump") <("$ntrace" dump "$tmp/unpacked.data" | grep -v '^#')
ok "dump of a compressed file alone" cmp <("$ntrace" dump "$results/packed.data/aux.0.zst") <("$ntrace" dump "$tmp/unpacked.data/aux.0")
truncate -s -1001 "$results/packed.data/aux.0.zst"
decode --level pc "$results/packed.data" >"$tmp/cut.pc" 2>"$tmp/err"
is $? 3 "--compress: a file that was cut"
like "--compress: a message says it" "the stream is cut off" "$(cat "$tmp/err")"
saved "disk full, compressed" "$results/packed_full.data"

# A recorder that was killed.
report --json --limit 0 "$results/unfinished.data" >"$tmp/report.json"
rc=$?
ok "killed: the trace that was written can be decoded (status $rc)" test $rc = 0 -o $rc = 3
like "killed: said" "unfinished recording" "$(query "$tmp/report.json" "report['notes']")"
is "$(sum_of counted calls) $(sum_of counted instructions)" "1750 $((1750 * 9))" "killed: whole until it was last written"

# Loss.
decode --level pc "$results/killed.data" >/dev/null 2>"$tmp/err"
is $? 3 "loss: decode reports it"
like "loss: the report, too" "lost while recording" "$(report "$results/killed.data")"

# Cut recordings.
cp -r "$results/counted.data" "$tmp/cut.data"
truncate -s -1001 "$tmp/cut.data/aux.0"
# The last byte of a message has both bits of MSEO set. Cut inside a message, then between two.
last_mseo() { echo $(($(tail -c 1 "$tmp/cut.data/aux.0" | od -An -tu1) % 4)); }
for where in inside between; do
	while [ "$where" = "$([ "$(last_mseo)" = 3 ] && echo inside || echo between)" ]; do
		truncate -s -1 "$tmp/cut.data/aux.0"
	done
	decode --level pc "$tmp/cut.data" >"$tmp/cut.pc" 2>"$tmp/err"
	is $? 3 "recording cut $where messages: exit status"
	like "recording cut $where messages: said" "the stream is cut off" "$(cat "$tmp/err")"
	ok "recording cut $where messages: the complete part is decoded" test "$(wc -l <"$tmp/cut.pc")" -gt 10000
done
rm "$tmp/cut.data/params"
fails "recording without parameters" "cut.data is not a recording: no .params. file" "$ntrace" report "$tmp/cut.data"
