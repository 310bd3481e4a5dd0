/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Text in JSON. */
#ifndef NTRACE_EXPORT_JSON_TEXT_H
#define NTRACE_EXPORT_JSON_TEXT_H

#include <stdio.h>

/* Writes a string with its quotes. Bytes of a name that are not UTF-8 stay as in the program. */
static inline void put_json_text(FILE *file, const char *text)
{
	putc('"', file);
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			fprintf(file, "\\%c", *text);
		else if ((unsigned char)*text < 0x20)
			fprintf(file, "\\u%04x", (unsigned int)*text);
		else
			putc(*text, file);
	}
	putc('"', file);
}

#endif
