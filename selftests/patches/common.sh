# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# For tests of a series in kernel/patches: series=NAME selects that of a directory there, or of build/patches (make patches); tree=NAME, a work tree of its own. Builds are below ${XDG_CACHE_HOME:-~/.cache}/ntrace/linux, beside the source.
# shellcheck source=selftests/guest.sh
. "$(dirname "${BASH_SOURCE[0]}")/../guest.sh"
patches_of() { printf '%s\n' "$1"/[0-9]*.patch | grep -v /0000-; }
patch_directory=kernel/patches${series:+/$series}
[ "${series:-}" != ntrace ] || patch_directory=build/patches/ntrace
# shellcheck disable=SC2034 # for the tests
mapfile -t patches < <(patches_of "$patch_directory")
if ! source=$(kernel/patches/source 2>"$tmp/source"); then
	diag "$(tail -n 3 "$tmp/source")"
	echo "1..0 # SKIP no kernel source of Debian forky in reach"
	exit 0
fi
place=$(dirname "$source")
own=${series:+-$series}${tree:+-$tree}
work=$place/work$own objects=$place/objects$own
exec {series_lock}>"$place/lock$own"
flock "$series_lock"

# A separate work tree that shares git's objects, for incremental builds.
if [ "$(git -C "$work" rev-parse --verify -q origin/master 2>/dev/null)" != "$(git -C "$source" rev-parse master)" ]; then
	rm -rf "$work" "$objects"
	git clone -q -s "$source" "$work"
fi
fresh() {
	git -C "$work" am -q --abort 2>/dev/null
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
	git -C "$work" am -q --abort 2>/dev/null
	git -C "$work" read-tree --reset -u "$whole" && git -C "$work" clean -q -f -d -x
}

# Runs the kernel's make, with the objects outside of the tree.
kmake() {
	make -s -C "$work" O="$objects" ARCH=riscv CROSS_COMPILE=riscv64-linux-gnu- -j"${JOBS:-$(nproc)}" "$@"
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

# find_sparse: sets $check to options for kmake. sparse of Debian 12 and 13 does not know RISC-V's extensions, that of forky not all.
find_sparse() {
	local sparse
	check=()
	if ! sparse=$(tools/setup/private forky usr/bin/sparse sparse libxml2-16 libsqlite3-0 2>"$tmp/private"); then
		diag "$(tail -n 3 "$tmp/private")"
		skip "sparse" "no sparse of Debian forky in reach"
		return
	fi
	mkdir -p "$objects"
	# shellcheck disable=SC2016 # for that shell
	printf '#!/bin/bash\nexec %q "${@/_zacas_zabha/}"\n' "$sparse" >"$objects/sparse"
	chmod +x "$objects/sparse"
	# shellcheck disable=SC2034 # for the tests
	check=(C=1 CHECK="$objects/sparse")
}

# dt_schema: Debian forky's dt-schema, as `schema TOOL ARGUMENT...`; fails without it.
dt_schema() {
	schema_python=$(tools/setup/private forky usr/bin/python3 python3 dt-schema 2>"$tmp/private") || return 1
	schema_root=${schema_python%/command/*}
}
schema() {
	PYTHONHOME=$schema_root/usr PYTHONPATH=$schema_root/usr/lib/python3/dist-packages "$schema_python" "$schema_root/usr/bin/$1" "${@:2}"
}
# Every message is a finding, whatever the exit status.
quiet() {
	local rc=0
	"$@" >"$tmp/said" 2>&1 || rc=$?
	cat "$tmp/said"
	[ "$rc" = 0 ] && [ ! -s "$tmp/said" ]
}
