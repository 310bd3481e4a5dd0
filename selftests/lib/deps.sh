#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Missing Debian packages: which goals of make install them, what the others say. apt-get,
# sudo and dpkg-query are stand-ins that write down how they were called.
set -uo pipefail
# shellcheck source=selftests/tap.sh
. "$(dirname "$0")/../tap.sh"
cd "$top" || exit 1
packages=tools/setup/host-packages
# As in a shell where nobody has called make check.
unset MAKEFLAGS MAKELEVEL NTRACE_INSTALL WERROR CI CC CFLAGS CPPFLAGS
export XDG_CACHE_HOME=$tmp/cache

mkdir "$tmp/bin"
for name in apt-get sudo touch; do
	printf '#!/bin/sh\necho "%s $*" >>"%s/called"\n' "$name" "$tmp" >"$tmp/bin/$name"
done
# dpkg knows the packages of the file "installed".
printf '#!/bin/sh\nsed "s/^/installed /" "%s/installed"\n' "$tmp" >"$tmp/bin/dpkg-query"
printf '#!/bin/sh\n[ "$*" = -u ] && echo 0\n' >"$tmp/bin/id"
chmod +x "$tmp"/bin/*
with() { PATH=$tmp/bin:$PATH "$@"; }
touched() { ! test -e "$tmp/called"; }

: >"$tmp/installed"
fails "a missing package is named" "error: these Debian packages are missing: npm" with "$packages" npm
like "and how to install it" 'make deps DEPS="npm"' "$(cat "$tmp/.ok")"
ok "no package manager was called" touched
echo npm >"$tmp/installed"
ok "an installed one is not" with "$packages" npm

# Libraries count where the compiler finds them, whatever dpkg says.
: >"$tmp/installed"
ok "libraries that dpkg does not know" with "$packages" base
cat >"$tmp/bin/poor-cc" <<-'END'
	#!/bin/sh
	# A machine without zstd and zlib.
	sed 's/<zstd.h>/<no-zstd.h>/; s/<zlib.h>/<no-zlib.h>/' | gcc "$@"
END
chmod +x "$tmp/bin/poor-cc"
fails "libraries that are missing" "not found: <no-zstd.h>" env CC=poor-cc PATH="$tmp/bin:$PATH" "$packages" base
is "$(grep -c error "$tmp/.ok") $(sed -n 's/.*error: //p' "$tmp/.ok")" \
	"1 these Debian packages are missing: libzstd-dev zlib1g-dev" "are named together, once"
like "with the command that installs them" 'make deps$' "$(cat "$tmp/.ok")"
fails "no compiler" "not found: the compiler no-cc" env CC=no-cc PATH="$tmp/bin:$PATH" "$packages" base
like "and with it all that dpkg misses" "missing: gcc libc6-dev libdw-dev" "$(cat "$tmp/.ok")"

# The path without dpkg: another distribution.
mkdir "$tmp/other"
for name in bash sh awk cat sed sort tr gcc ar dirname; do
	ln -s "$(command -v "$name")" "$tmp/other/$name"
done
ln -s "$tmp/bin/poor-cc" "$tmp/other/"
ok "another distribution with the libraries" env PATH="$tmp/other" "$packages" base
fails "and without" "this system has no apt-get" env CC=poor-cc PATH="$tmp/other" "$packages" base
ok "groups that only Debian's names describe" env PATH="$tmp/other" "$packages" npm
ok "nothing was installed up to here" touched

ok "NTRACE_INSTALL=1" env NTRACE_INSTALL=1 PATH="$tmp/bin:$PATH" "$packages" npm
like "says before what it installs" "installing 1 Debian packages \(npm\): npm" "$(cat "$tmp/.ok.err")"
like "and installs it" "apt-get .*install -y --no-install-recommends npm" "$(cat "$tmp/called")"

# What a goal of make would do: the variable reaches the scripts of the goal.
cat >"$tmp/probe.mk" <<-'END'
	include Makefile
	probe: ; @echo "install=$$NTRACE_INSTALL werror=$(WERROR)"
	inner: ; @echo "$(filter -j%,$(MAKEFLAGS))"
	outer: ; @$(MAKE) -s --no-print-directory -f $(firstword $(MAKEFILE_LIST)) inner
END
probe() { make -s -f "$tmp/probe.mk" probe MAKECMDGOALS="$1" "${@:2}"; }
for goal in '' all install deb lib native riscv64 vsoc dist html; do
	is "$(probe "$goal")" "install= werror=" "make $goal installs nothing, and lets warnings be warnings"
done
for goal in check check-quick check-lib; do
	is "$(probe "$goal")" "install=1 werror=-Werror" "make $goal installs, and judges"
done
for goal in deps demo demo-fdo demo-kernel-fdo soak bench; do
	is "$(probe "$goal")" "install=1 werror=" "make $goal installs"
done
is "$(CI=true probe demo)" "install=1 werror=-Werror" "continuous integration judges all builds"
is "$(make -s deps SETUP=echo) $(make -s deps DEPS=vsoc SETUP=echo)" "base vsoc" "make deps DEPS=GROUP"
# A make that a make calls takes its jobs, without a warning that they were reset.
for jobs in '' -j1 -j3; do
	is "$(make -s $jobs -f "$tmp/probe.mk" outer 2>&1)" "${jobs:--j$(nproc)}" "make ${jobs:-without -j}: called makes run as many jobs"
done

# Nothing is compiled again because warnings count or do not.
for werror in '' -Werror; do
	is "$(make -s -j1 lib SETUP=true WERROR=$werror)" "" "make lib WERROR=$werror, after check-lib has built it"
done
done_testing
