/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Compares a decoded instruction sequence with a section of the oracle's log.
 *
 * The decoded sequence must be one contiguous run of the log, instruction by instruction, address
 * and size. If the hart started itself, the run starts at the first logged instruction; if it
 * stopped itself, the run ends at the last or the last but one (the encoder may or may not report
 * the store that stops). If another hart did, one block (sequential instructions) at that end may
 * be in only one of the two sequences; its instructions are counted.
 */
#ifndef ORACLE_MATCH_H
#define ORACLE_MATCH_H

#include "log_read.h"

#define MATCH_CONTEXT 20	/* instructions shown before and after a difference */
#define MATCH_END_MAX 64	/* longest block that may differ at a remote end */

enum match_mutation { MATCH_INTACT, MATCH_ALTER, MATCH_DROP, MATCH_ADD };

/** struct match_place - one decoded instruction, or a trap before it */
struct match_place {
	uint64_t address;
	uint8_t size;
};

/**
 * struct match - one comparison
 * @log: an open log
 * @priv_mask: privileges to compare, bit n = privilege n; others are skipped
 * @sections: the log is joined: at the end of each section the store that stops may be missing
 * @last: with @sections: no section of the log may remain
 * @mutation: self-test: change the log at @mutate_at, so that the comparison must fail
 * @mutate_at: number of the instruction
 * @compared: instructions that agree
 * @traps, @interrupts: traps among them, in trace and log alike
 * @excursions: number of times that the log left @priv_mask
 * @head_log, @head_decoded, @tail_log, @tail_decoded: instructions at a remote
 *	end that only one side has
 * @why: text of the difference, NULL if there is none so far
 */
struct match {
	struct oracle_log *log;
	unsigned int priv_mask;
	bool sections;
	bool last;
	enum match_mutation mutation;
	uint64_t mutate_at;

	uint64_t compared;
	uint64_t traps;
	uint64_t interrupts;
	uint64_t causes[2][32];		/* causes of @traps: exceptions, interrupts */
	uint64_t excursions;
	unsigned int head_log;
	unsigned int head_decoded;
	unsigned int tail_log;
	unsigned int tail_decoded;
	const char *why;
	uint64_t compared_before_losses;	/* set and used by pieces.c */

	/* private */
	uint64_t taken;			/* instructions taken from the log, for mutate_at */
	struct oracle_insn again;	/* for MATCH_ADD: the instruction to return again */
	bool has_again;
	struct oracle_insn previous;		/* last instruction that agreed */
	bool left_mask;			/* instructions were skipped since the previous one */
	bool aligned;
	bool log_ended;
	bool trap_pending;
	bool trap_interrupt;
	bool trap_any;
	struct match_place head[MATCH_END_MAX];	/* decoded instructions before alignment */
	unsigned int head_count;
	struct oracle_insn queue[MATCH_END_MAX];	/* logged instructions read ahead */
	unsigned int queue_next, queue_count;
	struct match_place past[MATCH_CONTEXT];	/* last instructions that agreed */
	struct oracle_insn wrong_log;	/* the log's side of the difference */
	bool wrong_log_valid;
	struct match_place wrong[MATCH_CONTEXT + 1];	/* the decoded side of the difference, and
							 * its successors */
	unsigned int wrong_count;
};

/**
 * match_begin - begin a comparison; the caller has set the public input fields and zeroed the rest
 */
void match_begin(struct match *match);

/** match_trap - the next instruction is the first of a handler; @btype is B-TYPE of N-Trace */
void match_trap(struct match *match, unsigned int btype);

/** match_insn - Return: 0, or 1 when there is a difference and enough context has been seen */
int match_insn(struct match *match, uint64_t address, unsigned int size);

/** match_settle - end a run of decoded instructions: compare those that still wait */
void match_settle(struct match *match);

/** match_next - read the log's next instruction. Return: 1, 0 at the end, -1 with log->error set */
int match_next(struct match *match, struct oracle_insn *insn);

/** match_end - end the decoded sequence. Return: 0, or 1 if there is a difference */
int match_end(struct match *match);

/** match_report - print the difference and its context; @name: text for an address, or NULL */
void match_report(struct match *match, const char *(*name)(void *data, uint64_t address),
		  void *data);

#endif /* ORACLE_MATCH_H */
