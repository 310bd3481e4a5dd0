#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# The driver at work on a hart that is held against the library's model at every
# access to its registers.
# shellcheck source=selftests/tap.sh
. "$(dirname "$0")/../tap.sh"
cd "$top" || exit 1

# checked HARTS PERIOD ROUNDS ARGUMENT...: the guest, and what its harts say
checked() {
	local harts=$1 period=$2 rounds=$3 status=0 i words
	local entries=0 popped=0 froze=0
	local -A counts
	shift 3
	tools/vsoc/run --quiet --smp "$harts" --check-dmesg --ctr-check "$tmp/log.$harts" "$@" \
		--module build/kernel/ctr/riscv_ctr.ko --put build/riscv64/selftests/ctr:/root/ctr \
		--put selftests/tap.sh:/root/tap.sh --put selftests/ctr/guest/common.sh:/root/ctr/common.sh \
		--put selftests/ctr/guest/model.sh:/root/ctr/model.sh -- bash /root/ctr/model.sh "$period" "$rounds" \
		>"$tmp/guest" 2>&1 || status=$?
	is "$status" 0 "$harts: the guest records" || diag "$(cat "$tmp/guest")"
	sed -n 's/^ctr-check hart [0-9]* \(transfers .*\)/\1/p' "$tmp/log.$harts" >"$tmp/counts"
	is "$(wc -l <"$tmp/counts")" "$harts" "$harts: all harts are checked"
	while read -ra words; do
		counts=()
		for ((i = 0; i < ${#words[@]}; i += 2)); do counts[${words[i]}]=${words[i + 1]}; done
		is "${counts[differences]}" 0 "$harts: no difference in ${counts[comparisons]} comparisons" ||
			diag "$(head -n 6 "$tmp/log.$harts")"
		entries=$((entries + counts[entries]))
		popped=$((popped + counts[popped]))
		froze=$((froze + counts[froze]))
	done <"$tmp/counts"
	ok "$harts: $entries entries compared" test $entries -ge 1000
	ok "$harts: $popped calls popped, $froze times frozen" test $popped -ge 10 -a $froze -ge 1
}
checked 1 50021 1500 --icount
checked 2 2000003 2000
done_testing
