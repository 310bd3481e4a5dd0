#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# runner: seconds=60
# ntrace gdb with LLDB of Debian 12 and 13: what Documentation/debuggers.md says works. The packages are unpacked, not installed:
# they are too large for `make check`.
set -uo pipefail
# shellcheck source=selftests/tools/demo_common.sh
. "$(dirname "$0")/../tools/demo_common.sh"
make_demo || { done_testing; exit; }
both=$(address both)
for src in 0 1; do
	"$ntrace" encode --pcs "$tmp/pcs" --elf "$tmp/demo" --mode btm --params srcbits=1 --src $src -o "$tmp/hart$src.nex" >/dev/null
done
cat "$tmp/hart0.nex" "$tmp/hart1.nex" >"$tmp/harts.nex"

# debug LLDB OPTION... -- TRACE COMMAND...: what LLDB prints is in $tmp/said.
debug() {
	local lldb=$1 root=${1%/command/*} options=() commands=() address server trace
	shift
	while [ "$1" != -- ]; do options+=("$1"); shift; done
	trace=$2
	shift 2
	for command in "$@"; do commands+=(-o "$command"); done
	coproc { exec "$ntrace" gdb --json "${options[@]}" --elf "$tmp/demo" "$trace"; }
	server=$COPROC_PID
	read -r said <&"${COPROC[0]}"
	address=${said#*\"listen\": \"} address=${address%%\"*}
	PYTHONHOME=$root/usr timeout 120 "$lldb" --no-lldbinit --batch --no-use-colors -o "target create $tmp/demo" \
		-o "settings set target.process.disable-memory-cache true" \
		-o "gdb-remote $address" "${commands[@]}" >"$tmp/said" 2>&1
	wait "$server"
}
pc() { sed -n 's/^ *pc = \(0x[0-9a-f]*\).*/\1/p' "$tmp/said" | sed -n "$1p"; }
pad() { printf '0x%016x' "$1"; }

for lldb in bookworm:14 trixie:19; do
	suite=${lldb%:*} version=${lldb#*:}
	path=$("$top/tools/setup/private" "$suite" "usr/bin/lldb-$version" "lldb-$version")
	ok "LLDB of $suite" test -x "$path" || continue
	line=$(grep -n '^odd:' "$tmp/demo.S" | cut -d: -f1)
	debug "$path" -- "$tmp/demo.nex" "register read pc" "memory read --count 4 $both" "breakpoint set -a $both" \
		"process plugin packet monitor start" "continue" "register read pc" "thread step-inst" "register read pc" \
		"breakpoint delete --force" "breakpoint set -f demo.S -l $line" "continue" "register read pc" \
		"process plugin packet monitor goto -2" "thread step-inst" "register read pc" "detach"
	last=$(tail -n 1 "$tmp/pcs")
	first=$(grep -nx "$both" "$tmp/pcs" | head -n 1 | cut -d: -f1)
	odd=$(($(tail -n +"$first" "$tmp/pcs" | grep -nx "$(address odd)" | head -n 1 | cut -d: -f1) + first - 1))
	at() { pad "$(sed -n "$1p" "$tmp/pcs")"; }
	is "$(pc 1)" "$(pad "$last")" "$suite: it begins at the last instruction"
	is "$(pc 2)" "$(at "$first")" "$suite: a breakpoint at an address"
	is "$(pc 3)" "$(at $((first + 1)))" "$suite: one instruction"
	is "$(pc 4)" "$(at "$odd")" "$suite: a breakpoint at a line"
	is "$(pc 5)" "$(at $((odd - 1)))" "$suite: one instruction back, with two commands"
	like "$suite: memory is that of the program" "01 00 82 80" "$(cat "$tmp/said")"
	like "$suite: the source line is shown" "demo\.S:$line" "$(cat "$tmp/said")"
	like "$suite: LLDB detaches" "Process 1 detached" "$(cat "$tmp/said")"
	# A command that fails is the last one of a batch.
	debug "$path" -- "$tmp/demo.nex" "memory read --count 4 0"
	like "$suite: unknown memory is an error" "error: .*read" "$(cat "$tmp/said")"
	debug "$path" --params srcbits=1 -- "$tmp/harts.nex" "thread list" "thread select 2" "register read pc" "detach"
	is "$(grep -cE '^[* ] thread #[12]: tid = 0x000[12],' "$tmp/said")" 2 "$suite: harts are threads"
	is "$(pc 1)" "$(pad "$last")" "$suite: each has its place"
done
done_testing
