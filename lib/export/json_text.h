/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Text in JSON. */
#ifndef NTRACE_EXPORT_JSON_TEXT_H
#define NTRACE_EXPORT_JSON_TEXT_H

#include <stdio.h>

#include <ntrace/text.h>

/* Writes a string with its quotes, always in UTF-8: see ntrace/text.h. What cannot be seen is escaped. */
static inline void put_json_text(FILE *file, const char *text)
{
	const char *next;

	putc('"', file);
	for (; *text; text = next) {
		uint32_t character;

		next = ntrace_text_next(text, &character);
		if (character == '"' || character == '\\')
			fprintf(file, "\\%c", *text);
		else if (character > 0xffff && ntrace_text_hidden(character))
			fprintf(file, "\\u%04x\\u%04x", (unsigned int)(0xd7c0 + (character >> 10)),
				(unsigned int)(0xdc00 | (character & 0x3ff)));
		else if (ntrace_text_hidden(character) || (character >= 0x7f && next - text == 1))
			fprintf(file, "\\u%04x", (unsigned int)character);
		else
			fwrite(text, 1, (size_t)(next - text), file);
	}
	putc('"', file);
}

#endif
