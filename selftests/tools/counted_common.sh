# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# For the tests that record a program whose calls and instructions are known
# (guest/counted.c) in the guest, and report it here.
# shellcheck source=selftests/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../tap.sh"
# shellcheck disable=SC2034 # for whoever sources this
ntrace=$top/build/ntrace
counted=$top/build/riscv64/selftests/tools/counted
# shellcheck disable=SC2034
results=$tmp/results
sysroot=$tmp/sysroot

# The guest's files, and what was put there for this run.
make_sysroot() {
	local guest_root
	guest_root=$("$top/tools/vsoc/run" --print-sysroot)
	mkdir -p "$sysroot/root" "$sysroot/usr/local/bin"
	ln -s "$guest_root"/* "$sysroot/" 2>/dev/null
	ln -s "$guest_root"/usr/* "$sysroot/usr/" 2>/dev/null
	cp "$counted" "$sysroot/root/counted"
	cp "$top/build/riscv64/ntrace" "$sysroot/usr/local/bin/ntrace"
}
