# shellcheck shell=bash disable=SC2034,SC2154 # used, or set, by the tests that source this file
# SPDX-License-Identifier: GPL-2.0-only
# Sourced by tests after tap.sh: models, and a program of Debian without Linux (monitor.c).
here=$top/selftests/tandem
ntrace=$top/build/ntrace
qemu=$top/build/qemu/qemu-system-riscv64
plugins=$top/build/plugin
# shellcheck source=selftests/tandem/stub.sh
. "$here/stub.sh"

# number KEY [FILE]: of the totals of a verification, or of `ntrace tandem stat --json`
number() { sed -n "s/.*\"$1\":\([0-9]*\).*/\1/p" "${2:-$tmp/out}" | tail -n 1; }

# verified TEXT INSTRUCTIONS STATUS: the verification that wrote $tmp/out and $tmp/err
verified() {
	is "$3 $(cat "$tmp/err")" "0 " "$1: verified"
	ok "$1: the model executed $2 instructions" test "$(number instructions)" -ge "$2"
	is "$(number differences)" 0 "$1: no difference" || diag "$(grep -v '"groups"' "$tmp/out" | head -n 10)"
	diag "$1: $(tail -n 1 "$tmp/out")"
}

# through_gdb TEXT INSTRUCTIONS OPTION... -- COMMAND...: verifies the start of $tmp/trace with the stub at $tmp/gdb; one group in
# 100 may be an interrupt or an initialisation
through_gdb() {
	local text=$1 count=$2 options=() model status
	shift 2
	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	shift
	rm -f "$tmp/gdb"
	"$@" >"$tmp/model" 2>&1 </dev/null &
	model=$!
	stub_ready "$tmp/gdb" "$model"
	timeout 3600 "$ntrace" tandem verify --gdb "$tmp/gdb" --json --limit "$((count + count / 100))" "${options[@]}" "$tmp/trace" \
		>"$tmp/out" 2>"$tmp/err"
	status=$?
	kill "$model" 2>/dev/null
	wait "$model" 2>/dev/null
	verified "$text" "$count" "$status"
}

# has_kinds TEXT [OPTION...]: $tmp/trace has instructions of all kinds, and traps
has_kinds() {
	local text=$1 kinds='' kind
	shift
	"$ntrace" tandem stat --json "$@" "$tmp/trace" >"$tmp/stat"
	for kind in load store atomic float csr; do
		kinds+="$kind $(number "${kind}_instructions" "$tmp/stat") "
	done
	kinds+="ecall $(number ecalls "$tmp/stat")"
	like "$text: loads, stores, atomics, floating point, CSRs, system calls" \
		"^load [1-9][0-9]* store [1-9][0-9]* atomic [1-9][0-9]* float [1-9][0-9]* csr [1-9][0-9]* ecall [1-9][0-9]*$" "$kinds"
	diag "$text: $kinds, $(number exceptions "$tmp/stat") exceptions, $(number interrupts "$tmp/stat") interrupts"
}

# A script of awk, with square roots.
# shellcheck disable=SC2016 # awk's variables
awk_program='{ x = $2; for (i = 0; i < 3; i++) x = (x + $2 / x) / 2; s += x; t[$1 % 3] = t[$1 % 3] substr($3, 5) }
	END { for (i = 0; i < 3; i++) print i, length(t[i]); printf "%d %.3f\n", NR, s }'

# make_monitor LINES: $tmp/monitor runs sort, sha256sum and awk of Debian's busybox on an input of LINES lines, $tmp/expected is
# what they print by this host's programs, and `monitor` the machine
make_monitor() {
	seq 1 "$1" | awk '{ x = ($1 * 7919 + 13) % 1009; printf "%d %d.%d item%d\n", x, x * 3, $1, $1 }' >"$tmp/input"
	{
		LC_ALL=C sort -n "$tmp/input"
		sha256sum <"$tmp/input" | sed 's|-$|/input|'
		awk "$awk_program" "$tmp/input"
	} >"$tmp/expected"
	python3 -c 'import json, sys
print(*(f"{json.dumps(word)}," if word else "NULL," for word in sys.argv[1:]))' \
		busybox sort -n /input '' busybox sha256sum /input '' busybox awk "$awk_program" /input '' >"$tmp/commands"
	monitor=("$qemu" -M virt -cpu rv64 -m 256M -display none -monitor none -bios none -kernel "$tmp/monitor")
	riscv64-linux-gnu-gcc -march=rv64ima_zicsr -mabi=lp64 -mcmodel=medany -O1 -Wall -Wextra -Werror -ffreestanding -fno-pic \
		-fno-stack-protector -nostdlib -static \
		-Wl,--no-relax,--build-id=none,--section-start=.init=0x80000000,-Ttext=0x80001000,--no-warn-rwx-segments \
		-DPROGRAM="\"$("$top/tools/vsoc/run" --print-sysroot)/usr/bin/busybox\"" -DINPUT="\"$tmp/input\"" \
		-DCOMMANDS="$(<"$tmp/commands")" -o "$tmp/monitor" "$here/monitor.c"
}
# The timer, the serial port, and what ends the machine.
monitor_devices=0x2000000-0x200ffff,0x10000000-0x100000ff,0x100000-0x100fff

# trace_monitor: $tmp/trace; monitor_groups is how many of its groups can be verified: a store ends the machine
trace_monitor() {
	timeout 600 "${monitor[@]}" -serial "file:$tmp/console" -icount shift=0 -plugin "$plugins/tandem_log.so,out=$tmp/trace" \
		2>"$tmp/log" || return 1
	monitor_groups=$(($("$ntrace" tandem stat --json "$tmp/trace" | sed 's/.*"groups":\([0-9]*\).*/\1/') - 2))
}
