# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# What users who are not root get of the PMU "ntrace". Runs in the guest.
# shellcheck source=selftests/kernel/guest/common.sh
. /root/kernel/common.sh
type=$(</sys/bus/event_source/devices/ntrace/type)
paranoid() { echo "$1" >/proc/sys/kernel/perf_event_paranoid; }
is "$(</proc/sys/kernel/perf_event_paranoid)" 3 "perf_event_paranoid is Debian's"

# The right to trace harts does not hang on the mode of the file.
chmod 666 /dev/ntrace*
for level in 3 2 1 -1; do
	paranoid "$level"
	program $here/security open "$type" "$level" $$
done
chmod 600 /dev/ntrace*
paranoid 2
program $here/security stale "$type"
program $here/security wild "$type"
program $here/security busy "$type"
cp $here/security /tmp/setuid
chmod 4755 /tmp/setuid
program $here/security setuid "$type" /tmp/setuid

out=/root/traced
mkdir "$out"
program $here/security traps "$type" 3 "$out/btm.nex"
program $here/security traps "$type" 6 "$out/htm.nex"
program $here/security traps "$type" kernel "$out/kernel.nex"

# Both at once on the same harts, each with an address space of its own.
chmod 755 /root
ulimit -l unlimited
for user in 65533 65534; do
	mkdir "$out/$user"
	chown "$user" "$out/$user"
	setpriv --reuid="$user" --regid="$user" --clear-groups --inh-caps=-all \
		$here/perf trace "$type" "$out/$user" plain >"/tmp/$user" &
	users+=("$!")
done
for user in "${users[@]}"; do
	ok "two users trace at once" wait "$user"
done
for user in 65533 65534; do
	mv "/tmp/$user" "$out/$user/steps"
	is "$(awk '$3 % 2 == 1' "$out/$user/flags")" "" "user $user: no record is truncated"
done
done_testing
