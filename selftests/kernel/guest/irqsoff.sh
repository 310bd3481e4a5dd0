#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Records stays in the driver with interrupts off, and the bytes that the drain reads meanwhile, while
# files and events of perf trace two harts. Stays of less than 12 us are left out.
# Argument: a module that makes the memory of sinks slow
# shellcheck source=selftests/kernel/guest/common.sh
. "$(dirname "$0")/common.sh"
[ $# -eq 0 ] || ok "memory is slow" insmod "$1"
type=$(<$pmu/type)
tracing=/sys/kernel/tracing
[ -e $tracing/trace ] || mount -t tracefs nodev $tracing
[ -e $tracing/set_graph_function ] || skip_all "the kernel has no tracer function_graph"

# Where the driver is entered with interrupts off, or switches them off itself. The filter takes numbers of lines of this list;
# for a name, the kernel would compare the names of all its functions.
grep -noE '^ntrace_(drain_(timer|slice)|turn_leave|perf_(timer|strobe)|event_(add|del|start|stop|read))( |$)' \
	$tracing/available_filter_functions >functions
cut -d : -f 1 functions | xargs -n 1 >$tracing/set_ftrace_filter
is "$(sed 's/ .*//' $tracing/set_ftrace_filter)" "$(sed 's/.*://; s/ //' functions)" "the functions of the driver are traced"
ok "there are at least nine" test "$(wc -l <functions)" -ge 9
echo 1 >$tracing/max_graph_depth
for option in funcgraph-tail funcgraph-abstime; do
	echo 1 >$tracing/options/$option
done
echo 20000 >$tracing/buffer_size_kb
echo "bytes >= 1024" >$tracing/events/ntrace/ntrace_drain/filter
events=("$tracing"/events/{ntrace/ntrace_drain,sched/sched_switch}/enable)
for event in "${events[@]}"; do
	echo 1 >"$event"
done
echo 12 >$tracing/tracing_thresh
echo function_graph >$tracing/current_tracer

# stays WHAT COMMAND...: leaves the records of COMMAND in WHAT.stays
stays() {
	local what=$1
	shift
	echo >$tracing/trace
	echo 1 >$tracing/tracing_on
	"$@" >"$tmp/output" 2>&1 || not_ok "$what: $(tail -n 3 "$tmp/output")"
	echo 0 >$tracing/tracing_on
	cat $tracing/trace >"$what.stays"
	ok "$what: the driver was entered" grep -q 'us ' "$what.stays"
	diag "$what: $(wc -l <"$what.stays") records"
}
load() {
	local cpu loads=()
	for cpu in 0 1; do
		# shellcheck disable=SC2016 # expanded by the other shell
		taskset -c "$cpu" bash -c 'for ((i = 0; i < 100; i++)); do x=${x:-}$((i % 10)); x=${x: -20}; done' &
		loads+=("$!")
	done
	wait "${loads[@]}"
}
files() {
	hold /dev/ntrace0
	exec 6<&"${HOLD[0]}" 7>&"${HOLD[1]}"
	local first=$HOLD_PID
	hold /dev/ntrace1 2>/dev/null
	load
	ask stop
	let_go
	kill "$first"
}
perf_test() {
	mkdir "perf_$1"
	"$here/perf" trace "$type" "perf_$1" "$1"
}
stays files files
tests=(fork drain turns)
# Encoders of version 0 cannot exclude the kernel, as most of these events do.
[ -z "$version0" ] || tests=(drain)
for test in "${tests[@]}"; do
	stays "$test" perf_test "$test"
	rm -r "perf_$test"
done
echo nop >$tracing/current_tracer
echo 0 >$tracing/tracing_thresh
echo 0 >$tracing/events/ntrace/ntrace_drain/filter
for event in "${events[@]}"; do
	echo 0 >"$event"
done
echo >$tracing/set_ftrace_filter
# Later jobs of the boot use the kernel's tracer, too.
for option in funcgraph-tail funcgraph-abstime; do
	echo 0 >$tracing/options/$option
done
echo 0 >$tracing/max_graph_depth
echo >$tracing/trace
echo 1 >$tracing/tracing_on
[ $# -eq 0 ] || ok "memory is fast again" rmmod "$(basename "$1" .ko)"
done_testing
