#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# The patch of kernel/patches/llvm on the newest LLVM in Debian: llvm-profgen is compiled with the patch and linked with Debian's
# library. Its tests, and the new one for RISC-V, which fails without the patch, run in LLVM's own lit.
# shellcheck source=selftests/tap.sh
. "$(dirname "$0")/../tap.sh"
cd "$top" || exit 1
if ! read -r major source < <(kernel/patches/llvm/source 2>"$tmp/source"); then
	diag "$(tail -n 3 "$tmp/source")"
	skip_all "no LLVM source of Debian sid in reach"
fi
packages=("llvm-$major" "llvm-$major-dev" "llvm-$major-tools")
if ! debian=$(tools/setup/private sid "usr/lib/llvm-$major/bin/llvm-profgen" "${packages[@]}" 2>"$tmp/private"); then
	diag "$(tail -n 3 "$tmp/private")"
	skip_all "no ${packages[*]} of Debian sid in reach"
fi
root=${debian%/command/*} tree=$tmp/tree
git clone -q -s "$source" "$tree"
ok "the source: $(git -C "$tree" log -1 --format=%s)" test -e "$tree/llvm/tools/llvm-profgen/ProfiledBinary.cpp"
for patch in kernel/patches/llvm/[0-9]*.patch; do
	ok "${patch##*/} applies" git -C "$tree" -c user.name=check -c user.email=check@invalid am -q "$top/$patch" || done_testing
done
ok "no line is longer than 80 columns, or ends with a space" \
	test -z "$(git -C "$tree" diff HEAD~1 -- '*.cpp' | grep -E '^\+(.{81}|.* $)')"

compile() {
	local file library
	for file in "$tree"/llvm/tools/llvm-profgen/*.cpp; do
		g++ -c -O1 -std=c++17 -Wall -fno-exceptions -fno-rtti -DNDEBUG -D_GNU_SOURCE -D__STDC_CONSTANT_MACROS -D__STDC_FORMAT_MACROS \
			-D__STDC_LIMIT_MACROS -isystem "$root/usr/include/llvm-$major" -isystem "$root/usr/include/llvm-c-$major" \
			"$file" -o "$tmp/$(basename "$file" .cpp).o" || return 1
	done
	library=$(find "$root/usr/lib" -name "libLLVM.so.$major*" | head -n 1)
	# The library needs a newer C library than this host's.
	g++ "$tmp"/*.o "$library" -Wl,--allow-shlib-undefined -o "$tmp/patched"
}
ok "it compiles" compile || done_testing

# run TOOL...: runs lit with llvm-profgen TOOL; NAME=FILE of the tools of LLVM that the tests use
mkdir "$tmp/bin"
command_of() { sed -e "s#^root=.*#root=$root#" -e "s#\"\\\$root/usr/lib/llvm-$major/bin/llvm-profgen\"#\"$1\"#" "$debian"; }
for name in FileCheck split-file yaml2obj not llvm-objdump llvm-profdata; do
	[ -x "$root/usr/lib/llvm-$major/bin/$name" ] || continue
	command_of "$root/usr/lib/llvm-$major/bin/$name" >"$tmp/bin/$name"
done
cat >"$tree/llvm/test/lit.cfg" <<-'END'
	import os
	import lit.formats
	config.name = "llvm-profgen"
	config.test_format = lit.formats.ShTest()
	config.suffixes = [".test"]
	config.excludes = ["Inputs"]
	config.test_source_root = os.path.dirname(__file__)
	config.targets = frozenset(["RISCV", "X86", "AArch64"])
	config.available_features = ["x86_64-linux", "x86-registered-target"]
	config.environment["PATH"] = os.environ["PATH"]
END
# lit FILE TEST...: with this llvm-profgen
lit() {
	command_of "$1" >"$tmp/bin/llvm-profgen"
	chmod +x "$tmp/bin"/*
	PATH=$tmp/bin:$PATH PYTHONPATH=$root/usr/lib/llvm-$major/utils/lit python3 -c 'import lit.main; lit.main.main()' -j"$(nproc)" "${@:2}" \
		>"$tmp/lit" 2>&1
}
tests=$tree/llvm/test/tools/llvm-profgen
ok "the test of RISC-V" lit "$tmp/patched" -v "$tests/RISCV" || diag "$(tail -n 40 "$tmp/lit")"
like "and it ran" 'Passed: 1 ' "$(tr '\n' ' ' <"$tmp/lit")"
unpatched=$root/usr/lib/llvm-$major/bin/llvm-profgen
without() { lit "$unpatched" "$tests/RISCV" || { cat "$tmp/lit"; return 1; }; }
fails "it fails without the patch" 'FAIL: .*calls-returns' without
# verdicts FILE: of the tests of other targets
verdicts() { lit "$1" -v "$tests" --ignore-fail; grep -oE '^[A-Z]+: llvm-profgen :: .* \(' "$tmp/lit" | grep -v RISCV | sort; }
verdicts "$unpatched" >"$tmp/before"
verdicts "$tmp/patched" >"$tmp/after"
diag "$(cut -d: -f1 "$tmp/after" | sort | uniq -c)"
ok "the tests of other targets run" test "$(grep -c ^PASS "$tmp/before")" -ge 20
ok "with the same verdicts as without the patch" diff "$tmp/before" "$tmp/after"
done_testing
