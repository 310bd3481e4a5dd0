#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# ntrace report --html, in a browser.
# shellcheck source=selftests/consumers/common.sh
. "$(dirname "$0")/common.sh"
ok "trace a program in the guest" record_calculator || done_testing
report() { (cd "$recorded" && "$top/build/ntrace" report --user --sysroot "$root" "$@"); }
ok "report --html" report --html "$tmp/page.html" recording
report_json() { report --json --limit 0 recording >"$tmp/report.json"; }
ok "report --json" report_json
ok "export lcov" build/ntrace export -f lcov -u -b calculator --sysroot "$root" -o "$tmp/info" "$recorded/recording"
ok "it is one file, and asks for none" test "$(grep -cE '(src|href)=|@import|url\(' "$tmp/page.html")" -eq 0
report --html "$tmp/again.html" recording
ok "the same again is the same page" cmp "$tmp/page.html" "$tmp/again.html"
fails "says where it cannot write" "^ntrace: error: $tmp/none/page.html: No such file" report --html "$tmp/none/page.html" recording
if ! tools/setup/host-packages browser >"$tmp/said" 2>&1; then
	skip "the page in Chromium" "no chromium to be had: $(tail -n 1 "$tmp/said")"
	done_testing
fi
relay "page" python3 selftests/consumers/host/page.py "$tmp/page.html" "$tmp/report.json" "$tmp/info" ${SCREENSHOT:+"$SCREENSHOT"}

# A name that would be a script if the page did not escape it.
cp -r "$recorded/recording" "$tmp/evil"
name="</script><script>window.done = 1</script><img src=http://127.0.0.1:9/>"
sed -i "s#^command .*#command $name#" "$tmp/evil/params"
report --html "$tmp/evil.html" "$tmp/evil"
is "$(python3 selftests/consumers/host/page_alone.py "$tmp/evil.html")" "$name"$'\n'"nothing 0 1" "names stay text"
# The browser refuses requests of the page, and this test would see them.
sed 's#^start();#fetch("http://127.0.0.1:9/"); start();#' "$tmp/page.html" >"$tmp/asks.html"
like "a request would be refused and seen" "nothing [1-9]" "$(python3 selftests/consumers/host/page_alone.py "$tmp/asks.html")"
done_testing
