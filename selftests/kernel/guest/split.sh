#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Encoders with several ways out.
# shellcheck source=selftests/kernel/guest/common.sh
. "$(dirname "$0")/common.sh"
first=6040000.trace-ram-sink second=6041000.trace-ram-sink
way=6080000.trace-funnel other_way=6081000.trace-funnel
device=$(encoder_name 0) choice=$driver/$(encoder_name 0)/sink
traces() {
	hold /dev/ntrace0
	enabled "0x${1%%.*}"
	is $? 0 "$2: $1 is enabled"
	ask stop
	is "$answer" 0 "$2: STOP"
	ask head
	ok "$2: trace has come" test "$answer" -gt 0
}
chosen() { is "$(<"$choice")" "$1" "$2"; }

chosen $first "the way out with the lowest number is the default"
traces $first "default"
let_go
# Only the second way is bound when the encoder is.
echo "$device" >$driver/unbind
echo $way >$driver/unbind
echo "$device" >$driver/bind
ok "the first funnel is not bound: no device yet" test ! -e /dev/ntrace0
chosen "" "and no sink"
echo $way >$driver/bind
ok "it is bound: the device is there" test -c /dev/ntrace0
chosen $first "the same sink as before"

fails "a sink that does not exist: refused" 'No such device' bash -c "echo 6042000.trace-ram-sink >$choice"
fails "a funnel: refused" 'No such device' bash -c "echo $other_way >$choice"
chosen $first "nothing has changed"
hold /dev/ntrace0
fails "while a capture is configured: refused" 'busy' bash -c "echo $second >$choice"
let_go
exec {file}<>/dev/ntrace0
echo $second >"$choice"
chosen $second "the other sink is chosen"
ok "the device is there" test -c /dev/ntrace0
like "debugfs: the path" "$device -> $other_way -> $second " "$(grep ^cpu0 $debug/paths)"
traces $second "chosen"
chosen $second "while it is in use"
let_go
exec {file}<&-
echo $second >"$choice"
ok "chosen again: the device is there" test -c /dev/ntrace0
echo $second >$driver/unbind
ok "the sink is unbound: no device" test ! -e /dev/ntrace0
echo $second >$driver/bind
chosen $second "it is back: still chosen"
# The other hart keeps the default.
hold /dev/ntrace1
ask stop
is "$answer" 0 "the other hart, with its own sink"
let_go
echo >"$choice"
chosen $first "an empty name is the default"
traces $first "default again"
let_go
nothing_said
done_testing
