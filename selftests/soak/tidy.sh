#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# clang-tidy with the full static analyzer on every source; `make check-lint` runs the
# full analyzer on changed sources only (tools/lint/check.py).
# shellcheck source=selftests/tap.sh
. "$(dirname "$0")/../tap.sh"
"$top/tools/setup/host-packages" base lint || exit 1
ok "clang-tidy with the full analyzer: $("$top/tools/lint/check.py" units | wc -l) files" "$top/tools/lint/check.py" tidy --full
done_testing
