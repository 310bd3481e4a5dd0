/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Messages of the encoder: takes SRC, I-CNT, HIST and the address reference from
 * the encoder and changes none of them.
 */
#ifndef NTRACE_ENCODE_EMIT_H
#define NTRACE_ENCODE_EMIT_H

#include "state.h"

/* The three that make up nearly all of a stream; written here, not through the message table. */
void emit_direct_branch(struct ntrace_encoder *encoder);
void emit_indirect_branch(struct ntrace_encoder *encoder, unsigned int btype, uint64_t address);
void emit_resource_full(struct ntrace_encoder *encoder, enum ntrace_rcode rcode, uint64_t value);

/* The rare ones, through ntrace_message_write(). */
void emit_sync(struct ntrace_encoder *encoder, enum ntrace_tcode tcode, enum ntrace_sync sync,
	       unsigned int btype, uint64_t icnt, uint64_t address);
void emit_correlation(struct ntrace_encoder *encoder, enum ntrace_evcode evcode);
void emit_error(struct ntrace_encoder *encoder);

#endif /* NTRACE_ENCODE_EMIT_H */
