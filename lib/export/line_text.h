/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Names in formats of lines. */
#ifndef NTRACE_EXPORT_LINE_TEXT_H
#define NTRACE_EXPORT_LINE_TEXT_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ntrace/text.h>

/* Writes a name as UTF-8 in one line; @reserved, a character that the format cannot quote, becomes @other. */
static inline void put_line_text(FILE *file, const char *text, char reserved, char other)
{
	const char *next;
	char *room;

	for (text = ntrace_text_clean(text, &room); (next = strchr(text, reserved));
	     text = next + 1) {
		fwrite(text, 1, (size_t)(next - text), file);
		putc(other, file);
	}
	fputs(text, file);
	free(room);
}

#endif
