/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Definitions about struct ntrace_encoder shared by the parts of the encoder. */
#ifndef NTRACE_ENCODE_STATE_H
#define NTRACE_ENCODE_STATE_H

#include <assert.h>

#include <ntrace/encode.h>

/* itype of a direct jump without a class of its own in rc7; reserved since. */
#define ITYPE_RC7_DIRECT_JUMP 7

/* ntrace_encoder.options: features that change how messages are made. */
enum {
	OPTION_ALL_JUMPS = 1 << 0,
	OPTION_RETURNS = 1 << 1,
	OPTION_SEQUENTIAL = 1 << 2,
	OPTION_REPEATED_HISTORY = 1 << 3,
	OPTION_REPEAT_BRANCH = 1 << 4,
	OPTION_FIFO = 1 << 5,
	OPTION_TIMESTAMPS = 1 << 6,
	OPTION_TRAP_BTYPE = 1 << 7,
	OPTION_EMPTY_FIELDS = 1 << 8,
};

/* ntrace_encoder.attention: 0 = a block only counts and reports its target. */
enum {
	ATTENTION_UNSYNCED = 1 << 0,	/* a span must be started */
	ATTENTION_SYNC = 1 << 1,	/* a marker or a reset: ntrace_encoder.sync */
	ATTENTION_PERIODIC = 1 << 2,	/* a periodic sync is due */
	ATTENTION_FULL = 1 << 3,	/* the queue had no room */
	ATTENTION_HELD = 1 << 4,	/* halted or in reset */
	/* the following bits are set once, by the configuration */
	ATTENTION_RANGES = 1 << 5,
	ATTENTION_CONTEXT = 1 << 6,
	ATTENTION_ACCESSES = 1 << 7,
};

/* ntrace_encoder.pending: a message that waits for the next address */
enum {
	PENDING_NONE,
	PENDING_JUMP,		/* + BTYPE 0 */
	PENDING_TRAP,		/* + BTYPE 1, 2 and 3 */
	PENDING_EXCEPTION,
	PENDING_INTERRUPT,
	PENDING_RETURN,		/* a jump, unless its target matches the return stack */
	PENDING_BRANCH,		/* BTM: DirectBranch, held back to become a sync message */
};

static_assert((int)PENDING_JUMP - 1 == NTRACE_BTYPE_JUMP &&
		      (int)PENDING_TRAP - 1 == NTRACE_BTYPE_TRAP &&
		      (int)PENDING_EXCEPTION - 1 == NTRACE_BTYPE_EXCEPTION &&
		      (int)PENDING_INTERRUPT - 1 == NTRACE_BTYPE_INTERRUPT,
	      "pending is BTYPE + 1");

/* Values of priv except the reserved ones. */
#define PRIV_VALID 0x7bu

/* ntrace_encoder.priv: no Ownership since the last sync */
#define PRIV_UNTOLD 0xff

#endif /* NTRACE_ENCODE_STATE_H */
