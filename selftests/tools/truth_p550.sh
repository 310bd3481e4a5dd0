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
guest_job tasks tools/truth_tasks.sh 2 p550
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
	# A fault that is not found yet: in one of two runs, trace is missing before the last messages of an event, without the mark of
	# a gap. It was seen in pieces only that the driver reports as PARTIAL. All others must be without a finding.
	is "$(python3 - "$recording/data" "$tmp/findings" <<'END'
import json, struct, sys
data = open(sys.argv[1], "rb").read()
at, size = struct.unpack_from("<QQ", data, 40)
end, partial, whole = at + size, {}, 0
while at < end:
    kind, _, size = struct.unpack_from("<IHH", data, at)
    if kind == 11:  # PERF_RECORD_AUX
        offset, count, flags, _, _, _, cpu = struct.unpack_from("<QQQIIQI", data, at + 8)
        whole += not flags
        if flags == 4:  # PERF_AUX_FLAG_PARTIAL
            partial.setdefault(cpu, []).append((offset, offset + count))
    at += size
findings = [json.loads(line) for line in open(sys.argv[2])]
print(whole > 0, [f["rule"] for f in findings if f.get("severity") in ("error", "warning") and not f["rule"].startswith("mseo-") and
    not any(first <= f["offset"] <= last for first, last in partial.get(f["stream"], []))])
END
)" "True []" "tasks: no finding but the marks of gaps, and in pieces that are marked as partial"
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
