# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck disable=SC2154 # of recording_common.sh
# The counts of guest/collect.sh: the shares of the functions of guest/steady.c are those of their instructions.
steady_file=$top/build/riscv64/selftests/tools/steady
"$ntrace" export -f csv --class steady -o "$tmp/steady.csv" "$results"/process.d/*.counts 2>"$tmp/err" || diag "$(<"$tmp/err")"
is "$(python3 - "$tmp/steady.csv" <(readelf -sW "$steady_file") <<'END'
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
      all(abs(sums[name] / sum(sums.values()) - known[name] / sum(known.values())) < 0.04 for name in known) or sums)
END
)" True "collect: the shares of the functions are those of their instructions"
fails "collect: no counts of another class" "the export is empty" "$ntrace" export -f csv --class other -o "$tmp/none.csv" "$results"/process.d/*.counts
"$ntrace" merge --json -o "$tmp/all.counts" "$results"/*.d/*.counts >"$tmp/all.json" 2>/dev/null
is "$(query "$tmp/all.json" "report['files'] > 3 and report['entries'] > 20")" True "collect: all files merge"
"$ntrace" export -f csv -k -o "$tmp/kernel.csv" "$results"/cpus.d/*.counts 2>/dev/null
ok "collect: the kernel is in the counts of all CPUs" grep -q '/kernel.start",0x' "$tmp/kernel.csv"
