/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Protocol buffers, the writing half: a field is a number with its kind, and a
 * varint or bytes with their length. By hand, because that is all there is to it, and a
 * compiler for .proto files would need those of pprof and Perfetto, which Debian
 * does not have.
 */
#ifndef NTRACE_EXPORT_PROTOBUF_H
#define NTRACE_EXPORT_PROTOBUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* @failed: out of memory; the content is of no use */
struct protobuf {
	uint8_t *data;
	size_t size;
	size_t room;
	bool failed;
};

void protobuf_free(struct protobuf *to);

/* Fields of a message; those with the value 0 or "" are left out, as the format wants it. */
void protobuf_number(struct protobuf *to, unsigned int field, uint64_t value);
void protobuf_text(struct protobuf *to, unsigned int field, const char *text);

/* Also if it is empty. */
void protobuf_bytes(struct protobuf *to, unsigned int field, const void *data, size_t size);

/* A message as a field; @message is empty then. */
void protobuf_message(struct protobuf *to, unsigned int field, struct protobuf *message);

/* A value of a packed field, without its number: for protobuf_message(). */
void protobuf_value(struct protobuf *to, uint64_t value);

#endif
