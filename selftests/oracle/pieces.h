/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Compares a recording that reports losses with the log. The instructions decoded between two
 * losses are a piece: each must be a contiguous run of the log, in order, with instructions of the
 * log missing between them. The first starts and the last ends as in match.h.
 */
#ifndef ORACLE_PIECES_H
#define ORACLE_PIECES_H

#include "match.h"

struct piece_insn {
	uint64_t address;
	uint8_t size;
	uint8_t trap;		/* BTYPE + 1 of a trap before it, 0 = none */
};

/**
 * struct pieces - the decoded side after the first loss
 * @match: compares what comes before the first loss; its log goes on here
 * @losses: how many were met
 * @longest, @longest_at: instructions of the longest piece, and of the log before it
 * @left_out: instructions of the log between the pieces
 * The other fields are private.
 */
struct pieces {
	struct match *match;
	unsigned int losses;
	uint64_t longest;
	uint64_t longest_at;
	uint64_t left_out;
	struct piece_insn *insns;	/* of the piece that is being decoded */
	uint32_t count;
	uint32_t room;
	uint8_t trap;
	uint64_t read;			/* instructions read from the log */
};

/** pieces_loss - trace was lost here. Return: 0, or 1 if the piece that ends is not in the log */
int pieces_loss(struct pieces *pieces);

/** pieces_trap, pieces_insn - as match_trap() and match_insn(), after the first loss */
void pieces_trap(struct pieces *pieces, unsigned int btype);
int pieces_insn(struct pieces *pieces, uint64_t address, unsigned int size);

/** pieces_end - no more decoded instructions. Return: 0, or 1 if the last piece is not in the log */
int pieces_end(struct pieces *pieces);

#endif /* ORACLE_PIECES_H */
