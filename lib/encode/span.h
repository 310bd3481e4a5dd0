/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Spans of traced code: their start, the targets of their messages, their end. */
#ifndef NTRACE_ENCODE_SPAN_H
#define NTRACE_ENCODE_SPAN_H

#include "state.h"

/*
 * Prepares for a block while attention is not 0 or its privilege is not traced.
 * Return: 1: the block is traced; 0: not traced; NTRACE_ERR_INVALID.
 */
int span_attend(struct ntrace_encoder *encoder, const struct ntrace_ingress *block,
		uint64_t address);

/* Sets the target of the pending message to @address. */
void span_target(struct ntrace_encoder *encoder, uint64_t address);

/* Sends a sync message in running code, in the form that carries the pending transfer. */
void span_sync(struct ntrace_encoder *encoder, enum ntrace_sync sync, uint64_t address);

/* Sends Ownership after a sync, a change of privilege or a change of context. */
void span_tell_context(struct ntrace_encoder *encoder, unsigned int priv);

#endif /* NTRACE_ENCODE_SPAN_H */
