# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck disable=SC2034,SC2154 # of and for recording_common.sh
# Compares the output of `ntrace top` in guest/top.sh, for a program whose functions execute known numbers of instructions
# (guest/steady.c), with these numbers and with `record` and `report`.
# of(window, name) is the sum of one function
query_with='windows = values
pid = int(open("'"$results/pid"'").read())
known = {"light": 402, "medium": 802, "heavy": 2002}
def of(window, name, key="instructions"):
    return sum(f[key] for f in window["functions"] if f["function"] == name and f["object"].endswith("/steady") and f.get("pid", pid) == pid)
# Hundreds of calls of each; calls at the edges of the traced time are incomplete.
def near(windows):
    all = {name: sum(of(window, name) for window in windows) for name in known}
    return min(all.values()) > 0 and max(abs(100 * all[name] / sum(all.values()) - 100 * known[name] / sum(known.values())) for name in known) < 4'

harts=$results/harts.out process=$results/process.out
is "$(query "$harts" "[w['window'] for w in windows], [w['cpus'] for w in windows]")" "([1, 2], [2, 2])" "harts: two pictures of two harts"
is "$(query "$process" "[w['window'] for w in windows], [w['cpus'] for w in windows]")" "([1, 2, 3], [0, 0, 0])" "process: three pictures"
for file in "$harts" "$process"; do
	name=$(basename "$file" .out)
	is "$(query "$file" "[(w['lost']['bytes'], w['lost']['places'], w['gaps'], w['errors']) for w in windows if w['lost']['places'] or w['gaps'] or w['errors']]")" "[]" \
		"$name: nothing is lost" || diag "$(query "$file" "[(w['lost'], w['gaps'], w['errors'], w['note']) for w in windows]")"
	is "$(query "$file" "near(windows)")" True "$name: shares of the functions are those of their instructions" ||
		diag "$(query "$file" "[(name, of(w, name)) for w in windows for name in known]")"
	# Each call executes its known number of instructions, except at the start and the end of a window, which
	# has one piece for CPUs, and one piece per strobe for processes.
	is "$(query "$file" "all(sum(f['instructions'] for f in w['functions']) == w['instructions']['all'] for w in windows)")" True \
		"$name: the functions sum up to the total"
	ok "$name: enough to be a picture" test "$(query "$file" "min(of(w, 'heavy') for w in windows)")" -gt 20000
done
is "$(query "$harts" "all(abs(of(w, 'heavy') - 2002 * of(w, 'heavy', 'calls')) <= 4 * 2002 for w in windows)")" True \
	"harts: instructions of a function are those of its calls" || diag "$(query "$harts" "[(of(w, 'heavy'), of(w, 'heavy', 'calls')) for w in windows]")"
for file in "$harts" "$process" "$results/many.out"; do
	name=$(basename "$file" .out)
	# All three are printed to nine places. The signal that ends "many" may end a window, too: less than 1 us of it was traced then.
	is "$(query "$file" "all(0 < w['traced_s'] <= w['interval_s'] and abs(w['share'] * w['interval_s'] - w['traced_s']) < 1e-8 for w in windows)")" True \
		"$name: the share is the traced part of the interval" || diag "$(query "$file" "[(w['traced_s'], w['interval_s'], w['share']) for w in windows]")"
done
is "$(query "$process" "all(w['share'] < 0.006 for w in windows)")" True "process: not more of the time than was allowed" ||
	diag "$(query "$process" "[(w['traced_s'], w['interval_s'], w['share']) for w in windows]")"
# Each interval lasts from one window to the next: their sum is at most the duration of the run.
is "$(query "$results/many.out" "0 < sum(w['interval_s'] for w in windows) <= $(cat "$results/many.end") - $(cat "$results/many.begin")")" True \
	"many: the intervals are pieces of the run" || diag "$(query "$results/many.out" "[w['interval_s'] for w in windows]")"
is "$(query "$process" "sum(w['instructions']['kernel'] for w in windows)")" 0 "process: user space alone"
is "$(query "$process" "{f['pid'] for w in windows for f in w['functions']} == {pid}")" True "process: and no other"
ok "harts: others are in it" test "$(query "$harts" "len({f['pid'] for w in windows for f in w['functions']})")" -gt 1
ok "harts: and the kernel" test "$(query "$harts" "sum(w['instructions']['kernel'] for w in windows)")" -gt 1000

