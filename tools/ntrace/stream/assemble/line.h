/* SPDX-License-Identifier: GPL-2.0-only */
/* Syntax of one line of the text that ntrace assemble reads. */
#ifndef NTRACE_TOOL_STREAM_ASSEMBLE_LINE_H
#define NTRACE_TOOL_STREAM_ASSEMBLE_LINE_H

#include <ntrace/wire.h>

/* Longest line accepted. */
#define ASSEMBLE_LINE_MAX (64 * 1024)
#define ASSEMBLE_ERROR_SIZE 1024

enum assemble_type {
	ASSEMBLE_NOTHING,	/* a comment or blank line */
	ASSEMBLE_MESSAGE,
	ASSEMBLE_IDLE,
	ASSEMBLE_ERROR,		/* bytes up to a reserved code */
	ASSEMBLE_SKIPPED,
	ASSEMBLE_CUT,
	ASSEMBLE_PART,
	ASSEMBLE_PARAMS,
	ASSEMBLE_RAW,		/* arbitrary bytes */
};

/* Members of a line, as bits of assemble_line.has; fields of messages are in message.present. */
enum assemble_member {
	ASSEMBLE_HAS_TYPE,
	ASSEMBLE_HAS_FILE,
	ASSEMBLE_HAS_STREAM,
	ASSEMBLE_HAS_OFFSET,
	ASSEMBLE_HAS_LENGTH,
	ASSEMBLE_HAS_BYTES,
	ASSEMBLE_HAS_TCODE,
	ASSEMBLE_HAS_NAME,
	ASSEMBLE_HAS_FIELDS,
	ASSEMBLE_HAS_NAMES,
	ASSEMBLE_HAS_ADDRESS,	/* "address", as a dump has it */
	ASSEMBLE_HAS_FLAGS,
	ASSEMBLE_HAS_SIZES,
	ASSEMBLE_HAS_TARGET,	/* "ADDRESS", in place of FADDR or UADDR */
	ASSEMBLE_HAS_IDLE,
	ASSEMBLE_HAS_PARAMS,
	ASSEMBLE_HAS_RAW,
};

/**
 * struct assemble_line - one line
 * @has: bit n: the line has enum assemble_member n
 * @message: tcode, flags, present and field
 * @file: points into the line, as do @name and @params
 * @bytes: @count bytes of "bytes" or "raw"
 */
struct assemble_line {
	enum assemble_type type;
	uint32_t has;
	const char *file;
	const char *name;
	const char *params;
	uint64_t stream;
	uint64_t offset;
	uint64_t length;
	uint64_t idle;
	uint64_t address;
	uint64_t target;
	struct ntrace_message message;
	uint8_t sizes[NTRACE_FIELD_COUNT];
	size_t count;
	uint8_t bytes[ASSEMBLE_LINE_MAX / 2];
};

static inline bool assemble_line_has(const struct assemble_line *line, enum assemble_member member)
{
	return line->has >> member & 1;
}

/**
 * assemble_line_parse - read a line
 * @text: @length bytes without the newline; overwritten
 * @dialect: dialect of the names of TCODEs
 * @error: ASSEMBLE_ERROR_SIZE bytes
 *
 * Checks the members that a type of line allows, but not the fields of a message.
 * Return: true, or false with @error filled.
 */
bool assemble_line_parse(struct assemble_line *line, char *text, size_t length,
			 enum ntrace_dialect dialect, char *error);

#endif /* NTRACE_TOOL_STREAM_ASSEMBLE_LINE_H */
