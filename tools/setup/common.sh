# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# Shared by the scripts that install, fetch and build files outside the tree:
# the place of the cache, locks, retries, atomic publication, progress lines.
#
# Rules of the cache: an artefact is a directory named after a hash of its
# inputs. It is made in a temporary directory of the same file system and
# renamed into place, so it is either complete or absent.

# shellcheck disable=SC2034 # used by the scripts that source this file
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/ntrace
host_arch=$(dpkg --print-architecture)
jobs=${JOBS:-$(nproc)}

say() { printf '%s\n' "ntrace: $*" >&2; }
die() { say "error: $*"; exit 1; }

hash_text() { sha256sum | cut -c1-16; }

# hash_files PATH...: prints a hash of the contents (not the times) of files and
# directories that exist. Names are relative to the top of the tree, so that
# every clone has the same hash.
hash_files() {
	local path
	for path in "$@"; do
		[ -e "$path" ] || continue
		find "$path" -type f ! -name '*.swp' ! -name '*~' -print0
	done | sort -z -u | xargs -0 -r sha256sum | sed "s|  $top/|  |" | hash_text
}

# lock NAME: holds the lock NAME until the script ends. Prints a line if another
# run holds it.
lock() {
	local fd
	mkdir -p "$cache/locks"
	exec {fd}>"$cache/locks/$1"
	if ! flock -n "$fd"; then
		say "$1: waiting for another run that is making it"
		flock "$fd"
	fi
}

# Makes a temporary directory, which is removed at the end of the script unless
# it was published. It has a parent of its own: a package unpacked into it may
# set an old time, and the next run that removes leftovers would otherwise
# remove it.
scratch_dirs=()
scratch_end() {
	local dir
	for dir in "${scratch_dirs[@]}"; do
		rm -rf --one-file-system "$dir"
	done
}
trap scratch_end EXIT
scratch() {
	mkdir -p "$cache/tmp"
	find "$cache/tmp" -mindepth 1 -maxdepth 1 -mmin +1440 -exec rm -rf {} + 2>/dev/null || true
	scratch_dirs+=("$(mktemp -d "$cache/tmp/XXXXXX")")
	scratch=${scratch_dirs[-1]}/new
	mkdir -m 755 "$scratch"
}

# publish FROM TO: TO appears complete or not at all.
publish() {
	mkdir -p "$(dirname "$2")"
	rm -rf --one-file-system "$2"
	mv -T "$1" "$2"
}

# retry COMMAND...: network commands get three attempts.
retry() {
	local attempt
	for attempt in 1 2 3; do
		"$@" && return 0
		[ "$attempt" = 3 ] || { say "attempt $attempt failed: $1; trying again"; sleep $((attempt * 3)); }
	done
	return 1
}

# step TEXT COMMAND...: runs a long command quietly; prints a line every ten
# seconds, the duration at the end, and the end of the command's output if it
# fails.
step() {
	local what=$1 out start=$SECONDS next=10 pid ticker who='' rc=0 last
	shift
	mkdir -p "$cache/tmp"
	out=$(mktemp "$cache/tmp/step.XXXXXX")
	say "$what ..."
	# A session of its own, so that an interrupt reaches all its processes.
	setsid --wait bash -c 'set -euo pipefail; "$@"' step "$@" >"$out" 2>&1 </dev/null &
	pid=$!
	# shellcheck disable=SC2064 # expand the pid now
	trap "kill -TERM -- -$pid 2>/dev/null; exit 130" INT TERM
	while [ "$who" != "$pid" ]; do
		# Continues when the command ends or a second has passed.
		sleep 1 &
		ticker=$!
		rc=0
		wait -n -p who "$pid" "$ticker" || rc=$?
		if [ "$who" = "$pid" ]; then
			# Not TERM: until the child runs sleep, it runs this script's traps.
			# disown: else bash reports the death.
			disown "$ticker" 2>/dev/null || true
			kill -KILL "$ticker" 2>/dev/null || true
		elif [ $((SECONDS - start)) -ge "$next" ]; then
			next=$((next + 10))
			# A command without output so far is not a failure.
			last=$(tr '\r' '\n' <"$out" | awk 'NF { line = $0 } END { print substr(line, 1, 100) }')
			say "  $what: $((SECONDS - start)) s: $last"
		fi
	done
	trap - INT TERM
	if [ "$rc" -ne 0 ]; then
		say "$what failed with $rc after $((SECONDS - start)) s; the end of its output:"
		tail -n 40 "$out" >&2
		rm -f "$out"
		return "$rc"
	fi
	say "$what: done in $((SECONDS - start)) s"
	rm -f "$out"
}
