#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# runner: seconds=3600
# Fresh systems, chroots of Debian 12 and 13 with the tarball of `make dist`: make, make deps, make
# install, make deb, the wheel and reuse lint work. The build itself runs without apt and dpkg.
set -uo pipefail
# shellcheck source=selftests/tap.sh
. "$(dirname "$0")/../tap.sh"
[ "$(id -u)" -eq 0 ] || skip_all "only root can enter a chroot"
"$top/tools/setup/host-packages" fresh suite || exit 1
trap 'rm -rf --one-file-system "$tmp"' EXIT
# The builds must not inherit options or the job server of the caller's make.
unset MAKEFLAGS MAKELEVEL NTRACE_INSTALL WERROR CI CC CFLAGS

ok "make dist" make -s -C "$top" dist DIST="$tmp/dist"
ok "and once more" make -s -C "$top" dist DIST="$tmp/again"
tarball=$(echo "$tmp"/dist/ntrace-*.tar.xz)
version=${tarball##*/ntrace-}
version=${version%.tar.xz}
ok "both tarballs are the same" cmp "$tarball" "$tmp/again/${tarball##*/}"
is "$version" "$(sed -n 's/^.define NTRACE_VERSION "\(.*\)"$/\1/p' "$top/lib/include/ntrace/version.h")" "with the version in its name"
is "$(tar -tJf "$tarball" | grep -v /$ | sed "s#^ntrace-$version/##" | sort)" "$(git -C "$top" ls-tree -r --name-only HEAD | sort)" \
	"it has the files of the last commit"

# Mounts of a chroot are in a mount namespace that ends with the command, so that whatever removes or
# copies the chroot never enters /proc or the devices of this machine.
apart=(unshare --mount --propagation private)
# enter COMMAND
enter() {
	# shellcheck disable=SC2016 # expanded by the inner shell
	"${apart[@]}" bash -c 'mount -t proc proc "$0/proc" && exec chroot "$0" env -i HOME=/root \
		PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 bash -c "cd /ntrace-'"$version"' && $1"' "$root" "$1" </dev/null
}
installed() { enter "dpkg-query -W | sort" | sha256sum; }
# shellcheck disable=SC2016 # expanded by the inner shell
mirror=$(bash -c '. "$0" && suite_mirrors' "$top/tools/setup/suite.sh" | sed -n 's/^main //p')

for suite in bookworm trixie; do
	root=$tmp/$suite
	if ! "${apart[@]}" mmdebstrap --quiet --variant=apt --include=make,xz-utils "$suite" "$root" "$mirror" >"$tmp/made" 2>&1; then
		diag "$(tail -n 5 "$tmp/made")"
		not_ok "$suite: a chroot"
		continue
	fi
	cp /etc/resolv.conf "$root/etc/"
	cp -r /etc/apt/apt.conf.d/. "$root/etc/apt/apt.conf.d/"
	tar -C "$root" -xJf "$tarball"
	before=$(installed)
	fails "$suite: make on a system with nothing" "missing: gcc libc6-dev libdw-dev" enter make
	like "$suite: says what to do" "this installs them: make deps" "$(cat "$tmp/.ok")"
	is "$(installed)" "$before" "$suite: and installs nothing"
	ok "$suite: make deps" enter "make deps"
	like "$suite: says before what it installs" "installing [0-9]+ Debian packages \(base\): gcc" "$(cat "$tmp/.ok.err")"

	# The build runs as on another distribution: the files that identify Debian are moved away.
	mkdir "$root/away"
	hidden=(/etc/debian_version /var/lib/dpkg)
	mapfile -t -O 2 hidden < <(cd "$root" && printf '/%s\n' usr/bin/apt* usr/bin/dpkg* | grep -v '\*')
	# Two of them are called dpkg.
	for path in "${hidden[@]}"; do mv "$root$path" "$root/away/${path//\//_}"; done
	ok "$suite: dpkg is gone" enter "! command -v dpkg && ! command -v dpkg-query && ! command -v apt-get"
	ok "$suite: make without apt and dpkg" enter make
	is "$(grep -c warning "$tmp/.ok.err")" 0 "$suite: without a warning"
	ok "$suite: make install" enter "make install DESTDIR=/installed"
	is "$(enter "/installed/usr/local/bin/ntrace --version")" "ntrace $version" "$suite: the installed command"
	for path in "${hidden[@]}"; do mv "$root/away/${path//\//_}" "$root$path"; done

	# One wheel from the tree and one from Python's source package, each installed in a new directory.
	ok "$suite: Python's tools" enter "apt-get install -qy --no-install-recommends \
		python3-pip python3-setuptools python3-wheel python3-build python3-venv"
	ok "$suite: python3 -m build" enter "python3 -m build --no-isolation --outdir /wheels ."
	is "$(cd "$root/wheels" && printf '%s\n' *)" "ntrace-$version-py3-none-linux_$(uname -m).whl
ntrace-$version.tar.gz" "$suite: what it makes"
	ok "$suite: pip install" enter "python3 -m venv /venv && /venv/bin/pip install --no-index /wheels/*.whl"
	is "$(enter "cd / && /venv/bin/python -c 'import ntrace; print(ntrace.__version__, ntrace.Params(\"srcbits=2\").src_bits)'")" \
		"$version 2" "$suite: the module finds its library"
	ok "$suite: pip install ." enter "pip install --no-index --no-build-isolation --no-deps --target /target ."
	is "$(enter "cd / && PYTHONPATH=/target python3 -c 'import ntrace; print(ntrace.__version__)'")" "$version" "$suite: and that one"

	if [ "$suite" = trixie ]; then
		ok "$suite: reuse" enter "apt-get install -qy --no-install-recommends reuse"
		cp "$tarball" "$root/tarball"
		ok "$suite: reuse lint" enter "mkdir /pure && tar -C /pure -xJf /tarball && cd /pure/* && reuse lint"
	fi

	ok "$suite: make deps DEPS=package" enter "make deps DEPS='base package'"
	ok "$suite: make deb" enter "make deb OUT=/deb"
	is "$(cd "$root/deb" && printf '%s\n' *.dsc *.tar.xz)" "ntrace_$version-1.dsc
ntrace_$version-1.debian.tar.xz
ntrace_$version.orig.tar.xz" "$suite: the source package"
	ok "$suite: the packages can be installed" enter "apt-get install -qy --no-install-recommends /deb/ntrace_*.deb \
		/deb/libntrace*.deb /deb/python3-ntrace_*.deb"
	is "$(enter "/usr/bin/ntrace --version && /usr/bin/python3 -c 'import ntrace; print(ntrace.__version__)'")" "ntrace $version
$version" "$suite: and work"
done
done_testing
