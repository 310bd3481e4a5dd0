#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# The kernel's own tools over kernel/: W=1 and sparse (Debian forky's; older ones do not support
# RISC-V's extensions), checkpatch --strict, coccicheck; dt-schema.
# shellcheck source=selftests/tap.sh
. "$(dirname "$0")/../tap.sh"
cd "$top" || exit 1

if [ -e build/guest-forky.skip ]; then
	skip "W=1 and sparse" "$(<build/guest-forky.skip)"
else
	ok "W=1 and sparse" tools/setup/kbuild --suite forky --sparse . "$top/build/kernel-sparse"
fi

scripts=$(tools/setup/kernel-scripts) || exit 1
mapfile -t sources < <(git ls-files -co --exclude-standard 'kernel/*.[ch]')
# FILE KIND of each finding, as in the file accepted.
findings() {
	perl "$scripts/scripts/checkpatch.pl" --strict --no-tree --terse --show-types -f "${sources[@]}" 2>/dev/null |
		sed -nE 's/^([^:]*):[0-9]+: (CHECK|WARNING|ERROR):([A-Z_0-9]*):.*/\1 \3/p' | sort -u
}
findings >"$tmp/found"
grep -v '^#' selftests/static/accepted | cut -d' ' -f1,2 | sort -u >"$tmp/accepted"
is "$(comm -23 "$tmp/found" "$tmp/accepted")" "" "checkpatch --strict: ${#sources[@]} files, nothing without a reason"
is "$(comm -13 "$tmp/found" "$tmp/accepted")" "" "no reason without its finding"

# The bindings: schemas, their examples, and the device trees of the virtual SoC. Debian 13 has no dt-schema.
bindings=Documentation/devicetree/bindings
# said FILE.dtb: prints the messages of this project's schemas about it
said() { dt-validate -s "$tmp/schemas.json" "$1" 2>&1 | grep -B1 "From schema: .*$bindings/" || true; }
if apt-cache policy dt-schema 2>/dev/null | grep -q 'Candidate: [0-9]'; then
	tools/setup/host-packages bindings
fi
if command -v dt-validate >/dev/null; then
	mapfile -t schemas < <(git ls-files -co --exclude-standard "$bindings/*.yaml")
	is "$(dt-doc-validate -u "$bindings" "${schemas[@]}" 2>&1)" "" "dt-doc-validate: ${#schemas[@]} bindings"
	dt-mk-schema -j -o "$tmp/schemas.json" "$bindings" >/dev/null
	for schema in "${schemas[@]}"; do
		dt-extract-example "$schema" | dtc -q -O dtb -o "$tmp/example.dtb"
		is "$(said "$tmp/example.dtb")" "" "dt-validate: examples of ${schema##*/}"
		sed 's/cpus = .*;/nobody = <1>;/' <(dt-extract-example "$schema") | dtc -q -O dtb -o "$tmp/wrong.dtb"
		like "dt-validate: a wrong one is found" "cpus|nobody" "$(said "$tmp/wrong.dtb")"
	done
	for machine in ntrace=on,ntrace-memory=16M ntrace=on,ntrace-topology=chain ntrace=on,ntrace-topology=pib ntrace=on,ntrace-topology=atb ntrace=v0 \
		ntrace=on,ntrace-topology=p550 ntrace=on,ntrace-topology=k3,ntrace-memory=16M; do
		build/qemu/qemu-system-riscv64 -M "virt,$machine,dumpdtb=$tmp/machine.dtb" -smp 2 -m 2G >/dev/null 2>&1
		is "$(said "$tmp/machine.dtb")" "" "dt-validate: the machine with $machine"
	done
	dtc -@ -q -O dtb -o "$tmp/base.dtb" selftests/vsoc/board.dts
	for overlay in kernel/dts/*.dtso; do
		cpp -nostdinc -undef -P -x assembler-with-cpp "$overlay" | dtc -@ -q -O dtb -o "$tmp/overlay.dtbo"
		fdtoverlay -i "$tmp/base.dtb" -o "$tmp/board.dtb" "$tmp/overlay.dtbo"
		is "$(said "$tmp/board.dtb")" "" "dt-validate: a board with ${overlay##*/}"
	done
else
	skip "dt-validate" "no dt-schema on this host"
fi

# stream_open concerns a conversion of 2019; the other two need an OCaml compiler, and one of them
# concerns a single driver.
semantic() {
	local patch
	find "$scripts/scripts/coccinelle" -name '*.cocci' ! -name stream_open.cocci ! -name check_bq27xxx_data.cocci \
		! -name badzero.cocci | sort | while read -r patch; do
		spatch -D report --very-quiet --no-show-diff --cocci-file "$patch" --include-headers \
			-I kernel/include -I kernel/include/uapi --dir kernel 2>&1 | sed "s#^#${patch##*/}: #"
	done | grep -v ': *$' || true
}
if command -v spatch >/dev/null; then
	semantic >"$tmp/semantic"
	is "$(cat "$tmp/semantic")" "" "coccicheck: $(find "$scripts/scripts/coccinelle" -name '*.cocci' | wc -l) semantic patches"
else
	skip "coccicheck" "no coccinelle on this host"
fi
done_testing
