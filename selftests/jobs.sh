#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Runs the jobs of selftests/guest.sh in the guest, one after the other. A line of FILE is the name
# of a job and its command. Each runs in a session and a directory of its own, /root/results/NAME;
# processes that outlive it are a failure, since they would disturb the next. Exits with 0 if all
# jobs could be run: their results are in their output.
#   jobs.sh FILE
# A job that shuts down the guest, by a reboot or otherwise, first runs the following command, which
# ends the job with STATUS and hands over what /init would hand over at the end.
#   jobs.sh --last STATUS
share=/run/share
if [ "$1" = --last ]; then
	echo "# job ${PWD##*/} ended with $2"
	mkdir -p $share/get
	while read -r number path; do
		[ ! -e "$path" ] || cp -rH "$path" "$share/get/$number"
	done <$share/get.list
	dmesg >$share/dmesg
	echo 0 >$share/status
	exit
fi
while read -r name command; do
	echo "# job $name begins"
	echo "selftest: $name begins" >/dev/kmsg
	mkdir -p "/root/results/$name"
	cd "/root/results/$name" || exit 1
	setsid --wait bash -c "echo \$\$ >/root/session; exec $command" </dev/null 2>&1
	status=$?
	session=$(</root/session)
	# A process that was killed may need a moment to exit.
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		left=$(pgrep -s "$session" -l) || break
		sleep 0.1
	done
	if [ -n "$left" ]; then
		echo "# processes left behind: $left"
		pkill -KILL -s "$session"
		[ "$status" -ne 0 ] || status=125
	fi
	cd /root || exit 1
	echo "# job $name ended with $status"
done <"$1"
