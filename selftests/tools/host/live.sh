# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck disable=SC2154 # of recording_common.sh
# The counts of guest/live.sh: of a program that ran as a whole they are those of a recording, trace by trace; of one that runs
# on, the shares of its functions are those of their instructions. What was lost is what the driver says.
"$ntrace" count --sysroot "$sysroot" -o "$tmp/whole.counts" "$results/whole.data" 2>"$tmp/err" || diag "$(<"$tmp/err")"
# traces FILE OBJECT: those within an object, without its name, one a line
traces() {
	"$ntrace" export -f csv -o "$tmp/traces.csv" "$1" 2>/dev/null
	python3 -c 'import csv, sys
for row in csv.DictReader(open(sys.argv[1])):
    if row["object"].endswith(sys.argv[2]) and row["from_object"].endswith(sys.argv[2]):
        print(*(row[key] for key in ("from", "start", "end", "instructions", "taken", "count")))' "$tmp/traces.csv" "$2"
}
traces "$results/exact.counts" /counted >"$tmp/live"
traces "$tmp/whole.counts" /counted >"$tmp/whole"
ok "the program is in the counts" test "$(wc -l <"$tmp/whole")" -gt 10
ok "the counts are those of a recording, trace by trace" cmp "$tmp/live" "$tmp/whole" ||
	diag "$(diff "$tmp/live" "$tmp/whole" | head -n 20)"
# The kernel did much the same both times, at the same addresses, under the same name.
traces "$results/exact.counts" /kernel.start >"$tmp/live"
traces "$tmp/whole.counts" /kernel.start >"$tmp/whole"
both=$(comm -12 <(cut -d ' ' -f 1-5 "$tmp/live" | sort) <(cut -d ' ' -f 1-5 "$tmp/whole" | sort) | wc -l)
ok "the kernel's code is the same object, with traces in common ($both)" test "$both" -gt $(($(wc -l <"$tmp/whole") / 2))

# shares FILE PERCENT: whether light(), medium() and heavy() have the shares of their 402, 802 and 2002 instructions
shares() {
	"$ntrace" export -f csv -u -o "$tmp/steady.csv" "$1" 2>/dev/null
	python3 - "$tmp/steady.csv" <(readelf -sW "$top/build/riscv64/selftests/tools/steady") "$2" <<'END'
import csv, sys
functions = {}
for line in open(sys.argv[2]):
    words = line.split()
    if len(words) > 7 and words[7] in ("light", "medium", "heavy"):
        functions[words[7]] = int(words[1], 16)
known, sums = {"light": 402, "medium": 802, "heavy": 2002}, dict.fromkeys(functions, 0)
for row in csv.DictReader(open(sys.argv[1])):
    for name, address in functions.items():
        if row["object"].endswith("/steady") and address <= int(row["start"], 16) < address + 22:
            sums[name] += int(row["count"]) * int(row["instructions"])
print(min(sums.values()) > 20000 and
      all(abs(sums[name] / sum(sums.values()) - known[name] / sum(known.values())) < float(sys.argv[3]) / 100 for name in known) or sums)
END
}

# summary NAME: traced, decoded and lost bytes
summary() { sed -nE 's/.* ([0-9,]+) bytes of trace from .*: ([0-9,]+) decoded, ([0-9,]+) lost$/\1 \2 \3/p' "$results/$1.err" | tr -d ,; }
for name in exact lossy held slow; do
	read -r traced decoded lost < <(summary $name)
	is "$((traced - decoded))" "$lost" "$name: what was traced was decoded or lost" || diag "$(<"$results/$name.err")"
done
is "$(python3 selftests/tools/host/counts_file.py losses "$results/slow.counts" | cut -d ' ' -f 1)" "$lost" "slow: they are in the counts file"
is "$(python3 selftests/tools/host/counts_file.py losses "$results/exact.counts")" "0 0 0 0" "exact: the counts file lacks nothing"
is "$lost" "$(<"$results/slow.lost")" "slow: lost bytes are those that the driver counted"
ok "slow: trace was lost" test "$lost" -gt 200000
# Calls at losses are incomplete.
is "$(shares "$results/slow.counts" 2)" True "slow: the shares of the functions are those of their instructions"

# compare FILE FILE: whether a program full of branches executed each instruction, and transferred control at each, as often. An interrupt
# splits a run of instructions; neither number depends on that.
compare() {
	"$ntrace" export -f csv -o "$tmp/one.csv" "$1" 2>/dev/null
	"$ntrace" export -f csv -o "$tmp/other.csv" "$2" 2>/dev/null
	python3 - "$tmp/one.csv" "$tmp/other.csv" <<'END'
import collections, csv, sys
runs = [[(int(row["start"], 16), int(row["end"], 16), int(row["taken"]), int(row["count"])) for row in csv.DictReader(open(path))
         if row["object"].endswith("/bench_load") and int(row["instructions"])] for path in sys.argv[1:]]
points = {address for start, end, _, _ in runs[0] + runs[1] for address in (start, end)}
def executed(runs):
    counts, taken = collections.Counter(), collections.Counter()
    for start, end, transfer, count in runs:
        taken[end] += transfer * count
        counts.update({address: count for address in points if start <= address <= end})
    return counts, {address: count for address, count in taken.items() if count}
one, other = map(executed, runs)
# 1024 numbers are made in ten steps each, 60 times.
assert max(one[0].values()) >= 60 * 1024 * 10
print("equal" if one == other else "different", *sorted((hex(key), one[0][key], other[0][key]) for key in points if one[0][key] != other[0][key])[:9])
END
}
"$ntrace" count --sysroot "$sysroot" -o "$tmp/full.counts" "$results/full.data" 2>"$tmp/err" || diag "$(<"$tmp/err")"
read -r traced decoded lost < <(summary lossy)
ok "lossy: trace was lost without --hold" test "$lost" -gt 1000000
like "lossy: the counts are not those of a recording" "^different" "$(compare "$tmp/full.counts" "$results/lossy.data")"
read -r traced decoded lost < <(summary held)
is "$lost" 0 "held: nothing was lost"
ok "held: more than the data area holds" test "$traced" -gt 8000000
is "$(python3 selftests/tools/host/counts_file.py losses "$results/held.data")" "0 0 0 0" "held: the counts file lacks nothing"
is "$(compare "$tmp/full.counts" "$results/held.data")" equal "held: the counts are those of a recording"
