/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Messages of the encoder. The functions read SRC, I-CNT, HIST and the address reference from the
 * encoder and do not change them.
 */
#ifndef NTRACE_ENCODE_EMIT_H
#define NTRACE_ENCODE_EMIT_H

#include "state.h"

/* Maximum size of Error, a sync message and two Ownerships, each with SRC and TSTAMP. */
#define RECOVERY_BYTES_MAX 100

/* The three messages that make up nearly all of a stream; written without the message table. */
void emit_direct_branch(struct ntrace_encoder *encoder);
void emit_indirect_branch(struct ntrace_encoder *encoder, unsigned int btype, uint64_t address);
void emit_resource_full(struct ntrace_encoder *encoder, enum ntrace_rcode rcode, uint64_t value);

/* HIST is full; sets it to 1. */
void emit_history(struct ntrace_encoder *encoder);
/* ResourceFull RCODE 1, or RCODE 2 if @repeat is not 0, with the given values. */
void emit_history_bits(struct ntrace_encoder *encoder, uint64_t hist, uint64_t repeat);

/* The rare messages, written through ntrace_message_write(). */
void emit_sync(struct ntrace_encoder *encoder, enum ntrace_tcode tcode, enum ntrace_sync sync,
	       unsigned int btype, uint64_t icnt, uint64_t address);
void emit_correlation(struct ntrace_encoder *encoder, enum ntrace_evcode evcode);
void emit_error(struct ntrace_encoder *encoder);
void emit_ownership(struct ntrace_encoder *encoder, uint64_t process);

/* The output queue: whether it has room, and the passage of time. */
bool emit_room(const struct ntrace_encoder *encoder, size_t size);
void emit_drain(struct ntrace_encoder *encoder, uint64_t cycles);

#endif /* NTRACE_ENCODE_EMIT_H */
