#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Clocks and resets of the encoders, as the device tree of the virtual SoC describes them.
# shellcheck source=selftests/kernel/guest/common.sh
. "$(dirname "$0")/common.sh"
clock=/sys/kernel/debug/clk/trace-clock/clk_enable_count
status() { echo "$(<$driver/"$(encoder_name "$1")"/power/runtime_status)"; }
# Bit n: the reset of encoder n is not asserted.
lines() { echo $(($(register 0x60f0000))); }

[ -e $clock ] || skip_all "the kernel has no debugfs for clocks"
is "$(<$clock)" 0 "nothing is traced: the clock is off"
is "$(status 0) $(status 1)" "suspended suspended" "and the encoders are suspended"
is "$(lines)" 3 "their resets are not asserted"
like "debugfs shows the registers" ' control=0x8 ' "$(grep "^$(encoder_name 0)" $debug/components)"
is "$(<$clock)" 0 "and leaves the clock off"
hold /dev/ntrace0
is "$(<$clock)" 1 "one hart is traced: its encoder has a clock"
is "$(status 0) $(status 1)" "active suspended" "the other one is suspended"
ask stop
is "$answer" 0 "STOP"
is "$(<$clock)" 1 "the capture keeps the clock"
ask start
is "$answer" 0 "START"
let_go
is "$(<$clock)" 0 "closed: the clock is off"
program counted 0 20 fine
ok "an event of perf is closed: the clock is off" wait_for grep -q '^0$' $clock
device=$(encoder_name 0)
hold /dev/ntrace0
echo "$device" >$driver/unbind
is "$(<$clock) $(lines)" "0 2" "unbind while tracing: no clock, and its reset is asserted"
echo "$device" >$driver/bind
let_go
is "$(<$clock) $(lines)" "0 3" "bind: the reset is not"
hold /dev/ntrace0
ask stop
is "$answer" 0 "it traces"
let_go
rmmod ntrace
is "$(<$clock) $(lines)" "0 0" "rmmod: no clock, the resets are asserted"
load
ok "back again" test -c /dev/ntrace0
nothing_said
done_testing
