#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# runner: guest seconds=20
# Pre-ratification SiFive encoders, and decoding of their trace.
# shellcheck source=selftests/guest.sh
. "$(dirname "$0")/../guest.sh"
# shellcheck source=selftests/kernel/judge/common.sh
. selftests/kernel/judge/common.sh
guest_job v0 kernel/v0.sh /root/selftests/tools/counted
guest_boot v0 --icount --modules --tools --machine ntrace=v0 --append iomem=relaxed

judge_v0() {
	make_sysroot
	like "params: the dialect, and addresses as wide as the hart's" 'dialect=sifive-v0.*tsbits=40.*addrbits=(38|47|56)' "$(cat "$results/v0/counted.data/params")"
	"$ntrace" report --sysroot "$sysroot" --firmware "$(tools/vsoc/run --print-firmware-elf)@0x80000000" --json --limit 0 \
		"$results/v0/counted.data" >"$tmp/json" 2>"$tmp/err"
	is "$? $(cat "$tmp/err")" "0 " "report is content"
	is "$(python3 -c 'import json, sys
report = json.load(open(sys.argv[1]))
print(report["gaps"], len(report["errors"]), sorted((f["function"], f["calls"], f["instructions"]) for f in report["functions"]
    if f["function"] in ("counted", "recursive", "tail")))' "$tmp/json")" \
		"0 0 [('counted', 1750, 15750), ('recursive', 101, 802), ('tail', 250, 250)]" "calls and instructions"
}
if [ "${NTRACE_KERNEL:-}" = debug ]; then
	skip "what is decoded of it" "nothing is recorded on the debug kernel"
elif guest_ran v0; then
	judge_v0
fi
done_testing
