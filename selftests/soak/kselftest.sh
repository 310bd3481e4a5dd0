#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# The driver's guest tests as a directory of the kernel's selftests: copied into the tree of
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
mkdir -p "$tree/usr/include/linux"
cp kernel/include/uapi/linux/ntrace.h "$tree/usr/include/linux/"
ok "make install" env -u MAKEFLAGS -u MAKELEVEL make -C "$tree/tools/testing/selftests" ARCH=riscv CC="$(tools/setup/cross)" \
	TARGETS=ntrace FORCE_TARGETS=1 KHDR_INCLUDES="-I$tree/usr/include" INSTALL_PATH="$tmp/kselftest" install || done_testing

progs=$(sed -n 's/^TEST_PROGS := //p' selftests/kernel/guest/Makefile)
tools/vsoc/run --quiet --icount --modules --check-dmesg --timeout 1800 --append iomem=relaxed \
	--put "$tmp/kselftest:/root/kselftest" -- /root/kselftest/run_kselftest.sh -c ntrace >"$tmp/out" 2>"$tmp/err"
is "$?" 0 "run_kselftest.sh in the guest, with a clean kernel log" || diag "$(tail -n 40 "$tmp/err")"
for prog in $progs; do
	ok "its verdict of $prog" grep -qE "^ok [0-9]+ selftests: ntrace: $prog$" "$tmp/out"
done
is "$(grep -cE '^(not )?ok [0-9]+ selftests: ' "$tmp/out")" "$(wc -w <<<"$progs")" "verdicts"
[ "$tap_failures" -eq 0 ] || diag "$(grep -vE '^# ok' "$tmp/out" | tail -n 60)"
done_testing
