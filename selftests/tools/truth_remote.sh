#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# runner: guest seconds=45
# Truth test of trace components in another process, behind the co-simulation port (tools/vsoc/remote.h): the
# decoded instructions are the executed ones, and the trace is that of the same components in the SoC. Then servers that do
# something wrong.
set -uo pipefail
# shellcheck source=selftests/tools/truth_common.sh
. "$(dirname "$0")/truth_common.sh"

serve model build/vsoc/remote_server "$tmp/socket" 2
truth_job remote 1 2
guest_job driver kernel/driver.sh
truth_boot remote --icount --smp 2 --machine "ntrace-remote=unix:$tmp/socket" --append iomem=relaxed
if recorded remote; then
	ok "the decoded instructions are all executed ones" truth_compare 300000
	truth_figures
fi
wait
is "$(cat "$tmp/model.err")" "" "the server got no message that it does not know"

# A server that says what follows, and QEMU's answer to it.
cat >"$tmp/wrong.py" <<'END'
import socket, struct, sys
messages = [[int(word, 0) for word in argument.split(",")] for argument in sys.argv[2:]]
server = socket.socket(socket.AF_UNIX)
server.bind(sys.argv[1])
server.listen(1)
print("ready", flush=True)
soc, _ = server.accept()
soc.sendall(b"".join(struct.pack("<IIQQQ", *message) for message in messages))
soc.shutdown(socket.SHUT_WR)
while soc.recv(4096):
    pass
END
qemu=$(tools/vsoc/qemu/build --path)
# wrong NAME EXPECTED MESSAGE...
wrong() {
	local name=$1 expected=$2
	shift 2
	serve "$name" python3 "$tmp/wrong.py" "$tmp/$name" "$@"
	fails "$name" "$expected" "$qemu" -M "virt,ntrace=on,ntrace-remote=unix:$tmp/$name" -icount shift=0 -bios none -display none
	wait
}
none=0xffffffffffffffff
wrong hello "does not begin with HELLO" 2,0,1,4,0
wrong version "does not begin with HELLO" 1,0,2,4,0
wrong itype "does not begin with HELLO" 1,0,1,5,0
wrong pages "HELLO announces more PAGE messages" 1,0,1,4,1 3,0,0,0,0
wrong type "id is no component type" 1,0,1,4,1 2,7,0x6000000,0,$none
wrong address "not that of a page" 1,0,1,4,1 2,9,0x6000010,0,$none
wrong outside "not that of a page" 1,0,1,4,1 2,9,0x80000000,0,$none
wrong hart "a hart that the machine does not have" 1,0,1,4,1 2,1,0x6000000,1,$none
wrong order "does not come earlier" 1,0,1,4,1 2,1,0x6000000,0,0
wrong nowhere "sends to no component" 1,0,1,4,1 2,1,0x6000000,0,$none
wrong short "has closed the connection" 1,0,1,4,2 2,9,0x6040000,0,$none
fails "no server" "the server must run first" "$qemu" -M "virt,ntrace=on,ntrace-remote=unix:$tmp/none" -icount shift=0 -bios none -display none
fails "no icount" "needs -icount" "$qemu" -M "virt,ntrace=on,ntrace-remote=unix:$tmp/none" -bios none -display none
fails "another name" "must be unix:PATH" "$qemu" -M "virt,ntrace=on,ntrace-remote=tcp:1" -icount shift=0 -bios none -display none
done_testing
