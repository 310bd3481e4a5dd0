# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# For test scripts that run in the guest.
# shellcheck source=selftests/tap.sh
. /root/tap.sh
here=/root/kernel

# Registers are looked at through /dev/mem, behind the back of the driver. Which
# hart Linux calls 0 is a lottery, the encoder's place tells: 600N000 for hart N.
harts=()
for name in /sys/class/ntrace/ntrace*; do
	[ -e "$name/device" ] || continue
	encoder_name=$(basename "$(readlink -f "$name/device")")
	harts[${name#*/ntrace/ntrace}]=$((0x${encoder_name%%.*} >> 12 & 0xf))
done
encoder() { printf '0x%x' $((0x6000000 + ${harts[$1]} * 0x1000)); }
sink() { printf '0x%x' $((0x6040000 + ${harts[$1]} * 0x1000)); }
enabled() { [ $(($(devmem "$1" 32) & 2)) -ne 0 ]; }
both_enabled() { enabled "$(encoder "$1")" && enabled "$(sink "$1")"; }
both_disabled() { ! enabled "$(encoder "$1")" && ! enabled "$(sink "$1")"; }

# A test program that prints TAP without a plan.
program() {
	local line rc=0 failed=$tap_failures
	"$@" >"$tmp/program" || rc=$?
	while IFS= read -r line; do
		case $line in
		'ok - '*) pass "${line#ok - }" ;;
		'not ok - '*) not_ok "${line#not ok - }" ;;
		*) echo "$line" ;;
		esac
	done <"$tmp/program"
	[ "$rc" -eq 0 ] || [ "$tap_failures" -gt "$failed" ] || not_ok "${1##*/} ended with status $rc"
}

# hold DEVICE...: a process that traces and takes orders; ask ORDER: $answer.
hold() {
	coproc HOLD { exec "$here/hold" "$@"; }
	answer=''
	read -r -t 60 answer <&"${HOLD[0]}"
	[ "$answer" = running ] || { not_ok "hold $*: $answer"; return 1; }
}
ask() {
	answer=''
	echo "$*" >&"${HOLD[1]}"
	read -r -t 120 answer <&"${HOLD[0]}"
}
let_go() {
	kill "$HOLD_PID"
	wait "$HOLD_PID" 2>/dev/null
}
