#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# The files of `make install` and their places: library and headers as pkg-config finds them, the command, a manual page for
# every command and option, completion for bash.
set -uo pipefail
# shellcheck source=selftests/tap.sh
. "$(dirname "$0")/../tap.sh"
root=$tmp/root
# Everything is built already: nothing is to be installed on this machine for it.
variables=(SETUP=true DESTDIR="$root" PREFIX=/usr libdir=/usr/lib/here)
run_make() { env -u MAKEFLAGS -u MAKELEVEL make -j1 -C "$top" --no-print-directory "$@" "${variables[@]}"; }
installed() { (cd "$root" && find . ! -type d | sed 's/^\.//' | sort); }

ok "make install" run_make install
version=$("$root/usr/bin/ntrace" --version)
like "it can load BPF programs" 'libbpf\.so' "$(ldd "$root/usr/bin/ntrace")"
like "the command runs" '^ntrace [0-9]+\.[0-9]+\.[0-9]+$' "$version"
version=${version#ntrace }
# version_of FILE MACRO
version_of() { sed -n "s/^#define $2 \"\(.*\)\"\$/\1/p" "$top/$1"; }
IFS=. read -r major minor patch <<<"$version"
is "$(sed -n 's/^#define NTRACE_VERSION_NUMBER //p' "$top/lib/include/ntrace/version.h")" \
	"$((10000 * major + 100 * minor + patch))" "the number that the header has"
is "$(version_of kernel/ntrace/version.h NTRACE_VERSION)" "$version" "ntrace.ko has the same version"
is "$(version_of kernel/ctr/ctr.h CTR_VERSION)" "$version" "riscv_ctr.ko, too"
is "$(sed -n '1s/^ntrace (\(.*\)-[0-9]*) .*/\1/p' "$top/tools/debian/changelog")" "$version" "and the Debian packages"
is "$(sed -n 's/^version = "\(.*\)"$/\1/p' "$top/pyproject.toml")" "$version" "and the wheel"
expected=$({
	printf '/usr/lib/here/libntrace.%s\n' a so so.0 "so.$version"
	printf '%s\n' /usr/bin/ntrace /usr/lib/here/pkgconfig/libntrace.pc \
		/usr/lib/systemd/system/ntrace-collect.service /usr/lib/udev/rules.d/60-ntrace.rules /usr/share/bash-completion/completions/ntrace
	(cd "$top/lib/python" && printf '/usr/lib/python3/dist-packages/%s\n' ntrace/*.py ntrace/py.typed)
	(cd "$top/lib/include" && printf '/usr/include/%s\n' ntrace/*.h)
	(cd "$top/Documentation/man" && printf '/usr/share/man/man1/%s\n' *.1)
} | sort)
is "$(installed)" "$expected" "these files and no others"
is "$(find "$root" -type f -perm /111)" "$root/usr/bin/ntrace" "only the command is executable"
is "$(find "$root" -xtype l)" "" "no link leads nowhere"

# As somebody does who has it installed, and has moved it: the prefix was /usr.
export PKG_CONFIG_PATH=$root/usr/lib/here/pkgconfig
is "$(pkg-config --modversion libntrace)" "$version" "pkg-config knows the version"
read -ra cflags < <(pkg-config --cflags libntrace)
read -ra shared < <(pkg-config --libs libntrace)
read -ra static < <(pkg-config --static --libs libntrace)
for source in "$top"/Documentation/examples/*.c; do
	name=$(basename "$source" .c)
	ok "$name.c with what pkg-config says" gcc -std=c11 -Wall -Wextra -Werror "${cflags[@]}" "$source" \
		"${shared[@]}" -o "$tmp/$name"
done
ok "all of the library, statically" gcc -std=c11 "${cflags[@]}" "$top/Documentation/examples/ctr.c" \
	"${static[0]}" -Wl,--whole-archive -l:libntrace.a -Wl,--no-whole-archive "${static[@]:2}" -o "$tmp/static"
printed=$(LD_LIBRARY_PATH=$root/usr/lib/here "$tmp/ctr")
like "an example runs with the installed library" "0x200c to 0x1004" "$printed"
is "$("$tmp/static")" "$printed" "and statically"
like "it asks for libntrace.so.0" "libntrace.so.0" "$(objdump -p "$tmp/ctr" | grep NEEDED)"
is "$(LD_LIBRARY_PATH=$root/usr/lib/here PYTHONPATH=$root/usr/lib/python3/dist-packages \
	python3 -c 'import ntrace; print(ntrace.Params("srcbits=2").src_bits, ntrace.__version__)')" "2 $version" "Python finds its module and the library"

# The completion, asked as bash asks it. Long options are compared with the command's own help.
complete_words() {
	# shellcheck disable=SC2016 # expanded by the inner shell
	bash --norc -c '. "$0/usr/share/bash-completion/completions/ntrace"
		COMP_WORDS=(ntrace "$@") COMP_CWORD=$#
		_ntrace "$0/usr/bin/ntrace"
		printf "%s\n" "${COMPREPLY[@]}"' "$root" "$@" 2>&1 | grep -v '^$' | sort
}
options_of() { "$root/usr/bin/ntrace" "$@" --help | grep -oE '^ +(-., )?--[a-z0-9-]+' | grep -oE -- '--[a-z0-9-]+' | sort -u; }
mapfile -t commands < <("$root/usr/bin/ntrace" --help |
	awk '/^commands:/ { on = 1; next } /^$/ { on = 0 } on && /^  [a-z]/ { print $1 }' | sort)
is "$(complete_words '' | grep -v '^--')" "$(printf '%s\n' "${commands[@]}")" "completion knows the ${#commands[@]} commands"
for command in "${commands[@]}" "ctr trace"; do
	read -ra words <<<"$command"
	page=$root/usr/share/man/man1/ntrace-${command// /-}.1
	[ "$command" != ctr ] || words+=(dump)
	is "$(complete_words "${words[@]}" --)" "$(options_of "${words[@]}")" "$command: completion knows its options"
	ok "$command: ${page##*/} is there" test -s "$page"
	missing=$(options_of "${words[@]}" | grep -vx -e --help | while read -r option; do
		grep -qE "^\.It (.* )?Fl (. , )?-${option#--}( |\$)" "$page" || echo "$option"
	done)
	is "$missing" "" "$command: ${page##*/} has its options"
done

# accepted COMMAND... OPTION WORD: the command has nothing to do and complains, but not of the
# word.
accepted() {
	local word=${*: -1}
	[[ $word != *: ]] || word=${word}4096
	"$root/usr/bin/ntrace" "${@:1:$#-1}" "$word" >"$tmp/complaint" 2>&1 </dev/null
	if grep -E "option ${*: -2:1}|'$word'" "$tmp/complaint"; then
		return 1
	fi
}
while read -ra words; do
	offered=$(complete_words "${words[@]}" '')
	like "${words[*]}: words are offered" '[A-Za-z0-9]' "$offered"
	for word in $offered; do
		ok "${words[*]} $word" accepted "${words[@]}" "$word"
	done
	fails "${words[*]} nonsense is refused" "nonsense|option --" accepted "${words[@]}" nonsense
done <<-END
	decode --level
	report --sort
	trigger --signal
	top --sort
	top --privilege
	export --format
	record --mode
	record --privilege
	record --sync
	record --timestamps
	record -a --traps
	encode --mode
	ctr dump --has
	ingress dump --dtype
	ingress dump --bytes
	ingress dump --privilege
	ctr trace vfs_read --at
END
is "$(complete_words decode --level = bl)" block "an argument behind ="
is "$(cd "$top" && complete_words decode READ)" README.md "files where there is no option"
like "the command that is recorded" gzip "$(complete_words record -o x -- gzi)"

if udevadm verify --help >/dev/null 2>&1; then
	ok "udev takes the rule" udevadm verify --resolve-names=never "$root/usr/lib/udev/rules.d/60-ntrace.rules"
else
	skip "udev takes the rule" "no udevadm that can verify"
fi

like "the service runs the installed command" "ExecStart=/usr/bin/ntrace collect " "$(cat "$root/usr/lib/systemd/system/ntrace-collect.service")"
ok "make uninstall" run_make uninstall
is "$(installed)" "" "leaves nothing"
done_testing
