# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# Harts on which the firmware can keep CTR closed: OpenSBI sets mstateen0.CTR since 1.7; trixie has 1.6, forky 1.9. Without
# Smstateen there is no such lock. CTR is read through Sscsrind, which has its own bit there.
# shellcheck disable=SC2034
locked=rv64,smctr=true,ssctr=true,sscofpmf=true,smcsrind=true,sscsrind=true,smstateen=true
# firmware SUITE: the path of that suite's
firmware() { tools/vsoc/guest/build --suite "$1" --firmware; }
