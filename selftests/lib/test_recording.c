// SPDX-License-Identifier: GPL-2.0-only
/*
 * The files of a recording: params written, read and damaged; kernel text copied from a simulated
 * kernel (fake_machine.h), and the copies read by binutils.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ntrace/image.h>
#include <ntrace/recording.h>

#include "fake_machine.h"
#include "scratch.h"
#include "tap.h"

static void put_file(const char *name, const char *text)
{
	FILE *file = fopen(in(name), "w");

	if (file) {
		fputs(text, file);
		fclose(file);
	}
}

static void test_round_trip(void)
{
	struct ntrace_stream streams[2] = {
		{ .file = "aux.0",
		  .cpu = 3,
		  .hartid = UINT64_MAX,
		  .src = 4095,
		  .bytes = 12345678901,
		  .lost = 7,
		  .lost_exact = false,
		  .gaps = 2,
		  .start_ns = 1,
		  .stop_ns = UINT64_MAX },
		{ .file = "aux.1", .src = NTRACE_SRC_ANY, .lost_exact = false },
	};
	struct ntrace_recording recording = {
		.size = sizeof(recording),
		.tool = "0.1",
		.release = "6.12 with spaces",
		.machine = "riscv64",
		.clock = "monotonic",
		.command = "sh -c 'echo  two  spaces'",
		.privilege = 3,
		.stream_count = 2,
		.streams = streams,
		.unfinished = 1,
	};
	struct ntrace_recording *back;
	struct ntrace_params params;
	char reason[128];

	ntrace_params_init(&params);
	ntrace_params_parse(&params, "srcbits=12,xlen=32,mode=btm,isa=rv32imac,keepstack=1", NULL);
	streams[0].params = &params;
	is_u64(ntrace_recording_create(in("r")), 0, "creates");
	is_u64(ntrace_recording_create(in("r")), NTRACE_ERR_IO, "not twice");
	is_u64(errno, EEXIST, "because it is there");
	is_u64(ntrace_recording_write(in("r"), &recording), 0, "writes");
	is_u64(ntrace_recording_read(&back, in("r"), reason, sizeof(reason)), 0, "reads");
	is_str(back->release, recording.release, "release");
	is_str(back->command, recording.command, "command");
	is_str(back->module, "", "values that are not given are empty");
	is_u64(back->privilege, 3, "privilege");
	is_u64(back->unfinished, 1, "unfinished");
	is_u64(back->stream_count, 2, "streams");
	is_str(back->streams[0].file, "aux.0", "file");
	is_u64(back->streams[0].cpu, 3, "cpu");
	is_u64(back->streams[0].hartid, UINT64_MAX, "hart id");
	is_u64(back->streams[0].src, 4095, "SRC");
	is_u64(back->streams[1].src, NTRACE_SRC_ANY, "any SRC");
	is_u64(back->streams[0].bytes, 12345678901, "bytes");
	is_u64(back->streams[0].lost, 7, "lost");
	ok(!back->streams[0].lost_exact && back->streams[1].lost_exact,
	   "at least 7 bytes, and exactly none");
	is_u64(back->streams[0].gaps, 2, "gaps");
	is_u64(back->streams[0].start_ns, 1, "start");
	is_u64(back->streams[0].stop_ns, UINT64_MAX, "stop");
	is_u64(back->streams[0].params->src_bits, 12, "width of SRC");
	is_u64(back->streams[0].params->xlen, 32, "XLEN");
	is_u64(back->streams[0].params->mode, NTRACE_MODE_BRANCH, "mode");
	is_str(back->streams[0].params->isa, "rv32imac", "ISA");
	is_u64(back->streams[1].params->xlen, 64, "parameters that are not given");
	ntrace_recording_free(back);
	recording.command = "two\nlines";
	is_u64(ntrace_recording_write(in("r"), &recording), NTRACE_ERR_INVALID,
	       "a newline is refused");
	recording.command = "";
	streams[1].file = "../aux.1";
	is_u64(ntrace_recording_write(in("r"), &recording), NTRACE_ERR_INVALID,
	       "a path is refused");
	is_u64(ntrace_recording_write(in("nowhere"), &recording), NTRACE_ERR_INVALID, "still");
	streams[1].file = "aux.1";
	streams[1].reserved[0] = 1;
	is_u64(ntrace_recording_write(in("r"), &recording), NTRACE_ERR_INVALID,
	       "a field of a newer version is refused");
	streams[1].reserved[0] = 0;
	recording.reserved = 1;
	is_u64(ntrace_recording_write(in("r"), &recording), NTRACE_ERR_INVALID,
	       "nor one of the recording");
	recording.reserved = 0;
	is_u64(ntrace_recording_write(in("nowhere"), &recording), NTRACE_ERR_IO, "no directory");
}

static void test_damaged_params(void)
{
	static const struct {
		const char *text;
		int error;
		const char *reason;
	} cases[] = {
		{ "", NTRACE_ERR_FORMAT, "does not start" },
		{ "ntrace-recording", NTRACE_ERR_FORMAT, "does not start" },
		{ "ntrace-recording x\n", NTRACE_ERR_FORMAT, "does not start" },
		{ "ntrace-recording 2\nstream 0\n", NTRACE_ERR_UNSUPPORTED, "newer" },
		{ "ntrace-recording 1\nprivilege many\n", NTRACE_ERR_FORMAT, "line 2: privilege" },
		{ "ntrace-recording 1\nstream 0\ncpu -1\n", NTRACE_ERR_FORMAT,
		  "line 3: bad value of cpu" },
		{ "ntrace-recording 1\nstream 0\nsrc 4096\n", NTRACE_ERR_FORMAT, "value of src" },
		{ "ntrace-recording 1\nstream 0\nbytes 99999999999999999999\n", NTRACE_ERR_FORMAT,
		  "value of bytes" },
		{ "ntrace-recording 1\nstream 0\nfile /etc/passwd\n", NTRACE_ERR_FORMAT,
		  "file name" },
		{ "ntrace-recording 1\nstream 0\nparams xlen=63\n", NTRACE_ERR_FORMAT, "xlen=63" },
		{ "ntrace-recording 1\nstream 0\ncpu 1\n", NTRACE_ERR_FORMAT, "has no file" },
		{ "ntrace-recording 1\n# remark\n\nfuture 7\nstream 0\nfile aux.0\nwhatever\n", 0,
		  "" },
	};
	struct ntrace_recording *recording;
	char reason[128];
	size_t i;

	mkdir(in("d"), 0777);
	is_u64(ntrace_recording_read(&recording, in("d"), NULL, 0), NTRACE_ERR_IO, "no params");
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int error;

		put_file("d/params", cases[i].text);
		error = ntrace_recording_read(&recording, in("d"), reason, sizeof(reason));
		ok(error == cases[i].error && strstr(reason, cases[i].reason),
		   "params case %zu: %d %s", i, error, reason);
		if (!error)
			ntrace_recording_free(recording);
	}
	run("head -c 3000 /dev/urandom > %s/params", in("d"));
	is_u64(ntrace_recording_read(&recording, in("d"), reason, sizeof(reason)),
	       NTRACE_ERR_FORMAT, "noise");
}

static bool holds(const char *file, uint64_t address, const void *bytes, size_t size)
{
	struct core core;
	uint8_t got[0x4000];
	bool same;

	if (core_open(&core, in(file), false))
		return false;
	same = core_read(&core, address, got, size) == size && !memcmp(got, bytes, size);
	core_close(&core);
	return same;
}

static bool lacks(const char *file, uint64_t address)
{
	struct core core;
	uint8_t byte;
	bool absent;

	if (core_open(&core, in(file), false))
		return false;
	absent = !core_read(&core, address, &byte, 1);
	core_close(&core);
	return absent;
}

static void test_kernel_copy(void)
{
	struct ntrace_kernel_copy copy = { .size = sizeof(copy) };

	make_kernel_text();
	write_kcore(in("kcore"));
	/* After module_work: labels of its page, and of the next one. */
	write_kallsyms(in("symbols"),
		       "ffffffff01000012 t .L0 \t[paper]\nffffffff01000014 t $x\t[paper]\n"
		       "ffffffff01001010 t .L1\t[paper]\nffffffff01001012 t .LVL2\t[paper]\n"
		       /* And lines without symbols. */
		       "ffffffff01000020xt odd\t[paper]\nffffffff01000024 tt odd\t[paper]\n"
		       "ffffffff01000028  t odd\t[paper]\n t odd\t[paper]\nffffffff0100002c t\n"
		       "ffffffff01000030 t \n\n");
	copy.kcore = in("kcore");
	copy.kallsyms = in("symbols");
	ntrace_recording_create(in("k"));
	is_u64(ntrace_recording_copy_kernel(in("k"), NTRACE_RECORDING_START, &copy), 0, "copies");
	is_u64(copy.ranges, 2, "kernel and module");
	is_u64(copy.bytes, KERNEL_SIZE + 0x2000, "bytes");
	ok(holds("k/images/kernel.start", KERNEL_TEXT, fake_text, KERNEL_SIZE),
	   "kernel text is there");
	ok(holds("k/images/kernel.start", MODULE_TEXT, fake_module, 0x2000),
	   "module text is there");
	ok(lacks("k/images/kernel.start", KERNEL_TEXT - 1) &&
		   lacks("k/images/kernel.start", KERNEL_TEXT + KERNEL_SIZE),
	   "and nothing else");
	is_u64(run("readelf -hl %s 2> %s | grep -q 'CORE (Core file)' && ! test -s %s",
		   in("k/images/kernel.start"), in("err"), in("err")),
	       0, "readelf reads the copy");
	is_u64(run("grep -q jiffies %s", in("k/images/kallsyms")) != 0, 1, "no data symbols");
	is_u64(run("grep -qP '^ffffffff01000010 t module_work\\t\\[paper\\]$' %s",
		   in("k/images/kallsyms")),
	       0, "symbols as in kallsyms");
	is_u64(run("grep -F '[paper]' %s | cut -d' ' -f3- | tr -d '\\n' | grep -qxP "
		   "'module_work\\t\\[paper\\].L1\\t\\[paper\\]'",
		   in("k/images/kallsyms")),
	       0, "one label for a page without another symbol");
	is_u64(run("grep -q odd %s", in("k/images/kallsyms")) != 0, 1, "only lines with symbols");
	/* No change. */
	is_u64(ntrace_recording_copy_kernel(in("k"), NTRACE_RECORDING_END, &copy), 0, "end");
	ok(!copy.changed && !copy.bytes, "the end copy has nothing beyond the start copy");
	ok(access(in("k/images/kallsyms.end"), F_OK), "nor has kallsyms");
	/* A jump label in the kernel, a changed byte in the module, a new module. */
	put_parcel(KERNEL_TEXT + 0x1ffe, 0x9002);
	put_parcel(KERNEL_TEXT + 0x2000, 0x9002);
	fake_module[0x1001] ^= 1;
	write_kcore(in("kcore"));
	write_kallsyms(in("symbols"), "ffffffff00fff000 t fresh\t[late]\n");
	is_u64(ntrace_recording_copy_kernel(in("k"), NTRACE_RECORDING_END, &copy), 0, "end");
	is_u64(copy.changed, 3, "three parcels changed");
	is_u64(copy.bytes, 3 * 4096, "three pages");
	ok(holds("k/images/kernel.end", KERNEL_TEXT + 0x1000, fake_text + 0x1000, 0x2000) &&
		   lacks("k/images/kernel.end", KERNEL_TEXT),
	   "the changed parcels");
	ok(!access(in("k/images/kallsyms.end"), F_OK), "new symbols are kept");
	/* Inputs that must be refused. */
	put_file("hidden", "0000000000000000 T _stext\n0000000000000000 T _etext\n");
	copy.kallsyms = in("hidden");
	is_u64(ntrace_recording_copy_kernel(in("k"), NTRACE_RECORDING_START, &copy), NTRACE_ERR_IO,
	       "kallsyms without addresses");
	is_u64(errno, EACCES, "is a missing permission");
	copy.kallsyms = in("symbols");
	copy.kcore = in("symbols");
	is_u64(ntrace_recording_copy_kernel(in("k"), NTRACE_RECORDING_START, &copy),
	       NTRACE_ERR_FORMAT, "a kcore file in another format");
	copy.kcore = in("nothing");
	is_u64(ntrace_recording_copy_kernel(in("k"), NTRACE_RECORDING_START, &copy), NTRACE_ERR_IO,
	       "no kcore");
	put_file("empty", "");
	copy.kallsyms = in("empty");
	is_u64(ntrace_recording_copy_kernel(in("k"), NTRACE_RECORDING_START, &copy),
	       NTRACE_ERR_FORMAT, "empty kallsyms");
}

