# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# For test scripts of riscv_ctr that run on the machine. The host evaluates the files that they leave in their working
# directory.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=selftests/tap.sh
. "$here/tap.sh"
# Exported with wait_for, because commands of perf record call this too.
export wait_seconds=60
# shellcheck disable=SC2034
pmu=/sys/bus/event_source/devices/ctr

# load [PARAMETER...]: loads the module: from a file in the virtual SoC, elsewhere the installed
# one.
# shellcheck disable=SC2120
load() {
	local file=/run/ntrace-modules/riscv_ctr.ko
	if [ -e $file ]; then insmod $file "$@"; else modprobe riscv_ctr "$@"; fi
}
# needs_module: loads the module unless it is loaded
# shellcheck disable=SC2119
needs_module() { [ -e /sys/module/riscv_ctr ] || load || skip_all "riscv_ctr cannot be loaded"; }

# Uses busybox if mount or umount is missing.
for name in mount umount; do
	type -P $name >/dev/null || eval "$name() { busybox $name \"\$@\"; }"
done

# state FIELD [CPU]: prints what debugfs shows of a hart. Without a process, which takes milliseconds in a guest.
state() {
	local line
	while read -r line; do
		[[ $line != "cpu${2:-0} "* || ! " $line " =~ " $1="([^ ]*)" " ]] || echo "${BASH_REMATCH[1]}"
	done </sys/kernel/debug/riscv_ctr
}

# left_clean WHEN: no CPU has CTR state left.
left_clean() {
	local cpu cpus=(/sys/devices/system/cpu/cpu[0-9]*)
	for ((cpu = 0; cpu < ${#cpus[@]}; cpu++)); do
		is "owned=$(state owned $cpu) sctrctl=$(state sctrctl $cpu) valid=$(state valid $cpu)" \
			"owned=0 sctrctl=0x0 valid=0" "$1: nothing is left on CPU $cpu"
	done
}

# sampled CPU COUNT: the CPU has taken at least that many samples.
sampled() { [ "$(state samples "$1")" -ge "$2" ]; }
# wait_for_samples CPU NUMBER: waits for that many further samples.
wait_for_samples() { wait_for sampled "$1" $(($(state samples "$1") + $2)); }

# perf record for tests: without build-ids, because perf 7.2 crashes when it collects them with
# "stack"; without information about BPF programs, which takes most of the time of a short
# recording.
# shellcheck disable=SC2034 # for the tests
perf_record=(perf record -q -B --no-bpf-event)

# recording NAME ARGUMENT...: starts perf record for $tmp/NAME.data, and returns when it records, until end_recordings.
# Each has a FIFO of its own: in a shared one, the reader may find the writer of the previous
# recording, which has not closed it yet, and then read the end of the file instead of waiting.
recorders=()
recording() {
	local name=$1 answer=''
	shift
	mkfifo "$tmp/$name.up"
	"${perf_record[@]}" -o "$tmp/$name.data" "$@" -- sh -c "echo up >$tmp/$name.up; exec sleep 10000" 2>"$tmp/$name.log" &
	recorders+=("$!")
	read -r answer <"$tmp/$name.up"
	is "$answer" up "$name: records" || diag "$(<"$tmp/$name.log")"
}
end_recordings() {
	kill "${recorders[@]}"
	wait "${recorders[@]}"
	recorders=()
}

# edges_stacks NAME ARGUMENT...: runs perf record with these arguments. The samples of the program
# edges go to NAME.stacks, its load address to NAME.base.
edges_stacks() {
	local name=$1 status=0 count
	shift
	"${perf_record[@]}" -o "$tmp/p.data" "$@" >"$name.base" 2>"$tmp/log" || status=$?
	perf script -i "$tmp/p.data" --comm edges -F ip,brstack 2>>"$tmp/log" | grep -v '^$' >"$name.stacks"
	count=$(wc -l <"$name.stacks")
	ok "recorded $name: $count samples" test $status -eq 0 -a "$count" -gt 0 || diag "$(<"$tmp/log")"
}

# Most of the time of a short perf record is for the symbols of the kernel, which only its own
# recordings need. With 2, perf does not read them.
echo 2 >/proc/sys/kernel/kptr_restrict

# perf measures the duration of its interrupts. On a slow machine it would lower the sampling rate
# until hardly any samples are left, and the rate of an earlier test would persist.
echo 25 >/proc/sys/kernel/perf_cpu_time_max_percent
echo 200000 >/proc/sys/kernel/perf_event_max_sample_rate
echo 0 >/proc/sys/kernel/perf_cpu_time_max_percent
