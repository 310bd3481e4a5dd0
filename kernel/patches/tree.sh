# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# Work trees and kernels of the source that kernel/patches/source has fetched, for tests and demos that build one with patches.
# The caller is in the top directory and sets, before it sources this file: source, from kernel/patches/source; own=-NAME, for a
# work tree beside those of others ("" for the first one); and tmp, a directory. It holds a lock from then on.
# shellcheck disable=SC2034,SC2154 # variables of the caller, and for it

patches_of() { printf '%s\n' "$1"/[0-9]*.patch | grep -v /0000-; }
place=$(dirname "$source")
work=$place/work$own objects=$place/objects$own
# The compiler and linker, as arguments of the kernel's make.
toolchain=(CROSS_COMPILE=riscv64-linux-gnu-)
exec {series_lock}>"$place/lock$own"
flock "$series_lock"

# A separate work tree that shares git's objects, for incremental builds.
if [ "$(git -C "$work" rev-parse --verify -q origin/master 2>/dev/null)" != "$(git -C "$source" rev-parse master)" ]; then
	rm -rf "$work" "$objects"
	git clone -q -s "$source" "$work"
fi
fresh() {
	git -C "$work" am -q --abort 2>/dev/null || :
	git -C "$work" reset -q --hard origin/master
	# A run that was killed may have left files; Debian's .gitignore has most of them.
	git -C "$work" clean -q -f -d -x
}
# whole PATCH...: the work tree has all of them. Files that stay as they are keep their times, for make's sake.
whole() {
	local patch whole index=$tmp/index
	GIT_INDEX_FILE=$index git -C "$work" read-tree origin/master || return 1
	for patch; do
		GIT_INDEX_FILE=$index git -C "$work" apply --cached "$top/$patch" || return 1
	done
	whole=$(GIT_INDEX_FILE=$index git -C "$work" write-tree) || return 1
	git -C "$work" am -q --abort 2>/dev/null || :
	git -C "$work" read-tree --reset -u "$whole" && git -C "$work" clean -q -f -d -x
}

# Runs the kernel's make, with the objects outside of the tree.
kmake() {
	make -s -C "$work" O="$objects" ARCH=riscv "${toolchain[@]}" -j"${JOBS:-$(nproc)}" "$@"
}
# configure OPTION...: the small configuration, with further options
configure() {
	mkdir -p "$objects"
	printf '%s\n' "$@" >"$tmp/options"
	kmake tinyconfig && "$work/scripts/kconfig/merge_config.sh" -m -O "$objects" "$objects/.config" kernel/patches/config "$tmp/options" &&
		kmake olddefconfig
}
apply() { git -C "$work" -c user.name=check -c user.email=check@invalid am -q --keep-cr "$top/$1"; }

# image NAME: builds the kernel, and build/guest-NAME.env: the guest of the stock kernel, which needs no modules with this one.
image() {
	local place=build/$1
	kmake Image || return 1
	mkdir -p "$place"
	cp "$objects/arch/riscv/boot/Image" "$place/"
	# shellcheck source=/dev/null
	. build/guest.env
	rm -rf "$tmp/initrd"
	mkdir -p "$tmp/initrd"/{dev,proc,sys,run,newroot,usr/bin,usr/lib/ntrace/modules}
	ln -s usr/bin "$tmp/initrd/bin"
	cp "${guest_sysroot:?}/usr/bin/busybox" "$tmp/initrd/usr/bin/"
	cp tools/vsoc/guest/init "$tmp/initrd/init"
	: >"$tmp/initrd/usr/lib/ntrace/modules/order"
	(cd "$tmp/initrd" && find . | cpio --quiet -o -H newc -R 0:0) >"$place/initrd.cpio"
	sed -e "s#^guest_kernel=.*#guest_kernel=$top/$place/Image#" -e "s#^guest_initrd=.*#guest_initrd=$top/$place/initrd.cpio#" \
		-e "s#^guest_release=.*#guest_release=$(kmake kernelrelease)#" build/guest.env >"build/guest-$1.env"
}
