#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# speedscope's web build in a browser shows the numbers of the folded stacks. Not in `make check`: it comes from npm's
# registry, with hundreds of packages for npm itself.
# shellcheck source=selftests/consumers/common.sh
. "$(dirname "$0")/../consumers/common.sh"
make build-consumers >&2 || exit 1
ok "packages" tools/setup/host-packages browser || done_testing
directory=$(tools/setup/npm speedscope 1.25.0 2>"$tmp/said")
ok "speedscope comes from npm" test -d "$directory" || { diag "$(<"$tmp/said")"; done_testing; }
ok "trace a program in the guest" record_calculator || done_testing
export_as() { build/ntrace export --format "$1" --user --sysroot "$root" -o "$tmp/$1" "$recorded/recording"; }
for format in folded speedscope; do
	ok "$format" export_as $format
done
shown() { python3 selftests/consumers/host/speedscope.py "$directory" "$tmp/speedscope" "$1" 2>&1; }
said=$(shown "$tmp/folded")
threads=$(cut -d';' -f1 "$tmp/folded" | sort -u | wc -l)
is "$(grep -cE '^[^:]+: [0-9]+ functions, [0-9]+ instructions, 0 differ$' <<<"$said")" "$threads" \
	"what speedscope shows of each thread is what the folded stacks say: $(tr '\n' ' ' <<<"$said")"
sed '9s/[0-9]*$/1&/' "$tmp/folded" >"$tmp/falsified"
like "a false count would show" ' [1-9][0-9]* differ' "$(shown "$tmp/falsified")"
done_testing
