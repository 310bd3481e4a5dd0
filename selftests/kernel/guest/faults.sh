#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Injects a fault into a block and removes it: the driver reports the fault and disables the
# hardware, later calls do not wait, and the next capture works.
# shellcheck source=selftests/kernel/guest/common.sh
. "$(dirname "$0")/common.sh"

# The register that injects faults, and its bits: see tools/vsoc/model/fault.h.
declare -A bits=([no-empty]=1 [no-active]=2 [no-enable]=4 [wrong-type]=8 [newer-major]=16 [newer-minor]=32
	[read-only]=64 [pointer-outside]=128 [stuck-pointer]=256 [no-filter]=16384)
# An ETR of Arm has other registers and fewer faults: it never becomes ready. k3.sh has those that only it has.
etr=''
case $(sink_name 0) in
*.etr) etr=yes ;;
esac
declare -A etr_bits=([no-empty]=2048 [no-active]=2048 [no-enable]=2048 [pointer-outside]=128)
fault() {
	local mask=${bits[$2]:-0}
	[ -z "$etr" ] || [ "$1" != "$(sink 0)" ] || mask=${etr_bits[$2]:-0}
	devmem $(($1 + 0xe00)) 32 "$mask"
}
mend() { fault "$1" none; }
place() { if [ "$1" = encoder ]; then encoder 0; else sink 0; fi; }
# Sets $now to the machine's clock in milliseconds, without starting a process.
now() { now=$((${EPOCHREALTIME/./} / 1000)); }

# After a fault, the path is unusable and disabled, and no call waits. After the repair, a capture
# works.
recovers() {
	local what=$1 address=$2 start
	ask state
	is "$answer" 3 "$what: the capture is dead"
	now
	start=$now
	ask start
	now
	is "$answer" ENODEV "$what: START: ENODEV"
	ok "$what: which does not wait" test $((now - start)) -lt 90
	works_again "$what" "$address"
}
works_again() {
	mend "$2"
	ok "$1: encoder and sink are disabled" both_disabled 0
	ask configure
	is "$answer" 0 "$1: mended, CONFIGURE"
	ask start
	is "$answer" 0 "$1: START"
	ask stop
	is "$answer" 0 "$1: STOP"
	let_go
	said_all
}

# running BLOCK FAULT ERROR PATTERN: injects the fault during a capture; STOP reports the error.
running() {
	local what="$1 $2 while tracing" address lines
	address=$(place "$1")
	hold /dev/ntrace0
	fault "$address" "$2"
	# Check without a call while the hart is traced.
	[ "$2" != pointer-outside ] || ok "$what: it is noticed" wait_for state_is 3
	ask stop
	is "$answer" "$3" "$what: STOP: $3"
	lines=$(said)
	like "$what: the log reports it" "$4" "$lines"
	# An ETR that is never ready can neither be stopped nor be switched off.
	if [ "$etr $1 $2" = "yes ram-sink no-empty" ]; then
		ok "$what: in few lines" test "$(wc -l <<<"$lines")" -le 3
	else
		is "$(wc -l <<<"$lines")" 1 "$what: in one line"
	fi
	recovers "$what" "$address"
}
# starting BLOCK FAULT ERROR PATTERN: injects the fault before START.
starting() {
	local what="$1 $2 at START" address
	address=$(place "$1")
	hold /dev/ntrace0
	ask stop
	fault "$address" "$2"
	ask start
	is "$answer" "$3" "$what: $3"
	like "$what: the log reports it" "$4" "$(said)"
	recovers "$what" "$address"
}
# configuring BLOCK FAULT ERROR: injects the fault before CONFIGURE.
configuring() {
	local what="$1 $2 at CONFIGURE" address
	address=$(place "$1")
	hold /dev/ntrace0
	ask stop
	fault "$address" "$2"
	ask configure
	is "$answer" "$3" "$what: $3"
	ask start
	is "$answer" EINVAL "$what: START: EINVAL, nothing is configured"
	works_again "$what" "$address"
}

running encoder no-empty ETIMEDOUT 'encoder does not stop'
running ram-sink no-empty ETIMEDOUT '(RAM sink|ETR) does not stop'
running ram-sink pointer-outside EIO 'sink left its buffer'
starting encoder no-enable ETIMEDOUT 'encoder does not start'
starting ram-sink no-enable ETIMEDOUT '(RAM sink|ETR) does not start'
configuring encoder no-active ETIMEDOUT
configuring ram-sink no-active ETIMEDOUT
configuring encoder read-only EOPNOTSUPP
if [ -z "$etr" ]; then
	configuring ram-sink read-only EIO
	configuring ram-sink pointer-outside EIO
