/* SPDX-License-Identifier: GPL-2.0-only */
/* One random program: encode, decode, compare. */
#ifndef SELFTESTS_PROPERTY_CHECK_H
#define SELFTESTS_PROPERTY_CHECK_H

#include <ntrace/flow.h>

#include "options.h"
#include "parts.h"

struct ntrace_encoder_config;

/* Statistics of a number of programs. */
struct tally {
	uint64_t programs;
	uint64_t instructions;
	uint64_t lost;		/* part of these without a message */
	uint64_t traps;
	uint64_t nested;	/* traps inside handlers */
	uint64_t switches;	/* switches of threads */
	uint32_t deepest;	/* recursive calls */
	uint64_t table_jumps;	/* executions of CM.JT and CM.JALT */
	uint64_t bytes;
	uint64_t messages;
	uint64_t tcodes[64];
	uint64_t rcodes[16];
	uint64_t syncs[16];
	uint64_t spared[2];	/* indirect transfers without a message: implicit returns,
				 * sequentially inferable jumps */
	uint64_t inferred;	/* programs in which the flow warned of inferred returns */
	uint64_t uninferred;	/* programs with modes 1 and 2 and no inferred return */
	uint64_t timed;		/* blocks with a known time */
	uint64_t chosen[3];	/* blocks in the space for any context, and in the spaces for
				 * scontext */
	uint64_t harts;		/* programs in a stream together with others */
	struct parts_tally parts;
	uint64_t counted;	/* bytes of messages that were not walked */
	uint64_t holes;		/* programs with unknown parts */
	uint64_t kinds[16];	/* instructions in the programs, by enum kind */
};

/* Deliberate errors, which the comparison must detect. */
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
 * struct subject - a stream with known decoded output
 * @stream: @size bytes
 * @start: offset of message n written by the encoder; start[messages] = size
 * @pc: decoded instructions, verified to be the executed ones
 * @params: parameters of the decoder
 * @history: HTM, even if the decoder does not get the mode
 * @context: with Ownership messages
 * @space: the program
 * @program: the same as bytes; valid until the next call
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
	const struct program *program;
};

/* check_program() with @steps instructions, and its subject. Release it with subject_free(). */
const char *subject_make(struct subject *subject, const struct row *row, uint64_t seed,
			 uint32_t steps);
void subject_free(struct subject *subject);

/*
 * Checks a stream of the encoder with the library's checker; with @space (may be NULL) also against
 * the code. Return: NULL, or the finding, valid until the next call.
 */
const char *stream_violation(const struct ntrace_encoder_config *encoder,
			     const struct ntrace_params *params, struct ntrace_space *space,
			     const uint8_t *stream, size_t size);

/* Maximum length of a stream for check_harts(). */
#define HARTS_STREAM_MAX 65536

/*
 * harts.c: builds a stream with copies under other SRC values, with the messages of all SRC
 * interleaved at random: each SRC must have the same events as the original stream. Return: NULL,
 * or the difference, valid until the next call.
 */
const char *check_harts(const struct ntrace_flow_config *config, const uint8_t *stream, size_t size,
			struct random *random);

/* Runs the test with @count programs; COUNT, SEED and ONLY in the environment take precedence. */
int property_main(const char *reproduce, uint64_t count);

#endif /* SELFTESTS_PROPERTY_CHECK_H */
