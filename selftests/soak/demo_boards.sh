#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# The demo on the trace blocks of the boards: each program executes the same functions in user
# space, in the same processes, as on the default topology, but for what differs between two runs
# there. Without the features of the encoder, the trace of the same work is longer, and decodes to
# the same.
# shellcheck source=selftests/tap.sh
. "$(dirname "$0")/../tap.sh"
cd "$top" || exit 1
firmware=$(tools/vsoc/run --print-firmware-elf)@0x80000000

# demo NAME TOPOLOGY [OPTIONS]: leaves the functions of user space by process in $tmp/NAME.json, the
# size of the trace in $tmp/NAME.size
demo() {
	# Without -icount, idle loops and interrupts depend on the speed of the host.
	ok "$1: make demo TOPOLOGY=$2${3:+ OPTIONS=$3}" \
		env TOPOLOGY="$2" OPTIONS="${3:-}" VSOC=--icount tools/demo || return
	like "$1: the program prints its result" '[0-9]+ words, [0-9]+ of them different' \
		"$(<"$tmp/.ok")"
	ok "$1: report" build/ntrace report --sysroot build/demo/sysroot --firmware "$firmware" \
		--user --by-process --json --limit 0 build/demo/ntrace.data && cp "$tmp/.ok" "$tmp/$1.json"
	cat build/demo/ntrace.data/aux.* | wc -c >"$tmp/$1.size"
}
demo first direct
demo second direct
demo p550 p550
demo k3 k3
demo plain direct "--encoder none"

# Compares NAME with the first run.
same() { selftests/tools/host/same_work.py "$tmp/first.json" "$tmp/second.json" "$tmp/$1.json"; }
for name in second p550 k3 plain; do
	ok "$name: each process executes the same functions, as often as two runs do" same $name &&
		diag "$(<"$tmp/.ok")"
done
fails "the comparison finds a process with functions of another" "executes" \
	selftests/tools/host/same_work.py --mix "$tmp/first.json" "$tmp/second.json" "$tmp/k3.json"

shorter=$(<"$tmp/first.size") longer=$(<"$tmp/plain.size")
ok "features of the encoder: at most 60 % of the bytes ($shorter, $longer)" \
	test $((shorter * 100)) -le $((longer * 60))
done_testing
