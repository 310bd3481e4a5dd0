/* SPDX-License-Identifier: GPL-2.0-only */
/* Fields of a line of ntrace assemble: those a message has, and bytes made of them. */
#ifndef NTRACE_TOOL_STREAM_ASSEMBLE_FIELDS_H
#define NTRACE_TOOL_STREAM_ASSEMBLE_FIELDS_H

#include "assemble.h"

/* All return false with assemble->error filled if they refuse. */

/**
 * assemble_target - turn "ADDRESS" into F-ADDR or U-ADDR
 *
 * N-Trace 1.0, addresses (digest section 5). For a message with U-ADDR the address that it counts
 * from must be known.
 */
bool assemble_target(struct assemble *assemble);

/** assemble_fields_write - bytes of the fields. @size: how many, set */
bool assemble_fields_write(struct assemble *assemble, uint8_t bytes[NTRACE_MESSAGE_BYTES_MAX],
			   size_t *size);

/**
 * assemble_fields_compare - the bytes of the line say what its fields say
 * @message: what the bytes were read as
 */
bool assemble_fields_compare(struct assemble *assemble, const struct ntrace_message *message);

/** assemble_refuse - fill error. Return: false */
bool assemble_refuse(struct assemble *assemble, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif /* NTRACE_TOOL_STREAM_ASSEMBLE_FIELDS_H */
