/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* What the parts of the checker share: check.c, messages.c. */
#ifndef NTRACE_CHECK_INTERNAL_H
#define NTRACE_CHECK_INTERNAL_H

#include "rules.h"

/* Whether a decoder could follow now, as far as messages say. */
enum source_state {
	STATE_BEGIN,	/* nothing yet */
	STATE_RUNNING,	/* a sync came */
	STATE_OFF,	/* ProgTraceCorrelation came */
	STATE_LOST,	/* Error came: a sync must follow */
};

/* What stands before this message: Ownership messages have an order behind a sync. */
enum previous_message {
	PREVIOUS_OTHER,
	PREVIOUS_SYNC,
	PREVIOUS_SCONTEXT,	/* Ownership with FORMAT 2 right behind a sync */
};

/**
 * struct src_check - the messages of one SRC so far
 * @state: enum source_state
 * @previous: enum previous_message
 * @unsure: something was lost or wrong: sums since the last sync are not known
 * @reference: there is an address that U-ADDR can count from
 * @branch: RepeatBranch may come
 * @context: Ownership with a context came right behind a sync: trTeContext is on
 * @traps: bit n: BTYPE n was seen, of 1..3
 * @branch_mode, @history_mode: messages of BTM and of HTM were seen since trace began
 * @timed: a TSTAMP was seen
 * @time_known: @time is the last one, and absolute ones were seen
 * @pending: I-CNT of ResourceFull since the last I-CNT
 * @bits: history bits likewise
 * @since_sync: messages
 * @number: SRC, -1 = the stream has none
 */
struct src_check {
	struct ntrace_check *check;
	struct ntrace_flow *flow;
	uint8_t state;
	uint8_t previous;
	bool unsure;
	bool reference;
	bool branch;
	bool context;
	uint8_t traps;
	bool branch_mode;
	bool history_mode;
	bool timed;
	bool time_known;
	uint64_t time;
	uint64_t pending;
	uint64_t bits;
	uint64_t since_sync;
	int number;
};

#define SOURCES (1u << NTRACE_SRC_BITS_MAX)
#define FLOWS_MAX 64

/* Messages and blocks between two calls of progress(). */
#define STEPS 4096
#define UNKNOWN_PAGES 1024

struct ntrace_check {
	struct ntrace_check_config config;	/* but for params */
	struct ntrace_params params;
	char *isa;		/* text of params */
	struct ntrace_reader reader;
	struct src_check *sources[SOURCES];	/* made when they occur */
	unsigned int flows;
	unsigned int steps;
	bool idle_known;	/* idle_from is meant */
	bool idle_wrong;	/* one of these bytes was reported */
	uint64_t idle_from;	/* bytes from here to the next message are idle */
	uint64_t messages;
	/* A message with an error in itself need not fit the code as well. */
	bool message_wrong;
	uint64_t wrong_offset;
	/* Pages (their number + 1) that a finding has named as unknown: one finding for each. */
	uint64_t unknown_pages[UNKNOWN_PAGES];
	int stop;
};

/* Reports a violation by @message, about @field of it (-1 = none). */
void check_report(struct ntrace_check *check, enum check_rule rule,
		  const struct ntrace_message *message, int field);

/* Judges one message and what came before it. */
void check_message(struct ntrace_check *check, struct src_check *source,
		   const struct ntrace_message *message);

/* Messages were lost, or one cannot be trusted: nothing is certain up to the next sync. */
void check_forget(struct src_check *source);

#endif /* NTRACE_CHECK_INTERNAL_H */
