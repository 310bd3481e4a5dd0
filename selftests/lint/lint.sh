#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# runner: seconds=60
# Static checks of the sources.
# shellcheck source=selftests/tap.sh
. "$(dirname "$0")/../tap.sh"
cd "$top" || exit 1

# Tracked files and new ones that are not ignored.
files() { git ls-files -co --exclude-standard --deduplicate -- "$@" | while read -r f; do [ ! -f "$f" ] || echo "$f"; done; }
mapfile -t c_files < <(files '*.c' '*.h')
mapfile -t scripts < <(files | while read -r f; do
	case $f in
	*.sh) echo "$f" ;;
	*.*) ;;
	*) read -r first <"$f"; [[ ! $first =~ ^#!(.*[^a-z])?(ba|da|busybox )?sh$ ]] || echo "$f" ;;
	esac
done)

# QEMU's own sources have QEMU's style.
mapfile -t formatted < <(printf '%s\n' "${c_files[@]}" | grep -v '^tools/vsoc/qemu/')
ok "formatting (make format fixes it)" tools/lint/format.py "${formatted[@]}"

units=$(tools/lint/check.py units | wc -l)
# `make check-lint` lists the files that the quick run of clang-tidy leaves to `make soak`.
tidy() {
	local rc=0
	tools/lint/check.py tidy >"$tmp/tidy" || rc=$?
	grep '^left to make soak' "$tmp/tidy" >"$tmp/left"
	grep -v '^left to make soak' "$tmp/tidy"
	return "$rc"
}
ok "clang-tidy: $units files" tidy
[ ! -s "$tmp/left" ] || sed "s,^,# NOTE ," "$tmp/left"
ok "cppcheck: $units files" tools/lint/check.py cppcheck
ok "shellcheck: ${#scripts[@]} scripts" tools/lint/check.py shellcheck "${scripts[@]}"

# REUSE-IgnoreStart: a pattern is not a licence. Hand-written files name their licence; data and
# tables need not.
without_licence() {
	local missing
	missing=$({ files '*.c' '*.h' '*.S' '*.sh' '*.py' '*.mk' '*.inc' 'Makefile' 'Kbuild' '*/Kbuild' '*.map'; printf '%s\n' "${scripts[@]}"; } |
		sort -u | xargs awk 'FNR <= 3 && /SPDX-License-Identifier: / { seen[FILENAME] = 1 }
			END { for (i = 1; i < ARGC; i++) if (!seen[ARGV[i]]) print ARGV[i] }')
	[ -z "$missing" ] || { echo "no SPDX line in:"; echo "$missing"; return 1; }
}
ok "every source has its SPDX line" without_licence
known_licences() {
	local name bad=0
	while read -r name; do
		[ -e "LICENSES/$name.txt" ] || { echo "LICENSES/$name.txt is missing"; bad=1; }
	done < <(files '*.c' '*.h' '*.S' '*.sh' '*.py' '*.mk' | xargs head -qn 3 |
		sed -n 's#.*SPDX-License-Identifier: \([^*]*\).*#\1#p' | tr -d '()' | sed 's/ \(OR\|AND\|WITH\) /\n/g' |
		sed 's/ *$//' | sort -u)
	[ "$bad" -eq 0 ]
}
# REUSE-IgnoreEnd
ok "the text of every licence exists" known_licences

long_files() {
	local found
	found=$({ printf '%s\n' "${c_files[@]}" "${scripts[@]}"; files '*.py'; } | xargs wc -l | awk '$2 != "total" && $1 > 800')
	[ -z "$found" ] || { echo "more than 800 lines, is it still one thing?"; echo "$found"; return 1; }
}
ok "no source is longer than 800 lines" long_files

# mdoc takes a lone full stop for the end of the sentence: "\&." is one of a command.
examples() { ! grep -nE '^\.D[l1] ([^"]* )?[][().,:;!?]( |$)' Documentation/man/*.[1-9]; }
ok "manual pages: no word of an example is taken for punctuation" examples

# The tree must not name the package mirrors of this machine.
mirrors() {
	local hosts
	hosts=$(apt-get indextargets --format "\$(SITE)" 2>/dev/null | sed -E 's#^[a-z+]+://##; s#/.*##' | grep -F . | sort -u)
	[ -n "$hosts" ] || return 0
	! files | xargs -d '\n' grep -nIF -e "$hosts"
}
ok "no host name of a package mirror" mirrors

# Without running them: the runner checks its lists.
ok "mutants: each test is listed, each equivalent one exists" selftests/mutate/run --list --count 1

done_testing
