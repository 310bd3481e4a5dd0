/* SPDX-License-Identifier: GPL-2.0-only */
/* Parser for one JSON object in a line: strict RFC 8259, two levels, no heap. */
#ifndef NTRACE_TOOL_STREAM_ASSEMBLE_JSON_LINE_H
#define NTRACE_TOOL_STREAM_ASSEMBLE_JSON_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* More members than any valid line has. */
#define JSON_MEMBERS_MAX 96

enum json_type {
	JSON_STRING,
	JSON_NUMBER,
	JSON_TRUE,
	JSON_FALSE,
	JSON_NULL,
};

/**
 * struct json_member - a scalar and its position
 * @group: key of the object or array that contains it, NULL at the top
 * @key: its own key, NULL in an array
 * @type: type of the value
 * @text: JSON_STRING: without quotes and escapes, 0-terminated; contains no 0
 * @value: JSON_NUMBER
 * @whole: JSON_NUMBER: @value is exact: the number is not negative, has no fraction and no
 *         exponent, and fits in 64 bits
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
 * struct json_line - all scalars of a line, in order
 * @error: why the line was rejected
 * @column: position of the error, from 1
 */
struct json_line {
	struct json_member members[JSON_MEMBERS_MAX];
	unsigned int count;
	const char *error;
	size_t column;
};

/**
 * json_line_parse - parse a line
 * @text: @length bytes, which are overwritten: the members point into them
 *
 * The value of a member at the top may be an object or an array of scalars. Deeper nesting and
 * duplicate keys are errors.
 * Return: true, or false with error and column set.
 */
bool json_line_parse(struct json_line *line, char *text, size_t length);

#endif /* NTRACE_TOOL_STREAM_ASSEMBLE_JSON_LINE_H */
