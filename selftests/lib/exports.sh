#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# libntrace.so exports exactly the declarations of the public headers, each symbol with a version. The compiler lists the
# declarations, nm the symbols. libntrace.a takes no names of a program that links it.
set -uo pipefail
# shellcheck source=selftests/tap.sh
. "$(dirname "$0")/../tap.sh"
library=$top/build/libntrace.so

# Of static inline functions nothing is exported.
for header in "$top"/lib/include/ntrace/*.h; do
	echo "#include <ntrace/${header##*/}>"
done >"$tmp/all.c"
ok "the public headers compile together" gcc -std=c11 -Wall -Wextra -Werror -fsyntax-only \
	-I "$top/lib/include" -aux-info "$tmp/declared" "$tmp/all.c"
grep -v '^/\*[^*]*\*/ static' "$tmp/declared" | grep -oE '\bntrace_[a-z0-9_]+ \(' | tr -d ' (' | sort -u >"$tmp/public"
nm -D --defined-only "$library" >"$tmp/symbols"
awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' "$tmp/symbols" | sort -u >"$tmp/exported"
ok "there are more than a hundred functions ($(wc -l <"$tmp/public"))" test "$(wc -l <"$tmp/public")" -gt 100
is "$(comm -23 "$tmp/public" "$tmp/exported")" "" "every declared function is exported"
is "$(comm -13 "$tmp/public" "$tmp/exported")" "" "nothing else is exported"
is "$(awk '$2 != "A" && $3 !~ /@@NTRACE_0$/ { print $3 }' "$tmp/symbols")" "" "every symbol has its version"
is "$(nm -g --defined-only "$top/build/libntrace.a" | awk 'NF == 3 && $3 !~ /^ntrace_/ { print $3 }')" "" \
	"libntrace.a has no name without the prefix"
is "$(objdump -p "$library" | awk '$1 == "SONAME" { print $2 }')" libntrace.so.0 "soname"
is "$(readlink "$library")" libntrace.so.0 "libntrace.so leads to it"
# Each function that ends a handle allows NULL.
sed -nE 's/^.*extern [a-z]+ (ntrace_[a-z0-9_]+_(free|close)|ntrace_(object|space)_put) \(([^)]*)\);.*/\1 \4/p' "$tmp/declared" | sort -u >"$tmp/ends"
ok "there are more than twenty that end a handle ($(wc -l <"$tmp/ends"))" test "$(wc -l <"$tmp/ends")" -gt 20
{
	cat "$tmp/all.c"
	printf '#include <stddef.h>\n#include <stdio.h>\nint main(void)\n{\n'
	while read -r name arguments; do
		arguments=${arguments//[^,]/}
		printf '\tputs("%s");\n\tfflush(stdout);\n\t(void)%s(%sNULL);\n' "$name" "$name" "${arguments//,/0, }"
	done <"$tmp/ends"
	printf '\tputs("end");\n\treturn 0;\n}\n'
} >"$tmp/null.c"
ok "a program that ends no handle" gcc -std=c11 -I "$top/lib/include" "$tmp/null.c" -L "$top/build" -lntrace -o "$tmp/null"
is "$(LD_LIBRARY_PATH=$top/build "$tmp/null" | tail -n 1)" end "each of them allows NULL"
for header in "$top"/lib/include/ntrace/*.h; do
	echo "#include <ntrace/${header##*/}>" >"$tmp/one.cc"
	ok "${header##*/} alone, as C++" g++ -std=c++17 -Wall -Wextra -Werror -fsyntax-only -I "$top/lib/include" "$tmp/one.cc"
done
done_testing
