#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# runner: cpus=1 seconds=20
# The commands of Documentation/verify-a-core.md, as they are there, with a core that has RVFI: from the simulation to the first
# verified program. Only the addresses of devices are those of the core's program.
set -uo pipefail
# shellcheck source=selftests/tap.sh
. "$(dirname "$0")/../tap.sh"
rtl=$top/selftests/tandem/rtl page=$top/Documentation/verify-a-core.md
cd "$tmp" || exit 1

ln -s "$top/build" build
cp "$rtl/core.v" "$rtl/testbench.v" .
ok "the program is compiled" riscv64-linux-gnu-gcc -march=rv32i_zicsr -mabi=ilp32 -Wl,-melf32lriscv -g -O1 -ffreestanding -fno-pic \
	-fno-stack-protector -nostdlib -static \
	-Wl,--no-relax,--build-id=none,-N,--section-start=.init=0x80000000,-Ttext=0x80000200,--no-warn-rwx-segments \
	-o program.elf "$rtl/program.c" || { done_testing; exit; }
riscv64-linux-gnu-objcopy -O binary program.elf program.bin
od -An -v -tx1 program.bin >program.hex

# commands PATTERN: those of the page that match, one a line
commands() {
	sed -n 's/^ \{4,\}//p' "$page" | sed -e ':a' -e '/\\$/N; s/\\\n//; ta' -e ':b' -e '/ |$/N; s/|\n/| /; tb' | grep -E "$1" |
		sed 's/0x10000000-0x100000ff/0x2000000-0x200ffff,0x100000-0x100fff/'
}
# shellcheck disable=SC2016 # backquotes of the page
simulation=$(sed -n 's/.*Icarus Verilog: `\([^`]*\)`.*/\1/p' "$page")
like "the page has a simulation" "^iverilog .* && vvp core.vvp$" "$simulation"
ok "it simulates the core" bash -c "${simulation/vvp core.vvp/vvp -n core.vvp +program=program.hex +wave=core.vcd +log=core.log}"
count=0
while read -r command; do
	count=$((count + 1))
	ok "$command" bash -c "$command >>out 2>>err"
done < <(commands '^build/ntrace tandem (convert --from rvfi|verify --model builtin)')
is "$count" 2 "the page has a conversion and a verification"
like "the program is verified" "[0-9]{5,} instructions executed by the model.* 0 groups differ" "$(<out)"
pipe=$(commands '^vvp core.vvp \|')
like "the page verifies a simulation that runs" "tandem convert .* tandem verify " "$pipe"
ok "without a file between" bash -c "set -o pipefail; ${pipe/vvp core.vvp/vvp -n core.vvp +program=program.hex +wave=none.vcd +log=\/dev\/stdout} >out 2>>err"
like "it is verified" " 0 groups differ" "$(<out)" || diag "$(tail -n 3 out err)"
done_testing
