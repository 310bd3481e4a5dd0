# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# Fetches packages of Debian trixie, or of another suite, whatever the host runs: with an apt whose
# lists, status and archives are in the cache, the host's configuration (proxies) and the host's
# mirror. Nothing is installed, packages are only unpacked: no root, no maintainer scripts, no
# emulation of a foreign architecture.
# shellcheck source=tools/setup/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

# suite_use NAME: the following functions use that suite.
suite_use() {
	suite=$1
	suite_dir=$cache/apt/$suite
	suite_fresh=''
}
suite_use trixie
# Debian 12's keyring has the keys of Debian 13 since 2023.3+deb12u2, so the host's own trusted keys
# verify the signatures of the newer suite.
suite_keyring=/usr/share/keyrings/debian-archive-keyring.gpg

# Prints the host's mirror: "main URI" and, if the host uses one, "security URI".
suite_mirrors() {
	local codename
	# shellcheck source=/dev/null
	codename=$(. /etc/os-release && echo "${VERSION_CODENAME:-$suite}")
	# shellcheck disable=SC2016 # apt's own variables
	{
		apt-get indextargets --format '$(ORIGIN)|$(RELEASE)|$(REPO_URI)' 'Created-By: Packages'
		suite_configured
	} | awk -F'|' -v code="$codename" '
			$1 != "Debian" && $1 != "configured" { next }
			$2 == code || $2 == "stable" || $2 == "oldstable" { if (!m) m = $3 }
			$2 ~ /-security$/ { if (!s) s = $3 }
			END { if (m) print "main", m; if (s) print "security", s }'
}

# Reads the same from apt's configuration, for a machine whose lists were removed.
suite_configured() {
	find /etc/apt/sources.list /etc/apt/sources.list.d -name '*.list' -exec cat {} + 2>/dev/null |
		sed -nE 's/^deb +(\[[^]]*\] +)?([^ ]+) +([^ ]+) (.* )?main( .*)?$/configured|\3|\2/p'
	find /etc/apt/sources.list.d -name '*.sources' -exec awk -v RS= '
		/(^|\n)Types:[^\n]*deb/ && /(^|\n)Components:[^\n]*main/ {
			uri = suites = ""
			n = split($0, line, "\n")
			for (i = 1; i <= n; i++) {
				if (line[i] ~ /^URIs:/) { split(line[i], word, " "); uri = word[2] }
				if (line[i] ~ /^Suites:/) suites = substr(line[i], 8)
			}
			n = split(suites, suite, " ")
			for (i = 1; i <= n; i++) print "configured|" suite[i] "|" uri
		}' {} +
}

# suite_sources [NAME]: prints source lines for apt; NAME: another name of the suite on the mirror.
suite_sources() {
	local kind uri name=${1:-$suite} options="signed-by=$suite_keyring"
	# The release files of a suite under development are valid for a week, and a mirror may be
	# out of date for longer. The signature is checked anyway.
	[ "$suite" = trixie ] || options+=" check-valid-until=no"
	options="[$options]"
	suite_mirrors | while read -r kind uri; do
		case $kind:$suite in
		main:*)
			echo "deb $options $uri $name main"
			echo "deb-src $options $uri $name main"
			;;
		security:trixie)
			[ "$name" = "$suite" ] || continue
			echo "deb $options $uri $suite-security main"
			echo "deb-src $options $uri $suite-security main"
			;;
		esac
	done
}

# suite_apt TOOL ARCHITECTURES ARGUMENTS...: runs it. Several tests may fetch at the same time, so
# apt waits for its lock.
suite_apt() {
	local tool=$1 arch=$2
	shift 2
	mkdir -p "$suite_dir/state/lists/partial" "$suite_dir/cache-$arch/archives/partial"
	[ -e "$suite_dir/status" ] || : >"$suite_dir/status"
	"$tool" -q -o Dir::Etc::SourceList="$suite_dir/sources.list" -o Dir::Etc::SourceParts=/dev/null \
		-o Dir::Etc::Preferences=/dev/null -o Dir::Etc::PreferencesParts=/dev/null \
		-o Dir::State="$suite_dir/state" -o Dir::State::status="$suite_dir/status" \
		-o Dir::Cache="$suite_dir/cache-$arch" \
		-o APT::Architecture="${arch%%,*}" -o APT::Architectures="$arch" \
		-o APT::Install-Recommends=false -o Acquire::Languages=none -o Acquire::Retries=3 \
		-o DPkg::Lock::Timeout=600 -o APT::Sandbox::User="$(id -un)" -o APT::Get::List-Cleanup=false "$@"
}

