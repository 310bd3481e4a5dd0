// SPDX-License-Identifier: GPL-2.0-only
/* A strict parser for lines of JSON. */
#include <string.h>

#include "json_line.h"

struct json_parser {
	struct json_line *line;
	char *start;
	char *next;
	char *end;
	bool refused;
};

static bool refuse(struct json_parser *parser, const char *error)
{
	/* Keep the first reason. */
	if (!parser->refused) {
		parser->refused = true;
		parser->line->error = error;
		parser->line->column = (size_t)(parser->next - parser->start) + 1;
	}
	return false;
}

static char peek(const struct json_parser *parser)
{
	return parser->next < parser->end ? *parser->next : '\0';
}

static bool is_blank(char sign)
{
	return sign == ' ' || sign == '\t' || sign == '\r' || sign == '\n';
}

static void skip_blanks(struct json_parser *parser)
{
	while (is_blank(peek(parser)))
		parser->next++;
}

/* Skips blanks, and @sign if it follows. */
static bool take(struct json_parser *parser, char sign)
{
	skip_blanks(parser);
	if (peek(parser) != sign)
		return false;
	parser->next++;
	return true;
}

static bool four_digits(struct json_parser *parser, unsigned int *value)
{
	unsigned int i;

	*value = 0;
	for (i = 0; i < 4; i++) {
		char digit = peek(parser);

		if (digit >= '0' && digit <= '9')
			*value = *value << 4 | (unsigned int)(digit - '0');
		else if ((digit | 32) >= 'a' && (digit | 32) <= 'f')
			*value = *value << 4 | (unsigned int)((digit | 32) - 'a' + 10);
		else
			return refuse(parser, "four hexadecimal digits are expected after \\u");
		parser->next++;
	}
	return true;
}

/* Writes UTF-8, which is shorter than the escape. */
static char *put_character(char *out, unsigned int code)
{
	if (code < 0x80) {
		*out++ = (char)code;
	} else if (code < 0x800) {
		*out++ = (char)(0xc0 | code >> 6);
		*out++ = (char)(0x80 | (code & 0x3f));
	} else if (code < 0x10000) {
		*out++ = (char)(0xe0 | code >> 12);
		*out++ = (char)(0x80 | (code >> 6 & 0x3f));
		*out++ = (char)(0x80 | (code & 0x3f));
	} else {
		*out++ = (char)(0xf0 | code >> 18);
		*out++ = (char)(0x80 | (code >> 12 & 0x3f));
		*out++ = (char)(0x80 | (code >> 6 & 0x3f));
		*out++ = (char)(0x80 | (code & 0x3f));
	}
	return out;
}

/* Takes the rest of an escape after \u. */
static bool take_code(struct json_parser *parser, char **out)
{
	unsigned int code, low;

	if (!four_digits(parser, &code))
		return false;
	if (code >= 0xd800 && code < 0xdc00) {
		if (parser->end - parser->next < 2 || memcmp(parser->next, "\\u", 2))
			return refuse(parser, "the other half of a surrogate pair is missing");
		parser->next += 2;
		if (!four_digits(parser, &low))
			return false;
		if (low < 0xdc00 || low > 0xdfff)
			return refuse(parser, "the other half of a surrogate pair is missing");
		code = 0x10000 + ((code - 0xd800) << 10 | (low - 0xdc00));
	} else if (code >= 0xdc00 && code < 0xe000) {
		return refuse(parser, "half a surrogate pair");
	}
	if (!code)
		return refuse(parser, "the character \\u0000 is not supported");
	*out = put_character(*out, code);
	return true;
}

static bool take_escape(struct json_parser *parser, char **out)
{
	static const char signs[] = "\"\\/bfnrt", means[] = "\"\\/\b\f\n\r\t";
	char sign = peek(parser);
	const char *found;

	parser->next++;
	if (sign == 'u')
		return take_code(parser, out);
	found = sign ? strchr(signs, sign) : NULL;
	if (!found) {
		parser->next--;
		return refuse(parser, "unknown escape: write \\\\ for a backslash");
	}
	*(*out)++ = means[found - signs];
	return true;
}

/* Decodes a string in place. */
static bool take_string(struct json_parser *parser, const char **text)
{
	char *out;

	if (!take(parser, '"'))
		return refuse(parser, "a string in double quotes is expected");
	out = parser->next;
	*text = out;
	while (parser->next < parser->end) {
		unsigned char sign = (unsigned char)*parser->next;

		if (sign < 0x20)
			return refuse(parser, "control character in a string");
		parser->next++;
		if (sign == '"') {
			*out = '\0';
			return true;
		}
		if (sign != '\\')
			*out++ = (char)sign;
		else if (!take_escape(parser, &out))
			return false;
	}
	return refuse(parser, "the string does not end");
}

static bool is_digit(char sign)
{
	return sign >= '0' && sign <= '9';
}

static bool take_digits(struct json_parser *parser)
{
	if (!is_digit(peek(parser)))
		return refuse(parser, "a digit is expected");
	while (is_digit(peek(parser)))
		parser->next++;
	return true;
}

