#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# runner: guest seconds=100
# Truth test of two harts: the decoded instructions are exactly the executed ones. HTM and BTM of
# user and kernel, HTM with the firmware's M-mode, and a recording that must lose trace and be
# correct otherwise.
#
# Then tasks: threads that move between the harts, a child, its child and its exec, traced through perf beside others on the
# same harts. From each time that a task comes to a hart until it leaves, the decoded instructions are the executed ones; and
# each block belongs to the thread that the kernel was running, by its task pointer and by the function that only this
# thread executes (guest/truth_tasks.c).
set -uo pipefail
# shellcheck source=selftests/tools/truth_common.sh
. "$(dirname "$0")/truth_common.sh"

times=${TRUTH_ROUNDS:-1}
# A smaller sink is filled faster than the kernel drains it; 4 KiB of it are not used.
sink=$((32 << 10))
for mode in htm btm; do
	truth_job $mode "$times" 2 --mode $mode --sink-size $sink
done
truth_job plain "$times" 2 --encoder none --sink-size 64K
truth_job all 1 2 --privilege usm --sink-size 1M
truth_job loss 1 2 LOSSES --data-size 64K
guest_job tasks tools/truth_tasks.sh $((3 * times))
truth_boot two --icount

for name in htm btm; do
	recorded $name || continue
	ok "$name: 8 times as much trace as the sink's buffer, from each hart" drained $((sink / 2))
	ok "$name: the decoded instructions are all executed ones" truth_compare 2000000
	ok "$name: timer interrupts, system calls and page faults on both harts" truth_causes 2
	truth_figures
	truth_mutations $name 234567
done
# htm uses implicit return and repeated history, which plain does not.
if recorded plain; then
	ok "plain: the decoded instructions are all executed ones" truth_compare 1000000
	truth_figures
	is "$(sed -n 's/^params.*impret=\([0-9]\).*/\1/p' "$results/htm/data/params" "$data/params" | uniq | xargs)" "3 0" \
		"htm: the decoder is told of implicit return, plain: not"
	shorter=$(cat "$results"/htm/data/aux.* | wc -c) longer=$(cat "$data"/aux.* | wc -c)
	ok "features of the encoder: at most 60 % of the bytes ($shorter, $longer)" test $((shorter * 100)) -le $((longer * 60))
fi
if recorded all; then
	truth_firmware
	ok "with M-mode: the decoded instructions are the executed ones" truth_compare 1000000 "${with_firmware[@]}"
	truth_figures
	truth_mutations all 123456 "${with_firmware[@]}"
	fails "without the firmware's file M-mode is a gap, and the comparison detects it" 'NOT OK|DIFFERENCE' \
		"$compare" --log "$tmp/log" --section "$section" --sysroot "$sysroot" --priv usm "$data"
fi
if recorded loss; then
	ok "loss: some of the trace is reported as lost, and counted" test "$(awk '$1 == "lost" && $2 || $1 == "lost_exact" && $2' "$data/params" | wc -l)" -ge 2
	ok "loss: the decoded instructions were executed, and only reported trace is missing" truth_compare 20000 --losses
	truth_figures
	fails "loss: a comparison that allows none fails" 'NOT OK|DIFFERENCE' \
		"$compare" --log "$tmp/log" --section "$section" --sysroot "$sysroot" "$data"
	# Alter the log in the middle of the first hart's longest piece.
	read -r longest from < <(sed -n 's/.*the longest piece has \([0-9]*\) from \([0-9]*\) on$/\1 \2/p' "$tmp/compared")
	[ "${longest:-0}" -eq 0 ] || truth_mutations loss $((from + longest / 2)) --losses
fi

# tasks NAME MIN OPTION...
tasks() {
	"$compare" --log "$tmp/log" --tasks "$tmp/sections" --min "$2" --sysroot "$sysroot" "${@:3}" \
		"$results/tasks/$1.data" | tee "$tmp/$1.compare"
	return "${PIPESTATUS[0]}"
}
named() { tasks "$@" --names "$results/tasks/$1.out"; }
starts() { awk -v hart="hart $1:" 'index($0, hart) == 1 && /starts of the encoder/ { print $3 }' "$tmp/$2.compare"; }
# After the recordings of harts, which include that of this job.
first() { printf '0 %s\n1 %s\n' "$next_section" "$next_section" >"$tmp/sections"; }
if guest_ran tasks; then
	ok "harts: the decoded instructions are the executed ones, of the right threads" "$compare" --log "$tmp/log" --section "$next_section" \
		--names "$results/tasks/harts.out" --min "$truth_workers" --priv u --sysroot "$sysroot" "$results/tasks/harts.data"
	next_section=$((next_section + 1))
	first
	ok "user and kernel: the decoded instructions are the executed ones, of the right threads" named kernel 100000 --kernel-from images/
	# Some threads may not have executed their function at that moment.
	ok "strobing: the same, in each moment that the encoder was on" tasks strobe 25000 --kernel-from images/
	ok "strobing: it was on and off" test $(($(starts 0 strobe) + $(starts 1 strobe))) -gt 10
	ok "user: the decoded instructions are the executed ones, of the right threads" named user "$truth_workers" --priv u --last
	for name in kernel user; do
		for hart in 0 1; do
			ok "$name: hart $hart: $(starts $hart $name) times tasks came and went" test "$(starts $hart $name)" -gt $((3 * times))
		done
		is "$(awk '/threads, / { print ($1 >= 6), $3 }' "$tmp/$name.compare")" "1 6" "$name: all threads, and six in functions of their own"
	done
	# The comparison detects a wrong instruction and a wrong thread.
	for kind in alter drop add; do
		first
		fails "tasks: one falsified instruction in the log: $kind" DIFFERENCE tasks kernel 0 --mutate $kind@54321
	done
	first
	awk '{ tid[NR] = $1; name[NR] = $2 } END { for (i = 1; i <= NR; i++) print tid[i % NR + 1], name[i] }' \
		"$results/tasks/kernel.out" >"$tmp/names"
	cp "$tmp/names" "$results/tasks/kernel.out"
	fails "threads with each other's names" "another worker's" named kernel 0
fi
done_testing
