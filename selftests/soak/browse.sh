#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# runner: seconds=300
# ntrace browse with sanitizers and random keys: KEYS of them (20000) for each of three traces.
set -uo pipefail
# shellcheck source=selftests/tools/demo_common.sh
. "$(dirname "$0")/../tools/demo_common.sh"
ok "the command with sanitizers" make -s -C "$top" san || { done_testing; exit; }
make_demo || { done_testing; exit; }
make_timed
make_gap
check() { # TEXT ARGUMENT...
	local said
	said=$(/usr/bin/python3 "$top/selftests/tools/host/browse_random.py" "${SEED:-1}" "${KEYS:-20000}" "$top/build/san/ntrace" "${@:2}")
	like "$1: $said" "^ok " "$said"
}
check "a trace" --elf "$tmp/demo" "$tmp/demo.nex"
check "with a gap" --elf "$tmp/demo" "$tmp/gap.nex"
check "with times" --params "$params" --elf "$tmp/demo" "$tmp/timed.nex"
done_testing
