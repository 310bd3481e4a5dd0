#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Strings in JSON: names of files with any bytes. Valid UTF-8 stays as it is; control characters, quotes and bytes that are no
# UTF-8 are escaped, so that each line is JSON. The oracle is Python's decoder.
set -uo pipefail
# shellcheck source=selftests/tap.sh
. "$(dirname "$0")/../tap.sh"
ntrace=$top/build/ntrace
cd "$tmp" || exit 1

# Prints "ok TEXT" or "failed TEXT".
while read -r result text; do
	case $result in
	ok) pass "$text" ;;
	failed) not_ok "$text" ;;
	*) diag "$result $text" ;;
	esac
done < <(python3 - "$ntrace" <<'END' 2>&1
import codecs, json, os, subprocess, sys
codecs.register_error("bytes", lambda error: ("".join(map(chr, error.object[error.start:error.end])), error.end))
# The first and the last of each length, and what is next to them.
edges = ["7f", "80", "bf", "c0 80", "c1 bf", "c2 80", "c2 7f", "c2 c0", "c2", "df bf", "df 7f", "e0 9f bf", "e0 a0 80", "e0 bf bf", "e0 a0", "e0 a0 7f",
         "e1 80 80", "e1 80 c0", "e1 7f 80", "ec bf bf", "ed 80 80", "ed 9f bf", "ed a0 80", "ed bf bf", "ee 80 80", "ef bf bf", "ef bf",
         "f0 8f bf bf", "f0 90 80 80", "f0 90 80", "f0 bf bf bf", "f1 80 80 80", "f1 80 80 c0", "f1 80 7f 80", "f3 bf bf bf", "f4 80 80 80", "f4 8f bf bf",
         "f4 90 80 80", "f5 80 80 80", "f8 88 80 80 80", "fe", "ff", "c3 a9 c3", "22", "5c", "5c 22", "01", "09", "0a", "0d", "1b", "1f", "20", "3c", "3e", "26",
         "27", "e2 82 ac 80", "f0 9f 98 80 f0 9f 98"]
names = [b"a" + bytes.fromhex(edge) + b"z" for edge in edges] + [b"z" + bytes.fromhex(edge) for edge in edges]
for name in names:
    with open(name, "wb") as file:
        file.write(bytes([0x24, 0x01, 0x03]))
done = subprocess.run([sys.argv[1].encode(), b"dump", b"--json", *names], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
wanted, got = [name.decode("utf-8", "bytes") for name in names], []
for line in done.stdout.splitlines():
    try:
        text = json.loads(line.decode())["file"]
    except ValueError:
        text = "not JSON"
    if not got or got[-1] != text:
        got.append(text)
print("ok" if len(got) == len(wanted) else "failed", f"each of {len(wanted)} files has lines of its own")
for text, name in zip(got, names):
    expected = name.decode("utf-8", "bytes")
    print("ok" if text == expected else "failed", "a name with the bytes", name[name[:1] == b"a":].hex(" "), "" if text == expected else repr(text))
END
)
done_testing
