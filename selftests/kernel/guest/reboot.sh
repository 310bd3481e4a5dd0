# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# Reboots while both harts are traced. Runs in the guest.
# shellcheck source=selftests/kernel/guest/common.sh
. /root/kernel/common.sh
$here/hold /dev/ntrace0 <>/dev/console >/tmp/hold0 &
$here/hold /dev/ntrace1 <>/dev/console >/tmp/hold1 &
for _ in 1 2 3 4 5 6 7 8 9 10; do
	grep -q running /tmp/hold0 && grep -q running /tmp/hold1 && break
	sleep 1
done
grep -q running /tmp/hold0 && grep -q running /tmp/hold1 && echo tracing
# Not by way of init: no process is asked to end.
reboot -f
sleep 60
