# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# Commits the bugs named in its arguments.
for name in "$@"; do
	insmod /root/buggy.ko "bug=$name" 2>&1 | grep -q 'ECANCELED\|canceled\|cancelled' || echo "$name: not committed"
done
exit 0
