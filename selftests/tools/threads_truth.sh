#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# runner: guest seconds=120
# What ntrace tells of threads, compared with the witness: who called whom how often, instructions of functions and of all
# they called, whole stacks and times, for threads and processes that change their CPUs while deep in calls. One recording
# of four harts and one of the tasks, in one boot with -icount; the programs are host/threads_hop.cc and random ones.
#   THREADS=N           number of random programs (3)
#   THREADS_SEED=N      number of the first one (1)
#   THREADS_WITHOUT=LIST  kinds of control flow that the random programs do not have (see host/random_threads.py)
#   THREADS_KEEP=DIR    keeps recordings, logs and programs there
#   THREADS_FROM=DIR    compares these instead of booting a guest
#   THREADS_JOBS=LIST   -j of the commands that decode ("1,2,7")
#   THREADS_FUNCTIONS=N  functions of which report is asked for callers, each a run (7); the exports have all edges
set -uo pipefail
# shellcheck source=selftests/tools/truth_common.sh
. "$(dirname "$0")/truth_common.sh"
seed=${THREADS_SEED:-1} count=${THREADS:-3} from=${THREADS_FROM:-}

# Every second program is linked dynamically, and every second pair keeps calls at the end of a function.
build_programs() {
	local i flags compiler
	mkdir -p "$from/programs"
	riscv64-linux-gnu-gcc -O2 -static selftests/tools/host/threads_mark.c -o "$from/mark" || return
	riscv64-linux-gnu-g++ -std=c++17 -O2 -static -pthread selftests/tools/host/threads_hop.cc -o "$from/programs/hop" || return
	riscv64-linux-gnu-g++ -std=c++17 -O2 -fno-optimize-sibling-calls -static -pthread selftests/tools/host/threads_hop.cc \
		-o "$from/programs/hop_calls" || return
	for ((i = 0; i < count; i++)); do
		selftests/tools/host/random_threads.py $((seed + i)) --without "${THREADS_WITHOUT:-}" >"$from/random_$i.c" || return
		compiler=(riscv64-linux-gnu-gcc -static) flags=()
		[ $((i % 2)) = 0 ] || compiler=(build/riscv64/cc)
		[ $((i / 2 % 2)) = 0 ] || flags=(-fno-optimize-sibling-calls)
		"${compiler[@]}" -O2 -pthread "${flags[@]}" "$from/random_$i.c" -o "$from/programs/random_$i" || return
	done
}

if [ -z "$from" ]; then
	from=${THREADS_KEEP:-$tmp/kept}
	mkdir -p "$from"
	ok "programs from $seed on" build_programs || done_testing
	members=$(selftests/oracle/task_members.py "$(tools/vsoc/run --print-kernel)")
	guest_job system tools/threads_record.sh --sink-size 4M --data-size 64M
	guest_job task tools/threads_record.sh --task
	guest_boot direct --tools --modules --icount --smp 4 --plugin "$top/build/plugin/exec_log.so,out=$from/log,$members" \
		--put "$from/mark:/root/mark" --put "$from/programs:/root/threads"
	like "the log is valid" '^hart 3: .* 0 odd' "$(tail -n 1 "$from/log.messages")"
	for name in system task; do
		guest_ran $name && mv "$results/$name" "$from/"
	done
fi
# shellcheck disable=SC2119 # no programs besides those of the tests
make_sysroot
mkdir -p "$sysroot/root/threads"
cp "$from/mark" "$sysroot/root/"
cp "$from"/programs/* "$sysroot/root/threads/"

# compare NAME OPTION...
compare() {
	selftests/oracle/threads_compare.py --log "$from/log" --section $section --root "$sysroot" --clock "$from/$1/clock" \
		--program "$(cd "$from/programs" && echo * | tr ' ' ',')" --fibers fiber_run \
		--functions "${THREADS_FUNCTIONS:-7}" "${@:2}" "$from/$1/data"
}

section=0
for name in system task; do
	[ -d "$from/$name" ] || continue
	relay "$name" compare "$name" --counts "$from/$name/counts" --jobs "${THREADS_JOBS:-1,2,7}"
	relay "$name: time" selftests/tools/host/time_parts.py "$from/$name/data" --sysroot "$sysroot"
	# Not every return: after a function without its own frame, the next return compensates.
	for forget in 5000 5001 5002 5003 5004 5005 ''; do
		[ -z "$forget" ] || compare "$name" --outputs witness --forget "$forget" >"$tmp/forgotten" || break
	done
	like "$name: a return that is forgotten would show" "witness: stacks: [0-9]+ differ" "$(<"$tmp/forgotten")"
	section=$((section + 1))
done
done_testing
