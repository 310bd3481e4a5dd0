#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Loading, unloading, binding and hotplug of the driver and its devices while a process traces.
# Usage: lifecycle.sh [short]; short: fewer rounds of what does not depend on the topology
# shellcheck source=selftests/kernel/guest/common.sh
. "$(dirname "$0")/common.sh"
churns=100 loads=3
[ "${1:-}" != short ] || churns=10 loads=1

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

# Leaks are found with the kernel's tracepoints for memory: not by free memory, which caches change. watch_memory begins; leaves
# WHAT ends, and tests that the driver has returned all that it has taken since. It has taken what was allocated below one of its
# functions, which have no names once it is unloaded, except what is kept for later: slabs, page tables, per-CPU memory, and the
# memory of detectors of bugs. An interrupt may be anybody's.
keepers='allocate_slab|___slab_alloc|__p[t4um][ed]_alloc|__p4d_alloc|pcpu_|kasan|stack_depot|kmemleak|debug_object|do_irq|irq_stack'
# Only these call it, and only allocations need stacks, which take long to print. With a condition, a stack comes after its event.
callers='comm == "hold" || comm == "counted" || comm == "insmod" || comm == "modprobe" || comm == "rmmod" || comm ~ "kworker*"'
tracing=/sys/kernel/tracing
[ -e $tracing/trace ] || mount -t tracefs nodev $tracing
memory_events() {
	local file
	for file in $tracing/events/kmem/{kmalloc,kfree,mm_page_alloc,mm_page_free}/enable; do
		echo "$1" >"$file"
	done
}
watch_memory() {
	echo 8192 >$tracing/buffer_size_kb
	echo 0 >$tracing/options/hash-ptr
	echo >$tracing/trace
	echo "stacktrace if $callers" >$tracing/events/kmem/kmalloc/trigger
	# Movable pages are those of processes.
	echo "stacktrace if ($callers) && migratetype != 1" >$tracing/events/kmem/mm_page_alloc/trigger
	memory_events 1
}
# Prints the numbers of kmalloc() and of blocks of pages, taken and not returned, and leaves the stacks of the latter in the file kept.
memory() {
	awk -v keepers="$keepers" '
		function take() {
			if (block != "" && stack ~ / (ntrace_|0x)/ && stack !~ keepers) {
				live[block] = stack
				taken[substr(block, 1, 1)]++
			}
			block = stack = ""
		}
		/^# entries-in-buffer/ { split($3, entries, "/"); lost = entries[2] - entries[1] }
		/^ => / { stack = stack " " $2; next }
		{ take(); cpu = match($0, /\[[0-9]+\]/) ? substr($0, RSTART, RLENGTH) : "" }
		/<stack trace>/ { block = last[cpu]; delete last[cpu]; next }
		match($0, /(pfn|ptr)=(0x)?[0-9a-f]+/) {
			number = substr($0, RSTART, RLENGTH)
			sub(/0x/, "", number)
			delete last[cpu]
			if (/free: /) delete live[number]
			else if (number !~ /=0+$/) last[cpu] = number
		}
		END {
			take()
			for (block in live) { left[substr(block, 2, 1)]++; print live[block] >"kept" }
			if (lost) print lost " events lost"
			else print taken["p"] + 0, left["t"] + 0, left["f"] + 0
		}' $tracing/trace
}
# Some memory waits for a grace period, or for a worker that frees it.
leaves() {
	local counts
	for _ in 1 2 3 4 5 6 7 8; do
		: >kept
		counts=$(memory)
		[[ $counts != *" 0 0" ]] || break
		sleep 0.2
	done
	memory_events 0
	echo '!stacktrace' >$tracing/events/kmem/kmalloc/trigger
	echo '!stacktrace' >$tracing/events/kmem/mm_page_alloc/trigger
	like "$1: the driver has returned all memory (blocks taken; objects, blocks of pages not returned)" '^[1-9][0-9]* 0 0$' "$counts" ||
		diag "$(sort kept | uniq -c)"
}
mappings() { grep -c 'ntrace_' /proc/vmallocinfo; }
hold /dev/ntrace0 65536 65536
ask close
ask churn 2
mapped=$(mappings)
ask churn $churns
is "$answer" 0 "$churns times open, CONFIGURE, START, STOP, close"
is "$(mappings)" "$mapped" "no mapping leaked"
watch_memory
ask churn 5
"$here/counted" 0 20 fine >counted
leaves "5 times open to close, and events of perf"
let_go

rmmod ntrace
watch_memory
for _ in $(seq $loads); do
	load || not_ok "insmod"
	hold /dev/ntrace0 || break
	ask stop
	let_go
	rmmod ntrace || not_ok "rmmod"
done
leaves "$loads times insmod, rmmod"
is "$(grep -c ntrace /proc/vmallocinfo)" 0 "rmmod leaves no mappings"
ok "and no device" test ! -e /dev/ntrace0
ok "and disabled components" both_disabled 0
load
ok "and back" test -c /dev/ntrace0
done_testing
