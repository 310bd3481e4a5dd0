// SPDX-License-Identifier: GPL-2.0-only
/* profile.proto of counts, from hand-made traces, with a reader of its own. */
#include <ntrace/export.h>

#include "image/object.h"
#include "profile/parts.h"

#include "pprof_text.h"

static struct ntrace_object *program, *other;

static void make_objects(void)
{
	const uint32_t code[64] = { 0 };

	ntrace_object_from_bytes(&program, "/bin/program", code, sizeof(code), 0x1000);
	ntrace_object_add_symbol(program, "_Z3fooi", 0x1000, 0x20);
	ntrace_object_add_symbol(program, "bar", 0x1040, 0x40);
	ntrace_object_from_bytes(&other, "other", code, sizeof(code), 0x500);
}

static void add(struct ntrace_profile *profile, struct ntrace_object *object, uint64_t start,
		uint32_t instructions, uint64_t count)
{
	struct ntrace_profile_trace trace = { .from = 0x1080,
					      .start = start,
					      .end = start + 4 * (uint64_t)instructions,
					      .count = count,
					      .instructions = instructions,
					      .from_class = NTRACE_INSN_JUMP,
					      .taken = true };

	profile_find_object(profile, program, &trace.from_object);
	if (object)
		profile_find_object(profile, object, &trace.object);
	profile_add(profile, NTRACE_PRIV_U, &trace);
}

struct wanted {
	struct ntrace_profile *profile;
	const struct ntrace_object *object;
	const char *title;
	struct ntrace_export_counts *counts;
};

static int put(FILE *file, const void *data)
{
	const struct wanted *wanted = data;

	return ntrace_export_pprof(file, wanted->profile, wanted->object, wanted->title,
				   wanted->counts);
}

#define TYPES "type instructions count\ntype runs count\n"
#define FUNCTIONS "function 1 foo(int), _Z3fooi\nfunction 2 bar, bar\n"
#define PROGRAM                                                                              \
	"location 1 in 1 at 1000: 1\nsample at 1: 29 12\n"                                       \
	"location 2 in 1 at 1008: 1\nsample at 2: 9223372036854775807 9223372036854775807\n"     \
	"location 3 in 1 at 1030:\nsample at 3: 6 6\n"                                           \
	"location 4 in 1 at 1040: 2\nsample at 4: 8 4\n"

static void tests(struct ntrace_profile *profile)
{
	struct ntrace_export_counts counts;
	struct wanted wanted = { profile, program, "a title", &counts };

	is_str(pprof_text(write_all(put, &wanted, "the program")),
	       TYPES "mapping 1 1000-1100 /bin/program  functions\n" FUNCTIONS PROGRAM
		     "comment a title\ndefault instructions\n",
	       "the program");
	is_u64(counts.traces, 5, "the program: traces");
	is_u64(counts.executed, UINT64_MAX - 2, "the program: executions");
	wanted.object = NULL;
	wanted.title = NULL;
	wanted.counts = NULL;
	is_str(pprof_text(write_all(put, &wanted, "all objects")),
	       TYPES "mapping 1 1000-1100 /bin/program  functions\nmapping 2 500-600 other  "
		     "functions\n" FUNCTIONS PROGRAM "location 5 in 2 at 500:\nsample at 5: 4 1\n"
		     "comment \ndefault instructions\n",
	       "all objects");
	check_full(put, &wanted, "all objects");
}

/* An object whose last byte is that of all addresses has no limit in 64 bits. */
static void test_last_address(void)
{
	const uint32_t code[4] = { 0 };
	struct ntrace_object *last;
	struct ntrace_profile *profile;
	struct wanted wanted = { NULL, NULL, NULL, NULL };

	ntrace_object_from_bytes(&last, "last", code, sizeof(code), UINT64_MAX - 15);
	ntrace_profile_new(&profile, NULL);
	add(profile, last, UINT64_MAX - 15, 1, 1);
	wanted.profile = profile;
	is_str(pprof_text(write_all(put, &wanted, "the last addresses")),
	       TYPES "mapping 1 fffffffffffffff0-ffffffffffffffff last  functions\n"
		     "location 1 in 1 at fffffffffffffff0:\nsample at 1: 1 1\n"
		     "comment \ndefault instructions\n",
	       "the last addresses");
	ntrace_profile_free(profile);
	ntrace_object_put(last);
}

int main(void)
{
	struct ntrace_profile *profile;

	make_objects();
	ntrace_profile_new(&profile, NULL);
	/* Two runs from one place; more than the values of the format; code without a symbol. */
	add(profile, program, 0x1000, 3, 5);
	add(profile, program, 0x1000, 2, 7);
	add(profile, program, 0x1008, 2, UINT64_MAX - 24);
	add(profile, program, 0x1030, 1, 6);
	add(profile, program, 0x1040, 2, 4);
	/* Nothing executed, and code that is not known: left out. */
	add(profile, program, 0x1044, 0, 9);
	add(profile, NULL, 0x1044, 3, 9);
	add(profile, other, 0x500, 4, 1);
	tests(profile);
	test_last_address();
	ntrace_profile_free(profile);
	ntrace_object_put(program);
	ntrace_object_put(other);
	return done_testing();
}
