#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# The driver on the 7.x kernel: what `make check` has no time for.
FORKY='active kexec lifecycle reboot suspend' exec "$(dirname "$0")/../kernel/forky.sh"
