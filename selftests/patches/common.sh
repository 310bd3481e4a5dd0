# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# For tests of a series in kernel/patches: series=NAME selects that of a directory there, or of build/patches (make patches); tree=NAME, a work tree of its own. Builds are below ${XDG_CACHE_HOME:-~/.cache}/ntrace/linux, beside the source.
# shellcheck source=selftests/guest.sh
. "$(dirname "${BASH_SOURCE[0]}")/../guest.sh"
patch_directory=kernel/patches${series:+/$series}
[ "${series:-}" != ntrace ] || patch_directory=build/patches/ntrace
if ! source=$(kernel/patches/source 2>"$tmp/source"); then
	diag "$(tail -n 3 "$tmp/source")"
	echo "1..0 # SKIP no kernel source of Debian forky in reach"
	exit 0
fi
own=${series:+-$series}${tree:+-$tree}
# shellcheck source=kernel/patches/tree.sh
. kernel/patches/tree.sh
# shellcheck disable=SC2034 # for the tests
mapfile -t patches < <(patches_of "$patch_directory")
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
