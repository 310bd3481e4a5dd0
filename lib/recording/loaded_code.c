// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Fingerprint of the modules and BPF programs loaded by the running kernel. */
#include <errno.h>
#include <linux/bpf.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fnv.h"
#include "loaded_code.h"

/* "name size references users state address": references and users change at any time. */
static bool add_modules(uint64_t *hash)
{
	FILE *file = fopen("/proc/modules", "re");
	char line[4096];

	/* A kernel without modules lacks this file. */
	if (!file)
		return errno == ENOENT;
	while (fgets(line, sizeof(line), file)) {
		char *field, *rest = line;
		unsigned int i;

		for (i = 0; (field = strtok_r(rest, " \n", &rest)); i++) {
			if (i != 2 && i != 3)
				*hash = fnv_add(*hash, field, strlen(field) + 1);
		}
	}
	fclose(file);
	return true;
}

static bool add_programs(uint64_t *hash)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	while (!syscall(SYS_bpf, BPF_PROG_GET_NEXT_ID, &attr, sizeof(attr))) {
		*hash = fnv_add(*hash, &attr.next_id, sizeof(attr.next_id));
		attr.start_id = attr.next_id;
	}
	/* ENOENT: no more programs; ENOSYS: a kernel without BPF. */
	return errno == ENOENT || errno == ENOSYS;
}

uint64_t loaded_code_state(void)
{
	uint64_t hash = FNV_START;

	if (!add_modules(&hash) || !add_programs(&hash))
		return 0;
	return hash ? hash : 1;
}
