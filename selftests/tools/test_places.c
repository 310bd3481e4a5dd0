// SPDX-License-Identifier: GPL-2.0-only
/*
 * ntrace gdb, browse, report and others with recordings, on this machine: a process of two threads in a
 * position-independent program, its library and its interpreter, which takes turns with another
 * process. host/gdb_packets.py asks as a debugger, without GDB; host/browse_recording.py types, and
 * host/report_recording.py reads what report, count, export and index say of the gaps.
 */
#include "test_session.h"

#define PROGRAM 0x4000001000
#define LIBRARY 0x4100001000
#define INTERPRETER 0x4200001000
#define UNMAPPED 0x4300001000

/* A name that needs escapes in XML and JSON. */
#define STRANGE "a<b&\"'>\x01\xc3\xa9"

static char top[4096];

static void map_file(int32_t pid, int32_t tid, uint64_t time, uint64_t address, const char *file)
{
	put((struct ntrace_sideband){ .type = NTRACE_SIDEBAND_MMAP2,
				      .pid = pid,
				      .tid = tid,
				      .time = time,
				      .executable = true,
				      .address = address,
				      .length = 0x1000,
				      .offset = 0x1000,
				      .name = file });
}

static void name_thread(int32_t pid, int32_t tid, const char *name)
{
	put((struct ntrace_sideband){
		.type = NTRACE_SIDEBAND_COMM, .pid = pid, .tid = tid, .name = name });
}

/*
 * Two threads take turns with each other and with another process, @rounds times; before them, the
 * other process is @alone for some time.
 */
static void record(const char *name, unsigned int alone, unsigned int rounds, unsigned int works)
{
	start(name, INTERPRETER, UINT32_MAX);
	name_thread(100, 100, "main");
	name_thread(100, 101, STRANGE);
	map_file(100, 100, 0, PROGRAM, "/bin/prog");
	map_file(100, 100, 0, LIBRARY, "/lib/libwork.so");
	map_file(100, 100, 0, INTERPRETER, "/lib/ld-test.so.1");
	named(200, 0, false, "beta");
	maps(200, 0, OTHER_CODE, "/ccc");
	work(OTHER_CODE, alone);
	turn(200, 200, 100, 100, INTERPRETER);
	work(PROGRAM, 2);
	for (unsigned int i = 0; i < rounds; i++) {
		work(LIBRARY, works);
		/* One gap, then five close together. */
		for (unsigned int k = 0; i && k < 4 * i - 3 && i < 3; k++) {
			work(UNMAPPED, 1);
			work(PROGRAM, 1);
		}
		work(PROGRAM, 3);
		turn(100, 100, 100, 101, LIBRARY);
		work(PROGRAM, works);
		turn(100, 101, 200, 200, OTHER_CODE);
		work(OTHER_CODE, works / 2);
		/* The idle task once. */
		turn(200, 200, i ? 100 : 0, i ? 100 : 0, i ? PROGRAM : KERNEL_LOOP);
		if (!i) {
			work(KERNEL_LOOP, 2);
			turn(0, 0, 100, 100, PROGRAM);
		}
	}
	stop(name, 3);
}

static bool link_file(const char *name, const char *source, const char *options)
{
	return !run("cd %s && printf '%s' > part.s && riscv64-linux-gnu-as -march=rv64gc -g part.s "
		    "-o part.o && riscv64-linux-gnu-ld --build-id=none -Ttext=0x1000 %s part.o "
		    "-o root/%s",
		    directory, source, options, name);
}

static bool make_files(void)
{
	return !run("mkdir %s %s", in("root/bin"), in("root/lib")) &&
	       link_file("bin/prog",
			 ".globl _start\\n.type _start,@function\\n_start: c.nop\\nc.nop\\n"
			 "j _start\\n.size _start,.-_start\\n.section .rodata\\n.globl text\\n"
			 "text: .ascii \"constant\"\\n.data\\n.globl value\\nvalue: .word 1\\n",
			 "-pie -e _start --dynamic-linker /lib/ld-test.so.1") &&
	       link_file("lib/libwork.so",
			 ".globl labour\\n.type labour,@function\\nlabour: c.nop\\nc.nop\\n"
			 "j .-4\\n.size labour,.-labour\\n",
			 "-shared -e 0") &&
	       link_file("lib/ld-test.so.1",
			 ".globl begin\\n.type begin,@function\\nbegin: c.nop\\nc.nop\\n"
			 "j .-4\\n.size begin,.-begin\\n",
			 "-shared -e begin");
}

/* Results of a script: lines "ok TEXT" and "failed TEXT"; others explain. */
static void relay(const char *script, unsigned int least)
{
	char command[2 * sizeof(top) + 600], line[1000];
	unsigned int count = 0;
	FILE *output;

	snprintf(command, sizeof(command),
		 "/usr/bin/python3 %s/selftests/tools/host/%s %s/build/ntrace %s", top, script, top,
		 directory);
	output = popen(command, "r");
	while (output && fgets(line, sizeof(line), output)) {
		line[strcspn(line, "\n")] = '\0';
		if (!strncmp(line, "ok ", 3))
			ok(true, "%s", line + 3);
		else if (!strncmp(line, "failed ", 7))
			ok(false, "%s", line + 7);
		else
			diag("%s", line);
		count += !strncmp(line, "ok ", 3) || !strncmp(line, "failed ", 7);
	}
	ok(output && !pclose(output) && count >= least, "%s ends well", script);
}

static void tests(void)
{
	if (!ok(make_files(), "programs"))
		return;
	fake_context = true;
	record("untimed", 0, 14, 200);
	fake_time_bits = 32;
	record("timed", 0, 3, 4);
	record("long", 0, 14, 200);
	record("late", 2500, 3, 200);
	relay("gdb_packets.py", 350);
	relay("browse_recording.py", 74);
	relay("report_recording.py", 293);
}

int main(void)
{
	if (!getcwd(top, sizeof(top)))
		return 1;
	return test_sessions(tests);
}
