// SPDX-License-Identifier: GPL-2.0-only
/* Members of a line, as ntrace dump writes them or a user does. */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json_line.h"
#include "line.h"

#define TCODES 64
#define HAS(member) (1u << ASSEMBLE_HAS_##member)
/* Members that tell the origin of a line; all types allow them. */
#define ORIGIN (HAS(TYPE) | HAS(FILE) | HAS(STREAM) | HAS(OFFSET) | HAS(LENGTH))

struct line_parser {
	struct assemble_line *line;
	enum ntrace_dialect dialect;
	char *error;
};

static const char *const member_names[] = {
	[ASSEMBLE_HAS_TYPE] = "type",	    [ASSEMBLE_HAS_FILE] = "file",
	[ASSEMBLE_HAS_STREAM] = "stream",   [ASSEMBLE_HAS_OFFSET] = "offset",
	[ASSEMBLE_HAS_LENGTH] = "length",   [ASSEMBLE_HAS_BYTES] = "bytes",
	[ASSEMBLE_HAS_TCODE] = "tcode",	    [ASSEMBLE_HAS_NAME] = "name",
	[ASSEMBLE_HAS_FIELDS] = "fields",   [ASSEMBLE_HAS_NAMES] = "names",
	[ASSEMBLE_HAS_ADDRESS] = "address", [ASSEMBLE_HAS_FLAGS] = "flags",
	[ASSEMBLE_HAS_SIZES] = "sizes",	    [ASSEMBLE_HAS_TARGET] = "ADDRESS",
	[ASSEMBLE_HAS_IDLE] = "idle",	    [ASSEMBLE_HAS_PARAMS] = "params",
	[ASSEMBLE_HAS_RAW] = "raw",
};

#define MEMBERS (sizeof(member_names) / sizeof(member_names[0]))

static const struct {
	const char *name;
	uint32_t allowed;
} types[] = {
	[ASSEMBLE_MESSAGE] = { "message", HAS(BYTES) | HAS(TCODE) | HAS(NAME) | HAS(FIELDS) |
						  HAS(NAMES) | HAS(ADDRESS) | HAS(FLAGS) |
						  HAS(SIZES) | HAS(TARGET) },
	[ASSEMBLE_IDLE] = { "idle", HAS(IDLE) | HAS(BYTES) },
	[ASSEMBLE_ERROR] = { "error", HAS(BYTES) },
	[ASSEMBLE_SKIPPED] = { "skipped", HAS(BYTES) },
	[ASSEMBLE_CUT] = { "cut", HAS(BYTES) },
	[ASSEMBLE_PART] = { "part", HAS(BYTES) },
	[ASSEMBLE_PARAMS] = { "params", HAS(PARAMS) },
	[ASSEMBLE_RAW] = { "raw", HAS(RAW) },
};

#define TYPES (sizeof(types) / sizeof(types[0]))

__attribute__((format(printf, 2, 3))) static bool refuse(const struct line_parser *parser,
							 const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(parser->error, ASSEMBLE_ERROR_SIZE, format, args);
	va_end(args);
	return false;
}

/* Shortens long texts. */
#define SHOWN "%.40s%s"
#define SHOWN_ARGS(text) (text), strlen(text) > 40 ? "..." : ""

/* 7, "7" or "0x7" */
static bool take_number(const struct line_parser *parser, const struct json_member *member,
			uint64_t *value)
{
	const char *key = member->key ? member->key : member->group;
	bool hexadecimal;
	char *end;

	if (member->type == JSON_NUMBER && member->whole) {
		*value = member->value;
		return true;
	}
	if (member->type != JSON_STRING)
		return refuse(parser, "\"" SHOWN "\" is not a whole number from 0 to 2^64 - 1",
			      SHOWN_ARGS(key));
	hexadecimal = member->text[0] == '0' && (member->text[1] | 32) == 'x';
	errno = 0;
	*value = strtoull(member->text, &end, hexadecimal ? 16 : 10);
	/* strtoull() would accept a sign or blanks. */
	if (errno || *end || !strchr("0123456789", member->text[0]) || !member->text[0] ||
	    (hexadecimal && !member->text[2]))
		return refuse(parser,
			      "\"" SHOWN "\": \"" SHOWN "\" is not a number of at most 64 bits "
			      "like \"0x1f\" or \"31\"",
			      SHOWN_ARGS(key), SHOWN_ARGS(member->text));
	return true;
}

