#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# kernel/patches contains the code of kernel/ctr, and, if the kernel source has been downloaded, the
# patches apply. `make check-patches` runs the other checks.
# shellcheck source=selftests/tap.sh
. "$(dirname "$0")/../tap.sh"
cd "$top" || exit 1
ok "the series has the code of kernel/ctr (kernel/patches/update puts it there)" kernel/patches/generate --check

if source=$(kernel/patches/source --cached); then
	# In a separate index: no file of the tree changes.
	applies() {
		local patch
		export GIT_INDEX_FILE=$tmp/index
		git -C "$source" read-tree HEAD || return 1
		for patch in kernel/patches/[0-9]*.patch; do
			[[ $patch = */0000-* ]] || git -C "$source" apply --cached "$top/$patch" || { echo "$patch"; return 1; }
		done
	}
	ok "the patches apply to $(git -C "$source" log -1 --format=%s)" applies
else
	skip "the patches apply" "no kernel source in the cache: make check-patches fetches it"
fi
done_testing
