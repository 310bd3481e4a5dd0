#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# runner: guest seconds=200
# Branch stacks on two harts:
#   lifecycle  what the PMU takes and refuses; tasks are kept apart; events, harts and the module come and go
#   edges      those of a program with known edges, compared with the graph that objdump derives from its ELF
#   trace      ntrace ctr trace: how harts came to a function and out of it, compared with the kernel's text
#   fuzz       random perf_event_attr contents; SEED chooses another sequence
#   samples    each overflow of a counter interrupts
#   suspend    system sleep
#   kernel     those of the kernel, and with hook=1 those of its own PMU
# shellcheck source=selftests/guest.sh
. "$(dirname "$0")/../guest.sh"
# shellcheck source=selftests/ctr/host/jobs.sh
. selftests/ctr/host/jobs.sh

# Wrong uses, which fail before any recording.
ntrace=build/ntrace
fails "no function" 'a function is needed' $ntrace ctr trace
fails "--at nowhere" "'nowhere' is not one of" $ntrace ctr trace --at nowhere vfs_open
fails "--errors at entries" '--errors applies to returns' $ntrace ctr trace -e --at entry vfs_open
fails "--entries 257" 'not between 1 and 256' $ntrace ctr trace --entries 257 vfs_open
fails "--comm of 16 characters" 'has 1 to 15 characters' $ntrace ctr trace -c 0123456789abcdef vfs_open
fails "a build without BPF says so" 'built without BPF' $ntrace ctr trace vfs_open
like "help has examples" 'examples:.*ntrace ctr trace -e' "$($ntrace ctr trace --help)"

for job in lifecycle edges trace; do guest_job $job ctr/$job.sh; done
guest_job fuzz ctr/fuzz.sh 200 100 "${SEED:-1}"
guest_job samples ctr/samples.sh icount
guest_job suspend ctr/suspend.sh
# With hook=1 the module stays: last.
guest_job kernel ctr/kernel.sh
guest_boot ctr --smp 2 --icount --tools --module build/kernel/ctr/riscv_ctr.ko
for job in edges trace suspend kernel; do guest_ran $job && judge_$job; done
done_testing
