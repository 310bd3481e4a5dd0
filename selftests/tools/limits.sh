#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# runner: seconds=60
# Limits of the process (ulimit): a command does all of its work, or ends with one error that names the limit. See host/limits.py.
set -uo pipefail
# shellcheck source=selftests/tools/small_recordings.sh
. "$(dirname "$0")/small_recordings.sh"
small_recordings "$tmp" 1 >"$tmp/log" 2>&1 || not_ok "a recording"
cp -a "$top/Documentation/tour/words.data" "$tmp/tour" || not_ok "a recording with an archive"
# Many streams, of which each is open while call stacks follow the threads over the CPUs.
cp -a "$tmp/r1" "$tmp/wide"
python3 - "$tmp/wide" <<'END' || not_ok "a recording of many CPUs"
import re
import shutil
import sys
with open(sys.argv[1] + "/params", encoding="utf-8") as file:
    text = file.read()
streams = re.split(r"(?m)^(?=stream )", text)
more = [re.sub(r"aux\.1|^stream 1", lambda found: found[0][:-1] + str(i), re.sub(r"(?m)^(cpu|hartid) 1$", rf"\1 {i}", streams[2])) for i in range(2, 40)]
for i in range(2, 40):
    shutil.copy(sys.argv[1] + "/aux.1", f"{sys.argv[1]}/aux.{i}")
with open(sys.argv[1] + "/params", "w", encoding="utf-8") as file:
    file.write("".join([*streams[:3], *more]))
END
is "$(readelf -lW "$top/build/libntrace.so" | grep -c " TLS ")" 0 "the library puts nothing on the stack of each thread of its user"
relay limits python3 "$small_host/limits.py" "$ntrace" "$tmp"
done_testing
