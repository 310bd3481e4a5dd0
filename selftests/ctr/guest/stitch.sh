#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A ring of 32 entries, and call stacks of 100 frames: perf joins the stacks of several samples by the position of
# their newest entry in the ring.
# shellcheck source=selftests/ctr/guest/common.sh
. "$(dirname "$0")/common.sh"

# stacks OPTION...: prints the number of stacks that fill the ring, and of those that reach main
stacks() {
	perf script -i "$tmp/p.data" --comm descend -F ip,sym "$@" 2>"$tmp/log" |
		awk -v RS= 'NF > 60 { full++; rooted += / main/ } END { print full + 0, rooted + 0 }'
}
# stitches EVENT: the recording has samples in all depths, so that the stacks of two overlap.
stitches() {
	local full rooted
	"${perf_record[@]}" -o "$tmp/p.data" -c 10007 -e "$1" --call-graph lbr -- taskset -c 0 "$here/descend" 20 2>"$tmp/log"
	read -r full rooted < <(stacks)
	ok "$1: $full stacks fill the ring, $rooted reach main" test "$full" -ge 100 -a "$rooted" -le $((full / 10))
	read -r full rooted < <(stacks --stitch-lbr)
	ok "$1: --stitch-lbr: $full stacks" test "$full" -ge 100
	is "$rooted" "$full" "$1: --stitch-lbr: all reach main" || diag "$(<"$tmp/log")"
}
ok "insmod hook=1" load hook=1
is "$(<$pmu/caps/branches)" 32 "a ring of 32 entries"
stitches ctr/by-cycles/u
stitches cycles:u
done_testing