static bool take_string(const struct line_parser *parser, const struct json_member *member,
			const char **text)
{
	if (member->type != JSON_STRING)
		return refuse(parser, "\"%s\" is not a string", member->key);
	*text = member->text;
	return true;
}

static int digit_of(char sign)
{
	if (sign >= '0' && sign <= '9')
		return sign - '0';
	sign |= 32;
	return sign >= 'a' && sign <= 'f' ? sign - 'a' + 10 : -1;
}

/* "1c3fff" or "1c 3f ff" */
static bool take_bytes(const struct line_parser *parser, const struct json_member *member)
{
	struct assemble_line *line = parser->line;
	const char *text = "";

	if (!take_string(parser, member, &text))
		return false;
	for (line->count = 0; *text; text += 2) {
		int high, low;

		while (*text == ' ' || *text == '\t')
			text++;
		if (!*text)
			break;
		high = digit_of(text[0]);
		low = high < 0 ? -1 : digit_of(text[1]);
		if (low < 0)
			return refuse(parser,
				      "\"%s\": '%.2s' is not a byte of two hexadecimal "
				      "digits",
				      member->key, text);
		line->bytes[line->count++] = (uint8_t)(high << 4 | low);
	}
	if (!line->count)
		return refuse(parser, "\"%s\" has no byte", member->key);
	return true;
}

static bool find_field(const char *name, unsigned int *field)
{
	for (*field = 0; *field < NTRACE_FIELD_COUNT; ++*field)
		if (!strcmp(name, ntrace_field_name((enum ntrace_field) * field)))
			return true;
	return false;
}

/* The names of all fields. */
static const char *field_list(char *text, size_t size)
{
	unsigned int i;
	int used = 0;

	for (i = 0; i < NTRACE_FIELD_COUNT && used >= 0 && (size_t)used < size; i++)
		used += snprintf(text + used, size - (size_t)used, "%s%s", i ? ", " : "",
				 ntrace_field_name((enum ntrace_field)i));
	return text;
}

static bool unknown_name(const struct line_parser *parser, const char *what, const char *name)
{
	char list[256];

	return refuse(parser, "no %s \"" SHOWN "\": fields are %s, and ADDRESS", what,
		      SHOWN_ARGS(name), field_list(list, sizeof(list)));
}

static bool take_target(const struct line_parser *parser, const struct json_member *member)
{
	if (assemble_line_has(parser->line, ASSEMBLE_HAS_TARGET))
		return refuse(parser, "ADDRESS is given twice");
	parser->line->has |= HAS(TARGET);
	return take_number(parser, member, &parser->line->target);
}

/* A member at the top or in "fields". @found: a field has this name. */
static bool take_field(const struct line_parser *parser, const struct json_member *member,
		       bool *found)
{
	struct ntrace_message *message = &parser->line->message;
	unsigned int field;

	*found = true;
	if (!strcmp(member->key, "ADDRESS"))
		return take_target(parser, member);
	*found = find_field(member->key, &field);
	if (!*found)
		return true;
	if (ntrace_message_has(message, (enum ntrace_field)field))
		return refuse(parser, "%s is given twice", member->key);
	message->present |= 1u << field;
	parser->line->has |= HAS(FIELDS);
	return take_number(parser, member, &message->field[field]);
}

static bool take_size(const struct line_parser *parser, const struct json_member *member)
{
	unsigned int field;
	uint64_t size = 0;

	if (!find_field(member->key, &field))
		return unknown_name(parser, "field", member->key);
	if (!take_number(parser, member, &size))
		return false;
	if (!size || size > NTRACE_MESSAGE_BYTES_MAX)
		return refuse(parser, "\"sizes\": %s takes 1 to %d bytes", member->key,
			      NTRACE_MESSAGE_BYTES_MAX);
	parser->line->sizes[field] = (uint8_t)size;
	return true;
}

static bool take_flag(const struct line_parser *parser, const struct json_member *member)
{
	static const char *const names[] = { "unknown", "truncated", "extra", "oversize" };
	unsigned int i;

	for (i = 0; i < 4; i++) {
		if (member->type == JSON_STRING && !strcmp(member->text, names[i])) {
			parser->line->message.flags |= (uint8_t)(1u << i);
			return true;
		}
	}
	return refuse(parser, "\"flags\" may be \"unknown\", \"truncated\", \"extra\" and "
			      "\"oversize\"");
}

