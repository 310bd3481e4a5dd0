#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# make demo-fdo: its two ways of counting agree, and the programs built with profiles need fewer instructions and control
# transfers.
# shellcheck source=selftests/tap.sh
. "$(dirname "$0")/../tap.sh"
cd "$top" || exit 1
tools/setup/host-packages consumers suite
ok "make demo-fdo" tools/demo-fdo || done_testing
python3 -c '
import json
for name, (by_qemu, by_trace, _, transfers) in json.load(open("build/demo-fdo/counts.json")).items():
    print(by_qemu, by_trace, transfers, name)' >"$tmp/counts"
is "$(wc -l <"$tmp/counts")" 5 "five programs"
read -r first _ transfers _ <"$tmp/counts"
while read -r by_qemu by_trace taken name; do
	# QEMU also counts an instruction that traps; the trace has it only when it is executed
	# again.
	ok "$name: $by_qemu instructions by QEMU, $by_trace by trace" \
		test $((by_qemu - by_trace)) -ge 0 -a $(((by_qemu - by_trace) * 10000)) -lt "$by_qemu"
	[ "$name" = base ] || ok "$name: fewer instructions and transfers" test "$by_qemu" -lt "$first" -a "$taken" -lt "$transfers"
done <"$tmp/counts"
done_testing
