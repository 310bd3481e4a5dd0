# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# Functions of the benchmarks: runs in the guest, medians, the file of figures.
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
tmp=$(mktemp -d "${TMPDIR:-/tmp}/bench.XXXXXX")
trap 'rm -rf "$tmp"' EXIT
load=$top/build/riscv64/selftests/bench/bench_load
figures=()
# The file that the runner names, the argument of the script that reads this; without it, figures are only printed.
figures_file=${1:-}

# guest_run SCRIPT OPTION...: runs SCRIPT in the guest and prints its output.
guest_run() {
	local script=$1
	shift
	"$top/tools/vsoc/run" --quiet --put "$load:/usr/local/bin/bench_load" "$@" -- sh -c "$script"
}

# build NAME [OPTION...]: $tmp/NAME from NAME.c, with the library
build() {
	"${CC:-gcc}" -std=c11 -D_GNU_SOURCE -O2 -Wall -Wextra -I"$top/lib/include" -o "$tmp/$1" "$top/selftests/bench/$1.c" \
		"$top/build/libntrace.a" -ldw -lelf -llzma -lzstd -lz -lm -pthread "${@:2}"
}

# median NUMBER...
median() { printf '%s\n' "$@" | sort -g | awk '{ v[NR] = $1 } END { print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'; }

# smallest NUMBER...
smallest() { printf '%s\n' "$@" | sort -g | head -n 1; }

# A rate depends on the machine, and on its day. Bars of rates are stated for a machine on which libipt, Intel's decoder of its own
# trace, follows REFERENCE million instructions a second of a loop; what it does here, now, is the ruler.
REFERENCE=225
ruler=''
# measure_ruler: sets $ruler, if there is a libipt (libipt-dev of Debian amd64)
measure_ruler() {
	if build peer_libipt -lipt 2>"$tmp/errors" && "$tmp/peer_libipt" "$tmp/loop" >"$tmp/peer"; then
		# shellcheck disable=SC2046 # numbers
		ruler=$(median $(awk '$1 == "block" { print $2 }' "$tmp/peer"))
		figure "libipt, blocks of a loop" "$ruler" "million a second" 5
		echo "  bars of rates: those of a machine on which that is $REFERENCE"
	else
		echo "  no libipt (libipt-dev): bars of rates are those of a machine on which it follows $REFERENCE million instructions a second"
	fi
}

# rate NAME VALUE UNIT N LEAST: a figure that is at least LEAST where the ruler is REFERENCE
rate() { figure "$1" "$2" "$3" "$4" ">=$(awk -v b="$5" -v r="${ruler:-$REFERENCE}" -v n="$REFERENCE" 'BEGIN { printf "%.4g", b * r / n }')"; }

# figure NAME VALUE UNIT N [BAR]: BAR is what the value should be, such as ">=1200" or "<=50"
figure() {
	local bar='' more=''
	if [ -n "${5:-}" ]; then
		local met=false
		awk -v v="$2" -v b="${5:2}" -v o="${5:0:2}" 'BEGIN { exit !(o == ">=" ? v >= b : v <= b) }' && met=true
		more=", \"bar\": \"$5\", \"met\": $met"
		bar="  bar ${5:0:2} ${5:2}: "
		if $met; then bar+=met; else bar+='NOT MET'; fi
	fi
	figures+=("\"$1\": {\"value\": $2, \"unit\": \"$3\", \"n\": $4$more}")
	printf '  %-44s %12.4g %s (n=%s)%s\n' "$1" "$2" "$3" "$4" "$bar"
}

write_figures() {
	local IFS=','
	[ -z "$figures_file" ] || printf '{%s}\n' "${figures[*]}" | sed 's/},"/},\n"/g' >"$figures_file"
}
