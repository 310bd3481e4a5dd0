#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# A hundred recordings of different contents, counted by a Slurm array of one node and by a Dask cluster: the sum, and the
# profiles made of it for llvm-profgen, AutoFDO and pprof, are those of one run of ntrace count.
# selftests/tools/counts.sh does the same with GNU parallel.
set -uo pipefail
# shellcheck source=selftests/tools/small_recordings.sh
. "$(dirname "$0")/../tools/small_recordings.sh"
ok "packages" "$top/tools/setup/host-packages" test engines || done_testing
cd "$tmp" || exit 1
small_recordings "$tmp" 100 >/dev/null || not_ok "a hundred recordings"
ok "one run" "$ntrace" count -o want r{1..100}
for format in profgen autofdo pprof; do
	"$ntrace" export -f $format -o "want.$format" want 2>/dev/null
done

# same NAME: the file "sum" is that of one run, and so are its profiles
same() {
	ok "$1: the counts of one run, byte by byte" cmp want sum
	for format in profgen autofdo pprof; do
		# The name of the file is in the comment of pprof.
		(mkdir -p same && cp sum same/want && cd same && "$ntrace" export -f $format -o "../got.$format" want 2>/dev/null)
		ok "$1: the same $format" cmp "want.$format" "got.$format"
	done
	rm -f sum
}

# ---- Slurm: controller, node and munge on loopback, without privileges of their own ----
slurm_stopped() { ! cat slurmd.pid slurmctld.pid munge/pid 2>/dev/null | xargs -r kill -0 2>/dev/null; }
slurm_stop() {
	[ ! -s slurmd.pid ] || kill "$(<slurmd.pid)"
	[ ! -s slurmctld.pid ] || kill "$(<slurmctld.pid)"
	[ ! -s munge/pid ] || kill "$(<munge/pid)"
	wait_for slurm_stopped
}
trap 'slurm_stop 2>/dev/null; rm -rf "$tmp"' EXIT
mkdir -m 711 munge && mkdir -p slurm/state slurm/spool
head -c 64 /dev/urandom >munge/key && chmod 600 munge/key
node=$(hostname -s)
read -r first second < <(python3 -c 'import socket
sockets = [socket.socket() for _ in range(2)]
[s.bind(("127.0.0.1", 0)) for s in sockets]
print(*(s.getsockname()[1] for s in sockets))')
cat >slurm.conf <<END
ClusterName=test
SlurmctldHost=$node(127.0.0.1)
SlurmctldPort=$first
SlurmdPort=$second
AuthType=auth/munge
AuthInfo=socket=$tmp/munge/socket
CredType=cred/munge
SlurmUser=$(id -un)
SlurmdUser=$(id -un)
StateSaveLocation=$tmp/slurm/state
SlurmdSpoolDir=$tmp/slurm/spool
SlurmctldPidFile=$tmp/slurmctld.pid
SlurmdPidFile=$tmp/slurmd.pid
SlurmctldLogFile=$tmp/slurmctld.log
SlurmdLogFile=$tmp/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
MpiDefault=none
SwitchType=switch/none
ReturnToService=2
NodeName=$node NodeAddr=127.0.0.1 CPUs=$(nproc) State=UNKNOWN
PartitionName=all Nodes=$node Default=YES State=UP
END
export SLURM_CONF=$tmp/slurm.conf
ok "munge" munged --force --key-file="$tmp/munge/key" --socket="$tmp/munge/socket" --pid-file="$tmp/munge/pid" \
	--log-file="$tmp/munge/log" --seed-file="$tmp/munge/seed"
ok "Slurm's controller" slurmctld
ok "Slurm's node" slurmd
ok "the node is idle" wait_for bash -c 'sinfo -h -o %t | grep -qx idle' || diag "$(tail -n 20 slurmctld.log slurmd.log)"
# As in Documentation/many-recordings.md.
cat >job.sh <<END
#!/bin/sh
$ntrace count --shard \$SLURM_ARRAY_TASK_ID/\$SLURM_ARRAY_TASK_COUNT -o part.\$SLURM_ARRAY_TASK_ID r*
END
mkdir out
ok "an array of 8 tasks" sbatch --wait --array=1-8 --output=out/%a -D "$tmp" job.sh || diag "$(cat out/*)"
is "$(printf '%s\n' part.* | wc -l)" 8 "each task writes its part"
ok "merge the parts" "$ntrace" merge -o sum part.*
same Slurm
slurm_stop

# ---- Dask ----
cat >cluster.py <<'END'
import glob
import sys

import distributed

sys.path.insert(0, sys.argv[1])
import ntrace.dask

if __name__ == "__main__":
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        with distributed.Client(cluster) as client:
            ntrace.dask.count(client, sorted(glob.glob("r[0-9]*")), "sum", command=[sys.argv[2]])
            try:
                ntrace.dask.count(client, ["r1", "code"], "bad", command=[sys.argv[2]])
            except RuntimeError as error:
                print(error)
END
ok "a Dask cluster of 2 workers" env NTRACE_LIBRARY="$top/build/libntrace.so.0" /usr/bin/python3 cluster.py "$top/lib/python" "$ntrace"
like "a task that fails has the message of the command" "count: status 1: .*code" "$(cat .ok)"
is "$(ls sum.* 2>/dev/null)" "" "files of parts are removed"
same Dask
done_testing
