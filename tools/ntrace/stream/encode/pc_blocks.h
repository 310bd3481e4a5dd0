/* SPDX-License-Identifier: GPL-2.0-only */
/* Converts the PCs of a hart to the blocks of its ingress port. */
#ifndef NTRACE_TOOL_STREAM_ENCODE_PC_BLOCKS_H
#define NTRACE_TOOL_STREAM_ENCODE_PC_BLOCKS_H

#include <ntrace/image.h>
#include <ntrace/ingress.h>

struct pc_instruction;

/**
 * struct pc_blocks - the builder
 * @take: called with the blocks, oldest first; a result other than 0 ends pc_blocks_add()
 * @instructions: PCs so far
 * @traps: PCs reached by a trap: not a successor of the previous instruction
 * @unclear: traps after a branch with unknown direction
 */
struct pc_blocks {
	struct ntrace_space *space;
	struct ntrace_isa isa;
	int (*take)(void *data, const struct ntrace_ingress *block);
	void *data;
	uint64_t instructions;
	uint64_t traps;
	uint64_t unclear;
	/* private */
	struct pc_instruction *cache;
	struct pc_instruction *last;
	bool last_known;
	struct pc_instruction *previous;
	uint64_t mask;
	uint64_t start;
	uint32_t parcels;
};

/**
 * pc_blocks_init - begin; the caller has set space, isa, take and data. Return: 0 or
 * NTRACE_ERR_NOMEM
 */
int pc_blocks_init(struct pc_blocks *blocks);
void pc_blocks_free(struct pc_blocks *blocks);

/**
 * pc_blocks_add - the next PC
 * Return: 0; NTRACE_ERR_NOMAP, NTRACE_ERR_BADINSN, NTRACE_ERR_TRUNCATED if there
 * is no instruction at @pc; or what @take returned.
 */
int pc_blocks_add(struct pc_blocks *blocks, uint64_t pc);

/** pc_blocks_end - flush the current block at the end of the list */
int pc_blocks_end(struct pc_blocks *blocks);

#endif /* NTRACE_TOOL_STREAM_ENCODE_PC_BLOCKS_H */
