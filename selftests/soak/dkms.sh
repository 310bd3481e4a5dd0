#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# The modules by DKMS: Debian 13's dkms, run without installing it, on the files of `make install-dkms`, for the kernel of
# the
# guest. It runs on the host, so `make` is passed to the chroot with that kernel's headers and compiler.
set -uo pipefail
# shellcheck source=selftests/tap.sh
. "$(dirname "$0")/../tap.sh"
export top tmp
kbuild=$top/tools/setup/kbuild

# shellcheck disable=SC2016 # expanded by the inner shell
if ! bash -c 'set -euo pipefail
	. "$top/tools/setup/suite.sh"
	suite_fetch "$tmp/debs" "$host_arch" --only dkms
	dpkg-deb -x "$tmp"/debs/dkms_*.deb "$tmp/dkms"' >"$tmp/fetch" 2>&1; then
	diag "$(tail -n 5 "$tmp/fetch")"
	echo "1..0 # SKIP Debian's dkms cannot be fetched"
	exit 0
fi
root=$("$kbuild" --chroot 2>/dev/null) || exit 1
release=$(basename "$(echo "$root"/usr/src/linux-headers-*-riscv64)")
release=${release#linux-headers-}
work=$(mktemp -d "$root/tmp/dkms.XXXXXX")
trap 'rm -rf "$tmp" "$work"' EXIT
chmod 755 "$work"

env -u MAKEFLAGS -u MAKELEVEL make -C "$top" SETUP=true dkmsdir="$work/sources/ntrace-0" install-dkms >"$tmp/out" 2>&1 ||
	diag "$(cat "$tmp/out")"
version=$(sed -n 's/^PACKAGE_VERSION="\(.*\)"/\1/p' "$work/sources/ntrace-0/dkms.conf")
is "$version" "$(sed -n 's/^.define NTRACE_VERSION "\(.*\)"$/\1/p' "$top/lib/include/ntrace/version.h")" "the version is filled in"
mv "$work/sources/ntrace-0" "$work/sources/ntrace-$version"

# Paths as seen inside the chroot.
mkdir "$tmp/bin"
cat >"$tmp/bin/make" <<-END
	#!/bin/bash
	exec "$kbuild" --run make ARCH=riscv CROSS_COMPILE=riscv64-linux-gnu- "\${@//"$root"/}"
END
chmod +x "$tmp/bin/make"
ln -s "$(command -v riscv64-linux-gnu-strip)" "$tmp/bin/strip"
dkms() {
	local kernel=$1
	shift
	env -u MAKEFLAGS -u MAKELEVEL PATH="$tmp/bin:$PATH" "$tmp/dkms/usr/sbin/dkms" "$@" -m ntrace -v "$version" -k "$kernel" \
		--dkmstree "$work/tree" --sourcetree "$work/sources" --installtree "$work/modules" \
		--kernelsourcedir "$root/usr/src/linux-headers-$release"
}

mkdir "$work/tree"
ok "dkms builds for $release" dkms "$release" build -a riscv64 || diag "$(tail -n 30 "$work"/tree/ntrace/*/build/make.log 2>&1)"
built=$work/tree/ntrace/$version/$release/riscv64/module
# dkms.conf has every module that kernel/ builds.
is "$(cd "$built" && printf '%s\n' *.ko* | sed 's/\.ko.*//')" \
	"$(sed -n 's/^obj-m := \(.*\)\.o$/\1/p' "$top"/kernel/*/Kbuild | sort)" "all modules of kernel/"
field() { /usr/sbin/modinfo -F "$1" "$2"; }
for module in "$built"/*.ko*; do
	case $module in *.xz) xz -d "$module" ;; *.zst) zstd -q -d --rm "$module" ;; esac
	name=$(basename "$module" | sed 's/\.ko.*//')
	module=$built/$name.ko guest=$(echo "$top"/build/kernel/*/"$name.ko")
	like "$name: is for RISC-V" 'RISC-V' "$(readelf -h "$module")"
	is "$(field vermagic "$module" | cut -d " " -f 1)" "$release" "$name: and for that kernel"
	is "$(field alias "$module") $(field srcversion "$module")" "$(field alias "$guest") $(field srcversion "$guest")" \
		"$name: of the same source and for the same devices as the one of the guest"
done

# For an older kernel or another architecture, DKMS prints a message and builds nothing.
fails "not for 6.11" "BUILD_EXCLUSIVE|does not match|not supported|exclusive" dkms 6.11.9-riscv64 build -a riscv64
fails "not for x86" "BUILD_EXCLUSIVE|does not match|not supported|exclusive" dkms 6.12.0-amd64 build -a x86_64
done_testing
