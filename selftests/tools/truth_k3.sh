#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# runner: guest seconds=70
# Truth test of a K3's topology: four harts whose messages are in frames of one ETR, and an Arm funnel that switches between them
# inside messages. Everything is executed code; what is lost is reported; processes are attributed by Ownership. Then through
# perf, where the kernel takes the trace of each hart out of the frames. The encoders have BTM and synchronization by cycles only, and
# registers for their own hart, which idle states lose with those of the bridge.
set -uo pipefail
# shellcheck source=selftests/tools/truth_common.sh
. "$(dirname "$0")/truth_common.sh"

truth_job k3 1 4 FIXED
truth_job loss 1 4 LOSSES --data-size 64K
guest_job tasks tools/truth_tasks.sh 5 k3
# Its encoders as the guide of the K3 describes them.
guide=encoder.inst-modes=0x8+encoder.sync-modes=0x4+encoder.own-hart=1+encoder.sleep-loses=2
truth_boot k3 --icount --smp 4 --topology k3 --variant "$guide"
if recorded k3; then
	is "$(sed -n 's/^params.*srcbits=0,.*atid=//p' "$data/params" | sort | xargs)" "1 3 5 7" "each hart has its ATID, and no SRC"
	is "$(find "$data" -name "aux.*" | wc -l)" 1 "one stream for all"
	is "$(($(stat -c %s "$data"/aux.0) % 16))" 0 "of whole frames"
	ok "the decoded instructions are all executed ones" truth_compare 300000
	truth_figures
	truth_mutations k3 123456
	"$ntrace" check --sysroot "$sysroot" "$data" >"$tmp/findings" 2>&1
	is $? 0 "check: no finding" || diag "$(head -n 5 "$tmp/findings")"
	# What the library takes out of the frames is what split does.
	"$ntrace" split --framing coresight -o "$tmp/split" "$data/aux.0" >"$tmp/table" 2>&1
	second=$(sed -n 's/^params //p' "$data/params" | sed -n 2p)
	is "$("$ntrace" dump --stream 1 "$data" | grep -v '^#' | md5sum)" \
		"$("$ntrace" dump --params "${second%,atid=*}" "$tmp/split/source-0x0${second#*,atid=}.nex" | md5sum)" \
		"dump: the messages of the second hart are those that split takes out" || diag "$(cat "$tmp/table")"
	is "$("$ntrace" dump --params "$second" "$data/aux.0" | md5sum)" \
		"$("$ntrace" dump --stream 1 "$data" | grep -v '^#' | md5sum)" "dump: the same of the file with the parameters of the recording"
	# Other losses than those that this recorder happened to have: parts of the file are taken out.
	truth_lose 3
	ok "export: a timeline" "$ntrace" export --sysroot "$sysroot" --format perfetto -o "$tmp/timeline" "$data"
fi
if recorded loss; then
	ok "loss: some of the trace is reported as lost" test "$(awk '$1 == "lost" && $2' "$data/params" | wc -l)" -ge 1
	truth_lossy loss 20000
	is "$(grep -c 'losses, .* instructions left out' "$tmp/compared")" 4 "loss: on each hart"
	truth_figures
fi
if guest_ran tasks; then
	ok "harts: the decoded instructions are the executed ones, of the right threads" "$compare" --log "$tmp/log" --section "$next_section" \
		--names "$results/tasks/harts.out" --min "$truth_workers" --priv u --sysroot "$sysroot" "$results/tasks/harts.data"
	recording=$results/tasks/tasks.data
	is "$(grep -c "^params.*srcbits=0" "$recording/params") $(grep -c atid= "$recording/params")" \
		"$(grep -c ^params "$recording/params") 0" "tasks: plain messages"
	"$ntrace" check --sysroot "$sysroot" --json "$recording" >"$tmp/findings" 2>"$tmp/err"
	is "$(sed -nE 's/.*"rule":"([^"]*)","severity":"(error|warning)".*/\1/p' "$tmp/findings" | grep -v '^mseo-' | sort | uniq -c)" "" \
		"tasks: no finding but the marks of gaps"
	"$ntrace" report --sysroot "$sysroot" --by-process --json --limit 0 "$recording" >"$tmp/json" 2>"$tmp/err"
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
