/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Repeated history (N-Trace 1.0, "repeated history"): branch outcomes are kept back until it
 * shows which of them repeat. Only with config.repeated_history.
 */
#ifndef NTRACE_ENCODE_HISTORY_H
#define NTRACE_ENCODE_HISTORY_H

#include "state.h"

/* Takes the bits of HIST. */
void history_push(struct ntrace_encoder *encoder);

/*
 * Sends what is kept back, before a message whose place in the history matters.
 * HIST has the newest bits afterwards, fewer than make it full.
 */
void history_drain(struct ntrace_encoder *encoder);

/* Forgets it all. */
void history_clear(struct ntrace_encoder *encoder);

#endif /* NTRACE_ENCODE_HISTORY_H */
