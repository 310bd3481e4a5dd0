/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Definitions shared by check.c and messages.c. */
#ifndef NTRACE_CHECK_INTERNAL_H
#define NTRACE_CHECK_INTERNAL_H

#include "rules.h"

/* Whether a decoder could follow at this point, judged by the messages alone. */
enum source_state {
	STATE_BEGIN,	/* no message yet */
	STATE_RUNNING,	/* a sync message came */
	STATE_OFF,	/* a ProgTraceCorrelation came */
	STATE_LOST,	/* an Error came: a sync must follow */
};

/* The message before this one: after a sync, Ownership messages have a fixed order. */
enum previous_message {
	PREVIOUS_OTHER,
	PREVIOUS_SYNC,
	PREVIOUS_SCONTEXT,	/* Ownership with FORMAT 2 directly after a sync */
};

/**
 * struct src_check - the messages of one SRC so far
 * @state: enum source_state
 * @previous: enum previous_message
 * @unsure: messages were lost or wrong: sums since the last sync are unknown
 * @reference: U-ADDR has a known reference address
 * @branch: RepeatBranch may come
 * @context: an Ownership message with a context directly followed a sync: trTeContext is on
 * @traps: bit n, for n of 1..3: BTYPE n was seen
 * @branch_mode, @history_mode: messages of BTM and of HTM were seen since trace began
 * @timed: a TSTAMP was seen
 * @time_known: @time is the last time, counted from an absolute one
 * @time_missing: the absolute TSTAMP that @time needs is missing, and that was reported
 * @pending: I-CNT of ResourceFull since the last I-CNT
 * @bits: history bits since the last I-CNT
 * @since_sync: messages since the last sync
 * @empty: bit n: a message with TCODE n and a field without bits was reported
 * @doubted: offset + 1 of a sync whose address contradicts the flow; contradictions up to the next sync
 *           are its consequences
 * @call_missed: a transfer was reported where the code has none, which may have been a call: returns up to the
 *               next sync may lack their address
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
	bool time_missing;
	uint64_t time;
	uint64_t pending;
	uint64_t bits;
	uint64_t since_sync;
	uint64_t empty;
	uint64_t doubted;
	bool call_missed;
	int number;
};

#define SOURCES (1u << NTRACE_SRC_BITS_MAX)
#define FLOWS_MAX 64

/* Messages and blocks between two calls of progress(). */
#define STEPS 4096
#define UNKNOWN_PAGES 1024

struct ntrace_check {
	struct ntrace_check_config config;	/* without params */
	struct ntrace_params params;
	char *isa;		/* string of params */
	struct ntrace_reader reader;
	struct src_check *sources[SOURCES];	/* allocated when the SRC occurs */
	unsigned int flows;
	unsigned int steps;
	bool idle_known;	/* idle_from is valid */
	bool idle_wrong;	/* a finding exists for one of these bytes */
	uint64_t idle_from;	/* bytes from here to the next message are idle */
	uint64_t messages;
	/* A message with an error of its own is not compared with the code. */
	bool message_wrong;
	uint64_t wrong_offset;
	/* Pages (page number + 1) of unknown code with a finding: one finding per page. */
	uint64_t unknown_pages[UNKNOWN_PAGES];
	int stop;
};

/* Reports a violation by @message in its field @field (-1 = none). */
void check_report(struct ntrace_check *check, enum check_rule rule,
		  const struct ntrace_message *message, int field);

/* Judges one message by itself and against the earlier ones. */
void check_message(struct ntrace_check *check, struct src_check *source,
		   const struct ntrace_message *message);

/* Messages were lost or are untrustworthy: the state is uncertain up to the next sync. */
void check_forget(struct src_check *source);

#endif /* NTRACE_CHECK_INTERNAL_H */
