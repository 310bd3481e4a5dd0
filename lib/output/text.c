// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Names in text: see ntrace/text.h. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <ntrace/text.h>

#include "text.h"

/* Length of the UTF-8 sequence that starts here, 0 if it is invalid. */
static unsigned int utf8_length(const unsigned char *byte)
{
	unsigned int length, i;

	if (byte[0] < 0x80)
		return 1;
	if (byte[0] >= 0xc2 && byte[0] < 0xe0)
		length = 2;
	else if (byte[0] >= 0xe0 && byte[0] < 0xf0)
		length = 3;
	else if (byte[0] >= 0xf0 && byte[0] < 0xf5)
		length = 4;
	else
		return 0;
	for (i = 1; i < length; i++)
		if ((byte[i] & 0xc0) != 0x80)
			return 0;
	/* Overlong forms, surrogates and values above U+10FFFF. */
	if ((byte[0] == 0xe0 && byte[1] < 0xa0) || (byte[0] == 0xed && byte[1] >= 0xa0) ||
	    (byte[0] == 0xf0 && byte[1] < 0x90) || (byte[0] == 0xf4 && byte[1] >= 0x90))
		return 0;
	return length;
}

const char *ntrace_text_next(const char *text, uint32_t *character)
{
	const unsigned char *byte = (const unsigned char *)text;
	unsigned int length = utf8_length(byte);

	*character = byte[0];
	if (length < 2)
		return text + 1;
	*character = byte[0] & (0x7fu >> length);
	for (unsigned int i = 1; i < length; i++)
		*character = *character << 6 | (byte[i] & 0x3f);
	return text + length;
}

static bool is_plain(const char *name)
{
	for (; *name; name++)
		if (*name < 0x20 || *name > 0x7e)
			return false;
	return true;
}

/* Cc of Unicode. */
static bool is_control(uint32_t character)
{
	return character < 0x20 || (character >= 0x7f && character < 0xa0);
}

/* The letters of some languages need U+200C and U+200D, which change nothing outside of a word. */
bool ntrace_text_hidden(uint32_t character)
{
	static const uint32_t ranges[][2] = {
		{ 0x00ad, 0x00ad }, /* soft hyphen */
		{ 0x061c, 0x061c },
		{ 0x200e, 0x200f }, /* marks of direction */
		{ 0x034f, 0x034f },
		{ 0x180b, 0x180f },
		{ 0x200b, 0x200b }, /* no width */
		{ 0x115f, 0x1160 },
		{ 0x3164, 0x3164 },
		{ 0xffa0, 0xffa0 }, /* fillers */
		{ 0x17b4, 0x17b5 },
		{ 0x1bca0, 0x1bca3 },
		{ 0x1d173, 0x1d17a }, /* of scripts and music */
		{ 0x13430, 0x1343f }, /* joiners of hieroglyphs */
		{ 0x2028, 0x202e }, /* ends of lines and paragraphs; embedding and override of direction */
		{ 0x2060, 0x206f }, /* no width; isolation of direction, and deprecated controls */
		{ 0xfe00, 0xfe0d },
		{ 0xfeff, 0xfeff }, /* variations, except of emoji; byte order mark */
		{ 0xfdd0, 0xfdef },
		{ 0xfff0, 0xfffb }, /* no characters, but annotations */
		{ 0xe0000, 0xe0fff }, /* tags, a copy of ASCII without a shape; more variations */
	};

	if (character < 0xa0)
		return is_control(character);
	for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++)
		if (character >= ranges[i][0] && character <= ranges[i][1])
			return true;
	/* The last two of each plane are no characters, and XML has no way to write U+FFFE. */
	return (character & 0xfffe) == 0xfffe;
}

static const char *clean(const char *name, bool (*is_bad)(uint32_t), char **room)
{
	char *to;

	*room = NULL;
	if (is_plain(name))
		return name;
	/* A byte of Latin-1 becomes two. */
	*room = malloc(2 * strlen(name) + 1);
	if (!*room)
		return "?";
	to = *room;
	while (*name) {
		uint32_t character;
		const char *next = ntrace_text_next(name, &character);

		if (is_bad(character)) {
			*to++ = '?';
		} else if (next - name > 1 || character < 0x80) {
			memcpy(to, name, (size_t)(next - name));
			to += next - name;
		} else {
			*to++ = (char)(0xc0 | character >> 6);
			*to++ = (char)(0x80 | (character & 0x3f));
		}
		name = next;
	}
	*to = '\0';
	return *room;
}

const char *ntrace_text_clean(const char *name, char **room)
{
	return clean(name, ntrace_text_hidden, room);
}

bool text_has_control(const char *name)
{
	uint32_t character;

	while (*name) {
		name = ntrace_text_next(name, &character);
		if (is_control(character))
			return true;
	}
	return false;
}

const char *text_for_programs(const char *name, char **room)
{
	return clean(name, is_control, room);
}
