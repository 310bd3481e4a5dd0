#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Limits the instructions that callgrind counts for each message, block and PC of a fixed stream in fast_paths.c. The general
# code gives the same results, so no other test notices that a fast path is off. The counts are the same on every run and on
# any host of one architecture; limits are 10 % above the counts of GCC 12 and 14 at -O2. The test turns off the fast path of
# each limit in a copy of its source, and the limit must be exceeded.
#
# fast_paths.table has the instructions for each byte of trace, by compiler. More than 5 % above it fails: a change that
# makes something slower on purpose, or faster, also changes the table. `fast_paths.sh --table` prints it anew.
# shellcheck source=selftests/tap.sh
. "$(dirname "$0")/../tap.sh"
cd "$top" || exit 1
print=${1:-}
if [ "$(uname -m)" != x86_64 ]; then
	skip "instructions for each message, block and PC" "the limits are those of x86_64"
	done_testing
fi
tools/setup/host-packages deep || exit 1

flags=(-std=c11 -D_GNU_SOURCE -O2 -g -Ilib/include -Ilib -Itools/ntrace)
# What the limits are about, whatever CFLAGS the library was built with.
sources=(lib/wire/reader.c lib/wire/sync.c lib/wire/table.c lib/flow/fast.c lib/flow/walk.c lib/flow/flow.c lib/flow/blocks.c
	lib/flow/count.c lib/flow/effects.c
	lib/profile/profile.c lib/profile/functions.c lib/profile/table.c lib/image/locator.c
	lib/stacks/stacks.c lib/stacks/thread.c lib/stacks/tree.c lib/stacks/run.c lib/stacks/upper.c lib/tandem/read.c
	tools/ntrace/stream/decode/pc_text.c tools/ntrace/common/process_limits.c tools/ntrace/common/output.c tools/ntrace/common/ui.c
	selftests/lib/fast_paths.c)
name_of() { tr / _ <<<"${1%.c}.o"; }
compile() { "${CC:-gcc}" "${flags[@]}" -iquote "$(dirname "$1")" -x c -c -o "$2" - < <(echo "# 1 \"$1\""; cat "${3:-$1}"); }
link() { "${CC:-gcc}" -o "$1" "${@:2}" build/obj/libntrace.a -ldw -lelf -llzma -lzstd -lz -ldl -pthread -lm; }
mkdir "$tmp/on" "$tmp/off"
for source in "${sources[@]}"; do
	compile "$source" "$tmp/on/$(name_of "$source")" || exit 1
done
link "$tmp/fast" "$tmp"/on/*.o || exit 1

# cost PROGRAM WHAT: a hundred times the instructions for each unit, and for each byte; nothing if something went wrong
cost() {
	local function=measured out units bytes counted
	case $2 in
	profile) function=ntrace_profile_event ;;
	functions) function=ntrace_profile_segment ;;
	stacks) function=ntrace_stacks_segment ;;
	tandem) function=ntrace_tandem_read ;;
	esac
	out=$(valgrind --tool=callgrind --callgrind-out-file=/dev/null --toggle-collect="$function" "$1" "$2" 2>"$tmp/callgrind") || return
	read -r units bytes <<<"$out"
	counted=$(sed -n 's/.*Collected : *//p' "$tmp/callgrind")
	[ "${units:-0}" -gt 0 ] && [ "${counted:-0}" -gt 0 ] && echo $((100 * counted / units)) $((100 * counted / bytes))
}

# decimal HUNDREDTHS
decimal() { printf '%d.%02d' $(($1 / 100)) $(($1 % 100)); }

compiler=$("${CC:-gcc}" -dumpversion)
compiler=gcc-${compiler%%.*}
table=selftests/lib/fast_paths.table
declare -A seen

# compare WHAT SPENT: checks the hundredths of instructions for each byte against the table, once for each WHAT
compare() {
	local known
	[ -z "${seen[$1]:-}" ] || return
	seen[$1]=1
	[ -z "$print" ] || echo "$compiler $1 $2" >>"$tmp/table"
	known=$(awk -v c="$compiler" -v w="$1" '$1 == c && $2 == w { print $3 }' "$table")
	if [ -z "$known" ]; then
		ok "$1: $(decimal "$2") instructions for each byte; the table has no row for $compiler" test "${2:-0}" -gt 0
		return
	fi
	ok "$1: $(decimal "${2:-0}") instructions for each byte, $(decimal "$known") in the table" \
		test "${2:-0}" -gt 0 -a $((100 * ${2:-0})) -le $((105 * known))
}

