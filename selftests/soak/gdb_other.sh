#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# runner: seconds=400
# ntrace gdb with the GDB of Debian 12 and with that of Debian 13, whichever this host has: all tests of tools/gdb.sh and
# consumers/gdb.sh. The packages are unpacked, not installed.
# shellcheck source=selftests/consumers/common.sh
. "$(dirname "$0")/../consumers/common.sh"
make build-consumers >&2 || exit 1
for suite in bookworm trixie; do
	path=$(tools/setup/private "$suite" usr/bin/gdb-multiarch gdb-multiarch)
	ok "GDB of $suite" test -x "$path" || continue
	root=${path%/command/*}
	mkdir -p "$tmp/$suite"
	printf '#!/bin/sh\nPYTHONHOME=%s exec %s --data-directory=%s "$@"\n' "$root/usr" "$path" "$root/usr/share/gdb" \
		>"$tmp/$suite/gdb-multiarch"
	chmod +x "$tmp/$suite/gdb-multiarch"
	like "its version" "GNU gdb .*1[36]\." "$("$tmp/$suite/gdb-multiarch" --version | head -n 1)"
	for name in tools/gdb consumers/gdb; do
		PATH=$tmp/$suite:$PATH relay "$suite: $name" "selftests/$name.sh"
	done
done
done_testing
