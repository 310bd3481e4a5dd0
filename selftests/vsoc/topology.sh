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

# Prints the path of the component at the other end of an endpoint, by its
# phandle.
component_of() {
	local node
	for node in $(all_nodes); do
		if [ "$(fdtget "$tmp/tree.dtb" "$node" phandle 2>/dev/null)" = "$1" ]; then
			cut -d/ -f3 <<<"$node"
			return
		fi
	done
}

# Prints all nodes below the components, depth first; fdtget lists one level at
# a time.
all_nodes() { nodes_below /soc; }
nodes_below() {
	local child
	for child in $(fdtget -l "$tmp/tree.dtb" "$1"); do
		case $1/$child in
		/soc/trace-* ) echo "$1/$child"; nodes_below "$1/$child" ;;
		esac
	done
}

edges() {
	local node
	for node in $(all_nodes); do
		case $node in
		*/out-ports/*/endpoint)
			echo "$(cut -d/ -f3 <<<"$node") $(component_of "$(fdtget "$tmp/tree.dtb" "$node" remote-endpoint)")" ;;
		esac
	done | sed 's/trace-//g' | sort
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
fails "too many harts for a funnel" "too many harts" "$qemu" -M virt,ntrace=on,ntrace-topology=funnel -smp 9 -bios none -display none
fails "no such wiring" "direct, funnel, chain, split, pib and atb" "$qemu" -M virt,ntrace=on,ntrace-topology=none -bios none -display none

done_testing
