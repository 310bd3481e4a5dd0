#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# `make deb`: builds the Debian packages, checks them with lintian, and uses their contents from a directory.
set -uo pipefail
# shellcheck source=selftests/tap.sh
. "$(dirname "$0")/../tap.sh"
"$top/tools/setup/host-packages" package || exit 1
deb=$tmp/deb root=$tmp/root
arch=$(dpkg --print-architecture)
upstream=$(sed -n 's/^.define NTRACE_VERSION "\(.*\)"$/\1/p' "$top/lib/include/ntrace/version.h")
version=$upstream-1

ok "make deb" env -u MAKEFLAGS -u MAKELEVEL make -C "$top" deb OUT="$deb"
is "$(cd "$deb" && printf '%s\n' *.deb | grep -v -- -dbgsym)" "libntrace-dev_${version}_$arch.deb
libntrace0_${version}_$arch.deb
ntrace-dkms_${version}_all.deb
ntrace_${version}_$arch.deb
python3-ntrace_${version}_all.deb" "the packages"
lintian=(lintian --no-cfg --tag-display-limit 0)
[ "$(id -u)" -ne 0 ] || lintian+=(--allow-root)
ok "lintian has no error" "${lintian[@]}" --fail-on error "$deb/ntrace_${version}_$arch.changes"
diag "$(cat "$tmp/.ok" "$tmp/.ok.err")"

mkdir "$root"
for package in "$deb"/*.deb; do
	case $package in *-dbgsym_*) continue ;; esac
	dpkg-deb -x "$package" "$root" || not_ok "$package cannot be unpacked"
done
lib=$root/usr/lib/$(dpkg-architecture -q DEB_HOST_MULTIARCH)
export LD_LIBRARY_PATH=$lib PKG_CONFIG_PATH=$lib/pkgconfig
is "$("$root/usr/bin/ntrace" --version)" "ntrace $upstream" "ntrace --version"
is "$(pkg-config --modversion libntrace)" "$upstream" "pkg-config"
# shellcheck disable=SC2046 # words
ok "an example with libntrace-dev" gcc -std=c11 -Wall -Wextra -Werror "$root/usr/share/doc/libntrace-dev/examples/ctr.c" \
	$(pkg-config --cflags --libs libntrace) -o "$tmp/ctr"
like "runs with libntrace0" "0x200c to 0x1004" "$("$tmp/ctr")"
# The dependencies that a package with that program would have.
mkdir -p "$tmp/other/debian"
printf 'Source: other\n\nPackage: other\nArchitecture: any\n' >"$tmp/other/debian/control"
dpkg-deb -e "$deb/libntrace0_${version}_$arch.deb" "$tmp/other/libntrace0"
mkdir -p "$tmp/other/debian/libntrace0" && cp -r "$tmp/other/libntrace0" "$tmp/other/debian/libntrace0/DEBIAN" &&
	cp -r "$root/usr" "$tmp/other/debian/libntrace0/"
like "and would depend on it" "libntrace0 \(>= ${upstream%.*}" \
	"$(cd "$tmp/other" && dpkg-shlibdeps -O --ignore-missing-info "$tmp/ctr" 2>&1)"
is "$(PYTHONPATH=$root/usr/lib/python3/dist-packages /usr/bin/python3 -c '
import ntrace; print(ntrace.Params("srcbits=2").src_bits, ntrace.__file__)')" \
	"2 $root/usr/lib/python3/dist-packages/ntrace/__init__.py" "python3-ntrace"
for part in ctr ntrace include; do
	ok "ntrace-dkms has kernel/$part" diff -r "$top/kernel/$part" "$root/usr/src/ntrace-$upstream/$part"
done
ok "nothing knows where it was built" test -z "$(grep -rlF -e "$deb" -e "$top" "$root")"

# REUSE-IgnoreStart: a pattern is not a licence. Compares the licences in the copyright file with
# those in the files.
copyright_holds() {
	python3 - "$top" <<-'END'
		import fnmatch, os, re, sys
		os.chdir(sys.argv[1])
		stanzas = []
		for stanza in open("tools/debian/copyright").read().split("\n\n"):
		    files = re.search(r"^Files:(.*)", stanza, re.M)
		    if files:
		        stanzas.append((files.group(1).split(), re.search(r"^License: (.*)", stanza, re.M).group(1)))
		seen = wrong = 0
		for base in ("kernel", "lib", "tools", "Documentation", "Makefile", "README.md"):
		    for path in [base] + [os.path.join(d, f) for d, _, names in os.walk(base) for f in names]:
		        if not os.path.isfile(path):
		            continue
		        with open(path, errors="replace") as file:
		            head = "".join(file.readlines()[:3])
		        tag = re.search(r"SPDX-License-Identifier: ([^*\n]*?) *(\*/|-->|$)", head, re.M)
		        if not tag:
		            continue
		        says = tag.group(1).strip("() ").replace(" OR ", " or ")
		        says = re.sub(r" WITH (\S+)", r" with \1 exception", says)
		        told = [licence for patterns, licence in stanzas
		                if any(fnmatch.fnmatchcase(path, pattern) for pattern in patterns)][-1]
		        seen += 1
		        if says != told:
		            wrong += 1
		            print("%s is %s, debian/copyright says %s" % (path, says, told))
		print("%d files" % seen)
		sys.exit(wrong > 0 or seen < 200)
	END
}
# REUSE-IgnoreEnd
ok "debian/copyright is true to the SPDX tags" copyright_holds
done_testing
