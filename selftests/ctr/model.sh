#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# runner: guest seconds=40
# The driver runs on harts that are compared with the library's model at every access to their registers. The model sees each
# executed transfer, which makes the harts slow: they have a boot of their own.
# shellcheck source=selftests/guest.sh
. "$(dirname "$0")/../guest.sh"

# judge FILE HARTS: evaluates the output of the model
judge() {
	local words i entries=0 popped=0 froze=0
	local -A counts
	sed -n 's/^ctr-check hart [0-9]* \(transfers .*\)/\1/p' "$1" >"$tmp/counts"
	is "$(wc -l <"$tmp/counts")" "$2" "all harts are checked"
	while read -ra words; do
		counts=()
		for ((i = 0; i < ${#words[@]}; i += 2)); do counts[${words[i]}]=${words[i + 1]}; done
		is "${counts[differences]}" 0 "no difference in ${counts[comparisons]} comparisons" ||
			diag "$(head -n 6 "$1")"
		entries=$((entries + counts[entries]))
		popped=$((popped + counts[popped]))
		froze=$((froze + counts[froze]))
	done <"$tmp/counts"
	ok "$entries entries compared" test $entries -ge 1000
	ok "$popped calls popped, $froze times frozen" test $popped -ge 10 -a $froze -ge 1
}

guest_job model ctr/model.sh
guest_boot model --smp 2 --icount --ctr-check "$tmp/check" --module build/kernel/ctr/riscv_ctr.ko
guest_ran model && judge "$tmp/check" 2
done_testing
