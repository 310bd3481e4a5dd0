/* SPDX-License-Identifier: GPL-2.0-only */
/* One JSON object in one line, strictly as RFC 8259 has it, with few levels and no heap. */
#ifndef NTRACE_TOOL_STREAM_ASSEMBLE_JSON_LINE_H
#define NTRACE_TOOL_STREAM_ASSEMBLE_JSON_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A message has fewer; what has more is no line of ours. */
#define JSON_MEMBERS_MAX 96

enum json_type {
	JSON_STRING,
	JSON_NUMBER,
	JSON_TRUE,
	JSON_FALSE,
	JSON_NULL,
};

/**
 * struct json_member - a scalar and where it stands
 * @group: key of the object or array that it stands in, NULL at the top
 * @key: its own key, NULL in an array
 * @type: of the value
 * @text: JSON_STRING: without quotes and escapes, 0-terminated; never has a 0 in it
 * @value: JSON_NUMBER
 * @whole: JSON_NUMBER: @value is exact: neither negative, nor with a fraction or exponent, nor
 *         over 64 bits
 */
struct json_member {
	const char *group;
	const char *key;
	enum json_type type;
	const char *text;
	uint64_t value;
	bool whole;
};

/**
 * struct json_line - all scalars of a line, in their order
 * @error: why it was refused, for people
 * @column: where, from 1
 */
struct json_line {
	struct json_member members[JSON_MEMBERS_MAX];
	unsigned int count;
	const char *error;
	size_t column;
};

/**
 * json_line_parse - take a line apart
 * @text: @length bytes, which are overwritten: the members point into them
 *
 * The value of a member at the top may be an object or an array of scalars; deeper ones, and the
 * same key twice in an object, are refused.
 * Return: true, or false with error and column set.
 */
bool json_line_parse(struct json_line *line, char *text, size_t length);

#endif /* NTRACE_TOOL_STREAM_ASSEMBLE_JSON_LINE_H */
