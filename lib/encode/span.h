/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Spans of traced code: how they begin, what resolves within them, how they end. */
#ifndef NTRACE_ENCODE_SPAN_H
#define NTRACE_ENCODE_SPAN_H

#include "state.h"

/*
 * Whatever has to happen before a block while attention is not 0 or its
 * privilege is not traced.
 * Return: 1: the block is traced; 0: it is not; NTRACE_ERR_INVALID.
 */
int span_attend(struct ntrace_encoder *encoder, const struct ntrace_ingress *block,
		uint64_t address);

/* The target of what is pending is @address. */
void span_target(struct ntrace_encoder *encoder, uint64_t address);

/* A sync message on running code, in the form that carries what is pending. */
void span_sync(struct ntrace_encoder *encoder, enum ntrace_sync sync, uint64_t address);

/* Ownership as a sync, a change of privilege or of context demands it. */
void span_tell_context(struct ntrace_encoder *encoder, unsigned int priv);

#endif /* NTRACE_ENCODE_SPAN_H */
