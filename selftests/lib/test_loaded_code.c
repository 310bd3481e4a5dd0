// SPDX-License-Identifier: GPL-2.0-only
/*
 * The fingerprint of loaded code, which must change with the code. The test provides the modules
 * file and the system call that lists BPF programs.
 */
#include <errno.h>
#include <linux/bpf.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "recording/loaded_code.h"
#include "tap.h"

static const char *modules;
static int modules_error;
static uint32_t programs[4];
static int programs_error;

FILE *fopen(const char *path, const char *mode)
{
	if (!modules_error && !strcmp(path, "/proc/modules"))
		return fmemopen((void *)(uintptr_t)modules, strlen(modules), mode);
	errno = modules_error ? modules_error : ENOENT;
	return NULL;
}

/* Like the kernel: the smallest identifier above @start_id. */
long syscall(long number, ...)
{
	union bpf_attr *attr;
	va_list args;
	size_t i;
	int command;

	va_start(args, number);
	command = va_arg(args, int);
	attr = va_arg(args, union bpf_attr *);
	va_end(args);
	if (number != SYS_bpf || command != BPF_PROG_GET_NEXT_ID) {
		errno = EINVAL;
		return -1;
	}
	for (i = 0; i < 4 && !programs_error; i++) {
		if (programs[i] > attr->start_id) {
			attr->next_id = programs[i];
			return 0;
		}
	}
	errno = programs_error ? programs_error : ENOENT;
	return -1;
}

static uint64_t state_of(const char *text)
{
	modules = text;
	return loaded_code_state();
}

int main(void)
{
	static const char loaded[] = "one 4096 1 two, Live 0xffffffff01000000\n"
				     "two 8192 0 - Live 0xffffffff01002000\n";
	static const char *const others[] = {
		"one 4096 1 two, Live 0xffffffff01000000\n",
		"One 4096 1 two, Live 0xffffffff01000000\ntwo 8192 0 - Live 0xffffffff01002000\n",
		"one 4097 1 two, Live 0xffffffff01000000\ntwo 8192 0 - Live 0xffffffff01002000\n",
		"one 4096 1 two, Live 0xffffffff01000000\ntwo 8192 0 - Live 0xffffffff01004000\n",
		"one 4096 1 two, Live 0xffffffff01000000\ntwo 8192 0 - Going 0xffffffff01002000\n",
		"two 8192 0 - Live 0xffffffff01002000\none 4096 1 two, Live 0xffffffff01000000\n",
	};
	uint64_t state = state_of(loaded);

	ok(state, "with two modules");
	is_hex(state_of(loaded), state, "nothing changed");
	is_hex(state_of("one 4096 7 two,six, Live 0xffffffff01000000\n"
			"two 8192 3 five, Live 0xffffffff01002000\n"),
	       state, "changed reference counts do not matter");
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		ok(state_of(others[i]) && state_of(others[i]) != state, "other modules, %zu", i);
	programs[0] = 3;
	programs[1] = 7;
	ok(state_of(loaded) && state_of(loaded) != state, "with two BPF programs");
	state = state_of(loaded);
	programs[1] = 8;
	ok(state_of(loaded) != state, "with another program");
	programs[1] = 7;
	programs[2] = 9;
	ok(state_of(loaded) != state, "with one more");
	programs[2] = 0;
	is_hex(state_of(loaded), state, "and without it");
	programs_error = EPERM;
	is_hex(state_of(loaded), 0, "programs that cannot be listed");
	programs_error = ENOSYS;
	ok(state_of(loaded), "a kernel without BPF");
	modules_error = EACCES;
	is_hex(state_of(loaded), 0, "modules that cannot be read");
	modules_error = ENOENT;
	ok(state_of(loaded), "a kernel without modules");
	return done_testing();
}
