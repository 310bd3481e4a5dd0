#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Access of users other than root to the PMU "ntrace".
# shellcheck source=selftests/kernel/guest/common.sh
. "$(dirname "$0")/common.sh"
type=$(<$pmu/type)
paranoid() { echo "$1" >/proc/sys/kernel/perf_event_paranoid; }
# Debian's own level is an option of its kernels, which the debug kernel does not have.
[ -e /proc/lockdep ] || is "$(</proc/sys/kernel/perf_event_paranoid)" 3 "perf_event_paranoid is Debian's"

# Permission to trace harts does not depend on the mode of the device file.
chmod 666 /dev/ntrace*
for level in 3 2 1 -1; do
	paranoid "$level"
	program security open "$type" "$level" $$
done
chmod 600 /dev/ntrace*
paranoid 2
program security stale "$type"
program security wild "$type"
program security busy "$type"
program security traps "$type" kernel kernel.nex
# Encoders of version 0 trace everything, and are root's alone.
if [ -n "$version0" ]; then
	paranoid 3
	nothing_said
	done_testing
fi
install -m 4755 "$here/security" /tmp/setuid
program security setuid "$type" /tmp/setuid
rm /tmp/setuid

program security traps "$type" 3 btm.nex
program security traps "$type" 6 htm.nex

# Both users at the same time on the same harts, each with its own address
# space.
chmod a+x /root "${PWD%/*}" "$PWD"
ulimit -l unlimited
for user in 65533 65534; do
	mkdir "$user"
	chown "$user" "$user"
	setpriv --reuid="$user" --regid="$user" --clear-groups --inh-caps=-all \
		"$here/perf" trace "$type" "$PWD/$user" plain >"$tmp/$user" &
	users+=("$!")
done
for user in "${users[@]}"; do
	ok "two users trace at once" wait "$user"
done
for user in 65533 65534; do
	relay "user $user" cat "$tmp/$user"
	# The end of a task's turn may still be on its way in a sink that harts share, and the debug kernel
	# takes longer to save it than a switch of tasks may last.
	allowed=0
	[ "${sinks[0]}" != "${sinks[1]}" ] && [ ! -e /proc/lockdep ] || allowed=4
	is "$(awk -v allowed=$allowed '$3 != 0 && $3 != allowed' "$user/flags")" "" \
		"user $user: no record is truncated$([ $allowed -eq 4 ] || echo ' or partial')"
done
paranoid 3
nothing_said
done_testing
