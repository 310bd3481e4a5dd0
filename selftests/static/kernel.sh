#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# The kernel's own tools over kernel/: W=1 and sparse (Debian forky's, the older ones
# do not know RISC-V's extensions), checkpatch --strict, coccicheck.
# shellcheck source=selftests/tap.sh
. "$(dirname "$0")/../tap.sh"
cd "$top" || exit 1

if [ -e build/guest-forky.skip ]; then
	skip "W=1 and sparse" "$(<build/guest-forky.skip)"
else
	ok "W=1 and sparse" tools/setup/kbuild --suite forky --sparse . "$top/build/kernel-sparse"
fi

scripts=$(tools/setup/kernel-scripts) || exit 1
mapfile -t sources < <(git ls-files -co --exclude-standard 'kernel/*.[ch]')
# FILE KIND of each finding, as in the file accepted.
findings() {
	perl "$scripts/scripts/checkpatch.pl" --strict --no-tree --terse --show-types -f "${sources[@]}" 2>/dev/null |
		sed -nE 's/^([^:]*):[0-9]+: (CHECK|WARNING|ERROR):([A-Z_0-9]*):.*/\1 \3/p' | sort -u
}
findings >"$tmp/found"
grep -v '^#' selftests/static/accepted | cut -d' ' -f1,2 | sort -u >"$tmp/accepted"
is "$(comm -23 "$tmp/found" "$tmp/accepted")" "" "checkpatch --strict: ${#sources[@]} files, nothing without a reason"
is "$(comm -13 "$tmp/found" "$tmp/accepted")" "" "no reason without its finding"

# stream_open is about 2019's conversion; the other two want an OCaml compiler, one
# of them for a single driver.
semantic() {
	local patch
	find "$scripts/scripts/coccinelle" -name '*.cocci' ! -name stream_open.cocci ! -name check_bq27xxx_data.cocci \
		! -name badzero.cocci | sort | while read -r patch; do
		spatch -D report --very-quiet --no-show-diff --cocci-file "$patch" --include-headers \
			-I kernel/include -I kernel/include/uapi --dir kernel 2>&1 | sed "s#^#${patch##*/}: #"
	done | grep -v ': *$' || true
}
if command -v spatch >/dev/null; then
	semantic >"$tmp/semantic"
	is "$(cat "$tmp/semantic")" "" "coccicheck: $(find "$scripts/scripts/coccinelle" -name '*.cocci' | wc -l) semantic patches"
else
	skip "coccicheck" "no coccinelle on this host"
fi
done_testing
