/* SPDX-License-Identifier: GPL-2.0-only */
/* Fields of a line of ntrace assemble, and their encoding. */
#ifndef NTRACE_TOOL_STREAM_ASSEMBLE_FIELDS_H
#define NTRACE_TOOL_STREAM_ASSEMBLE_FIELDS_H

#include "assemble.h"

/* All return false and set assemble->error if they reject a line. */

/**
 * assemble_target - turn "ADDRESS" into F-ADDR or U-ADDR
 *
 * For a message with U-ADDR its reference address must be known.
 */
bool assemble_target(struct assemble *assemble);

/** assemble_fields_write - encode the fields. @size: set to the number of bytes */
bool assemble_fields_write(struct assemble *assemble, uint8_t bytes[NTRACE_MESSAGE_BYTES_MAX],
			   size_t *size);

/**
 * assemble_fields_compare - check that the bytes of the line match its fields
 * @message: the message read from the bytes
 */
bool assemble_fields_compare(struct assemble *assemble, const struct ntrace_message *message);

/** assemble_refuse - set error. Return: false */
bool assemble_refuse(struct assemble *assemble, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif /* NTRACE_TOOL_STREAM_ASSEMBLE_FIELDS_H */
