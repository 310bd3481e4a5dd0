#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# runner: guest seconds=20
# The device tree of each wiring: dtc's check of the graph, and the neighbours
# of each block.
# shellcheck source=selftests/tap.sh
. "$(dirname "$0")/../tap.sh"
qemu=$("$top/tools/vsoc/qemu/build" --path)

# tree NAME HARTS: writes $tmp/tree.dtb, and dtc's complaints to $tmp/said
tree() {
	"$qemu" -M "virt,ntrace=on,ntrace-topology=$1,dumpdtb=$tmp/tree.dtb" -smp "$2" -bios none -display none >"$tmp/qemu" 2>&1 &&
		dtc -q -q -I dtb -O dts -o "$tmp/tree.dts" "$tmp/tree.dtb" 2>"$tmp/said" &&
		dtc -I dts -O dtb -o /dev/null "$tmp/tree.dts" 2>&1 | grep graph_ >>"$tmp/said"
	[ -s "$tmp/tree.dtb" ]
}

# Prints a line for each output of a component below /soc: the component, and the one at the other end.
edges() {
	dtc -q -q -I dtb -O dts "$tmp/tree.dtb" | awk '
		/ {$/ { node[++depth] = $(NF - 1) }
		/};$/ { depth-- }
		/phandle = / { component[$3] = node[3] }
		/remote-endpoint = / && node[4] == "out-ports" { from[++count] = node[3]; to[count] = $3 }
		END { for (i = 1; i <= count; i++) print from[i], component[to[i]] }' | sed 's/trace-//g' | sort
}

check() {
	local name=$1 harts=$2 expected=$3
	tree "$name" "$harts" || { not_ok "$name: a device tree"; diag "$(cat "$tmp/qemu" "$tmp/said")"; return; }
	is "$(cat "$tmp/said")" '' "$name: dtc finds nothing wrong with the graph"
	is "$(edges)" "$expected" "$name with $harts harts is wired as drawn"
}

check direct 2 'encoder@6000000 ram-sink@6040000
encoder@6001000 ram-sink@6041000'
check funnel 3 'encoder@6000000 funnel@6080000
encoder@6001000 funnel@6080000
encoder@6002000 funnel@6080000
funnel@6080000 ram-sink@6040000'
is "$(fdtget "$tmp/tree.dtb" /soc/trace-funnel@6080000/in-ports/port@2 reg)" 2 "ports of a funnel are numbered"
is "$(fdtget "$tmp/tree.dtb" /soc/trace-funnel@6080000 compatible)" "qemu,trace-component riscv,trace-component" \
	"a funnel is compatible as the other blocks are"
check chain 4 'encoder@6000000 funnel@6081000
encoder@6001000 funnel@6081000
encoder@6002000 funnel@6082000
encoder@6003000 funnel@6082000
funnel@6080000 ram-sink@6040000
funnel@6081000 funnel@6080000
funnel@6082000 funnel@6080000'
check pairs 4 'encoder@6000000 funnel@6080000
encoder@6001000 funnel@6080000
encoder@6002000 funnel@6081000
encoder@6003000 funnel@6081000
funnel@6080000 ram-sink@6040000
funnel@6081000 ram-sink@6041000'
check forks 4 'encoder@6000000 funnel@6080000
encoder@6001000 funnel@6080000
encoder@6001000 funnel@6082000
encoder@6002000 funnel@6081000
encoder@6003000 funnel@6081000
encoder@6003000 funnel@6083000
funnel@6080000 ram-sink@6040000
funnel@6081000 ram-sink@6041000
funnel@6082000 ram-sink@6042000
funnel@6083000 ram-sink@6043000'
check split 2 'encoder@6000000 funnel@6080000
encoder@6000000 funnel@6081000
encoder@6001000 funnel@6080000
encoder@6001000 funnel@6081000
funnel@6080000 ram-sink@6040000
funnel@6081000 ram-sink@6041000'
check pib 2 'encoder@6000000 funnel@6080000
encoder@6001000 funnel@6080000
funnel@6080000 pib-sink@60c0000'
check atb 2 'encoder@6000000 funnel@6080000
encoder@6001000 funnel@6080000
funnel@6080000 atb-bridge@60c1000'
check p550 4 'encoder@6000000 funnel@6080000
encoder@6001000 funnel@6080000
encoder@6002000 funnel@6080000
encoder@6003000 funnel@6080000'
is "$(fdtget "$tmp/tree.dtb" /soc/trace-encoder@6000000 compatible) $(fdtget "$tmp/tree.dtb" /soc/trace-funnel@6080000 compatible)" \
	"sifive,trace-encoder0 sifive,trace-funnel0" "a P550 has blocks of version 0"
