#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Ownership messages name the task: at each place of the trace the same one as perf's
# records do. And harts without scontext, or with too little of it, where the attempt to write it is no oops.
# shellcheck source=selftests/kernel/perf_common.sh
. "$(dirname "$0")/perf_common.sh"
guest_part context 32
for bits in 0 16; do
	relay "scontext of $bits bits" tools/vsoc/run --quiet --modules --check-dmesg \
		--global ntrace-encoder.scontext-bits=$bits \
		--put build/riscv64/selftests/kernel:/root/kernel --put selftests/tap.sh:/root/tap.sh \
		--put selftests/kernel/guest/common.sh:/root/kernel/common.sh \
		--put selftests/kernel/guest/context.sh:/root/kernel/context.sh -- bash /root/kernel/context.sh $bits
done
# Firmware may keep scontext for itself (mstateen0).
relay "scontext that is closed" tools/vsoc/run --quiet --modules --check-dmesg \
	--global ntrace-encoder.scontext-closed=true \
	--put build/riscv64/selftests/kernel:/root/kernel --put selftests/tap.sh:/root/tap.sh \
	--put selftests/kernel/guest/common.sh:/root/kernel/common.sh \
	--put selftests/kernel/guest/context.sh:/root/kernel/context.sh -- bash /root/kernel/context.sh 1

dir=$tmp/traced/context
executed "$dir"
is "steps $count" "$(cat "$dir/steps")" "each step is in the trace"
is "$(head -n 3 "$tmp/wrong")" "" "and nothing that is not this program's"
# A PERF_RECORD_AUX has offset, size, flags, thread and hart; PROCESS is FORMAT[2], PRV[2], V[1], CONTEXT.
is "$(for cpu in 0 1; do
	build/ntrace dump --json "$dir/$cpu.nex" | python3 -c 'import json, sys
records = [tuple(map(int, line.split())) for line in open(sys.argv[1])]
records = [record for record in records if record[4] == int(sys.argv[2]) and record[1]]
seen, wrong = {}, []
for message in map(json.loads, sys.stdin):
    process = int(str(message.get("fields", {}).get("PROCESS", 0)), 0)
    if process & 3 != 2:
        continue
    tids = [tid for offset, size, _, tid, _ in records if offset <= message["offset"] < offset + size]
    if tids != [process >> 5]:
        wrong.append((message["offset"], process >> 5, tids))
    seen.setdefault(process >> 5, 0)
    seen[process >> 5] += 1
records_with = sum(1 for offset, size, _, tid, _ in records)
print(wrong[:3], len(seen) > 1, sum(seen.values()) >= records_with)' "$dir/flags" "$cpu"
done)" "[] True True
[] True True" "on each hart: several tasks, each piece of the trace says whose it is, as its record does"
done_testing
