#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Harts whose trace hardware differs: each is traced, or refused by the name of a field. While it is traced, every third goes
# offline, and every third loses its sink.
# shellcheck source=selftests/kernel/guest/common.sh
. "$(dirname "$0")/common.sh"

# goes_offline HART
goes_offline() {
	local online=/sys/devices/system/cpu/cpu$1/online
	echo 0 >"$online"
	ask state
	is "$answer" 2 "hart $1 goes offline: the capture is stopped"
	echo 1 >"$online"
	ask start
	is "$answer" 0 "it is back: START"
	ask stop
	is "$answer" 0 "and STOP"
}
# loses_sink HART
loses_sink() {
	local name
	name=$(sink_name "$1")
	echo "$name" >"$(driver_of "$name")/unbind"
	ask stop
	is "$answer" ENODEV "the sink of hart $1 is unbound: ENODEV"
	echo "$name" >"$(driver_of "$name")/bind"
	ok "it is bound: the device is back" test -c "/dev/ntrace$1"
}

traced=0
for hart in "${!encoders[@]}"; do
	said_all
	coproc HOLD { exec "$here/hold" "/dev/ntrace$hart"; }
	answer=''
	read -r -t 60 answer <&"${HOLD[0]}"
	if [ "$answer" != running ]; then
		like "hart $hart is refused by the name of a field" '\btr[A-Z]' "$(refusals)"
		wait "$HOLD_PID" 2>/dev/null
		continue
	fi
	traced=$((traced + 1))
	case $((hart % 3)) in
	0)
		ask stop
		is "$answer" 0 "hart $hart: STOP"
		ask head
		ok "hart $hart: trace has come" test "$answer" -gt 0
		;;
	1) goes_offline "$hart" ;;
	2) loses_sink "$hart" ;;
	esac
	let_go
done
ok "some are traced" test $traced -gt 0
diag "$traced harts traced of ${#encoders[@]} with devices; refused: $("$here/messages" 0 | grep -cE 'ntrace .*\btr[A-Z]') lines"
rmmod ntrace
load
is "$(find /dev -name 'ntrace*' | wc -l)" ${#encoders[@]} "loaded again: the same devices"
done_testing
