#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# runner: guest seconds=180
# Branch stacks on two harts:
#   lifecycle  accepted and refused events; isolation of tasks; events, harts, the module come and go
#   edges      branch stacks of a program with known edges, compared with objdump's graph of its ELF
#   users      command lines of users: events, groups, filters, processes that come and go, several users
#   trace      ntrace ctr trace: transfers into a function and out of it, compared with kernel text
#   states     disabled, throttled and refreshed events
#   fuzz       random perf_event_attr contents; SEED chooses another sequence
#   samples    each counter overflow causes an interrupt
#   suspend    system sleep
#   kernel     branch stacks of the kernel, and with hook=1 those of its own PMU
#   users_cpu  the command lines of users with the kernel's own PMU
# shellcheck source=selftests/guest.sh
. "$(dirname "$0")/../guest.sh"
# shellcheck source=selftests/ctr/host/jobs.sh
. selftests/ctr/host/jobs.sh

# Usage errors, which fail before any recording.
ntrace=build/ntrace
fails "no function" 'a function is needed' $ntrace ctr trace
fails "--at nowhere" "'nowhere' is not one of" $ntrace ctr trace --at nowhere vfs_open
fails "--errors at entries" '--errors applies to returns' $ntrace ctr trace -e --at entry vfs_open
fails "--entries 257" 'not between 1 and 256' $ntrace ctr trace --entries 257 vfs_open
fails "--comm of 16 characters" 'has 1 to 15 characters' $ntrace ctr trace -c 0123456789abcdef vfs_open
fails "a machine without Control Transfer Records" 'no PMU "ctr"|needs root' $ntrace ctr trace vfs_open
like "help has examples" 'examples:.*ntrace ctr trace -e' "$($ntrace ctr trace --help)"

for job in lifecycle edges trace; do guest_job $job ctr/$job.sh; done
guest_job users ctr/users.sh ctr
guest_job states ctr/states.sh
guest_job fuzz ctr/fuzz.sh 200 100 "${SEED:-1}"
guest_job samples ctr/samples.sh icount
guest_job suspend ctr/suspend.sh
# These jobs come last: with hook=1 the module cannot be removed.
guest_job kernel ctr/kernel.sh
guest_job users_cpu ctr/users.sh cpu
# Records have cycles and mispredictions, which the evaluation knows.
guest_boot ctr --smp 2 --icount --global ntrace-encoder.ctr-details=on --tools --module build/kernel/ctr/riscv_ctr.ko
for job in edges trace suspend kernel; do guest_ran $job && judge_$job; done
! guest_ran users || judge_users "$results/users" 46
! guest_ran users_cpu || judge_users "$results/users_cpu" 48
# The checks above have found no wrong one among them; selftests/soak/ctr_pairs.sh joins a million.
ok "$joined pairs of neighbouring entries joined" test "$joined" -ge $((${#guest_status[@]} < 10 ? 0 : 60000))
done_testing
