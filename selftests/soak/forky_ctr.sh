#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Branch stacks on the 7.x kernel: what `make check` has no time for.
FORKY='lifecycle refused trace' exec "$(dirname "$0")/../ctr/forky.sh"
