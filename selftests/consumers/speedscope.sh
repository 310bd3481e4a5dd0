#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# speedscope's web build in a browser: the numbers that it shows are those of the folded stacks.
# shellcheck source=selftests/consumers/common.sh
. "$(dirname "$0")/common.sh"
ok "trace a program in the guest" record_calculator || done_testing
export_as() { build/ntrace export --format "$1" --user --sysroot "$root" -o "$tmp/$1" "$recorded/recording"; }
for format in folded speedscope; do
	ok "$format" export_as $format
done
if ! tools/setup/host-packages browser >"$tmp/said" 2>&1; then
	skip "speedscope in Chromium" "no chromium to be had: $(tail -n 1 "$tmp/said")"
	done_testing
fi
if ! directory=$(tools/setup/npm speedscope 1.25.0 2>"$tmp/said"); then
	skip "speedscope in Chromium" "no speedscope to be had: $(tail -n 1 "$tmp/said")"
	done_testing
fi
shown() { python3 selftests/consumers/host/speedscope.py "$directory" "$tmp/speedscope" "$1" 2>&1; }
said=$(shown "$tmp/folded")
threads=$(cut -d';' -f1 "$tmp/folded" | sort -u | wc -l)
is "$(grep -cE '^[^:]+: [0-9]+ functions, [0-9]+ instructions, 0 differ$' <<<"$said")" "$threads" \
	"what speedscope shows of each thread is what the folded stacks say: $(tr '\n' ' ' <<<"$said")"
sed '9s/[0-9]*$/1&/' "$tmp/folded" >"$tmp/falsified"
like "a false count would show" ' [1-9][0-9]* differ' "$(shown "$tmp/falsified")"
done_testing
