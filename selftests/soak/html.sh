#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# runner: seconds=120
# `make html`: kernel-doc and Sphinx have no warning, each public function and manual page has its
# place, and links between pages lead to pages.
set -uo pipefail
# shellcheck source=selftests/tap.sh
. "$(dirname "$0")/../tap.sh"
html=$top/build/html

ok "make html" make -s -C "$top" html
for header in "$top"/lib/include/ntrace/*.h; do
	name=$(basename "$header" .h)
	functions=$(sed -nE 's/^NTRACE_(API|EXPERIMENTAL) .*[ *](ntrace_[a-z0-9_]+)\(.*/\2/p' "$header")
	missing=
	for function in $functions; do
		grep -q "id=\"c.$function\"" "$html/api/$name.html" || missing+=" $function"
	done
	is "$missing" "" "ntrace/$name.h: all functions are in the reference"
done
for page in "$top"/Documentation/man/*.1; do
	name=$(basename "$page" .1)
	like "$name(1)" "<b>NAME</b>" "$(cat "$html/man/$name.html")"
done
is "$(python3 - "$html" <<'END'
import os, re, sys
for directory, _, names in os.walk(sys.argv[1]):
    for name in names:
        if not name.endswith(".html"):
            continue
        path = os.path.join(directory, name)
        for link in re.findall(r'href="([^"#]+\.html)(?:#[^"]*)?"', open(path, encoding="utf-8").read()):
            if "://" not in link and not os.path.exists(os.path.join(directory, link)):
                print(path, link)
END
)" "" "links lead to pages"
done_testing
