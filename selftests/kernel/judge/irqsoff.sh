# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck disable=SC2154 # $top, $tmp and $results are those of guest.sh
# judge_irqsoff LIMIT: while files are traced, the driver keeps interrupts off for 200 us at most, and for LIMIT us when a task of perf is
# descheduled that has made 400 bytes per microsecond, if the memory of the sink delivers 100 MB/s. Time is virtual, 1 ns for each
# instruction of any hart. The memory of the virtual SoC costs no more than the instructions that read it: 10 ns are added for each byte read.
judge_irqsoff() {
	local limit what most
	for what in files fork drain turns; do
		limit=200
		[ "$what" = files ] || limit=$1
		most=$(python3 - "$results/irqsoff/$what.stays" <<'END'
import re, sys
most, where, bytes_read = 0, "", {}
for line in open(sys.argv[1], errors="replace"):
    match = re.match(r"\s*(\d+)\)(.*?)\|(.*)", line)
    if not match:
        continue
    cpu, time, text = match.groups()
    if drain := re.search(r"ntrace_drain: .* bytes=(\d+) copies=(\d+)", text):
        bytes_read[cpu] = bytes_read.get(cpu, 0) + int(drain[1]) * int(drain[2])
        continue
    if duration := re.search(r"([\d.]+) us", time):
        total = float(duration[1]) + bytes_read.get(cpu, 0) * 0.01
        if total > most:
            most, where = total, f"{float(duration[1]):.0f} us and {bytes_read.get(cpu, 0)} bytes in {text.strip()}"
    bytes_read[cpu] = 0
print(round(most), where)
END
		)
		ok "irqsoff, $what: interrupts are off for ${most%% *} us, at most $limit" test "${most%% *}" -gt 0 -a "${most%% *}" -le "$limit"
		diag "irqsoff, $what: ${most#* }"
	done
}
