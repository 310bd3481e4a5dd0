#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Two harts with ATB bridges, whose trace goes through a FIFO and an ETR of Arm: the components of
# the path, claim tags, and faults of the ETR, which are then removed.
# shellcheck source=selftests/kernel/guest/common.sh
. "$(dirname "$0")/common.sh"
etr=$(sink 0)
etf=0x$(grep -o '^[0-9a-f]*\.etf ' $debug/components | sed 's/\..*//')
funnel=0x$(grep -o '^[0-9a-f]*\.funnel ' $debug/components | sed 's/\..*//')
# Registers of CoreSight: the lock, claim tags.
lar=0xfb0 claim_set=0xfa0 claim_clear=0xfa4
put() { devmem $(($1 + $2)) 32 "$3"; }
fault() { put "$etr" 0xe00 "$1"; }
on() { [ $(($(register "$1" "$2") & $3)) -ne 0 ]; }

is "$(blocks_of 0 | sed -E 's/[0-9a-f]+\.//g')" \
	"trace-encoder -> trace-atb-bridge -> trace-funnel -> funnel -> etf -> etr" "debugfs: the path of a hart"
is "$(grep -c ' atid=[13] *$' $debug/components)" 2 "debugfs: each encoder has an ATID"
is "$(grep -c ' atb_id=0x[13] *$' $debug/components)" 2 "debugfs: and its bridge"
for name in funnel etf etr; do
	full=$(grep -o "^[0-9a-f]*\.$name " $debug/components | tr -d ' ')
	ok "$name: the driver has its device" test -e "$(driver_of "$full")/$full"
done
bridge=$(grep -o '^[0-9a-f]*\.trace-atb-bridge ' $debug/components | head -n 1 | tr -d ' ')
is "$(stat -c %A "$driver/$bridge/atb_id")" -r--r--r-- "the ID of a bridge on a path cannot be written"
is "$(<$pmu/caps/src_bits)" 0x1 "caps: messages have no SRC"

hold /dev/ntrace0
ok "tracing: ETR, ETF and both funnels are enabled" test "$(register "$etr" 0x20)" = 0x00000001 -a \
	"$(register "$etf" 0x20)" = 0x00000001 -a "$(register "$funnel")" = 0x00000701
is "$(register "$etf" 0x28) $(register "$etr" 0x28)" "0x00000002 0x00000000" "the ETF is a FIFO, the ETR a ring"
ok "they are claimed" test "$(register "$etr" $claim_clear)$(register "$etf" $claim_clear)$(register "$funnel" $claim_clear)" = \
	"0x000000020x000000020x00000002"
ask stop
is "$answer" 0 "STOP"
ok "stopped: all are disabled" test "$(register "$etr" 0x20)$(register "$etf" 0x20)$(register "$funnel")" = \
	"0x000000000x000000000x00000000"
let_go
ok "closed: nothing is claimed" test "$(register "$etr" $claim_clear)$(register "$etf" $claim_clear)$(register "$funnel" $claim_clear)" = \
	"0x000000000x000000000x00000000"

# A debugger claims the ETR.
put "$etr" $lar 0xc5acce55
put "$etr" $claim_set 1
like "claimed by a debugger: CONFIGURE fails" 'CONFIGURE: Device or resource busy' "$("$here/hold" /dev/ntrace0 </dev/null 2>&1)"
like "the log reports it" 'etr: a debugger uses it \(claim tags 0x1\)' "$(said)"
put "$etr" $lar 0xc5acce55
put "$etr" $claim_clear 1
said_all
hold /dev/ntrace0
is "$answer" running "released: it traces"

# broken BITS ERROR PATTERN WHAT: a fault while tracing; STOP reports it, and CONFIGURE mends it.
broken() {
	fault "$1"
	[ "$4" != "its writes fail" ] || ok "ETR, $4: it is noticed" wait_for state_is 3
	ask stop
	is "$answer" "$2" "ETR, $4: STOP: $2"
	like "ETR, $4: the log reports it" "$3" "$(said)"
	ask state
	is "$answer" 3 "ETR, $4: the capture is dead"
	ask start
	is "$answer" ENODEV "ETR, $4: START: ENODEV"
	fault 0
	ask configure
	is "$answer" 0 "ETR, $4: mended, CONFIGURE"
	ask start
	is "$answer" 0 "ETR, $4: START"
	said_all
}
broken 2048 ETIMEDOUT 'ETR does not stop \(status 0x' "never ready"
broken 4096 ETIMEDOUT 'ETR does not stop \(status 0x' "its flush never ends"
broken 8192 EIO 'cannot write to memory \(status 0x' "its writes fail"
ask stop
fault 2048
ask start
is "$answer" ETIMEDOUT "ETR, never ready: START: ETIMEDOUT"
like "ETR, never ready: the log reports it" 'ETR does not start' "$(said)"
fault 0
ask configure
ask start
is "$answer" 0 "mended: CONFIGURE and START"
ask stop
let_go
said_all

# The path is found again whatever part of it was unbound.
for name in $(blocks_of 0 | sed 's/ -> / /g'); do
	hold /dev/ntrace0
	echo "$name" >"$(driver_of "$name")/unbind"
	ok "unbind $name while tracing: encoder and ETR are disabled" both_disabled 0
	ask stop
	is "$answer" ENODEV "STOP: ENODEV"
	let_go
	echo "$name" >"$(driver_of "$name")/bind"
	hold /dev/ntrace0
	ask stop
	is "$answer" 0 "bind: it traces again"
	let_go
done

# Without the AMBA bus the driver makes the devices of Arm's components, and removes them again.
name=${sinks[0]#0x}
rmmod ntrace
[ -e "/sys/bus/amba/devices/$name" ] ||
	ok "rmmod: the devices of Arm's components are gone" test ! -e "/sys/bus/platform/devices/$name"
load
ok "insmod: the driver has them" test -e "$(driver_of "$name")/$name" -a -c /dev/ntrace0
hold /dev/ntrace1
ask stop
is "$answer" 0 "and can be used"
let_go
nothing_said
done_testing
