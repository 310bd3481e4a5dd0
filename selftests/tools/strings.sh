#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Strings in JSON: names of files with any bytes. Valid UTF-8 stays as it is; control characters, quotes and bytes that are no
# UTF-8 are escaped, so that each line is JSON. And JSON that ntrace assemble reads: escapes, and lines that are almost JSON. The
# oracles are Python's decoders.
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
while read -r result text; do
	case $result in
	ok) pass "$text" ;;
	failed) not_ok "$text" ;;
	*) diag "$result $text" ;;
	esac
done < <(python3 - "$ntrace" <<'END' 2>&1
import json, random, subprocess, sys
def assemble(line):
    done = subprocess.run([sys.argv[1], "assemble"], input=line.encode() + b"\n", capture_output=True, check=False)
    return done.returncode, done.stdout, done.stderr.decode()
def test(good, text, *why):
    print("ok" if good else "failed", text)
    for item in [] if good else why:
        print(" ", ascii(item)[:300])
# The message names a member that it does not know.
for text in ("\x80", "\u07ff", "\u0800", "\ud7ff", "\ue000", "\uffff", "\U00010000", "\U0010ffff", "\U0001f600\u20ac\u00e9", '"', "\\", "/", "A"):
    escaped = "".join(f"\\u{code:04x}" for code in memoryview(text.encode("utf-16-le")).cast("H"))
    for form in (escaped, escaped.upper().replace("U", "u"), json.dumps(text, ensure_ascii=False)[1:-1]):
        status, _, message = assemble('{"name":"ProgTraceSync","x' + form + 'y":1}')
        shown = "?" if text in ("\x80", "\uffff", "\U0010ffff") else text  # a control character, and what is none
        test(status == 1 and f'no member "x{shown}y": fields are SRC' in message, f"{ascii(form)} in a string", status, message)
# A control character is shown as a question mark.
for form, text in (("\\b", "?"), ("\\f", "?"), ("\\n", "?"), ("\\r", "?"), ("\\t", "?"), ("\\u007f", "?"), ("\\/", "/"), ("/", "/")):
    message = assemble('{"name":"ProgTraceSync","x' + form + 'y":1}')[2]
    test(f'no member "x{text}y": fields are SRC' in message, f"{form} in a string", message)
for form, why in (("\\ud83d", "the other half of a surrogate pair is missing"), ("\\ud83dx", "the other half of a surrogate pair is missing"),
                  ("\\ud83d\\u0041", "the other half of a surrogate pair is missing"), ("\\ud83d\\ue000", "the other half of a surrogate pair is missing"),
                  ("\\udc00", "half a surrogate pair"), ("\\udfff", "half a surrogate pair"), ("\\u0000", "not supported"), ("\\u12", "four hexadecimal digits"),
                  ("\\u12g4", "four hexadecimal digits"), ("\\ud83d\\u12", "four hexadecimal digits"), ("\\x", "unknown escape"), ("\x1f", "control character"),
                  ("\t", "control character")):
    status, _, message = assemble('{"name":"ProgTraceSync","x' + form + '":1}')
    test(status == 1 and why in message, f"{ascii(form)} in a string: {why}", status, message)
# Numbers that are whole in JSON's sense, and others.
for number, good in (("0", True), ("7", True), ("-1", False), ("1.0", False), ("1e0", False), ("01", False), ("0x1", False), ("18446744073709551615", True),
                     ("18446744073709551616", False), ("184467440737095516150", False), ("99999999999999999999", False), ("+1", False), (".5", False), ("1.", False),
                     ("1e", False), ("1e+", False), ("1e+1", False), ("1e-1", False), ("-", False), ("true", False), ("null", False), ("nul", False), ("", False)):
    status, data, message = assemble('{"tcode":3,"ICNT":1,"TSTAMP":' + number + "}")
    try:
        valid = json.loads(number) is not False
    except ValueError:
        valid = False
    test((status == 0 and len(data) > 0) == good and ("is not a whole number" in message) == (valid and not good),
         f"the number '{number}' is {'taken' if good else 'not whole' if valid else 'no JSON'}", status, message)
# A line with a character more, less or another one: the same object gives the same bytes, and what is no JSON is refused.
line = '{"name":"ProgTraceSync", "SYNC":5, "ICNT":0, "ADDRESS":"0x80000000"}'
wanted, expected, generator = json.loads(line), assemble(line)[1], random.Random(5)
pieces, wrong, done = '{}[]",:\\ \t0-+.e', [], [0, 0]
for step in range(160):
    at = generator.randrange(len(line) + 1)
    changed = line[:at] + generator.choice(["", generator.choice(pieces)]) + line[at + generator.randrange(2):]
    try:
        value = json.loads(changed)
    except ValueError:
        value = None
    # -0 is no whole number here.
    if changed.startswith("#") or "-0" in changed or value and value != wanted:
        continue
    status, data, message = assemble(changed)
    done[value is None] += 1
    if value is None and status != 1 or value == wanted and (status, data) != (0, expected):
        wrong.append((changed, status, message))
test(not wrong and min(done) > 10, "lines that are almost JSON", wrong, done)
END
)
done_testing
