#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# ntrace archive: an archived recording decodes to the same output on a machine without the files of the recorded one.
set -uo pipefail
# shellcheck source=selftests/tap.sh
. "$(dirname "$0")/../tap.sh"
examples=$top/Documentation/examples ntrace=$top/build/ntrace
export LD_LIBRARY_PATH=$top/build
machine=$tmp/machine
mkdir -p "$machine/bin" "$tmp/elsewhere"

riscv64-linux-gnu-gcc -march=rv64gc -nostdlib -static -Wl,-Ttext=0x10000 -Wl,--build-id -g -o "$machine/bin/demo" \
	"$examples/demo.S" || exit 1
for name in encode recording; do
	gcc -std=c11 -I "$top/lib/include" "$examples/$name.c" -L "$top/build" -lntrace -o "$tmp/$name" || exit 1
done
"$tmp/encode" "$tmp/trace" >/dev/null
# record DIRECTORY PROGRAM
record() { "$tmp/recording" "$1" "$2" "$(stat -c %s "$tmp/trace")" && cp "$tmp/trace" "$1/aux.0"; }
# executed DIRECTORY: what was, without the notes
executed() { "$ntrace" decode --level instruction "$1" 2>/dev/null; }

record "$tmp/dir" "$machine/bin/demo"
executed "$tmp/dir" >"$tmp/expected"
is "$(grep -c 'leaf' "$tmp/expected")" 1 "what was executed, where it was recorded"
# A debug file comes along.
mkdir "$machine/bin/.debug"
riscv64-linux-gnu-objcopy --only-keep-debug "$machine/bin/demo" "$machine/bin/.debug/demo.debug"
(cd "$machine/bin/.debug" && riscv64-linux-gnu-objcopy --add-gnu-debuglink=demo.debug ../demo)
"$ntrace" archive "$tmp/dir" >"$tmp/out" 2>&1
is $? 0 "ntrace archive"
like "says what it did" "2 files, .* in $tmp/dir/archive" "$(cat "$tmp/out")"
ok "the program" cmp "$machine/bin/demo" "$tmp/dir/archive/$machine/bin/demo"
ok "its debug file" cmp "$machine/bin/.debug/demo.debug" "$tmp/dir/archive/$machine/bin/.debug/demo.debug"
fails "not over another one" "archive exists: remove it first" "$ntrace" archive "$tmp/dir"
mv "$tmp/dir" "$tmp/elsewhere/"
mv "$machine" "$tmp/gone"
is "$(executed "$tmp/elsewhere/dir")" "$(cat "$tmp/expected")" "elsewhere: the same instructions"
mv "$tmp/elsewhere/dir/archive" "$tmp/elsewhere/dir/hidden"
is "$(executed "$tmp/elsewhere/dir" | grep -c leaf)" 0 "without the archive nothing is known of them"

# What is missing is said; what would leave the archive is left out.
"$ntrace" archive "$tmp/elsewhere/dir" >"$tmp/out" 2>&1
is $? 3 "a program that is gone"
like "is named" "$machine/bin/demo: No such file" "$(cat "$tmp/out")"
mkdir -p "$tmp/a" && cp "$tmp/gone/bin/demo" "$tmp/demo"
record "$tmp/sly" "$tmp/a/../demo"
"$ntrace" archive "$tmp/sly" >"$tmp/out" 2>&1
is $? 3 "a path that leads up"
like "is refused" "/a/../demo: not a path that can be archived" "$(cat "$tmp/out")"
is "$(find "$tmp/sly/archive" -type f)" "" "and nothing is written"
mkdir -p "$tmp/root$tmp" && cp "$tmp/demo" "$tmp/root$tmp/there"
record "$tmp/board" "$tmp/there"
ok "from a sysroot" "$ntrace" archive --sysroot "$tmp/root" "$tmp/board"
ok "with paths of the recorded machine" cmp "$tmp/demo" "$tmp/board/archive$tmp/there"
fails "no recording" "not a recording|no recording" "$ntrace" archive "$tmp/a"
fails "nothing to archive" "a recording is needed" "$ntrace" archive
done_testing
