#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SiFive's encoders of before the specification, up to what is decoded of their trace.
# shellcheck source=selftests/tools/recording_common.sh
. "$(dirname "$0")/../tools/recording_common.sh"
cd "$top" || exit 1
relay v0 tools/vsoc/run --quiet --modules --tools --check-dmesg --machine ntrace=v0 --append iomem=relaxed \
	--put build/riscv64/selftests/kernel:/root/kernel --put selftests/tap.sh:/root/tap.sh --put "$counted:/root/counted" \
	--put selftests/kernel/guest/common.sh:/root/kernel/common.sh --put selftests/kernel/guest/v0.sh:/root/kernel/v0.sh \
	--get "/root/results:$tmp" -- bash /root/kernel/v0.sh
if [ "${NTRACE_KERNEL:-}" = debug ]; then
	skip "what is decoded of it" "nothing is recorded on the debug kernel"
	done_testing
fi
make_sysroot "$counted"
like "params: the dialect" 'dialect=sifive-v0.*tsbits=48' "$(cat "$results/counted.data/params")"
"$ntrace" report --sysroot "$sysroot" --firmware "$(tools/vsoc/run --print-firmware-elf)@0x80000000" --json --limit 0 "$results/counted.data" >"$tmp/json" 2>"$tmp/err"
is "$? $(cat "$tmp/err")" "0 " "report is content"
is "$(python3 -c 'import json, sys
report = json.load(open(sys.argv[1]))
print(report["gaps"], len(report["errors"]), sorted((f["function"], f["calls"], f["instructions"]) for f in report["functions"]
    if f["function"] in ("counted", "recursive", "tail")))' "$tmp/json")" \
	"0 0 [('counted', 1750, 15750), ('recursive', 101, 802), ('tail', 250, 250)]" "calls and instructions"
done_testing