# record and report have the same figures for the same program.
"$ntrace" report --sysroot "$sysroot" --json --limit 0 "$results/whole.data" | tr -d '\n' >"$tmp/report.json"
is "$(query "$tmp/report.json" "near(windows)")" True "record and report have the same shares" ||
	diag "$(query "$tmp/report.json" "[(name, of(windows[0], name)) for name in known]")"
like "they agree" True "$(python3 -c 'import json, sys
def shares(objects):
    sums = {}
    for one in objects:
        for f in one["functions"]:
            if f["function"] in ("light", "medium", "heavy"):
                sums[f["function"]] = sums.get(f["function"], 0) + f["instructions"]
    return {name: 100 * n / sum(sums.values()) for name, n in sums.items()}
live = shares([json.loads(line) for line in open(sys.argv[1])])
whole = shares([json.loads(open(sys.argv[2]).read())])
print(live.keys() == whole.keys() and all(abs(live[n] - whole[n]) < 4 for n in whole), live, whole)' "$process" "$tmp/report.json")"

like "batch: how much was traced" '^traced [0-9.]+ ms \([0-9.]+ %\) of the last' "$(head -n 1 "$results/kernel.out")"
like "batch: losses" '^losses' "$(sed -n 3p "$results/kernel.out")"
is "$(grep -c ' %  *[0-9,]\+ ' "$results/kernel.out")" 5 "batch: --limit 5" || diag "$(cat "$results/kernel.out")"
like "batch: names" "(light|medium|heavy) +user +steady +[0-9]+ steady" "$(cat "$results/kernel.out")"
is "$(tr -dc '\033' <"$results/kernel.out")" "" "batch: no escape sequences"

# Memory depends on the contents of a window: it grows at a few of them, such as the first that has trace of both harts. What a
# window leaves behind adds up, so memory grows each time.
least=$(awk 'NR == 2 || (NR > 2 && $1 - last < least) { least = $1 - last } { last = $1 } END { print least }' "$results/many.memory")
is "$(wc -l <"$results/many.memory")" 5 "memory after 3, 6, 9, 12 and 15 windows"
ok "memory does not grow in each three windows (kB: $(xargs <"$results/many.memory"))" test "$least" -lt 300

for name in terminal unsized signal waiting; do
	is "$(python3 -c 'import re, sys
text = open(sys.argv[1], "rb").read()
print(text.count(b"\033[?1049h\033[?25l"), text.count(b"\033[?25h\033[?1049l"), text.index(b"1049l") > text.index(b"1049h"))' "$results/$name.out")" \
		"1 1 True" "$name: the screen is set up once and restored"
done
# Prints the lines of each picture on a terminal, as a list of lists.
pictures=$tmp/pictures.py
cat >"$pictures" <<'END'
import re, sys
text = open(sys.argv[1], "rb").read().decode()
pictures = [re.sub(r"\033\[[0-9;?]*[A-Za-z]|\r", "", p.split("\033[J")[0]).split("\n") for p in text.split("\033[H")[1:]]
END
# look NAME EXPRESSION: prints what the expression of the pictures gives.
look() { python3 -c "exec(open('$pictures').read()); print($2)" "$results/$1.out"; }
is "$(look terminal "{len(p) for p in pictures}, max(len(line) for p in pictures for line in p) <= 60")" "{9} True" \
	"terminal: pictures fill 9 lines of 60" || diag "$(look terminal "pictures[-1]")"
# The key c sorts by calls.
is "$(look terminal "[n for n in [[int(line.replace(',', '').split()[3]) for line in p if re.match(' *[0-9.]+ % ', line)] for p in pictures[-2:]] if not n or n != sorted(n, reverse=True)]")" \
	"[]" "terminal: by calls" || diag "$(look terminal "pictures[-2:]")"
ok "unsized: a terminal of no size gets a picture" test "$(look unsized "min(map(len, pictures))")" -gt 9 || diag "$(look unsized "pictures[-1]")"
