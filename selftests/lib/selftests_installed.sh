#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# What `make install-selftests` installs for a machine with hardware: every test of the guest, built for RISC-V, and the
# program that runs them.
set -uo pipefail
# shellcheck source=selftests/tap.sh
. "$(dirname "$0")/../tap.sh"
cd "$top" || exit 1
root=$tmp/root/usr/local/libexec/ntrace-selftests

ok "make install-selftests" env -u MAKEFLAGS -u MAKELEVEL make -j2 --no-print-directory SETUP=true DESTDIR="$tmp/root" install-selftests
for pair in kernel:ntrace ctr:riscv_ctr tools:ntrace_tools; do
	group=${pair%:*} collection=${pair#*:}
	expected=$({
		find selftests/"$group"/guest -name '*.bpf.c' -printf '%f\n' | sed 's/c$/o/'
		find selftests/"$group"/guest -name '*.c' ! -name '*.bpf.c' -printf '%f\n' | sed 's/\.c$//'
		find selftests/"$group"/guest '(' -name '*.sh' -o -name '*.py' -o -name config -o -name settings ')' -printf '%f\n'
		echo kselftest-list.txt
	} | sort)
	is "$(find "$root/$collection" -type f -printf '%f\n' | sort)" "$expected" "$collection: all that selftests/$group/guest has"
	is "$(find "$root/$collection" -type f -perm /111 ! -name '*.sh' ! -name '*.py' -exec file {} + | grep -vc 'UCB RISC-V')" 0 \
		"$collection: programs for RISC-V"
done
listed=$("$root/run_kselftest.sh" -l)
is "$(cut -d: -f1 <<<"$listed" | sort -u | tr '\n' ' ')" "ntrace ntrace_tools riscv_ctr " "-l lists three collections"
is "$(while IFS=: read -r collection test; do [ -x "$root/$collection/$test" ] || echo "$test"; done <<<"$listed")" "" "what it lists can be run"

# Tests with each kind of end.
mkdir -p "$tmp/fake/one" "$tmp/fake/two"
cp "$root/run_kselftest.sh" "$tmp/fake/"
make_test() {
	printf '#!/bin/sh\n%s\n' "$2" >"$tmp/fake/$1"
	chmod +x "$tmp/fake/$1"
	echo "${1#*/}" >>"$tmp/fake/${1%/*}/kselftest-list.txt"
}
make_test one/passes 'pwd; exit 0'
make_test one/fails 'exit 1'
make_test two/skips 'exit 4'
make_test two/hangs 'sleep 1000'
echo timeout=1 >"$tmp/fake/two/settings"
"$tmp/fake/run_kselftest.sh" >"$tmp/out"
is "$? $(grep -v '^#' "$tmp/out" | tr '\n' '|')" \
	"1 TAP version 13|1..4|ok 1 selftests: one: passes|not ok 2 selftests: one: fails # exit=1|ok 3 selftests: two: skips # SKIP|not ok 4 selftests: two: hangs # TIMEOUT 1 seconds|" \
	"verdicts"
like "a test runs in its directory" "# $tmp/fake/one" "$(<"$tmp/out")"
"$tmp/fake/run_kselftest.sh" -t one:passes -t two:skips >"$tmp/out"
is "$? $(grep -c ^ok "$tmp/out")" "0 2" "-t runs single tests, and skipped ones are no failures"
is "$("$tmp/fake/run_kselftest.sh" -c one | grep -c '^\(not \)\?ok ')" 2 "-c runs a collection"
fails "an unknown test" 'no test one:nothing' "$tmp/fake/run_kselftest.sh" -t one:nothing
fails "an unknown option" 'run_kselftest.sh \[-l\]' "$tmp/fake/run_kselftest.sh" -x

ok "make uninstall" env -u MAKEFLAGS -u MAKELEVEL make --no-print-directory SETUP=true DESTDIR="$tmp/root" uninstall
is "$(find "$tmp/root" -type f)" "" "make uninstall removes them"
done_testing
