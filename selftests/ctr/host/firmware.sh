# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# Harts whose firmware can lock CTR: OpenSBI sets mstateen0.CTR since 1.7; trixie has 1.6, forky
# 1.9. Harts without Smstateen have no such lock. CTR entries are read through Sscsrind, which has a
# bit of its own in mstateen0.
# shellcheck disable=SC2034
locked=rv64,smctr=true,ssctr=true,sscofpmf=true,smcsrind=true,sscsrind=true,smstateen=true
# firmware SUITE: prints the path of that suite's firmware
firmware() { tools/vsoc/guest/build --suite "$1" --firmware; }
