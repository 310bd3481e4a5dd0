#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Runs the tests of the drivers and of the command on a machine with hardware, as run_kselftest.sh of the kernel does:
#   run_kselftest.sh [-l] [-c COLLECTION]... [-t COLLECTION:TEST]...
#   -l  lists the tests     -c  runs a collection (all)     -t  runs a test
# Needs root. Prints TAP; each line of a test begins with "# ". Exit status: 0 = all passed or were skipped.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
list=0 wanted=()

usage() {
	sed -n 's/^# \{0,1\}//; 3,6p' "$0" >&2
	exit 2
}
while getopts lc:t: option; do
	case $option in
	l) list=1 ;;
	c | t) wanted+=("$OPTARG") ;;
	*) usage ;;
	esac
done
[ $OPTIND -gt $# ] || usage

tests=()
for file in "$here"/*/kselftest-list.txt; do
	collection=$(basename "$(dirname "$file")")
	while read -r test; do
		tests+=("$collection:$test")
	done <"$file"
done
chosen=()
for test in ${wanted[@]+"${wanted[@]}"}; do
	known=0
	for name in ${tests[@]+"${tests[@]}"}; do
		if [ "$name" = "$test" ] || [ "${name%%:*}" = "$test" ]; then
			chosen+=("$name") known=1
		fi
	done
	[ $known = 1 ] || { echo "run_kselftest.sh: no test $test: -l lists them" >&2 && exit 2; }
done
[ ${#wanted[@]} -gt 0 ] || chosen=(${tests[@]+"${tests[@]}"})
if [ $list = 1 ]; then
	printf '%s\n' ${chosen[@]+"${chosen[@]}"}
	exit
fi

echo "TAP version 13"
echo "1..${#chosen[@]}"
number=0 failed=0
for name in ${chosen[@]+"${chosen[@]}"}; do
	collection=${name%%:*} test=${name#*:} number=$((number + 1))
	seconds=$(sed -n 's/^timeout=//p' "$here/$collection/settings" 2>/dev/null)
	echo "# selftests: $collection: $test"
	(cd "$here/$collection" && exec timeout -k 10 "${seconds:-45}" "./$test" 2>&1 </dev/null) | sed 's/^/# /'
	status=${PIPESTATUS[0]}
	case $status in
	0) echo "ok $number selftests: $collection: $test" ;;
	4) echo "ok $number selftests: $collection: $test # SKIP" ;;
	124) echo "not ok $number selftests: $collection: $test # TIMEOUT ${seconds:-45} seconds" ;;
	*) echo "not ok $number selftests: $collection: $test # exit=$status" ;;
	esac
	[ "$status" = 0 ] || [ "$status" = 4 ] || failed=1
done
exit $failed
