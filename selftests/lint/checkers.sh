#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# runner: seconds=30
# Tests that tools/lint reports each mistake, even in a file that was clean before, in a small tree
# with one planted mistake at a time.
# shellcheck source=selftests/tap.sh
. "$(dirname "$0")/../tap.sh"
export XDG_CACHE_HOME=$tmp/cache GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null
tree=$tmp/tree
mkdir -p "$tree/tools" "$tree/lib/part" "$tree/tools/ntrace" "$tree/bin"
cp -r "$top/tools/lint" "$tree/tools/"
cp "$top/.clang-tidy" "$top/.clang-format" "$top/.shellcheckrc" "$top/.gitignore" "$tree/"
cd "$tree" || exit 1
git init -q .
commit() { git add -A && git -c user.name=test -c user.email=test@example.org commit -qm "$1"; }

cat >lib/part/first.h <<'C'
#ifndef FIRST_H
#define FIRST_H
#define FIRST 1
int *first(int n);
int second(int n);
#endif
C
cat >lib/part/first.c <<'C'
#include "part/first.h"

int *first(int n)
{
	static int values[4];

	return &values[n & 3];
}
C
cat >lib/part/second.c <<'C'
#include "part/first.h"

int second(int n)
{
	return *first(n + FIRST);
}
C
# shellcheck disable=SC2016 # for the script
printf '#!/bin/sh\n# shellcheck source=bin/common.sh\n. bin/common.sh\necho "$name"\n' >bin/script.sh
printf '# shellcheck shell=sh\n# shellcheck disable=SC2034\nname=one\n' >bin/common.sh
commit first

# clean WHAT COMMAND...: no findings, in two consecutive runs
clean() {
	local what=$1
	shift
	ok "$what: nothing" "$@"
	ok "$what: nothing, from the cache" "$@"
}
# finds WHAT PATTERN COMMAND...: two consecutive runs report the finding
finds() {
	fails "$1" "$2" "${@:3}"
	fails "$1, again" "$2" "${@:3}"
}
# with FILE TEXT COMMAND...: runs COMMAND with TEXT at the end of FILE, then restores the file
with() {
	local file=$1 rc=0
	cp "$file" "$tmp/kept"
	printf '%b' "$2" >>"$file"
	"${@:3}" || rc=$?
	cp "$tmp/kept" "$file"
	return "$rc"
}

format=(tools/lint/format.py lib/part/first.c lib/part/second.c)
clean format "${format[@]}"
with lib/part/second.c 'int  third( void );\n' finds "format: a blank" 'int third\(void\);' "${format[@]}"
with .clang-format 'IndentWidth: 4\nUseTab: Never\n' fails "format: a changed style" 'formatted' "${format[@]}"

clean cppcheck tools/lint/check.py cppcheck
with lib/part/second.c 'int odd(void);\nint odd(void)\n{\n\tint a[2] = {0};\n\n\treturn a[2];\n}\n' \
	finds "cppcheck: an index" 'second.c:.*arrayIndexOutOfBounds|second.c:.*out of bounds' tools/lint/check.py cppcheck
with lib/part/first.h 'static inline int odd(void)\n{\n\tint a[2] = {0};\n\n\treturn a[2];\n}\n' \
	fails "cppcheck: a changed header" 'first.h:.*out of bounds' tools/lint/check.py cppcheck

clean shellcheck tools/lint/check.py shellcheck bin/script.sh
# shellcheck disable=SC2016 # for the script
with bin/script.sh 'rm $1\n' finds "shellcheck: a word that splits" SC2086 tools/lint/check.py shellcheck bin/script.sh
printf '# shellcheck shell=sh\n' >bin/common.sh
fails "shellcheck: a changed file that the script sources" SC2154 tools/lint/check.py shellcheck bin/script.sh
git checkout -q bin/common.sh

clean clang-tidy tools/lint/check.py tidy
tools/lint/check.py tidy >"$tmp/out"
like "units left to make soak are counted" "^left to make soak: .* on 2 of 2 units" "$(<"$tmp/out")"
with lib/part/second.c 'int odd(int a);\nint odd(int a)\n{\n\treturn a == 1 || a == 1;\n}\n' \
	finds "clang-tidy: a check" 'second.c:.*misc-redundant-expression' tools/lint/check.py tidy
with lib/part/first.h 'static inline int odd(int a)\n{\n\treturn a == 1 || a == 1;\n}\n' \
	fails "clang-tidy: a changed header" 'first.h:.*misc-redundant-expression' tools/lint/check.py tidy

# In a file without recent changes, the shallow analyzer finds mistakes that do not depend on a callee.
cp lib/part/second.c "$tmp/second.c"
printf 'int odd(int n);\nint odd(int n)\n{\n\tint *p = n > 1 ? first(n) : 0;\n\n\treturn n > 2 ? 0 : *p;\n}\n' >>lib/part/second.c
commit shallow
echo >>.gitignore
commit later
finds "clang-tidy: a null pointer, in a file that has not changed" 'second.c:.*clang-analyzer-core.NullDereference' \
	tools/lint/check.py tidy

# The full analyzer finds mistakes that depend on a callee: in changed units, and everywhere with
# --full.
cp "$tmp/second.c" lib/part/second.c
cat >>lib/part/second.c <<'C'
static int sum(const int *from, int n)
{
	int result = 0;

	for (int i = 0; i < n; i++)
		result += i & 1 ? i : 2 * i;
	if (result > 3)
		return result;
	return n ? *from : 0;
}

int odd(int n);
int odd(int n)
{
	return n > 10 ? 0 : sum(0, n);
}
C
full=(fails '' 'second.c:.*clang-analyzer-core.NullDereference')
full[1]="clang-tidy: a null pointer of a callee, before the commit"
"${full[@]}" tools/lint/check.py tidy
commit deep
full[1]="clang-tidy: and in the last commit"
"${full[@]}" tools/lint/check.py tidy
echo >>.gitignore
commit later
ok "clang-tidy: later it is left to make soak" tools/lint/check.py tidy
full[1]="clang-tidy --full: reports it"
"${full[@]}" tools/lint/check.py tidy --full
full[1]="clang-tidy --full: reports it again"
"${full[@]}" tools/lint/check.py tidy --full
cp "$tmp/second.c" lib/part/second.c
clean "clang-tidy --full" tools/lint/check.py tidy --full
is "$(tools/lint/check.py tidy)" "" "nothing is left to make soak then"
done_testing
