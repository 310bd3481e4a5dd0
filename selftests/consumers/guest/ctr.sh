# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# Records a program with branch stacks, and without; and says what perf itself
# reads in the recording. Runs in the guest.
# shellcheck source=selftests/tap.sh
. /root/tap.sh
# On a busy host perf would lower the sampling rate.
echo 0 >/proc/sys/kernel/perf_cpu_time_max_percent
mkdir -p /tmp/out
cd /tmp/out || exit 1
ok "record" perf record -q -o perf.data -c 20011 -e ctr/cycles,depth=32/u -j any,u -- /root/calculator 40000
ok "record without branches" perf record -q -o plain.data -c 20011 -e cycles:u -- /root/calculator 4000
perf script -i perf.data -F ip,brstack --show-mmap-events >branches
done_testing
