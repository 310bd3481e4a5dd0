# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck disable=SC2154 # $top, $tmp and $results are those of guest.sh
# Files and events of perf are traced, and the driver keeps interrupts off for 200 us at most. The memory of the virtual SoC costs no
# more than the instructions that read it: a module adds the time in which 100 MB/s deliver what the drain reads.
irqsoff_limit=200
irqsoff_module=build/selftests/modules/slow_memory/slow_memory.ko

# irqsoff_job: queues the job; the boot needs "${irqsoff_options[@]}". On other kernels memory is fast.
irqsoff_job() {
	# shellcheck disable=SC2034 # used by the caller
	irqsoff_options=()
	[ -z "${NTRACE_KERNEL:-}" ] || { guest_job irqsoff kernel/irqsoff.sh; return; }
	ok "the module that slows memory down is built" tools/setup/kbuild selftests build/selftests/modules
	guest_job irqsoff kernel/irqsoff.sh "/root/${irqsoff_module##*/}"
	# shellcheck disable=SC2034
	irqsoff_options=(--put "$irqsoff_module:/root/${irqsoff_module##*/}")
}

# judge_irqsoff WHAT. Time is virtual, 1 ns for each instruction of any hart, and the two harts take turns of 20,000 instructions at most:
# if the other hart was not idle during a stay, this one has executed about half of it. The time that its memory takes counts whole.
# Slices of less than 1 KiB are not recorded.
judge_irqsoff() {
	local name what most
	for name in "$results"/irqsoff/*.stays; do
		what="$1, $(basename "$name" .stays)"
		most=$(python3 - "$name" <<'END'
import re, sys
most, where, drains, busy_since = 0, "", [], {}
for line in open(sys.argv[1], errors="replace"):
    match = re.match(r"\s*(\d+\.\d+) \|\s*(\d+)\)(.*?)\|(.*)", line)
    if not match:
        continue
    end, cpu, time, text = float(match[1]) * 1e6, match[2], match[3], match[4]
    if switch := re.search(r"sched_switch: .* next_pid=(\d+)", text):
        busy_since[cpu] = busy_since.get(cpu) or end if switch[1] != "0" else None
    elif drain := re.search(r"ntrace_drain: .* bytes=(\d+) copies=(\d+)", text):
        drains = drains[-99:] + [(cpu, end, int(drain[1]) * int(drain[2]))]
    elif duration := re.search(r"([\d.]+) us", time):
        begin = end - float(duration[1])
        read = sum(size for where_read, when, size in drains if where_read == cpu and begin - 1 <= when <= end)
        spent, busy = float(duration[1]), busy_since.get("1" if cpu == "0" else "0")
        waited = read * 0.01
        if busy and busy < begin:
            spent = min(spent, waited + (spent - waited + 20) / 2)
        if spent > most:
            most, where = spent, f"{spent:.0f} of {float(duration[1]):.0f} us, with {read} bytes, in {text.strip()}"
print(round(most), where)
END
		)
		ok "irqsoff, $what: interrupts are off for ${most%% *} us, at most $irqsoff_limit" test "${most%% *}" -gt 0 -a "${most%% *}" -le $irqsoff_limit
		diag "irqsoff, $what: ${most#* }"
	done
}
