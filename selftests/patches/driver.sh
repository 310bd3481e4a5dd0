#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# The driver's series, build/patches/ntrace, on the newest Debian kernel source: each patch applies, builds without a warning of W=1
# and sparse, needs nothing that later ones add, and checkpatch has no finding without a reason; the bindings satisfy
# dt-schema. boot.sh boots a kernel with the series.
series=ntrace
# shellcheck source=selftests/patches/common.sh
. "$(dirname "$0")/common.sh"
ok "the source: $(git -C "$source" log -1 --format=%s)" fresh || done_testing
ok "a small configuration" configure CONFIG_NTRACE=y || done_testing

find_sparse

# All objects of the driver as one; objects of an earlier run may be there, so the Makefile names them.
driver_object() {
	local folder=drivers/hwtracing/ntrace objs
	mapfile -t objs < <(sed -n 's/^ntrace-y [:+]*= //p' "$work/$folder/Makefile" | tr ' ' '\n')
	riscv64-linux-gnu-ld -r -o "$tmp/driver.o" "${objs[@]/#/$objects/$folder/}"
}

# The objects of the C files that the last patch touches, and what else it adds.
builds() {
	local file goals=() bad=0 sparsely=("${check[@]}")
	while read -r file; do
		case $file in
		drivers/hwtracing/*) goals=(drivers/hwtracing/ntrace/) ;;
		*.c) [[ $file = tools/* ]] || goals+=("${file%.c}.o") ;;
		include/uapi/*) goals+=(headers) ;;
		esac
	done < <(git -C "$work" diff --name-only HEAD~1)
	[ "${#goals[@]}" -gt 0 ] || return 0
	# The option exists from the patch on that adds the driver's Kconfig.
	grep -q '^CONFIG_NTRACE=y' "$objects/.config" || { echo CONFIG_NTRACE=y >>"$objects/.config" && kmake olddefconfig; }
	# sparse has findings in files of the kernel.
	[[ ${goals[*]} != *.o* ]] || sparsely=()
	if ! kmake W=1 "${sparsely[@]}" "${goals[@]}" >"$tmp/build" 2>&1; then
		tail -n 30 "$tmp/build"
		return 1
	fi
	# The kernel has warnings of its own; a file that a patch touches must have none.
	while read -r file; do
		! grep -F "$file:" "$tmp/build" || bad=1
	done < <(git -C "$work" diff --name-only HEAD~1)
	if [[ ${goals[*]} = *hwtracing* ]] && driver_object && riscv64-linux-gnu-nm -u "$tmp/driver.o" | grep ' ntrace_'; then
		echo "defined by a later patch"
		bad=1
	fi
	[ "$bad" = 0 ]
}
# FILE KIND of each finding. The directory is in MAINTAINERS from the first patch on.
findings() {
	"$work/scripts/checkpatch.pl" --strict --no-tree --show-types --ignore FILE_PATH_CHANGES "$top/$1" |
		awk '/^(CHECK|WARNING|ERROR):/ { kind = $1; split($0, part, ":"); kind = part[2] }
			/^#[0-9]+: FILE: / { split($3, part, ":"); sub("^(tools/testing/selftests/ntrace)/.*", "tools/testing/selftests/ntrace", part[1]); print part[1], kind; kind = "" }
			/^(total:|$)/ { if (kind != "") print "-", kind; kind = "" }' | sort -u
}
accepted() { grep -v '^#' selftests/patches/accepted | cut -d' ' -f1,2 | sort -u; }
for patch in "${patches[@]}"; do
	name=${patch##*/}
	ok "$name applies" apply "$patch" || done_testing
	ok "$name builds" builds
	findings "$patch" >"$tmp/found"
	cat "$tmp/found" >>"$tmp/findings"
	is "$(comm -23 "$tmp/found" <(accepted))" "" "$name: checkpatch --strict, nothing without a reason"
done
is "$(comm -13 <(sort -u "$tmp/findings") <(accepted))" "" "no reason without its finding"
is "$(riscv64-linux-gnu-nm "$tmp/driver.o" | grep -c ' T ntrace_perf_init$')" 1 "all of the driver has been built"
is "$(git -C "$work" grep -nE 'LINUX_VERSION_CODE|for_each_kernel_tracepoint|<ntrace/' -- drivers/hwtracing/ntrace)" "" "nothing that only a module needs"
# The entry in MAINTAINERS: each new file has a pattern, and each pattern a file.
mapfile -t patterns < <(awk '/^RISC-V N-TRACE DRIVER$/ { on = 1; next } on && /^$/ { exit } on && /^F:/ { print $2 }' "$work/MAINTAINERS")
mapfile -t added < <(git -C "$work" diff --name-only --diff-filter=A origin/master)
unmatched() {
	local file pattern found
	declare -A used=()
	for file in "${added[@]}"; do
		found=''
		for pattern in "${patterns[@]}"; do
			# shellcheck disable=SC2053 # a pattern
			[[ $file != $pattern && $file != "$pattern"* ]] || found=yes used[$pattern]=yes
		done
		[ -n "$found" ] || echo "$file"
	done
	for pattern in "${patterns[@]}"; do
		[ -n "${used[$pattern]:-}" ] || echo "F: $pattern"
	done
}
is "$(unmatched)" "" "MAINTAINERS: ${#added[@]} new files, ${#patterns[@]} patterns"

if dt_schema; then
	bindings=Documentation/devicetree/bindings
	mapfile -t schemas < <(cd "$work" && ls "$bindings"/trace/*trace-*.yaml)
	for yaml in "${schemas[@]}"; do
		ok "${yaml##*/} is a binding" quiet schema dt-doc-validate "$work/$yaml"
	done
	schema dt-mk-schema -j "${schemas[@]/#/$work/}" >"$tmp/schema"
	for yaml in "${schemas[@]}"; do
		schema dt-extract-example "$work/$yaml" | dtc -q -I dts -O dtb -o "$tmp/example.dtb"
		ok "${yaml##*/}: its examples satisfy it" quiet schema dt-validate -s "$tmp/schema" "$tmp/example.dtb"
		schema dt-extract-example "$work/$yaml" | sed 's/cpus = .*;/nobody = <1>;/' | dtc -q -I dts -O dtb -o "$tmp/example.dtb"
		fails "${yaml##*/}: a wrong one does not" 'nobody|cpus' quiet schema dt-validate -s "$tmp/schema" "$tmp/example.dtb"
	done
else
	diag "$(tail -n 3 "$tmp/private")"
	skip "the bindings" "no dt-schema of Debian forky in reach"
fi

# The tests of the series, in the kernel's own way.
ok "selftests: make install" env -u MAKEFLAGS -u MAKELEVEL make -s -C "$work/tools/testing/selftests" ARCH=riscv CC="$(tools/setup/cross)" TARGETS=ntrace \
	FORCE_TARGETS=1 KHDR_INCLUDES="-I$objects/usr/include" OUTPUT="$objects/kselftest" INSTALL_PATH="$tmp/kselftest" install
ok "and the runner is there" test -x "$tmp/kselftest/run_kselftest.sh"
done_testing
