# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# Functions of the benchmarks: runs in the guest, medians, the file of figures.
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
tmp=$(mktemp -d "${TMPDIR:-/tmp}/bench.XXXXXX")
trap 'rm -rf "$tmp"' EXIT
load=$top/build/riscv64/selftests/bench/bench_load
figures=()

# guest_run SCRIPT OPTION...: runs SCRIPT in the guest and prints its output.
guest_run() {
	local script=$1
	shift
	"$top/tools/vsoc/run" --quiet --put "$load:/usr/local/bin/bench_load" "$@" -- sh -c "$script"
}

# median NUMBER...
median() { printf '%s\n' "$@" | sort -g | awk '{ v[NR] = $1 } END { print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'; }

# smallest NUMBER...
smallest() { printf '%s\n' "$@" | sort -g | head -n 1; }

# figure NAME VALUE UNIT N
figure() {
	figures+=("\"$1\": {\"value\": $2, \"unit\": \"$3\", \"n\": $4}")
	printf '  %-44s %12.4g %s (n=%s)\n' "$1" "$2" "$3" "$4"
}

# write_figures FILE
write_figures() {
	local IFS=','
	printf '{%s}\n' "${figures[*]}" | sed 's/},"/},\n"/g' >"${1:?name of a JSON file}"
}
