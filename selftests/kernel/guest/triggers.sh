# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# External triggers. Runs in the guest.
# shellcheck source=selftests/kernel/guest/common.sh
. /root/kernel/common.sh
program $here/triggers "$(encoder 0)"
is "$(dmesg | grep -cE 'ntrace ([0-9a-f]+\.|ntrace)')" 0 "the driver has nothing to say"
done_testing
