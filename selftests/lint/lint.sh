#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# What can be said of the sources without running them.
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
	*) head -n 1 "$f" | grep -qE '^#!.*\b(ba|da|busybox )?sh$' && echo "$f" ;;
	esac
done)

# QEMU's own sources have QEMU's style.
mapfile -t formatted < <(printf '%s\n' "${c_files[@]}" | grep -v '^tools/vsoc/qemu/')
ok "formatting (make format mends it)" tools/lint/format.py "${formatted[@]}"

# What the kernel build compiles, sparse and W=1 look at; this is user space. BPF
# programs are looked at by the kernel.
mapfile -t units < <(files 'lib/*.c' 'tools/ntrace/*.c' 'tools/vsoc/model/*.c' ':!tools/ntrace/bpf')
flags=(-std=c11 -D_GNU_SOURCE -DNTRACE_BPF=none -Ilib/include -Ilib -Ikernel/include -Ikernel/include/uapi -Itools/vsoc/model)
tidy() {
	printf '%s\n' "${units[@]}" | xargs -P "$(nproc)" -n 4 tools/lint/tidy "${flags[*]}" >"$tmp/tidy" || {
		grep -E ': (warning|error):' "$tmp/tidy" | sed "s#^$top/##" | sort -u
		return 1
	}
}
ok "clang-tidy: ${#units[@]} files" tidy
check_cpp() {
	cppcheck --quiet --enable=warning,portability,performance --inline-suppr --error-exitcode=1 -j "$(nproc)" \
		--suppress=missingIncludeSystem --suppress=unknownMacro --suppress=normalCheckLevelMaxBranches \
		--std=c11 -D_GNU_SOURCE -D__x86_64__ "${flags[@]:2}" "${units[@]}"
}
ok "cppcheck: ${#units[@]} files" check_cpp
ok "shellcheck: ${#scripts[@]} scripts" shellcheck -x "${scripts[@]}"

# A file that people write says under which licence; data and tables do not.
without_licence() {
	local f missing=''
	while read -r f; do
		head -n 3 "$f" | grep -q 'SPDX-License-Identifier: ' || missing+=" $f"
	done < <({ files '*.c' '*.h' '*.S' '*.sh' '*.py' '*.mk' '*.inc' 'Makefile' 'Kbuild' '*/Kbuild' '*.map'; printf '%s\n' "${scripts[@]}"; } | sort -u)
	[ -z "$missing" ] || { echo "no SPDX line in:$missing"; return 1; }
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
ok "the text of every licence is there" known_licences

long_files() {
	local found
	found=$({ printf '%s\n' "${c_files[@]}" "${scripts[@]}"; files '*.py'; } | xargs wc -l | awk '$2 != "total" && $1 > 800')
	[ -z "$found" ] || { echo "more than 800 lines, is it still one thing?"; echo "$found"; return 1; }
}
ok "no source is longer than 800 lines" long_files

# The mirrors that this machine uses must not have slipped into the tree.
mirrors() {
	local hosts
	hosts=$(apt-get indextargets --format "\$(SITE)" 2>/dev/null | sed -E 's#^[a-z+]+://##; s#/.*##' | grep -F . | sort -u)
	[ -n "$hosts" ] || return 0
	! files | xargs -d '\n' grep -nIF -e "$hosts"
}
ok "no host name of a package mirror" mirrors

done_testing
