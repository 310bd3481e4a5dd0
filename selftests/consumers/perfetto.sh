#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Checks the field numbers in host/perfetto.proto, with which stacks.sh reads the export: they must be those of a trace
# that Perfetto's own library wrote. Neither Debian nor npm has Perfetto's .proto files (apt-cache search perfetto: none;
# npm: only writers of Chrome's JSON), but Debian's Chromium contains the library and traces itself.
# shellcheck source=selftests/consumers/common.sh
. "$(dirname "$0")/common.sh"
if ! tools/setup/host-packages browser >"$tmp/said" 2>&1; then
	skip "the numbers of Perfetto's fields" "no chromium to be had: $(tail -n 1 "$tmp/said")"
	done_testing
fi
trace() {
	HOME=$tmp timeout $((60 * ${NTRACE_PATIENCE:-1})) chromium --headless --no-sandbox --disable-gpu --disable-dev-shm-usage \
		--user-data-dir="$tmp/profile" --trace-startup=navigation,ui,gpu,viz,content.web_contents.lifecycle,base,startup \
		--trace-startup-format=proto --trace-startup-duration=2 --trace-startup-file="$tmp/trace" \
		--virtual-time-budget=3000 --dump-dom about:blank && test -s "$tmp/trace"
}
proto=selftests/consumers/host/perfetto.proto
numbers() { python3 selftests/consumers/host/perfetto_numbers.py "$tmp/trace" "$1"; }
ok "Chromium traces itself" trace || done_testing
said=$(numbers "$proto" 2>&1)
like "every field of ours has the number that it has there: $said" '^[0-9]{4,} packets, [0-9]{4,} events, .*: all fit$' "$said"
for field in 'timestamp = 8' 'name_iid = 10' 'event_names = 2' 'track_uuid = 11' 'parent_uuid = 5' 'name = 23' 'track_descriptor = 60'; do
	sed "s/\<$field;/${field%=*}= 99;/" "$proto" >"$tmp/wrong.proto"
	fails "a wrong number would be seen: $field" 'AssertionError' numbers "$tmp/wrong.proto"
done
done_testing
