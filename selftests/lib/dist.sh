#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# `make dist`: the tarball has the files of the last commit, and two runs write the same bytes.
set -uo pipefail
# shellcheck source=selftests/tap.sh
. "$(dirname "$0")/../tap.sh"
version=$(sed -n 's/^.define NTRACE_VERSION "\(.*\)"$/\1/p' "$top/lib/include/ntrace/version.h")
# The lowest level takes a tenth of the time.
export XZ_OPT=-0
dist() { env -u MAKEFLAGS -u MAKELEVEL make -s -C "$top" --no-print-directory dist DIST="$1"; }

ok "make dist" dist "$tmp/one"
tarball=$tmp/one/ntrace-$version.tar.xz
is "$(cat "$tmp/.ok")" "$tarball" "prints the path, which has the version"
ok "and once more" dist "$tmp/two"
ok "the same bytes" cmp "$tarball" "$tmp/two/ntrace-$version.tar.xz"
is "$(tar -tJf "$tarball" | sed -n "s#^ntrace-$version/\(.*[^/]\)\$#\1#p" | LC_ALL=C sort)" \
	"$(git -C "$top" ls-tree -r --name-only HEAD | LC_ALL=C sort)" "the files of the last commit"
done_testing
