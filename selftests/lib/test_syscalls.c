// SPDX-License-Identifier: GPL-2.0-only
/* What system calls write, by the table of lib/values/syscalls.c. */
#include <stdio.h>
#include <string.h>

#include <ntrace/values.h>

#include "tap.h"
#include "values/syscalls.h"

#define WHERE UINT64_C(0x1000)
#define OTHER UINT64_C(0x8000)

static char text[128];

static int note(void *user, uint64_t first, uint64_t last, enum syscall_content content)
{
	size_t *length = user;

	*length += (size_t)snprintf(text + *length, sizeof(text) - *length, "%s%llx+%llu%s",
				    *length ? " " : "", (unsigned long long)first,
				    (unsigned long long)(last - first + 1),
				    content == SYSCALL_UNKNOWN ? "" : "!");
	return 0;
}

/* Ranges as "address+length ..."; "all": it may have written anything. */
static const char *written(const struct syscall *call)
{
	size_t length = 0;

	text[0] = '\0';
	return syscall_writes(call, note, &length) == 1 ? "all" : text;
}

static const struct {
	const char *name;
	const char *expected;
	struct syscall call;
} cases[] = {
	{ "getxattr", "1000+20", { 8, { 1, 2, WHERE, 100 }, 0x3f, 20 } },
	{ "lgetxattr that fails", "1000+100", { 9, { 1, 2, WHERE, 100 }, 0x3f, -61 } },
	{ "fgetxattr that asks for the size", "", { 10, { 1, 2, 0, 0 }, 0x3f, 20 } },
	{ "llistxattr", "1000+17", { 12, { 1, WHERE, 100 }, 0x3f, 17 } },
	{ "flistxattr without attributes", "", { 13, { 1, WHERE, 100 }, 0x3f, 0 } },
	{ "FUTEX_WAIT_PRIVATE", "", { 98, { WHERE, 128, 2, 0, OTHER }, 0x3f, 0 } },
	{ "FUTEX_WAKE", "", { 98, { WHERE, 1, 1, 0, OTHER }, 0x3f, 1 } },
	{ "FUTEX_WAIT_BITSET by the clock",
	  "",
	  { 98, { WHERE, 9 | 256, 2, 0, OTHER }, 0x3f, -110 } },
	{ "FUTEX_WAKE_OP", "1000+4 8000+4", { 98, { WHERE, 5, 1, 1, OTHER }, 0x3f, 1 } },
	{ "FUTEX_LOCK_PI", "1000+4 8000+4", { 98, { WHERE, 6 | 128, 0, 0, OTHER }, 0x3f, 0 } },
	{ "futex with an unknown operation",
	  "1000+4 8000+4",
	  { 98, { WHERE, 1, 0, 0, OTHER }, 0x3d, 0 } },
	{ "read", "1000+5", { 63, { 3, WHERE, 100 }, 0x3f, 5 } },
	{ "rt_sigprocmask", "1000+8", { 135, { 0, 0, WHERE, 8 }, 0x3f, 0 } },
	{ "a call that is not in the table", "all", { 499, { 0 }, 0x3f, 0 } },
};

/* Each output of the list is forgotten after the call, so that nothing older is taken for what is recorded of it. */
static void test_outputs(void)
{
	struct ntrace_values_output output = { .size = sizeof(output) };
	unsigned int count = 0, missing = 0;

	for (; !ntrace_values_output(count, &output); count++) {
		struct syscall call = { output.first, { 5, 5, 5, 5, 5, 5 }, 0x3f, 5 };
		unsigned int bytes = output.bytes;
		const char *got;
		char expected[32];

		if (output.by != NTRACE_VALUES_ONCE)
			bytes *= 5;
		call.argument[output.argument] = WHERE;
		snprintf(expected, sizeof(expected), "1000+%u", bytes);
		got = written(&call);
		if (!strstr(got, expected) && strcmp(got, "all")) {
			diag("call %u: %s", output.first, got);
			missing++;
		}
	}
	ok(count > 80, "outputs are listed");
	is_u64(missing, 0, "the table has each of them");
	is_u64(ntrace_values_output(UINT32_MAX, &output), 1, "the list ends");
}

int main(void)
{
	test_outputs();
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		is_str(written(&cases[i].call), cases[i].expected, "%s", cases[i].name);
	return done_testing();
}
