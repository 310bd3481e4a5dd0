#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# valgrind on the tests of the library and on the command. In addition to the sanitizers, it finds uninitialized memory, and
# tests the release build itself.
set -uo pipefail
# shellcheck source=selftests/tap.sh
. "$(dirname "$0")/../tap.sh"
data=${NTRACE_SHARED:-$top/../shared}/data/refcode

clean() { valgrind -q --error-exitcode=99 --leak-check=full --errors-for-leak-kinds=definite,possible "$@"; }

# valgrind must find a planted error.
cat >"$tmp/bad.c" <<'END'
#include <stdlib.h>
int main(void)
{
	volatile int *memory = malloc(sizeof(*memory));

	return *memory ? 0 : 1;
}
END
"${CC:-gcc}" -o "$tmp/bad" "$tmp/bad.c"
clean "$tmp/bad" >/dev/null 2>&1
is $? 99 "valgrind sees memory that was never written and never freed"

# make builds the tests of VALGRIND_BINS (tools/make/check.mk). A failed build has ended make.
tests=0
for test in "$top"/build/valgrind/test_*; do
	case $test in *.d) continue ;; esac
	[ -e "$top/selftests/lib/${test##*/}.c" ] || continue
	ok "${test##*/}" clean "$test"
	tests=$((tests + 1))
done
ok "$tests tests of the library" test "$tests" -ge 25

if [ -e "$data/xrle.nex" ]; then
	ntrace=$top/build/ntrace
	elf=(--params xlen=32 --elf "$data/xrle.elf")
	ok "ntrace dump" clean "$ntrace" dump --params xlen=32 "$data/xrle.nex"
	python3 "$top/selftests/tools/frames.py" "$tmp/xrle.fr" 1 1 0x10="$data/xrle.nex" 0x11="$data/xrle.elf"
	ok "ntrace dump --framing" clean "$ntrace" dump --framing coresight:0x10 "$tmp/xrle.fr"
	ok "ntrace split" clean "$ntrace" split --framing coresight -o "$tmp/sources" "$tmp/xrle.fr"
	ok "ntrace dump --json" clean "$ntrace" dump --json --params xlen=32 "$data/xrle.nex"
	ok "ntrace decode" clean "$ntrace" decode "${elf[@]}" "$data/xrle.nex"
else
	skip "ntrace" "no $data/xrle.nex"
fi
done_testing
