#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# runner: guest seconds=40
# RAM sinks as other hardware has them. Start, Limit and WP take any multiple of 4, whatever the width of a write, and the
# sink runs on through foreign memory unless it hits Limit exactly; or a write of WP does not clear Wrap; or both. Buffers
# that wrap are drained without loss, and the trace is exactly that of the witness. tools/vsoc/run fails if a sink
# has written a byte outside its buffer.
set -uo pipefail
# shellcheck source=selftests/tools/truth_common.sh
. "$(dirname "$0")/../tools/truth_common.sh"
# shellcheck source=selftests/kernel/judge/perf.sh
. selftests/kernel/judge/perf.sh
# With this property, the device tree states the width of the last sink.
property=riscv,write-bytes
widths=(4096 64 4 64)
size=65536

truth_job first 1 4 --sink-size $size
truth_job again 1 4 --sink-size $size --mode btm
guest_job width kernel/whole.sh width $property "${widths[@]}"
# Sink 1 hides its width, sink 2 keeps Wrap until Active = 0, and the others do both, with Wrap until power-up.
truth_boot width --icount --smp 4 --append iomem=relaxed \
	--global "ntrace-ram-sink.granule=${widths[0]}@0+${widths[1]}@1+${widths[2]}@2+${widths[3]}@3" \
	--global ntrace-ram-sink.granule-hidden=on@0+on@1+on@3 --global ntrace-ram-sink.wrap-cleared-by=power-up@0+active@2+power-up@3 \
	--global "ntrace-ram-sink.granule-property=$property@3"
for name in first again; do
	recorded $name || continue
	ok "$name: each sink has wrapped several times" drained $((size / 4))
	ok "$name: the decoded instructions are all executed ones" truth_compare 300000
	truth_figures
done
if guest_ran width; then
	steps_of "$results/width/drain" perf
	is "$(awk '$3' "$results/width/drain/flags" | head -n 3)" "" "perf: no record is truncated or partial"
fi
done_testing