/* A page of zeros ends a module's text; memory after it belongs to other code. */
static void test_guard_page(void)
{
	struct ntrace_kernel_copy copy = { .size = sizeof(copy) };

	make_kernel_text();
	memset(fake_module + 0x1000, 0, 0x1000);
	write_kcore(in("kcore"));
	write_kallsyms(in("symbols"), "");
	copy.kcore = in("kcore");
	copy.kallsyms = in("symbols");
	ntrace_recording_create(in("guard"));
	ntrace_recording_copy_kernel(in("guard"), NTRACE_RECORDING_START, &copy);
	is_u64(copy.bytes, KERNEL_SIZE + 0x1000, "module text ends at a page of zeros");
}

static void test_vdso(void)
{
	struct ntrace_object *object;
	int error;

	ntrace_recording_create(in("v"));
	error = ntrace_recording_copy_vdso(in("v"));
	if (!getauxval(AT_SYSINFO_EHDR)) {
		is_u64(error, NTRACE_ERR_NOMAP, "no vDSO");
		return;
	}
	is_u64(error, 0, "copies the vDSO");
	is_u64(run("readelf -sW %s 2> %s | grep -qi 'clock_gettime' && ! test -s %s",
		   in("v/images/vdso"), in("err"), in("err")),
	       0, "readelf shows its functions");
	error = ntrace_object_open_elf(&object, in("v/images/vdso"));
	ok(!error || error == NTRACE_ERR_NOTRISCV, "an ELF file for the image");
	if (!error)
		ntrace_object_put(object);
	is_u64(ntrace_recording_copy_vdso(in("nowhere")), NTRACE_ERR_IO, "no directory");
}

int main(void)
{
	if (!scratch_make()) {
		ok(false, "temporary directory");
		return done_testing();
	}
	test_round_trip();
	test_damaged_params();
	test_kernel_copy();
	test_guard_page();
	test_vdso();
	scratch_remove();
	return done_testing();
}
