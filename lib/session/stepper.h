/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Decodes a stream of a recording step by step, and again from saved states. Steppers of one session
 * may take turns with each other and with ntrace_session_decode().
 */
#ifndef NTRACE_SESSION_STEPPER_H
#define NTRACE_SESSION_STEPPER_H

#include "decode.h"

struct session_stepper;
struct session_state;

/*
 * A stepper before the first message, to be freed with session_stepper_free(). Return: as
 * decoding_begin(), or as decoding_open_file().
 */
int session_stepper_new(struct session_stepper **stepper, struct ntrace_session *session,
			unsigned int stream, const struct ntrace_decode_options *options);
void session_stepper_free(struct session_stepper *stepper);

/*
 * Decodes the next message and passes on all that it reports. @stamped: set to whether it has a
 * timestamp, before anything is passed on; @again: it was decoded before, so that notes about it are
 * not repeated. Return: 0; 1 at the end of the stream, after the last events; NTRACE_ERR_IO,
 * NTRACE_ERR_FORMAT: no message was taken; NTRACE_ERR_NOMEM or the result of a callback: continue only
 * from a saved state.
 */
int session_stepper_next(struct session_stepper *stepper, bool again, bool *stamped);

/* Position of the next byte. */
uint64_t session_stepper_position(const struct session_stepper *stepper);

/* The state set by Ownership messages. */
const struct ntrace_context *session_stepper_context(const struct session_stepper *stepper);

/* The state between two messages. NULL: out of memory. @bytes: set to its size. */
struct session_state *session_stepper_save(struct session_stepper *stepper, size_t *bytes);
/* Return: 0 or NTRACE_ERR_NOMEM: the stepper needs another call before the next step. */
int session_stepper_load(struct session_stepper *stepper, const struct session_state *state);
void session_state_free(struct session_state *state);

#endif