# Lists are renewed once a day. Without a network, an old list is used while the cache has the
# packages that it names.
suite_update() {
	local sources
	[ -z "${suite_fresh:-}" ] || return 0
	suite_fresh=1
	if [ -z "${NTRACE_REFRESH:-}" ] && [ -n "$(find "$suite_dir/stamp" -mmin -1440 2>/dev/null)" ]; then
		return 0
	fi
	lock "apt-$suite"
	if [ -z "${NTRACE_REFRESH:-}" ] && [ -n "$(find "$suite_dir/stamp" -mmin -1440 2>/dev/null)" ]; then
		return 0
	fi
	sources=$(suite_sources)
	[ -n "$sources" ] || die "apt on this host knows no Debian mirror: 'apt-get indextargets' lists none"
	[ -e "$suite_keyring" ] || die "$suite_keyring is missing: install debian-archive-keyring"
	mkdir -p "$suite_dir"
	say "reading the package lists of Debian $suite"
	if suite_read_lists "$sources"; then
		:
	elif [[ $sources = *"$suite-security"* ]] && suite_read_lists "$(grep -v -- "$suite-security" <<<"$sources")"; then
		# During its own update, a mirror may offer a security index with a wrong checksum.
		# The release itself is signed and complete.
		say "warning: $suite-security is not readable now (its index fails verification or is missing); $suite alone serves"
	elif suite_read_alias; then
		:
	elif [ -e "$suite_dir/stamp" ]; then
		say "warning: no fresh package lists, the ones of $(date -r "$suite_dir/stamp" +%F) serve"
		mv "$suite_dir/sources.list.old" "$suite_dir/sources.list"
		return 0
	else
		cat "$suite_dir/update.log" >&2
		die "the package lists of Debian $suite could not be read"
	fi
	touch "$suite_dir/stamp"
	rm -rf "$suite_dir/resolved"
}

# If a mirror's update was interrupted, it offers a release file without the indexes that the file
# names. The directory of the suite's other name (stable, testing) is updated separately and often
# still has the complete previous point release, signed in the same way.
suite_read_alias() {
	local name
	for name in stable oldstable testing; do
		suite_read_lists "$(suite_sources "$name")" || continue
		# The other name moves to the next release of Debian.
		if grep -qsx "Codename: $suite" "$suite_dir"/state/lists/*_dists_"$name"_InRelease; then
			say "warning: the lists of Debian $suite fail verification; those of its other name, $name, serve"
			return 0
		fi
	done
	return 1
}

suite_read_lists() {
	local attempt
	[ ! -e "$suite_dir/stamp" ] || [ -e "$suite_dir/sources.list.old" ] ||
		cp "$suite_dir/sources.list" "$suite_dir/sources.list.old"
	printf '%s\n' "$1" >"$suite_dir/sources.list"
	for attempt in 1 2; do
		[ "$attempt" = 1 ] || sleep 3
		if suite_apt apt-get "$host_arch,riscv64" update -o APT::Update::Error-Mode=any >"$suite_dir/update.log" 2>&1; then
			rm -f "$suite_dir/sources.list.old"
			return 0
		fi
	done
	return 1
}

# suite_once COMMAND...: prints what the command prints, which must not be nothing. The command runs
# once for each version of the package lists, because reading them costs apt seconds.
suite_once() {
	local known tmp
	suite_update
	known=$suite_dir/resolved/$(printf '%s\n' "$@" | hash_text)
	if [ ! -s "$known" ]; then
		mkdir -p "$suite_dir/resolved"
		tmp=$(mktemp "$suite_dir/resolved/.XXXXXX")
		"$@" >"$tmp" || { rm -f "$tmp"; return 1; }
		[ -s "$tmp" ] || { rm -f "$tmp"; die "nothing found in Debian $suite for: ${*:2}"; }
		mv "$tmp" "$known"
	fi
	cat "$known"
}

suite_packages() {
	local arch=$1 uris
	shift
	if [ "$1" = --only ]; then
		uris=$(suite_apt apt-get "$arch" download --print-uris "${@:2}")
	else
		uris=$(suite_apt apt-get "$arch" install -y --print-uris -o Dir::Cache::archives=/nonexistent/ "$@")
	fi || { printf '%s\n' "$uris" >&2; return 1; }
	sed -n "s/^'[^']*' \\([^ ]*\\) [0-9]* \\(.*\\)/\\1 \\2/p" <<<"$uris" | sort
}

# suite_resolve ARCH PACKAGE...: prints a line "file checksum" for every package and dependency;
# with the option --only, for the named packages alone.
suite_resolve() { suite_once suite_packages "$@"; }

# suite_show ARCH PACKAGE: prints the control fields of its newest version.
suite_show() { suite_once suite_apt apt-cache "$1" show --no-all-versions "$2"; }

# suite_fetch DIR ARCH [--only] PACKAGE...: fetches the .deb files.
suite_fetch() {
	local dir=$1 arch=$2
	shift 2
	mkdir -p "$dir/partial"
	if [ "$1" = --only ]; then
		shift
		(cd "$dir" && retry suite_apt apt-get "$arch" download "$@")
	else
		retry suite_apt apt-get "$arch" install -y --download-only -o Dir::Cache::archives="$dir/" "$@"
	fi
}

# suite_unpack DEBS ROOT: unpacks them, base-files first, because it has the merged /usr links.
suite_unpack() {
	local deb
	mkdir -p "$2"
	for deb in "$1"/base-files_*.deb "$1"/*.deb; do
		[ -e "$deb" ] || continue
		dpkg-deb --fsys-tarfile "$deb" | tar -C "$2" -xf - --no-same-owner --keep-directory-symlink \
			--delay-directory-restore
	done
}

# Functions that `step` runs in a shell of their own.
export -f say die suite_apt suite_fetch suite_unpack retry
export suite suite_dir host_arch cache
