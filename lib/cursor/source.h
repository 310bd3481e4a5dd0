/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Where a lane gets its events from: a stream of a session, or a raw stream. A source decodes message
 * by message, and again from saved states, always with the same result.
 */
#ifndef NTRACE_CURSOR_SOURCE_H
#define NTRACE_CURSOR_SOURCE_H

#include <ntrace/cursor.h>

#include "session/stepper.h"

struct source;

/**
 * struct source_ops - a kind of source
 * @next: as session_stepper_next()
 * @position: position of the next byte in the stream
 * @context: the state set by Ownership messages
 * @save: the state between two messages, NULL: out of memory
 * @load: return: 0 or NTRACE_ERR_NOMEM: call it again before the next step
 * @drop: frees a state
 * @free: frees the source
 */
struct source_ops {
	int (*next)(struct source *source, bool again, bool *stamped);
	uint64_t (*position)(const struct source *source);
	const struct ntrace_context *(*context)(const struct source *source);
	void *(*save)(struct source *source, size_t *bytes);
	int (*load)(struct source *source, const void *state);
	void (*drop)(void *state);
	void (*free)(struct source *source);
};

struct source {
	const struct source_ops *ops;
	unsigned int dialect;	/* enum ntrace_dialect */
	bool raw;		/* no process, thread and privilege but by Ownership */
};

/* Return: as session_stepper_new(). */
int source_of_session(struct source **source, struct ntrace_session *session, unsigned int stream,
		      const struct ntrace_decode_options *output);

/* A raw stream. Return: 0, NTRACE_ERR_INVALID or NTRACE_ERR_NOMEM. */
int source_of_bytes(struct source **source, const struct ntrace_cursor_config *config,
		    const struct ntrace_decode_options *output);

#endif
