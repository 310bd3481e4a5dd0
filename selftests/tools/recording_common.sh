# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# Functions for tests that record a program in the guest, usually one with known calls and
# instructions (guest/counted.c), and report it on this host.
# shellcheck source=selftests/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../tap.sh"
# shellcheck disable=SC2034 # for whoever sources this
ntrace=$top/build/ntrace
# shellcheck disable=SC2034
counted=$top/build/riscv64/selftests/tools/counted
# shellcheck disable=SC2034
results=$tmp/results
sysroot=$tmp/sysroot

# query FILE EXPRESSION: prints a Python expression over the JSON in FILE: all its values, of which
# report is the first. $query_with defines more names.
query_with=''
query() { python3 -c 'import collections, json, sys
text, values, at = open(sys.argv[1]).read().strip(), [], 0
while at < len(text):
    value, at = json.JSONDecoder().raw_decode(text, at)
    values.append(value)
    at += len(text[at:]) - len(text[at:].lstrip())
report = values[0] if values else None
exec(sys.argv[3])
print(eval(sys.argv[2]))' "$1" "$2" "$query_with"; }

# make_sysroot [PROGRAM...]: makes a directory with the guest's files, the programs of the tests,
# and those given as arguments, in /root
make_sysroot() {
	local guest_root
	guest_root=$("$top/tools/vsoc/run" --print-sysroot)
	mkdir -p "$sysroot/root" "$sysroot/usr/local/bin"
	ln -s "$guest_root"/* "$sysroot/" 2>/dev/null
	ln -s "$guest_root"/usr/* "$sysroot/usr/" 2>/dev/null
	ln -sfn "$top/build/riscv64/selftests" "$sysroot/root/selftests"
	[ $# -eq 0 ] || cp "$@" "$sysroot/root/"
	cp "$top/build/riscv64/ntrace" "$sysroot/usr/local/bin/ntrace"
}
