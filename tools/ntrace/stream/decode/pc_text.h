/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Executed PCs as text, one per line. The text of a block is made once and then copied:
 * programs execute the same blocks repeatedly.
 */
#ifndef NTRACE_TOOL_STREAM_DECODE_PC_TEXT_H
#define NTRACE_TOOL_STREAM_DECODE_PC_TEXT_H

#include <ntrace/flow.h>

#include "common/output.h"

struct pc_text;

/** pc_text_new - for the blocks of one flow; NULL if there is no memory */
struct pc_text *pc_text_new(struct output *output);
void pc_text_free(struct pc_text *text);

/**
 * pc_text_blocks - write the PCs of all blocks, each as "0x%llx\n"
 *
 * Caches at most 20 MB of text and numbers; the cache is emptied when full.
 * Return: 0, or NTRACE_ERR_... if the code of a block could not be read again.
 */
int pc_text_blocks(struct pc_text *text, const struct ntrace_block_batch *batch);

/** pc_text_instruction - one PC: a callback of ntrace_flow_instructions(); @output: struct output */
int pc_text_instruction(void *output, uint64_t address, const uint8_t *bytes,
			const struct ntrace_insn *insn);

#endif /* NTRACE_TOOL_STREAM_DECODE_PC_TEXT_H */
