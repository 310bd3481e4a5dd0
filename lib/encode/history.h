/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Repeated history (N-Trace 1.0, "repeated history"): the encoder holds back branch outcomes until
 * it knows which of them repeat. Used only with config.repeated_history.
 */
#ifndef NTRACE_ENCODE_HISTORY_H
#define NTRACE_ENCODE_HISTORY_H

#include "state.h"

/* Takes the bits of HIST. */
void history_push(struct ntrace_encoder *encoder);

/*
 * Sends the held bits before a message whose place in the history matters. Afterwards HIST has the
 * newest bits, but is not full.
 */
void history_drain(struct ntrace_encoder *encoder);

/* Drops all held bits. */
void history_clear(struct ntrace_encoder *encoder);

#endif /* NTRACE_ENCODE_HISTORY_H */
