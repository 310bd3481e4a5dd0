#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Bytes of a trace with each feature of the encoder, and their share of a trace without features: the script of `make demo`
# (bash, two harts, kernel and processes, HTM) in one guest. Documentation/trace/ntrace.rst, "Features of the encoder", has
# the figures.
set -euo pipefail
# shellcheck source=selftests/bench/common.sh
. "$(dirname "$0")/common.sh"
both=repeated-history,implicit-return

sed -n "/^cat .*words.sh/,/^END/p" "$top/tools/demo" | sed '1d;$d' >"$tmp/words.sh"
# shellcheck disable=SC2016 # for the guest
guest_run 'for set in none repeated-history implicit-return '"$both"' extend-addresses '"$both"',extend-addresses; do
	ntrace record --quiet --all --encoder $set -o /tmp/r -- bash /root/words.sh >/dev/null
	echo $set $(cat /tmp/r/aux.* | wc -c)
	rm -rf /tmp/r
done' --icount --smp 2 --modules --tools --mem 3G --put "$tmp/words.sh:/root/words.sh" >"$tmp/out"
while read -r features bytes; do
	[ "$features" != none ] || all=$bytes
	figure "trace of Linux, $features" "$bytes" bytes 1
	figure "share of a trace without features, $features" "$(awk -v a="$bytes" -v b="$all" 'BEGIN { print a / b * 100 }')" "%" 1
done <"$tmp/out"
write_figures
