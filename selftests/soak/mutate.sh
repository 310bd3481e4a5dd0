#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# The tests detect mutants of the library and of the command (selftests/mutate/run); and the runner itself, on a small
# library, reports killed and surviving mutants correctly.
#   MUTATE_COUNT, MUTATE_SEED, MUTATE_BUDGET   for each of the two: number of mutants, their choice, seconds
# shellcheck source=selftests/tap.sh
. "$(dirname "$0")/../tap.sh"
cd "$top" || exit 1
# The command that the script tests run, and the recordings that they read.
make build-lib build-tools build-ctr build-consumers >&2 || exit 1
count=${MUTATE_COUNT:-300} seed=${MUTATE_SEED:-1} budget=${MUTATE_BUDGET:-3600}

fixture=$tmp/fixture
mkdir -p "$fixture/lib"
cat >"$fixture/lib/part.c" <<'C'
int limited(int value, int most)
{
	if (value > most)
		return most;
	return value;
}

int sum(int n)
{
	int i = 0, result = 0;

	while (i < n) {
		result += i;
		i++;
	}
	return result;
}

int ignored(int value)
{
	return value - 7;
}

int uncalled(int value)
{
	return value << 3;
}

int same(int value)
{
	return value + 0;
}

int distance(int a, int b)
{
	if (a > b)
		return a - b;
	return b - a;
}
C
cat >"$fixture/test_part.c" <<'C'
#include <stdio.h>
#include <stdlib.h>

int limited(int value, int most);
int sum(int n);
int ignored(int value);
int distance(int a, int b);

int main(void)
{
	if (limited(5, 3) != 3 || limited(2, 3) != 2 || sum(4) != 6 ||
	    distance(5, 3) != 2 || distance(3, 5) != 2)
		exit(1);
	ignored(3);
	puts("ok 1 - all\n1..1");
	return 0;
}
C
runner=(selftests/mutate/run --fixture "$fixture" --work "$tmp/work" --count 0)
touch "$tmp/none"
"${runner[@]}" --equivalent "$tmp/none" >"$tmp/out" 2>&1
is $? 1 "the fixture: too many survive"
all=$(<"$tmp/out")
like "a negated condition is killed" 'killed: lib/part.c:limited:negate:0 \(test_part\)' "$all"
like "a dropped assignment is killed" 'killed: lib/part.c:sum:drop:0 \(test_part\)' "$all"
like "an endless loop is killed" 'killed: lib/part.c:sum:drop:1 \(test_part\)' "$all"
like "what no test checks survives" 'survived: lib/part.c:21: ignored: arithmetic \(1 tests execute it: test_part\)' "$all"
like "its diff" $'\n    -\treturn value - 7;\n    [+]\treturn value [+] 7;\n' "$all"
like "the line that repeats it" 'selftests/mutate/run --fixture [^ ]* --seed 1 --only lib/part.c:ignored:arithmetic:0' "$all"
like "what no test executes survives" 'survived: lib/part.c:26: uncalled: bits \(no test executes it\)' "$all"
like "the same code is no mutant" 'same code: lib/part.c:same:arithmetic:0 ' "$all"
like "an equivalent one survives as long as it is not listed" 'survived: lib/part.c:36: distance: boundary ' "$all"
like "the score" $'\nscore: 75.0 % \\(95 % demanded\\): 9 killed, 3 survived, 0 listed as equivalent, 2 compiled to the same code, 0 did not' "$all"

printf 'lib/part.c\tdistance\tboundary\tif (a >= b)\tthe distance is 0 either way\n' >"$tmp/list"
"${runner[@]}" --equivalent "$tmp/list" --at-least 80 >"$tmp/out" 2>&1
is $? 0 "without the listed one the share is high enough"
like "the listed one is not run" ' 9 killed, 2 survived, 1 listed as equivalent, 2 compiled' "$(<"$tmp/out")"
printf 'lib/part.c\tdistance\tboundary\tif (a >= c)\tgone\n' >>"$tmp/list"
fails "a listed one that is no longer there is an error" 'list: no mutant is lib/part.c . distance . boundary . if \(a >= c\)' \
	"${runner[@]}" --equivalent "$tmp/list" --at-least 0
only=(selftests/mutate/run --fixture "$fixture" --work "$tmp/work" --equivalent "$tmp/none" --only)
ok "--only: one that is killed" "${only[@]}" lib/part.c:limited:negate:0
fails "--only: one that survives" 'survived: lib/part.c:21' "${only[@]}" lib/part.c:ignored:arithmetic:0
fails "--only: a missing mutant" 'no mutant lib/part.c:limited:negate:7' "${only[@]}" lib/part.c:limited:negate:7
sed -i 's/return 0;/return 1;/' "$fixture/test_part.c"
fails "tests that fail without a mutant are refused" 'test_part fails without a mutant' "${only[@]}" lib/part.c:limited:negate:0

for part in lib tools/ntrace; do
	diag "$count mutants of $part, seed $seed, $budget s at most"
	ok "the tests kill 95 % of the mutants of $part" selftests/mutate/run --count "$count" --seed "$seed" --budget "$budget" "$part"
	# Print the score also when it is high enough.
	diag "$(tail -n 1 "$tmp/.ok")"
done
done_testing
