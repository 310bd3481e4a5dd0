/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * ELF core files as far as kernel memory needs them: /proc/kcore is read, and
 * images/kernel.start and .end are written and read.
 */
#ifndef NTRACE_SIDEBAND_CORE_H
#define NTRACE_SIDEBAND_CORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ntrace/error.h>

/* Memory in a core file. */
struct core_piece {
	uint64_t address;
	uint64_t size;
	uint64_t offset;
};

struct core {
	int fd;
	struct core_piece *pieces; /* sorted by address, those that overlap left out */
	size_t count;
};

/*
 * @memory: /proc/kcore, whose size says nothing; else pieces must be in the
 * file, and no two may share bytes of it, so that work on it is bounded.
 * Return: 0, NTRACE_ERR_IO, NTRACE_ERR_FORMAT, NTRACE_ERR_NOTRISCV, NTRACE_ERR_NOMEM.
 */
int core_open(struct core *core, const char *path, bool memory);
void core_close(struct core *core);

/*
 * Reads what the core has between @address and @address + @size; the rest is
 * filled with 0. Return: bytes that it had.
 */
uint64_t core_read(const struct core *core, uint64_t address, void *data, uint64_t size);

struct core_writer;

int core_writer_open(struct core_writer **writer, const char *path);
/* Return: 0, NTRACE_ERR_IO, NTRACE_ERR_NOMEM, NTRACE_ERR_NOSPACE after 65534 pieces. */
int core_writer_add(struct core_writer *writer, uint64_t address, const void *data, uint64_t size);
/* Return: 0 or NTRACE_ERR_IO with errno of the first failure. */
int core_writer_close(struct core_writer *writer);

#endif
