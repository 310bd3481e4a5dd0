/* SPDX-License-Identifier: GPL-2.0-only */
/* The BPF programs of contents.c, as instructions. */
#ifndef NTRACE_TOOL_RECORD_CONTENTS_PROGRAM_H
#define NTRACE_TOOL_RECORD_CONTENTS_PROGRAM_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <linux/bpf.h>

#define CONTENTS_OUTPUTS 4
/* System calls have lower numbers. */
#define CONTENTS_CALLS 512
/* What the program needs of a CPU for itself: registers, and a sample. */
#define CONTENTS_SCRATCH (160 + CONTENTS_CHUNK)
/* Bytes of one sample, and samples of one output. */
#define CONTENTS_CHUNK 16384
#define CONTENTS_CHUNKS 4

/**
 * struct contents_row - outputs of a system call, in the array of its map
 * @argument, @by, @size: as in struct ntrace_values_output; @size 0: there is none, and no other one after it
 */
struct contents_row {
	struct {
		uint8_t argument;
		uint8_t by;
		uint16_t size;
	} output[CONTENTS_OUTPUTS];
};

/**
 * struct contents_maps - file descriptors of the maps that the programs use
 * @rows: an array of struct contents_row
 * @scratch: of each CPU, an array of CONTENTS_SCRATCH bytes
 * @tasks: threads to record; -1: all but those of @self
 * @rings: the event of each CPU
 */
struct contents_maps {
	int rows;
	int scratch;
	int tasks;
	int rings;
	pid_t self;
};

/* More than any of the programs has. */
struct contents_program {
	struct bpf_insn insn[1024];
	size_t count;
	size_t end[64];
	size_t ends;
};

/**
 * contents_program_exit - the program of the raw tracepoint sys_exit
 * @known: bytes at the stack pointer that need not be recorded
 */
void contents_program_exit(struct contents_program *program, const struct contents_maps *maps,
			   unsigned int known);

/** contents_program_fork - that of sched:sched_process_fork, whose fields are at these offsets */
void contents_program_fork(struct contents_program *program, const struct contents_maps *maps,
			   unsigned int parent, unsigned int child);

/** contents_program_end - that of sched:sched_process_exit */
void contents_program_end(struct contents_program *program, const struct contents_maps *maps,
			  unsigned int thread);

#endif /* NTRACE_TOOL_RECORD_CONTENTS_PROGRAM_H */
