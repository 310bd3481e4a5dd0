# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# What a test script needs to speak TAP: `. selftests/tap.sh` first, done_testing
# last. Expects to be run from anywhere; $top is the project's directory.
#   ok TEXT COMMAND...         the command succeeds; its output is shown if not
#   is GOT EXPECTED TEXT       two strings are equal
#   like TEXT PATTERN STRING   the string matches the extended regular expression
#   fails TEXT PATTERN COMMAND...  exits with 1..125 and says something matching
#   skip TEXT WHY; diag TEXT; pass TEXT; not_ok TEXT
#   relay NAME COMMAND...      the results of a command that speaks TAP, as our own
#   needs_guest NAME           ends the test, skipped, if that guest is not to be had
# $tmp is a directory that vanishes with the test.

# shellcheck disable=SC2034
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
tap_count=0 tap_failures=0
tmp=$(mktemp -d "${TMPDIR:-/tmp}/selftest.XXXXXX")
trap 'rm -rf "$tmp"' EXIT

pass() { tap_count=$((tap_count + 1)); echo "ok $tap_count - $*"; }
not_ok() { tap_count=$((tap_count + 1)); tap_failures=$((tap_failures + 1)); echo "not ok $tap_count - $*"; }
skip() { tap_count=$((tap_count + 1)); echo "ok $tap_count - $1 # SKIP $2"; }
diag() { while IFS= read -r line; do echo "# $line"; done <<<"$*"; }

ok() {
	local text=$1 rc=0
	shift
	"$@" >"$tmp/.ok" 2>&1 || rc=$?
	if [ "$rc" -eq 0 ]; then
		pass "$text"
	else
		not_ok "$text"
		diag "status $rc: $*"
		diag "$(tail -n 60 "$tmp/.ok")"
		return 1
	fi
}

is() {
	if [ "$1" = "$2" ]; then
		pass "$3"
	else
		not_ok "$3"
		diag "     got $1"
		diag "expected $2"
		return 1
	fi
}

like() {
	if [[ $3 =~ $2 ]]; then
		pass "$1"
	else
		not_ok "$1"
		diag "     got $3"
		diag "expected to match $2"
		return 1
	fi
}

fails() {
	local text=$1 pattern=$2 rc=0
	shift 2
	"$@" >"$tmp/.ok" 2>&1 </dev/null || rc=$?
	if [ "$rc" -ge 1 ] && [ "$rc" -le 125 ] && grep -qE -- "$pattern" "$tmp/.ok"; then
		pass "$text"
	else
		not_ok "$text"
		diag "status $rc, expected a failure with output matching $pattern: $*"
		diag "$(tail -n 20 "$tmp/.ok")"
		return 1
	fi
}

relay() {
	local name=$1 line rc=0 count=0 plan=''
	shift
	"$@" >"$tmp/.relay" 2>"$tmp/.relay.err" </dev/null || rc=$?
	while IFS= read -r line; do
		case $line in
		'ok '*' # SKIP '*) skip "$name: $(sed 's/^ok [0-9]* - //; s/ # SKIP .*//' <<<"$line")" "${line#* \# SKIP }" ;;
		'ok '*) pass "$name: ${line#ok * - }" ;;
		'not ok '*) not_ok "$name: ${line#not ok * - }" ;;
		'1..'*) plan=${line#1..} ;;
		*) echo "$line" ;;
		esac
		case $line in 'ok '* | 'not ok '*) count=$((count + 1)) ;; esac
	done <"$tmp/.relay"
	[ "$rc" -eq 0 ] && [ "$plan" = "$count" ] && return
	not_ok "$name: ended with status $rc after $count of ${plan:-?} tests"
	diag "$(tail -n 60 "$tmp/.relay.err")"
}

needs_guest() {
	[ -e "$top/build/guest-$1.skip" ] || return 0
	echo "1..0 # SKIP $(<"$top/build/guest-$1.skip")"
	exit 0
}

done_testing() {
	echo "1..$tap_count"
	[ "$tap_failures" -eq 0 ] || exit 1
	exit 0
}
