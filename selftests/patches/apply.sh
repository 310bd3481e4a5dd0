#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# The series in kernel/patches on the newest Debian kernel source: each patch
# applies, what it touches builds without a warning, and checkpatch has no
# finding; the binding satisfies dt-schema. boot.sh builds a kernel with the
# series.
# In the tree of boot.sh, each step would make the whole kernel build again.
# shellcheck disable=SC2034 # for the next line
tree=steps
# shellcheck source=selftests/patches/common.sh
. "$(dirname "$0")/common.sh"
ok "the source: $(git -C "$source" log -1 --format=%s)" fresh || done_testing

# Kconfig silently drops an option whose dependency is missing, and an option that is not wanted but selected stays.
configured() {
	local line bad=0
	while read -r line; do
		case $line in
		CONFIG_*) grep -qxF "$line" "$objects/.config" && continue ;;
		"# CONFIG_"*) line=${line#\# } && ! grep -qxF "${line%% *}=y" "$objects/.config" && continue ;;
		*) continue ;;
		esac
		echo "not so in .config: $line"
		bad=1
	done < <(grep -v RISCV_CTR kernel/patches/config)
	[ "$bad" = 0 ]
}
ok "a small configuration" configure
ok "with all that was asked for" configured
find_sparse

# The objects of the C files that the last patch touches, and the PMU drivers, with W=1 and sparse.
drivers=(drivers/perf/riscv_pmu.o drivers/perf/riscv_pmu_sbi.o)
build() {
	local file goals bad=0
	mapfile -t goals < <(git -C "$work" diff --name-only HEAD~1 -- '*.c' | sed 's/c$/o/')
	if ! { kmake olddefconfig && kmake W=1 "${check[@]}" "${drivers[@]}" "${goals[@]}"; } >"$tmp/build" 2>&1; then
		tail -n 30 "$tmp/build"
		return 1
	fi
	# The kernel has warnings of its own; a file that a patch touches must
	# have none.
	while read -r file; do
		! grep -F "$file:" "$tmp/build" || bad=1
	done < <(git -C "$work" diff --name-only HEAD~1)
	[ "$bad" = 0 ]
}
for patch in "${patches[@]}"; do
	name=${patch##*/}
	ok "$name applies" apply "$patch" || done_testing
	ok "$name builds" build
	ok "$name: checkpatch --strict" "$work/scripts/checkpatch.pl" --strict --quiet --no-tree "$top/$patch"
done
ok "RISCV_CTR is on by default" grep -qx CONFIG_RISCV_CTR=y "$objects/.config"
ok "and has been built" grep -qF drivers/perf/riscv_ctr.o "$objects/drivers/perf/.riscv_ctr.o.cmd"
without() {
	"$work/scripts/config" --file "$objects/.config" -d RISCV_CTR && kmake olddefconfig && kmake W=1 "${drivers[@]}" 2>&1 | tee "$tmp/build"
	[ "${PIPESTATUS[0]}" = 0 ] && ! grep -E 'riscv_(ctr|pmu).*warning' "$tmp/build"
}
ok "without it, the PMU drivers build" without

# dt_binding_check does the same for all bindings.
yaml=$work/Documentation/devicetree/bindings/riscv/extensions.yaml
if dt_schema; then
	ok "the binding is one" quiet schema dt-doc-validate "$yaml"
	schema dt-mk-schema -j "$yaml" "${yaml%/*}/cpus.yaml" "${yaml%/riscv/*}/interrupt-controller/riscv,cpu-intc.yaml" >"$tmp/schema"
	# described EXTENSIONS: whether a hart with these extensions satisfies
	# the binding
	described() {
		sed "s/@extensions@/\"i\", \"m\", \"a\", \"c\", $1/" selftests/patches/hart.dts.in |
			dtc -q -I dts -O dtb -o "$tmp/hart.dtb" && quiet schema dt-validate -s "$tmp/schema" "$tmp/hart.dtb"
	}
	ok "a hart with Smctr and Ssctr" described '"smctr", "sscsrind", "ssctr"'
	fails "Ssctr without Sscsrind" 'does not contain' described '"ssctr"'
	fails "an unknown extension" "'ssctrx' is not one of" described '"sscsrind", "ssctrx"'
else
	diag "$(tail -n 3 "$tmp/private")"
	skip "the binding" "no dt-schema of Debian forky in reach"
fi

done_testing
