/* SPDX-License-Identifier: GPL-2.0-only */
/* Which fields the bytes of a message carry, from the bytes alone. */
#ifndef NTRACE_TOOL_STREAM_LAYOUT_H
#define NTRACE_TOOL_STREAM_LAYOUT_H

#include <ntrace/wire.h>

#include "common/output.h"

/**
 * layout_byte_lines - a line for each byte: offset, byte, MDO and MSEO, fields, what it ends
 * @offset: of the first byte in the stream
 * @bytes: the first bytes of a message, whole or not, or of what is none
 *
 * Fields are named as TCODE, SRC and ntrace_field_name() say, with + between those that share a
 * byte; "data" where they are not known, "extra" after the last field there can be.
 */
void layout_byte_lines(struct output *output, const struct ntrace_params *params, uint64_t offset,
		       const uint8_t *bytes, size_t count);

/**
 * layout_json_sizes - the member "sizes" of a JSON object, with a comma before it
 * @bytes: the whole message, at most NTRACE_MESSAGE_BYTES_MAX bytes
 *
 * Lists the variable fields that are not encoded as ntrace_message_write() encodes their values,
 * with the bytes that each takes. Writes nothing if there is none, or if the message has flags:
 * then its fields do not give it back anyway.
 */
void layout_json_sizes(struct output *output, const struct ntrace_message *message,
		       const struct ntrace_params *params, const uint8_t *bytes);

/** layout_sizes - bytes of each variable field of a message without flags; 0: it has none */
void layout_sizes(const struct ntrace_params *params, const uint8_t *bytes, size_t count,
		  uint8_t sizes[NTRACE_FIELD_COUNT]);

#endif /* NTRACE_TOOL_STREAM_LAYOUT_H */
