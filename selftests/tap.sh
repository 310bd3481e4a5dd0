# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# TAP for shell scripts, on this host and in the guest: `. tap.sh` first, done_testing
# last. Works in any directory; $top is the project's directory (meaningless in the guest).
#   ok TEXT COMMAND...         the command succeeds; else its output is shown
#   is GOT EXPECTED TEXT       two strings are equal
#   like TEXT PATTERN STRING   the string matches the extended regular expression
#   fails TEXT PATTERN COMMAND...  exits with 1..125 and prints something matching
#   skip TEXT WHY; diag TEXT; pass TEXT; not_ok TEXT
#   retried TEXT               reports a retry; the runner counts and limits retries
#   skip_all WHY               ends the test, skipped as a whole
#   wait_for COMMAND...        waits until it succeeds; fails after $wait_seconds of the machine's time
#   relay NAME COMMAND...      turns the TAP results of a command into results of this test
#   needs_guest NAME           ends the test, skipped, if that guest is not available
# $tmp is a directory that is removed at the end of the test.

# shellcheck disable=SC2034
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
tap_count=0 tap_failures=0 tap_skips=0
tmp=$(mktemp -d "${TMPDIR:-/tmp}/selftest.XXXXXX")
trap 'rm -rf "$tmp"' EXIT
echo "TAP version 13"

pass() { tap_count=$((tap_count + 1)); echo "ok $tap_count - $*"; }
not_ok() { tap_count=$((tap_count + 1)); tap_failures=$((tap_failures + 1)); echo "not ok $tap_count - $*"; }
skip() { tap_count=$((tap_count + 1)); tap_skips=$((tap_skips + 1)); echo "ok $tap_count - $1 # SKIP $2"; }
diag() { while IFS= read -r line; do echo "# $line"; done <<<"$*"; }
retried() { echo "# RETRY $*"; }

# Polls twenty times a second: between polls a guest is idle, and other processes run.
wait_seconds=120
wait_for() {
	local end=$((SECONDS + wait_seconds))
	until "$@" >/dev/null 2>&1; do
		[ "$SECONDS" -lt "$end" ] || { echo "# waited $wait_seconds s for: $*" >&2; return 1; }
		sleep 0.05
	done
}

# The command's output goes to $tmp/.ok, its messages and progress to $tmp/.ok.err.
ok() {
	local text=$1 rc=0 ran_command
	shift
	"$@" >"$tmp/.ok" 2>"$tmp/.ok.err" || rc=$?
	if [ "$rc" -eq 0 ]; then
		pass "$text"
	else
		not_ok "$text"
		# The name of the check tells which files: there may be a thousand.
		ran_command="$*"
		diag "status $rc: ${ran_command:0:400}"
		diag "$(tail -n 60 "$tmp/.ok" && tail -n 60 "$tmp/.ok.err")"
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

# take_line NAME LINE: handles one output line of another test. A result becomes a result of this
# test, prefixed with NAME; any other line is printed. Counts in $taken, and sets $taken_plan.
take_line() {
	local text=${2#*ok } why
	# Remove the number and the "-" after it, which KTAP omits.
	text=${text#"${text%%[!0-9]*}"}
	text=${text# } text=${text#- }
	case $2 in
	'ok '*'# SKIP'*)
		why=${text#*# SKIP}
		text=${text%%# SKIP*}
		skip "$1: ${text% }" "${why# }"
		;;
	'Bail out!'*)
		# The line may come from a child; the program itself has not ended.
		not_ok "$1: $2"
		return
		;;
	'ok '*) pass "$1: $text" ;;
	'not ok '*) not_ok "$1: $text" ;;
	'TAP version '* | 'KTAP version '*) return ;;
	'1..'[0-9]*)
		taken_plan=${2#1..}
		taken_plan=${taken_plan%% *}
		return
		;;
	*)
		echo "$2"
		return
		;;
	esac
	taken=$((taken + 1))
}

# take_end NAME STATUS: the other test has ended. Its plan must exist and match; a test without any
# result has failed. Status 4 means that all of it was skipped (kselftest).
take_end() {
	[ "$2" -ne 4 ] || [ "$tap_skips" -eq 0 ] || set -- "$1" 0
	[ "$taken" -gt 0 ] && [ "$taken_plan" = "$taken" ] && [ "$2" -eq 0 ] && return
	# A failed result explains a status of 1.
	[ "$taken" -gt 0 ] && [ "$taken_plan" = "$taken" ] && [ "$2" -eq 1 ] && [ "$tap_failures" -gt "$taken_failures" ] && return
	not_ok "$1: ended with status $2 after $taken of ${taken_plan:-?} tests"
}
take_begin() { taken=0 taken_plan='' taken_failures=$tap_failures; }

relay() {
	local name=$1 line rc=0
	shift
	take_begin
	"$@" >"$tmp/.relay" 2>"$tmp/.relay.err" </dev/null || rc=$?
	while IFS= read -r line; do
		take_line "$name" "$line"
	done <"$tmp/.relay"
	take_end "$name" "$rc"
	[ "$rc" -eq 0 ] || diag "$(tail -n 60 "$tmp/.relay.err")"
}

skip_all() {
	echo "1..0 # SKIP $*"
	exit 4
}

needs_guest() {
	[ ! -e "$top/build/guest-$1.skip" ] || skip_all "$(<"$top/build/guest-$1.skip")"
}

done_testing() {
	echo "1..$tap_count"
	[ "$tap_failures" -eq 0 ] || exit 1
	exit 0
}