/* The integer part. */
static bool take_whole(struct json_parser *parser, struct json_member *member)
{
	const char *start = parser->next, *digit;

	if (!take_digits(parser))
		return false;
	if (*start == '0' && parser->next - start > 1)
		return refuse(parser, "a number with a leading 0: write \"0x...\" for a "
				      "hexadecimal one");
	for (digit = start; digit < parser->next; digit++) {
		uint64_t value = member->value * 10 + (uint64_t)(*digit - '0');

		if (member->value > UINT64_MAX / 10 || value < member->value * 10)
			member->whole = false;
		member->value = value;
	}
	return true;
}

static bool take_number(struct json_parser *parser, struct json_member *member)
{
	member->type = JSON_NUMBER;
	member->whole = peek(parser) != '-';
	if (!member->whole)
		parser->next++;
	if (!take_whole(parser, member))
		return false;
	if (peek(parser) == 'x' || peek(parser) == 'X')
		return refuse(parser, "a hexadecimal number needs quotes: \"0x1f\"");
	if (peek(parser) == '.') {
		member->whole = false;
		parser->next++;
		if (!take_digits(parser))
			return false;
	}
	if (peek(parser) == 'e' || peek(parser) == 'E') {
		member->whole = false;
		parser->next++;
		if (peek(parser) == '+' || peek(parser) == '-')
			parser->next++;
		if (!take_digits(parser))
			return false;
	}
	return true;
}

static bool take_word(struct json_parser *parser, struct json_member *member)
{
	static const struct {
		const char *word;
		enum json_type type;
	} words[] = { { "true", JSON_TRUE }, { "false", JSON_FALSE }, { "null", JSON_NULL } };
	size_t left = (size_t)(parser->end - parser->next), i;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		size_t length = strlen(words[i].word);

		if (length <= left && !memcmp(parser->next, words[i].word, length)) {
			parser->next += length;
			member->type = words[i].type;
			return true;
		}
	}
	return refuse(parser, "a value is expected: a string, a number, true, false or null");
}

static bool is_same(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

static bool is_repeated(const struct json_line *line, const char *group, const char *key)
{
	unsigned int i;

	for (i = 0; i < line->count; i++)
		if (is_same(line->members[i].group, group) && is_same(line->members[i].key, key))
			return true;
	/* A member at the top cannot have the name of a group. */
	for (i = 0; !group && i < line->count; i++)
		if (is_same(line->members[i].group, key))
			return true;
	return false;
}

static bool take_scalar(struct json_parser *parser, const char *group, const char *key)
{
	struct json_line *line = parser->line;
	struct json_member *member = &line->members[line->count];
	char sign;

	skip_blanks(parser);
	if (line->count == JSON_MEMBERS_MAX)
		return refuse(parser, "too many members in one line");
	*member = (struct json_member){ .group = group, .key = key };
	sign = peek(parser);
	if (sign == '{' || sign == '[')
		return refuse(parser, "objects and arrays cannot be nested more deeply");
	if (sign == '"') {
		member->type = JSON_STRING;
		if (!take_string(parser, &member->text))
			return false;
	} else if (sign == '-' || is_digit(sign)) {
		if (!take_number(parser, member))
			return false;
	} else if (!take_word(parser, member)) {
		return false;
	}
	line->count++;
	return true;
}

static bool take_array(struct json_parser *parser, const char *group)
{
	parser->next++;
	if (take(parser, ']'))
		return true;
	do {
		if (!take_scalar(parser, group, NULL))
			return false;
	} while (take(parser, ','));
	return take(parser, ']') || refuse(parser, "a comma or ] is expected");
}

static bool take_object(struct json_parser *parser, const char *group);

static bool take_value(struct json_parser *parser, const char *group, const char *key)
{
	skip_blanks(parser);
	if (!group && peek(parser) == '{')
		return take_object(parser, key);
	if (!group && peek(parser) == '[')
		return take_array(parser, key);
	return take_scalar(parser, group, key);
}

/* @group: key of the object; NULL = the line itself. There are two levels. */
static bool take_object(struct json_parser *parser, const char *group)
{
	const char *key = NULL;

	parser->next++;
	if (take(parser, '}'))
		return true;
	do {
		skip_blanks(parser);
		if (peek(parser) != '"')
			return refuse(parser, "a name in double quotes is expected");
		if (!take_string(parser, &key))
			return false;
		if (is_repeated(parser->line, group, key))
			return refuse(parser, "duplicate name");
		if (!take(parser, ':'))
			return refuse(parser, "a colon is expected");
		if (!take_value(parser, group, key))
			return false;
	} while (take(parser, ','));
	return take(parser, '}') || refuse(parser, "a comma or } is expected");
}

bool json_line_parse(struct json_line *line, char *text, size_t length)
{
	struct json_parser parser = {
		.line = line,
		.start = text,
		.next = text,
		.end = text + length,
	};

	line->count = 0;
	skip_blanks(&parser);
	if (peek(&parser) != '{')
		return refuse(&parser, "a JSON object is expected: {...}");
	if (!take_object(&parser, NULL))
		return false;
	skip_blanks(&parser);
	return parser.next == parser.end || refuse(&parser, "nothing may follow the object");
}
