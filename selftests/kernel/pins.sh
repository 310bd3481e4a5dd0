#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# runner: guest seconds=40
# Sinks without memory, a PIB sink and an ATB bridge: their output, the order in which blocks are switched, and refused
# calls.
# shellcheck source=selftests/guest.sh
. "$(dirname "$0")/../guest.sh"
for kind in pib atb; do
	block=ntrace-$([ $kind = pib ] && echo pib-sink || echo atb-bridge)
	guest_job $kind kernel/pins.sh $kind
	guest_boot $kind --icount --modules --append iomem=relaxed --topology $kind \
		--global "$block.output=$tmp/$kind.bytes" --global "$block.log=$tmp/$kind.log" \
		--global "ntrace-funnel.log=$tmp/$kind.log" --global "ntrace-encoder.log=$tmp/$kind.log"
	guest_ran $kind || continue
	# In the first capture, bit 1 of a control register is Enable.
	is "$(awk '$2 == "control" { name = $1; sub(/[0-9]+$/, "", name); on = index("2367abef", substr($3, 10)) > 0
		if (on != was[name]) { if (on || was[name]) printf "%s%s ", on ? "+" : "-", name; if (!on && ++offs == 3) exit }
		was[name] = on }' "$tmp/$kind.log")" \
		"+${block#ntrace-} +funnel +encoder -encoder -funnel -${block#ntrace-} " \
		"$kind: enabled from the sink to the encoder, disabled the other way"
	# Decode the output without knowledge of the driver: targets of indirect jumps, until the
	# capture ends.
	read -r address src bits <"$results/$kind/step"
	is "$(PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=selftests/oracle python3 -c 'import sys
from second_decoder import messages
path, size, address, src, bits = sys.argv[1], *(int(text, 0) for text in sys.argv[2:])
data = open(path, "rb").read()[:size]
reference, steps, names, sources = 0, 0, [], set()
for message in messages(data, bits):
    names.append(message["name"])
    sources.add(message["SRC"])
    if "FADDR" in message:
        reference = message["FADDR"] << 1
    elif "UADDR" in message:
        reference ^= message["UADDR"] << 1
    steps += names[-1].startswith("Indirect") and reference == address
print(names[0], names[-1], sources == {src}, steps)' "$tmp/$kind.bytes" "$(awk '$2 == "bytes" { print $3; exit }' "$tmp/$kind.log")" \
		"$address" "$src" "$bits")" "ProgTraceSync Correlation True 1000" "$kind: each step came out at the other end"
done
done_testing
