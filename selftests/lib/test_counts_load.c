// SPDX-License-Identifier: GPL-2.0-only
/* ntrace_counts_load() finds the program of a counts file below the sysroot, and its debug file. */
#include <ntrace/counts_file.h>
#include <ntrace/functions.h>

#include "scratch.h"
#include "tap.h"

#define TOOL "riscv64-linux-gnu-"

static unsigned int missing;

static void count_missing(void *data, const char *name)
{
	(void)data;
	(void)name;
	missing++;
}

/* A stripped program, and its symbols below usr/lib/debug. */
static bool make(void)
{
	return !run(
		"cd %s && mkdir -p root/usr/lib/debug && "
		"printf '.globl alpha\\n.type alpha,@function\\nalpha: nop\\nret\\n"
		".size alpha,.-alpha\\n' > prog.s && " TOOL "as prog.s -o prog.o && " TOOL
		"ld --build-id -Ttext=0x10000 -e alpha prog.o -o root/prog && "
		"id=$(" TOOL "readelf -n root/prog | sed -n 's/.*Build ID: //p') && "
		"name=root/usr/lib/debug/.build-id/$(echo $id | cut -c1-2) && mkdir -p $name "
		"&& " TOOL
		"objcopy --only-keep-debug root/prog $name/$(echo $id | cut -c3-).debug && " TOOL
		"strip root/prog",
		directory);
}

/* A counts file of one entry at 0x10000. @sampled: nothing tells where its run ends */
static FILE *write_counts(struct ntrace_object *program, bool sampled)
{
	const struct ntrace_counts_losses losses = { .sampled = sampled };
	struct ntrace_counts_group group = { .object = { .name = "/prog" }, .label = "" };
	const struct ntrace_counts_entry entry = { .start = 0x10000,
						   .end = 0x10004,
						   .from = 0x10004,
						   .count = 3,
						   .instructions = 2,
						   .from_class = NTRACE_INSN_RETURN,
						   .end_class = NTRACE_INSN_RETURN,
						   .taken = !sampled };
	struct ntrace_counts_writer *writer;
	struct ntrace_counts_totals totals;
	FILE *file = tmpfile();
	size_t size;

	group.object.build_id = ntrace_object_build_id(program, &size);
	group.object.build_id_size = (uint32_t)size;
	group.from_object = group.object;
	ok(!ntrace_counts_writer_new(&writer, file) && !ntrace_counts_put(writer, &group, &entry),
	   "a counts file");
	if (sampled)
		ntrace_counts_put_losses(writer, &losses);
	ok(!ntrace_counts_writer_end(writer, &totals), "ends");
	ntrace_counts_writer_free(writer);
	return file;
}

/* Transfers are branches of their function, also if a sample does not have the run before. */
static void test_branches(struct ntrace_object *program, bool sampled)
{
	const struct ntrace_profile_options wanted = { .size = sizeof(wanted),
						       .parts = NTRACE_PROFILE_FUNCTIONS };
	struct ntrace_counts_load_options options = { .size = sizeof(options),
						      .sysroot = in("root") };
	const struct ntrace_profile_function *functions;
	struct ntrace_counts_reader *reader;
	struct ntrace_profile *profile;
	FILE *file = write_counts(program, sampled);
	size_t count;

	rewind(file);
	ntrace_counts_reader_new(&reader, file);
	ntrace_profile_new(&profile, &wanted);
	ntrace_counts_load(profile, reader, &options, NULL);
	ntrace_profile_end(profile);
	functions = ntrace_profile_functions(profile, NTRACE_PROFILE_BY_NAME, &count);
	ok(count == 1 && functions[0].branches == 3, "three branches%s",
	   sampled ? ", sampled" : "");
	ntrace_profile_free(profile);
	ntrace_counts_reader_free(reader);
	fclose(file);
}

static void tests(void)
{
	struct ntrace_counts_load_options options = { .size = sizeof(options),
						      .sysroot = in("root"),
						      .missing = count_missing };
	struct ntrace_location location = { 0 };
	const struct ntrace_profile_trace *traces;
	struct ntrace_counts_reader *reader;
	struct ntrace_counts_totals totals;
	struct ntrace_profile *profile;
	struct ntrace_object *program;
	size_t count;
	FILE *file;

	if (!ok(make() && !ntrace_object_open_elf(&program, in("root/prog")), "a stripped program"))
		return;
	file = write_counts(program, false);
	rewind(file);
	ntrace_counts_reader_new(&reader, file);
	ntrace_profile_new(&profile, NULL);
	is_u64(ntrace_counts_load(profile, reader, &options, &totals), 0, "loaded");
	traces = ntrace_profile_traces(profile, &count);
	is_u64(count, 1, "one trace");
	is_u64(missing, 0, "its program is below the sysroot");
	ntrace_object_locate(traces[0].object, 0x10000, &location);
	is_str(location.symbol ? location.symbol : "", "alpha", "with the names of its debug file");
	ntrace_profile_free(profile);
	ntrace_counts_reader_free(reader);
	fclose(file);
	test_branches(program, false);
	test_branches(program, true);
	ntrace_object_put(program);
}

int main(void)
{
	if (!scratch_make())
		return 1;
	if (run("command -v " TOOL "as > /dev/null"))
		skip("counts of programs", TOOL "as is not installed");
	else
		tests();
	scratch_remove();
	return done_testing();
}
