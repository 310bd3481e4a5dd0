# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# What is traced. Runs in the guest: filters.sh RANGES CALLS
# shellcheck source=selftests/kernel/guest/common.sh
. /root/kernel/common.sh
program $here/filters refused "$1"
if [ "$1" = 0 ]; then
	fails "record: nothing to filter by" 'can filter 0 address ranges' ntrace record --filter 0x1000/0x1000 -o none -- true
	fails "record: tasks" 'not all encoders can filter so many .*: 0' ntrace record --filter counted@/root/counted -o none -- true
	done_testing
	exit
fi
program $here/filters perf "$(</sys/bus/event_source/devices/ntrace/type)"
is "$(</sys/bus/event_source/devices/ntrace/caps/ranges)" "0x$1" "caps/ranges"
mkdir -p /root/results
cd /root/results || exit 1

record() {
	local name=$1 rc=0
	shift
	ntrace record -q -o "$name.data" "$@" >"$name.out" || rc=$?
	ok "record $name" test "$rc" = 0 -o "$rc" = 7
}
function=__riscv_sys_sched_get_priority_max
record function --privilege u --filter 'filter counted @ /root/counted' -- /root/counted
record two --privilege u --filter tail@/root/counted --filter recursive@/root/counted -- /root/counted
record file --privilege u --filter '*@/root/counted' -- /root/counted
record all --privilege u --filter 0/0xffffffffffffffff -- $here/filters calls "$2"
record syscall --filter $function -- $here/filters calls "$2"
record ecall --traps exceptions:8 --harts 0 -- $here/filters calls "$2"
record interrupt --traps interrupts --harts 0 -- $here/filters calls "$2"
fails "record: no such function" "no function 'uncounted' with a size" ntrace record --filter uncounted@/root/counted -o none -- true
fails "record: none of the kernel" "no function 'uncounted' in the kernel" ntrace record --filter uncounted -o none -- true
fails "record: an address of user space without a file" "perf does not take" ntrace record --task --privilege u --filter 0x1000/0x1000 -o none -- true
is "$(dmesg | grep -c 'ntrace [0-9a-z.-]*: ')" 0 "the driver has nothing to say"
done_testing
