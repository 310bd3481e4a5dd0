#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# The sums of a recording agree: instructions of report, of all exports, and of each place of the program in annotations, csv,
# lcov and gcov. They are the same for code at 0 and for code of RV32 above 0x80000000.
set -uo pipefail
# shellcheck source=selftests/tools/small_recordings.sh
. "$(dirname "$0")/small_recordings.sh"
small_recordings "$tmp" 3 >/dev/null || not_ok "recordings"
cd "$tmp" || exit 1
ln -s "$top/Documentation" .

for recording in r1 r2 r3 Documentation/tour/words.data; do
	same=$(python3 "$small_host/sums.py" "$ntrace" "$tmp" annotate $recording 2>err)
	like "$recording: $same" '^[1-9][0-9]* executed, [0-9]+ trapped, [1-9][0-9]* lines, 0 differ$' "$same" || diag "$(cat err)"
done
# A process, a thread and a name select what --by-thread says of them, in each way to count.
threads() {
	python3 - "$ntrace" "$1" "$2" <<'END'
import collections, json, subprocess, sys
ntrace, recording, most = sys.argv[1], sys.argv[2], int(sys.argv[3])
def printed(*words): return subprocess.run([ntrace, *words, recording], capture_output=True, text=True).stdout
threads = json.loads(printed("report", "--by-thread", "--json"))["threads"]
checked = 0
for option, key in ("--pid", "pid"), ("--tid", "tid"), ("--comm", "thread"):
    sums = collections.Counter()
    for thread in threads: sums[thread[key]] += thread["instructions"]
    for value, want in sums.most_common(most):
        report = json.loads(printed("report", "--json", "--limit", "0", f"{option}={value}"))
        folded = printed("export", "-f", "folded", f"{option}={value}").splitlines()
        found = (report["instructions"]["selected"], sum(f["instructions"] for f in report["functions"]),
                 sum(int(line.rsplit(" ", 1)[1]) for line in folded))
        checked += 1
        if found != (want,) * 3: print(f"{option} {value}: {want} executed, report and folded: {found}")
print(checked, "checked")
END
}
is "$(threads Documentation/tour/words.data 9)" "5 checked" "--pid, --tid and --comm select what --by-thread counts"
like "a false count would show" ' [1-9][0-9]* differ$' "$(python3 "$small_host/sums.py" "$ntrace" "$tmp" falsify r1 2>/dev/null)"

# An image at 0, as microcontrollers have it: the same lines as at another address.
mkdir zero
small_recordings "$tmp/zero" 3 0 >/dev/null || not_ok "a recording at 0"
# User space of RV32 has its libraries above 0x80000000.
mkdir rv32
small_recordings "$tmp/rv32" 3 0x9e010000 32 >/dev/null || not_ok "a recording of RV32"
# text DIRECTORY FORMAT: an output without addresses
text() {
	local recording=$1/r3
	case $2 in
	lcov | gcov) "$ntrace" export -f "$2" "$recording" ;;
	annotate) "$ntrace" report --annotate work "$recording" ;;
	lines) "$ntrace" decode --level instruction --lines "$recording" ;;
	report) "$ntrace" report --json "$recording" ;;
	folded) "$ntrace" export -f folded "$recording" ;;
	gdb) gdb-multiarch -q -nx -batch -ex "target remote | exec $ntrace gdb - --around work:3 $recording" -ex 'info line' -ex backtrace 2>/dev/null | grep -a "^#\|^Line" ;;
	esac 2>/dev/null | sed -E "s#$tmp(/zero|/rv32)?/##g; s#\\./(zero|rv32)#.#g; s/0x[0-9a-f]+/ADDRESS/g; s/\b1[0-9a-f]{4}\b|\b[0-9a-f]+( <)|\b[0-9a-f]+(: +[a-z])/ADDRESS\1\2/g; s/ +ADDRESS/ ADDRESS/g; s/ADDRESS +([0-9a-f]{4}|[0-9a-f]{8}) /ADDRESS CODE /; s/\b([ls])[dw]\b/\1/; s/\"(recorded_)?bytes\":[0-9]+//g"
}
for format in lcov gcov annotate lines report folded gdb; do
	text . $format >there
	for directory in zero rv32; do
		text ./$directory $format >here
		ok "$directory: $format" cmp here there || diag "$(diff -a there here | head -20)"
	done
	ok "$format: it is something" test -s there
done
done_testing
