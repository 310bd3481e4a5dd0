#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# The guest tests of both drivers and of the command as directories of the kernel's selftests: copied into the tree of
# Debian's kernel source, built and installed by the kernel's own makefiles, run in the guest by
# the kernel's own runner.
# shellcheck source=selftests/tap.sh
. "$(dirname "$0")/../tap.sh"
cd "$top" || exit 1
export top tmp
tools/setup/host-packages series suite
release=$(tools/vsoc/run --print-kernel-release)
version=$(sed -E 's/^([0-9]+\.[0-9]+).*/\1/' <<<"$release")
export version

# Of the 1.5 GB, unpack only what the makefiles need.
if ! bash -c 'set -euo pipefail
	. "$top/tools/setup/suite.sh"
	suite_fetch "$tmp/debs" "$host_arch" --only "linux-source-$version"
	mkdir "$tmp/tree"
	dpkg-deb --fsys-tarfile "$tmp"/debs/linux-source-*.deb | tar -xO "./usr/src/linux-source-$version.tar.xz" |
		tar -xJ -C "$tmp/tree" --strip-components=1 --wildcards --no-wildcards-match-slash \
			"*/tools/testing/selftests/*.*" "*/tools/testing/selftests/Makefile" "*/tools/testing/selftests/kselftest" \
			"*/tools/scripts" "*/scripts/*.include" "*/scripts/Makefile*"' >"$tmp/fetch" 2>&1; then
	diag "$(tail -n 5 "$tmp/fetch")"
	skip_all "Debian's linux-source-$version cannot be fetched"
fi
tree=$tmp/tree
cp -rL selftests/kernel/guest "$tree/tools/testing/selftests/ntrace"
cp -rL selftests/ctr/guest "$tree/tools/testing/selftests/riscv_ctr"
cp -rL selftests/tools/guest "$tree/tools/testing/selftests/ntrace_tools"
mkdir -p "$tree/usr/include/linux"
cp kernel/include/uapi/linux/ntrace.h "$tree/usr/include/linux/"
headers=$(dirname "$(dirname "$(readlink -f "$(tools/setup/cross)")")")/usr/include
ok "make install" env -u MAKEFLAGS -u MAKELEVEL make -C "$tree/tools/testing/selftests" ARCH=riscv CC="$(tools/setup/cross)" \
	TARGETS="ntrace riscv_ctr ntrace_tools" FORCE_TARGETS=1 KHDR_INCLUDES="-I$tree/usr/include" INSTALL_PATH="$tmp/kselftest" \
	BPF_CFLAGS="-I$headers -I$headers/riscv64-linux-gnu" install || done_testing

# runs TARGET DIRECTORY OPTION...: the tests of a target in the guest; the options are those of tools/vsoc/run
runs() {
	local target=$1 progs prog
	progs=$(sed -nE 's/^TEST_(GEN_)?PROGS := //p' "$2/Makefile" | tr '\n' ' ')
	tools/vsoc/run --quiet --icount --tools --check-dmesg --timeout 1800 --put "$tmp/kselftest:/root/kselftest" "${@:3}" \
		-- /root/kselftest/run_kselftest.sh -c "$target" >"$tmp/out" 2>"$tmp/err"
	is "$?" 0 "$target: run_kselftest.sh in the guest, with a clean kernel log" || diag "$(tail -n 40 "$tmp/err")"
	for prog in $progs; do
		ok "$target: its verdict of $prog" grep -qE "^ok [0-9]+ selftests: $target: $prog$" "$tmp/out" || diag "$(grep -vE '^# ok' "$tmp/out" | tail -n 60)"
	done
	is "$(grep -cE '^(not )?ok [0-9]+ selftests: ' "$tmp/out")" "$(wc -w <<<"$progs")" "$target: verdicts"
}
runs ntrace selftests/kernel/guest --modules --append iomem=relaxed
runs riscv_ctr selftests/ctr/guest --smp 2 --module build/kernel/ctr/riscv_ctr.ko
done_testing