check k3 6 'atb-bridge@60c1000 funnel@6080000
atb-bridge@60c2000 funnel@6080000
atb-bridge@60c3000 funnel@6080000
atb-bridge@60c4000 funnel@6080000
atb-bridge@60c5000 funnel@6081000
atb-bridge@60c6000 funnel@6081000
encoder@6000000 atb-bridge@60c1000
encoder@6001000 atb-bridge@60c2000
encoder@6002000 atb-bridge@60c3000
encoder@6003000 atb-bridge@60c4000
encoder@6004000 atb-bridge@60c5000
encoder@6005000 atb-bridge@60c6000
etf@6101000 etr@6102000
funnel@6080000 funnel@6100000
funnel@6081000 funnel@6100000
funnel@6100000 etf@6101000'
is "$(for node in trace-encoder@6005000 trace-atb-bridge@60c6000 trace-funnel@6081000 funnel@6100000 etf@6101000 etr@6102000; do
	fdtget "$tmp/tree.dtb" "/soc/$node" compatible; done)" 'riscv,trace-encoder
riscv,trace-atbbridge
riscv,trace-funnel
arm,coresight-dynamic-funnel arm,primecell
arm,coresight-tmc arm,primecell
arm,coresight-tmc arm,primecell' "a K3 has the vendor's compatibles"
is "$(fdtget "$tmp/tree.dtb" /soc/trace-atb-bridge@60c6000 cpus)" "$(fdtget "$tmp/tree.dtb" /cpus/cpu@5 phandle)" \
	"its bridges name their harts"
is "$(fdtget -p "$tmp/tree.dtb" /soc/etr@6102000 | sort | tr '\n' ' ')" "arm,scatter-gather clock-names clocks compatible reg " \
	"its ETR has a clock and scatter-gather"
fails "four clusters of harts" "too many harts" "$qemu" -M virt,ntrace=on,ntrace-topology=k3 -smp 17 -bios none -display none
fails "version 0 is not a K3" "only the topologies direct and p550" "$qemu" -M virt,ntrace=v0,ntrace-topology=k3 -bios none -display none
"$qemu" -M "virt,ntrace=on,dumpdtb=$tmp/tree.dtb" -smp 2 -bios none -display none -global ntrace-encoder.managed=on 2>/dev/null
clock=$(fdtget "$tmp/tree.dtb" /trace-clock phandle) reset=$(fdtget "$tmp/tree.dtb" /soc/trace-reset@60f0000 phandle)
is "$(fdtget "$tmp/tree.dtb" /soc/trace-encoder@6001000 clocks) $(fdtget "$tmp/tree.dtb" /soc/trace-encoder@6001000 resets)" \
	"$clock $reset 1" "managed encoders have a clock and a reset"
"$qemu" -M "virt,ntrace=on,dumpdtb=$tmp/tree.dtb" -smp 2 -bios none -display none -global ntrace-ram-sink.granule=64+4096@1 \
	-global ntrace-ram-sink.granule-property=riscv,write-bytes@1 2>/dev/null
is "$(fdtget -d none "$tmp/tree.dtb" /soc/trace-ram-sink@6040000 riscv,write-bytes) $(fdtget "$tmp/tree.dtb" \
	/soc/trace-ram-sink@6041000 riscv,write-bytes)" "none 4096" "one of two sinks states its width"
