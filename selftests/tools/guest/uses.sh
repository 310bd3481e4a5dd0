#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Failing uses of record, trigger and top: without the module, with a module of another version,
# without permission. This must be the first job, because it needs the module unloaded, and loads
# it.
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=selftests/tools/guest/common.sh
. "$here/common.sh"
ntrace=/usr/local/bin/ntrace
chmod 755 /root
mkdir -p /tmp/user
chmod 777 /tmp/user

[ ! -d /sys/module/ntrace ] || rmmod ntrace
refused record_no_module 'no trace device.*module' ntrace record -a -o none -- true
refused top_no_module 'no trace device.*module' ntrace top -n 1
refused trigger_no_module 'no PMU "ntrace": is the module loaded' ntrace trigger --call main@"$here/steady" -o none -- true
ok "the module is loaded" load_module

refused newer 'has version 2 .* version 1: install matching versions' "$here/module_version" 2 ntrace record -a -o none -- true
refused older 'has version 0 .* version 1: install matching versions' "$here/module_version" 0 ntrace record -a -o none -- true
attempt same "$here/module_version" 1 ntrace record -q --cpu 0 --privilege u -o same.data -- true
status same 0
rm -rf same.data

refused_nobody record_permission 'no permission.*CAP_PERFMON' "$ntrace" record -o /tmp/user/none -- true
refused_nobody top_permission 'no permission.*CAP_PERFMON' "$ntrace" top -n 1
refused gone 'no process 4194000' ntrace top -p 4194000 -n 1
refused no_cpu 'CPU 7 has no trace device' ntrace record --cpu 0,7 -o none -- true
refused too_large 'largest sink buffer' ntrace record --sink-size 512G -o none -- true
attempt no_command ntrace record -o none -- no-such-program
says no_command 127 'no-such-program: no such command'
"$here/steady" >/dev/null &
steady=$!
refused no_function "$here/steady: no function 'nonsense'" ntrace trigger --call nonsense -o none -p $steady
refused no_file "$here/nothing: No such file" ntrace trigger --call seldom@"$here/nothing" -o none -p $steady
kill $steady
wait $steady
echo 2 >/proc/sys/kernel/perf_event_paranoid
refused_nobody trigger_permission 'no permission to watch functions: needs root or CAP_PERFMON' "$ntrace" trigger \
	--privilege u -o /tmp/user/none --call seldom@"$here/steady" -- "$here/steady"
refused_nobody no_buffer 'AUX area of 536870912 bytes: not allowed that much memory' "$ntrace" trigger \
	--privilege u -o /tmp/user/none --aux-size 512M -- "$here/steady"
is "$(pgrep -u 65534)" "" "no command that was refused runs on"
is "$(ls -d none /tmp/user/none 2>/dev/null)" "" "a refused recording leaves no directory"

printf '#!/no/such/interpreter\n' >script
chmod +x script
refused no_interpreter 'script: No such file' ntrace record -q -o interpreter.data -- ./script
mkdir precious
touch precious/file
refused no_recording 'precious: exists and is not a recording' ntrace record -q -o precious -- true
ok "other directories are left alone" test -e precious/file
done_testing
