#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# kernel/patches contains the code of kernel/ctr, the driver's series can be made, the patches of perf and libntrace agree on AUXTRACE_INFO, and, if the
# kernel source has been downloaded, the patches apply. `make check-patches` runs the other checks. The driver is for kernels
# of 64 bits alone.
# shellcheck source=selftests/tap.sh
. "$(dirname "$0")/../tap.sh"
cd "$top" || exit 1
ok "the series has the code of kernel/ctr (kernel/patches/update puts it there)" kernel/patches/generate --check
for directory in kernel/patches/ kernel/patches/*/; do
	numbers=("$directory"[0-9]*.patch)
	[ -e "${numbers[0]}" ] || continue
	numbers=("${numbers[@]#"$directory"}")
	first=$((10#${numbers[0]%%-*}))
	is "${numbers[*]%%-*}" "$(seq -s ' ' -f %04.0f $first $((first + ${#numbers[@]} - 1)))" "$directory: one patch of each number"
done
ok "the series of the driver is made of kernel/ntrace" kernel/patches/ntrace/generate "$tmp/ntrace"

# Parameters of a hart: the last patch of ntrace.h, the documents, and the library's reader have the same ones.
params=$(cat kernel/patches/perf/0001-*.patch | sed -n '/^+	NTRACE_HART_FORMAT,/,/^+	NTRACE_HART_PRIV_MAX,/p' | grep -c '^+	NTRACE_HART_[A-Z_]*,')
documented=$(grep -cE '^\| [0-9]+ \|' Documentation/trace/auxtrace-info.md)
is "$((documented - 1))" "$((params - 1))" "Documentation/trace/auxtrace-info.md has the parameters of perf's block"
page=$(cat kernel/patches/perf/*-perf-doc-*.patch | sed -n '/^+AUXTRACE_INFO/,/^+SEE ALSO/p' | grep -cE '^\+	[0-9]+	')
is "$page" "$((params - 1))" "perf-ntrace(1) has them, too"
is "$(grep -oE 'hart_word\(record, at, [0-9]+\)' lib/recording/aux_info.c | grep -oE '[0-9]+' | tail -n 1)" "$((params - 2))" \
	"lib/recording reads up to the last one"

# What main.c says without its headers, which are the kernel's.
preprocess() { grep -v '^#include' kernel/ntrace/main.c | cpp -P '-DIS_ENABLED(option)=1' '-DIS_MODULE(option)=1' "$@" -o /dev/null -; }
ok "the driver builds for 64 bits" preprocess -DCONFIG_64BIT
fails "and not for 32" "needs a 64-bit kernel" preprocess
like "Kconfig says so, too" 'depends on .*\b64BIT\b' "$(<kernel/patches/ntrace/Kconfig)"

if source=$(kernel/patches/source --cached); then
	# In a separate index: no file of the tree changes.
	# applies DIRECTORY
	applies() {
		local patch
		export GIT_INDEX_FILE=$tmp/index
		git -C "$source" read-tree HEAD || return 1
		for patch in "$1"/[0-9]*.patch; do
			[[ $patch = */0000-* ]] || git -C "$source" apply --cached "$(realpath "$patch")" || { echo "$patch"; return 1; }
		done
	}
	for series in kernel/patches "$tmp/ntrace" kernel/patches/perf kernel/patches/autofdo; do
		ok "${series##*/}: the patches apply to $(git -C "$source" log -1 --format=%s)" applies "$series"
	done
else
	skip "the patches apply" "no kernel source in the cache: make check-patches fetches it"
fi
done_testing
