#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Loading, unloading, binding and hotplug of the driver and its devices while a process traces.
# Usage: lifecycle.sh [short]; short: fewer rounds of what does not depend on the topology
# shellcheck source=selftests/kernel/guest/common.sh
. "$(dirname "$0")/common.sh"
churns=300 loads=5
[ "${1:-}" != short ] || churns=30 loads=1

ok "idle components are disabled" both_disabled 0
hold /dev/ntrace0
ok "tracing: encoder and sink are enabled" both_enabled 0
fails "rmmod with an open file is refused" 'busy|Resource temporarily unavailable|in use' rmmod ntrace
ok "and tracing goes on" both_enabled 0
kill -KILL "$HOLD_PID"
wait "$HOLD_PID" 2>/dev/null
ok "killed while tracing: encoder and sink are disabled" both_disabled 0
case ${sinks[0]} in
*.etr) is "$(register "$(sink 0)" 0x118)" 0x00000000 "and the sink has no address of memory" ;;
*) is "$(register "$(sink 0)")" 0x00000008 "and the sink is inactive: it has no address of memory" ;;
esac

hold /dev/ntrace0
ask head
ask stop
is "$answer" 0 "the device can be used again"
let_go

unbind_bind() {
	hold /dev/ntrace0
	echo "$1" >"$(driver_of "$1")/unbind"
	ok "unbind $1 while tracing: both are disabled" both_disabled 0
	ok "the device is gone" test ! -e /dev/ntrace0
	ask stop
	is "$answer" ENODEV "STOP: ENODEV"
	ask configure
	is "$answer" ENODEV "CONFIGURE: ENODEV"
	ask head
	like "the mapping is alive" '^[1-9][0-9]*$' "$answer"
	echo "$1" >"$(driver_of "$1")/bind"
	ok "bind: the device is back" test -c /dev/ntrace0
	ask start
	is "$answer" ENODEV "the file that was open stays dead"
	let_go
	hold /dev/ntrace0
	ask stop
	is "$answer" 0 "a new one traces"
	let_go
}
unbind_bind "$(sink_name 0)"
unbind_bind "$(encoder_name 0)"

cpu1=/sys/devices/system/cpu/cpu1/online
hold /dev/ntrace1
ok "tracing the other hart" both_enabled 1
echo 0 >$cpu1
ok "it goes offline: encoder and sink are disabled" both_disabled 1
ask state
is "$answer" 2 "the capture is stopped"
ask start
is "$answer" ENODEV "START: ENODEV"
ask configure
is "$answer" ENODEV "CONFIGURE: ENODEV"
echo 1 >$cpu1
# On the debug kernel, the data area is already full.
ask consume
ask head
before=$answer
ask start
is "$answer" 0 "online again: START"
ok "encoder and sink are enabled" both_enabled 1
ask stop
is "$answer" 0 "STOP"
ask head
ok "trace has come" test "$answer" -gt "$before"
let_go

# The driver does not access the encoder of an offline hart.
hold /dev/ntrace1
echo 0 >$cpu1
is "$(register "$(encoder 1)")" 0x00000008 "offline: the encoder was made inactive before"
let_go
echo 1 >$cpu1
hold /dev/ntrace1
ask stop
is "$answer" 0 "online again: it traces"
let_go

# The driver is loaded while a hart is offline. In the virtual SoC, the encoder counts accesses
# meanwhile; those of version 0 do not.
device=$(encoder_name 1)
echo 0 >$cpu1
unpowered "$(encoder 1)" 0
rmmod ntrace
load
ok "loaded while a hart is offline: it has no device" test ! -e /dev/ntrace1
ok "the other one has" test -c /dev/ntrace0
like "its encoder is bound" 'trace-encoder' "$(cd $driver && echo "$device"*)"
grep . $debug/components >/dev/null
echo "$device" >$driver/unbind
echo "$device" >$driver/bind
[ -n "$version0" ] || is "$(($(unpowered "$(encoder 1)")))" 0 "the driver does not access it"
echo 1 >$cpu1
ok "online: the device appears" wait_for test -c /dev/ntrace1
hold /dev/ntrace1
ask stop
is "$answer" 0 "and traces"
let_go

