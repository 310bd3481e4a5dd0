#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# runner: guest seconds=45
# Truth test of a P550's topology: pre-ratification encoders that trace all privileges, one sink, and ids of tasks that the
# kernel stores to a register. Everything is executed code, of the right threads. Then through perf, where the kernel
# separates the trace of the harts, which is not in the trace.
set -uo pipefail
# shellcheck source=selftests/tools/truth_common.sh
. "$(dirname "$0")/truth_common.sh"

truth_job p550 1 4
guest_job tasks tools/truth_tasks.sh 5 p550
truth_boot p550 --icount --smp 4 --topology p550
truth_firmware
if recorded p550; then
	is "$(grep -c "^params.*srcbits=2" "$data/params")" 4 "each hart has its number"
	is "$(find "$data" -name "aux.*" | wc -l)" 1 "one stream for all"
	ok "the decoded instructions are all executed ones" truth_compare 300000 "${with_firmware[@]}"
	truth_figures
fi
if guest_ran tasks; then
	ok "harts: the decoded instructions are the executed ones, of the right threads" "$compare" --log "$tmp/log" --section "$next_section" \
		--names "$results/tasks/harts.out" --min 100000 --sysroot "$sysroot" --kernel-from images/ "${with_firmware[@]}" "$results/tasks/harts.data"
	recording=$results/tasks/tasks.data
	"$ntrace" check --sysroot "$sysroot" --firmware "$firmware@0x80000000" --json "$recording" >"$tmp/findings" 2>"$tmp/err"
	is "$(sed -nE 's/.*"rule":"([^"]*)","severity":"(error|warning)".*/\1/p' "$tmp/findings" | grep -v '^mseo-' | sort | uniq -c)" "" \
		"tasks: no finding but the marks of gaps"
	"$ntrace" report --sysroot "$sysroot" --firmware "$firmware@0x80000000" --by-process --json --limit 0 "$recording" >"$tmp/json" 2>"$tmp/err"
	# Each worker has a function that only it executes; the first four are threads of one process.
	is "$(python3 -c 'import json, sys
tids = {name: int(tid) for tid, name in (line.split() for line in open(sys.argv[2]))}
owner = {name: tids["worker_0" if name < "worker_4" else name] for name in tids}
seen = {}
for row in json.load(open(sys.argv[1]))["functions"]:
    if (row["function"] or "").startswith("worker_"):
        seen.setdefault(row["function"], set()).add(row["pid"])
print(len(seen), [name for name in seen if seen[name] != {owner[name]}])' "$tmp/json" "$results/tasks/tasks.out")" "7 []" \
		"tasks: the function of each worker, in its process alone"
fi
done_testing
