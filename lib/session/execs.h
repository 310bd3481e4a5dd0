/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The programs of one process by the addresses of their code, for a search among those that may come later: a
 * process may call exec any number of times.
 */
#ifndef NTRACE_SESSION_EXECS_H
#define NTRACE_SESSION_EXECS_H

#include "sideband/machine.h"

struct execs;

/* @task: has a program. Return: NULL when out of memory. */
struct execs *execs_new(const struct task *task);
void execs_free(struct execs *execs);

/* Whether the process has had no exec and no mapping since execs_new(). */
bool execs_has_all(const struct execs *execs, const struct task *task);

/*
 * The first program from number @from of the process on that ever has a file at @address, or began by fork, so that
 * others have its code. Return: its number; SIZE_MAX: none.
 */
size_t execs_find(const struct execs *execs, size_t from, uint64_t address);

/* Mappings of a file that have its first byte at one address, @base: those of all programs, from @first to @last. */
struct exec_file {
	struct mapped_file *file;
	uint64_t base;
	uint64_t first, last;
};

/* All of the process, in no order that matters. NULL: not known, as a program began by fork. */
const struct exec_file *execs_files(const struct execs *execs, size_t *count);

#endif
