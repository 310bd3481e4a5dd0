#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# perf.data files with branch stacks as input of ntrace export. The samples here are made from a trace; ctr.sh uses those
# of the hardware.
# shellcheck source=selftests/consumers/from_samples.sh
. "$(dirname "$0")/from_samples.sh"
ok "trace a program in the guest" record_calculator || done_testing
export_trace() { build/ntrace export --user --sysroot "$root" "$@" "$recorded/recording"; }
ok "samples are exported" export_trace -f perf-data --period 503 -o "$tmp/perf.data"
script=''
if perf_for "$tmp/perf.data"; then
	perf_reads=yes script=$tmp/script
	perf script -i "$tmp/perf.data" -F ip,brstack --show-mmap-events 2>/dev/null >"$script"
fi
both_ways "$tmp/perf.data" "$recorded/calculator" "$root" "$script"

# Each pair of consecutive transfers in perf's output occurs once in the sums.
if [ -n "${perf_reads:-}" ]; then
	shown=$(python3 selftests/consumers/host/branch_sums.py "$recorded/calculator" "$script" "$tmp/both/csv" 2>"$tmp/wrong")
	like "each transfer and run as often as perf script shows it: $shown" \
		'^[1-9][0-9]+ traces, [1-9][0-9]{3,} times, 0 differ$' "$shown" || diag "$(<"$tmp/wrong")"
	like "losing one sample of five hundred would show" ' [1-9][0-9]* differ$' \
		"$(python3 selftests/consumers/host/branch_sums.py "$recorded/calculator" "$script" "$tmp/both/csv" 500 2>/dev/null)"
fi

# The report, by function and by branch.
report() { build/ntrace report --user --sysroot "$root" "$@" "$tmp/perf.data"; }
write_report() { report --json --limit 0 >"$tmp/report.json"; }
ok "report of samples" write_report
if [ -n "${perf_reads:-}" ]; then
	shown=$(python3 selftests/consumers/host/sample_report.py "$recorded/calculator" "$script" "$tmp/report.json" 2>"$tmp/wrong")
	like "functions and branches are what perf script shows: $shown" '^1[0-9] functions, [1-9][0-9]+ branches, 0 differ$' "$shown" ||
		diag "$(<"$tmp/wrong")"
	like "losing one sample of five hundred would show" ' [1-9][0-9]* differ$' \
		"$(python3 selftests/consumers/host/sample_report.py "$recorded/calculator" "$script" "$tmp/report.json" 500 2>/dev/null)"
fi
like "says that counts are of samples" 'samples  .*with .* transfers.*shares, not what was executed.*product \(calculator\).* -> .*, call' \
	"$(report --limit 60 | tr '\n' ' ')"
report --limit 0 >"$tmp/report.txt"
is "$(python3 - "$tmp/report.txt" "$tmp/report.json" <<'END'
import json, re, sys
text = open(sys.argv[1]).read()
report = json.load(open(sys.argv[2]))
rows = re.findall(r"^ *[0-9.]+ % +([0-9,]+)  (.* -> .*), ([a-z ]+)$", text, re.M)
wanted = [(f"{b['count']:,}", f"{b['from']['place']} -> {b['to']['place']}", b["class"]) for b in report["branches"]]
print(rows == wanted, len(rows) > 20, [pair for pair in zip(rows, wanted) if pair[0] != pair[1]][:2])
END
)" "True True []" "the text has the branches of the JSON"
like "lines of the code" 'calculator.c:[0-9]+ .*jal [0-9a-f]+ <factor>' "$(report --annotate product | tr '\n' ' ')"
# A counts file of samples knows that it is one.
ok "samples are counted" build/ntrace count -q -u -o "$tmp/sampled" --sysroot "$root" "$tmp/perf.data"
is "$(build/ntrace report --json --limit 1 --sysroot "$root" "$tmp/sampled" 2>/dev/null | grep -o '"counts_of":"samples"')" '"counts_of":"samples"' "their counts say so"
like "their report says so" 'shares, not what was executed.*product \(calculator\)' \
	"$(build/ntrace report --limit 60 --sysroot "$root" "$tmp/sampled" 2>/dev/null | tr '\n' ' ')"
fails "lcov of counted samples" "samples cannot show which code was not executed" build/ntrace export -f lcov --sysroot "$root" -o "$tmp/no" "$tmp/sampled"
ok "a recording is counted" build/ntrace count -q -u -o "$tmp/exact" --sysroot "$root" "$recorded/recording"
like "a sum with samples: said" "counts of 1 inputs are those of samples" "$(build/ntrace merge -o "$tmp/mixed" "$tmp/exact" "$tmp/sampled" 2>&1)"
like "missing programs are reported" 'the code of the selected samples is unknown.*transfers are between addresses without known code' \
	"$(build/ntrace report --sysroot "$tmp/both" "$tmp/perf.data" 2>&1 | tr '\n' ' ')"
fails "totals of samples" '--sort by totals and times needs a trace' report --sort total
fails "callers of samples" '--callers needs a trace' report --callers main
fails "a page of samples" '--html needs a trace' report --html "$tmp/none"
fails "the kernel of samples" "does not contain the kernel's code" build/ntrace report --kernel "$tmp/perf.data"

# Unusable input causes a message.
export_file() { build/ntrace export -f csv -o "$tmp/none" --sysroot "$root" "$1"; }
head -c 4000 "$tmp/perf.data" >"$tmp/cut.data"
like "a cut file: a message" 'cut.data is truncated: later records are missing.*the export is empty' \
	"$(export_file "$tmp/cut.data" 2>&1 | tr '\n' ' ')"
fails "the sideband of a recording" 'have no branch stacks.*perf record -j any,u' export_file "$recorded/recording/data"
fails "another file" 'neither a recording nor a perf.data file' export_file README.md
fails "programs that are not here" 'are the programs here, or below --sysroot' \
	build/ntrace export -f profgen -u --sysroot "$tmp/both" -o "$tmp/none" "$tmp/perf.data"
done_testing
