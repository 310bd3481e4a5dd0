/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Protocol buffers, only writing: a field is its number and kind, followed by a varint or by bytes
 * with their length. This code needs no generator: a compiler for .proto files would need the files
 * of pprof and Perfetto, which Debian does not package.
 */
#ifndef NTRACE_EXPORT_PROTOBUF_H
#define NTRACE_EXPORT_PROTOBUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* @failed: out of memory; the content is invalid */
struct protobuf {
	uint8_t *data;
	size_t size;
	size_t room;
	bool failed;
};

void protobuf_free(struct protobuf *to);

/* Fields of a message; the format leaves out fields with the value 0 or "". */
void protobuf_number(struct protobuf *to, unsigned int field, uint64_t value);
void protobuf_text(struct protobuf *to, unsigned int field, const char *text);

/* Writes the field even if it is empty. */
void protobuf_bytes(struct protobuf *to, unsigned int field, const void *data, size_t size);

/* Writes a message as a field and empties the message. */
void protobuf_message(struct protobuf *to, unsigned int field, struct protobuf *message);

/* Writes a value of a packed field without a field number: for protobuf_message(). */
/* Makes room for @size bytes at the end. Return: the place, NULL when out of memory. */
uint8_t *protobuf_extend(struct protobuf *to, size_t size);
void protobuf_value(struct protobuf *to, uint64_t value);

#endif
