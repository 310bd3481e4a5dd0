# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# For tests of a series in kernel/patches: series=NAME selects that of a directory there. Builds are below ${XDG_CACHE_HOME:-~/.cache}/ntrace/linux, beside the source.
# shellcheck source=selftests/guest.sh
. "$(dirname "${BASH_SOURCE[0]}")/../guest.sh"
# shellcheck disable=SC2034
mapfile -t patches < <(printf '%s\n' kernel/patches/${series:+"$series/"}[0-9]*.patch | grep -v /0000-)
if ! source=$(kernel/patches/source 2>"$tmp/source"); then
	diag "$(tail -n 3 "$tmp/source")"
	echo "1..0 # SKIP no kernel source of Debian forky in reach"
	exit 0
fi
place=$(dirname "$source")
work=$place/work${series:+-$series} objects=$place/objects${series:+-$series}
exec 9>"$place/lock${series:+-$series}"
flock 9

# A separate work tree that shares git's objects, for incremental builds.
if [ "$(git -C "$work" rev-parse --verify -q origin/master 2>/dev/null)" != "$(git -C "$source" rev-parse master)" ]; then
	rm -rf "$work" "$objects"
	git clone -q -s "$source" "$work"
fi
fresh() {
	git -C "$work" am -q --abort 2>/dev/null
	git -C "$work" reset -q --hard origin/master
}

# Runs the kernel's make, with the objects outside of the tree.
kmake() {
	make -s -C "$work" O="$objects" ARCH=riscv CROSS_COMPILE=riscv64-linux-gnu- -j"${JOBS:-$(nproc)}" "$@"
}
configure() {
	mkdir -p "$objects"
	kmake tinyconfig && "$work/scripts/kconfig/merge_config.sh" -m -O "$objects" "$objects/.config" kernel/patches/config &&
		kmake olddefconfig
}
apply() { git -C "$work" -c user.name=check -c user.email=check@invalid am -q --keep-cr "$top/$1"; }
