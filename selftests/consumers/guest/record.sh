#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Makes all recordings that the tests of this group read, in the guest: record.sh STACK_ROUNDS
# Each has its own directory in /tmp/recordings. Stops at the first one that fails.
set -e
rounds=$1
mkdir -p /tmp/recordings/{calculator,gcc,timed,stacks,samples}
cd /tmp/recordings

# With idle priority, the parent does not run during exec(). This is the harder case for the decoder, because there is no
# switch between the old program and the new one.
chrt -b 0 ntrace record -q -a --privilege u -o calculator/recording -- /root/calculator 200
ntrace record -q -a --privilege u -o gcc/recording -- /root/inlined 200
ntrace record -q -a --timestamps any -o timed/recording -- /root/timed >timed/said
for privilege in u us; do
	ntrace record -q --sink-size 4M --data-size 32M --privilege $privilege -o stacks/$privilege -- /root/stack_load "$rounds"
done

# Branch stacks of CTR, and samples without them. On a busy host, perf would lower the sampling rate.
echo 0 >/proc/sys/kernel/perf_cpu_time_max_percent
perf record -q -o samples/perf.data -c 20011 -e ctr/by-cycles,depth=32/u -j any,u -- /root/calculator 20000
perf record -q -o samples/plain.data -c 20011 -e cycles:u -- /root/calculator 4000
# The same with the kernel's own PMU, as guides for LBR type it. The module cannot be removed afterwards.
rmmod riscv_ctr
insmod /run/ntrace-modules/riscv_ctr.ko hook=1
perf record -q -o samples/hook.data -c 20011 -b -e cycles:u -- /root/calculator 20000
for name in perf hook; do
	perf script -i samples/$name.data -F ip,brstack --show-mmap-events >samples/$name.branches
done
