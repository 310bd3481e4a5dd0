# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# What the driver does for one user. Runs in the guest.
# shellcheck source=selftests/kernel/guest/common.sh
. /root/kernel/common.sh
program $here/abi /dev/ntrace0
program $here/trace /dev/ntrace0 0 0x6040000
program $here/trace /dev/ntrace1 1 0x6040000
is "$(dmesg | grep -c 'ntrace [0-9a-z.-]*: ')" 0 "the driver has nothing to say"
done_testing
