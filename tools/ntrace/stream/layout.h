/* SPDX-License-Identifier: GPL-2.0-only */
/* The fields in the bytes of a message, found from the bytes alone. */
#ifndef NTRACE_TOOL_STREAM_LAYOUT_H
#define NTRACE_TOOL_STREAM_LAYOUT_H

#include <ntrace/wire.h>

#include "common/output.h"

/**
 * layout_byte_lines - a line for each byte: offset, byte, MDO and MSEO, fields, the end of a field
 * or message
 * @offset: offset of the first byte in the stream
 * @bytes: first bytes of a message, complete or not, or of bytes that are not a message
 *
 * Fields are named as TCODE, SRC and ntrace_field_name() say, with + between fields that share a byte; "data" stands for unknown
 * fields, "extra" for bytes after the last field.
 */
void layout_byte_lines(struct output *output, const struct ntrace_params *params, uint64_t offset,
		       const uint8_t *bytes, size_t count);

/**
 * layout_json_sizes - the member "sizes" of a JSON object, with a comma before it
 * @bytes: the whole message, at most NTRACE_MESSAGE_BYTES_MAX bytes
 *
 * Lists the variable fields that are not encoded as ntrace_message_write() encodes their values,
 * with the size of each in bytes. Writes nothing if there are none, or if the message has flags:
 * its fields do not reproduce it then.
 */
void layout_json_sizes(struct output *output, const struct ntrace_message *message,
		       const struct ntrace_params *params, const uint8_t *bytes);

/** layout_sizes - set the sizes in bytes of the variable fields that a message without flags has */
void layout_sizes(const struct ntrace_params *params, const uint8_t *bytes, size_t count,
		  uint8_t sizes[NTRACE_FIELD_COUNT]);

#endif /* NTRACE_TOOL_STREAM_LAYOUT_H */