fi

# With a write pointer that does not move, the driver reports a loss although the sink shows no
# trace.
stuck() {
	hold /dev/ntrace0
	ask stop
	fault "$(sink 0)" stuck-pointer
	ask start
	is "$answer" 0 "ram-sink stuck-pointer: START"
	ask stop
	is "$answer" EIO "ram-sink stuck-pointer: STOP: EIO"
	like "ram-sink stuck-pointer: the log reports it" 'write pointer is stuck' "$(said)"
	recovers "ram-sink stuck-pointer" "$(sink 0)"
}
[ -n "$etr" ] || stuck

# probed FAULT: binds the sink while the fault is active.
probed() {
	echo "$name" >$driver/unbind
	fault "$(sink 0)" "$1"
	echo "$name" >$driver/bind 2>/dev/null
	lines=$(said)
	said_all
}
# Wrong versions and types when the driver is loaded.
versions() {
	name=$(sink_name 0)
	probed newer-major
	like "newer major version: refused" "${name%%.*}" "$lines"
	like "newer major version: with the reason" 'RAM sink \(impl 0x[0-9a-f]+\) has an unknown major version' "$lines"
	ok "newer major version: no device" test ! -e /dev/ntrace0
	mend "$(sink 0)"
	echo "$name" >$driver/bind
	ok "repaired: the device exists" test -c /dev/ntrace0
	probed wrong-type
	like "wrong type: refused" 'unknown component \(impl 0x[0-9a-f]+\) is not supported' "$lines"
	ok "wrong type: no device" test ! -e /dev/ntrace0
	mend "$(sink 0)"
	echo "$name" >$driver/bind
	probed newer-minor
	like "newer minor version: a warning" 'RAM sink \(impl 0x[0-9a-f]+\) has newer version 1\.1' "$lines"
	ok "newer minor version: the device exists" test -c /dev/ntrace0
	hold /dev/ntrace0
	ask stop
	is "$answer" 0 "newer minor version: and works"
	let_go
	mend "$(sink 0)"
	probed no-active
	like "does not answer: refused" 'RAM sink does not answer a reset|unknown component does not answer a reset' "$lines"
	mend "$(sink 0)"
	echo "$name" >$driver/bind
	ok "repaired: the device exists" test -c /dev/ntrace0
	said_all
}
# Version 0 has no register for types, and Arm's components have other ones.
[ -n "$version0$etr" ] || versions

# A debugger takes the encoder before or during a capture, and gives it back. Until then the driver
# writes nothing to it; the model counts what it ignores.
untouched() { is "$(($(debugger "$(encoder 0)") >> 1))" 0 "$1: nothing is written to the encoder"; }
takes() {
	hold /dev/ntrace0
	[ "$1" = running ] || ask stop
	debugger "$(encoder 0)" 1
}
gives_back() {
	debugger "$(encoder 0)" 0
	works_again "$1" "$(encoder 0)"
}
debuggers() {
	takes configured
	ask start
	is "$answer" EBUSY "debugger: START: EBUSY"
	like "debugger: START: the log tells" 'a debugger owns the encoder' "$(said)"
	ask state
	is "$answer" 2 "debugger: START: the capture is stopped, not dead"
	untouched "debugger: START"
	said_all
	ask start
	is "$answer" EBUSY "debugger: START again: EBUSY"
	untouched "debugger: START again"
	debugger "$(encoder 0)" 0
	ask start
	is "$answer" 0 "debugger: START, given back"
	ask stop
	is "$answer" 0 "debugger: and STOP"
	said_all
	debugger "$(encoder 0)" 1
	ask configure
	is "$answer" EBUSY "debugger: CONFIGURE: EBUSY"
	like "debugger: CONFIGURE: the log tells" 'a debugger owns the encoder' "$(said)"
	like "debugger: debugfs shows it" ' debugger ' "$(grep "$(encoder_name 0)" $debug/components)"
	untouched "debugger: CONFIGURE"
	program counted 0 20 owned
	untouched "debugger: perf"
	gives_back "debugger: CONFIGURE"

	takes running
	ok "debugger: during a capture: it is noticed" wait_for state_is 3
	like "debugger: the log tells" 'a debugger has taken the encoder' "$(said)"
	ask loss
	# The debug kernel loses trace for other causes as well.
	[ ! -e /proc/lockdep ] || answer=$((answer & 16))
	is "$answer" 16 "debugger: the capture has the loss"
	ask stop
	is "$answer" EBUSY "debugger: STOP: EBUSY"
	untouched "debugger: during a capture"
	is "$(sink_enabled 0 && echo on)" "" "debugger: the sink is off"
	ask start
	is "$answer" ENODEV "debugger: START: ENODEV"
	debugger "$(encoder 0)" 0
	devmem "$(encoder 0)" 32 0
	gives_back "debugger: during a capture"

	# The driver is loaded while a debugger traces.
	hold /dev/ntrace0
	debugger "$(encoder 0)" 1
	name=$(encoder_name 0) other=$(sink_name 0)
	echo "$other" >"$(driver_of "$other")/unbind"
	let_go
	echo "$name" >$driver/unbind
	echo "$name" >$driver/bind 2>/dev/null
	like "debugger: bind: refused" 'a debugger owns the encoder' "$(said)"
	# A debugger that uses an ETR claims it, see k3.sh.
	if [ -z "$etr" ]; then
		devmem "$(sink 0)" 32 1
		devmem "$(sink 0)" 32 3
		echo "$other" >$driver/bind 2>/dev/null
		like "debugger: bind of its sink: refused" 'a debugger traces into it' "$(said)"
		ok "debugger: which is left running" enabled "$(sink 0)"
	fi
	untouched "debugger: bind"
	debugger "$(encoder 0)" 0
	said_all
	echo "$other" >"$(driver_of "$other")/bind"
	echo "$name" >$driver/bind
	ok "debugger: given back: the device exists" test -c /dev/ntrace0
	said_all
}
[ -n "$version0" ] || debuggers