/* A member of an object or array. */
static bool take_inner(const struct line_parser *parser, const struct json_member *member)
{
	bool found = false;

	if (!member->key) {
		if (strcmp(member->group, "flags"))
			return refuse(parser, "\"" SHOWN "\" is not an array",
				      SHOWN_ARGS(member->group));
		parser->line->has |= HAS(FLAGS);
		return take_flag(parser, member);
	}
	if (!strcmp(member->group, "fields")) {
		parser->line->has |= HAS(FIELDS);
		if (!take_field(parser, member, &found))
			return false;
		return found || unknown_name(parser, "field", member->key);
	}
	if (!strcmp(member->group, "sizes")) {
		parser->line->has |= HAS(SIZES);
		return take_size(parser, member);
	}
	if (!strcmp(member->group, "names")) {
		parser->line->has |= HAS(NAMES);
		return true;
	}
	return refuse(parser, "\"" SHOWN "\" is not an object", SHOWN_ARGS(member->group));
}

static bool take_type(const struct line_parser *parser, const struct json_member *member)
{
	const char *text = "";
	unsigned int i;

	if (!take_string(parser, member, &text))
		return false;
	for (i = ASSEMBLE_MESSAGE; i < TYPES; i++) {
		if (!strcmp(text, types[i].name)) {
			parser->line->type = (enum assemble_type)i;
			return true;
		}
	}
	return refuse(parser,
		      "\"type\": \"" SHOWN "\" is not one of message, idle, error, skipped, "
		      "cut, part, params, raw",
		      SHOWN_ARGS(text));
}

static bool take_tcode(const struct line_parser *parser, const struct json_member *member)
{
	uint64_t tcode = 0;

	if (!take_number(parser, member, &tcode))
		return false;
	if (tcode >= TCODES)
		return refuse(parser, "\"tcode\" is %" PRIu64 ", but has 6 bits: at most 63",
			      tcode);
	parser->line->message.tcode = (uint8_t)tcode;
	return true;
}

static bool take_known(const struct line_parser *parser, const struct json_member *member,
		       enum assemble_member which)
{
	struct assemble_line *line = parser->line;

	switch (which) {
	case ASSEMBLE_HAS_TYPE:
		return take_type(parser, member);
	case ASSEMBLE_HAS_FILE:
		return take_string(parser, member, &line->file);
	case ASSEMBLE_HAS_NAME:
		return take_string(parser, member, &line->name);
	case ASSEMBLE_HAS_PARAMS:
		return take_string(parser, member, &line->params);
	case ASSEMBLE_HAS_STREAM:
		return take_number(parser, member, &line->stream);
	case ASSEMBLE_HAS_OFFSET:
		return take_number(parser, member, &line->offset);
	case ASSEMBLE_HAS_LENGTH:
		return take_number(parser, member, &line->length);
	case ASSEMBLE_HAS_ADDRESS:
		return take_number(parser, member, &line->address);
	case ASSEMBLE_HAS_IDLE:
		return take_number(parser, member, &line->idle);
	case ASSEMBLE_HAS_BYTES:
	case ASSEMBLE_HAS_RAW:
		return take_bytes(parser, member);
	case ASSEMBLE_HAS_TCODE:
		return take_tcode(parser, member);
	default:
		return refuse(parser, "\"%s\" is not an object or array", member->key);
	}
}

static bool take_member(const struct line_parser *parser, const struct json_member *member)
{
	bool found = false;
	unsigned int i;

	if (member->group)
		return take_inner(parser, member);
	if (!take_field(parser, member, &found))
		return false;
	if (found)
		return true;
	for (i = 0; i < MEMBERS; i++) {
		if (strcmp(member->key, member_names[i]))
			continue;
		parser->line->has |= 1u << i;
		return take_known(parser, member, (enum assemble_member)i);
	}
	return unknown_name(parser, "member", member->key);
}