# Sets a write pointer outside the buffer, like a broken sink: disabled, trRamWPLow, or SinkWP of
# version 0. The pointer of an ETR follows its buffer: register of faults, see tools/vsoc/model/fault.h.
hold /dev/ntrace0
stop=0x11 wp=0x20
[ -z "$version0" ] || stop=0x70000001 wp=0x1c
case ${sinks[0]} in
*.etr) devmem $(($(sink 0) + 0xe00)) 32 128 ;;
*)
	devmem "$(sink 0)" 32 $stop
	devmem $(($(sink 0) + wp)) 32 0x100
	;;
esac
ok "a sink that leaves its buffer: the capture is dead" wait_for state_is 3
ok "encoder and sink are disabled" both_disabled 0
ask start
is "$answer" EBUSY "START before STOP: EBUSY"
ask stop
is "$answer" EIO "STOP: EIO"
ask start
is "$answer" ENODEV "START: ENODEV"
[[ ${sinks[0]} != *.etr ]] || devmem $(($(sink 0) + 0xe00)) 32 0
ask configure
is "$answer" 0 "CONFIGURE brings it back"
ask start
is "$answer" 0 "START"
ok "encoder and sink are enabled" both_enabled 0
let_go

count() { awk -v name="$1" '$1 ~ name { sum += $2 } END { print sum + 0 }' "$2"; }
# Counts free pages, including those that each hart keeps. Called twice, because the first call
# itself frees pages.
free_kib() {
	sync
	echo 3 >/proc/sys/vm/drop_caches
	sync
	echo 3 >/proc/sys/vm/drop_caches
	echo $(($(count '^MemFree' /proc/meminfo) + 4 * $(count '^count:' /proc/zoneinfo)))
}
# Prints live objects of kmalloc() by their allocator, with slab_debug=U,kmalloc-*: those with a
# function of the driver in their stack.
traces=(/sys/kernel/debug/slab/kmalloc-*/alloc_traces)
objects() {
	cat "${traces[@]}" | awk -v RS= 'function take() { if (text ~ /\[ntrace\]/) sum += number; text = "" }
		{ lines = split($0, line, "\n")
		  for (i = 1; i <= lines; i++) {
			if (match(line[i], /^ *[0-9]+ [^ ]+\+0x.* age=/)) { take(); number = line[i] + 0 }
			text = text line[i]
		  } }
		END { take(); print sum + 0 }'
}
# Objects that wait for an RCU grace period are freed soon; counting takes longer.
objects_are() {
	local now
	for _ in 1 2 3; do
		now=$(objects)
		[ "$now" != "$1" ] || return 0
	done
	echo "$now"
	return 1
}
mappings() { grep -c 'ntrace_' /proc/vmallocinfo; }
hold /dev/ntrace0 65536 65536
ask close
ask churn $((churns / 15))
[ -e /proc/lockdep ] || had=$(objects 2>/dev/null)
mapped=$(mappings) kib=$(free_kib)
ask churn $churns
is "$answer" 0 "$churns times open, CONFIGURE, START, STOP, close"
gone=$((kib - $(free_kib)))
if [ -e /proc/lockdep ]; then
	skip "no objects leaked" "the debug kernel keeps freed ones for a while (KASAN); kmemleak finds those that are lost"
elif ! grep -q slab_debug=U /proc/cmdline; then
	skip "no object leaked" "nothing counts them without slab_debug=U,kmalloc-* on the kernel's command line"
elif ok "the driver's objects are counted: $had" test "$had" -gt 0; then
	ok "no object leaked" objects_are "$had"
fi
is "$(mappings)" "$mapped" "no mapping leaked"
# One leaked page per round would be 1200 KiB in 300 rounds; the rest of the machine uses some memory
# too.
ok "no pages leaked ($gone KiB)" test "$gone" -lt 1000
let_go

# Five leaked sink buffers would be 20 MiB. Loading modules alone changes the number by several MiB,
# up to 4.7 observed.
kib=$(free_kib)
for _ in $(seq $loads); do
	rmmod ntrace || not_ok "rmmod"
	load || not_ok "insmod"
	hold /dev/ntrace0 || break
	ask stop
	let_go
done
gone=$((kib - $(free_kib)))
ok "$loads times rmmod, insmod: no pages leaked ($gone KiB)" test $gone -lt 10000
rmmod ntrace
is "$(grep -c ntrace /proc/vmallocinfo)" 0 "rmmod leaves no mappings"
ok "and no device" test ! -e /dev/ntrace0
ok "and disabled components" both_disabled 0
load
ok "and back" test -c /dev/ntrace0
done_testing
