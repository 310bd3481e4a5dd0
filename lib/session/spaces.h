/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The address spaces of one decoding: those of programs, each after the changes up to the time that
 * the decoding has reached, and those of code that several programs share. Decodings of the same
 * session may run at the same time: each has its own spaces, at its own time.
 */
#ifndef NTRACE_SESSION_SPACES_H
#define NTRACE_SESSION_SPACES_H

#include "session.h"

#define SPACES_PARTS 16

/**
 * struct program_space - the space of a program in one decoding
 * @next: in the same bucket
 * @space: after the first @applied changes of the program
 * @last_use: clock of the owner
 */
struct program_space {
	struct program_space *next;
	struct program *program;
	struct ntrace_space *space;
	size_t applied;
	uint64_t last_use;
};

/* A space with one piece of a file, for code of several tasks. */
struct part_space {
	struct mapped_file *file;
	uint64_t offset;	/* of the file, at @first */
	uint64_t first;
	uint64_t last;
	bool changed;		/* the process can change it */
	struct ntrace_space *space;	/* NULL: unused */
};

/**
 * struct spaces - the spaces of a decoding
 * @counting: flow that remembers effects of the code of the spaces; NULL: none
 * @clock: counts uses
 * @programs: spaces of programs, in buckets by the number of the program; NULL: none yet
 * @count: their number
 * @parts: the most recently used one first
 * @error: NTRACE_ERR_NOMEM: a file or mapping is missing for lack of memory
 */
struct spaces {
	struct ntrace_session *session;
	struct ntrace_flow *counting;
	uint64_t clock;
	struct program_space **programs;
	size_t count;
	struct part_space parts[SPACES_PARTS];
	int error;
};

/* Drops all spaces; the session still exists. */
void spaces_free(struct spaces *spaces);

/*
 * The space of @program with all changes before @time; borrowed, valid until the next call for
 * another program or time. NULL, with spaces->error set, when out of memory.
 */
struct ntrace_space *spaces_at(struct spaces *spaces, struct program *program, uint64_t time);

/* spaces_at() after the first @count changes of @program. */
struct ntrace_space *spaces_after(struct spaces *spaces, struct program *program, size_t count);

/* The space of @program in @spaces now; NULL: it has none. */
const struct program_space *spaces_find(const struct spaces *spaces, const struct program *program);

/* Drops the space of @program. */
void spaces_drop(struct spaces *spaces, const struct program *program);

/*
 * A space with the code of @part alone, and the kernel's. The same part always has the same space,
 * which belongs to @spaces. NULL: the file cannot be read, or spaces->error is set.
 */
struct ntrace_space *spaces_of_part(struct spaces *spaces, const struct code_part *part);

#endif
