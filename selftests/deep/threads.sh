#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# runner: seconds=60
# threads.c under ThreadSanitizer: threads that share images and address spaces. Then the test
# removes each kind of protection from a copy of the sources, and ThreadSanitizer must report that.
set -uo pipefail
# shellcheck source=selftests/tap.sh
. "$(dirname "$0")/../tap.sh"
cd "$top" || exit 1
flags=(-std=c11 -D_GNU_SOURCE -O1 -g -fsanitize=thread -Ilib/include -Ilib)
image=(lib/image/object.c lib/image/space.c lib/image/symbols.c)
others=()
# The check of an ingress port executes instructions, which these threads do not.
for source in lib/{encode,flow,image,ingress,isa,wire}/*.c; do
	[[ " ${image[*]} lib/ingress/checker.c lib/ingress/program.c " == *" $source "* ]] || others+=("$source")
done
mkdir "$tmp/o"
ok "the library for threads is built" env -C "$tmp/o" "${CC:-gcc}" -std=c11 -D_GNU_SOURCE -O1 -g -fsanitize=thread \
	-I"$top/lib/include" -I"$top/lib" -c "${others[@]/#/$top/}" "$top/selftests/deep/threads.c"

# run_with SOURCE...: builds with these sources instead of object.c, space.c and symbols.c
run_with() {
	"${CC:-gcc}" "${flags[@]}" -iquote lib/image -o "$tmp/threads" "$@" "$tmp"/o/*.o -ldw -lelf -llzma -lzstd -lz -ldl -pthread || return 9
	TSAN_OPTIONS="halt_on_error=1 exitcode=66" setarch -R "$tmp/threads"
}
ok "threads share images" run_with "${image[@]}"
# unprotected WHAT FILE SCRIPT: removes the protection from FILE with sed SCRIPT
unprotected() {
	local sources=() source
	for source in "${image[@]}"; do
		[ "$source" = "lib/image/$2" ] || sources+=("$source")
	done
	sed "$3" "lib/image/$2" >"$tmp/$2"
	if cmp -s "lib/image/$2" "$tmp/$2"; then
		not_ok "$1: $2 has the lines that protect"
		return
	fi
	run_with "${sources[@]}" "$tmp/$2" >"$tmp/out" 2>&1
	is $? 66 "$1: without protection a race is reported"
}
unprotected "first look-up of a symbol" symbols.c 's/memory_order_release/memory_order_relaxed/'
unprotected "hint of a space" space.c 's/atomic_store_explicit(hit, at, memory_order_relaxed)/*(volatile size_t *)hit = at/'
unprotected "references of a space" space.c 's/atomic_fetch_add_explicit(&space->references, 1, memory_order_relaxed)/(*(volatile unsigned int *)\&space->references)++/'
unprotected "references of an object" object.c 's/atomic_fetch_add_explicit(&object->references, 1, memory_order_relaxed)/(*(volatile unsigned int *)\&object->references)++/'
done_testing