for choice in granule=8192 granule=12 granule=many granule-hidden=perhaps wrap-cleared-by=nothing; do
	fails "no sink has $choice" "granule must be a power of two in 4..4096|granule-hidden.* 'on' or 'off'|wp, active or power-up" \
		"$qemu" -M virt,ntrace=on -bios none -display none -global "ntrace-ram-sink.$choice"
done
fails "a hidden width and a size that shows it" "power-of-two" "$qemu" -M virt,ntrace=on -bios none -display none \
	-global ntrace-ram-sink.granule-hidden=on -global ntrace-ram-sink.power-of-two=on
fails "too many harts for two bits of SRC" "too many harts" "$qemu" -M virt,ntrace=on,ntrace-topology=p550 -smp 5 -bios none -display none
fails "version 0 has no such wiring" "only the topologies direct and p550" "$qemu" -M virt,ntrace=v0,ntrace-topology=chain -bios none -display none
fails "too many harts for a funnel" "too many harts" "$qemu" -M virt,ntrace=on,ntrace-topology=funnel -smp 9 -bios none -display none
fails "no such wiring" "direct, funnel, chain, pairs, forks, split, pib, atb, p550 and k3" "$qemu" -M virt,ntrace=on,ntrace-topology=none -bios none -display none

# Overlays for boards: without complaints of dtc, except that a fragment repeats the cells of its target; and they fit a
# tree with the labels and cells that they name.
dtc -@ -q -I dts -O dtb -o "$tmp/base.dtb" "$top/selftests/vsoc/board.dts"
overlay() {
	cpp -nostdinc -undef -P -x assembler-with-cpp "kernel/dts/$1" >"$tmp/overlay.dts"
	is "$(dtc -@ -I dts -O dtb -o "$tmp/overlay.dtbo" -W no-avoid_unnecessary_addr_size "$tmp/overlay.dts" 2>&1)" "" "$1: dtc finds nothing wrong"
	ok "$1: applies" fdtoverlay -i "$tmp/base.dtb" -o "$tmp/tree.dtb" "$tmp/overlay.dtbo"
	is "$(dtc -q -q -I dtb -O dts "$tmp/tree.dtb" | dtc -I dts -O dtb -o /dev/null 2>&1 | grep graph_)" "" "$1: nor with the graph"
	is "$(edges)" "$2" "$1: wired as on the board"
}
is "$(cd kernel/dts && echo *.dtso)" "k3-trace.dtso p550-trace.dtso" "these are the overlays"
overlay p550-trace.dtso 'encoder@100000 funnel@18000
encoder@101000 funnel@18000
encoder@102000 funnel@18000
encoder@103000 funnel@18000'
# Address of a page of hart $1, whose encoder is at offset 0x2000 of its cluster.
k3() {
	local cluster=$(($1 / 4)) index=$(($1 % 4))
	printf %x $((0xd9000000 + cluster * 0x10000 + index * 0x2000 + $2))
}
k3_edges() {
	local n
	for n in {0..15}; do
		echo "encoder@$(k3 "$n" 0x2000) atb-bridge@$(k3 "$n" 0x3000)"
		echo "atb-bridge@$(k3 "$n" 0x3000) funnel@$(k3 $((n / 4 * 4)) 0)"
	done
	for n in 0 4 8 12; do echo "funnel@$(k3 "$n" 0) funnel@d9042000"; done
	echo 'funnel@d9042000 etf@d9043000'
	echo 'etf@d9043000 etr@d9044000'
}
overlay k3-trace.dtso "$(k3_edges | sort)"
# The numbers of the harts that components name.
named() { for n in {0..15}; do fdtget "$tmp/tree.dtb" "/soc/$1@$(k3 "$n" "$2")" cpus; done; }
phandles() { for n in {0..15}; do fdtget "$tmp/tree.dtb" "/cpus/cpu@$(printf %x "$n")" phandle; done; }
is "$(named trace-encoder 0x2000)" "$(phandles)" "k3-trace.dtso: encoder n is that of hart n"
is "$(named trace-atb-bridge 0x3000)" "$(phandles)" "k3-trace.dtso: and so is bridge n"

done_testing
