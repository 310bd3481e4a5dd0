#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Writes the executed PCs of a bare-metal program of the reference code to a
# file in the cache, and prints its path: coremark_pcs.sh [ELF [COUNT]]
#
# QEMU runs the program with one instruction per block and logs each; this
# script filters the log (2.7 GB for coremark) while QEMU writes it. Addresses
# below 0x2000 are QEMU's reset code; COUNT is the length of the published list.
# The file is kept under a hash of all its inputs.
set -euo pipefail
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
elf=${1:-${NTRACE_SHARED:-$top/../shared}/data/refcode/coremark.elf}
count=${2:-33399227}
cache=${XDG_CACHE_HOME:-$HOME/.cache}/ntrace/pcs
recipe=1

[ -r "$elf" ] || {
	echo "coremark_pcs: $elf: no such program" >&2
	exit 1
}
key=$({ echo "$recipe $count" && cat "$elf"; } | sha256sum | cut -c1-16)
name=$(basename "$elf" .elf)
file=$cache/$name-$key.pcs.gz
if [ -s "$file" ]; then
	echo "$file"
	exit 0
fi

# Debian 12's QEMU cannot do that.
qemu=$top/build/qemu-stock/qemu-system-riscv64
[ -x "$qemu" ] || qemu=$top/build/qemu/qemu-system-riscv64
[ -x "$qemu" ] || qemu=$("$top/tools/vsoc/qemu/build" --stock)
mkdir -p "$cache"
tmp=$(mktemp -d "$cache/tmp.XXXXXX")
trap 'rm -rf "$tmp"' EXIT

# The exit device of the board is found by two symbols, which must have a size.
python3 - "$elf" "$tmp/program.elf" <<'PYTHON'
import struct
import sys

data = bytearray(open(sys.argv[1], "rb").read())
if data[:6] != b"\x7fELF\x02\x01":
    sys.exit("coremark_pcs: no 64-bit little-endian ELF file")
start, = struct.unpack_from("<Q", data, 40)
size, sections = struct.unpack_from("<HH", data, 58)
headers = [struct.unpack_from("<IIQQQQIIQQ", data, start + i * size) for i in range(sections)]
found = 0
for header in headers:
    if header[1] != 2:  # SHT_SYMTAB
        continue
    names = headers[header[6]][4]
    for at in range(header[4], header[4] + header[5], 24):
        begin = names + struct.unpack_from("<I", data, at)[0]
        if data[begin:data.index(0, begin)] in (b"tohost", b"fromhost"):
            struct.pack_into("<Q", data, at + 16, 8)
            found += 1
if found != 2:
    sys.exit("coremark_pcs: no symbols tohost and fromhost")
open(sys.argv[2], "wb").write(data)
PYTHON

# QEMU ignores that nobody reads its log any more, and runs on.
exec {log}< <(exec timeout 1200 "$qemu" -M virt -display none -serial null -monitor none -bios "$tmp/program.elf" \
	-accel tcg,one-insn-per-tb=on -d exec,nochain -D /dev/stdout 2>"$tmp/errors")
logging=$!
LC_ALL=C awk -F/ -v count="$count" '
	/^Trace 0:/ && $2 >= "0000000000002000" {
		sub(/^0+/, "", $2)
		print "0x" $2
		if (++n == count)
			exit
	}' <&"$log" | gzip -1 >"$tmp/pcs.gz"
kill "$logging" 2>/dev/null || true
exec {log}<&-
got=$(gzip -dc "$tmp/pcs.gz" | wc -l)
if [ "$got" != "$count" ]; then
	echo "coremark_pcs: $got instructions of $name instead of $count" >&2
	head -n 5 "$tmp/errors" >&2
	exit 1
fi
mv "$tmp/pcs.gz" "$file"
echo "$file"
