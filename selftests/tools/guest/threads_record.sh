#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Records the programs of the directory /root/threads, which run one after the other below /root/mark
# (host/threads_mark.c), to "data" in the job's directory, with timestamps. "clock" gets times, "counts" what the programs
# count.
#   threads_record.sh OPTION...
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=selftests/tools/guest/common.sh
. "$here/common.sh"
PATIENCE=3000 attempt record ntrace record -o data --timestamps any "$@" -- /root/mark clock /root/threads/*
status record 0
cp record.out counts
symbols_from data
is "$(awk '($1 == "lost" || $1 == "gaps") && $2' data/params)" "" "nothing is lost" || diag "$(cat record.err)"
done_testing