# gate WHAT UNIT LIMIT SOURCE SCRIPT: at most LIMIT instructions for each UNIT; sed SCRIPT
# turns the fast path off in SOURCE, and then there are more.
gate() {
	local what=$1 unit=$2 limit=$(($3 * 100)) source=$4 object spent byte
	object=$(name_of "$source")
	read -r spent byte < <(cost "$tmp/fast" "$what")
	ok "$what: $(decimal "${spent:-0}") instructions for each $unit, at most $3" test "${spent:-$((limit + 1))}" -le "$limit"
	compare "$what" "${byte:-0}"
	sed "$5" "$source" >"$tmp/off.c"
	if cmp -s "$source" "$tmp/off.c"; then
		not_ok "$what: $source has the line that turns the fast path off"
		return
	fi
	cp "$tmp"/on/*.o "$tmp/off/"
	if ! compile "$source" "$tmp/off/$object" "$tmp/off.c" || ! link "$tmp/slow" "$tmp"/off/*.o; then
		not_ok "$what: $source without the fast path compiles"
		return
	fi
	read -r spent _ < <(cost "$tmp/slow" "$what")
	ok "$what: $(decimal "${spent:-0}") without the fast path of $source: the limit is exceeded" test "${spent:-0}" -gt "$limit"
}

reader='s/if (reader->end - reader->next < (ptrdiff_t)sizeof(word))/if (1)/'
walk='s/if (block->price >= run.parcels)/if (1)/'
gate parse-btm message 69 lib/wire/reader.c "$reader"
gate parse-htm message 218 lib/wire/reader.c "$reader"
gate batch-btm message 29 lib/wire/reader.c 's/if (!reader->src_bits)$/if (0)/'
gate split-btm message 12 lib/wire/sync.c 's/size - at >= sizeof(word); at += sizeof(word)/0;/'
gate blocks-btm block 274 lib/flow/fast.c "$walk"
gate blocks-btm block 274 lib/flow/fast.c 's/if (!run->index || walk->eager ||/if (1 ||/'
gate blocks-htm block 72 lib/flow/fast.c "$walk"
gate blocks-htm block 72 lib/flow/blocks.c 's/block->link\[flow->previous_link\] = index;/;/'
# Counted blocks, with the sums at the end. Without counting, all messages are walked.
counted='s/if (!is_ready(flow, reader))/if (1)/'
gate count-btm block 85 lib/flow/count.c "$counted"
gate count-htm block 36 lib/flow/count.c "$counted"
gate remember-btm block 133 lib/flow/count.c "$counted"
gate remember-htm block 35 lib/flow/count.c "$counted"
# The same with call stacks.
at_stacks='s/if (!number || !entry->next ||/if (1 ||/'
gate report-btm block 122 lib/stacks/run.c "$at_stacks"
gate report-htm block 44 lib/stacks/run.c "$at_stacks"
# A stream without repetitions: its messages must not be remembered.
gate short-htm block 134 lib/flow/count.c 's/count->miss.valid = came_before(.*/count->miss.valid = true;/'
# The table of traces hashes addresses: 627 to 656 in different layouts of memory.
gate profile block 680 lib/image/locator.c \
	's/if (entry->address != address || entry->version != version || entry->space != space)/if (1)/'
gate functions block 172 lib/profile/profile.c 's/if (known->from != from ||/if (1 ||/'
gate stacks block 680 lib/stacks/stacks.c 's/while (block < end \&\& enter_ordinary_block(/while (0 \&\& enter_ordinary_block(/'
gate pcs PC 69 tools/ntrace/stream/decode/pc_text.c 's/text->entries\[index\].start)/0)/'
gate tandem field 34 lib/tandem/read.c 's/if (\*next == NTRACE_TANDEM_BEGIN/if (0/'
if [ -n "$print" ]; then
	cat "$tmp/table" >&2
fi
done_testing
