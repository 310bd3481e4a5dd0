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
check p550 4 'encoder@6000000 funnel@6080000
encoder@6001000 funnel@6080000
encoder@6002000 funnel@6080000
encoder@6003000 funnel@6080000'
is "$(fdtget "$tmp/tree.dtb" /soc/trace-encoder@6000000 compatible) $(fdtget "$tmp/tree.dtb" /soc/trace-funnel@6080000 compatible)" \
	"sifive,trace-encoder0 sifive,trace-funnel0" "a P550 has blocks of version 0"
fails "too many harts for two bits of SRC" "too many harts" "$qemu" -M virt,ntrace=on,ntrace-topology=p550 -smp 5 -bios none -display none
fails "version 0 has no such wiring" "only the topologies direct and p550" "$qemu" -M virt,ntrace=v0,ntrace-topology=chain -bios none -display none
fails "too many harts for a funnel" "too many harts" "$qemu" -M virt,ntrace=on,ntrace-topology=funnel -smp 9 -bios none -display none
fails "no such wiring" "direct, funnel, chain, split, pib, atb and p550" "$qemu" -M virt,ntrace=on,ntrace-topology=none -bios none -display none

# Overlays for boards: without complaints of dtc, except that a fragment repeats the cells of its target; and they fit a
# tree with the labels and cells that they name.
cat >"$tmp/base.dts" <<'END'
/dts-v1/;
/ {
	#address-cells = <2>;
	#size-cells = <2>;
	cpus {
		#address-cells = <1>;
		#size-cells = <0>;
		cpu_0: cpu@0 { reg = <0>; };
		cpu_1: cpu@1 { reg = <1>; };
		cpu_2: cpu@2 { reg = <2>; };
		cpu_3: cpu@3 { reg = <3>; };
	};
	soc {
		#address-cells = <2>;
		#size-cells = <2>;
		ranges;
	};
};
END
dtc -@ -q -I dts -O dtb -o "$tmp/base.dtb" "$tmp/base.dts"
for overlay in kernel/dts/*.dtso; do
	name=${overlay##*/}
	is "$(dtc -@ -I dts -O dtb -o "$tmp/overlay.dtbo" -W no-avoid_unnecessary_addr_size "$overlay" 2>&1)" "" "$name: dtc finds nothing wrong"
	ok "$name: applies" fdtoverlay -i "$tmp/base.dtb" -o "$tmp/tree.dtb" "$tmp/overlay.dtbo"
	is "$(dtc -q -q -I dtb -O dts "$tmp/tree.dtb" | dtc -I dts -O dtb -o /dev/null 2>&1 | grep graph_)" "" "$name: nor with the graph"
done
is "$(edges)" 'encoder@100000 funnel@18000
encoder@101000 funnel@18000
encoder@102000 funnel@18000
encoder@103000 funnel@18000' "p550-trace.dtso: wired as on the board"

done_testing