/* Finds the TCODE by "name", or checks that both match. */
static bool check_name(const struct line_parser *parser)
{
	struct assemble_line *line = parser->line;
	unsigned int tcode, found = 0;

	if (assemble_line_has(line, ASSEMBLE_HAS_TCODE)) {
		const char *name = ntrace_tcode_dialect_name(line->message.tcode, parser->dialect);

		if (!line->name || !strcmp(line->name, name))
			return true;
		return refuse(parser, "\"tcode\" %u is %s, but \"name\" is " SHOWN,
			      line->message.tcode, name, SHOWN_ARGS(line->name));
	}
	if (!line->name)
		return refuse(parser, "a message needs \"name\" or \"tcode\"; other lines are "
				      "{\"idle\":N} and {\"raw\":\"1c 3f ff\"}");
	for (tcode = 0; tcode < TCODES; tcode++) {
		if (strcmp(line->name, ntrace_tcode_dialect_name(tcode, parser->dialect)))
			continue;
		line->message.tcode = (uint8_t)tcode;
		found++;
	}
	if (found > 1)
		return refuse(parser, "%s is the name of several TCODEs: \"tcode\" is needed",
			      line->name);
	if (!found)
		return refuse(parser,
			      "no message has the name \"" SHOWN "\": names are spelled "
			      "as in DirectBranch",
			      SHOWN_ARGS(line->name));
	return true;
}

/* Rejects missing and superfluous members. */
static bool check_members(const struct line_parser *parser)
{
	struct assemble_line *line = parser->line;
	uint32_t wrong = line->has & ~(ORIGIN | types[line->type].allowed);
	bool bytes = assemble_line_has(line, ASSEMBLE_HAS_BYTES);

	if (wrong)
		return refuse(parser, "a line of type \"%s\" has no \"%s\"", types[line->type].name,
			      member_names[__builtin_ctz(wrong)]);
	switch (line->type) {
	case ASSEMBLE_MESSAGE:
		return check_name(parser);
	case ASSEMBLE_IDLE:
		if (bytes == assemble_line_has(line, ASSEMBLE_HAS_IDLE))
			return refuse(parser, "idle bytes need either \"idle\":N or \"bytes\"");
		if (bytes || !assemble_line_has(line, ASSEMBLE_HAS_LENGTH) ||
		    line->length == line->idle)
			return true;
		return refuse(parser, "\"idle\" is %" PRIu64 ", but \"length\" is %" PRIu64,
			      line->idle, line->length);
	case ASSEMBLE_PARAMS:
		return assemble_line_has(line, ASSEMBLE_HAS_PARAMS) ||
		       refuse(parser, "\"params\" is missing");
	case ASSEMBLE_RAW:
		return assemble_line_has(line, ASSEMBLE_HAS_RAW) ||
		       refuse(parser, "\"raw\" is missing");
	default:
		return bytes || refuse(parser, "\"bytes\" is missing");
	}
}

/* The type of a line without "type", by its members. */
static enum assemble_type type_of(const struct assemble_line *line)
{
	if (assemble_line_has(line, ASSEMBLE_HAS_RAW))
		return ASSEMBLE_RAW;
	if (assemble_line_has(line, ASSEMBLE_HAS_IDLE))
		return ASSEMBLE_IDLE;
	if (assemble_line_has(line, ASSEMBLE_HAS_PARAMS))
		return ASSEMBLE_PARAMS;
	return ASSEMBLE_MESSAGE;
}

static bool is_comment(const char *text, size_t length)
{
	size_t i = 0;

	while (i < length && (text[i] == ' ' || text[i] == '\t' || text[i] == '\r'))
		i++;
	return i == length || text[i] == '#' ||
	       (length - i >= 2 && text[i] == '/' && text[i + 1] == '/');
}

bool assemble_line_parse(struct assemble_line *line, char *text, size_t length,
			 enum ntrace_dialect dialect, char *error)
{
	const struct line_parser parser = { .line = line, .dialect = dialect, .error = error };
	struct json_line json;
	unsigned int i;

	memset(line, 0, offsetof(struct assemble_line, bytes));
	if (is_comment(text, length))
		return true;
	if (length > ASSEMBLE_LINE_MAX)
		return refuse(&parser, "the line is longer than %d bytes: split it",
			      ASSEMBLE_LINE_MAX);
	if (!json_line_parse(&json, text, length))
		return refuse(&parser, "column %zu: %s", json.column, json.error);
	for (i = 0; i < json.count; i++)
		if (!take_member(&parser, &json.members[i]))
			return false;
	if (!assemble_line_has(line, ASSEMBLE_HAS_TYPE))
		line->type = type_of(line);
	return check_members(&parser);
}
