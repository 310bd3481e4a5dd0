#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# runner: guest seconds=20
# Trace blocks that run when the driver is loaded: it stops them, encoders first, and they work
# afterwards. A reboot while two harts are traced: no block runs when the machine is reset. The
# virtual SoC logs the values written to control registers, and their final values. In addition,
# sinks reach all of 5 GiB.
# shellcheck source=selftests/guest.sh
. "$(dirname "$0")/../guest.sh"
guest_job active kernel/active.sh
guest_job memory kernel/memory.sh high
guest_job reboot kernel/reboot.sh
guest_boot reboot --icount --modules --mem 5G --append iomem=relaxed \
	--global ntrace-encoder.active-at-reset=on --global ntrace-ram-sink.active-at-reset=on \
	--global "ntrace-encoder.log=$tmp/log" --global "ntrace-ram-sink.log=$tmp/log"
before=$tap_failures

# Prints the successive states of a component; E: enabled.
states() { awk -v name="$1" '$1 == name { printf "%s", $3 ~ /[2367abef]$/ ? "E" : "." }' "$tmp/log"; }
if guest_ran active; then
	for hart in 0 1; do
		order=$(awk -v hart=$hart '$2 == "control" && !off[$1] && $3 !~ /[2367abef]$/ { off[$1] = NR }
			END { e = off["encoder" hart]; s = off["ram-sink" hart]; print (e && s && e < s ? "yes" : "no") }' "$tmp/log")
		is "$order" yes "active, hart $hart: the encoder was stopped before its sink"
	done
fi
if guest_ran reboot; then
	for hart in 0 1; do
		for name in encoder$hart ram-sink$hart; do
			like "reboot: $name was enabled, and is disabled at the end" 'E.*\.$' "$(states "$name")"
		done
		# Prints when each component last went from enabled to disabled.
		order=$(awk -v hart=$hart '
			$2 == "control" || $2 == "reset" {
				now = $3 ~ /[2367abef]$/
				if (was[$1] && !now && $2 == "control") off[$1] = NR
				was[$1] = now
			}
			END { e = off["encoder" hart]; s = off["ram-sink" hart]; print (e && s && e < s ? "yes" : "no") }' "$tmp/log")
		is "$order" yes "reboot, hart $hart: the encoder was stopped before its sink"
	done
fi
[ "$tap_failures" -eq "$before" ] || diag "$(head -n 30 "$tmp/log"; echo ...; tail -n 30 "$tmp/log")"
done_testing
