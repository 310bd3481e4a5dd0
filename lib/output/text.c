// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Names in text: see ntrace/text.h. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <ntrace/text.h>

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

/* Cc of Unicode, and the separators of lines and paragraphs. */
static bool is_control(uint32_t character)
{
	return character < 0x20 || (character >= 0x7f && character < 0xa0) || character == 0x2028 ||
	       character == 0x2029;
}

const char *ntrace_text_clean(const char *name, char **room)
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

		if (is_control(character)) {
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
