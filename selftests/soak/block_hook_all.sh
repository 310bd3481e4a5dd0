#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# block_hook.py with every program under every variant of translation that it allows.
BLOCK_HOOK_ALL=1 exec "$(dirname "$0")/../vsoc/block_hook.py"
