/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Messages of the encoder: takes SRC, I-CNT, HIST and the address reference from
 * the encoder and changes none of them.
 */
#ifndef NTRACE_ENCODE_EMIT_H
#define NTRACE_ENCODE_EMIT_H

#include "state.h"

/* Error, a sync message and two Ownerships, each with SRC and TSTAMP, are not longer. */
#define RECOVERY_BYTES_MAX 100

/* The three that make up nearly all of a stream; written here, not through the message table. */
void emit_direct_branch(struct ntrace_encoder *encoder);
void emit_indirect_branch(struct ntrace_encoder *encoder, unsigned int btype, uint64_t address);
void emit_resource_full(struct ntrace_encoder *encoder, enum ntrace_rcode rcode, uint64_t value);

/* HIST is full; it is 1 afterwards. */
void emit_history(struct ntrace_encoder *encoder);
/* ResourceFull RCODE 1 or (@repeat not 0) 2 as they are. */
void emit_history_bits(struct ntrace_encoder *encoder, uint64_t hist, uint64_t repeat);

/* The rare ones, through ntrace_message_write(). */
void emit_sync(struct ntrace_encoder *encoder, enum ntrace_tcode tcode, enum ntrace_sync sync,
	       unsigned int btype, uint64_t icnt, uint64_t address);
void emit_correlation(struct ntrace_encoder *encoder, enum ntrace_evcode evcode);
void emit_error(struct ntrace_encoder *encoder);
void emit_ownership(struct ntrace_encoder *encoder, uint64_t process);

/* The queue of bytes on their way out: is there room, and time passes. */
bool emit_room(const struct ntrace_encoder *encoder, size_t size);
void emit_drain(struct ntrace_encoder *encoder, uint64_t cycles);

#endif /* NTRACE_ENCODE_EMIT_H */
