/* SPDX-License-Identifier: GPL-2.0-only */
/* One random program: encoded, decoded, compared. */
#ifndef SELFTESTS_PROPERTY_CHECK_H
#define SELFTESTS_PROPERTY_CHECK_H

#include <ntrace/flow.h>

#include "options.h"

struct ntrace_encoder_config;

/* What a number of programs exercised. */
struct tally {
	uint64_t programs;
	uint64_t instructions;
	uint64_t lost;		/* of these, those that no message reported */
	uint64_t traps;
	uint64_t nested;	/* traps within handlers */
	uint64_t switches;	/* of threads */
	uint32_t deepest;	/* recursion */
	uint64_t table_jumps;	/* CM.JT and CM.JALT in the programs */
	uint64_t bytes;
	uint64_t messages;
	uint64_t tcodes[64];
	uint64_t rcodes[16];
	uint64_t syncs[16];
	uint64_t spared[2];	/* indirect transfers without a message: implicit returns,
				 * sequentially inferable jumps */
	uint64_t inferred;	/* programs that flow warned of inferred returns in */
	uint64_t uninferred;	/* with modes 1 and 2, and nothing to warn of */
	uint64_t timed;		/* blocks whose time is known */
	uint64_t chosen[3];	/* blocks in the space for any context, and in those for scontext */
	uint64_t harts;		/* programs in a stream with others */
	uint64_t holes;		/* programs of which a part was not known */
	uint64_t kinds[16];	/* of enum kind, instructions in the programs */
};

/* The falsification, to see that the comparison detects it. */
enum mutation {
	MUTATE_NOTHING,
	MUTATE_PC,
	MUTATE_DROP,
	MUTATE_STREAM,
};

/*
 * Return: NULL if the decoded records equal the executed ones, else a description of the
 * difference, valid until the next call.
 */
const char *check_program(const struct row *row, uint64_t seed, enum mutation mutation,
			  struct tally *tally);

/**
 * struct subject - a stream of which is known what it decodes to
 * @stream: @size bytes
 * @start: where message n begins, as the encoder wrote it; start[messages] = size
 * @pc: what is decoded from it, instruction by instruction: found to be what was executed
 * @params: for the decoder
 * @history: HTM, whether the decoder is told or not
 * @context: with Ownership messages
 * @space: the program
 */
struct subject {
	uint8_t *stream;
	size_t size;
	size_t *start;
	uint32_t messages;
	uint64_t *pc;
	uint32_t pcs;
	struct ntrace_params params;
	unsigned int src;
	bool history;
	bool context;
	struct ntrace_space *space;
};

/* check_program() with @steps instructions, and its subject. Release it with subject_free(). */
const char *subject_make(struct subject *subject, const struct row *row, uint64_t seed,
			 uint32_t steps);
void subject_free(struct subject *subject);

/*
 * Checks a stream of the encoder with the library's checker, with @space (may be NULL) also the
 * code. Return: NULL, or the finding, valid until the next call.
 */
const char *stream_violation(const struct ntrace_encoder_config *encoder,
			     const struct ntrace_params *params, struct ntrace_space *space,
			     const uint8_t *stream, size_t size);

/* Longest stream that check_harts() takes. */
#define HARTS_STREAM_MAX 65536

/*
 * harts.c: the stream with its own and other SRC values, with the messages of all SRC in any order:
 * each SRC has the same events as the stream alone. Return: NULL, or the difference, valid until
 * the next call.
 */
const char *check_harts(const struct ntrace_flow_config *config, const uint8_t *stream, size_t size,
			struct random *random);

/* The test as a whole: @count programs unless COUNT says otherwise; SEED and ONLY likewise. */
int property_main(const char *reproduce, uint64_t count);

#endif /* SELFTESTS_PROPERTY_CHECK_H */