# Filters whose registers read back, and which filter nothing: no trace of the kernel for users. EACCES is 13.
filters() {
	local type name paranoid
	type=$(<$pmu/type) name=$(encoder_name 0) paranoid=$(</proc/sys/kernel/perf_event_paranoid)
	echo 2 >/proc/sys/kernel/perf_event_paranoid
	program security own "$type" 0
	is "$(said)" "" "filters: the driver finds that they work"
	fault "$(encoder 0)" no-filter
	echo "$name" >$driver/unbind
	echo "$name" >$driver/bind
	program security own "$type" 13
	like "encoder no-filter: the log tells" 'trTeFilterMatchPrivilege filters nothing' "$(said)"
	program counted 0 20 any
	mend "$(encoder 0)"
	said_all
	program security own "$type" 0
	is "$(said)" "" "encoder no-filter: mended, the filters work"
	echo "$paranoid" >/proc/sys/kernel/perf_event_paranoid
}
[ -n "$version0" ] || filters

# The driver logs the fault, because perf has no way to report it. Each task switch continues at
# once: a switch that waits for the driver's timeout would take 100 us, all of them 100 ms.
# switches VERDICT: of a traced task on CPU 0; $spent: the time for which that CPU was busy, in ms.
# While a guest is idle, its clock follows the host's: idle time must not count.
busy() {
	local name idle iowait
	while read -r name _ _ _ idle iowait _ && [ "$name" != cpu0 ]; do :; done </proc/stat
	now
	busy=$((now - (idle + iowait) * 1000 / ${CLK_TCK:=$(getconf CLK_TCK)}))
}
switches() {
	local start
	busy
	start=$busy
	program counted 0 1000 "$1"
	busy
	spent=$((busy - start))
}
# An ETR that is never ready refuses the event itself.
broken_sink=no-enable
[ -z "$etr" ] || broken_sink=pointer-outside
fault "$(sink 0)" $broken_sink
switches fault
broken=$spent
lines=$(said)
said_all
like "perf, ram-sink $broken_sink: the log reports it" 'tracing of CPU 0 failed' "$lines"
ok "perf: in few lines" test "$(wc -l <<<"$lines")" -le 9
mend "$(sink 0)"
switches none
# On the debug kernel, the driver may take half a millisecond to fail.
limit=$((spent + 50))
[ ! -e /proc/lockdep ] || limit=$((spent + 500))
ok "perf: 1000 switches do not wait ($broken ms, of an untraced task $spent)" test "$broken" -lt "$limit"
# An encoder of version 0 that is never empty takes no configuration, so perf gets no event.
if [ -z "$version0" ]; then
	fault "$(encoder 0)" no-empty
	program counted 0 1000 any
	like "perf, encoder no-empty: the log reports it" 'encoder does not stop' "$(said)"
	mend "$(encoder 0)"
fi
program counted 0 100 fine
ok "nothing runs" both_disabled 0
done_testing
