#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# A server with debug files: libdw uses it if DEBUGINFOD_URLS names it, and sends no request otherwise.
# shellcheck source=selftests/consumers/common.sh
. "$(dirname "$0")/common.sh"
# The server is only unpacked, because Debian's package would start a service.
suite=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
if ! foreign debuginfod "$suite" usr/bin/debuginfod debuginfod; then
	skip "debuginfod" "no package of it for Debian $suite in reach: $(tail -n 1 "$tmp/foreign")"
	done_testing
fi
if ! tools/setup/host-packages debuginfod >"$tmp/said" 2>&1; then
	skip "debuginfod" "no libdebuginfod to be had: $(tail -n 1 "$tmp/said")"
	done_testing
fi
ok "trace a program in the guest" record_calculator || done_testing
unset DEBUGINFOD_URLS
export DEBUGINFOD_CACHE_PATH=$tmp/cache DEBUGINFOD_TIMEOUT=20
program=$recorded/gcc/inlined

# export_as FORMAT FILE OPTION...
export_as() {
	build/ntrace export --format "$1" --user --sysroot "$root" -o "$2" "${@:3}" "$recorded/gcc/recording" 2>"$tmp/said" ||
		{ cat "$tmp/said"; return 1; }
}
# Both keep their symbols.
ok "folded, with DWARF in the program" export_as folded "$tmp/whole"
rm "$root/root/inlined"
riscv64-linux-gnu-strip --strip-debug -o "$root/root/inlined" "$program"
ok "folded, without" export_as folded "$tmp/without"
ok "without inlined functions" test "$(grep -c '^inlined;.*_\[i\]' "$tmp/without")" -eq 0

mkdir "$tmp/served"
cp "$program" "$tmp/served/inlined"
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
debuginfod -vv -p "$port" -d "$tmp/served.sqlite" -F "$tmp/served" >"$tmp/server" 2>&1 &
server=$!
trap 'kill $server 2>/dev/null; rm -rf "$tmp"' EXIT
url=http://127.0.0.1:$port
id=$(riscv64-linux-gnu-readelf -n "$program" | sed -n 's/.*Build ID: //p')
for _ in $(seq $((100 * ${NTRACE_PATIENCE:-1}))); do
	python3 - "$url/buildid/$id/debuginfo" 2>"$tmp/asked" <<-'END' && break
		import sys, urllib.request
		urllib.request.urlopen(sys.argv[1])
	END
	sleep 0.2
done
ok "a server has the debug file" test ! -s "$tmp/asked" || { diag "$(tail -n 20 "$tmp/server")"; done_testing; }
# Number of requests so far for the program's debug file.
requests() { grep -c "GET /buildid/$id/debuginfo" "$tmp/server"; }
first=$(requests)
ok "folded, with no server named" export_as folded "$tmp/alone"
is "$(requests)" "$first" "no server was asked"
ok "and it is the same as before" cmp "$tmp/alone" "$tmp/without"
export DEBUGINFOD_URLS=$url
ok "--no-inline, with a server" export_as folded "$tmp/no-inline" --no-inline
is "$(requests)" "$first" "asks no server, since no debug file is needed"
ok "folded, with the server" export_as folded "$tmp/fetched"
ok "the server was asked" test "$(requests)" -gt "$first"
ok "inlined functions are those of the whole program" cmp "$tmp/fetched" "$tmp/whole"
fetched=$(requests)
ok "lcov, with the cached file" export_as lcov "$tmp/info" --binary inlined
like "lines are known" '[1-9][0-9]* lines, [1-9][0-9]* of them executed' "$(<"$tmp/said")"
is "$(requests)" "$fetched" "and the server was not asked again"
# A program without any names has all of them from the same file.
riscv64-linux-gnu-strip -o "$root/root/inlined" "$program"
ok "folded, stripped, with the server" export_as folded "$tmp/stripped"
ok "names of functions are those of the whole program" cmp "$tmp/stripped" "$tmp/whole"
ok "--no-inline, stripped" export_as folded "$tmp/stripped-no-inline" --no-inline
ok "names without lines, too" cmp "$tmp/stripped-no-inline" "$tmp/no-inline"

# If the server does not answer, only the lines are missing.
riscv64-linux-gnu-strip --strip-debug -o "$root/root/inlined" "$program"
kill $server
wait $server 2>/dev/null
DEBUGINFOD_CACHE_PATH=$tmp/empty
ok "folded, with a server that does not answer" export_as folded "$tmp/dead"
ok "is as without one" cmp "$tmp/dead" "$tmp/without"

# answer HOW: another server, which logs its requests and answers each in this way.
answer() {
	rm -f "$tmp/port"
	python3 - "$1" "$program" "$tmp/asked" >"$tmp/port" <<-'END' &
		import http.server, sys, threading
		how, program, log = sys.argv[1:]
		class Handler(http.server.BaseHTTPRequestHandler):
		    def do_GET(self):
		        with open(log, "a") as file:
		            print(self.path, file=file)
		        if how == "never":
		            threading.Event().wait()
		        with open(program, "rb") as file:
		            whole = file.read()
		        body = {"page": b"<html>no</html>", "cut": whole[:3000], "whole": whole}[how]
		        self.send_response(200)
		        self.send_header("Content-Length", str(len(body)))
		        self.end_headers()
		        self.wfile.write(body)
		    def log_message(self, *words):
		        pass
		server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
		print(server.server_port, flush=True)
		server.serve_forever()
	END
	server=$!
	: >"$tmp/asked"
	until [ -s "$tmp/port" ]; do sleep 0.05; done
	DEBUGINFOD_URLS=http://127.0.0.1:$(<"$tmp/port") DEBUGINFOD_CACHE_PATH=$tmp/cache.$1
}
riscv64-linux-gnu-strip -o "$root/root/inlined" "$program"
for how in page cut; do
	answer $how
	ok "folded, with a file that cannot be read ($how)" export_as folded "$tmp/unread"
	like "which is said ($how)" "inlined: .*cache.$how/$id/debuginfo, of a debuginfod server: libdw [0-9.]* reads no DWARF in it" "$(<"$tmp/said")"
	is "$(grep -c "$id" "$tmp/asked")" 1 "one request ($how)"
	kill $server
done
# libdebuginfod itself tries a timeout three times.
answer never
export DEBUGINFOD_TIMEOUT=1
ok "folded, with a server that never answers" export_as folded "$tmp/never"
like "which is said" "[a-z]: .*the server of DEBUGINFOD_URLS: Timer expired" "$(<"$tmp/said")"
ok "the server is asked for one file" test "$(wc -l <"$tmp/asked")" -le 3 || diag "$(<"$tmp/asked")"
kill $server
# A recording with its own files needs no other ones.
answer whole
cp -r "$recorded/gcc/recording" "$tmp/own"
mkdir -p "$tmp/own/archive/root"
cp "$root/root/inlined" "$tmp/own/archive/root/inlined"
ok "folded, of a recording with an archive" build/ntrace export -f folded -u -o "$tmp/archived" "$tmp/own"
is "$(<"$tmp/asked")" "" "asks no server"
ok "and has no names from one" test "$(grep -c '_\[i\]' "$tmp/archived")" -eq 0
done_testing
