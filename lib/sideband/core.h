/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The part of ELF core files that kernel memory needs: /proc/kcore is read; images/kernel.start and
 * .end are written and read.
 */
#ifndef NTRACE_SIDEBAND_CORE_H
#define NTRACE_SIDEBAND_CORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ntrace/error.h>

/* A piece of memory in a core file. */
struct core_piece {
	uint64_t address;
	uint64_t size;
	uint64_t offset;
};

struct core {
	int fd;
	struct core_piece *pieces; /* sorted by address, without overlapping pieces */
	size_t count;
};

/*
 * @memory: the file is /proc/kcore, which has no real size; else pieces must lie in the file and
 * must not share bytes, so that the work is bounded. Return: 0, NTRACE_ERR_IO, NTRACE_ERR_FORMAT,
 * NTRACE_ERR_NOTRISCV, NTRACE_ERR_NOMEM.
 */
int core_open(struct core *core, const char *path, bool memory);
void core_close(struct core *core);

/*
 * Reads the content of the core between @address and @address + @size and fills the rest with 0.
 * Return: number of bytes read.
 */
uint64_t core_read(const struct core *core, uint64_t address, void *data, uint64_t size);

struct core_writer;

int core_writer_open(struct core_writer **writer, const char *path);
/* Return: 0, NTRACE_ERR_IO, NTRACE_ERR_NOMEM, NTRACE_ERR_NOSPACE after 65534 pieces. */
int core_writer_add(struct core_writer *writer, uint64_t address, const void *data, uint64_t size);
/* Return: 0 or NTRACE_ERR_IO with errno of the first error. */
int core_writer_close(struct core_writer *writer);

#endif
