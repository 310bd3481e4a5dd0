/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Compares a recording that reports losses with the log. The instructions decoded between two
 * losses are a piece: each piece must be a contiguous run of the log, in order, with instructions
 * of the log missing between them, except where the hart left the privileges that are compared. The
 * first starts and the last ends as in match.h.
 */
#ifndef ORACLE_PIECES_H
#define ORACLE_PIECES_H

#include "match.h"

struct piece_insn {
	uint64_t address;
	uint8_t size;
	uint8_t trap;		/* B-TYPE + 1 of a trap before the instruction, 0 = none */
};

/**
 * struct pieces - the decoded side after the first loss
 * @match: comparison up to the first loss; pieces continue in its log
 * @losses: number of losses
 * @longest, @longest_at: instructions in the longest piece, and in the log before it
 * @left_out: logged instructions between the pieces
 * The other fields are private.
 */
struct pieces {
	struct match *match;
	unsigned int losses;
	uint64_t longest;
	uint64_t longest_at;
	uint64_t left_out;
	struct piece_insn *insns;	/* the current piece */
	uint32_t count;
	uint32_t room;
	uint8_t trap;
	uint64_t read;			/* instructions read from the log */
};

/**
 * pieces_loss - end the current piece at a loss. Return: 0, or 1 if the log does not have the piece
 */
int pieces_loss(struct pieces *pieces);

/** pieces_trap, pieces_insn - as match_trap() and match_insn(), after the first loss */
void pieces_trap(struct pieces *pieces, unsigned int btype);
int pieces_insn(struct pieces *pieces, uint64_t address, unsigned int size);

/** pieces_end - end the last piece. Return: 0, or 1 if the log does not have it */
int pieces_end(struct pieces *pieces);

#endif /* ORACLE_PIECES_H */
